"""Faults that services of this kind have had in public, each tried on ours."""

import concurrent.futures
import hashlib
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

import harness
from harness import Conn, Server, Skip, check_problem, equal, fresh, get, post

SANITIZED = bool(os.environ.get("SANITIZE"))


def rss_bytes(server):
    with open("/proc/%d/statm" % server.process.pid, encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_absurd_values_leave_every_worker_alive():
    absurd = ["/planet?light=1e30,0", "/planet?pixels=65536", "/planet.gif?frames=0", "/planet?palette=", "/planet?palette=ff0000",
              "/planet?scale=1e308", "/planet?tilt=-999999999999999999999", "/planet?shade_steps=2147483648", "/planet?phase=-0.0000001",
              "/planet?ring_angle=1e400", "/planet?background=%23ffffff%23", "/planet?layer=rings&type=moon&rings=off"]
    with Server("--render-threads", "2") as s:
        for target in absurd:
            for _ in range(10):
                answer = get(s, target)
                assert answer.status == 400, (target, answer.status)
        for _ in range(4):
            equal(get(s, "/planet?seed=" + fresh()).status, 200)
        equal(s.ready()["queue"]["running"], 0)


def test_every_spelling_of_a_format_meets_the_same_limit():
    over = "pixels=1024&frames=240"
    for answer in (get(harness.shared(), "/planet.gif?" + over), get(harness.shared(), "/planet?format=gif&" + over),
                   get(harness.shared(), "/planet?" + over, ["Accept: image/gif"]), get(harness.shared(), "/planet/gas/1.gif?" + over),
                   post(harness.shared(), {"format": "gif", "pixels": 1024, "frames": 240})):
        problem = check_problem(answer, 400)
        assert "33554432" in problem["detail"].replace(",", "").replace(" ", ""), problem


def test_the_largest_pictures_side_by_side_stay_within_the_stated_memory():
    """README: a render takes at most 64 MiB of indices, and what its encoder needs beside them."""
    if SANITIZED:
        raise harness.Skip("a sanitizer's shadow memory is not ours to bound")
    with Server("--render-threads", "2", "--cache-memory", "0") as s:
        before = rss_bytes(s)
        peak = [before]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(get, s, "/planet.gif?pixels=512&frames=128&type=gas&seed=" + fresh()) for _ in range(4)]
            while not all(a.done() for a in asked):
                peak.append(rss_bytes(s))
                time.sleep(0.01)
            for a in asked:
                equal(a.result().status, 200)
        grown = (max(peak) - before) / 2**20
        assert grown < 2 * 64 + 128, "%.0f MiB" % grown


def test_memory_does_not_grow_with_distinct_requests():
    if SANITIZED:
        raise harness.Skip("a sanitizer keeps what was freed, to see whether it is used")
    count = 20000
    with Server("--cache-memory", "0", "--log-requests", "none") as s:
        def ask(number):
            with Conn(s) as c:
                for i in range(count // 40):
                    body = ("terrestrial", "gas", "lava", "moon", "ice", "desert")[i % 6]
                    c.ask("/planet?type=%s&pixels=%d&seed=%s-%d" % (body, 8 + i % 40, number, i))
                    equal(c.response().status, 200)

        taken = []
        for part in range(4):
            with concurrent.futures.ThreadPoolExecutor(10) as pool:
                list(pool.map(ask, ["%s-%d-%d" % (fresh(), part, i) for i in range(10)]))
            taken.append(rss_bytes(s))
        assert taken[3] <= taken[1] * 1.05 + 2**20, taken


def test_lost_contexts_change_no_picture_and_none_of_theirs_is_kept():
    targets = ["/planet?type=%s&seed=%s" % (body, fresh()) for body in ("terrestrial", "gas", "moon", "lava") for _ in range(30)]
    truth = {t: hashlib.sha256(get(harness.shared(), t).body).digest() for t in targets}
    with Server("--backend", "fault") as s:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in range(2):  # the second time from the cache
                for target, answer in zip(targets, pool.map(lambda t: get(s, t), targets)):
                    equal(answer.status, 200)
                    equal(hashlib.sha256(answer.body).digest(), truth[target])
        state = s.ready()
        assert state["renderer"]["device_losses"] >= 3, state
        assert state["ready"], state


def test_64_distinct_renders_at_once_use_the_context_from_one_thread():
    """A context that is used from two threads gives EGL_BAD_ACCESS, or wrong pixels."""
    targets = ["/planet?pixels=48&type=%s&seed=%s" % (body, fresh()) for body in ("terrestrial", "gas") for _ in range(32)]
    with Server("--backend", "gl-software", wait=False, through=("env", "EGL_LOG_LEVEL=debug")) as s:
        found = s.wait_log(r"listening on http://\S+:(\d+)|event=no_renderer.*")
        if not found.group(1):
            s.expected = s.process.wait(harness.PATIENCE)
            print("SKIP 64 distinct renders at once: no software GL here")
            return
        s.port = int(found.group(1))
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            answers = list(pool.map(lambda t: get(s, t), targets))
        for target, answer in zip(targets, answers):
            equal(answer.status, 200)
            assert answer.body == get(harness.shared(), target).body, target
        equal(s.ready()["renderer"]["device_losses"], 0)
        equal(s.stop(), 0)
        s.reader.join(harness.PATIENCE)
        told = [line for line in s.lines if "EGL" in line]
        assert told, "EGL says nothing, so it would not tell of a wrong thread"
        equal([line for line in told if "BAD" in line], [])


def run_with(environment, *flags):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PLANETD_") and k != "DISPLAY"}
    clean.update(environment)
    return subprocess.run([harness.BINARY, "--listen", "127.0.0.1:0", *flags], env=clean, capture_output=True, text=True,
                          timeout=harness.PATIENCE)


def test_a_gpu_that_is_not_there_is_a_clear_refusal_and_auto_says_what_draws():
    with tempfile.TemporaryDirectory() as empty:
        for environment in ({}, {"EGL_PLATFORM": "x11"}, {"__EGL_VENDOR_LIBRARY_DIRS": empty}):
            refused = run_with(environment, "--backend", "gl")
            if refused.returncode == 0:
                print("SKIP a GPU that is not there: this machine has one")
                return
            assert re.search(r"event=no_renderer backend=\"gl\".* reason=", refused.stderr), refused.stderr
    with Server("--backend", "auto") as s:
        state = s.ready()["renderer"]
        equal(state["backend"], "cpu")
        assert state["reason"].startswith("gl: "), state
        assert any("renderer_ready" in line and 'backend="cpu"' in line for line in s.lines)


# A /dev of its own with a render node that only root and the group `video` may open; then a user who is neither.
DENIED_NODE = """
set -e
mkdir "$0/dev"
mount --bind /dev "$0/dev"
mount -t tmpfs none /dev
for name in null zero urandom; do
    : > "/dev/$name"
    mount --bind "$0/dev/$name" "/dev/$name"
done
mkdir /dev/dri /dev/shm
: > /dev/dri/renderD128
chgrp video /dev/dri/renderD128
chmod 660 /dev/dri/renderD128
cp "$1" "$0/planetd"
shift
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0/planetd" "$@"
"""


def test_a_render_node_without_rights_is_named_with_its_group_and_never_called_a_gpu():
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        raise Skip("no right to make a mount namespace")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        through = ("unshare", "--mount", "sh", "-c", DENIED_NODE, folder)
        with Server("--backend", "auto", through=through) as s:
            said = s.wait_log("no right to open /dev/dri/renderD128").string
            assert "(group video)" in said, said
            state = s.ready()
            equal(state["renderer"]["backend"], "cpu")
            assert "renderD128 (group video)" in state["renderer"]["reason"], state["renderer"]


def health(*flags, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PLANETD_")}
    clean.update(environment)
    return subprocess.run([harness.BINARY, "health", *flags], env=clean, capture_output=True, text=True, timeout=harness.PATIENCE)


def test_the_health_check_follows_the_settings_of_the_daemon():
    with Server() as s:
        equal(health("--listen", "127.0.0.1:%d" % s.port).returncode, 0)
        equal(health(PLANETD_LISTEN="0.0.0.0:%d" % s.port).returncode, 0)
        port = s.port
    gone = health("--listen", "127.0.0.1:%d" % port)
    equal(gone.returncode, 1)
    assert "planetd health: 127.0.0.1:%d: " % port in gone.stderr, gone.stderr
    equal(health("--listen", "nonsense").returncode, 2)


def test_the_health_check_finds_a_unix_socket():
    with tempfile.TemporaryDirectory() as folder:
        address = "unix:%s/planetd.sock" % folder
        with Server(listen=(address,), wait=False) as s:
            s.wait_log(r"listening on ")
            equal(health("--listen", address).returncode, 0)
        equal(health("--listen", address).returncode, 1)


def test_no_number_takes_nan_infinity_hex_blanks_or_overflow():
    bad = ("NaN", "inf", "-inf", "1e309", "0x10", "%D9%A3", "%205", "5px", "''", "99999999999999999999", "1e", ".", "--1")
    numbers = [p["name"] for p in get(harness.shared(), "/types").json()["parameters"] if p["kind"] == "number"]
    assert len(numbers) >= 20, numbers
    with Conn(harness.shared()) as c:
        for name in numbers:
            for value in bad:
                c.ask("/planet?%s=%s" % (name, value))
                answer = c.response()
                equal((name, value, answer.status), (name, value, 400))
                equal(answer.json()["parameter"], name)


def test_who_joins_after_the_first_has_left_shares_the_render():
    target = harness.SLOW + fresh()
    with Server(*harness.SLOW_ARGS) as s:
        a, b, c = Conn(s), Conn(s), Conn(s)
        for client in (a, b, c):
            client.ask(target)
        s.wait_ready(lambda state: state["cache"]["coalesced"] == 2)
        a.reset()
        with Conn(s) as d:
            d.ask(target)
            bodies = {client.response().body for client in (b, c, d)}
        b.close()
        c.close()
        equal(len(bodies), 1)
        equal(s.ready()["queue"]["renders"], 1)
        equal(s.ready()["queue"]["cancelled"], 0)


def test_more_idle_clients_than_are_allowed_shut_nobody_out_for_long():
    with Server("--connections-per-address", "50", "--idle-seconds", "1") as s:
        idle = [Conn(s) for _ in range(60)]
        deadline = time.monotonic() + harness.PATIENCE
        while True:
            try:
                with Conn(s) as c:
                    c.ask("/planet?seed=" + fresh())
                    equal(c.response().status, 200)
                    break
            except (harness.Closed, OSError):
                assert time.monotonic() < deadline
        for c in idle:
            c.close()


class Unread:
    """A planetd whose log goes into a pipe that nobody reads."""

    def __init__(self, *args):
        self.read_end, write_end = os.pipe()
        self.port = free_port()
        self.process = subprocess.Popen([harness.BINARY, "--backend", "cpu", "--listen", "127.0.0.1:%d" % self.port, *args],
                                        stderr=write_end, preexec_fn=harness.die_with_parent)
        os.close(write_end)
        deadline = time.monotonic() + harness.PATIENCE
        while True:
            try:
                Conn(self.port).close()
                return
            except OSError:
                assert time.monotonic() < deadline and self.process.poll() is None
                time.sleep(0.01)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_a_log_that_nobody_reads_stops_nothing_and_is_told_what_it_missed():
    s = Unread("--log-requests", "all")
    try:
        with Conn(s.port) as c:
            for _ in range(2000):  # some 300 KB of lines; a pipe holds 64
                c.ask("/types", method="HEAD")
                equal(c.response(head=True).status, 200)
        equal(get(s, "/healthz").status, 200)
        os.set_blocking(s.read_end, False)
        text = os.read(s.read_end, 1 << 20).decode()
        assert text.count("event=request") > 100 and text.endswith("\n"), text[-300:]
        equal(get(s, "/types").status, 200)
        s.process.send_signal(signal.SIGTERM)
        equal(s.process.wait(harness.PATIENCE), 0)
        text = os.read(s.read_end, 1 << 20).decode()
        lost = re.search(r"level=warn event=log_lines_lost lines=(\d+)\n", text)
        assert lost and int(lost.group(1)) > 500, text
    finally:
        s.process.kill()
        s.process.wait()
        os.close(s.read_end)


def test_connections_beyond_the_limit_are_told_and_counted():
    with Server("--connections-per-address", "3", "--metrics-listen", "127.0.0.1:0") as s:
        metrics = int(s.wait_log(r"listening on http://\S+:(\d+)", 1).group(1))
        kept = [Conn(s) for _ in range(8)]
        line = s.wait_log("event=connections_refused").string
        assert "127.0.0.1" in line and "connections-per-address" in line, line
        deadline = time.monotonic() + harness.PATIENCE
        while "planetd_connections_refused_total 5\n" not in get(metrics, "/metrics").body.decode():
            assert time.monotonic() < deadline
        for c in kept:
            c.close()
