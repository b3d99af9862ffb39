"""What an answer says besides its bytes."""

import io
import re

from PIL import Image
from PIL.GimpPaletteFile import GimpPaletteFile

from harness import Server, check_problem, equal, fresh, get, post, shared

DAY = "public, max-age=86400, stale-while-revalidate=604800"
FOR_EVER = "public, max-age=31536000, immutable"


def test_content_type_is_exact_and_the_bytes_agree():
    png = get(shared(), "/planet.png?seed=1")
    gif = get(shared(), "/planet.gif?seed=1&frames=2")
    equal((png["Content-Type"], png.body[:8]), ("image/png", b"\x89PNG\r\n\x1a\n"))
    equal((gif["Content-Type"], gif.body[:6]), ("image/gif", b"GIF89a"))
    apng = get(shared(), "/planet/gas/3.apng?frames=2")
    equal((apng["Content-Type"], apng.body[:8], apng.body.count(b"fcTL")), ("image/apng", b"\x89PNG\r\n\x1a\n", 2))
    equal(apng["ETag"], get(shared(), "/planet?format=apng&type=gas&seed=3&frames=2")["ETag"])
    assert re.search(r'"gas-3-[0-9a-f]{6}\.apng"', apng["Content-Disposition"]), apng["Content-Disposition"]


def test_webp_is_a_still_or_an_animation():
    still, moving = (get(shared(), "/planet/gas/3.webp?pixels=24&frames=%d" % frames) for frames in (1, 3))
    for answer in (still, moving):
        equal((answer["Content-Type"], answer.body[:4], answer.body[8:16]), ("image/webp", b"RIFF", b"WEBPVP8X"))
        assert re.search(r'"gas-3-[0-9a-f]{6}\.webp"', answer["Content-Disposition"]), answer["Content-Disposition"]
    equal((still.body.count(b"ANMF"), moving.body.count(b"ANMF")), (0, 3))
    equal(get(shared(), "/planet?seed=1&pixels=16", ["Accept: image/webp"])["Content-Type"], "image/webp")
    assert "/planet.webp" in get(shared(), "/openapi.json").json()["paths"]


def test_palettes_have_the_colours_of_the_picture_in_three_forms():
    query = "?type=terrestrial&seed=7&rings=on&pixels=48&frames=5"
    sheet = get(shared(), "/sheet.png" + query).body
    with Image.open(io.BytesIO(sheet)) as image:
        shown = {"%02x%02x%02x" % color[:3] for _, color in image.convert("RGBA").getcolors(1 << 16) if color[3]}
    hexes = get(shared(), "/planet.hex" + query)
    listed = hexes.body.decode().splitlines()
    equal((hexes["Content-Type"], len(listed), set(listed)), ("text/plain; charset=utf-8", len(shown), shown))
    gpl = get(shared(), "/planet/terrestrial/7.gpl?rings=on&pixels=48&frames=5").body
    entries = [line.split(b"\t") for line in gpl.splitlines() if b"\t" in line]
    equal(["%02x%02x%02x" % tuple(map(int, numbers.split())) for numbers, _ in entries], listed)
    equal(len({name for _, name in entries}), len(entries))
    # Pillow counts lines, not colours: ours stand behind one for each line of the head.
    read = GimpPaletteFile(io.BytesIO(gpl)).getpalette()[0]
    assert bytes.fromhex("".join(listed)) in read, read
    strip = get(shared(), "/palette.png" + query + "&zoom=3")
    with Image.open(io.BytesIO(strip.body)) as image:
        equal(image.size, (3 * len(listed), 3))
        equal(["%02x%02x%02x" % image.convert("RGB").getpixel((3 * i + 1, 1)) for i in range(len(listed))], listed)
    equal(get(shared(), "/palette.png" + query + "&zoom=3&fps=20&loops=2")["ETag"], strip["ETag"])
    check_problem(get(shared(), "/palette.png?layer=depth"), 400, "param-combination")


def test_colours_cycle_while_the_planet_stands_still():
    still, cycling = (get(shared(), "/planet.gif?type=gas&turns=0&pixels=24&frames=4&palette_offset=%d" % n) for n in (0, 1))
    with Image.open(io.BytesIO(still.body)) as image:
        equal([image.seek(i) or image.convert("RGB").tobytes() for i in (0, 2)][0], image.convert("RGB").tobytes())
    with Image.open(io.BytesIO(cycling.body)) as image:
        first, later = [image.seek(i) or image.convert("RGB").tobytes() for i in (0, 2)]
        assert first != later


def test_a_split_sheet_has_each_layer_where_its_atlas_says():
    query = "?type=city&seed=3&pixels=24&frames=5&columns=3&spacing=1&layers=split"
    atlas = get(shared(), "/sheet.json" + query).json()
    with Image.open(io.BytesIO(get(shared(), "/" + atlas["meta"]["image"]).body)) as image:
        sheet = image.convert("RGBA")
    equal(sheet.size, (atlas["meta"]["size"]["w"], atlas["meta"]["size"]["h"]))
    equal((list(atlas["animations"]), len(atlas["frames"])), (["color", "normal", "emission", "mask"], 20))
    for layer, names in atlas["animations"].items():
        with Image.open(io.BytesIO(get(shared(), "/planet.apng?type=city&seed=3&pixels=24&frames=5&layer=" + layer).body)) as apng:
            for i, name in enumerate(names):
                place = atlas["frames"][name]["frame"]
                apng.seek(i)
                cut = sheet.crop((place["x"], place["y"], place["x"] + 24, place["y"] + 24))
                equal((name, cut.tobytes()), (name, apng.convert("RGBA").tobytes()))
    tags = get(shared(), "/sheet.json" + query + "&atlas=aseprite").json()["meta"]["frameTags"]
    equal([(tag["name"], tag["from"], tag["to"]) for tag in tags], [("color", 0, 4), ("normal", 5, 9), ("emission", 10, 14), ("mask", 15, 19)])


def test_layers_for_engines_are_there_for_every_body():
    bodies = get(shared(), "/types").json()["bodies"]
    for body in bodies:
        for layer in ("normal", "emission", "mask"):
            assert layer in body["layers"], (body["name"], layer)
            answer = get(shared(), "/planet.png?type=%s&layer=%s&pixels=24" % (body["name"], layer))
            equal((body["name"], layer, answer.status), (body["name"], layer, 200))
    with Image.open(io.BytesIO(get(shared(), "/planet.png?type=gas&layer=normal&pixels=24").body)) as image:
        red, green, blue, alpha = image.convert("RGBA").getpixel((12, 12))
        assert abs(red - 128) < 8 and abs(green - 128) < 8 and (blue > 250, alpha) == (True, 255), (red, green, blue)


def test_accept_chooses_the_format():
    table = [(None, "png"), ("", "png"), ("*/*", "png"), ("image/*", "png"), ("image/png", "png"), ("image/gif", "gif"),
             ("IMAGE/GIF", "gif"), ("image/png;q=0.5, image/gif", "gif"), ("image/png, image/gif", "png"),
             ("image/gif;q=0.9, image/png;q=0.8", "gif"), ("image/png;q=0, */*", "gif"), ("image/png;q=0", "406"),
             ("text/html", "406"), ("text/html, */*;q=0.1", "png"), ("image/gif;q=0, image/png;q=0", "406"),
             ("image/webp, image/gif;q=0.5", "gif"), ("image/apng, */*", "png"), ("image/apng", "apng"), ("text/html,application/xhtml+xml,image/avif,image/webp,*/*;q=0.8", "png")]
    for accept, expected in table:
        answer = get(shared(), "/planet?seed=1", [] if accept is None else ["Accept: " + accept])
        equal((accept, answer["Vary"]), (accept, "Accept"))
        if expected == "406":
            check_problem(answer, 406, "not-acceptable")
        else:
            equal((accept, answer["Content-Type"]), (accept, "image/" + expected))


def test_vary_is_sent_just_when_accept_decides():
    for target in ("/planet?seed=1&format=png", "/planet.png?seed=1", "/planet.gif?frames=2", "/planet/gas/1.png",
                   "/planet.png?bogus=1", "/planet.png?pixels=5000"):
        equal((target, get(shared(), target, ["Accept: text/html"])["Vary"]), (target, None))
    for target in ("/planet/gas/.png", "/planet/foo/3.png", "/planet/gas/%zz.gif", "/planet/gas/3.jpg", "/planet.jpg"):
        answer = get(shared(), target)
        check_problem(answer, answer.status)
        equal((target, answer["Vary"]), (target, None))
    for target in ("/planet?seed=1", "/planet?seed=1", "/planet?bogus=1", "/planet?pixels=5000"):
        equal((target, get(shared(), target)["Vary"]), (target, "Accept"))
    tag = get(shared(), "/planet?seed=1")["ETag"]
    equal(get(shared(), "/planet?seed=1", ["If-None-Match: " + tag])["Vary"], "Accept")
    equal(get(shared(), "/planet.png?seed=1", ["If-None-Match: " + tag])["Vary"], None)


def test_a_named_format_is_not_negotiated():
    equal(get(shared(), "/planet.gif?frames=2", ["Accept: image/png"])["Content-Type"], "image/gif")
    equal(get(shared(), "/planet?format=png", ["Accept: image/gif"])["Content-Type"], "image/png")
    equal(post(shared(), {"format": "gif", "frames": 2}, ["Accept: image/png"])["Content-Type"], "image/gif")
    equal(post(shared(), {"frames": 2}, ["Accept: image/gif"])["Content-Type"], "image/gif")


def test_hit_and_miss_differ_in_cache_timing_and_id_alone():
    target = "/planet?seed=" + fresh()
    miss, hit, prepared = get(shared(), target), get(shared(), target), get(shared(), target)
    equal([a["X-Cache"] for a in (miss, hit, prepared)], ["miss", "hit", "hit"])
    for other in (hit, prepared):
        equal(other.body, miss.body)
        same = [[h for h in a.headers if h[0] not in ("x-cache", "server-timing", "x-request-id", "date")] for a in (miss, other)]
        equal(*same)


def test_a_pinned_revision_is_immutable_and_shares_the_bytes():
    target = "/planet.png?seed=" + fresh()
    pinned, plain = get(shared(), target + "&rev=1"), get(shared(), target)
    equal(pinned["Cache-Control"], FOR_EVER)
    equal((plain["Cache-Control"], plain["X-Cache"]), (DAY, "hit"))
    equal((pinned["ETag"], pinned.body), (plain["ETag"], plain.body))
    for _ in range(2):  # made, then prepared
        equal(get(shared(), target + "&rev=1")["Cache-Control"], FOR_EVER)
        equal(get(shared(), target)["Cache-Control"], DAY)
    tag = ["If-None-Match: " + plain["ETag"]]
    for _ in range(2):
        equal(get(shared(), target + "&rev=1", tag)["Cache-Control"], FOR_EVER)
        equal(get(shared(), target, tag)["Cache-Control"], DAY)


def test_file_names_tell_what_is_in_them():
    for target, pattern in (("/planet?type=gas&seed=3", r"gas-3\.png"), ("/planet/gas/3.gif?frames=2", r"gas-3-[0-9a-f]{6}\.gif"),
                            ("/planet?seed=%22;%0d", None), ("/planet?seed=a%2F..%2Fb", r"[a-z0-9._-]+\.png"),
                            ("/planet?seed=%22%3B", r"[a-z0-9._-]+\.png")):
        answer = get(shared(), target)
        if pattern is None:
            equal(answer.status, 400)
            continue
        match = re.fullmatch(r'inline; filename="([a-z0-9._-]+)"', answer["Content-Disposition"])
        assert match and re.fullmatch(pattern, match.group(1)), answer["Content-Disposition"]


def test_cors_headers_are_on_everything():
    tag = get(shared(), "/planet?seed=1")["ETag"]
    for target, headers, method in (("/planet?seed=1", [], "GET"), ("/planet?seed=1", ["If-None-Match: " + tag], "GET"),
                                    ("/planet?bogus=1", [], "GET"), ("/nowhere", [], "GET"), ("/planet", [], "PUT"),
                                    ("/planet?seed=1", ["Accept: text/html"], "GET"), ("/planet", [], "OPTIONS"),
                                    ("/healthz", [], "GET"), ("/readyz", [], "GET"), ("/types", [], "GET"), ("/version", [], "HEAD"),
                                    ("/", [], "GET"), ("/planet?x=" + "y" * 5000, [], "GET")):
        answer = get(shared(), target, ["Origin: https://example.org"] + headers, method)
        equal((target, answer["Access-Control-Allow-Origin"]), (target, "*"))
        exposed = answer["Access-Control-Expose-Headers"]
        assert "ETag" in exposed and "X-Cache" in exposed and "Retry-After" in exposed, exposed


def test_nosniff_is_on_everything_with_a_body():
    for target, method in (("/planet?seed=1", "GET"), ("/planet?seed=1", "HEAD"), ("/planet.gif?frames=2", "GET"), ("/planet?bogus=1", "GET"),
                           ("/nowhere", "GET"), ("/planet", "PUT"), ("/healthz", "GET"), ("/readyz", "GET"), ("/types", "GET"),
                           ("/version", "GET"), ("/", "GET"), ("/planet", "OPTIONS")):
        for _ in range(2):  # a hit's answer is a prepared one
            equal((target, get(shared(), target, method=method)["X-Content-Type-Options"]), (target, "nosniff"))


def test_several_accept_lines_are_one_list():
    for lines, kind in ((["text/html", "image/gif"], "gif"), (["image/png;q=0.1", "image/gif;q=0.2", "*/*;q=0"], "gif"),
                        (["", "image/gif"], "gif"), (["image/gif", ""], "gif"), (["", ""], "png"),
                        (["image/gif", "image/png;q=0.5," + "x/y," * 500], "gif"),  # too long to join: the first counts
                        (["image/gif;q=0.5", "image/png", "x/y" * 500, "image/gif"], "png")):
        answer = get(shared(), "/planet?seed=1&pixels=16", ["Accept: " + line for line in lines])
        equal((lines, answer.status, answer["Content-Type"]), (lines, 200, "image/" + kind))
    check_problem(get(shared(), "/planet?seed=1", ["Accept: text/html", "Accept: text/plain"]), 406)


def test_pictures_of_the_null_backend_are_not_to_be_kept():
    with Server("--backend", "null") as s:
        s.wait_log("level=warn event=null_backend .*flat squares")
        for target in ("/planet?seed=1", "/planet.gif?frames=2", "/planet.png?seed=2&rev=1"):
            for state in ("miss", "hit", "hit"):  # made, then prepared
                answer = get(s, target)
                equal((answer.status, answer["X-Cache"]), (200, state))
                equal((answer["Cache-Control"], answer["ETag"]), ("no-store", None))
        equal(get(s, "/planet?seed=1", ["If-None-Match: *"]).status, 200)
    assert not [line for line in shared().lines if "null_backend" in line]


def test_errors_are_never_stored_and_each_has_its_own_id():
    ids = set()
    for target in ("/planet?bogus=1", "/nowhere", "/planet?seed=1&seed=1", "/planet?rev=2", "/planet?bogus=1"):
        answer = get(shared(), target)
        check_problem(answer, answer.status)
        assert answer["ETag"] is None
        ids.add(answer["X-Request-Id"])
    equal(len(ids), 5)


def test_the_log_quotes_what_a_client_sent():
    s = shared()
    mark = fresh()
    get(s, '/planet?%s=%%0a"x\\' % mark)
    line = s.wait_log(mark).string
    assert '\\"x\\\\' in line and "\n" not in line, line


def test_health_types_version_and_index():
    s = shared()
    health = get(s, "/healthz")
    equal((health.status, health.body, health["Content-Type"], health["Cache-Control"]),
          (200, b"ok\n", "text/plain; charset=utf-8", "no-store"))
    types = get(s, "/types")
    equal(types["Content-Type"], "application/json")
    equal([b["name"] for b in types.json()["bodies"]][:6], ["terrestrial", "desert", "ice", "lava", "gas", "moon"])
    equal(get(s, "/version").json()["name"], "planetd")
    assert b"curl 'localhost:8080/planet?type=gas&seed=3'" in get(s, "/").body


def test_readyz_says_what_draws():
    answer = get(shared(), "/readyz")
    state = answer.json()
    equal((answer.status, answer["Content-Type"], answer["Cache-Control"]), (200, "application/json", "no-store"))
    equal((state["ready"], state["draining"]), (True, False))
    equal((state["renderer"]["backend"], state["renderer"]["self_test_ok"]), ("cpu", True))
    assert state["renderer"]["device"] and state["queue"]["queued"] == 0
