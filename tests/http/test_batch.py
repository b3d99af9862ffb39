"""POST /batch: many requests in, one stream out."""

import base64
import email
import hashlib
import hmac
import io
import json
import os
import signal
import socket
import tempfile
import threading
import time
import urllib.parse
import zipfile

from harness import SLOW, SLOW_ARGS, Closed, Conn, Server, check_problem, equal, fresh, get, post, shared

JSON = "Content-Type: application/json"
PARTS = "Accept: multipart/mixed"
# A second or so of a processor.
SLOW_ONE = {"format": "gif", "pixels": 512, "frames": 30, "type": "terrestrial"}


def batch(server, requests, headers=()):
    return post(server, requests, headers, "/batch")


def archive(answer):
    """[(name, bytes)] of a ZIP, whose sums are all checked."""
    equal((answer.status, answer["Content-Type"], answer["Vary"]), (200, "application/zip", "Accept"))
    with zipfile.ZipFile(io.BytesIO(answer.body)) as file:
        equal(file.testzip(), None)
        assert all(i.compress_type == zipfile.ZIP_STORED and i.date_time == (1980, 1, 1, 0, 0, 0) for i in file.infolist())
        return [(i.filename, file.read(i)) for i in file.infolist()]


def parts(answer):
    """[(headers, bytes)] of a multipart body, read by Python's own parser."""
    equal(answer.status, 200)
    message = email.message_from_bytes(b"Content-Type: " + answer["Content-Type"].encode() + b"\r\n\r\n" + answer.body)
    assert message.is_multipart() and not message.defects, message.defects
    found = []
    for part in message.get_payload():
        body = part.get_payload(decode=True)
        # The parser takes one line end off, and takes pieces of pictures for lines: so the length decides.
        at = answer.body.index(("filename=\"%s\"" % part.get_filename()).encode())
        begin = answer.body.index(b"\r\n\r\n", at) + 4
        raw = answer.body[begin:begin + int(part["Content-Length"])]
        assert body is not None and answer.body[begin + len(raw):].startswith(b"\r\n--"), part.get_filename()
        found.append((part, raw))
    return found


def slow(count, **more):
    return [dict(SLOW_ONE, seed=fresh(), **more) for _ in range(count)]


def ask(connection, requests, headers=()):
    connection.ask("/batch", "POST", [JSON, *headers], json.dumps(requests).encode())


def read_head(connection):
    while b"\r\n\r\n" not in connection.buffer:
        connection.buffer += connection.socket.recv(4096)
    head, connection.buffer = connection.buffer.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 200 "), head


def test_an_entry_has_the_bytes_that_a_single_request_gets():
    seed = fresh()
    targets = ["/planet?type=gas&seed=" + seed, "/planet.gif?frames=5&pixels=24&seed=" + seed, "/planet/lava/%s.png?zoom=3" % seed,
               "/planet.json?seed=" + seed, "/sheet.png?frames=6&pixels=20&seed=" + seed, "/sheet.json?frames=6&seed=" + seed]
    requests = [{"type": "gas", "seed": seed}, *targets[1:4], targets[4], "format=atlas&frames=6&seed=" + seed]
    first, second = batch(shared(), requests), batch(shared(), {"requests": requests}, [PARTS])
    singles = [get(shared(), t) for t in targets]
    equal([s["X-Cache"] for s in singles], ["hit"] * len(targets))  # each was cached under its own key
    equal([body for _, body in archive(first)], [s.body for s in singles])
    equal([body for _, body in parts(second)], [s.body for s in singles])
    for (part, _), single in zip(parts(second), singles):
        equal((part["Content-Type"], part["ETag"]), (single["Content-Type"], single["ETag"]))
        equal(get(shared(), part["Content-Location"])["ETag"], single["ETag"])
    names = [single["Content-Disposition"].split('"')[1] for single in singles]
    equal([name for name, _ in archive(first)], ["%02d-%s" % (i + 1, name) for i, name in enumerate(names)])
    equal([part.get_filename() for part, _ in parts(second)], [name for name, _ in archive(first)])


def test_share_codes_and_query_strings_are_requests():
    code = get(shared(), "/planet.json?type=ice&seed=5").json()["pictures"]["png"]["code"]
    expected = get(shared(), "/planet?code=" + code).body
    equal([body for _, body in archive(batch(shared(), [code, "code=" + code, {"code": code}, "/planet?code=" + code]))], [expected] * 4)


def test_order_is_that_of_the_requests_however_long_each_takes():
    with Server("--render-threads", "2", "--http-threads", "1") as s:
        requests = [dict(seed=fresh(), type="gas", pixels=p) for p in (256, 8, 200, 16, 128, 8, 300, 8)]
        names = [name for name, _ in archive(batch(s, requests))]
        singles = [get(s, "/planet?" + urllib.parse.urlencode(r)) for r in requests]
        equal(names, ["%02d-%s" % (i + 1, a["Content-Disposition"].split('"')[1]) for i, a in enumerate(singles)])


def test_equal_batches_have_equal_bytes_drawn_or_not():
    requests = ["seed=%s&pixels=%d" % (fresh(), 16 + i) for i in range(10)]
    for headers in ([], [PARTS]):
        first, second = batch(shared(), requests, headers), batch(shared(), requests, headers)
        equal(first.body, second.body)
        equal(first["Content-Type"], second["Content-Type"])
    assert batch(shared(), requests[1:]).body != first.body


def test_one_picture_asked_for_many_times_is_drawn_once():
    with Server() as s:
        found = archive(batch(s, ["seed=x&pixels=200"] * 64))
        equal((len(found), len({name for name, _ in found}), len({body for _, body in found})), (64, 64, 1))
        equal(s.ready()["queue"]["renders"], 1)


def test_64_are_good_and_65_or_none_are_not():
    many = ["seed=%d&pixels=8" % i for i in range(65)]
    equal(len(archive(batch(shared(), many[:64]))), 64)
    for wrong in (many, [], {"requests": []}, {"requests": many}, {"requests": "seed=1"}, {}, "seed=1", 3, None, {"requests": ["seed=1"], "x": 1}):
        check_problem(batch(shared(), wrong), 400, "body-syntax")
    check_problem(batch(shared(), b"[" + b" " * 65535 + b"]"), 413, "body-size")
    check_problem(batch(shared(), b"[1"), 400, "body-syntax")
    check_problem(post(shared(), b"[]", ["Content-Type: text/plain"], "/batch"), 415, "body-type")
    equal(get(shared(), "/batch").status, 405)


def test_one_wrong_request_refuses_all_and_is_named():
    with Server() as s:
        good = "seed=1"
        table = [({"pixels": 7}, 400, "param-range", "pixels"), ("pixels=7", 400, "param-range", "pixels"), ({"bogus": 1}, 400, "param-unknown", "bogus"),
                 ({"rev": 2}, 404, "revision", "rev"), (3, 400, "body-syntax", None), ([], 400, "body-syntax", None), ("zzzz", 400, "param-syntax", "code"),
                 ("/nothing?seed=1", 404, "not-found", None), ("/planet.gif?format=png", 400, "param-repeated", "format"),
                 ({"pixels": 1024, "zoom": 16}, 400, "picture-size", None)]
        for wrong, status, kind, parameter in table:
            for index in (0, 2):
                requests = [good] * index + [wrong, good]
                problem = check_problem(batch(s, requests), status, kind, parameter)
                equal((wrong, problem["index"]), (wrong, index))
        problem = check_problem(batch(s, ["pixels=1024&frames=30&format=gif&seed=%d" % i for i in range(10)]), 400, "picture-size")
        assert "index" not in problem and "together" in problem["detail"], problem
        equal(s.ready()["queue"]["renders"], 0)


def test_a_request_of_the_largest_size_leaves_room_for_the_answer():
    body = json.dumps([dict(seed="x" * 64 if n % 2 else str(n), pixels=8) for n in range(64)]).encode().ljust(65536)
    for headers in ([], ["X-Long: " + "x" * 7000]):
        answer = batch(shared(), body, headers)
        equal(len(archive(answer)), 64)
        with Conn(shared()) as c:
            for _ in range(3):
                c.ask("/batch", "POST", [JSON, *headers], body)
                equal(c.response().body, answer.body)


def test_accept_chooses_the_container():
    for accept, kind in (("*/*", "application/zip"), ("application/*", "application/zip"), ("multipart/mixed", "multipart/mixed"), ("multipart/*", "multipart/mixed"),
                         ("application/zip;q=0.5, multipart/mixed", "multipart/mixed"), ("multipart/mixed;q=0.5, application/zip", "application/zip"),
                         ("multipart/mixed, */*", "multipart/mixed"), ("application/zip, multipart/mixed", "application/zip")):
        answer = batch(shared(), ["seed=1"], ["Accept: " + accept])
        equal((accept, answer.status, answer["Content-Type"].split(";")[0]), (accept, 200, kind))
    for accept in ("image/png", "application/zip;q=0"):
        equal(check_problem(batch(shared(), ["seed=1"], ["Accept: " + accept]), 406, "not-acceptable").get("index"), None)
    check_problem(post(shared(), ["seed=1"], (), "/batch?seed=1"), 400, "param-combination")


def test_the_first_parts_come_while_the_last_are_drawn():
    with Server(*SLOW_ARGS) as s, Conn(s) as c:
        ask(c, ["seed=1&pixels=8", *slow(1, frames=60)], [PARTS])
        read_head(c)
        chunks = c.chunks()
        data = b""
        while b"IEND" not in data:
            data += next(chunks)
        s.wait_ready(lambda r: r["queue"]["running"] == 1 and r["queue"]["renders"] == 2)
        data += b"".join(chunks)
        assert data.endswith(b"--\r\n"), data[-50:]
        ask(c, ["seed=1&pixels=8"])  # the connection is good for more
        equal(len(archive(c.response())), 1)


def rest(server):
    """How many pictures it has drawn once it has drawn no more for two seconds."""
    drawn, since = 0, time.monotonic()
    while time.monotonic() - since < 2:
        queue = server.ready()["queue"]
        if queue["renders"] != drawn or queue["running"] or queue["queued"] or not drawn:
            drawn, since = queue["renders"], time.monotonic()
        time.sleep(0.05)
    return drawn


def test_a_client_that_reads_nothing_holds_a_few_results_and_no_thread():
    with Server() as s, Conn(s) as c:
        c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        ask(c, [dict(SLOW_ONE, frames=15, seed=fresh()) for _ in range(60)])  # of some 600 KB each
        drawn = rest(s)
        assert drawn <= 20, drawn  # what fits into the buffers of a socket, and four
        equal(get(s, "/planet?seed=" + fresh()).status, 200)
        equal(s.ready()["queue"]["renders"], drawn + 1)
        read_head(c)
        for n, _ in enumerate(c.chunks()):  # it goes on where it was
            if n % 100 == 99 and s.ready()["queue"]["renders"] > drawn + 1:
                break
        assert s.ready()["queue"]["renders"] > drawn + 1


def test_a_client_that_leaves_ends_what_is_drawn_for_it():
    for headers in ([], [PARTS]):
        with Server(*SLOW_ARGS) as s:
            c = Conn(s)
            ask(c, ["seed=1&pixels=8", *slow(8, frames=60)], headers)
            s.wait_ready(lambda r: r["queue"]["running"] == 1 and r["queue"]["renders"] >= 2)
            c.reset()
            s.wait_ready(lambda r: r["queue"]["running"] == 0 and r["queue"]["queued"] == 0)
            state = s.ready()["queue"]
            assert state["renders"] <= 3 and state["cancelled"] >= 1, state
            s.wait_log(r'target="/batch" status=200 .*error=client-gone')
            equal(get(s, "/planet?seed=" + fresh()).status, 200)


def test_what_others_wait_for_too_goes_on():
    with Server(*SLOW_ARGS) as s, Conn(s) as other:
        one = dict(SLOW_ONE, seed=fresh())
        c = Conn(s)
        ask(c, [one])
        s.wait_ready(lambda r: r["queue"]["running"] == 1)
        other.ask("/planet?" + urllib.parse.urlencode(one))
        s.wait_ready(lambda r: r["cache"]["coalesced"] == 1)
        c.reset()
        equal(other.response().status, 200)
        equal(s.ready()["queue"]["cancelled"], 0)


def test_clients_that_leave_at_any_time_leave_nothing_behind():
    with tempfile.TemporaryDirectory() as folder:
        for more in ((), ("--cache-dir", folder)):
            clients_leave(more)


def clients_leave(more):
    with Server("--render-threads", "2", "--http-threads", "2", *more) as s:
        def leave(n):
            c = Conn(s)
            ask(c, ["pixels=64&seed=" + fresh() + str(n) for _ in range(16)], [PARTS] if n % 2 else [])
            time.sleep(n % 13 / 1000)
            if n % 3:
                c.reset()
            else:
                c.close()
        threads = [threading.Thread(target=lambda k=k: [leave(n) for n in range(k, 120, 4)]) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        s.wait_ready(lambda r: r["queue"]["running"] == 0 and r["queue"]["queued"] == 0)
        equal(len(archive(batch(s, ["seed=%d&pixels=8" % i for i in range(64)]))), 64)


def test_a_batch_in_the_drain_ends_in_order_and_whole():
    with Server(*SLOW_ARGS, "--drain-seconds", "300") as s, Conn(s) as c:
        ask(c, [*slow(1), *slow(1, frames=8), *("seed=%s&pixels=8" % fresh() for _ in range(10)), "seed=1"])
        s.wait_ready(lambda r: r["queue"]["running"] == 1 and r["cache"]["misses"] >= 3)
        s.signal()
        found = archive(c.response())
        equal(len(found), 13)
        assert found[0][0].endswith(".gif"), found[0][0]  # begun before
        problems = [json.loads(body) for name, body in found if name.endswith(".problem.json")]
        equal({p["type"] for p in problems}, {"urn:planetd:problem:draining"})
        assert len(problems) >= 8, [name for name, _ in found]
        equal([p["index"] for p in problems], list(range(13 - len(problems), 13)))
        equal(s.wait_exit(), 0)


def test_a_batch_that_outlasts_the_drain_is_cut_off_and_looks_so():
    with Server(*SLOW_ARGS, "--drain-seconds", "1") as s, Conn(s) as c:
        ask(c, ["seed=1&pixels=8", *slow(3, frames=120)])
        s.wait_ready(lambda r: r["queue"]["running"] == 1 and r["queue"]["renders"] >= 2)
        s.signal(signal.SIGTERM)
        try:
            body = c.response().body
            assert any(name.endswith(".problem.json") for name, _ in zipped(body)), "a whole answer"
        except (Closed, ConnectionResetError):
            pass
        equal(s.wait_exit(), 0)


def zipped(body):
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        return [(i.filename, file.read(i)) for i in file.infolist()]


def test_a_full_queue_is_told_in_place_of_the_entry():
    with Server(*SLOW_ARGS, "--queue-seconds", "1", "--client-share", "100") as s:
        heavy = "/planet.gif?pixels=512&frames=120&type=terrestrial&seed="
        clients = [Conn(s) for _ in range(2)]
        for n, c in enumerate(clients):
            c.ask(heavy + fresh())
            s.wait_ready(lambda r, n=n: r["queue"]["running"] == 1 and r["queue"]["queued"] == n)
        requests = [dict(SLOW_ONE, frames=120, seed=fresh()), "seed=1&pixels=8"]
        with Conn(s) as c:
            ask(c, requests, [PARTS])
            read_head(c)
            data = b""
            for chunk in c.chunks():
                data += chunk
                if b"IEND" in data or b"planetd:problem" in data:
                    break
            problem = json.loads(data.split(b"\r\n\r\n")[1].split(b"\r\n")[0])
            equal((problem["type"], problem["index"], problem["status"] in (429, 503)), ("urn:planetd:problem:busy", 0, True))
        for c in clients:
            c.reset()


def test_entries_that_only_their_batch_keeps_out_of_the_queue_are_drawn_in_turn():
    with Server(*SLOW_ARGS, "--queue-seconds", "1", "--client-share", "10") as s:
        found = archive(batch(s, slow(6, frames=8)))
        assert all(name.endswith(".gif") for name, _ in found), [name for name, _ in found]


def test_a_batch_of_hits_and_misses_counts_and_logs_as_others_do():
    with Server("--metrics-listen", "127.0.0.1:0", "--log-requests", "all") as s:
        answer = batch(s, ["seed=1", "seed=2"], ["X-Request-Id: my-batch"])
        equal(answer["X-Request-Id"], "my-batch")
        line = s.wait_log(r'event=request id=my-batch method=POST target="/batch" status=200 bytes=(\d+)')
        equal(int(line.group(1)), len(answer.body))
        check_problem(batch(s, []), 400)
        port = int(s.wait_log(r"listening on http://\S+:(\d+)", 1).group(1))
        text = get(port, "/metrics").body.decode()
        for status, count in ((200, 1), (400, 1)):
            found = [line for line in text.splitlines() if 'route="/batch"' in line and '"%d"' % status in line]
            equal([line.rpartition(" ")[2] for line in found], [str(count)])


def test_time_spent_drawing_is_not_the_clients():
    with Server(*SLOW_ARGS, "--request-seconds", "1") as s:
        equal(len(archive(batch(s, slow(3)))), 3)  # more than the second, even with wide vectors


def test_signed_urls_sign_the_batch():
    key = os.urandom(32).hex()
    with Server("--sign-keys", key) as s:
        check_problem(batch(s, ["seed=1"]), 403, "signature")
        body = b'["seed=1"]'
        mac = hmac.new(bytes.fromhex(key), b"/batch\n" + body, hashlib.sha256).digest()
        signature = base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
        equal(len(archive(post(s, body, (), "/batch?signature=" + signature))), 1)
        check_problem(post(s, b'["seed=2"]', (), "/batch?signature=" + signature), 403, "signature")
