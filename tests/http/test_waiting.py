"""Requests that wait for a render: sharing it, leaving it, too many of them."""

import threading
import time

from harness import SLOW, SLOW_ARGS, Closed, Conn, Server, check_problem, equal, fresh, get


# Room for as many renders as a test likes, from one address.
ROOMY_ARGS = [*SLOW_ARGS, "--queue-seconds", "3600", "--client-share", "100"]
HEAVY = "/planet.gif?pixels=512&frames=120&type=terrestrial&seed="  # more than the second that the smallest queue holds


def ask_all(server, target, count):
    clients = [Conn(server) for _ in range(count)]
    for c in clients:
        c.ask(target)
    return clients


def test_200_requests_for_one_new_url_draw_once():
    with Server(*SLOW_ARGS, "--http-threads", "2") as s:
        target = "/planet.gif?frames=60&pixels=128&seed=" + fresh()
        clients = ask_all(s, target, 200)
        answers = [c.response() for c in clients]
        equal({a.status for a in answers}, {200})
        equal(len({a.body for a in answers}), 1)
        states = [a["X-Cache"] for a in answers]
        equal(states.count("miss"), 1)
        equal(states.count("miss") + states.count("coalesced") + states.count("hit"), 200)
        equal(s.ready()["queue"]["renders"], 1)
        for c in clients:
            c.close()


def test_killing_some_of_200_changes_nothing_for_the_rest():
    with Server(*SLOW_ARGS) as s:
        target = SLOW + fresh()
        clients = ask_all(s, target, 200)
        s.wait_ready(lambda r: r["cache"]["misses"] + r["cache"]["coalesced"] == 200)
        for i, c in enumerate(clients):
            if i % 3 == 0:  # the first, who began the render, among them
                c.reset() if i % 2 else c.close()
        rest = [c for i, c in enumerate(clients) if i % 3]
        answers = [c.response() for c in rest]
        equal({a.status for a in answers}, {200})
        equal(len({a.body for a in answers}), 1)
        state = s.ready()["queue"]
        equal((state["renders"], state["cancelled"]), (1, 0))
        for c in rest:
            c.ask("/planet?seed=1")
            equal(c.response().status, 200)
            c.close()


def test_the_last_waiter_that_leaves_cancels_the_render():
    with Server(*SLOW_ARGS) as s:
        target = "/planet.gif?pixels=512&frames=120&seed=" + fresh()
        clients = ask_all(s, target, 3)
        s.wait_ready(lambda r: r["queue"]["running"] == 1 and r["cache"]["coalesced"] == 2)
        clients[0].reset()
        clients[1].close()
        time.sleep(0.2)
        equal(s.ready()["queue"]["cancelled"], 0)
        clients[2].reset()
        began = time.monotonic()
        s.wait_ready(lambda r: r["queue"]["cancelled"] == 1 and r["queue"]["running"] == 0)
        assert time.monotonic() - began < 3, "the render went on"
        equal(get(s, "/planet?seed=" + fresh()).status, 200)


def test_a_hundred_clients_that_give_up_leave_the_server_free():
    with Server(*ROOMY_ARGS) as s:
        clients = [Conn(s) for _ in range(100)]
        for c in clients:
            c.ask(SLOW + fresh())
        s.wait_ready(lambda r: r["cache"]["misses"] == 100)
        for c in clients:
            c.reset()
        began = time.monotonic()
        equal(get(s, "/planet?seed=" + fresh()).status, 200)
        assert time.monotonic() - began < 4
        state = s.wait_ready(lambda r: r["queue"]["queued"] == 0 and r["queue"]["running"] == 0)
        equal(state["queue"]["cancelled"], 100)


def test_a_full_queue_is_503_with_retry_after_and_hits_are_answered():
    with Server(*SLOW_ARGS, "--queue-seconds", "1", "--client-share", "100") as s:
        hit = get(s, "/planet?seed=hot").body
        clients = [Conn(s) for _ in range(2)]
        for i, c in enumerate(clients):  # one is drawn, one fills the queue
            c.ask(HEAVY + fresh())
            s.wait_ready(lambda r: (r["queue"]["running"], r["queue"]["queued"]) == (1, i))
        with Conn(s) as c:
            for _ in range(5):
                c.ask("/planet?seed=" + fresh())
                refused = c.response()
                check_problem(refused, 503, "busy")
                assert 1 <= int(refused["Retry-After"]) <= 60
                equal(refused["Connection"], None)
                c.ask("/planet?seed=hot")
                answer = c.response()
                equal((answer.status, answer["X-Cache"], answer.body), (200, "hit", hit))
        equal(s.ready()["queue"]["shed"], 5)
        for c in clients:
            c.reset()
        s.wait_ready(lambda r: (r["queue"]["running"], r["queue"]["queued"]) == (0, 0))
        equal(get(s, "/planet?seed=" + fresh()).status, 200)  # there is room again


def test_probes_are_fast_while_saturated():
    with Server(*ROOMY_ARGS, "--http-threads", "1") as s:
        clients = [Conn(s) for _ in range(50)]
        for c in clients:
            c.ask(SLOW + fresh())
        s.wait_ready(lambda r: r["cache"]["misses"] == 50)
        times = []
        for target in ("/healthz", "/readyz") * 20:
            began = time.monotonic()
            equal(get(s, target).status, 200)
            times.append(time.monotonic() - began)
        for c in clients:
            c.reset()
        times.sort()
        assert times[len(times) // 2] < 0.05, times  # the median: this machine may be busy with other things


def test_a_client_that_hangs_up_after_its_answer_is_no_trouble():
    with Server() as s:
        for i in range(50):
            c = Conn(s)
            c.ask("/planet?pixels=8&seed=" + fresh())
            if i % 2:
                c.response()
            c.reset()
        equal(get(s, "/healthz").status, 200)


def test_misses_on_one_connection_follow_each_other():
    with Server() as s, Conn(s) as c:
        for _ in range(30):
            c.ask("/planet?pixels=16&seed=" + fresh())
            equal(c.response()["X-Cache"], "miss")


def test_waiting_requests_with_more_bytes_behind_them_are_answered():
    with Server(*SLOW_ARGS) as s, Conn(s) as c:
        c.ask(SLOW + fresh())
        time.sleep(0.1)
        c.ask("/healthz")  # comes while the first waits
        equal(c.response()["Content-Type"], "image/gif")
        equal(c.response().body, b"ok\n")


def test_many_threads_of_clients_that_come_and_go():
    with Server("--http-threads", "2", "--connections-per-address", "0", "--cache-memory", "200K") as s:
        wrong = []

        def client(number):
            try:
                for i in range(25):
                    target = "/planet?pixels=32&seed=%d" % ((number * 7 + i) % 40)
                    with Conn(s) as c:
                        c.ask(target)
                        if (number + i) % 5 == 0:
                            c.reset()
                            continue
                        answer = c.response()
                        if answer.status != 200:
                            wrong.append((target, answer.status))
            except (Closed, OSError, AssertionError) as error:
                wrong.append(repr(error))

        threads = [threading.Thread(target=client, args=(n,)) for n in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        equal(wrong, [])
        state = s.wait_ready(lambda r: r["queue"]["queued"] == 0 and r["queue"]["running"] == 0)
        assert state["cache"]["bytes"] <= 200 * 1024
