"""Round trip of every kind of file through decoders that are not ours: Pillow and ImageMagick.

build/tests/dump_frames writes files and the pixels that must be in them; here each file is decoded and each frame,
composed as a viewer would, is compared with its pixels. PNG must be equal. GIF must be equal to the pixels laid over
black where they are not clear. APNG must be equal by Pillow and by a composer of the specification's words, which reads
each frame as a PNG of its own. WebP must be
equal by Pillow, which composes with libwebp, and its container must please webpmux where there is one. Delays, loop
count and key are compared too.

Prints a line per failed test and ends with "N passed, N failed". Exits 77 when a decoder is missing.
"""

import array
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

BUILD = os.environ.get("BUILD", "build")
DUMP = os.path.join(BUILD, "tests", "dump_frames")
CLEAR = 0
OPAQUE = struct.unpack("=I", b"\0\0\0\xff")[0]


def find_convert():
    """ImageMagick's convert; another program of that name may come first on PATH."""
    for path in ("/usr/bin/convert", "/usr/bin/convert-im6.q16", shutil.which("magick"), shutil.which("convert")):
        if path and os.path.exists(path):
            said = subprocess.run([path, "-version"], capture_output=True, timeout=20).stdout
            if b"ImageMagick" in said:
                return path
    return None


try:
    from PIL import Image
except ImportError:
    print("SKIP roundtrip: no Pillow (python3-pil)")
    sys.exit(77)
CONVERT = find_convert()
if not CONVERT:
    print("SKIP roundtrip: no ImageMagick")
    sys.exit(77)
WEBPMUX = shutil.which("webpmux")


class Case:
    def __init__(self, line, folder):
        name, extension, side, zoom, frames, fps, loops, key = line.split(" ", 7)
        self.name, self.extension, self.key = name, extension, key
        self.side, self.zoom, self.frames, self.fps, self.loops = map(int, (side, zoom, frames, fps, loops))
        self.path = os.path.join(folder, name + "." + extension)
        with open(os.path.join(folder, name + ".rgba"), "rb") as f:
            self.pixels = words(f.read())
        assert len(self.pixels) == self.side * self.side * self.frames

    def opaque(self):
        return all(word & OPAQUE == OPAQUE for word in self.pixels)

    def expected(self):
        """Each frame as it must look: 32-bit words of the machine's byte order, zoomed."""
        change = {c: c for c in set(self.pixels)}
        if self.extension == "gif":
            change = {c: over_black(c) for c in change}
        step = self.side * self.side
        for start in range(0, len(self.pixels), step):
            frame = array.array("I", (change[c] for c in self.pixels[start : start + step]))
            yield enlarge(frame, self.side, self.zoom)


def words(data):
    result = array.array("I")
    assert result.itemsize == 4
    result.frombytes(data)
    return result


def over_black(word):
    r, g, b, a = word.to_bytes(4, sys.byteorder)
    if a == 0:
        return CLEAR
    flat = [(c * a + 127) // 255 for c in (r, g, b)] + [255]
    return int.from_bytes(bytes(flat), sys.byteorder)


def enlarge(frame, side, zoom):
    if zoom == 1:
        return frame
    result = array.array("I")
    for y in range(side):
        row = array.array("I", (c for c in frame[y * side : y * side + side] for _ in range(zoom)))
        for _ in range(zoom):
            result.extend(row)
    return result


def clear_alike(frame):
    """Colour under alpha 0 is nobody's business."""
    seen = set(frame)
    change = {c: CLEAR if c.to_bytes(4, sys.byteorder)[3] == 0 else c for c in seen}
    return array.array("I", map(change.__getitem__, frame)) if any(change[c] != c for c in seen) else frame


def by_pillow(case):
    with Image.open(case.path) as image:
        for i in range(case.frames):
            image.seek(i)
            yield words(image.convert("RGBA").tobytes())


def chunks_of(path):
    """Name and bytes of each chunk of a PNG; checks the sums."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert zlib.crc32(name + body) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0], name
        yield name.decode(), body
        at += 12 + length
    assert name == b"IEND"


def apng_frames(path):
    """Each frame: its fcTL as a tuple, and its picture, decoded as a PNG of its own."""
    head, shared, control, bodies, sequence, frames = b"", [], None, [], 0, []
    for name, body in list(chunks_of(path)) + [("fcTL", None)]:
        if name == "IHDR":
            head = body
        elif name in ("PLTE", "tRNS"):
            shared.append((name, body))
        elif name in ("fcTL", "fdAT"):
            if body is not None:
                assert struct.unpack(">I", body[:4])[0] == sequence, "sequence number"
                sequence += 1
            if name == "fdAT":
                bodies.append(body[4:])
                continue
            if control:
                own = struct.pack(">II", control[0], control[1]) + head[8:]
                parts = [("IHDR", own)] + shared + [("IDAT", b"".join(bodies)), ("IEND", b"")]
                data = b"\x89PNG\r\n\x1a\n" + b"".join(
                    struct.pack(">I", len(b)) + n.encode() + b + struct.pack(">I", zlib.crc32(n.encode() + b)) for n, b in parts
                )
                frames.append((control, Image.open(io.BytesIO(data)).convert("RGBA")))
            control, bodies = struct.unpack(">IIIIHHBB", body[4:]) if body else None, []
        elif name == "IDAT":
            bodies.append(body)
    return frames


def by_specification(case):
    """Composes as the APNG specification says."""
    side = case.side * case.zoom
    canvas = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    for (width, height, left, top, _, _, dispose, blend), picture in apng_frames(case.path):
        assert picture.size == (width, height) and left + width <= side and top + height <= side
        box = (left, top, left + width, top + height)
        before = canvas.copy()
        canvas.paste(picture if blend == 0 else Image.alpha_composite(canvas.crop(box), picture), box)
        yield words(canvas.tobytes())
        if dispose == 1:
            canvas.paste((0, 0, 0, 0), box)
        elif dispose == 2:
            canvas = before


def by_imagemagick(case):
    command = [CONVERT, case.path] + (["-coalesce"] if case.extension in ("gif", "webp") else []) + ["-depth", "8", "rgba:-"]
    data = subprocess.run(command, capture_output=True, check=True, timeout=120).stdout
    side = case.side * case.zoom
    assert len(data) == side * side * 4 * case.frames, "%d bytes of pixels" % len(data)
    for i in range(case.frames):
        yield words(data[i * side * side * 4 : (i + 1) * side * side * 4])


def can_read(decoder, case):
    """ImageMagick 6 blends each frame of a WebP over the one before, also where the file says "replace": only what has
    no alpha can come out right."""
    return not (decoder is by_imagemagick and case.extension == "webp" and case.frames > 1) or case.opaque()


def same_pixels(decoder):
    def test(case):
        for i, (want, got) in enumerate(zip(case.expected(), decoder(case), strict=True)):
            got = clear_alike(got)
            if want != got:
                wrong = [at for at in range(len(want)) if want[at] != got[at]]
                side = case.side * case.zoom
                y, x = divmod(wrong[0], side)
                raise AssertionError(
                    "frame %d: %d pixels differ, first at x %d y %d: %08x, not %08x (little-endian words)"
                    % (i, len(wrong), x, y, got[wrong[0]], want[wrong[0]])
                )

    test.__name__ = "pixels_" + decoder.__name__
    return test


def shape_and_key(case):
    with Image.open(case.path) as image:
        side = case.side * case.zoom
        assert image.size == (side, side), image.size
        assert getattr(image, "n_frames", 1) == case.frames, image.n_frames
        if case.extension in ("png", "apng"):
            image.load()
            assert image.text["planetd:key"] == case.key, image.text
            assert image.info["srgb"] == 0, image.info
        elif case.extension == "webp":
            assert image.getexif()[0x010E] == case.key, dict(image.getexif())
        else:
            assert image.info["comment"].decode("ascii") == case.key, image.info["comment"]


def apng_timing(case):
    if case.extension != "apng":
        return
    control = [body for name, body in chunks_of(case.path) if name == "acTL"]
    assert control == [struct.pack(">II", case.frames, case.loops)], control
    delays = [c[4:6] for c, _ in apng_frames(case.path)]
    assert delays == [(1, case.fps)] * case.frames, delays


def webp_timing(case):
    """Each frame's start in ms, by the demuxer of libwebp, is the exact one rounded."""
    if case.extension != "webp" or case.frames == 1:
        return
    with Image.open(case.path) as image:
        assert image.info["loop"] == case.loops, image.info["loop"]
        end = 0
        for i in range(case.frames):
            image.seek(i)
            image.load()
            end += image.info["duration"]
            assert abs(end - 1000 * (i + 1) / case.fps) <= 0.5, "frame %d ends at %d ms" % (i, end)


def webp_is_whole(case):
    """webpmux reads the container as strictly as it can be read."""
    if case.extension != "webp" or not WEBPMUX:
        return
    said = subprocess.run([WEBPMUX, "-info", case.path], capture_output=True, check=True, timeout=60).stdout.decode()
    assert "Canvas size: %d x %d" % ((case.side * case.zoom,) * 2) in said, said
    if case.frames > 1:
        assert "Number of frames: %d" % case.frames in said and "Loop Count : %d" % case.loops in said, said


def timing(case):
    if case.extension != "gif":
        return
    with Image.open(case.path) as image:
        if case.frames == 1:
            assert "loop" not in image.info and not image.info.get("duration"), image.info
            return
        want = {0: 0, 1: None}.get(case.loops, case.loops - 1)
        assert image.info.get("loop") == want, image.info.get("loop")
        delays = []
        for i in range(case.frames):
            image.seek(i)
            delays.append(image.info["duration"])
        assert min(delays) >= 20, delays
        exact = 1000 * case.frames / case.fps
        assert abs(sum(delays) - exact) <= 5, "%d ms instead of %.1f" % (sum(delays), exact)


def main():
    decoders = {"png": [by_pillow, by_imagemagick], "gif": [by_pillow, by_imagemagick], "apng": [by_pillow, by_specification],
                "webp": [by_pillow, by_imagemagick]}
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        listing = subprocess.run([DUMP, folder], stdout=subprocess.PIPE, check=True, timeout=250).stdout.decode()
        for line in listing.splitlines():
            case = Case(line, folder)
            pixels = [same_pixels(decoder) for decoder in decoders[case.extension] if can_read(decoder, case)]
            for test in [shape_and_key, timing, apng_timing, webp_timing, webp_is_whole, *pixels]:
                try:
                    test(case)
                    passed += 1
                except Exception as e:  # a decoder may raise anything at a bad file
                    failed += 1
                    print("FAIL %s %s: %s: %s" % (case.name, test.__name__, type(e).__name__, e))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
