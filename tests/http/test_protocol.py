"""HTTP itself: connections, methods, bodies."""

import time

from harness import Closed, Conn, Server, check_problem, equal, fresh, get, post, shared


def test_an_immediate_answer_keeps_the_connection():
    # Trap 1 of libmicrohttpd: an answer queued in the handler's first call closes the connection.
    with Conn(shared()) as c:
        for target in ["/planet?seed=1", "/planet?seed=1", "/healthz", "/planet?seed=1", "/nowhere", "/planet?bogus=1",
                       "/readyz", "/planet?seed=1"]:
            c.ask(target)
            answer = c.response()
            assert answer["Connection"] is None, (target, answer.raw_head)
        c.ask("/planet", "PUT")
        equal(c.response().status, 405)
        c.ask("/planet", "OPTIONS")
        equal(c.response().status, 204)
        c.ask("/healthz")
        equal(c.response().body, b"ok\n")


def test_head_equals_get_without_the_body():
    with Conn(shared()) as c:
        for target in ["/planet?seed=" + fresh(), "/planet.gif?frames=3&seed=4", "/planet?bogus=1", "/nowhere",
                       "/healthz", "/types"]:
            c.ask(target, "HEAD")
            head = c.response(head=True)
            c.ask(target)
            full = c.response()
            differing = ("date", "x-cache", "server-timing", "x-request-id")
            equal([h for h in head.headers if h[0] not in differing], [h for h in full.headers if h[0] not in differing])
            equal(head.status, full.status)
            equal(head["Content-Length"], str(len(full.body)))
            assert len(full.body) > 0


def test_pipelined_requests_are_answered_in_order():
    s = shared()
    hit = get(s, "/planet?seed=pipe")
    slow = "/planet.gif?frames=60&pixels=128&seed=" + fresh()
    with Conn(s) as c:
        parts = [slow, "/planet?seed=pipe", "/planet?bogus=1", "/healthz"]
        c.send("".join("GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % p for p in parts))
        first, second, third, fourth = (c.response() for _ in parts)
        equal(first["Content-Type"], "image/gif")
        equal(first["X-Cache"], "miss")
        equal(second.body, hit.body)
        equal(second["X-Cache"], "hit")
        check_problem(third, 400)
        equal(fourth.body, b"ok\n")


def test_pipelined_body_and_next_request():
    body = b'{"seed":"p1"}'
    with Conn(shared()) as c:
        c.send(b"POST /planet HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%sGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
               % (len(body), body))
        equal(c.response()["Content-Type"], "image/png")
        equal(c.response().body, b"ok\n")


def test_http_1_0_and_connection_close_end_the_connection():
    for version, headers in (("HTTP/1.0", []), ("HTTP/1.1", ["Connection: close"])):
        with Conn(shared()) as c:
            c.ask("/planet?seed=1", headers=headers, version=version)
            answer = c.response()
            equal(answer.status, 200)
            equal(answer["Connection"], "close")
            assert c.closed_within(5)
    with Conn(shared()) as c:
        for _ in range(2):
            c.ask("/planet?seed=1", headers=["Connection: Keep-Alive"], version="HTTP/1.0")
            equal(c.response().status, 200)


def test_http_1_0_needs_no_host():
    with Conn(shared()) as c:
        c.send("GET /planet?seed=1 HTTP/1.0\r\n\r\n")
        equal(c.response().status, 200)


def test_http_1_1_needs_one_host():
    for head in ("GET /planet HTTP/1.1\r\n\r\n", "GET /planet HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"):
        with Conn(shared()) as c:
            c.send(head)
            check_problem(c.response(), 400, "request-syntax")
            assert c.closed_within(5)


def test_absolute_targets_are_taken():
    equal(get(shared(), "http://example.org/planet?seed=1").body, get(shared(), "/planet?seed=1").body)
    assert b"curl" in get(shared(), "http://example.org").body


def test_other_methods_are_405_with_allow():
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "BREW", "get"):
        answer = get(shared(), "/planet?seed=1", method=method)
        check_problem(answer, 405, "method")
        equal(answer["Allow"], "GET, HEAD, POST, OPTIONS")
    for target in ("/planet.png", "/planet/gas/3.png", "/healthz", "/types", "/"):
        answer = get(shared(), target, method="POST", body=b"{}", headers=["Content-Type: application/json"])
        check_problem(answer, 405, "method")
        equal(answer["Allow"], "GET, HEAD, OPTIONS")


def test_unknown_paths_are_404():
    for target in ("/nowhere", "/planets", "/planet.jpg", "/planet/gas", "/planet/gas/3", "/planet/gas/3.jpg",
                   "/planet/gas/3.png/x", "/Planet", "//planet", "/planet/", "/healthz/", "/types.json"):
        check_problem(get(shared(), target), 404, "not-found")


def test_options_says_what_is_allowed():
    for target, allow in (("/planet", "GET, HEAD, POST, OPTIONS"), ("*", "GET, HEAD, POST, OPTIONS"),
                          ("/planet.gif", "GET, HEAD, OPTIONS")):
        answer = get(shared(), target, method="OPTIONS",
                     headers=["Origin: https://example.org", "Access-Control-Request-Method: POST"])
        equal(answer.status, 204)
        equal(answer["Allow"], allow)
        equal(answer["Access-Control-Allow-Methods"], allow)
        equal(answer["Access-Control-Allow-Origin"], "*")
        assert "Content-Type" in answer["Access-Control-Allow-Headers"]
    check_problem(get(shared(), "/nowhere", method="OPTIONS"), 404)


def test_a_body_in_pieces_of_one_byte_is_read_whole():
    whole = post(shared(), {"seed": "cut", "type": "ice"})
    body = b'{"seed": "cut", "type": "ice"}'
    with Conn(shared()) as c:
        for byte in b"POST /planet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
                len(body), body):
            c.send(bytes([byte]))
            time.sleep(0.0005)
        answer = c.response()
        equal(answer.status, 200)
        equal(answer.body, whole.body)


def test_bodies_of_all_sizes_up_to_the_limit_are_equal():
    whole = post(shared(), {"seed": "pad"})
    for size in (1400, 1460, 1500, 8191, 9000, 16384, 65535, 65536):
        answer = post(shared(), b'{"seed":"pad"}'.ljust(size))
        equal(answer.status, 200)
        equal(answer.body, whole.body)
    for size in (65537, 70000, 300000):
        check_problem(post(shared(), b'{"seed":"pad"}'.ljust(size)), 413, "body-size")


def test_chunked_bodies_are_counted_as_they_come():
    whole = post(shared(), {"seed": "chunk"})
    head = b"POST /planet HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Conn(shared()) as c:
        c.send(head)
        for piece in (b'{"se', b'ed":', b'"chunk"', b"}"):
            c.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            time.sleep(0.01)
        c.send(b"0\r\n\r\n")
        equal(c.response().body, whole.body)
        c.send(head)
        for _ in range(20):
            c.send(b"1000\r\n" + b" " * 4096 + b"\r\n")
        c.send(b"0\r\n\r\n")
        check_problem(c.response(), 413, "body-size")


def test_a_chunked_body_without_end_is_cut_off():
    with Conn(shared()) as c:
        c.send("POST /planet HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(4096):
                c.send(b"1000\r\n" + b" " * 4096 + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            return
        raise AssertionError("16 MiB were taken")


def test_expect_continue_does_not_stall():
    body = b'{"seed":"wait"}'
    began = time.monotonic()
    with Conn(shared()) as c:
        c.ask("/planet", "POST", ["Content-Type: application/json", "Expect: 100-continue",
                                  "Content-Length: %d" % len(body)])
        equal(c.response().status, 100)
        c.send(body)
        equal(c.response().status, 200)
    assert time.monotonic() - began < 0.9


def test_expect_continue_of_too_much_is_refused_before_the_upload():
    for size in (65537, 999999999, 99999999999999999):
        with Conn(shared()) as c:
            c.ask("/planet", "POST", ["Content-Type: application/json", "Expect: 100-continue", "Content-Length: %d" % size])
            answer = c.response()
            check_problem(answer, 413, "body-size")
            equal(answer["Connection"], "close")
            assert c.closed_within(5)


def test_expect_continue_of_what_is_refused_anyway_is_refused_before_the_upload():
    for target, kind, status in (("/nowhere", "application/json", 404), ("/planet.png", "application/json", 405),
                                 ("/planet", "text/plain", 415)):
        with Conn(shared()) as c:
            c.ask(target, "POST", ["Content-Type: " + kind, "Expect: 100-continue", "Content-Length: 100"])
            check_problem(c.response(), status)


def test_a_huge_announced_body_is_refused_at_once():
    with Conn(shared()) as c:
        c.ask("/planet", "POST", ["Content-Type: application/json", "Content-Length: 5000000"])
        check_problem(c.response(), 413, "body-size")


def test_contradicting_lengths_are_refused():
    for lines in (["Content-Length: 2", "Content-Length: 3"], ["Content-Length: 2", "Transfer-Encoding: chunked"],
                  ["Transfer-Encoding: gzip"], ["Transfer-Encoding: chunked", "Transfer-Encoding: gzip"]):
        with Conn(shared()) as c:
            c.ask("/planet", "POST", lines)
            check_problem(c.response(), 400, "request-syntax")
            assert c.closed_within(5)


def test_broken_requests_end_only_their_connection():
    with Server("--idle-seconds", "1") as s:
        for junk in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200, b"\r\n\r\n\r\n", b"GET\r\n\r\n",
                     b" \r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / FTP/1.1\r\n\r\n", b"GET /planet\r\n\r\n", b"\x00" * 1000,
                     b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
                     b"POST /planet HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                     b"POST /planet HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
                     b"POST /planet HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"):
            with Conn(s) as c:
                c.send(junk)
                try:
                    while True:
                        status = c.response().status
                        assert 400 <= status < 600, (junk, status)
                except (Closed, BrokenPipeError):
                    pass
            equal(get(s, "/healthz").status, 200)


def test_a_get_with_a_body_is_answered_and_the_body_skipped():
    with Conn(shared()) as c:
        c.ask("/planet?seed=1", "GET", body=b"x" * 1000)
        equal(c.response().status, 200)
        c.ask("/healthz")
        equal(c.response().body, b"ok\n")
