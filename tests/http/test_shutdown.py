"""How the process ends."""

import signal
import socket
import time

from harness import SLOW, SLOW_ARGS, Closed, Conn, Server, check_problem, equal, fresh


def test_sigterm_answers_what_was_accepted_and_closes_what_is_idle():
    with Server(*SLOW_ARGS, "--drain-seconds", "300") as s: # a sanitizer draws ten times as long
        idle = [Conn(s) for _ in range(50)]
        for c in idle[:25]:
            c.ask("/planet?seed=1")
            equal(c.response().status, 200)
        target = SLOW + fresh()
        waiting = [Conn(s) for _ in range(10)]
        for c in waiting:
            c.ask(target)
        s.wait_ready(lambda r: r["cache"]["misses"] + r["cache"]["coalesced"] == 11)
        s.signal()
        for c in idle:
            assert c.closed_within(5), "an idle connection stayed"
            c.close()
        try:
            Conn(s, timeout=2).close()
            raise AssertionError("a new connection was accepted")
        except (ConnectionRefusedError, ConnectionResetError):
            pass
        answers = [c.response() for c in waiting]
        equal({a.status for a in answers}, {200})
        equal({a["Connection"] for a in answers}, {"close"})
        equal(len({a.body for a in answers}), 1)
        equal(s.wait_exit(), 0)
        for c in waiting:
            c.close()


def test_sigint_ends_it_as_well():
    with Server() as s:
        s.signal(signal.SIGINT)
        equal(s.wait_exit(), 0)


def test_readyz_is_503_while_draining_and_new_work_is_refused():
    with Server(*SLOW_ARGS, "--drain-seconds", "300") as s:
        # Requests that were on their way already: their first half was sent before.
        probe, miss, hit, busy = Conn(s), Conn(s), Conn(s), Conn(s)
        hit.ask("/planet?seed=1")
        equal(hit.response().status, 200)
        busy.ask(SLOW + fresh())
        s.wait_ready(lambda r: r["queue"]["running"] == 1)
        probe.send("GET /readyz HTTP/1.1\r\nHost: x\r\n")
        miss.send("GET /planet?seed=%s HTTP/1.1\r\nHost: x\r\n" % fresh())
        hit.send("GET /planet?seed=1 HTTP/1.1\r\nHost: x\r\n")
        time.sleep(0.3)
        s.signal()
        s.wait_log("event=draining")
        time.sleep(0.1)
        for c in (probe, miss, hit):
            c.send("\r\n")
        answer = probe.response()
        equal(answer.status, 503)
        equal((answer.json()["ready"], answer.json()["draining"]), (False, True))
        refused = miss.response()
        check_problem(refused, 503, "draining")
        assert int(refused["Retry-After"]) >= 1
        answer = hit.response()
        equal((answer.status, answer["X-Cache"], answer["Connection"]), (200, "hit", "close"))
        equal(busy.response().status, 200)
        equal(s.wait_exit(), 0)


def test_at_the_drain_limit_renders_are_aborted_and_it_still_ends_with_0():
    with Server(*SLOW_ARGS, "--drain-seconds", "1", "--queue-seconds", "3600", "--client-share", "100") as s:
        clients = [Conn(s) for _ in range(8)]
        for c in clients:
            c.ask("/planet.gif?pixels=1024&frames=32&seed=" + fresh())
        s.wait_ready(lambda r: r["cache"]["misses"] == 8)
        began = time.monotonic()
        s.signal()
        statuses = []
        for c in clients:
            try:
                statuses.append(c.response().status)
            except Closed:
                statuses.append(None)
            c.close()
        equal(s.wait_exit(), 0)
        assert time.monotonic() - began < 8
        assert 503 in statuses and None not in statuses, statuses


def test_a_second_signal_ends_it_at_once():
    with Server(*SLOW_ARGS) as s:
        c = Conn(s)
        c.ask("/planet.gif?pixels=1024&frames=32&seed=" + fresh())
        s.wait_ready(lambda r: r["queue"]["running"] == 1)
        s.signal()
        s.wait_log("event=draining")
        began = time.monotonic()
        s.signal()
        s.expected = 1
        equal(s.wait_exit(), 1)
        assert time.monotonic() - began < 2
        c.close()


def test_half_sent_requests_cannot_hold_the_end_up():
    with Server("--drain-seconds", "30", "--request-seconds", "2") as s:
        c = Conn(s)
        c.send("GET /planet?seed=1 HTTP/1.1\r\nHost: x\r\n")
        time.sleep(0.2)
        began = time.monotonic()
        s.signal()
        equal(s.wait_exit(), 0)
        assert time.monotonic() - began < 8
        c.close()


def test_connections_in_the_backlog_are_answered():
    # They were accepted by the kernel before the signal, so they count as accepted.
    with Server("--http-threads", "1") as s:
        s.signal(signal.SIGSTOP)
        clients = [Conn(s) for _ in range(20)]
        for c in clients:
            c.ask("/healthz")
        s.signal()
        s.signal(signal.SIGCONT)
        for c in clients:
            equal(c.response().status, 200)
            c.close()
        equal(s.wait_exit(), 0)


def test_the_port_is_free_again_at_once():
    with Server() as s:
        c = Conn(s)
        c.ask("/healthz")
        c.response()
        port = s.port
        equal(s.stop(), 0)
        c.close()
    with Server(listen=["127.0.0.1:%d" % port]) as s:
        equal(s.port, port)
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))
