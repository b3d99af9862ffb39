"""ETag and the memory cache as clients see them."""

from harness import Server, check_problem, equal, fresh, get, post, shared


def test_if_none_match_takes_lists_weak_tags_and_the_star():
    target = "/planet.png?seed=" + fresh()
    answer = get(shared(), target)
    tag = answer["ETag"]
    assert tag.startswith('"') and tag.endswith('"') and len(tag) > 10
    for value in (tag, "W/" + tag, '"a", "b", ' + tag, '"a",W/"b",W/' + tag + ',"c"', "*", " " + tag + " "):
        cached = get(shared(), target, ["If-None-Match: " + value])
        equal((value, cached.status, cached.body), (value, 304, b""))
        for name in ("ETag", "Cache-Control", "Vary", "Access-Control-Allow-Origin"):
            equal(cached[name], answer[name])
        equal(cached["Content-Length"], answer["Content-Length"])  # that of the 200, never 0
        assert cached["Content-Type"] is None
    for value in ('"x"', tag[:-2] + '"', tag[1:-1], '"' + tag + '"', "W/", '"', ", ,", "w/" + tag, ""):
        equal((value, get(shared(), target, ["If-None-Match: " + value]).status), (value, 200))


def test_several_if_none_match_lines_are_one_list():
    target = "/planet.png?seed=" + fresh()
    tag = get(shared(), target)["ETag"]
    for lines, status in ((['"a"', tag], 304), ([tag, '"a"'], 304), (['"a"', '"b"', "W/" + tag], 304), (["", tag], 304), (['"a"', '"b"'], 200),
                          ([tag, "*"], 200), ([tag, '"a" "b"'], 200), (['"%s"' % ("x" * 1500)], 200), (['"%s", %s' % ("x" * 1500, tag)], 304),
                          ([tag, '"%s"' % ("x" * 1500)], 200), ([tag, '"%s"' % ("x" * 1500), tag], 200)):  # too long to join
        answer = get(shared(), target, ["If-None-Match: " + line for line in lines])
        equal((lines, answer.status), (lines, status))


def test_a_malformed_if_none_match_is_no_condition():
    target = "/planet.png?seed=" + fresh()
    tag = get(shared(), target)["ETag"]
    for value in (tag + "garbage", tag + tag, tag + ", x", "*, " + tag, '"a"b, ' + tag):
        equal((value, get(shared(), target, ["If-None-Match: " + value]).status), (value, 200))


def test_304_needs_no_render():
    target = "/planet.gif?frames=50&seed=" + fresh()
    with Server() as one, Server() as other:
        tag = get(one, target)["ETag"]
        cold = get(other, target, ["If-None-Match: " + tag])
        equal((cold.status, cold["ETag"], cold["Content-Length"]), (304, tag, None))  # its length is not known
        equal(get(other, target, ["If-None-Match: *"], "HEAD").status, 304)
        equal(other.ready()["queue"]["renders"], 0)
        equal(get(other, target)["ETag"], tag)  # the same tag from another process


def test_304_is_only_for_what_exists_and_only_for_reading():
    check_problem(get(shared(), "/planet?bogus=1", ["If-None-Match: *"]), 400)
    check_problem(get(shared(), "/nowhere", ["If-None-Match: *"]), 404)
    equal(post(shared(), {"seed": 1}, ["If-None-Match: *"]).status, 200)


def test_many_different_304s_are_each_their_own():
    tags = {}
    for i in range(300):  # more than are kept prepared
        target = "/planet.png?pixels=8&seed=%d" % i
        tags[target] = get(shared(), target)["ETag"]
    equal(len(set(tags.values())), 300)
    for target, tag in list(tags.items()) * 2:
        answer = get(shared(), target, ["If-None-Match: " + tag])
        equal((answer.status, answer["ETag"]), (304, tag))


def test_different_results_have_different_tags():
    targets = ["/planet.png?seed=1", "/planet.png?seed=2", "/planet.png?seed=1&zoom=2", "/planet.gif?seed=1&frames=1",
               "/planet.png?seed=1&type=gas", "/planet.png?seed=01"]
    equal(len({get(shared(), t)["ETag"] for t in targets}), len(targets))


def test_without_cache_each_request_is_a_miss_with_the_same_bytes():
    with Server("--cache-memory", "0") as s:
        a, b = get(s, "/planet?seed=1"), get(s, "/planet?seed=1")
        equal((a["X-Cache"], b["X-Cache"]), ("miss", "miss"))
        equal((a.body, a["ETag"]), (b.body, b["ETag"]))
        equal(s.ready()["queue"]["renders"], 2)


def test_a_small_cache_evicts_while_answers_are_sent():
    with Server("--cache-memory", "64K") as s:
        for i in range(60):
            equal(get(s, "/planet?seed=%d&zoom=4" % (i % 40)).status, 200)
            get(s, "/planet?seed=%d&zoom=4" % (i % 40))
        state = s.ready()["cache"]
        assert state["evictions"] > 0 and state["bytes"] <= 65536, state
