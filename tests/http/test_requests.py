"""What a client may ask: query, path, JSON, encodings, limits of each parameter."""

from harness import Conn, check_problem, equal, get, post, shared


def image(target):
    answer = get(shared(), target)
    equal((target, answer.status), (target, 200))
    return answer


def test_query_path_and_json_are_one_result():
    a = image("/planet?type=gas&seed=3&format=png")
    for target in ("/planet.png?type=gas&seed=3", "/planet/gas/3.png", "/planet?seed=3&format=png&type=gas",
                   "/planet.png?type=gas&seed=3&pixels=64", "/planet.png?%74ype=gas&seed=%33", "/planet.png?type=gas&seed=3&",
                   "/planet.png?&&type=gas&seed=3", "/planet.png?type=gas&seed=3&zoom=01&scale=2.0e0"):
        b = get(shared(), target)
        equal((target, b["ETag"], b.body), (target, a["ETag"], a.body))
    for body in ({"type": "gas", "seed": 3, "format": "png"}, {"seed": "3", "type": "gas", "format": "png", "zoom": 1}):
        b = post(shared(), body)
        equal((b.status, b["ETag"], b.body), (200, a["ETag"], a.body))


def test_a_query_besides_a_body_is_refused():
    check_problem(post(shared(), {"seed": 1}, target="/planet?type=gas"), 400, "param-combination")
    equal(post(shared(), {"seed": 1}, target="/planet?").status, 200)


def test_plus_is_a_space_in_a_query_and_a_plus_in_a_path():
    space = image("/planet.png?seed=a+b")["ETag"]
    plus = image("/planet.png?seed=a%2Bb")["ETag"]
    assert space != plus
    equal(image("/planet.png?seed=a%20b")["ETag"], space)
    equal(image("/planet/terrestrial/a+b.png")["ETag"], plus)


def test_broken_percent_signs_are_400():
    for target in ("/planet?seed=%", "/planet?seed=%4", "/planet?seed=%zz", "/planet?seed=a%g0b", "/planet?%=1",
                   "/planet/gas/%.png", "/planet/gas/%zz.png", "/planet?seed=%u0041"):
        check_problem(get(shared(), target), 400, "text-encoding")


def test_an_encoded_nul_is_400():
    for target in ("/planet?seed=a%00b", "/planet?seed=%00", "/planet?see%00d=1", "/planet/gas/a%00.png"):
        assert get(shared(), target).status == 400, target
    check_problem(get(shared(), "/planet?seed=a%00b"), 400, "text-encoding")
    equal(post(shared(), b'{"seed":"a\\u0000b"}').status, 400)


def test_a_raw_nul_is_400():
    for target in (b"/planet?seed=a\0b", b"/planet?seed=a\0", b"/planet\0?seed=1", b"/plan\0et", b"/planet?seed=1\0&bogus=2"):
        with Conn(shared()) as c:
            c.send(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            check_problem(c.response(), 400, "text-encoding")


def test_raw_blanks_and_control_characters_are_400():
    for target in (b"/planet?seed=a b", b"/planet?seed=a\tb", b"/planet?seed=a\x01b", b"/planet?seed=a\x7fb"):
        with Conn(shared()) as c:
            c.send(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            check_problem(c.response(), 400, "text-encoding")


def test_broken_utf8_is_400():
    for target in ("/planet?seed=%ff", "/planet?seed=%c0%80", "/planet?seed=%ed%a0%80", "/planet?seed=%f4%90%80%80"):
        check_problem(get(shared(), target), 400, "text-encoding")
    equal(get(shared(), "/planet?seed=%c3%a9").status, 200)
    for body in (b'{"seed":"\xff"}', b'{"seed":"\xed\xa0\x80"}'):
        equal(post(shared(), body).status, 400)


def test_a_name_given_twice_is_400():
    check_problem(get(shared(), "/planet?seed=1&seed=2"), 400, "param-repeated", "seed")
    check_problem(get(shared(), "/planet?seed=1&seed=1"), 400, "param-repeated", "seed")
    check_problem(get(shared(), "/planet.png?format=png"), 400, "param-repeated", "format")
    check_problem(get(shared(), "/planet/gas/3.png?type=gas"), 400, "param-repeated", "type")
    check_problem(post(shared(), b'{"seed":1,"seed":2}'), 400, "param-repeated")


def test_a_misspelt_name_is_400_and_names_the_nearest():
    for wrong, right in (("sed", "seed"), ("typ", "type"), ("Seed", "seed"), ("pixel", "pixels"), ("cloudcover", "cloud_cover")):
        assert right in check_problem(get(shared(), "/planet?%s=1" % wrong), 400, "param-unknown")["detail"]
    check_problem(post(shared(), {"sed": 1}), 400, "param-unknown")
    check_problem(get(shared(), "/planet?utm_source=x"), 400, "param-unknown")


def test_what_a_client_sent_cannot_break_the_problem_document():
    for value in ('%22', '%5c', '%c2%85', '%0a', '%3Cscript%3E', '%27%29%3B', 'x' * 1000, '%7f', '%e2%80%ae'):
        for target in ("/planet?seed=1&" + value + "=1", "/planet?type=" + value, "/planet?pixels=" + value):
            answer = get(shared(), target)
            check_problem(answer, 400)
            assert len(answer.body) < 2000


def test_every_number_past_its_limits_is_400_and_at_them_is_not_out_of_range():
    numbers = [p for p in get(shared(), "/types").json()["parameters"] if p["kind"] == "number"]
    assert len(numbers) >= 15
    for p in numbers:
        step = p["step"]
        for value in (p["minimum"] - step, p["maximum"] + step, "99999999999999999999", "-99999999999999999999", "1e309"):
            text = value if isinstance(value, str) else ("%.6f" % value)
            check_problem(get(shared(), "/planet?%s=%s" % (p["name"], text)), 400, None, p["name"])
        for value in (p["minimum"], p["maximum"]):
            with Conn(shared()) as c:
                c.ask("/planet?%s=%.6f" % (p["name"], value), "HEAD")
                status = c.response(head=True).status
                assert status in (200, 400, 404), (p["name"], value, status)
            if p["name"] not in ("frames", "rev", "zoom", "pixels", "fps", "loops"):
                equal((p["name"], value, status), (p["name"], value, 200))


def test_what_is_no_number_is_400():
    for value in ("NaN", "nan", "inf", "-inf", "Infinity", "0x10", "1,5", "5px", "", "%20", "5%20", "%205", "--1", "1e", "e1",
                  ".", "-", "%D9%A3", "1_0", "1e999999999", "true"):
        for name in ("pixels", "scale", "tilt", "frames"):
            check_problem(get(shared(), "/planet?%s=%s" % (name, value)), 400, None, name)


def test_words_colours_and_seeds_are_checked():
    for query, name in (("type=mars", "type"), ("type=", "type"), ("type=GAS", "type"), ("format=jpg", "format"), ("rings=yes", "rings"),
                        ("layer=nothing", "layer"), ("background=xyz", "background"), ("background=12345", "background"),
                        ("atmosphere=1234567", "atmosphere"), ("palette=ff0000", "palette"), ("palette=" + ",".join(["ff0000"] * 17), "palette"),
                        ("palette=,", "palette"), ("seed=", "seed"), ("seed=" + "x" * 65, "seed")):
        check_problem(get(shared(), "/planet?" + query), 400, None, name)
    equal(get(shared(), "/planet?seed=" + "x" * 64).status, 200)
    equal(get(shared(), "/planet?background=ff8800").body, get(shared(), "/planet?background=%23FF8800").body)


def test_a_picture_beyond_the_limit_is_refused_with_the_limit():
    document = check_problem(get(shared(), "/planet.gif?pixels=1024&frames=240&zoom=32"), 400, "picture-size")
    assert "33554432" in document["detail"].replace(",", ""), document


def test_a_number_outside_its_range_is_refused_though_it_rounds_into_it():
    for query in ("tilt=90.04", "ring_open=0.0196", "scale=0.245", "sea_level=-0.0001", "phase=1.0000001", "light_azimuth=180.04"):
        check_problem(get(shared(), "/planet?" + query), 400, "param-range", query.split("=")[0])
    equal(post(shared(), {"tilt": 90.04}).status, 400)
    equal(get(shared(), "/planet?tilt=89.96").status, 200)
    assert "rounded to steps of 0.1" in get(shared(), "/planet?tilt=91").json()["detail"]


def test_control_characters_are_no_seed():
    for seed in ("%7f", "a%c2%80", "%c2%9fb", "%0a"):
        check_problem(get(shared(), "/planet?seed=" + seed), 400, "param-syntax", "seed")
        check_problem(get(shared(), "/planet/gas/%s.png" % seed), 400, "param-syntax", "seed")
    check_problem(post(shared(), {"seed": "\x7f"}), 400, "param-syntax", "seed")


def test_what_the_path_gives_cannot_be_given_again():
    for query, name in (("format=gif", "format"), ("type=gas", "type"), ("seed=3", "seed")):
        equal(check_problem(get(shared(), "/planet/gas/3.gif?" + query), 400, "param-repeated", name)["detail"], "the path already gives " + name)


def test_a_body_that_is_no_object_is_told_what_it_must_be():
    equal(check_problem(post(shared(), b""), 400, "body-syntax")["detail"], "the body is empty; a JSON object is expected")
    for body in (b'"x"', b"null", b"3", b"[]"):
        detail = check_problem(post(shared(), body), 400, "body-syntax")["detail"]
        assert "a JSON object is expected" in detail and "malformed" not in detail, detail


def test_another_revision_is_an_error():
    answer = check_problem(get(shared(), "/planet?rev=2"), 404, "revision")
    assert "1" in answer["detail"]


def test_malformed_json_is_400():
    for body in (b"", b"{", b"[]", b"1", b'"x"', b'{"seed":}', b'{"seed":1} x', b'{"seed":[1]}', b'{"seed":{}}', b"{'seed':1}",
                 b"[" * 60000, b'{"seed":1e999}', b'{"pixels":1.5}', b"\xff\xfe", b'{"seed":null}'):
        answer = post(shared(), body)
        check_problem(answer, 400)


def test_only_json_is_read():
    for kind in ("application/x-www-form-urlencoded", "text/plain", "application/jsonx", "multipart/form-data; boundary=x"):
        check_problem(post(shared(), b"{}", ["Content-Type: " + kind]), 415, "body-type")
    for kind in ("application/json", "Application/JSON; charset=utf-8"):
        equal(post(shared(), b"{}", ["Content-Type: " + kind]).status, 200)
    equal(get(shared(), "/planet", method="POST", body=b"{}").status, 200)


def test_a_palette_may_be_named():
    plain = image("/planet.png?seed=5")["ETag"]
    equal(image("/planet.png?seed=5&palette=auto&colors=0")["ETag"], plain)
    named = {image(f"/planet.png?seed=5&palette={name}")["ETag"] for name in ("pico8", "gameboy", "endesga32", "generate")}
    equal(len(named | {plain}), 5)
    equal(post(shared(), {"seed": 5, "format": "png", "palette": "pico8"})["ETag"], image("/planet.png?seed=5&palette=pico8")["ETag"])
    for bad in ("palette=pico9", "palette=pico8,fff", "colors=-1", "colors=257"):
        check_problem(get(shared(), "/planet?" + bad), 400, parameter=bad.split("=")[0])


def test_shading_brings_its_dither_and_cleaning_along():
    plain = image("/planet.png?seed=5")["ETag"]
    equal(image("/planet.png?seed=5&shading=steps&dither=none&clean=off&min_light=0&outline=none&terminator=early")["ETag"], plain)
    ramp = image("/planet.png?seed=5&shading=ramp")["ETag"]
    equal(image("/planet.png?seed=5&shading=ramp&dither=checker&clean=on")["ETag"], ramp)
    others = ("shading=ramp&clean=off", "shading=ramp&dither=bayer4", "dither=bayer8", "clean=on", "min_light=0.2", "outline=000", "terminator=exact")
    equal(len({image("/planet.png?seed=5&" + other)["ETag"] for other in others} | {plain, ramp}), len(others) + 2)
    equal(post(shared(), {"seed": 5, "format": "png", "shading": "ramp", "clean": True})["ETag"], ramp)
    for bad in ("shading=flat", "dither=bayer3", "clean=maybe", "min_light=1.1", "outline=auto", "terminator=late"):
        check_problem(get(shared(), "/planet?" + bad), 400, parameter=bad.split("=")[0])
