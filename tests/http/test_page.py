"""The web page: / for browsers, its files under /viewer/ and /shaders/, as the checkout has them."""

import glob
import gzip
import json
import os
import re
import subprocess
import threading

import harness
from harness import Conn, Server, check_problem, equal, get, post, shared

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "wasm": "application/wasm",
         "json": "application/json", "webmanifest": "application/manifest+json", "svg": "image/svg+xml", "png": "image/png",
         "ico": "image/vnd.microsoft.icon", "glsl": "text/plain; charset=utf-8"}
BROWSERS = ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
            "text/html, text/plain;q=0.9, */*;q=0.1", "TEXT/HTML"]
PROGRAMS = [None, "*/*", "", "text/*", "text/plain", "application/json", "text/html;q=0, */*", "text/plain, text/html;q=0.5", "image/png,*/*;q=0.5"]
POLICY = ("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
GZIP = ["Accept-Encoding: gzip, deflate, br, zstd"]
HTML = ["Accept: " + BROWSERS[0]]


def page_files():
    """Address and bytes of each file that the page is made of."""
    found = {}
    for path in glob.glob(os.path.join(ROOT, "server", "viewer", "*")):
        found["/viewer/" + os.path.basename(path)] = path
    for path in glob.glob(os.path.join(ROOT, "shaders", "**", "*.glsl"), recursive=True):
        found["/" + os.path.relpath(path, ROOT)] = path
    built = os.path.join(os.path.dirname(os.path.abspath(harness.BINARY)), "viewer", "planetd.wasm")
    if os.path.exists(built):
        found["/viewer/planetd.wasm"] = built
    assert "/viewer/index.html" in found and "/shaders/noise.glsl" in found and "/shaders/bodies/gas.glsl" in found
    for address, path in sorted(found.items()):
        with open(path, "rb") as file:
            yield address, file.read()


def index_file():
    return dict(page_files())["/viewer/index.html"]


def check_guarded(answer):
    equal(answer["Content-Security-Policy"], POLICY)
    equal(answer["Referrer-Policy"], "no-referrer")
    equal(answer["Cross-Origin-Opener-Policy"], "same-origin")
    equal(answer["Cache-Control"], "no-cache")
    if answer.status == 200:
        equal(answer["X-Content-Type-Options"], "nosniff")


def accepting(value):
    return [] if value is None else ["Accept: " + value]


def test_a_browser_gets_the_page_and_a_program_the_text():
    page = index_file()
    text = get(shared(), "/").body
    assert text.startswith(b"planetd draws procedural planets."), text
    for value in BROWSERS:
        answer = get(shared(), "/", accepting(value))
        equal((value, answer.status, answer["Content-Type"], answer["Vary"]), (value, 200, TYPES["html"], "Accept, Accept-Encoding"))
        assert answer.body == page, value
        check_guarded(answer)
    for value in PROGRAMS:
        answer = get(shared(), "/", accepting(value) + GZIP)
        equal((value, answer.status, answer["Content-Type"], answer["Vary"]), (value, 200, "text/plain; charset=utf-8", "Accept"))
        equal((value, answer.body, answer["Content-Encoding"]), (value, text, None))


def test_the_page_carries_any_query():
    page = index_file()
    for query in ("?type=gas&seed=3", "?", "?bogus=1&bogus=%zz", "?signature=x", "?" + "x" * 4000):
        answer = get(shared(), "/" + query, HTML)
        equal((query[:30], answer.status, answer.body == page), (query[:30], 200, True))


def test_each_file_of_the_page_and_each_kernel_is_served_as_the_checkout_has_it():
    with Conn(shared()) as c:
        for address, content in page_files():
            c.ask(address)
            answer = c.response()
            equal((address, answer.status, answer["Content-Type"]), (address, 200, TYPES[address.rpartition(".")[2]]))
            assert answer.body == content, address
            equal((address, answer["Content-Encoding"], answer["Vary"]), (address, None, "Accept-Encoding"))
            assert re.fullmatch(r'"[0-9a-f]{32}"', answer["ETag"]), answer["ETag"]
            check_guarded(answer)


def test_gzip_is_shorter_and_decodes_to_the_same_bytes():
    count = 0
    with Conn(shared()) as c:
        for address, content in page_files():
            c.ask(address)
            plain = c.response()
            c.ask(address, headers=GZIP)
            answer = c.response()
            equal((address, answer.status, answer["Vary"], answer["Content-Type"]), (address, 200, "Accept-Encoding", plain["Content-Type"]))
            check_guarded(answer)
            if answer["Content-Encoding"] is None:
                equal((address, answer.body == content, answer["ETag"]), (address, True, plain["ETag"]))
                continue
            equal((address, answer["Content-Encoding"]), (address, "gzip"))
            assert len(answer.body) < len(content) and gzip.decompress(answer.body) == content, address
            assert re.fullmatch(r'"[0-9a-f]{32}g"', answer["ETag"]) and answer["ETag"] != plain["ETag"], answer["ETag"]
            count += 1
    assert count >= 20, count
    answer = get(shared(), "/", HTML + GZIP)
    equal((answer["Content-Encoding"], answer["Vary"]), ("gzip", "Accept, Accept-Encoding"))
    assert gzip.decompress(answer.body) == index_file()


def test_gzip_is_sent_to_those_alone_who_allow_it():
    address = "/shaders/noise.glsl"
    for lines, coding in ((["gzip"], "gzip"), (["GZIP"], "gzip"), (["x-gzip"], "gzip"), (["*"], "gzip"), (["br", "gzip;q=0.5"], "gzip"),
                          (["deflate, gzip;q=0.001"], "gzip"), (["identity, gzip"], "gzip"), ([], None), ([""], None), (["gzip;q=0"], None),
                          (["gzip;q=0, *"], None), (["*;q=0"], None), (["br"], None), (["gzipp"], None), (["identity, gzip;q=0.5"], None),
                          (["gzip;q=2"], None), (["br," * 400, "gzip"], None)):  # the last ones are too long to join: the first counts
        answer = get(shared(), address, ["Accept-Encoding: " + line for line in lines])
        equal((lines, answer.status, answer["Content-Encoding"]), (lines, 200, coding))
    equal(get(shared(), "/planet?seed=1", GZIP)["Content-Encoding"], None)


def test_a_tag_of_the_encoding_that_would_be_sent_is_a_304():
    for target, more in (("/viewer/index.html", []), ("/", HTML), ("/shaders/bodies/gas.glsl", [])):
        tags = {}
        for coding in ([], GZIP):
            answer = get(shared(), target, more + coding)
            tags[bool(coding)] = answer["ETag"]
            for method in ("GET", "HEAD"):
                for known in (answer["ETag"], "W/" + answer["ETag"], '"x", ' + answer["ETag"], "*"):
                    same = get(shared(), target, more + coding + ["If-None-Match: " + known], method)
                    equal((target, known, same.status, same.body, same["ETag"], same["Vary"]), (target, known, 304, b"", answer["ETag"], answer["Vary"]))
                    equal((same["Content-Encoding"], same["Content-Type"]), (None, None))
                    check_guarded(same)
        for coding in ([], GZIP):
            other = get(shared(), target, more + coding + ["If-None-Match: " + tags[not coding]])
            equal((target, other.status), (target, 200))
    equal(get(shared(), "/", ["If-None-Match: *"]).status, 200)  # the text has no tag


def test_after_a_304_the_connection_goes_on():
    with Conn(shared()) as c:
        for _ in range(3):
            c.ask("/shaders/noise.glsl", headers=["If-None-Match: *"])
            equal(c.response().status, 304)
            c.ask("/healthz")
            equal(c.response().body, b"ok\n")


def test_head_of_the_page_gives_the_length_of_each_encoding():
    for target, more in (("/", HTML), ("/", []), ("/viewer/page.css", []), ("/shaders/noise.glsl", [])):
        for coding in ([], GZIP):
            answer = get(shared(), target, more + coding)
            head = get(shared(), target, more + coding, "HEAD")
            equal((target, head.status, int(head["Content-Length"])), (target, 200, len(answer.body)))
            equal((target, head["ETag"], head["Content-Encoding"], head["Content-Type"]),
                  (target, answer["ETag"], answer["Content-Encoding"], answer["Content-Type"]))


def test_names_that_are_no_file_of_the_page_are_404():
    for target in ("/viewer/", "/viewer", "/shaders/", "/shaders", "/shaders/bodies", "/shaders/bodies/", "/viewer/nothing.js", "/viewer/index.htm",
                   "/viewer/index.html/", "/viewer/index.html.gz", "/viewer/INDEX.html", "/viewer/index%2ehtml", "/viewer/../main.c", "/viewer/../viewer/index.html",
                   "/viewer/./index.html", "/viewer/%2e%2e/main.c", "/viewer/..%2fmain.c", "/viewer//index.html", "//viewer/index.html", "/viewer/\\index.html",
                   "/viewer/index.html%00", "/viewer/index.html;x", "/viewer/page", "/shaders/embed.sh", "/shaders/../server/main.c", "/shaders/bodies/../noise.glsl",
                   "/viewer/noise.glsl", "/shaders/index.html", "/viewer//etc/passwd", "/viewer/" + "x" * 4000, "/viewer/" + "../" * 1000):
        for method in ("GET", "HEAD"):
            answer = get(shared(), target, HTML, method)
            equal((target[:40], method, answer.status), (target[:40], method, 404))
            if method == "GET":
                check_problem(answer, 404, "not-found")
    check_problem(get(shared(), "/viewer/" + "x" * 5000), 414)


def test_a_query_does_not_change_a_file():
    for target in ("/viewer/page.css", "/shaders/noise.glsl"):
        plain, asked = get(shared(), target), get(shared(), target + "?v=1&x")
        equal((asked.status, asked.body, asked["ETag"]), (200, plain.body, plain["ETag"]))


def test_other_methods_than_reading_are_refused():
    for target in ("/", "/viewer/index.html", "/viewer/nothing", "/shaders/noise.glsl"):
        for method in ("PUT", "DELETE", "PATCH"):
            answer = get(shared(), target, HTML, method)
            check_problem(answer, 405, "method")
            equal((target, answer["Allow"]), (target, "GET, HEAD, OPTIONS"))
        answer = post(shared(), {"seed": 1}, target=target)
        check_problem(answer, 405, "method")
        answer = get(shared(), target, method="OPTIONS")
        equal((target, answer.status, answer["Allow"]), (target, 204, "GET, HEAD, OPTIONS"))


def test_the_page_needs_no_signature_and_its_pictures_do():
    with Server("--sign-keys", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f") as s:
        page = get(s, "/?type=gas&seed=3", HTML)
        equal((page.status, page.body == index_file()), (200, True))
        with Conn(s) as c:
            for address, content in page_files():
                c.ask(address)
                answer = c.response()
                equal((address, answer.status, answer.body == content), (address, 200, True))
        check_problem(get(s, "/planet?type=gas&seed=3"), 403, "signature")


def test_page_and_files_are_counted_and_logged():
    with Server("--metrics-listen", "127.0.0.1:0", "--log-format", "json") as s:
        metrics = int(s.wait_log(r"listening on http://\S+:(\d+)", 1).group(1))
        for target, more in (("/", HTML), ("/viewer/page.css", []), ("/viewer/nothing", []), ("/shaders/noise.glsl", [])):
            get(s, target, more)
        text = get(metrics, "/metrics").body.decode()
        for route, status in (("/", 200), ("/viewer/", 200), ("/viewer/", 404), ("/shaders/", 200)):
            assert re.search(r'^planetd_requests_total\{route="%s",status="%d"\} 1$' % (re.escape(route), status), text, re.M), (route, status)
        line = json.loads(s.wait_log(r'^\{.*"/viewer/page\.css"').string)
        equal((line["status"], line["bytes"]), (200, len(dict(page_files())["/viewer/page.css"])))


def test_all_who_ask_at_once_get_the_same():
    """The first who asks has tags and gzip made; several may be first."""
    with Server("--http-threads", "4") as s:
        addresses = [a for a, _ in page_files() if a.startswith("/shaders/")]
        seen, lock = {}, threading.Lock()

        def ask():
            with Conn(s) as c:
                for address in addresses:
                    c.ask(address, headers=GZIP)
                    answer = c.response()
                    with lock:
                        seen.setdefault(address, set()).add((answer.status, answer["ETag"], answer.body))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(harness.PATIENCE)
        equal(sorted(seen), sorted(addresses))
        for address, answers in seen.items():
            equal((address, len(answers)), (address, 1))


def test_a_page_file_of_an_unknown_kind_ends_the_build():
    script = os.path.join(ROOT, "server", "embed_viewer.sh")
    for names, words in ((["server/viewer/notes.txt"], "no media type is known for server/viewer/notes.txt"),
                         (["server/viewer/plain"], "no media type"), (["server/viewer/a.js", "build/viewer/a.js"], "two files have the address /viewer/a.js"),
                         (["server/viewer/a b.js"], "other characters")):
        done = subprocess.run(["sh", script] + names, capture_output=True, check=False)
        assert done.returncode != 0 and words in done.stderr.decode(), (names, done)
