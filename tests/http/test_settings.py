"""The binary's settings, rights and units, seen from outside."""

import os
import re
import shutil
import subprocess
import tempfile

import harness
from harness import Server, Skip, equal, get

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEY = "00112233445566778899aabbccddeeff"


def run(*args, through=(), **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PLANETD_")}
    clean.update(environment)
    return subprocess.run([*through, harness.BINARY, *args], capture_output=True, text=True, timeout=harness.PATIENCE,
                          env=clean)


def loaded(text):
    """What an env file sets: docker takes every byte behind the first '=', systemd the same unless there are quotes or
    backslashes."""
    values = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            assert re.fullmatch(r"PLANETD_[A-Z_]+=([^ '\"\\]([^'\"\\]*[^ '\"\\])?)?", line), line
            name, values[name] = line.split("=", 1)[0], line.split("=", 1)[1]
    return values


def test_a_wrong_variable_is_named_and_ends_with_2():
    for name, value in (("PLANETD_TRUSTED_PROXY", "10.0.0.0/33"), ("PLANETD_REDIS", "http://x"), ("PLANETD_SIGN_KEYS", "abc"),
                        ("PLANETD_METRICS_LISTEN", "x"), ("PLANETD_CACHE_DIR", "/a\"b"), ("PLANETD_SANDBOX", "on"),
                        ("PLANETD_CACHE_DIR", "/" + 255 * "a")):
        done = run(**{name: value})
        equal((name, done.returncode, done.stdout), (name, 2, ""))
        assert done.stderr.startswith("planetd: %s: " % name) and done.stderr.count("\n") == 1, done.stderr


def test_secrets_are_never_written():
    secret = "hunter2"
    for args, environment in ((["--sign-keys", secret], {}), (["--sign-keys", KEY + secret], {}), ([], {"PLANETD_SIGN_KEYS": secret}),
                              (["--redis", "redis://u:%s@:x" % secret], {}), (["--sign-key=" + secret], {}),
                              (["--sign-keys", KEY, secret], {})):
        done = run(*args, **environment)
        equal((args, done.returncode), (args, 2))
        assert secret not in done.stdout + done.stderr, done.stderr
    done = run("--print-config", PLANETD_SIGN_KEYS=KEY, PLANETD_REDIS="redis://user:%s@cache:6379/1" % secret)
    equal(done.returncode, 0)
    assert KEY not in done.stdout and secret not in done.stdout, done.stdout
    assert "# PLANETD_SIGN_KEYS is set and not shown\n" in done.stdout, done.stdout
    assert "# PLANETD_REDIS=redis://user:***@cache:6379/1 " in done.stdout, done.stdout


def test_what_print_config_writes_can_be_loaded():
    first = run("--print-config", "--listen", "[::1]:0,unix:/run/my planets.sock", "--cache-dir", "/var/cache/a b$#%",
                "--trusted-proxy", "10.0.0.0/8, fd00::/8,unix", "--cache-memory", "1G", "--metrics-listen", "localhost:1")
    equal(first.returncode, 0)
    second = run("--print-config", **loaded(first.stdout))
    equal(second.stdout, first.stdout)


def test_the_env_file_holds_the_defaults():
    with open(os.path.join(ROOT, "deploy/planetd.env")) as file:
        text = file.read()
    commented = loaded(text)
    equal(commented, {})  # as it is delivered it changes nothing
    all_of_them = loaded(re.sub(r"(?m)^#(PLANETD_)", r"\1", text))
    plain = run("--print-config")
    equal(set(all_of_them), set(loaded(plain.stdout)))
    equal(run("--print-config", **all_of_them).stdout, plain.stdout)


def quota_folder():
    """A control group that gives nine tenths of a processor."""
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"):
        folder = "%s/planetd-test.%d" % (top, os.getpid())
        try:
            os.mkdir(folder)
        except OSError:
            continue
        for name, text in (("cpu.max", "90000 100000"), ("cpu.cfs_quota_us", "90000")):
            try:
                with open(os.path.join(folder, name), "r+") as file:
                    file.write(text)
                return folder
            except OSError:
                pass
        os.rmdir(folder)
    raise Skip("no control group with a CPU quota can be made here")


def test_threads_follow_the_control_group_s_quota():
    folder = quota_folder()
    try:
        enter = ("sh", "-c", 'echo $$ > "%s/cgroup.procs" && exec "$@"' % folder, "sh")
        done = run("--print-config", through=enter)
        if "cgroup.procs" in done.stderr:
            raise Skip("no process can be moved to another control group here")
        values = loaded(done.stdout)
        equal((values["PLANETD_HTTP_THREADS"], values["PLANETD_RENDER_THREADS"]), ("1", "1"))
    finally:
        os.rmdir(folder)


# ---- Rights ----

def status_of(server):
    """One dictionary for each thread."""
    threads = []
    for thread in os.listdir("/proc/%d/task" % server.process.pid):
        with open("/proc/%d/task/%s/status" % (server.process.pid, thread)) as file:
            threads.append(dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line))
    return threads


def test_every_thread_has_given_up_its_rights_once_the_log_says_so():
    with Server() as s:
        line = s.wait_log("event=rights ").string
        threads = status_of(s)
        assert len(threads) >= 3, threads
        equal({t["NoNewPrivs"] for t in threads}, {"1"})
        if "filter=on" in line:
            equal({t["Seccomp"] for t in threads}, {"2"})
        else:
            assert "reason=" in line and ("sanitizer" in line or "libseccomp" in line), line
        equal(get(s, "/planet?seed=1").status, 200)


def test_the_sandbox_can_be_left_out():
    with open("/proc/self/status") as file:
        own = file.read()
    if "NoNewPrivs:\t0" not in own or "Seccomp:\t0" not in own:
        raise Skip("the tests themselves run with fewer rights")
    with Server("--sandbox", "off") as s:
        s.wait_log("event=rights filter=off")
        equal({(t["NoNewPrivs"], t["Seccomp"]) for t in status_of(s)}, {("0", "0")})


def test_a_named_software_gl_draws_behind_the_filter():
    with Server("--backend", "gl-software", wait=False) as s:
        try:
            s.port = int(s.wait_log(r"listening on http://\S+:(\d+)").group(1))
        except AssertionError:
            if not any("event=no_renderer" in line for line in s.lines):
                raise
            s.expected = s.wait_exit()
            raise Skip("no software GL on this machine")
        s.wait_log("event=rights ")
        for kind in ("terrestrial", "gas"):
            equal(get(s, "/planet.gif?frames=5&type=" + kind).status, 200)


# ---- Units ----

def units():
    """A folder with the units, which start the binary under test."""
    if not shutil.which("systemd-analyze"):
        raise Skip("no systemd-analyze")
    folder = tempfile.mkdtemp(prefix="planetd-test-")
    for name in ("planetd.service", "planetd.socket"):
        with open(os.path.join(ROOT, "deploy", name)) as file:
            text = file.read().replace("/usr/local/bin/planetd", os.path.abspath(harness.BINARY))
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    return folder


def analyze(*args):
    return subprocess.run(["systemd-analyze", *args], capture_output=True, text=True, timeout=harness.PATIENCE,
                          env=dict(os.environ, SYSTEMD_PAGER="cat"))


def test_the_systemd_units_have_no_mistake():
    folder = units()
    try:
        done = analyze("verify", "--man=no", *(os.path.join(folder, name) for name in sorted(os.listdir(folder))))
        equal((done.returncode, [line for line in done.stderr.splitlines() if folder in line]), (0, []))
    finally:
        shutil.rmtree(folder)


def test_the_systemd_service_is_exposed_little():
    folder = units()
    try:
        done = analyze("security", "--offline=true", "--threshold=20", os.path.join(folder, "planetd.service"))
        if "unrecognized option" in done.stderr:
            raise Skip("systemd-analyze is too old for security --offline")
        equal((done.returncode, done.stdout[-200:] if done.returncode else ""), (0, ""))
    finally:
        shutil.rmtree(folder)
