"""Contact sheets: many planets in one picture, made and cached like any other."""

import io

from harness import Skip, check_problem, equal, get, post, shared

try:
    from PIL import Image
except ImportError:
    Image = None


def test_a_contact_sheet_is_a_picture_with_a_key():
    answer = get(shared(), "/contact.png?type=ice&seeds=1..6&pixels=16", ["Accept: text/html"])
    equal((answer.status, answer["Content-Type"], answer["Vary"]), (200, "image/png", None))
    assert answer["Content-Disposition"].startswith('inline; filename="ice-1-'), answer["Content-Disposition"]
    assert answer["Content-Disposition"].endswith('-contact.png"'), answer["Content-Disposition"]
    for same in ("/contact?type=ice&seeds=1..6&pixels=16", "/planet?format=contact&type=ice&seeds=1..6&pixels=16",
                 "/contact.png?seeds=1..6&pixels=16&type=ice&fps=3&margin=2"):
        equal((same, get(shared(), same)["ETag"]), (same, answer["ETag"]))
    equal(post(shared(), {"format": "contact", "type": "ice", "seeds": "1..6", "pixels": 16})["ETag"], answer["ETag"])
    equal(get(shared(), "/contact.png?type=ice&seeds=1..6&pixels=16", ["If-None-Match: " + answer["ETag"]]).status, 304)
    equal(get(shared(), "/contact.png?type=ice&seeds=1..6&pixels=16")["X-Cache"], "hit")
    equal(get(shared(), "/planet.png?seeds=1..6&sweep_x=tilt:1,2")["ETag"], get(shared(), "/planet.png")["ETag"])


def test_each_cell_of_a_sweep_is_the_single_picture():
    if not Image:
        raise Skip("no Pillow (python3-pil)")
    answer = get(shared(), "/contact.png?type=gas&pixels=32&sweep_x=tilt:-40,0,40&sweep_y=ring_open:0.1,0.3&rings=on&background=203040")
    sheet = Image.open(io.BytesIO(answer.body)).convert("RGBA")
    whole = sheet.tobytes()
    for tilt in (-40, 0, 40):
        for ring in (0.1, 0.3):
            one = get(shared(), "/planet.png?type=gas&pixels=32&rings=on&background=203040&tilt=%d&ring_open=%s" % (tilt, ring))
            image = Image.open(io.BytesIO(one.body)).convert("RGBA")
            row = image.crop((0, 16, 32, 17)).tobytes()
            places = []
            at = whole.find(row)
            while at >= 0:
                places.append((at // 4 % sheet.width, at // 4 // sheet.width - 16))
                at = whole.find(row, at + 1)
            assert any(sheet.crop((x, y, x + 32, y + 32)).tobytes() == image.tobytes() for x, y in places), (tilt, ring)


def test_what_a_contact_sheet_refuses():
    for query, kind, name, words in (
            ("sweep_x=tlt:1,2", "param-syntax", "sweep_x", "can be swept"), ("seeds=1..99", "param-range", "seeds", "64"),
            ("seeds=1..20&sweep_x=tilt:0..9:9", "param-combination", "seeds", "180 cells"),
            ("layer=craters&sweep_x=type:moon,gas", "param-combination", "layer", "cell 2 (gas)"),
            ("pixels=1024&seeds=1..64", "picture-size", "pixels", "at most")):
        problem = check_problem(get(shared(), "/contact.png?" + query), 400, kind, name)
        assert words in problem["detail"], problem
    check_problem(get(shared(), "/contact.png?frames=2"), 400, "param-combination", "frames")
    equal(get(shared(), "/contact.gif").status, 404)
