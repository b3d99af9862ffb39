"""Sprite sheets: each frame is cut out by the atlas and compared with the frame of the animation."""

import io
import json
import os
import subprocess

import harness
from harness import Skip, check_problem, equal, get, post, shared
from npm import npm_folder

try:
    from PIL import Image
except ImportError:
    Image = None

LOOKS = ["type=terrestrial&seed=7&frames=%d&pixels=32", "type=gas&seed=3&frames=%d&pixels=24&rings=on&zoom=2",
         "type=moon&seed=a%%20b&frames=%d&pixels=16&background=203040"]
GRIDS = ["", "&columns=1", "&columns=3&margin=2&spacing=3", "&columns=5&spacing=1", "&columns=240&margin=64", "&margin=1"]


def picture(target):
    answer = get(shared(), target)
    equal((target, answer.status, answer["Content-Type"][:6]), (target, 200, "image/"))
    return Image.open(io.BytesIO(answer.body))


def animation(query):
    """Its frames as RGBA, exactly as drawn."""
    image = picture("/planet.apng?" + query)
    frames = []
    for i in range(getattr(image, "n_frames", 1)):
        image.seek(i)
        frames.append(image.convert("RGBA").copy())
    return frames


def atlas_of(query):
    answer = get(shared(), "/sheet.json?" + query)
    equal((query, answer.status, answer["Content-Type"]), (query, 200, "application/json"))
    return answer.json()


def box(frame):
    f = frame["frame"]
    return f["x"], f["y"], f["x"] + f["w"], f["y"] + f["h"]


def test_each_frame_of_a_sheet_is_where_the_atlas_says():
    if not Image:
        raise Skip("no Pillow (python3-pil)")
    for look in LOOKS:
        for count in (1, 2, 7, 12):
            frames = animation(look % count)
            for grid in GRIDS:
                query = look % count + grid
                atlas = atlas_of(query)
                equal(len(atlas["frames"]), count)
                sheet = picture("/" + atlas["meta"]["image"]).convert("RGBA")
                equal((query, sheet.size), (query, (atlas["meta"]["size"]["w"], atlas["meta"]["size"]["h"])))
                equal(sheet.tobytes(), picture("/sheet.png?" + query).convert("RGBA").tobytes())
                for frame, want in zip(atlas["frames"].values(), frames, strict=True):
                    assert sheet.crop(box(frame)).tobytes() == want.tobytes(), (query, frame)
                    sheet.paste((0, 0, 0, 0), box(frame))
                assert not sheet.getbbox(), query + ": something is drawn where no frame is"


def test_a_sheet_is_nearest_to_square_unless_columns_are_named():
    for count, columns, rows in ((1, 1, 1), (2, 2, 1), (5, 3, 2), (12, 4, 3), (120, 11, 11)):
        size = atlas_of("pixels=8&frames=%d" % count)["meta"]["size"]
        equal((size["w"], size["h"]), (8 * columns, 8 * rows))
    equal(atlas_of("pixels=8&frames=7&columns=3&margin=2&spacing=1")["meta"]["size"], {"w": 3 * 8 + 2 + 4, "h": 3 * 8 + 2 + 4})


def test_what_makes_the_same_sheet_has_the_same_tag():
    tag = get(shared(), "/sheet.png?frames=12&pixels=8")["ETag"]
    for same in ("columns=4", "fps=30", "loops=3", "atlas=aseprite", "columns=0"):
        equal((same, get(shared(), "/sheet.png?frames=12&pixels=8&" + same)["ETag"]), (same, tag))
    equal(get(shared(), "/planet?format=sheet&frames=12&pixels=8")["ETag"], tag)
    equal(post(shared(), {"format": "sheet", "frames": 12, "pixels": 8})["ETag"], tag)
    for other in ("columns=5", "margin=1", "spacing=1"):
        assert get(shared(), "/sheet.png?frames=12&pixels=8&" + other)["ETag"] != tag, other
    plain = get(shared(), "/planet.gif?frames=2&pixels=8")["ETag"]
    equal(get(shared(), "/planet.gif?frames=2&pixels=8&columns=1&margin=3&spacing=3&atlas=aseprite")["ETag"], plain)


def test_the_whole_sheet_counts_against_the_limit_on_pixels():
    equal(get(shared(), "/sheet.json?pixels=512&frames=121").status, 200)
    for target in ("/sheet.png?pixels=512&frames=128&columns=11", "/sheet.json?pixels=1024&frames=33", "/sheet.png?pixels=1024&frames=32&margin=64"):
        check_problem(get(shared(), target), 400, "picture-size", "pixels")


def test_sheets_have_addresses_of_their_own():
    for target in ("/planet.sheet", "/planet/gas/3.sheet", "/planet.atlas", "/planet/sheet.png", "/sheet.gif", "/sheet", "/sheet.png/x"):
        equal((target, get(shared(), target).status), (target, 404))
    equal(check_problem(get(shared(), "/sheet.png?format=png"), 400, "param-repeated", "format")["detail"], "the path already gives format")
    answer = get(shared(), "/sheet.png?type=gas&seed=3", ["Accept: text/html"])
    equal((answer.status, answer["Vary"], answer["Content-Disposition"]), (200, None, 'inline; filename="gas-3-sheet.png"'))
    equal(get(shared(), "/sheet.json?type=gas&seed=3")["Content-Disposition"], 'inline; filename="gas-3-sheet.json"')


def test_an_atlas_of_aseprite_has_durations_and_a_tag():
    for fps, loops in ((15, 0), (7, 2), (50, 1)):
        atlas = atlas_of("pixels=8&frames=120&atlas=aseprite&fps=%d&loops=%d" % (fps, loops))
        equal(list(atlas["frames"]), [str(i) for i in range(120)])
        durations = [f["duration"] for f in atlas["frames"].values()]
        equal(sum(durations), round(120000 / fps))
        assert max(durations) - min(durations) <= 1, durations
        tag = {"name": "turn", "from": 0, "to": 119, "direction": "forward"}
        equal(atlas["meta"]["frameTags"], [dict(tag, repeat=str(loops)) if loops else tag])


def read_by_pixi(atlas):
    """What PixiJS makes of it."""
    work = npm_folder("atlas", "PixiJS")
    path = os.path.join(work, "atlas.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(atlas, file)
    done = subprocess.run(["node", "read.mjs", path], cwd=work, capture_output=True, timeout=harness.PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:]
    return json.loads(done.stdout)


def test_pixi_reads_an_atlas_as_it_is_meant():
    atlas = atlas_of("type=gas&seed=a%2fb&frames=14&pixels=24&zoom=2&columns=5&margin=1&spacing=2")
    read = read_by_pixi(atlas)
    equal(read["frames"], [[name] + [f["frame"][side] for side in "xywh"] for name, f in atlas["frames"].items()])
    equal(read["turn"], list(atlas["frames"]))
    equal(len(set(read["turn"])), 14)
