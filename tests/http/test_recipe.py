"""/recipe: a picture goes in, its request comes out."""

from harness import check_problem, equal, fresh, get, post, shared

MIB = 1 << 20


def recipe(body, headers=("Content-Type: image/png",)):
    return get(shared(), "/recipe", headers, "POST", body)


def test_a_picture_leads_back_to_its_request():
    for target in ("/planet.png?type=gas&seed=a%20b&pixels=20", "/planet.gif?seed=9&frames=3&pixels=20&rings=on",
                   "/planet.webp?seed=9&frames=2&pixels=20"):
        picture = get(shared(), target)
        answer = recipe(picture.body)
        equal((answer.status, answer["Content-Type"], answer["Cache-Control"]), (200, "application/json", "no-store"))
        found = answer.json()
        for same in (get(shared(), found["url"]), get(shared(), "/planet?code=" + found["code"]), post(shared(), found["request"])):
            equal((same["ETag"], same.body), (picture["ETag"], picture.body))


def test_any_type_may_be_declared():
    body = get(shared(), "/planet.png?seed=1&pixels=16").body
    for headers in ([], ["Content-Type: image/gif"], ["Content-Type: application/x-www-form-urlencoded"], ["Content-Type: application/json"]):
        equal((headers, recipe(body, headers).status), (headers, 200))


def test_a_large_picture_is_read_from_its_head():
    picture = get(shared(), "/planet.png?pixels=1024&layer=grid&seed=" + fresh())
    equal(recipe(picture.body + b"x" * (2 * MIB - len(picture.body))).json()["key"].split("&")[0], "rev=1")
    check_problem(recipe(picture.body + b"x" * (2 * MIB + 1 - len(picture.body))), 413, "body-size")


def test_a_body_elsewhere_is_still_bounded():
    check_problem(post(shared(), b'{"seed":"pad"}'.ljust(65537)), 413, "body-size")


def test_what_carries_no_recipe_is_refused():
    picture = get(shared(), "/planet.png?seed=1&pixels=16").body
    for body in (b"", b"hello", picture[:60], picture.replace(b"planetd:key", b"planetd:kex"), b"\x89PNG\r\n\x1a\n" + b"\xff" * 90000,
                 picture.replace(b"rev=1&type", b"rev=1&typo")):
        check_problem(recipe(body), 422, "recipe")
    check_problem(recipe(picture.replace(b"rev=1&type", b"rev=2&type")), 404, "revision")
    equal(get(shared(), "/recipe").status, 405)
