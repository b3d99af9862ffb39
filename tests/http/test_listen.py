"""Where it listens: several addresses, IPv6, unix sockets, sockets that were passed on."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile

import harness
from harness import SLOW, SLOW_ARGS, Conn, Server, Skip, equal, fresh, get

NOBODY = 65534


class UnixConn(Conn):
    def __init__(self, path, timeout=harness.PATIENCE):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.buffer = b""


class Folder:
    """A folder for sockets that goes when the test ends."""

    def __enter__(self):
        self.name = tempfile.mkdtemp(prefix="planetd-test-")
        return self

    def path(self, name="p.sock"):
        return os.path.join(self.name, name)

    def __exit__(self, *_):
        shutil.rmtree(self.name)


def unix_server(path, *args, **keywords):
    s = Server(*args, listen=("unix:" + path,), wait=False, **keywords)
    s.wait_log("listening on unix:" + path)
    return s


def through(**wish):
    here = os.path.dirname(os.path.abspath(__file__))
    return [sys.executable, os.path.join(here, "launch.py"), json.dumps(wish)]


def ask_unix(path, target="/healthz"):
    with UnixConn(path) as c:
        c.ask(target)
        return c.response()


def need_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
    except OSError as error:
        raise Skip("no IPv6 here: %s" % error)


def ask_port(port, family=socket.AF_INET):
    with Conn(port, family=family) as c:
        c.ask("/healthz")
        return c.response().status


# ---- TCP ----

def test_each_of_several_addresses_is_served():
    with Server(listen=("127.0.0.1:0", "127.0.0.1:0")) as s:
        assert s.ports[0] != s.ports[1]
        target = "/planet?seed=" + fresh()
        answers = []
        for port in s.ports:
            with Conn(port) as c:
                c.ask(target)
                answers.append(c.response())
        equal([a.status for a in answers], [200, 200])
        equal(answers[0].body, answers[1].body)
        equal([a["X-Cache"] for a in answers], ["miss", "hit"])  # one cache behind both


def test_ipv6_is_served_and_shown_in_brackets():
    need_ipv6()
    with Server(listen=("[::1]:0",)) as s:
        s.wait_log(r"http://\[::1\]:%d" % s.port)
        equal(ask_port(s.port, socket.AF_INET6), 200)


def test_every_ipv6_address_means_ipv6_alone():
    need_ipv6()
    with socket.socket() as ipv4:
        ipv4.bind(("0.0.0.0", 0))
        ipv4.listen(1)  # with IPv4 clients in its reach, the server could not have the port
        port = ipv4.getsockname()[1]
        with Server(listen=("[::]:%d" % port,)):
            equal(ask_port(port, socket.AF_INET6), 200)


def test_both_families_share_a_port_when_both_are_asked_for():
    need_ipv6()
    with Server(listen=("127.0.0.1:0",)) as s:  # for a port that is free on one of them
        port = s.port
    with Server(listen=("0.0.0.0:%d" % port, "[::]:%d" % port)):
        equal(ask_port(port), 200)
        equal(ask_port(port, socket.AF_INET6), 200)


def test_a_port_that_is_taken_is_said_and_ends_the_start():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        with Server(listen=("127.0.0.1:0", "127.0.0.1:%d" % taken.getsockname()[1]), wait=False) as s:
            said = s.wait_failure(1)
            assert "Address already in use" in said and ":%d" % taken.getsockname()[1] in said, said


def test_a_second_server_cannot_take_half_of_the_clients():
    with Server() as s:
        with Server(listen=("127.0.0.1:%d" % s.port,), wait=False) as second:
            assert "Address already in use" in second.wait_failure(1)
        equal(ask_port(s.port), 200)


def test_an_unknown_host_is_said_and_ends_the_start():
    with Server(listen=("no.such.host.invalid:1",), wait=False) as s:
        assert "no.such.host.invalid" in s.wait_failure(1)


def test_a_malformed_address_ends_the_start():
    for address in ("8080", "unix:relative.sock", "unix:/" + "a" * 107, "[::1]", ""):
        with Server(listen=(address,), wait=False) as s:
            said = s.wait_failure(2)
            assert "--listen" in said and "unix:/path of at most 107 bytes" in said, said


# ---- Unix sockets ----

def test_a_unix_socket_is_served_by_all_threads():
    with Folder() as f, unix_server(f.path(), "--http-threads", "4") as s:
        equal(stat.S_IMODE(os.lstat(f.path()).st_mode), 0o660)
        conns = [UnixConn(f.path()) for _ in range(60)]
        target = "/planet?seed=" + fresh()
        bodies = set()
        for _ in range(3):  # the same connections again and again
            for c in conns:
                c.ask(target)
            for c in conns:
                response = c.response()
                equal(response.status, 200)
                bodies.add(response.body)
        equal(len(bodies), 1)
        for c in conns:
            c.close()
        equal(s.stop(), 0)
        assert not os.path.exists(f.path()), "the file stayed"


def test_curl_fetches_over_a_unix_socket():
    if not shutil.which("curl"):
        raise Skip("no curl")
    with Folder() as f, unix_server(f.path("my planets.sock")):
        out = subprocess.run(["curl", "-sf", "--unix-socket", f.path("my planets.sock"), "http://planets/planet?seed=1"],
                             check=True, capture_output=True, timeout=harness.PATIENCE).stdout
        equal(out[:4], b"\x89PNG")


def test_unix_and_tcp_are_served_at_once():
    with Folder() as f, Server(listen=("unix:" + f.path(), "127.0.0.1:0"), wait=False) as s:
        port = int(s.wait_log(r"listening on http://\S+:(\d+)").group(1))
        equal(ask_unix(f.path()).status, 200)
        equal(ask_port(port), 200)


def test_the_longest_path_that_the_kernel_takes_is_served():
    with Folder() as f:
        path = f.path("a" * (107 - len(f.path(""))))
        equal(len(path), 107)
        with unix_server(path):
            equal(ask_unix(path).status, 200)


def test_the_socket_of_a_killed_server_is_taken_over():
    with Folder() as f:
        with unix_server(f.path()) as s:
            s.expected = -signal.SIGKILL
            s.signal(signal.SIGKILL)
            s.wait_exit()
        assert os.path.exists(f.path())
        with unix_server(f.path()):
            equal(ask_unix(f.path()).status, 200)


def test_the_socket_of_a_living_server_is_left_to_it():
    with Folder() as f, unix_server(f.path()):
        with Server(listen=("unix:" + f.path(),), wait=False) as second:
            said = second.wait_failure(1)
            assert "Address already in use" in said and f.path() in said, said
        equal(ask_unix(f.path()).status, 200)


def test_a_file_that_is_no_socket_is_never_removed():
    with Folder() as f:
        with open(f.path(), "w") as file:
            file.write("precious")
        with Server(listen=("unix:" + f.path(),), wait=False) as s:
            assert "no socket" in s.wait_failure(1)
        with open(f.path()) as file:
            equal(file.read(), "precious")


def test_a_folder_that_is_missing_or_forbidden_is_said():
    with Folder() as f:
        with Server(listen=("unix:" + f.path("no/p.sock"),), wait=False) as s:
            said = s.wait_failure(1)
            assert "No such file or directory" in said and f.path("no/p.sock") in said, said
        os.chmod(f.name, 0o555)
        start = through(uid=NOBODY) if os.getuid() == 0 else ()
        with Server(listen=("unix:" + f.path(),), wait=False, through=start) as s:
            s.expected = 1
            s.wait_exit()
            s.reader.join(harness.PATIENCE)
            said = "\n".join(s.lines)
            if "PermissionError" in said:
                raise Skip("the binary can't be started by a user without rights")
            assert "Permission denied" in said, said


def test_a_successor_may_start_while_the_predecessor_drains():
    with Folder() as f:
        with unix_server(f.path(), *SLOW_ARGS) as old, UnixConn(f.path()) as c:
            c.ask(SLOW + fresh())
            old.wait_log("event=renderer_ready")
            while json.loads(ask_unix(f.path(), "/readyz").body)["queue"]["running"] != 1:
                pass
            old.signal()
            old.wait_log("event=draining")
            while os.path.exists(f.path()):
                pass
            with unix_server(f.path()):
                equal(c.response().status, 200)  # from the old one
                equal(old.wait_exit(), 0)
                equal(ask_unix(f.path()).status, 200)  # the new one's file is still there


# ---- Sockets that were passed on, as by systemd ----

def passed_port(s, skip=0):
    return int(s.wait_log(r"listening on http://\S+:(\d+) \(passed on\)", skip).group(1))


def test_sockets_that_systemd_passes_are_served_in_place_of_the_default():
    with Server("--http-threads", "3", listen=(), wait=False, through=through(sockets=["127.0.0.1", "127.0.0.1"])) as s:
        ports = [passed_port(s), passed_port(s, 1)]
        s.wait_log("event=listen_left_out")
        conns = [Conn(port) for port in ports for _ in range(20)]
        for c in conns:
            c.ask("/planet?seed=1")
        equal({c.response().status for c in conns}, {200})
        for c in conns:
            c.close()
        assert not any(":8080" in line for line in s.lines), s.lines


def test_an_address_that_was_asked_for_is_served_beside_passed_sockets():
    with Server(wait=False, through=through(sockets=["127.0.0.1"])) as s:
        equal(ask_port(passed_port(s)), 200)
        equal(ask_port(int(s.wait_log(r"listening on http://\S+:(\d+)\"").group(1))), 200)


def test_a_unix_socket_that_was_passed_is_served_and_its_file_stays():
    with Folder() as f:
        with Server(listen=(), wait=False, through=through(sockets=[f.path()])) as s:
            s.wait_log(r"listening on unix:.* \(passed on\)")
            equal(ask_unix(f.path()).status, 200)
            equal(s.stop(), 0)
        assert os.path.exists(f.path()), "the file is systemd's"


def test_passed_ipv6_sockets_are_served():
    need_ipv6()
    with Server(listen=(), wait=False, through=through(sockets=["::1"])) as s:
        equal(ask_port(passed_port(s), socket.AF_INET6), 200)


def test_sockets_for_another_process_are_not_taken():
    with Server(through=through(sockets=["127.0.0.1"], pid="1")) as s:
        equal(ask_port(s.port), 200)
        assert not any("passed on" in line for line in s.lines), s.lines


def test_wrongly_passed_sockets_end_the_start():
    for wish in ({"fds": "x"}, {"fds": "2"}, {"fds": "17"}, {"pid": "me"}):
        with Server(wait=False, through=through(sockets=["127.0.0.1"], **wish)) as s:
            assert "LISTEN_FDS" in s.wait_failure(2), s.lines


def test_a_passed_socket_is_drained_like_any_other():
    with Server(*SLOW_ARGS, listen=(), wait=False, through=through(sockets=["127.0.0.1"])) as s:
        port = passed_port(s)
        with Conn(port) as c:
            c.ask(SLOW + fresh())
            while get(port, "/readyz").json()["queue"]["running"] != 1:
                pass
            s.signal()
            equal(c.response().status, 200)
            equal(s.wait_exit(), 0)
