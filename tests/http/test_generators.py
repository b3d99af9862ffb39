"""What users of other planet generators report, looked for in every body here: files of another size than asked for, colours
chosen anew for each frame, time that drifts, frames that get lost, seeds that show nothing, planets black on black.

Seeds by the thousand and loops at every speed are in tests/unit/test_seeds.c, dither on all layers in test_touch_up.c."""

import io
import struct
import urllib.parse

from PIL import Image

from harness import equal, fresh, get, shared

# Whatever a person may put into the box: the ends of whole numbers, words, other scripts, things that look like numbers.
SEEDS = ["0", "-0", "1", "00", "-1", "1000", "2000", "4294967295", "4294967296", "9007199254740993", "18446744073709551615",
         "18446744073709551616", "1e3", "0x10", "NaN", "null", " ", "a", "A", "Ä", "ä", "ein Wort", "地球", "🪐", "\u00e9", "e\u0301", "x" * 64]
SPACE = ("asteroid", "star", "black_hole", "galaxy", "comet")  # have no rings


def bodies():
    return [b["name"] for b in get(shared(), "/types").json()["bodies"]]


def body_of(target):
    answer = get(shared(), target)
    equal((target, answer.status), (target, 200))
    return answer.body


def image(target):
    return Image.open(io.BytesIO(body_of(target)))


def gif_blocks(data):
    """[(left, top, width, height, has a table of its own, delay)] of each frame, (width, height, has a global table)."""
    width, height, flags = struct.unpack("<HHB", data[6:11])
    at, frames, delay = 13 + (3 << (flags & 7) + 1 if flags & 128 else 0), [], 0
    while data[at] != 0x3B:
        if data[at] == 0x21:
            if data[at + 1] == 0xF9:
                delay = struct.unpack("<H", data[at + 4:at + 6])[0]
            at += 2
        else:
            left, top, w, h, own = struct.unpack("<HHHHB", data[at + 1:at + 10])
            frames.append((left, top, w, h, bool(own & 128), delay))
            at += 11 + (3 << (own & 7) + 1 if own & 128 else 0)
        while data[at]:
            at += 1 + data[at]
        at += 1
    return frames, (width, height, bool(flags & 128))


def test_every_file_of_every_body_has_the_size_asked_for():
    for n, body in enumerate(bodies()):
        side, zoom = 40 + n, 1 + n % 3
        for format in ("png", "gif", "apng", "webp"):
            around = "&background=stars" if body in SPACE else "&rings=on&moons=3"
            for more in ("", around):
                more += "&frames=3" if format != "png" else ""
                target = "/planet.%s?type=%s&seed=%s&pixels=%d&zoom=%d%s" % (format, body, fresh(), side, zoom, more)
                equal((target, image(target).size), (target, (side * zoom, side * zoom)))


def test_a_gif_of_any_body_has_one_colour_table_and_no_frame_outside():
    for body in bodies():
        frames, (width, height, table) = gif_blocks(body_of("/planet.gif?type=%s&seed=%s&pixels=48&frames=8" % (body, fresh())))
        equal((body, len(frames), width, height, table), (body, 8, 48, 48, True))
        for left, top, w, h, own, _ in frames:
            assert not own and left + w <= 48 and top + h <= 48, (body, left, top, w, h, own)


def test_the_time_of_a_gif_does_not_drift():
    for frames, fps in ((60, 6), (7, 3), (120, 15), (240, 50), (100, 7), (11, 24), (1, 1)):
        blocks, _ = gif_blocks(body_of("/planet.gif?seed=3&pixels=16&frames=%d&fps=%d" % (frames, fps)))
        for n in range(frames if frames > 1 else 0):  # each frame begins within the hundredth where it should
            begins = sum(b[5] for b in blocks[:n])
            assert abs(begins - 100 * n / fps) <= 0.5, (frames, fps, n, begins)


def test_no_frame_is_lost_or_doubled_in_any_format_or_grid():
    look = "type=moon&seed=%s&pixels=20&frames=13" % fresh()
    shown = {}
    for format in ("gif", "apng", "webp"):
        file = image("/planet.%s?%s" % (format, look))
        shown[format] = []
        for n in range(file.n_frames):
            file.seek(n)
            shown[format].append(file.convert("RGBA").tobytes())
    for columns in range(1, 15):
        sheet = image("/sheet.png?%s&columns=%d" % (look, columns)).convert("RGBA")
        shown[columns] = [sheet.crop((n % columns * 20, n // columns * 20, n % columns * 20 + 20, n // columns * 20 + 20)).tobytes() for n in range(13)]
    stills = [image("/planet.png?%s&phase=%r" % (look.replace("&frames=13", ""), n / 13)).convert("RGBA").tobytes() for n in range(13)]
    equal(len(set(stills)), 13)
    gif = shown.pop("gif")  # has no half clear air: its frames are only counted
    equal((len(gif), len(set(gif))), (13, 13))
    for name, frames in shown.items():
        equal((name, [alike(f) for f in frames]), (name, [alike(s) for s in stills]))


def alike(rgba):
    """The colour of what is fully clear is nobody's."""
    return b"".join(rgba[i:i + 4] if rgba[i + 3] else b"\0\0\0\0" for i in range(0, len(rgba), 4))


def test_every_seed_that_can_be_typed_is_a_planet_of_its_own():
    for body in bodies():
        pictures = {}
        for seed in SEEDS:
            picture = image("/planet.png?type=%s&pixels=32&seed=%s" % (body, urllib.parse.quote(seed))).convert("RGBA")
            colours = {p[:3] for p in picture.getdata() if p[3]}
            assert len(colours) >= 5, (body, seed, len(colours))
            pictures.setdefault(picture.tobytes(), []).append(seed)
        equal((body, [names for names in pictures.values() if len(names) > 1]), (body, []))


def lightness(pixel):
    """CIE L* of an sRGB colour over black."""
    linear = [(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) * pixel[3] / 255 for c in (v / 255 for v in pixel[:3])]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def test_no_planet_is_black_on_black():
    for body in bodies():
        for seed in range(12):
            pixels = list(image("/planet.png?type=%s&pixels=48&seed=%d" % (body, seed)).convert("RGBA").getdata())
            shown = [lightness(p) for p in pixels if p[3]]
            # More than half of it can be told from the black around it, and a part of it is bright.
            seen, bright = (sum(l >= least for l in shown) / len(shown) for least in (15, 40))
            assert seen >= 0.5 and bright >= 0.1, (body, seed, seen, bright)
