"""/planet.json: what is in a picture."""

from harness import check_problem, equal, fresh, get, post, shared


def test_facts_come_from_each_form_of_the_address():
    seed = fresh()
    answers = [get(shared(), "/planet.json?type=gas&seed=" + seed), get(shared(), "/planet/gas/%s.json" % seed),
               get(shared(), "/planet?format=json&type=gas&seed=" + seed), post(shared(), {"type": "gas", "seed": seed, "format": "json"})]
    equal([a.status for a in answers], [200] * 4)
    equal([a["X-Cache"] for a in answers], ["miss", "hit", "hit", "hit"])
    for answer in answers:
        equal((answer["Content-Type"], answer.body, answer["ETag"]), ("application/json", answers[0].body, answers[0]["ETag"]))
    facts = answers[0].json()
    equal((facts["body"]["name"], facts["request"]["seed"], facts["loop_seconds"]), ("gas", seed, 8.0))
    assert facts["alt"].startswith("A gas giant"), facts["alt"]


def test_pictures_of_the_facts_are_the_pictures():
    facts = get(shared(), "/planet.json?type=lava&seed=5&frames=3&pixels=24").json()
    png, gif = (get(shared(), facts["pictures"][name]["url"]) for name in ("png", "gif"))
    equal(png["ETag"], get(shared(), "/planet.png?type=lava&seed=5&pixels=24")["ETag"])
    equal(gif["ETag"], get(shared(), "/planet.gif?type=lava&seed=5&frames=3&pixels=24")["ETag"])
    assert facts["pictures"]["gif"]["key"].encode() in gif.body


def test_facts_have_tag_and_head_like_pictures():
    target = "/planet.json?seed=" + fresh()
    head, full = get(shared(), target, method="HEAD"), get(shared(), target)
    equal((head.status, head["Content-Length"], head.body), (200, str(len(full.body)), b""))
    equal(get(shared(), target, ["If-None-Match: " + full["ETag"]]).status, 304)
    equal(get(shared(), target + "&rev=1")["Cache-Control"], "public, max-age=31536000, immutable")


def test_accept_does_not_choose_facts():
    check_problem(get(shared(), "/planet?seed=1", ["Accept: application/json"]), 406, "not-acceptable")
    equal(get(shared(), "/planet.json?seed=1", ["Accept: image/png"])["Vary"], None)


def test_facts_refuse_what_a_picture_refuses():
    check_problem(get(shared(), "/planet.json?pixels=5"), 400, "param-range")
    check_problem(get(shared(), "/planet.json?pixels=1024&frames=240"), 400, "picture-size")


def test_a_share_code_gives_the_picture_it_was_made_of():
    for target in ("/planet.json?type=gas&seed=a%20b&pixels=20", "/planet.json?rings=on&seed=4&pixels=20&frames=2&tilt=-5"):
        pictures = get(shared(), target).json()["pictures"]
        for name, picture in pictures.items():
            by_url, by_code = get(shared(), picture["url"]), get(shared(), "/planet?code=" + picture["code"])
            kind = "image/" + {"sheet": "png"}.get(name, name)
            equal((by_code.status, by_code["Content-Type"], by_code["ETag"]), (200, kind, by_url["ETag"]))
            equal(by_code.body, by_url.body)
            equal(by_code["Cache-Control"], "public, max-age=31536000, immutable")
            equal(by_code["Vary"], None)


def test_a_wrong_share_code_is_refused():
    code = get(shared(), "/planet.json?seed=4").json()["pictures"]["png"]["code"]
    for wrong in (code[:-1], code[1:], code + "0", "nonsense", ""):
        check_problem(get(shared(), "/planet?code=" + wrong), 400, "param-syntax")
    check_problem(get(shared(), "/planet?seed=4&code=" + code), 400, "param-combination")
    check_problem(get(shared(), "/planet.gif?code=" + code), 400, "param-combination")
