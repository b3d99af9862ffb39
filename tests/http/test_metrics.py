"""/metrics as Prometheus sees it, and what is made for it: the alert rules and the dashboard."""

import json
import os
import re
import shutil
import subprocess
import time

from harness import PATIENCE, SLOW, SLOW_ARGS, Conn, Server, Skip, check_problem, equal, fresh, get, post

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DASHBOARD = os.path.join(ROOT, "deploy/grafana/planetd.json")
ALERTS = os.path.join(ROOT, "deploy/prometheus/alerts.yml")
ALERTS_TEST = os.path.join(ROOT, "tests/prometheus/alerts_test.yml")


class Metered(Server):
    """A planetd that has an address for metrics, too."""

    def __init__(self, *args):
        super().__init__("--metrics-listen", "127.0.0.1:0", *args)
        self.metrics_port = int(self.wait_log(r"listening on http://\S+:(\d+)", 1).group(1))

    def text(self):
        response = get(self.metrics_port, "/metrics")
        equal(response.status, 200)
        return response.body.decode("utf-8")

    def numbers(self):
        """Series -> value."""
        lines = [line for line in self.text().splitlines() if not line.startswith("#")]
        return {series: float(value) for series, value in (line.rsplit(" ", 1) for line in lines)}

    def wait_numbers(self, condition):
        deadline = time.monotonic() + PATIENCE
        while True:
            numbers = self.numbers()
            if condition(numbers):
                return numbers
            assert time.monotonic() < deadline, numbers
            time.sleep(0.01)


def promtool(*args, text=None):
    program = shutil.which("promtool")
    if not program:
        raise Skip("no promtool (deploy/packages/test.txt names its package)")
    done = subprocess.run([program, *args], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=PATIENCE)
    assert done.returncode == 0 and "error" not in done.stdout.lower(), done.stdout
    return done.stdout


def mixture(server):
    """Requests of all kinds, good and bad."""
    seed = fresh()
    equal(get(server, "/planet?type=gas&pixels=16&seed=" + seed).status, 200)
    tag = get(server, "/planet?type=gas&pixels=16&seed=" + seed)["ETag"]
    equal(get(server, "/planet?type=gas&pixels=16&seed=" + seed, ["If-None-Match: " + tag]).status, 304)
    equal(get(server, "/planet.gif?type=moon&pixels=16&frames=2&seed=" + seed).status, 200)
    equal(get(server, "/planet?pixels=banana").status, 400)
    equal(post(server, {"type": "ice", "pixels": 16, "seed": seed}).status, 200)
    equal(get(server, "/planet/%22%5C%0A?seed=1").status, 404)
    equal(get(server, "/\"\\x?y=1").status, 404)
    equal(get(server, "/types", method="DELETE").status, 405)
    equal(get(server, "/planet", method="OPTIONS").status, 204)


def test_metrics_have_an_address_of_their_own():
    with Metered() as server:
        response = get(server.metrics_port, "/metrics")
        equal(response["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        equal(response["Cache-Control"], "no-store")
        assert response.body.endswith(b"\n")
        equal(get(server.metrics_port, "/metrics", method="HEAD").body, b"")
        for probe in ("/healthz", "/readyz"):
            equal(get(server.metrics_port, probe).status, 200)
        check_problem(get(server.metrics_port, "/planet?pixels=8"), 404, "not-found")
        check_problem(get(server, "/metrics"), 404, "not-found")
        check_problem(get(server.metrics_port, "/metrics", method="POST", body=b"{}"), 405)


def test_promtool_accepts_the_metrics_after_requests_of_all_kinds():
    with Metered() as server:
        promtool("check", "metrics", text=server.text())
        mixture(server)
        promtool("check", "metrics", text=server.text())


def test_answers_are_counted_by_route_and_status():
    with Metered() as server:
        mixture(server)
        numbers = server.numbers()
        answers = {series: n for series, n in numbers.items() if series.startswith("planetd_requests_total")}
        equal(answers.pop('planetd_requests_total{route="/metrics",status="200"}', 0), 0)  # this one is not answered yet
        equal(answers, {
            'planetd_requests_total{route="/planet",status="200"}': 3,
            'planetd_requests_total{route="/planet",status="304"}': 1,
            'planetd_requests_total{route="/planet",status="400"}': 1,
            'planetd_requests_total{route="/planet",status="204"}': 1,
            'planetd_requests_total{route="/planet.",status="200"}': 1,
            'planetd_requests_total{route="/planet/",status="404"}': 1,
            'planetd_requests_total{route="/types",status="405"}': 1,
            'planetd_requests_total{route="none",status="404"}': 1,
        })
        equal(server.numbers()['planetd_requests_total{route="/metrics",status="200"}'], 1)


def test_paths_that_clients_make_up_make_no_series():
    with Metered() as server:
        get(server, "/nothing")
        before = set(server.numbers())
        for i in range(50):
            get(server, "/nothing%d?a=%d" % (i, i))
        made = {series for series in server.numbers() if series not in before}
        assert made <= {'planetd_requests_total{route="/metrics",status="200"}'}, made


def test_renders_and_their_times_are_counted_by_body_and_format():
    with Metered() as server:
        mixture(server)
        numbers = server.numbers()
        equal(numbers["planetd_renders_total"], 3)
        for body, kind in (("gas", "png"), ("moon", "gif"), ("ice", "png")):
            for name in ("queue_wait", "render", "encode"):
                series = '{backend="cpu",body="%s",format="%s"}' % (body, kind)
                equal(numbers["planetd_%s_seconds_count%s" % (name, series)], 1)
                total = numbers["planetd_%s_seconds_sum%s" % (name, series)]
                assert 0 <= total < PATIENCE, (name, total)
                assert name == "queue_wait" or total > 0, (name, total)
        equal(sum(n for s, n in numbers.items() if s.startswith("planetd_render_seconds_count")), 3)
        assert numbers['planetd_cache_hits_total{tier="memory"}'] >= 1, numbers


def test_a_scrape_does_not_wait_for_a_render():
    with Metered(*SLOW_ARGS) as server, Conn(server) as first, Conn(server) as second:
        first.ask(SLOW + fresh())
        second.ask(SLOW + fresh())
        numbers = server.wait_numbers(lambda n: n['planetd_flights{state="running"}'] == 1
                                      and n['planetd_flights{state="queued"}'] == 1)
        assert first.quiet(0), "the slow request was done before: nothing was shown"
        equal(numbers["planetd_queue_length"], 1)
        equal(numbers["planetd_requests_in_flight"], 3)  # the scrape is the third
        assert numbers["planetd_connections"] >= 3, numbers["planetd_connections"]
        assert 0 < numbers["planetd_queue_work_seconds"] <= numbers["planetd_queue_work_max_seconds"]
        first.reset()
        second.reset()
        server.wait_numbers(lambda n: n["planetd_cancelled_total"] == 2 and n["planetd_requests_in_flight"] == 1)


def test_metrics_are_served_until_the_last_answer():
    with Metered(*SLOW_ARGS) as server, Conn(server) as slow:
        equal(server.numbers()["planetd_ready"], 1)
        slow.ask(SLOW + fresh())
        server.wait_numbers(lambda n: n['planetd_flights{state="running"}'] == 1)
        server.signal()
        numbers = server.wait_numbers(lambda n: n["planetd_draining"] == 1)
        equal(numbers["planetd_ready"], 0)
        equal(slow.response().status, 200)
        equal(server.wait_exit(), 0)


def test_a_lost_context_is_counted():
    with Metered("--backend", "fault") as server:
        for i in range(60):
            equal(get(server, "/planet?type=gas&pixels=8&seed=%s" % fresh()).status, 200)
        numbers = server.numbers()
        assert numbers["planetd_device_losses_total"] >= 1, numbers
        equal(numbers["planetd_self_test_ok"], 1)
        assert not any('backend="other"' in series for series in numbers)


# ---- what is made for the metrics ----

# Words of the query language, and labels, look like metrics; these are what we name ours.
METRIC = re.compile(r"\b(?:planetd|process)_[a-z_]+\b")


def metrics_told(text):
    """The names in the text, with what a histogram adds to them."""
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        names |= {name + end for end in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


def dashboard():
    with open(DASHBOARD, encoding="utf-8") as file:
        return json.load(file)


def test_each_metric_of_the_dashboard_and_the_alerts_exists():
    board = dashboard()
    expressions = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    expressions += [v["definition"] for v in board["templating"]["list"] if v["type"] == "query"]
    with open(ALERTS, encoding="utf-8") as file:
        expressions.append(re.sub(r"(summary|description): .*", "", file.read().split("\n", 4)[4]))
    used = {name for expression in expressions for name in METRIC.findall(expression)}
    assert len(used) > 30, used
    with Metered() as server:
        told = metrics_told(server.text())
    assert used <= told, "nothing is called %s" % ", ".join(sorted(used - told))


def test_each_metric_is_on_the_dashboard():
    with open(DASHBOARD, encoding="utf-8") as file:
        shown = set(METRIC.findall(file.read()))
    with Metered() as server:
        told = set(re.findall(r"^# TYPE (\S+) ", server.text(), re.M))
    missing = {name for name in told if name not in shown and name + "_bucket" not in shown}
    equal(missing, {"planetd_draining", "planetd_queue_length"})  # ready and flights show the same


def test_the_dashboard_is_one_that_grafana_can_import():
    board = dashboard()
    equal(board["uid"], "planetd")
    variables = {v["name"]: v for v in board["templating"]["list"]}
    equal(variables["datasource"]["type"], "datasource")
    equal(variables["datasource"]["query"], "prometheus")
    source = {"type": "prometheus", "uid": "${datasource}"}
    ids, cells = set(), set()
    for panel in board["panels"]:
        assert panel["id"] not in ids and panel["title"], panel
        ids.add(panel["id"])
        place = panel["gridPos"]
        covered = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                   for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not covered & cells, "panels overlap: " + panel["title"]
        cells |= covered
        if panel["type"] == "row":
            continue
        equal(panel["datasource"], source)
        assert panel["targets"], panel["title"]
        for target in panel["targets"]:
            equal(target["datasource"], source)
            for name in re.findall(r"\$(?!__)\{?(\w+)", target["expr"]):
                assert name in variables, (panel["title"], name)
            assert target["expr"].count("(") == target["expr"].count(")"), target["expr"]


def test_promtool_accepts_the_expressions_of_the_dashboard():
    values = {"$__rate_interval": "5m", "$job": "planetd", "$instance": ".*"}
    rules = []
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for name, value in values.items():
                expression = expression.replace(name, value)
            rules.append({"record": "panel:%d%s" % (panel["id"], target["refId"]), "expr": expression})
    # JSON is YAML.
    promtool("check", "rules", "--lint=none", "/dev/stdin",
             text=json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))


def test_promtool_accepts_the_alerts_and_each_is_raised_when_it_should():
    promtool("check", "rules", ALERTS)
    promtool("test", "rules", ALERTS_TEST)
