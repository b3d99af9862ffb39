"""What can be seen of a request from outside: its id, its trace, its timing, its line in the log; and who asked: client
addresses, signed URLs, readiness."""

import fcntl
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import harness
from harness import SLOW, SLOW_ARGS, Conn, Server, check_problem, equal, fresh, get, post, shared
from test_listen import Folder, UnixConn, need_ipv6, unix_server
from test_sign import ONE, TWO, signature

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = "00-%s-00f067aa0ba902b7-01" % TRACE
PROXY = ["--trusted-proxy", "127.0.0.1"]


def signed(path, key=ONE, body=None):
    start, _, query = path.partition("?")
    canonical = start + ("?" if query else "") + "&".join(sorted(query.split("&")))
    text = canonical if body is None else canonical.encode() + b"\n" + body
    return "%s%ssignature=%s" % (path, "&" if "?" in path else "?", signature(text, key))


def request_line(server, mark):
    """The line of the request whose target holds `mark`, as a dictionary of texts."""
    return pairs(server.wait_log(r"event=request .*" + re.escape(mark)).string)


def pairs(line):
    return {k: v for k, v in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line)}


# ---- Ids and traces ----


def test_every_answer_has_an_id():
    target = "/planet?seed=" + fresh()
    with Server() as s:
        tag = get(s, target)["ETag"]
        known = ["If-None-Match: " + tag]
        for method, path, headers, status in (
                ("GET", target, [], 200), ("GET", target, [], 200), ("HEAD", target, [], 200), ("GET", target, known, 304),
                ("GET", target, known, 304), ("GET", "/planet?seed=elsewhere", ["If-None-Match: *"], 304), ("OPTIONS", "/planet", [], 204),
                ("GET", "/planet?bogus", [], 400), ("GET", "/nowhere", [], 404), ("PUT", "/planet", [], 405), ("GET", "/", [], 200),
                ("GET", "/healthz", [], 200), ("GET", "/readyz", [], 200), ("GET", "/types", [], 200), ("GET", "/version", [], 200)):
            for sent in ([], ["X-Request-Id: " + fresh()]):
                answer = get(s, path, headers + sent, method)
                equal((method, path, answer.status), (method, path, status))
                if sent:
                    equal("X-Request-Id: " + answer["X-Request-Id"], sent[0])
                else:
                    assert re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]+-[0-9a-f]+", answer["X-Request-Id"]), answer.raw_head
        answer = post(s, {"seed": fresh()}, ["X-Request-Id: p"])
        equal((answer.status, answer["X-Request-Id"]), (200, "p"))


def test_an_id_that_is_not_well_formed_or_sent_twice_is_replaced():
    target = "/planet?seed=" + fresh()
    get(shared(), target)
    for value in ("a", "A-z_0.9", "x" * 64):
        equal(get(shared(), target, ["X-Request-Id: " + value])["X-Request-Id"], value)
        equal(get(shared(), target, ["x-request-ID:   " + value + "  "])["X-Request-Id"], value)
    for lines in ([""], ["x" * 65], ["a b"], ["a/b"], ["a\"b"], ["a,b"], ["\u00fc"], ["a;b"], ["<x>"], ["a", "a"], ["a", "b"], ["a", ""],
                  ["a%20b"], ["a\tb"]):
        for path in (target, "/nowhere"):
            answer = get(shared(), path, ["X-Request-Id: " + line for line in lines])
            assert re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]+-[0-9a-f]+", answer["X-Request-Id"]), (lines, answer["X-Request-Id"])


def test_own_ids_are_unique_over_restarts_threads_and_requests():
    seen = []
    for _ in range(3):
        with Server("--http-threads", "2") as s:
            for _ in range(10):
                with Conn(s) as c:
                    for _ in range(3):
                        c.ask("/planet?seed=1")
                        seen.append(c.response()["X-Request-Id"])
    equal(len(set(seen)), len(seen))


def hammer(server, requests, rounds, failures, number):
    """Asks on one connection, many requests at a time, each with an id of its own or none, and checks each answer."""
    burst = 25
    with Conn(server) as c:
        for i in range(rounds):
            text, expected = [], []
            for k in range(burst):
                target, headers, status, traced = requests[(number + i * burst + k) % len(requests)]
                own = None
                if (number + k) % 3:
                    own = ("c%d.%d.%d" % (number, i, k)).ljust(20 + (number + k) % 2, "-")
                    headers = headers + ["X-Request-Id: " + own]
                text.append("\r\n".join(["GET %s HTTP/1.1" % target, "Host: x"] + headers) + "\r\n\r\n")
                expected.append((target, status, own, traced))
            c.send("".join(text))
            for target, status, own, traced in expected:
                answer = c.response()
                got = answer["X-Request-Id"]
                if answer.status != status or answer["traceparent"] != traced or (got != own if own else got in failures["own"]):
                    failures["bad"].append((target, status, own, answer.raw_head))
                if not own:
                    failures["own"][got] = True


def test_each_of_thousands_of_concurrent_hits_carries_its_own_id():
    small, large = "/planet?seed=" + fresh(), "/planet.png?pixels=256&zoom=2&seed=" + fresh()
    for threads in ("1", "2"):
        with Server("--http-threads", threads, "--log-requests", "none") as s:
            tags = {t: get(s, t)["ETag"] for t in (small, large, small + "&rev=1")}
            requests = [(small, [], 200, None), (small, [], 200, None), (large, [], 200, None), (small, ["If-None-Match: " + tags[small]], 304, None),
                        (small + "&rev=1", [], 200, None), (small, ["traceparent: " + TRACEPARENT], 200, TRACEPARENT), ("/healthz", [], 200, None)]
            failures = {"bad": [], "own": {}}
            clients = [threading.Thread(target=hammer, args=(s, requests, 8, failures, n)) for n in range(24)]
            # One that does not read: its second answer waits behind the first while others take the same ones.
            with Conn(s, window=4096) as slow:
                slow.send("".join("GET %s HTTP/1.1\r\nHost: x\r\nX-Request-Id: slow-%d\r\n\r\n" % (large, i) for i in range(6)))
                for t in clients:
                    t.start()
                for t in clients:
                    t.join(harness.PATIENCE)
                for i in range(6):
                    equal(slow.response()["X-Request-Id"], "slow-%d" % i)
            equal(failures["bad"], [])
            assert len(failures["own"]) >= 24 * 8 * 8, len(failures["own"])


def test_a_traceparent_is_passed_on_when_it_is_valid():
    s, mark = shared(), fresh()
    target = "/planet?seed=" + mark
    get(s, target)
    for path in (target, target + "&pixels=16", "/healthz", "/nowhere", "/planet?bogus=1"):  # hit, miss, no picture
        answer = get(s, path, ["traceparent: " + TRACEPARENT])
        equal((path, answer["traceparent"]), (path, TRACEPARENT))
    equal(request_line(s, mark + "&pixels=16")["trace"], TRACE)
    equal(get(s, target, ["TraceParent: " + TRACEPARENT])["traceparent"], TRACEPARENT)
    for lines in (["01" + TRACEPARENT[2:]], ["ff" + TRACEPARENT[2:]], [TRACEPARENT.upper()], [TRACEPARENT + "-x"], [TRACEPARENT[:-1]],
                  ["00-" + "0" * 32 + "-00f067aa0ba902b7-01"], ["00-" + TRACE + "-" + "0" * 16 + "-01"], [TRACEPARENT.replace("-", "_")],
                  [TRACEPARENT.replace("4", "g")], [""], [TRACEPARENT, TRACEPARENT], ["0" * 55], [TRACEPARENT[:54] + "\u00fc"]):
        answer = get(s, target, ["traceparent: " + line for line in lines])
        equal((lines, answer.status, answer["traceparent"]), (lines, 200, None))


# ---- Timing ----


def timing(answer):
    parts = answer["Server-Timing"].split(", ")
    assert all(re.fullmatch(r"cache;desc=\w+|(lookup|queue|render|encode);dur=\d+\.\d{3}", p) for p in parts), parts
    return {p.split(";")[0]: p.split("=")[1] for p in parts}


def test_server_timing_says_what_happened():
    target = "/planet.gif?pixels=96&frames=20&seed=" + fresh()
    began = time.monotonic()
    miss = get(shared(), target)
    passed_ms = (time.monotonic() - began) * 1000
    parts = timing(miss)
    equal((parts.pop("cache"), miss["X-Cache"]), ("miss", "miss"))
    assert set(parts) >= {"render", "encode"} and "lookup" not in parts, parts
    assert 0 < sum(float(p) for p in parts.values()) <= passed_ms * os.cpu_count(), (parts, passed_ms)
    for headers in ([], [], ["traceparent: " + TRACEPARENT]):
        hit = get(shared(), target, headers)
        equal((hit["Server-Timing"], hit["X-Cache"], hit["Timing-Allow-Origin"]), ("cache;desc=hit", "hit", "*"))
        assert "Server-Timing" in hit["Access-Control-Expose-Headers"]
    equal(get(shared(), "/planet?bogus=1")["Server-Timing"], None)


def test_server_timing_of_who_waited_for_another_is_that_of_the_render():
    with Server(*SLOW_ARGS) as s, Conn(s) as a, Conn(s) as b:
        target = SLOW + fresh()
        a.ask(target)
        s.wait_ready(lambda r: r["queue"]["running"] == 1)
        b.ask(target)
        first, second = timing(a.response()), timing(b.response())
        equal((first.pop("cache"), second.pop("cache")), ("miss", "coalesced"))
        equal(first, second)


# ---- The log ----


def test_each_request_has_a_line_with_all_that_matters():
    s, mark = shared(), fresh()
    miss = get(s, "/planet?seed=" + mark, ["X-Request-Id: id-" + mark, "traceparent: " + TRACEPARENT])
    line = request_line(s, mark)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) and re.fullmatch(r"\d+\.\d{3}", line["ms"]), line
    for name, value in (("level", "info"), ("id", "id-" + mark), ("method", "GET"), ("target", '"/planet?seed=%s"' % mark), ("status", "200"),
                        ("bytes", str(len(miss.body))), ("cache", "miss"), ("client", "127.0.0.1"), ("trace", TRACE)):
        equal((name, line.get(name)), (name, value))
    assert "error" not in line
    for method, query, headers, expected in (("GET", "", [], {"cache": "hit", "bytes": str(len(miss.body))}),
                                             ("HEAD", "&pixels=64", [], {"method": "HEAD", "status": "200", "bytes": "0"}),
                                             ("GET", "&zoom=1", ["If-None-Match: *"], {"status": "304", "bytes": "0", "cache": None}),
                                             ("GET", "&bogus=%22", [], {"status": "400", "error": "param-unknown", "cache": None}),
                                             ("DELETE", "&d", [], {"status": "405", "error": "method", "method": "other"})):
        own = fresh()
        get(s, "/planet?seed=" + mark + query, headers + ["X-Request-Id: " + own], method)
        line = pairs(s.wait_log("event=request id=%s " % own).string)
        equal({name: line.get(name) for name in expected}, expected)


def test_log_requests_chooses_which_requests_have_a_line():
    for mode, expected in (("all", ["m", "h", "e", "v"]), ("drawn", ["m"]), ("none", [])):
        with Server("--log-requests", mode) as s:
            for name, path in (("m", "/planet?seed=1"), ("h", "/planet?seed=1"), ("e", "/planet?x"), ("v", "/version"), ("p", "/healthz"), ("r", "/readyz")):
                get(s, path, ["X-Request-Id: " + name])
        equal((mode, sorted(pairs(line)["id"] for line in s.lines if "event=request" in line)), (mode, sorted(expected)))


def test_errors_of_the_service_have_a_line_in_any_mode():
    with Server(*SLOW_ARGS, "--drain-seconds", "60", "--log-requests", "none") as s:
        with Conn(s) as slow, Conn(s) as c:
            slow.ask(SLOW + fresh())
            s.wait_ready(lambda r: r["queue"]["running"] == 1)
            c.ask("/healthz")
            c.response()
            c.send("GET /planet?seed=late HTTP/1.1\r\n")  # begun before the end, so it is answered
            s.signal()
            s.wait_log("event=draining")
            c.send("Host: x\r\nX-Request-Id: late\r\n\r\n")
            equal(c.response().status, 503)
            equal(slow.response().status, 200)
        equal(s.wait_exit(), 0)
    lines = [pairs(line) for line in s.lines if "event=request" in line]
    equal([(p["id"], p["level"], p["status"], p["error"]) for p in lines], [("late", "warn", "503", "draining")])


def test_probes_have_lines_for_debugging_alone():
    with Server("--log-level", "debug") as s:
        get(s, "/healthz", ["X-Request-Id: probe"])
        equal(pairs(s.wait_log("event=request id=probe").string)["level"], "debug")
    assert not any("/readyz" in line or "/healthz" in line for line in shared().lines), "with level info"


def test_a_client_that_leaves_while_its_picture_is_made_has_a_line():
    with Server(*SLOW_ARGS) as s:
        c = Conn(s)
        c.ask(SLOW + fresh(), headers=["X-Request-Id: gone"])
        s.wait_ready(lambda r: r["queue"]["running"] == 1)
        c.reset()
        line = pairs(s.wait_log("event=request id=gone").string)
        equal((line["status"], line["error"], line["bytes"]), ("499", "client-gone", "0"))


def test_json_lines_are_json_whatever_clients_send():
    with Server("--log-format", "json", "--log-level", "debug", *PROXY) as s:
        sent = ['"', "\\", "\\x41", "\u00fcn\u00ef\u2603\U0001f30d", "%22%00%0a", "a=b", "{}", "'", "<b>", "\x7f"]
        for i, text in enumerate(sent):
            with Conn(s) as c:
                c.send(("GET /planet?n%d=%s HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 2001:db8::9\r\n\r\n" % (i, text)).encode("utf-8"))
                c.response()
        with Conn(s) as c:
            c.send(b"GET /planet?raw=\xff\xfe\xc3( HTTP/1.1\r\nHost: x\r\n\r\n")
            c.response()
        get(s, "/planet?seed=" + "x" * 3000)
        get(s, "/planet?seed=1", ["X-Request-Id: 12345", "traceparent: " + TRACEPARENT])
        get(s, "/healthz")
    documents = [json.loads(line) for line in s.lines]
    for d in documents:
        assert list(d)[:3] == ["time", "level", "event"], d
        assert all(isinstance(v, (str, int, float)) for v in d.values()), d
    by_target = {d["target"]: d for d in documents if d["event"] == "request"}
    for i, text in enumerate(sent):
        assert "/planet?n%d=%s" % (i, text) in by_target, (text, list(by_target))
    assert "/planet?raw=\ufffd\ufffd\ufffd(" in by_target, list(by_target)
    assert any(t.endswith("xxx...") and len(t) < 1000 for t in by_target), "a long target is cut"
    line = by_target["/planet?seed=1"]
    equal((line["id"], line["method"], line["status"], line["cache"], line["client"], line["trace"], line["level"]),
          ("12345", "GET", 200, "miss", "127.0.0.1", TRACE, "info"))
    assert isinstance(line["bytes"], int) and isinstance(line["ms"], float), line
    equal(by_target["/healthz"]["level"], "debug")
    equal(by_target["/planet?n0=\""]["client"], "2001:db8::/64")
    listening = [d for d in documents if d["event"] == "listening"]
    assert listening and listening[0]["message"].startswith("listening on http://127.0.0.1:"), listening


def test_lines_of_several_processes_that_share_a_pipe_stay_whole():
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, 1031, 4096)  # F_SETPIPE_SZ: it is full all the time, so writes that could be cut are
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PLANETD_")}
    with socket.socket() as a, socket.socket() as b:
        a.bind(("127.0.0.1", 0))
        b.bind(("127.0.0.1", 0))
        ports = [a.getsockname()[1], b.getsockname()[1]]
    processes = [subprocess.Popen([harness.BINARY, "--backend", "cpu", "--listen", "127.0.0.1:%d" % port, "--log-format", "json", "--http-threads", "1"],
                                  stdin=subprocess.DEVNULL, stderr=theirs, env=clean, preexec_fn=harness.die_with_parent) for port in ports]
    os.close(theirs)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(os.fdopen(ours, "rb")))
    reader.start()
    try:
        deadline = time.monotonic() + harness.PATIENCE
        for port in ports:
            while True:
                try:
                    get(port, "/healthz")
                    break
                except ConnectionRefusedError:
                    assert time.monotonic() < deadline
                    time.sleep(0.01)

        def client(port, number):
            with Conn(port) as c:
                for i in range(5):
                    c.send("".join("GET /planet?seed=1&p=%d-%d-%d-%s HTTP/1.1\r\nHost: x\r\n\r\n" % (port, number, i * 20 + k, "y" * 200) for k in range(20)))
                    for _ in range(20):
                        equal(c.response().status, 400)
        clients = [threading.Thread(target=client, args=(port, n)) for port in ports for n in range(24)]
        for t in clients:
            t.start()
        for t in clients:
            t.join(harness.PATIENCE)
    finally:
        for p in processes:
            p.send_signal(signal.SIGTERM)
        for p in processes:
            p.wait(harness.PATIENCE)
    reader.join(harness.PATIENCE)
    targets = [json.loads(line)["target"] for line in lines if b'"request"' in line]
    equal(len(set(targets)), 2 * 24 * 100)
    equal(len(targets), 2 * 24 * 100)


# ---- Who asks ----


def test_the_client_is_the_socket_unless_a_trusted_proxy_says_another():
    name = ["X-Forwarded-For: 203.0.113.9"]
    for arguments, headers, client in (
            ([], name, "127.0.0.1"), (["--trusted-proxy", "192.0.2.0/24"], name, "127.0.0.1"), (PROXY, [], "127.0.0.1"), (PROXY, name, "203.0.113.9"),
            (PROXY, ["X-Forwarded-For: 198.51.100.1, 203.0.113.9"], "203.0.113.9"),
            (PROXY, ["X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.9"], "203.0.113.9"),
            (PROXY, ["X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.9, 127.0.0.1"], "203.0.113.9"),
            (PROXY, ["X-Forwarded-For: " + "9.9.9.9, " * 200 + "203.0.113.9"], "203.0.113.9"),
            (PROXY, ["X-Forwarded-For: " + "9.9.9.9, " * 113 + "9.9.9.9", "X-Forwarded-For: 203.0.113.9"], "203.0.113.9"),  # too long to join
            (PROXY, ["X-Forwarded-For: 2001:db8:1:2:3::4"], "2001:db8:1:2::/64"), (PROXY, ['Forwarded: for="[2001:db8:1:2::9]:80"'], "2001:db8:1:2::/64"),
            (PROXY, ["Forwarded: for=203.0.113.7", "X-Forwarded-For: 203.0.113.7"], "203.0.113.7"), (PROXY, ["X-Forwarded-For: nonsense"], "127.0.0.1")):
        with Server(*arguments) as s:
            for path in ("/planet?seed=1", "/planet?seed=1", "/nowhere"):
                get(s, path, headers)
        clients = [pairs(line)["client"] for line in s.lines if "event=request" in line]
        equal((arguments, headers, clients), (arguments, headers, [client] * 3))


def test_the_client_of_a_unix_socket_is_whom_a_trusted_proxy_names():
    for arguments, expected in (([], "unix"), (["--trusted-proxy", "unix"], "203.0.113.9")):
        with Folder() as folder:
            with unix_server(folder.path(), *arguments) as s:
                for headers in ([], ["X-Forwarded-For: 203.0.113.9"]):
                    with UnixConn(folder.path()) as c:
                        c.ask("/nowhere", headers=headers)
                        equal(c.response().status, 404)
            equal([pairs(line)["client"] for line in s.lines if "event=request" in line], ["unix", expected])


def test_the_client_over_ipv6_is_its_network():
    need_ipv6()
    with Server(listen=("[::1]:0",)) as s, Conn(s, family=socket.AF_INET6) as c:
        c.ask("/nowhere")
        c.response()
        equal(pairs(s.wait_log("event=request").string)["client"], "::/64")


def test_connections_of_a_trusted_proxy_and_of_a_unix_socket_are_not_counted():
    limit = ["--connections-per-address", "2"]

    def served(make, count=6):
        """How many of so many connections are answered."""
        open_ones, answered = [make() for _ in range(count)], 0
        for c in open_ones:
            try:
                c.ask("/healthz")
                answered += c.response().status == 200
            except (harness.Closed, BrokenPipeError, ConnectionResetError):
                pass
        for c in open_ones:
            c.close()
        return answered

    with Server(*limit) as s:
        equal(served(lambda: Conn(s)), 2)
    with Server(*limit, *PROXY) as s:
        equal(served(lambda: Conn(s)), 6)
    with Folder() as folder, unix_server(folder.path(), *limit) as s:
        equal(served(lambda: UnixConn(folder.path())), 6)


def test_clients_behind_a_proxy_have_shares_of_their_own():
    with Server(*SLOW_ARGS, *PROXY, "--queue-seconds", "60", "--client-share", "5") as s:
        crowd, statuses = [], []
        for i in range(40):
            c = Conn(s)
            c.ask(SLOW + fresh(), headers=["X-Forwarded-For: 203.0.113.1", "X-Request-Id: greedy%d" % i])
            crowd.append(c)
            if not c.quiet(0.05):
                statuses.append(c.response())
                break
        check_problem(statuses[0], 429, "share")
        assert int(statuses[0]["Retry-After"]) >= 1
        equal(pairs(s.wait_log("id=greedy%d " % (len(crowd) - 1)).string)["client"], "203.0.113.1")
        with Conn(s) as other:
            other.ask("/planet?pixels=16&seed=" + fresh(), headers=["X-Forwarded-For: 203.0.113.2"])
            equal(other.response().status, 200)
        for c in crowd:
            c.reset()


# ---- Signed URLs ----


def test_with_keys_only_signed_pictures_are_served():
    with Server("--sign-keys", ONE + "," + TWO) as s:
        plain = "/planet.png?type=gas&seed=" + fresh()
        answer = get(s, signed(plain))
        equal((answer.status, answer["X-Cache"], answer["ETag"]), (200, "miss", get(shared(), plain)["ETag"]))
        for path in (signed(plain), signed(plain, TWO), signed("/planet/gas/%s.png" % plain.split("=")[-1])):
            again = get(s, path)
            equal((again.status, again["X-Cache"], again["ETag"], again.body), (200, "hit", answer["ETag"], answer.body))
        good = signed(plain)
        tag = ["If-None-Match: " + answer["ETag"]]
        equal(get(s, good, tag).status, 304)
        equal(get(s, good, method="HEAD").status, 200)
        for path in (plain, good[:-1] + ("A" if good[-1] != "A" else "B"), good.replace("gas", "ice"), good + "&zoom=2", good + "&signature=x",
                     "/planet?bogus=1", "/planet", "/planet/gas/1.png", signed(plain, "ab" * 16), plain + "&signature="):
            check_problem(get(s, path), 403, "signature")  # and not 400 or 406: nothing of it was looked at
            check_problem(get(s, path, ["Accept: text/html"]), 403, "signature")
            equal(get(s, path, tag).status, 403)
            equal(get(s, path, method="HEAD").status, 403)
        check_problem(get(s, signed("/planet?bogus=1")), 400, "param-unknown")
        equal(get(s, "/planet", method="OPTIONS").status, 204)
        for path in ("/healthz", "/readyz", "/types", "/version", "/", "/openapi.json"):
            equal((path, get(s, path).status), (path, 200))


def test_a_signed_body_is_served_and_an_altered_one_is_not():
    body = b'{"type":"lava","seed":"%s"}' % fresh().encode()
    with Server("--sign-keys", ONE) as s:
        equal(post(s, body, target=signed("/planet", body=body)).status, 200)
        check_problem(post(s, body + b" ", target=signed("/planet", body=body)), 403, "signature")
        check_problem(post(s, body), 403, "signature")
        check_problem(post(s, b"no json", target="/planet"), 403, "signature")


def test_nobody_may_keep_a_picture_beyond_the_end_of_its_url():
    now = int(time.time())
    with Server("--sign-keys", ONE) as s:
        seed = fresh()
        for pinned in ("", "&rev=1"):
            for left in (5000, 1000):  # two ends, one picture
                path = signed("/planet?seed=%s%s&expires=%d" % (seed, pinned, now + left))
                for headers in ([], [], ["If-None-Match: *"]):
                    answer = get(s, path, headers)
                    age = re.fullmatch(r"public, max-age=(\d+)", answer["Cache-Control"])
                    assert age and left - 600 < int(age.group(1)) <= left, (left, answer["Cache-Control"])
                    equal(answer["Vary"], "Accept")
        equal(get(s, path)["X-Cache"], "hit")
        equal(get(s, signed("/planet?seed=" + seed))["Cache-Control"], "public, max-age=86400, stale-while-revalidate=604800")
        equal(get(s, signed("/planet?rev=1&seed=" + seed))["Cache-Control"], "public, max-age=31536000, immutable")
        far = get(s, signed("/planet?seed=%s&expires=%d" % (seed, now + 10 ** 9)))
        equal(far["Cache-Control"], "public, max-age=86400")
        for end, kind in ((now - 10, "expired"), ("x", "signature"), ("", "signature"), (-1, "signature")):
            check_problem(get(s, signed("/planet?seed=%s&expires=%s" % (seed, end)), ["If-None-Match: *"]), 403, kind)
        check_problem(get(s, signed("/planet?seed=%s&expires=%d" % (seed, now + 1000)).replace(str(now + 1000), str(now + 2000))), 403, "signature")


def test_without_keys_a_signature_is_an_unknown_parameter():
    for path in (signed("/planet?seed=1"), "/planet?expires=99999999999"):
        check_problem(get(shared(), path), 400, "param-unknown")


def test_the_log_never_has_a_signature():
    secret = signature("/planet?seed=1")
    with Server("--sign-keys", ONE, "--log-level", "debug") as s, Server("--log-format", "json") as other:
        for path in ("/planet?seed=1&signature=%s", "/planet?signature=%s&seed=2", "/planet?%%73ig%%6eature=%s&seed=3", "/planet?Signature=%s&seed=4",
                     "/planet?signature=%s&signature=%s&seed=5", "/planet?a;signature=%s", "/nowhere?signature=%s&seed=6", "/planet?x%%26signature%%3D%s&z",
                     "http://h/planet?signature=%s", "/planet%%3Fsignature=%s"):
            get(s, path.replace("%s", secret).replace("%%", "%"))
            get(other, path.replace("%s", secret).replace("%%", "%"))
        equal(get(s, signed("/planet?seed=1")).status, 200)
    for server in (s, other):
        lines = [line for line in server.lines if "request" in line]
        assert len(lines) >= 10 and sum("***" in line for line in lines) >= 10, lines
        assert not any(secret[:12] in line or ONE[:12] in line for line in server.lines), server.lines


# ---- Readiness, addresses ----


def test_readyz_is_503_while_the_queue_is_full():
    with Server(*SLOW_ARGS, "--queue-seconds", "1", "--client-share", "100") as s:
        equal((get(s, "/readyz").status, s.ready()["reason"]), (200, ""))
        crowd = []
        deadline = time.monotonic() + harness.PATIENCE
        # What still fits becomes smaller; on a machine where that is drawn before anyone looks, it begins again.
        for frames in itertools.cycle((30, 30, 30, 20, 12, 8, 5, 3, 2, 1, 1, 1)):
            c = Conn(s)
            c.ask(SLOW.replace("frames=30", "frames=%d" % frames) + fresh())
            crowd.append(c)
            answer = get(s, "/readyz")
            if answer.status != 200:  # one answer is looked at: the next may have room again
                break
            assert time.monotonic() < deadline, answer.body
        equal((answer.status, answer.json()["ready"], answer.json()["reason"]), (503, False, "queue full"))
        equal(get(s, "/healthz").status, 200)
        for c in crowd:
            c.reset()
        s.wait_ready(lambda r: r["ready"] and r["reason"] == "")
        equal(get(s, "/readyz").status, 200)


def test_public_and_metrics_addresses_have_their_own_paths():
    with Server("--metrics-listen", "127.0.0.1:0") as s:
        metrics = int(s.wait_log(r"listening on http://\S+:(\d+)", 1).group(1))
        for port, path, status in ((s.port, "/metrics", 404), (metrics, "/metrics", 200), (metrics, "/planet?seed=1", 404), (s.port, "/planet?seed=1", 200),
                                   (metrics, "/healthz", 200), (s.port, "/healthz", 200), (metrics, "/readyz", 200), (s.port, "/readyz", 200),
                                   (metrics, "/", 404), (s.port, "/openapi.json", 200)):
            equal((port == metrics, path, get(port, path).status), (port == metrics, path, status))


def test_the_index_names_what_there_is():
    text = get(shared(), "/").body.decode()
    for path in ("/types", "/version", "/readyz", "/healthz", "/openapi.json"):
        assert path in text
        assert get(shared(), path).status == 200
