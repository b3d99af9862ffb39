"""Requests a second and latencies over loopback, beside nginx serving the same bytes as a file.

usage: serve.py PLANETD [latency|misses|hits]...   (needs wrk and nginx; Python's standard library only)
Each comparison takes turns (planetd, nginx with sendfile on, nginx with sendfile off), ROUNDS times, and the medians
and their ratios are printed. wrk shares the processors with the servers, so ratios are what counts.
"""
import http.client
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "3"))
CPUS = len(os.sched_getaffinity(0))
# Half of the processors serve, the other half are left to wrk.
WORKERS = int(os.environ.get("BENCH_WORKERS", str(max(1, CPUS // 2))))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


def start_planetd(binary, *flags):
    port = free_port()
    process = subprocess.Popen(
        [binary, "--listen", f"127.0.0.1:{port}", "--backend", "cpu", "--log-requests", "none",
         "--connections-per-address", "0", *flags])
    wait_for(port)
    return process, port


def start_nginx(folder, sendfile):
    port = free_port()
    conf = os.path.join(folder, f"nginx-{sendfile}.conf")
    with open(conf, "w", encoding="ascii") as f:
        f.write(f"""
worker_processes {WORKERS};
pid {folder}/nginx-{sendfile}.pid;
error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile {sendfile};
    tcp_nopush on;
    open_file_cache max=100;
    keepalive_requests 100000000;
    types {{ image/png png; }}
    server {{ listen 127.0.0.1:{port} reuseport; root {folder}/www; }}
}}
daemon off;
""")
    process = subprocess.Popen(["nginx", "-p", folder, "-c", conf], stderr=subprocess.DEVNULL)
    wait_for(port)
    return process, port


UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


def wrk(port, path, connections, seconds=SECONDS, script=None, threads=max(1, CPUS - WORKERS)):
    """Returns requests a second, p50 and p99 in milliseconds, answers other than 2xx."""
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency"]
    if script:
        command += ["-s", script]
    out = subprocess.run(command + [f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s*([\d.]+)", out).group(1))
    percentile = {p: float(v) * UNITS[u] for p, v, u in re.findall(r"\s+(50|99)%\s+([\d.]+)(us|ms|s|m)\b", out)}
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    return rate, percentile["50"], percentile["99"], int(bad.group(1)) if bad else 0


def cpu_ns(pids):
    """Processor time that all threads of these processes have used."""
    return sum(int(open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii").read().split()[0])
               for pid in pids for thread in os.listdir(f"/proc/{pid}/task"))


def children(process):
    return [int(p) for p in subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()]


def hits(binary, folder):
    path = "/planet.png?type=terrestrial&seed=7"
    planetd, port = start_planetd(binary, "--http-threads", str(WORKERS))
    body = urllib.request.urlopen(f"http://127.0.0.1:{port}{path}").read()
    os.makedirs(f"{folder}/www")
    with open(f"{folder}/www/planet.png", "wb") as f:
        f.write(body)
    on, on_port = start_nginx(folder, "on")
    off, off_port = start_nginx(folder, "off")
    time.sleep(0.3)
    servers = [("planetd", port, path, [planetd.pid]), ("on", on_port, "/planet.png", children(on)),
               ("off", off_port, "/planet.png", children(off))]
    print(f"# cached hits, {len(body)} bytes, {WORKERS} serving thread(s) each, keep-alive, median of {ROUNDS} rounds of {SECONDS} s")
    print("# us: processor time of the server for each request, which wrk, on the same processors, can't hide")
    print("# connections  planetd/s  p50 ms  p99 ms      us   nginx on/s  ratio     us  ratio  nginx off/s  ratio     us  ratio")
    try:
        for connections in (16, 64, 256, 1000):
            taken = {name: [] for name, *_ in servers}
            for _ in range(ROUNDS):
                for name, at, what, pids in servers:
                    before = cpu_ns(pids)
                    rate, p50, p99, bad = wrk(at, what, connections)
                    used = (cpu_ns(pids) - before) / 1e3 / (rate * SECONDS)
                    taken[name].append((rate, used, p50, p99, bad))
            median = {n: [statistics.median(t[i] for t in v) for i in range(4)] for n, v in taken.items()}
            rate, used, p50, p99 = median["planetd"]
            text = f"{connections:13d} {rate:10.0f} {p50:7.2f} {p99:7.2f} {used:7.2f}"
            for name in ("on", "off"):
                other_rate, other_used = median[name][:2]
                text += f" {other_rate:12.0f} {rate / other_rate:6.2f} {other_used:6.2f} {other_used / used:6.2f}"
            print(text, flush=True)
            if any(t[4] for t in taken["planetd"]):
                print("  answers other than 2xx were counted:", [t[4] for t in taken["planetd"]])
    finally:
        for process in (planetd, on, off):
            process.send_signal(signal.SIGTERM)
            process.wait()


MISSES = """
local thread_count = 0
function setup(thread) thread:set("id", thread_count); thread_count = thread_count + 1 end
function init(args) seed = 0 end
function request()
    seed = seed + 1
    return wrk.format("GET", "/planet.png?type=" .. "%s" .. "&seed=" .. "%s" .. "-" .. id .. "-" .. seed)
end
"""


def misses(binary, folder):
    print(f"# distinct 64-pixel planets a second, PNG, cold cache, 32 connections, {CPUS} render threads, "
          f"median of {ROUNDS} rounds of {SECONDS} s")
    print("# type          planets/s  p50 ms  p99 ms")
    planetd, port = start_planetd(binary)
    try:
        for body in ("terrestrial", "desert", "ice", "lava", "gas", "moon"):
            taken = []
            for i in range(ROUNDS):
                script = os.path.join(folder, "misses.lua")
                with open(script, "w", encoding="ascii") as f:
                    f.write(MISSES % (body, i))
                taken.append(wrk(port, "/", 32, script=script))
            print(f"{body:15s} {statistics.median(t[0] for t in taken):9.0f} {statistics.median(t[1] for t in taken):7.2f} "
                  f"{statistics.median(t[2] for t in taken):7.2f}", flush=True)
    finally:
        planetd.send_signal(signal.SIGTERM)
        planetd.wait()


def one_at_a_time(binary):
    """Cold and cached latency of a client that waits for each answer."""
    print("# one client, one request at a time: ms        cold p50  cold p99  cached p50  cached p99")
    planetd, port = start_planetd(binary)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for name, query, count in (("64 px PNG", "/planet.png?type=terrestrial&seed=%s", 400),
                                   ("256 px PNG", "/planet.png?type=terrestrial&pixels=256&seed=%s", 100),
                                   ("96 x 96 x 120 GIF", "/planet.gif?type=terrestrial&pixels=96&seed=%s", 40)):
            times = ([], [])
            for seed in range(count):
                for warm in (0, 1):
                    begin = time.perf_counter()
                    connection.request("GET", query % seed)
                    connection.getresponse().read()
                    times[warm].append((time.perf_counter() - begin) * 1e3)
            percentile = [sorted(t)[int(len(t) * p)] for t in times for p in (0.5, 0.99)]
            print(f"{name:45s} {percentile[0]:9.2f} {percentile[1]:9.2f} {percentile[2]:11.2f} {percentile[3]:11.2f}", flush=True)
    finally:
        planetd.send_signal(signal.SIGTERM)
        planetd.wait()


def main():
    missing = [tool for tool in ("wrk", "nginx") if not shutil.which(tool)]
    if missing:
        raise SystemExit("missing: " + ", ".join(missing))
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for part in (sys.argv[2:] or ["latency", "misses", "hits"]):
            {"latency": lambda: one_at_a_time(sys.argv[1]), "misses": lambda: misses(sys.argv[1], folder),
             "hits": lambda: hits(sys.argv[1], folder)}[part]()


main()
