#!/usr/bin/python3
"""Ten minutes of everything at once: soak.py PLANETD [SECONDS]

One planetd whose graphics context is lost every 40th draw (--backend fault), with a small memory cache, a small disk cache
and a shared cache, is asked by many clients for valid, invalid, aborted and half-sent requests, while its Redis is stopped,
paused and started and files of its disk cache are damaged. It must not crash, not leak, and every picture must have the
bytes that another planetd, on the plain cpu backend and without caches, gives for the same address.

Last line: "N passed, N failed". A missing redis-server is said, and the rest runs without it.
"""

import collections
import hashlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import harness
from harness import Closed, Conn, Server, get

CLIENTS = 12
TYPES = ("terrestrial", "desert", "ice", "lava", "gas", "moon", "ocean", "dry", "rock", "storm", "eyeball", "city", "asteroid", "star", "black_hole",
         "galaxy", "comet")
BAD = ("/planet?pixels=7", "/planet?pixels=NaN", "/planet?type=nosuch", "/planet?seed=%zz", "/planet?seed=a%00b", "/planet?seed=1&seed=2",
       "/planet?palette=red", "/planet.gif?pixels=1024&frames=240&zoom=32", "/nothing", "/planet/gas/1.bmp", "/planet?rev=999",
       "/planet?" + "x" * 5000)


def addresses(count, rng):
    """Requests whose answers are known; small pictures, so that there are many."""
    made = []
    for i in range(count):
        q = "type=%s&seed=soak-%d&pixels=%d" % (rng.choice(TYPES), i, rng.choice((16, 32, 48, 64, 96)))
        if rng.random() < 0.3:
            q += "&rings=on"
        if rng.random() < 0.3:
            q += "&tilt=%d" % rng.randrange(-60, 60)
        if rng.random() < 0.25:
            made.append("/planet.gif?%s&frames=%d" % (q, rng.choice((4, 12, 30))))
        else:
            made.append("/planet.png?%s&zoom=%d" % (q, rng.choice((1, 1, 2, 4))))
    return made


class Tally:
    """What happened, and what must not have."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.wrong = []

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fault(self, sentence):
        with self.lock:
            self.wrong.append(sentence)


class Client(threading.Thread):
    """One client: does something at random, over and over."""

    def __init__(self, server, truth, tally, until, number):
        super().__init__(daemon=True)
        self.server, self.truth, self.tally, self.until = server, truth, tally, until
        self.rng = random.Random(number)
        self.targets = list(truth)

    def run(self):
        acts = ([self.known] * 10 + [self.hot] * 10 + [self.new] * 4 + [self.bad] * 2 + [self.head] + [self.not_modified] * 2 +
                [self.pipelined] * 2 + [self.abort] * 2 + [self.half] + [self.garbage])
        while time.monotonic() < self.until:
            act = self.rng.choice(acts)
            try:
                act()
            except (Closed, OSError) as error:
                self.tally.fault("%s: the connection broke: %r" % (act.__name__, error))
            except AssertionError as error:
                self.tally.fault("%s: %s" % (act.__name__, error))

    def check(self, target, response):
        if response.status in (429, 503):
            assert response["Retry-After"], "no Retry-After"
            self.tally.count("busy")
            return
        assert response.status == 200, "%s gave %d" % (target, response.status)
        assert hashlib.sha256(response.body).digest() == self.truth[target], "%s has other bytes (%s)" % (target, response["X-Cache"])
        self.tally.count("pictures")
        self.tally.count("from " + response["X-Cache"])

    def known(self):
        target = self.rng.choice(self.targets)
        self.check(target, get(self.server, target))

    def hot(self):
        with Conn(self.server) as c:
            for _ in range(self.rng.randrange(1, 30)):
                target = self.targets[int(len(self.targets) * self.rng.random() ** 4)]
                c.ask(target)
                self.check(target, c.response())

    def new(self):
        target = "/planet?type=random&seed=%x" % self.rng.getrandbits(60)
        response = get(self.server, target)
        assert response.status in (200, 429, 503), response.status
        assert response.status != 200 or response.body.startswith(b"\x89PNG"), "no PNG"
        self.tally.count("new seeds")

    def bad(self):
        response = get(self.server, self.rng.choice(BAD))
        assert 400 <= response.status < 500, response.status
        assert response["Cache-Control"] == "no-store"
        self.tally.count("refused")

    def head(self):
        response = get(self.server, self.rng.choice(self.targets), method="HEAD")
        assert response.status in (200, 429, 503), response.status
        self.tally.count("heads")

    def not_modified(self):
        target = self.rng.choice(self.targets)
        response = get(self.server, target)
        if response.status == 200:
            again = get(self.server, target, ["If-None-Match: " + response["ETag"]])
            assert again.status == 304, again.status
            self.tally.count("not modified")

    def pipelined(self):
        targets = [self.rng.choice(self.targets) for _ in range(self.rng.randrange(2, 8))]
        with Conn(self.server) as c:
            c.send("".join("GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % t for t in targets))
            for target in targets:
                self.check(target, c.response())
        self.tally.count("pipelines")

    def abort(self):
        with Conn(self.server) as c:
            c.ask("/planet.gif?type=gas&pixels=256&frames=60&seed=%x" % self.rng.getrandbits(60))
            time.sleep(self.rng.random() * 0.05)
            c.reset()
        self.tally.count("aborted")

    def half(self):
        with Conn(self.server) as c:
            c.send("POST /planet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"[:self.rng.randrange(1, 95)])
            time.sleep(self.rng.random() * 0.1)
        self.tally.count("half-sent")

    def garbage(self):
        with Conn(self.server) as c:
            c.send(bytes(self.rng.getrandbits(8) for _ in range(self.rng.randrange(1, 400))) + b"\r\n\r\n")
            c.socket.settimeout(20)
            try:
                c.socket.recv(4096)
            except OSError:
                pass
        self.tally.count("garbage")


class Redis:
    """A redis-server of our own, which can be killed, paused and started again."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "redis.sock")
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--appendonly", "no", "--maxmemory", "4mb",
             "--maxmemory-policy", "allkeys-lru"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=harness.die_with_parent)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def command(self, *words):
        """The raw answer, or b"" when there is none."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(2)
            s.connect(self.path)
            s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
            return s.recv(65536)

    def damage(self):
        """One entry becomes rubbish."""
        answer = self.command(b"RANDOMKEY").split(b"\r\n")
        if len(answer) > 1 and answer[1]:
            self.command(b"SETRANGE", answer[1], b"60", b"rubbish")


def damage_disk(folder, rng):
    """Some files are emptied, cut, changed in one byte, or removed."""
    files = [os.path.join(d, f) for d, _, names in os.walk(folder) for f in names if "-" in f or len(f) > 20]
    for path in rng.sample(files, min(8, len(files))):
        try:
            how, size = rng.randrange(4), os.path.getsize(path)
            if how == 0:
                os.unlink(path)
            elif how == 1:
                os.truncate(path, 0)
            elif how == 2:
                os.truncate(path, size // 2)
            elif size:
                with open(path, "r+b") as f:
                    f.seek(rng.randrange(size))
                    byte = f.read(1)
                    f.seek(-1, 1)
                    f.write(bytes([byte[0] ^ 0x10]))
        except OSError:
            pass  # evicted meanwhile


def rss_bytes(pid):
    with open("/proc/%d/statm" % pid, encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def harm(until, redis, disk):
    """Breaks something every few seconds."""
    rng = random.Random(7)
    while time.monotonic() < until - 5:
        time.sleep(3)
        damage_disk(disk, rng)
        if not redis:
            continue
        how = rng.randrange(4)
        try:
            if how == 0:
                redis.kill()
                time.sleep(2)
                redis.start()
            elif how == 1:
                redis.process.send_signal(signal.SIGSTOP)
                time.sleep(2)
                redis.process.send_signal(signal.SIGCONT)
            else:
                for _ in range(20):
                    redis.damage()
        except OSError:
            pass


def metric(text, start):
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(start))


def main():
    harness.BINARY = sys.argv[1]
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 600
    folder = tempfile.mkdtemp()
    tally, truth, passed, failed = Tally(), {}, 0, 0

    def judge(good, sentence):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        print("%s %s" % ("ok  " if good else "FAIL", sentence), flush=True)

    with Server("--cache-memory", "0", "--log-requests", "none") as reference:
        with Conn(reference) as c:
            for target in addresses(500, random.Random(1)):
                c.ask(target)
                answer = c.response()
                assert answer.status == 200, answer.body
                truth[target] = hashlib.sha256(answer.body).digest()

    redis = Redis(folder) if shutil.which("redis-server") else None
    if not redis:
        print("SKIP shared cache: no redis-server (deploy/packages/test.txt names it)")
    disk = os.path.join(folder, "disk")
    flags = ["--backend", "fault", "--cache-memory", "512K", "--cache-dir", disk, "--cache-disk", "2M", "--metrics-listen", "127.0.0.1:0",
             "--log-requests", "none", "--connections-per-address", "0", "--request-seconds", "5", "--client-share", "100"]
    if redis:
        flags += ["--redis", "unix://" + redis.path]
    server = Server(*flags, wait=False)
    with server:
        ports = [int(server.wait_log(r"listening on http://\S+:(\d+)", i).group(1)) for i in range(2)]
        server.port, metrics = ports
        if b"planetd_" in get(server, "/metrics").body:
            server.port, metrics = metrics, server.port
        until = time.monotonic() + seconds
        clients = [Client(server, truth, tally, until, i) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        harmer = threading.Thread(target=harm, args=(until, redis, disk), daemon=True)
        harmer.start()
        samples = []
        while time.monotonic() < until and server.process.poll() is None:
            samples.append(rss_bytes(server.process.pid))
            time.sleep(0.5)
        for client in clients:
            client.join(60)
        judge(not any(client.is_alive() for client in clients), "every client got its last answer")
        judge(server.process.poll() is None, "the process lives")
        text = get(metrics, "/metrics").body.decode()
    judge(server.process.returncode == 0, "it ended well after SIGTERM: exit status %s" % server.process.returncode)
    if redis:
        redis.process.send_signal(signal.SIGCONT)
        redis.kill()
    shutil.rmtree(folder)

    third = len(samples) // 3
    second, last = (sum(s) / len(s) for s in (samples[third:2 * third], samples[2 * third:]))
    judge(last <= second * 1.05, "no leak: mean RSS %.1f MiB in the second third, %.1f MiB in the last" % (second / 2**20, last / 2**20))
    for sentence, count in collections.Counter(tally.wrong).most_common(20):
        print("     %d x %s" % (count, sentence))
    judge(not tally.wrong, "%d things done, each answered as it must be" % sum(n for what, n in tally.counts.items() if not what.startswith("from ")))
    judge(tally.counts["pictures"] > 0, "%d pictures, each with the bytes of the reference" % tally.counts["pictures"])
    for name, start in (("contexts were lost and rebuilt", "planetd_device_losses_total"),
                        ("disk entries were found bad", 'planetd_cache_corrupt_total{tier="disk"}'),
                        ("disk entries were served", 'planetd_cache_hits_total{tier="disk"}')) + (
                            (("shared entries were served", 'planetd_cache_hits_total{tier="shared"}'),
                             ("shared entries were found bad", 'planetd_cache_corrupt_total{tier="shared"}')) if redis else ()):
        judge(metric(text, start) > 0, "%s: %d" % (name, metric(text, start)))
    print("# " + ", ".join("%s %d" % pair for pair in sorted(tally.counts.items())))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
