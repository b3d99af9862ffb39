"""Signed URLs: the vectors, the shell example, `planet sign`, and a planetd that asks for signatures."""

import base64
import hashlib
import hmac
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import harness
from harness import Server, Skip, check_problem, equal, fresh, get, post, shared

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VECTORS = os.path.join(ROOT, "tests", "vectors")
ONE = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
TWO = "ffeeddccbbaa99887766554433221100"


def planet(*args, environment=None, stdin=""):
    program = os.path.join(os.path.dirname(os.path.abspath(harness.BINARY)), "planet")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PLANETD_")}
    done = subprocess.run([program] + list(args), input=stdin.encode(), env=dict(clean, **(environment or {})), capture_output=True,
                          timeout=harness.PATIENCE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def signed(*args, **named):
    status, out, err = planet("sign", *args, **named)
    equal((status, err), (0, ""))
    return out.splitlines()


def signature(text, key=ONE):
    digest = hmac.new(bytes.fromhex(key), text if isinstance(text, bytes) else text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def vectors():
    with open(os.path.join(VECTORS, "sign.tsv"), encoding="ascii") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    assert len(rows) > 80
    return rows


def test_the_vectors_of_signed_urls_are_what_their_program_makes():
    done = subprocess.run([sys.executable, os.path.join(VECTORS, "sign.py"), "--check"], capture_output=True, check=False)
    equal((done.returncode, done.stderr), (0, b""))


def test_the_shell_example_signs_like_the_vectors():
    if not shutil.which("openssl"):
        raise Skip("no openssl")
    tried = 0
    for name, keys, _, target, body, canonical, verdict in vectors():
        given = re.search(r"[?&](?:s|%73)ignature=([A-Za-z0-9_-]{43})", target)
        if verdict != "ok" or "," in keys or len(target) > 300:
            continue
        command = ["sh", os.path.join(VECTORS, "sign.sh"), keys, canonical] + ([body] if body != "-" else [])
        out = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        equal((name, out), (name, canonical + ("&" if "?" in canonical else "?") + "signature=" + given.group(1) + "\n"))
        tried += 1
    assert tried > 20, tried


def test_planet_sign_signs_like_the_vectors():
    for name, keys, _, target, body, canonical, verdict in vectors():
        if verdict != "ok" or "," in keys:
            continue
        extra = []
        if body != "-":
            file = tempfile.NamedTemporaryFile()
            file.write(body.encode())
            file.flush()
            extra = ["--body", file.name]
        given = re.search(r"[?&](?:s|%73)ignature=([A-Za-z0-9_-]{43})", target).group(1)
        equal((name, signed("--key", keys, *extra, canonical)[0].rpartition("=")[2]), (name, given))


def test_planet_sign_keeps_scheme_host_and_spelling():
    for url, text in (("/planet?type=gas&seed=a+b", "/planet?seed=a%20b&type=gas"), ("https://x.example:8443/planet/gas/3.png", "/planet/gas/3.png"),
                      ("http://[::1]:8080/planet?seed=%2f", "/planet?seed=%2F"), ("/a?next=http://b/c", "/a?next=http://b/c")):
        equal(signed("--key", ONE, url), ["%s%ssignature=%s" % (url, "&" if "?" in url else "?", signature(text))])
    equal(signed("--key", ONE, "http://h"), ["http://h/?signature=" + signature("/")])
    equal(signed("--key", ONE, "http://h?a&"), ["http://h/?a&signature=" + signature("/?a")])
    equal(len(signed("--key", ONE, "/a", "/b", "/c")), 3)


def test_planet_sign_takes_urls_from_standard_input():
    equal(signed("--key", ONE, stdin="/a\r\n\n/b"), ["/a?signature=" + signature("/a"), "/b?signature=" + signature("/b")])
    equal(signed("--key", ONE), [])


def test_planet_sign_takes_the_first_key_wherever_it_is():
    expected = ["/a?signature=" + signature("/a", TWO)]
    equal(signed("--key", TWO + "," + ONE, "/a"), expected)
    equal(signed("/a", environment={"PLANETD_SIGN_KEYS": TWO + "," + ONE}), expected)
    equal(signed("--key", TWO, "/a", environment={"PLANETD_SIGN_KEYS": ONE}), expected)
    with tempfile.NamedTemporaryFile() as file:
        file.write(TWO.encode() + b"\r\n")
        file.flush()
        equal(signed("--key-file", file.name, "/a"), expected)


def test_planet_sign_sets_an_end():
    equal(signed("--key", ONE, "--expires", "1893456000", "/a?b=1"), ["/a?b=1&expires=1893456000&signature=" + signature("/a?b=1&expires=1893456000")])
    before = int(time.time())
    url = signed("--key", ONE, "--expires-in", "60", "/a")[0]
    end = int(re.fullmatch(r"/a\?expires=(\d+)&signature=.{43}", url).group(1))
    assert before + 60 <= end <= time.time() + 60, url
    equal(url, "/a?expires=%d&signature=%s" % (end, signature("/a?expires=%d" % end)))
    equal(signed("--key", ONE, "/a?expires=5"), ["/a?expires=5&signature=" + signature("/a?expires=5")])


def test_planet_sign_signs_what_is_posted_byte_for_byte():
    body = b'{"seed": "\xc3\xa9"}\n'
    with tempfile.NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        equal(signed("--key", ONE, "--body", file.name, "/planet"), ["/planet?signature=" + signature(b"/planet\n" + body)])
    equal(signed("--key", ONE, "--body", "-", "/planet", stdin="{}"), ["/planet?signature=" + signature("/planet\n{}")])


def test_planet_sign_says_what_is_wrong_and_never_the_key():
    with tempfile.NamedTemporaryFile() as file:
        file.write(ONE.encode() + b"xyz")
        file.flush()
        table = [(2, ["/a"], "no key"), (2, ["--key", ONE[:30], "/a"], "16 to 64 bytes"), (2, ["--key", ONE + "g0", "/a"], "hex"), (2, ["--key", "", "/a"], "hex"),
                 (2, ["--key-file", file.name, "/a"], "hex"), (1, ["--key-file", "/nowhere/at/all", "/a"], "No such file"),
                 (2, ["--key", ONE, "--key", ONE, "/a"], "only one"), (2, ["--key", ONE, "--key-file", file.name, "/a"], "only one"),
                 (2, ["--key", ONE, "--expires", "1", "--expires-in", "1", "/a"], "only one"), (2, ["--key", ONE, "--expires", "-1", "/a"], "2^53"),
                 (2, ["--key", ONE, "--expires", "9007199254740993", "/a"], "2^53"), (2, ["--key", ONE, "--expires-in", "1h", "/a"], "--expires-in"),
                 (2, ["--key", ONE, "--expires-in", "9007199254740992", "/a"], "2^53"), (2, ["--key", ONE, "planet?seed=1"], "neither a path"),
                 (2, ["--key", ONE, "//h/planet"], "neither a path"), (2, ["--key", ONE, "http:///planet"], "no host"), (2, ["--key", ONE, "/a#b"], "%23"),
                 (2, ["--key", ONE, "/a b"], "%XX"), (2, ["--key", ONE, "/a?\u00e9"], "%XX"), (2, ["--key", ONE, "/a?b=%4"], "two hex digits"),
                 (2, ["--key", ONE, "/a?signature=x"], "signed already"), (2, ["--key", ONE, "/a?%73ignature=x"], "signed already"),
                 (2, ["--key", ONE, "--expires", "1", "/a?expires=1"], "already"), (2, ["--key", ONE, "/a?expires=soon"], "expires"),
                 (2, ["--key", ONE, "/a?expires=1&expires=1"], "once"), (2, ["--key", ONE, "--body", "-"], "not both"),
                 (1, ["--key", ONE, "--body", "/nowhere/at/all", "/a"], "No such file"), (2, ["--key", ONE, "--bogus"], "--bogus"),
                 (2, ["--key"], "requires an argument")]
        for status, args, words in table:
            found, out, err = planet("sign", *args)
            equal((args, found, out), (args, status, ""))
            assert words in err and "planet sign" in err, (args, err)
            assert ONE[:16] not in err, (args, err)
    found, out, err = planet("sign", "/a", environment={"PLANETD_SIGN_KEYS": ONE + ",zz"})
    equal((found, out), (2, ""))
    assert "PLANETD_SIGN_KEYS" in err and ONE[:16] not in err, err


def test_planet_names_its_commands():
    status, out, err = planet()
    equal((status, out), (2, ""))
    assert "sign" in err, err
    status, out, err = planet("--help")
    equal((status, err), (0, ""))
    assert "sign" in out, out
    status, out, err = planet("sign", "--help")
    equal((status, err), (0, ""))
    assert "--key-file" in out and "--expires-in" in out, out
    status, out, err = planet("sing", "/a")
    equal((status, out), (2, ""))
    assert '"sing"' in err, err
    equal(planet("--version")[0], 0)


def test_planet_sign_that_cannot_write_says_so():
    if not os.path.exists("/dev/full"):
        raise Skip("no /dev/full")
    program = os.path.join(os.path.dirname(os.path.abspath(harness.BINARY)), "planet")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "sign", "--key", ONE, "/a"], stdout=full, stderr=subprocess.PIPE, check=False)
    equal(done.returncode, 1)
    assert b"cannot write" in done.stderr, done.stderr


# ---- A planetd that asks for signatures ----------------------------------------------------------------------------

PICTURES = ("/planet?seed=1", "/planet.png?seed=1", "/planet.gif?seed=1&frames=2", "/planet/gas/1.png", "/planet/gas/1.gif?frames=2")
END = 4102444800  # far off

_server = None


def signing_server():
    """One for the tests of this file; the last of them ends it."""
    global _server
    if _server is None or _server.process.poll() is not None:
        _server = Server("--sign-keys", ONE + "," + TWO)
    return _server


def sign(target, key=ONE, body=b""):
    """For targets that are canonical."""
    text = target.encode() + (b"\n" + body if body else b"")
    return target + ("&" if "?" in target else "?") + "signature=" + signature(text, key)


def test_with_keys_every_picture_needs_a_signature():
    s = signing_server()
    for target in PICTURES:
        check_problem(get(s, target), 403, "signature")
        equal(get(s, target, method="HEAD").status, 403)
        check_problem(get(s, target + ("&" if "?" in target else "?") + "signature=" + "A" * 43), 403, "signature")
    check_problem(post(s, {"seed": 1}), 403, "signature")
    for target in ("/", "/healthz", "/readyz", "/types", "/version", "/openapi.json"):
        equal((target, get(s, target).status), (target, 200))


def test_what_is_unsigned_is_not_parsed():
    s = signing_server()
    for target in ("/planet?bogus=1", "/planet?seed=%zz", "/planet?seed=%00", "/planet?pixels=99999", "/planet/nothing", "/planet?rev=2"):
        check_problem(get(s, target), 403, "signature")
    check_problem(get(s, "/planet?seed=1", ["Accept: text/html"]), 403, "signature")
    check_problem(post(s, b"{"), 403, "signature")
    check_problem(get(s, sign("/planet?bogus=1")), 400, "param-unknown", "bogus")
    check_problem(post(s, b"{", target=sign("/planet", body=b"{")), 400, "body-syntax")


def test_a_signed_url_is_the_picture_itself():
    s = signing_server()
    for target in ("/planet?pixels=16&seed=1", "/planet.png?seed=1", "/planet/gas/1.png"):
        for key in (ONE, TWO):
            answer, plain = get(s, sign(target, key)), get(shared(), target)
            equal((target, answer.status, answer["ETag"], answer.body), (target, 200, plain["ETag"], plain.body))
            equal(get(s, sign(target, key), ["If-None-Match: " + plain["ETag"]]).status, 304)
            equal(get(s, sign(target, key), method="HEAD").status, 200)
    body = b'{"pixels": 16, "seed": 1}'
    equal(post(s, body, target=sign("/planet", body=body)).body, get(shared(), "/planet?pixels=16&seed=1").body)
    check_problem(post(s, body + b" ", target=sign("/planet", body=body)), 403, "signature")
    check_problem(get(s, sign("/planet", body=body)), 403, "signature")


def test_signature_and_end_are_no_part_of_the_cache_key():
    s = signing_server()
    target = "/planet.png?seed=" + fresh()
    equal(get(s, sign(target))["X-Cache"], "miss")
    equal(get(s, sign(target, TWO))["X-Cache"], "hit")
    end = sign("/planet.png?expires=%d&seed=%s" % (END, target.split("=")[1]))
    equal(get(s, end)["X-Cache"], "hit")
    equal(get(s, "/planet.png?signature=" + sign(target).split("=")[-1] + "&" + target.split("?")[1])["X-Cache"], "hit")


def test_a_signed_url_ends():
    s = signing_server()
    now = int(time.time())
    for end, status in ((1, 403), (now - 5, 403), (now + 1000, 200), (END, 200), (2**53, 200)):
        answer = get(s, sign("/planet.png?expires=%d&seed=1" % end))
        equal((end, answer.status), (end, status))
        if status == 403:
            check_problem(answer, 403, "expired")
    answer = get(s, sign("/planet.png?expires=%d&seed=1" % (now + 1000)))
    age = int(re.search(r"max-age=(\d+)", answer["Cache-Control"]).group(1))
    assert 900 <= age <= 1000, answer["Cache-Control"]


def test_vectors_are_judged_alike_over_http():
    """The path of a vector need not be a picture's, so ok means: refused for another reason, if at all."""
    tried = 0
    with Server("--sign-keys", ONE, "--backend", "null") as s:
        for name, keys, _, target, body, _, expected in vectors():
            if keys != ONE or "expires" in target or not target.startswith("/planet") or len(target) > 4000:
                continue
            answer = get(s, target) if body == "-" else post(s, body.encode(), target=target)
            if target.startswith("/planet%"):  # this is no address at all
                equal((name, answer.status), (name, 404))
            else:
                equal((name, answer.status == 403), (name, expected != "ok"))
            tried += 1
    assert tried > 40, tried


def test_planet_sign_and_planetd_agree():
    s = signing_server()
    for url in ("/planet?type=gas&seed=a+b%2f%7e~&&zoom=%32", "/planet/lava/a+b%2F.gif?frames=2"):
        for extra in ([], ["--expires-in", "100"]):
            equal((url, get(s, signed("--key", TWO, *extra, url)[0]).status), (url, 200))
    target = signed("--key", ONE, "--body", "-", "/planet", stdin='{"seed": 5}')[0]
    equal(post(s, b'{"seed": 5}', target=target).status, 200)


def test_keys_are_in_no_log():
    with signing_server() as s:
        equal(get(s, sign("/planet.png?seed=1")).status, 200)
    said = "\n".join(s.lines)
    assert s.lines and ONE not in said and TWO not in said, said
