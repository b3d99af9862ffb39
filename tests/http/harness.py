"""What the HTTP tests share: a running planetd, a client on a bare socket, and a few helpers.

The client reads and writes bytes itself, because the tests are about what is on the wire: a library would hide, repair
or refuse what they send.
"""

import ctypes
import json
import os
import re
import select
import signal
import socket
import subprocess
import threading
import time

BINARY = "build/planetd"
PATIENCE = 60  # seconds; nothing here takes a tenth of it unless it hangs, or a sanitizer slows it down

# About 8 million pixels: a second or more on one thread with the narrowest kernels, many frames to stop between.
SLOW = "/planet.gif?pixels=512&frames=30&type=terrestrial&seed="
SLOW_ARGS = ["--cpu-mask", "sse2", "--render-threads", "1"]


def die_with_parent():
    """Runs in the child: no server is left when the tests are killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


class Server:
    """A planetd on a port of its own. Use it in a `with`: it is killed at the end, whatever happens."""

    def __init__(self, *args, listen=("127.0.0.1:0",), wait=True, through=()):
        """`through`: words of another program that starts the binary; with `wait`, each of `listen` is TCP."""
        command = list(through) + [BINARY, "--backend", "cpu"]
        for address in listen:
            command += ["--listen", address]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PLANETD_")}
        self.process = subprocess.Popen(command + list(args), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=clean, preexec_fn=die_with_parent)
        self.expected = 0  # exit status; sanitizers make it another one
        self.lines = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.ports = []
        if wait:
            try:
                for i in range(len(listen)):
                    url = self.wait_log(r"listening on http://\S+:(\d+)", i)
                    self.ports.append(int(url.group(1)))
                self.port = self.ports[0]
            except Exception:
                self.process.kill()
                raise

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                self.changed.notify_all()

    def wait_log(self, pattern, skip=0, timeout=PATIENCE):
        """The match of the (skip+1)th line of the log that fits."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while True:
                found = [m for m in (re.search(pattern, line) for line in self.lines) if m]
                if len(found) > skip:
                    return found[skip]
                left = deadline - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    raise AssertionError("the log never said %r:\n%s" % (pattern, "\n".join(self.lines[-20:])))
                self.changed.wait(min(left, 0.1))

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait_exit(self, timeout=PATIENCE):
        return self.process.wait(timeout)

    def wait_failure(self, status):
        """For one that must not start: its exit status, and all that it said."""
        self.expected = status
        equal(self.wait_exit(), status)
        self.reader.join(PATIENCE)
        return "\n".join(self.lines)

    def stop(self):
        """SIGTERM, and the exit status that must follow."""
        self.signal()
        return self.wait_exit()

    def ready(self):
        return json.loads(get(self, "/readyz").body)

    def wait_ready(self, condition, timeout=PATIENCE):
        """Polls /readyz until condition(it) holds."""
        deadline = time.monotonic() + timeout
        while True:
            state = self.ready()
            if condition(state):
                return state
            assert time.monotonic() < deadline, state
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            if kind is None:
                self.signal()
                try:
                    self.process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
                    raise AssertionError("planetd did not end after SIGTERM")
            else:
                self.process.kill()
                self.process.wait()
        self.reader.join(5)
        self.process.stderr.close()
        if kind is None:
            assert self.process.returncode == self.expected, "planetd ended with %d:\n%s" % (
                self.process.returncode, "\n".join(self.lines[-60:]))


_shared = None


def shared():
    """The server for tests that need no flags of their own."""
    global _shared
    if _shared is None or _shared.process.poll() is not None:
        _shared = Server()
    return _shared


def end_shared():
    if _shared is not None:
        with _shared:
            pass


class Response:
    def __init__(self, status, headers, body, raw_head):
        self.status = status
        self.headers = headers  # list of (lower-case name, value)
        self.body = body
        self.raw_head = raw_head

    def __getitem__(self, name):
        values = [v for n, v in self.headers if n == name.lower()]
        assert len(values) <= 1, "%s sent %d times" % (name, len(values))
        return values[0] if values else None

    def names(self):
        return {n for n, _ in self.headers}

    def json(self):
        return json.loads(self.body.decode("utf-8"))


class Closed(Exception):
    """The server closed the connection before an answer was complete."""


class Conn:
    """One connection. Close it with `with` or close()."""

    def __init__(self, server, timeout=PATIENCE, family=socket.AF_INET, port=None, window=None):
        host = "127.0.0.1" if family == socket.AF_INET else "::1"
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(timeout)
        self.socket.connect((host, port or (server if isinstance(server, int) else server.port)))
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def ask(self, target, method="GET", headers=(), body=None, version="HTTP/1.1"):
        """Sends a request; headers are "Name: value" texts."""
        lines = ["%s %s %s" % (method, target, version), "Host: test"] + list(headers)
        if body is not None and not any(h.lower().startswith("content-length") for h in headers):
            lines.append("Content-Length: %d" % len(body))
        self.send("\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + (body or b""))

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Closed(self.buffer[:200])
        self.buffer += data

    def response(self, head=False):
        """Reads one answer. `head`: it answers a HEAD."""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        raw, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = raw.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.1 (\d{3}) .+", lines[0])
        assert match, lines[0]
        status = int(match.group(1))
        headers = []
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers.append((name.lower(), value.strip()))
        response = Response(status, headers, b"", raw)
        length = response["Content-Length"]
        if not (head or status == 304 or status == 204 or status < 200):
            if response["Transfer-Encoding"] == "chunked":
                assert length is None, raw
                response.body = b"".join(self.chunks())
                return response
            assert length is not None, raw
            response.body = self._take(int(length))
        return response

    def _take(self, length):
        while len(self.buffer) < length:
            self._more()
        data, self.buffer = self.buffer[:length], self.buffer[length:]
        return data

    def chunks(self):
        """Reads a chunked body, one chunk after the other."""
        while True:
            while b"\r\n" not in self.buffer:
                self._more()
            size, self.buffer = self.buffer.split(b"\r\n", 1)
            data = self._take(int(size, 16) + 2)
            assert data.endswith(b"\r\n"), data[-20:]
            if len(data) == 2:
                return
            yield data[:-2]

    def closed_within(self, seconds):
        """True if the server ends the connection, sending nothing more."""
        ready, _, _ = select.select([self.socket], [], [], seconds)
        if not ready:
            return False
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        assert not data, data[:300]
        return True

    def quiet(self, seconds):
        """True if nothing comes and nothing is closed."""
        return not self.buffer and not select.select([self.socket], [], [], seconds)[0]

    def reset(self):
        """Ends the connection at once, as a killed client does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def get(server, target, headers=(), method="GET", body=None, version="HTTP/1.1"):
    """One request on a connection of its own."""
    with Conn(server) as c:
        c.ask(target, method, headers, body, version)
        return c.response(head=method == "HEAD")


def post(server, body, headers=(), target="/planet"):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = [] if any(h.lower().startswith("content-type") for h in headers) else ["Content-Type: application/json"]
    return get(server, target, kind + list(headers), "POST", text)


class Skip(Exception):
    """A test that cannot run here; the text says why."""


_seed = 0


def fresh():
    """A seed that no test has used."""
    global _seed
    _seed += 1
    return "%x%x" % (os.getpid(), _seed)


def check_problem(response, status, kind=None, parameter=None):
    """An error as it must be: status, problem+json, never cached, readable by any page."""
    assert response.status == status, (response.status, response.body[:400])
    assert response["Content-Type"] == "application/problem+json", response["Content-Type"]
    assert response["Cache-Control"] == "no-store", response["Cache-Control"]
    assert response["Access-Control-Allow-Origin"] == "*"
    document = response.json()
    assert document["status"] == status, document
    assert document["instance"] == response["X-Request-Id"], document
    if kind:
        assert document["type"] == "urn:planetd:problem:" + kind, document
    if parameter:
        assert document["parameter"] == parameter, document
    return document


def equal(a, b):
    assert a == b, "%r is not %r" % (a, b)
