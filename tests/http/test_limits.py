"""Limits: sizes, times, connections, settings."""

import os
import socket
import subprocess
import time

import harness
from harness import SLOW_ARGS, Closed, Conn, Server, check_problem, equal, fresh, get, shared


def test_long_urls_are_414():
    longest = "/planet?seed=1&" + "&" * (4096 - len("/planet?seed=1&"))
    equal(get(shared(), longest).status, 200)
    for size in (4097, 5000, 7000):
        check_problem(get(shared(), "/planet?seed=1&" + "&" * (size - len("/planet?seed=1&"))), 414, "url-size")
    for size in (20000, 100000):  # beyond what the library keeps: its own words, the same status
        with Conn(shared()) as c:
            try:
                c.ask("/planet?seed=1&" + "&" * size)
                equal(c.response().status, 414)
            except (Closed, BrokenPipeError, ConnectionResetError):
                pass
    equal(get(shared(), "/healthz").status, 200)


def test_large_headers_are_431():
    equal(get(shared(), "/planet?seed=1", ["X-Pad: " + "p" * 7500]).status, 200)
    check_problem(get(shared(), "/planet?seed=1", ["X-Pad: " + "p" * 8200]), 431, "header-size")
    for headers in (["X-Pad: " + "p" * 20000], ["X-%d: %s" % (i, "p" * 50) for i in range(400)]):
        with Conn(shared()) as c:
            try:
                c.ask("/planet?seed=1", headers=headers)
                equal(c.response().status, 431)
            except (Closed, BrokenPipeError, ConnectionResetError):
                pass
    equal(get(shared(), "/healthz").status, 200)


def test_half_sent_requests_and_idle_sockets_end_while_others_are_served():
    with Server("--idle-seconds", "1", "--request-seconds", "2") as s:
        began = time.monotonic()
        silent, partial, body = Conn(s), Conn(s), Conn(s)
        partial.send("GET /planet?seed=1 HTTP/1.1\r\nHost: x\r\nX-Half: ")
        body.ask("/planet", "POST", ["Content-Length: 100", "Content-Type: application/json"])
        done = Conn(s)
        done.ask("/healthz")
        done.response()
        for c in (silent, partial, body, done):
            while not c.closed_within(0.1):
                equal(get(s, "/planet?seed=1").status, 200)
                assert time.monotonic() - began < 6, "still open"
            c.close()


def test_one_byte_at_a_time_does_not_hold_a_connection_for_ever():
    # libmicrohttpd's own timeout starts again with each byte.
    with Server("--idle-seconds", "1", "--request-seconds", "2") as s:
        clients = [Conn(s), Conn(s), Conn(s)]
        clients[1].send("GET /planet?seed=1 HTTP/1.1\r\nHost: x\r\n")
        clients[2].ask("/planet", "POST", ["Content-Length: 1000", "Content-Type: application/json"])
        letters = [iter("GET /planet?seed=" + "1" * 2000), iter("X: " + "y" * 2000), iter(" " * 999)]
        began = time.monotonic()
        open_still = [0, 1, 2]
        while open_still:
            assert time.monotonic() - began < 6, "still open"
            for i in list(open_still):
                try:
                    clients[i].send(next(letters[i]))
                    if clients[i].closed_within(0.05):
                        open_still.remove(i)
                except (BrokenPipeError, ConnectionResetError):
                    open_still.remove(i)
        assert time.monotonic() - began > 1.5, "cut off too early"


def test_a_waiting_request_outlives_the_idle_limit():
    with Server(*SLOW_ARGS, "--idle-seconds", "1", "--request-seconds", "1") as s:
        for frames in (30, 60, 120):  # until one lasts long enough to prove anything
            with Conn(s) as c:
                c.ask("/planet.gif?pixels=512&frames=%d&seed=%s" % (frames, fresh()))
                began = time.monotonic()
                equal(c.response().status, 200)
                if time.monotonic() - began > 2:
                    return
        assert time.monotonic() - began > 1.2, "too fast to prove anything"


def test_a_reader_that_takes_nothing_is_cut_off():
    with Server("--idle-seconds", "60", "--request-seconds", "1") as s:
        target = "/planet.png?layer=grid&pixels=300"
        size = len(get(s, target).body)
        with Conn(s, window=4096) as c:
            for _ in range(9000000 // size):  # more than the sockets' buffers take
                c.ask(target)
            time.sleep(1 + size / 16384 + 2)  # the limit, and a second for each sweep
            taken = 0
            try:
                while True:
                    data = c.socket.recv(65536)
                    if not data:
                        break
                    taken += len(data)
            except ConnectionResetError:
                pass
            assert taken < 9000000 - size, "all %d bytes came" % taken


def ready_sockets_do_not_stall(count):
    # Trap 2 of libmicrohttpd: its epoll thread waits again when an exact multiple of 128 sockets is ready.
    with Server("--http-threads", "1") as s:
        get(s, "/planet?seed=1")
        clients = [Conn(s) for _ in range(count)]
        request = b"GET /planet?seed=1 HTTP/1.1\r\nHost: x\r\n\r\n"
        for c in clients:
            c.send(request)
            equal(c.response().status, 200)
        slowest = 0
        for _ in range(5):
            os.kill(s.process.pid, 19)  # SIGSTOP: all become ready at once
            for c in clients:
                c.send(request)
            began = time.monotonic()
            os.kill(s.process.pid, 18)
            for c in clients:
                equal(c.response().status, 200)
            slowest = max(slowest, time.monotonic() - began)
        for c in clients:
            c.close()
        assert slowest < 0.9, "%.2f s for %d answers" % (slowest, count)


def test_128_ready_sockets_do_not_stall():
    ready_sockets_do_not_stall(128)


def test_256_ready_sockets_do_not_stall():
    ready_sockets_do_not_stall(256)


def test_connections_per_address_are_limited_over_all_threads():
    with Server("--connections-per-address", "5", "--http-threads", "3") as s:
        clients = [Conn(s) for _ in range(5)]
        for c in clients:
            c.ask("/healthz")
            equal(c.response().status, 200)
        for _ in range(4):
            with Conn(s) as c:
                assert c.closed_within(5), "a sixth connection was accepted"
        clients.pop().close()
        for _ in range(100):  # the server must see the close first
            with Conn(s) as c:
                try:
                    c.ask("/healthz")
                    equal(c.response().status, 200)
                    break
                except (Closed, ConnectionResetError, BrokenPipeError):
                    time.sleep(0.02)
        else:
            raise AssertionError("the place was not given back")
        for c in clients:
            c.close()


def test_without_limit_an_address_may_have_many():
    with Server("--connections-per-address", "0") as s:
        clients = [Conn(s) for _ in range(600)]
        for c in clients:
            c.ask("/healthz")
        for c in clients:
            equal(c.response().status, 200)
            c.close()


def run(*args, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PLANETD_")}
    clean.update(environment)
    return subprocess.run([harness.BINARY, *args], capture_output=True, text=True, timeout=20, env=clean)


def test_two_servers_on_one_port_are_refused():
    with Server() as s:
        second = run("--listen", "127.0.0.1:%d" % s.port, "--backend", "cpu")
        equal(second.returncode, 1)
        assert "another process listens there" in second.stderr, second.stderr
        equal(get(s, "/healthz").status, 200)


def errors_of(result):
    return [line for line in result.stderr.splitlines() if "level=error" in line]


def test_an_address_that_cannot_be_had_ends_with_1_and_one_true_line():
    with Server() as s:
        for address, reason in (("127.0.0.1:%d" % s.port, "another process listens there"), ("192.0.2.1:0", "Cannot assign requested address")):
            result = run("--listen", address, "--backend", "cpu")
            equal((address, result.returncode), (address, 1))
            lines = errors_of(result)
            equal(len(lines), 1)
            assert address in lines[0] and reason in lines[0] and "setting" not in lines[0], lines
    unknown = run("--listen", "256.1.1.1:0", "--backend", "cpu")  # no host has this name: the flag is wrong
    equal((unknown.returncode, len(errors_of(unknown))), (1, 1))


def test_an_address_given_twice_and_one_too_many_have_their_own_words():
    twice = run("--listen", "127.0.0.1:1", "--listen", "127.0.0.1:1")
    equal((twice.returncode, twice.stderr), (2, "planetd: --listen: '127.0.0.1:1' is given twice\n"))
    many = run(*[word for i in range(17) for word in ("--listen", "127.0.0.1:%d" % (i + 1))])
    equal(many.returncode, 2)
    assert "16 addresses" in many.stderr, many.stderr
    assert "16" not in run("--listen", "foo").stderr


def test_an_unknown_variable_is_a_warning_with_the_nearest_name():
    # An address that can't be had ends it at once, after the warnings.
    end = ("--listen", "192.0.2.1:0", "--backend", "cpu")
    result = run(*end, PLANETD_QUEUE_SECOND="5", PLANETD_WIBBLE="1", PLANETD_PORT="tcp://10.0.0.1:8080", PLANETD_SERVICE_HOST="10.0.0.1", PLANETD_QUEUE_SECONDS="")
    equal(result.returncode, 1)
    warnings = [line for line in result.stderr.splitlines() if "event=unknown_variable" in line]
    equal(len(warnings), 2)
    text = "\n".join(warnings)
    assert "level=warn" in text and "did you mean PLANETD_QUEUE_SECONDS" in text and '"PLANETD_WIBBLE"' in text, text
    assert "PLANETD_PORT" in run(*end, PLANETD_PORT="8080").stderr


def test_all_threads_take_connections_of_one_port():
    with Server("--http-threads", "2") as s:
        ids = set()
        for _ in range(60):
            ids.add(get(s, "/nowhere")["X-Request-Id"].split("-")[1])
        equal(ids, {"00", "01"})


def test_several_addresses_and_ipv6():
    listen = ["127.0.0.1:0", "127.0.0.1:0"]
    try:
        socket.socket(socket.AF_INET6).bind(("::1", 0))
        listen.append("[::1]:0")
    except OSError:
        pass
    with Server(listen=listen) as s:
        equal(len(set(s.ports)), len(listen))
        for i, port in enumerate(s.ports):
            family = socket.AF_INET if i < 2 else socket.AF_INET6
            with Conn(s, family=family, port=port) as c:
                c.ask("/planet?seed=1")
                equal(c.response().status, 200)


def test_wrong_settings_are_named_and_end_with_2():
    for flag, value in (("--queue-seconds", "many"), ("--queue-seconds", "-1"), ("--client-share", "101"), ("--http-threads", "0"), ("--http-threads", "65"), ("--backend", "vulkan"),
                        ("--listen", "8080"), ("--listen", "::1:8080"), ("--listen", "[::1]"), ("--listen", "a:99999"), ("--cache-memory", "1T"),
                        ("--cache-memory", ""), ("--log-level", "loud"), ("--cpu-mask", "mmx"), ("--drain-seconds", "1.5")):
        result = run(flag, value)
        equal((flag, value, result.returncode), (flag, value, 2))
        assert flag in result.stderr and "'%s'" % value in result.stderr, result.stderr
    result = run("--queue", "1")
    equal(result.returncode, 2)
    assert "--queue" in result.stderr
    equal(run("--queue-seconds").returncode, 2)
    result = run(PLANETD_QUEUE_SECONDS="x")
    equal(result.returncode, 2)
    assert "PLANETD_QUEUE_SECONDS" in result.stderr


def test_flags_beat_the_environment_which_beats_defaults():
    def config(*args, **environment):
        result = run("--print-config", *args, **environment)
        equal(result.returncode, 0)
        return dict(line.split("=", 1) for line in result.stdout.splitlines())

    equal(config()["PLANETD_QUEUE_SECONDS"], "10")
    equal(config(PLANETD_QUEUE_SECONDS="7")["PLANETD_QUEUE_SECONDS"], "7")
    equal(config("--queue-seconds", "9", PLANETD_QUEUE_SECONDS="7")["PLANETD_QUEUE_SECONDS"], "9")
    equal(config("--queue-seconds=9")["PLANETD_QUEUE_SECONDS"], "9")
    equal(config("--cache-memory", "2M")["PLANETD_CACHE_MEMORY"], "2097152")
    equal(config("--listen", "a:1", "--listen", "[::]:2", PLANETD_LISTEN="b:3")["PLANETD_LISTEN"], "a:1,[::]:2")
    once = config("--listen", "a:1", "--backend", "null")
    equal(config(**once), once)  # what it prints, it reads


def test_help_and_version_end_with_0():
    text = run("--help")
    equal(text.returncode, 0)
    for flag in ("--listen", "--backend", "--cpu-mask", "--http-threads", "--render-threads", "--cache-memory",
                 "--connections-per-address", "--queue-seconds", "--client-share", "--drain-seconds", "--log-level"):
        assert flag in text.stdout
    equal(run("-h").stdout, text.stdout)
    version = run("--version")
    equal(version.returncode, 0)
    assert '"name":"planetd"' in version.stdout
