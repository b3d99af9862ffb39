"""Clients for test_overload.py, as processes of their own, so that none waits for another.

usage: overload.py load PORT SECONDS STILLS_A_SECOND ANIMATIONS_A_SECOND   asks, whatever the answers: an open loop
       overload.py probe PORT SECONDS                                      hits and /healthz

Each prints one JSON object when it is through. Both mostly sleep: with two processors they must not be what is measured.
"""

import json
import os
import re
import resource
import select
import socket
import sys
import time

ADDRESSES = ["127.0.0.%d" % n for n in range(2, 8)]  # the first one asks for as much as the others together
STILL = "/planet?pixels=512&type=terrestrial&seed="
ANIMATION = "/planet.gif?pixels=256&frames=60&type=terrestrial&seed="
HEAD = re.compile(rb"HTTP/1\.1 (\d{3}) ")
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.I)
RETRY = re.compile(rb"\r\nretry-after: (\d+)\r\n", re.I)
KIND = re.compile(rb"\r\ncontent-type: ([^\r]+)\r\n", re.I)
PATIENCE = 120


def connect(port, address):
    s = socket.socket()
    s.bind((address, 0))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.connect(("127.0.0.1", port))
    return s


def parse(data):
    """(status, kind, retry after, bytes of the whole answer), or None while the head isn't there."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = bytes(data[:end + 2])
    retry = RETRY.search(head)
    return (int(HEAD.match(head).group(1)), KIND.search(head).group(1).decode(),
            int(retry.group(1)) if retry else None, end + 4 + int(LENGTH.search(head).group(1)))


class Load:
    def __init__(self, port):
        self.port = port
        self.idle = {a: [] for a in ADDRESSES}
        self.busy = {}  # file descriptor -> [socket, address, bytes so far, what was asked, parsed head]
        self.poll = select.epoll()
        self.sent = 0
        self.answers = {}  # "still 200" -> how many
        self.wrong = []
        self.retry = []

    def ask(self, address, kind, target):
        s = self.idle[address].pop() if self.idle[address] else connect(self.port, address)
        s.sendall(b"GET %s HTTP/1.1\r\nHost: test\r\n\r\n" % target.encode())
        self.busy[s.fileno()] = [s, address, bytearray(), kind, None]
        self.poll.register(s.fileno(), select.EPOLLIN)
        self.sent += 1

    def answered(self, entry):
        status, kind, retry, size = entry[4]
        key = "%s %d" % (entry[3], status)
        self.answers[key] = self.answers.get(key, 0) + 1
        if status in (429, 503):
            self.retry.append(retry)
            if kind != "application/problem+json" or not retry:
                self.wrong.append([status, kind, retry])
        elif status != 200 or kind != ("image/png" if entry[3] == "still" else "image/gif"):
            self.wrong.append([status, kind, retry])
        if len(entry[2]) != size:
            self.wrong.append(["more than one answer", bytes(entry[2][size:size + 80]).decode("latin-1")])

    def take(self, fd):
        entry = self.busy[fd]
        data = entry[0].recv(1 << 20)
        entry[2] += data
        if entry[4] is None:
            entry[4] = parse(entry[2])
        if data and (entry[4] is None or len(entry[2]) < entry[4][3]):
            return
        self.poll.unregister(fd)
        del self.busy[fd]
        if not data:
            self.wrong.append(["closed", entry[3]])
            entry[0].close()
            return
        self.answered(entry)
        self.idle[entry[1]].append(entry[0])

    def wait(self, seconds):
        for fd, _ in self.poll.poll(max(seconds, 0)):
            self.take(fd)

    def stray(self):
        """Connections on which something came that nobody asked for. That the server closed idle ones is its right."""
        time.sleep(0.2)
        stray = 0
        for s in [s for sockets in self.idle.values() for s in sockets]:
            try:
                stray += bool(s.recv(100, socket.MSG_DONTWAIT))
            except (BlockingIOError, ConnectionResetError):
                pass
        return stray


def load(port, seconds, stills, animations):
    """Sends what is due by the clock, however slow the server is."""
    it = Load(port)
    rates = {"still": (STILL, stills), "animation": (ANIMATION, animations)}
    sent = dict.fromkeys(rates, 0)
    begin = time.monotonic()
    while (now := time.monotonic() - begin) < seconds:
        for kind, (target, rate) in rates.items():
            while sent[kind] < now * rate:
                n = sent[kind]
                address = ADDRESSES[0] if n % 2 else ADDRESSES[1 + n // 2 % (len(ADDRESSES) - 1)]
                it.ask(address, kind, "%s%d-%s-%d" % (target, os.getpid(), kind, n))
                sent[kind] += 1
        it.wait(0.005)
    stopped = time.monotonic()
    while it.busy and time.monotonic() < stopped + PATIENCE:
        it.wait(1)
    return {"sent": it.sent, "answers": it.answers, "unanswered": len(it.busy), "wrong": it.wrong[:20],
            "stray": it.stray(), "retry_least": min(it.retry, default=0), "retry_most": max(it.retry, default=0),
            "stopped": stopped, "drained_s": time.monotonic() - stopped}


class Client:
    def __init__(self, port, address):
        self.socket = connect(port, address)

    def get(self, target):
        """(status, seconds)"""
        began = time.monotonic()
        self.socket.sendall(b"GET %s HTTP/1.1\r\nHost: test\r\n\r\n" % target.encode())
        data = bytearray()
        while not (head := parse(data)) or len(data) < head[3]:
            more = self.socket.recv(1 << 20)
            if not more:
                raise ConnectionError("closed")
            data += more
        return head[0], time.monotonic() - began


def probe(port, seconds):
    """`late` is how much longer than asked the naps took: what this machine adds to any time that is measured here."""
    client = Client(port, "127.0.0.9")
    result = {"hit": [], "health": [], "late": []}
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        for kind, target in (("hit", "/planet?seed=hot"), ("health", "/healthz")):
            status, took = client.get(target)
            assert status == 200, (kind, status)
            result[kind].append(took)
        before = time.monotonic()
        time.sleep(0.01)
        result["late"].append(time.monotonic() - before - 0.01)
    return result


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    role, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    if role == "load":
        result = load(port, seconds, float(sys.argv[4]), float(sys.argv[5]))
    else:
        result = probe(port, seconds)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
