"""The disk cache and the shared cache, through the running binary: what it serves, survives and counts."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import harness
from harness import Server, Skip, equal, fresh, get

SLOWER = 10 if os.environ.get("SANITIZE") else 1


def targets(count):
    mark = fresh()
    return ["/planet?type=gas&pixels=24&seed=%s-%d" % (mark, i) for i in range(count)]


def ask_all(server, asked):
    return [get(server, t) for t in asked]


def wait_written(server, tier, count):
    server.wait_ready(lambda state: state[tier]["entries"] >= count)


def pictures_in(folder):
    return sorted(os.path.join(d, f) for d, _, names in os.walk(folder) for f in names if "-" in f)


def test_the_disk_cache_survives_a_restart_and_kill_9():
    asked = targets(20)
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--cache-dir", folder + "/planets", "--cache-memory", "0")
        with Server(*flags) as s:
            first = ask_all(s, asked)
            equal({a["X-Cache"] for a in first}, {"miss"})
            wait_written(s, "disk", 20)
        with Server(*flags) as s:
            again = ask_all(s, asked)
            equal([a.body for a in again], [a.body for a in first])
            equal({a["X-Cache"] for a in again}, {"disk"})
            assert "cache;desc=disk, lookup;dur=" in again[0]["Server-Timing"], again[0]["Server-Timing"]
            s.signal(signal.SIGKILL)
            s.expected = -signal.SIGKILL
            s.wait_exit()
        with Server(*flags) as s:
            equal({a["X-Cache"] for a in ask_all(s, asked)}, {"disk"})


def test_a_damaged_file_is_drawn_again_and_counted_and_never_served():
    asked = targets(6)
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--cache-dir", folder + "/planets", "--cache-memory", "0")
        with Server(*flags) as s:
            first = ask_all(s, asked)
            wait_written(s, "disk", 6)
            files = pictures_in(folder)
            equal(len(files), 6)
            open(files[0], "wb").close()  # emptied
            os.truncate(files[1], os.path.getsize(files[1]) // 2)
            with open(files[2], "r+b") as f:  # one bit
                f.seek(-40, 2)
                byte = f.read(1)
                f.seek(-1, 1)
                f.write(bytes([byte[0] ^ 1]))
            with open(files[3], "rb") as a, open(files[4], "rb") as b:  # exchanged
                three, four = a.read(), b.read()
            for path, data in ((files[3], four), (files[4], three)):
                with open(path, "wb") as f:
                    f.write(data)
            os.unlink(files[5])
            again = ask_all(s, asked)
            equal([a.body for a in again], [a.body for a in first])
            equal({a["X-Cache"] for a in again}, {"miss"})
            equal(s.ready()["disk"]["corrupt"], 5)
            wait_written(s, "disk", 6)
            equal({a["X-Cache"] for a in ask_all(s, asked)}, {"disk"})


def test_a_full_disk_costs_only_the_cache():
    asked = targets(40)
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True).returncode:
            raise Skip("no right to mount a small file system")
        try:
            with Server("--cache-dir", folder + "/planets", "--cache-memory", "0") as s:
                first = ask_all(s, asked)
                equal({a.status for a in first}, {200})
                s.wait_log("event=disk_cache_write_failed")
                equal([a.body for a in ask_all(s, asked)], [a.body for a in first])
                equal(get(s, "/readyz").status, 200)
        finally:
            subprocess.run(["umount", folder], check=True)


class Redis:
    def __init__(self, folder):
        if not shutil.which("redis-server"):
            raise Skip("no redis-server")
        self.path = folder + "/redis.sock"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--appendonly", "no"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=harness.die_with_parent)

    def command(self, *words):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(harness.PATIENCE)
            s.connect(self.path)
            s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
            return s.recv(65536)

    def keys(self):
        return [line for line in self.command(b"KEYS", b"planetd:*").split(b"\r\n") if line.startswith(b"planetd:")]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


def shared_flags(redis):
    return ("--redis", "unix://" + redis.path, "--cache-memory", "0")


def wait_keys(redis, count):
    deadline = time.monotonic() + harness.PATIENCE
    while len(redis.keys()) < count:
        assert time.monotonic() < deadline, redis.keys()
        time.sleep(0.01)


def up(state):
    return state["shared"]["up"]


def test_what_one_replica_draws_another_has_from_the_shared_cache():
    asked = targets(20)
    with tempfile.TemporaryDirectory() as folder, Redis(folder) as redis:
        with Server(*shared_flags(redis)) as a, Server(*shared_flags(redis), "--cache-dir", folder + "/planets") as b:
            a.wait_ready(up)
            b.wait_ready(up)
            first = ask_all(a, asked)
            wait_keys(redis, 20)
            again = ask_all(b, asked)
            equal([x.body for x in again], [x.body for x in first])
            equal({x["X-Cache"] for x in again}, {"shared"})
            wait_written(b, "disk", 20)  # and what was shared is on its own disk now
            equal({x["X-Cache"] for x in ask_all(b, asked)}, {"disk"})


def test_a_corrupt_shared_entry_is_drawn_again_and_counted():
    asked = targets(3)
    with tempfile.TemporaryDirectory() as folder, Redis(folder) as redis, Server(*shared_flags(redis)) as s:
        s.wait_ready(up)
        first = ask_all(s, asked)
        wait_keys(redis, 3)
        for key in redis.keys():
            redis.command(b"SETRANGE", key, b"70", b"rubbish")
        again = ask_all(s, asked)
        equal([x.body for x in again], [x.body for x in first])
        equal({x["X-Cache"] for x in again}, {"miss"})
        equal(s.ready()["shared"]["corrupt"], 3)


def test_a_paused_shared_cache_delays_answers_by_its_time_limit_and_none_after_the_breaker_opens():
    limit_ms = 100 * SLOWER
    with tempfile.TemporaryDirectory() as folder, Redis(folder) as redis:
        with Server(*shared_flags(redis), "--redis-timeout", str(limit_ms)) as s:
            s.wait_ready(up)
            redis.process.send_signal(signal.SIGSTOP)
            lookups = []
            for target in targets(40):
                answer = get(s, target)
                equal(answer.status, 200)
                parts = dict(p.split(";dur=") for p in answer["Server-Timing"].split(", ") if ";dur=" in p)
                lookups.append(float(parts.get("lookup", 0)))
            assert max(lookups) < limit_ms + 50 * SLOWER, lookups
            assert not up(s.ready()), s.ready()["shared"]
            slow = [ms for ms in lookups if ms > limit_ms / 2]
            assert len(slow) <= 8, lookups  # three open it; connections that are made anew may each cost one more
            redis.process.send_signal(signal.SIGCONT)
            s.wait_ready(up)


def test_a_killed_shared_cache_is_used_again_when_it_is_back():
    asked = targets(5)
    with tempfile.TemporaryDirectory() as folder, Redis(folder) as redis, Server(*shared_flags(redis)) as s:
        s.wait_ready(up)
        redis.process.kill()
        redis.process.wait()
        equal({x.status for x in ask_all(s, asked)}, {200})
        s.wait_ready(lambda state: not up(state))
        redis.start()
        s.wait_ready(up)
        ask_all(s, asked)
        wait_keys(redis, 5)
        equal({x["X-Cache"] for x in ask_all(s, asked)}, {"shared"})


def test_no_password_is_in_log_or_readiness():
    with Server("--redis", "redis://user:hunter2@127.0.0.1:1/0") as s:
        s.wait_log("event=shared_cache")
        assert "hunter2" not in get(s, "/readyz").body.decode()
        assert not any("hunter2" in line for line in s.lines), s.lines
