#!/usr/bin/env python3
"""The health port as its users see it: promtool and a Prometheus read its metrics, deploy/observe holds what it exports, and
`orrery health` tells a container's health check the truth. The test starts and ends what it needs, on loopback."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Failure, Server, check, main
from rooms import Rooms

SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
OBSERVE = os.path.join(SOURCE, "deploy", "observe")
METRIC = re.compile(r"\b((?:orrery|process)_[a-z_]+)\b")
SERIES_MOST = 200
PATIENCE_S = 60  # far more than any step needs


class Fake:
    """`health_fake`; `with` ends it whatever happens."""

    def __init__(self, programs):
        self.process = subprocess.Popen([os.path.join(os.path.dirname(programs.orrery), "health_fake")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        check(re.fullmatch(r"127\.0\.0\.1:\d+", self.address), "health_fake has no address: " + self.address)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        check(self.process.stdout.readline() == "done\n", "health_fake does not answer to " + line)

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE_S)


def promtool(*arguments, stdin=None):
    tool = shutil.which("promtool")
    check(tool, "there is no promtool: install prometheus (deploy/deps test)")
    result = subprocess.run([tool, *arguments], input=stdin, capture_output=True, text=True, timeout=PATIENCE_S)
    return result.returncode, result.stdout + result.stderr


def exported(text):
    """Families of the text, and the names that their samples have."""
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        names |= {name} if kind != "histogram" else {name + suffix for suffix in ("_bucket", "_sum", "_count")}
    check(len(names) > 30, f"only {len(names)} metrics")
    return names


def dashboard():
    with open(os.path.join(OBSERVE, "dashboard.json"), encoding="utf-8") as file:
        return json.load(file)


def expressions():
    return [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])]


def promtool_has_nothing_to_say_of_the_metrics(programs, folder):
    with Fake(programs) as fake:
        text = fake.get("/metrics")
    code, output = promtool("check", "metrics", stdin=text)
    check(code == 0 and not output.strip(), f"promtool check metrics: {code}: {output}")
    code, output = promtool("check", "metrics", stdin=text + "\n# TYPE bad_total gauge\nbad_total 1\n")
    check(code != 0, "promtool finds no fault in a gauge that is called a total")
    series = [line for line in text.splitlines() if line and not line.startswith("#")]
    check(len(series) <= 200, f"{len(series)} series")


def rules_and_configuration_are_valid_and_every_alert_fires_in_its_test(programs, folder):
    for command in (("check", "config", "prometheus.yml"), ("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        code, output = promtool(*command[:2], os.path.join(OBSERVE, command[2]))
        check(code == 0, f"promtool {' '.join(command)}: {output}")
    with open(os.path.join(OBSERVE, "alerts.yml"), encoding="utf-8") as file:
        alerts = re.findall(r"- alert: (\w+)", file.read())
    with open(os.path.join(OBSERVE, "alerts_test.yml"), encoding="utf-8") as file:
        tests = file.read()
    check(len(alerts) > 10, str(alerts))
    # alert_rule_test and exp_samples are lists of all that fire: promtool has failed where one of these does not.
    fires = set(re.findall(r'alertname="(\w+)", alertstate="firing"', tests)) | set(re.findall(
        r"alertname: (\w+)\n\s+eval_time: \w+\n\s+exp_alerts:\n", tests))
    check(fires == set(alerts), f"alerts without a test in which they fire: {sorted(set(alerts) - fires)}")
    # A rule that can never fire is found.
    for name in ("alerts.yml", "alerts_test.yml"):
        shutil.copy(os.path.join(OBSERVE, name), folder)
    path = os.path.join(folder, "alerts.yml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("orrery_recordings_failing > 0", "orrery_recordings_failing > 1000"))
    check(promtool("test", "rules", os.path.join(folder, "alerts_test.yml"))[0] != 0, "a changed rule passes its test")


def dashboard_and_rules_name_only_what_is_exported(programs, folder):
    with Fake(programs) as fake:
        known = exported(fake.get("/metrics"))
    for name in ("alerts.yml", "alerts_test.yml", "dashboard.json"):
        with open(os.path.join(OBSERVE, name), encoding="utf-8") as file:
            used = set(METRIC.findall(file.read()))
        check(len(used) > 5 and used <= known, f"{name} names what no server exports: {sorted(used - known)}")
    shown = {name for expression in expressions() for name in METRIC.findall(expression)}
    missing = {name for name in known if not name.endswith(("_sum", "_count")) and not name.startswith("process_v")} - shown
    check(missing <= {"orrery_room_clients_limit"}, f"the dashboard does not show {sorted(missing)}")
    page = dashboard()
    check(all(target["datasource"]["uid"] == "${datasource}" for panel in page["panels"] for target in panel.get("targets", [])),
          "a panel names a data source of its own")
    ids = [panel["id"] for panel in page["panels"]]
    check(len(ids) == len(set(ids)), "two panels have one id")


class Prometheus:
    """A Prometheus with deploy/observe's configuration and rules, which scrapes one health port each second."""

    def __init__(self, folder, target):
        check(shutil.which("prometheus"), "there is no prometheus: install it (deploy/deps test)")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.own = "127.0.0.1:%d" % free.getsockname()[1]
        shutil.copy(os.path.join(OBSERVE, "alerts.yml"), folder)
        with open(os.path.join(OBSERVE, "prometheus.yml"), encoding="utf-8") as file:
            text = file.read().replace("127.0.0.1:7791", target).replace("15s", "1s")
        settings = os.path.join(folder, "prometheus.yml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(text)
        self.log = os.path.join(folder, "prometheus.log")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["prometheus", "--config.file=" + settings, "--web.listen-address=" + self.own,
                 "--storage.tsdb.path=" + os.path.join(folder, "data")], stdout=log, stderr=log)

    def query(self, expression):
        url = f"http://{self.own}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it starts
                raise
            raise Failure(f"{expression}: {error.read().decode()}")

    def value(self, expression):
        result = self.query(expression)
        check(len(result) == 1, f"{expression}: {result}")
        return float(result[0]["value"][1])

    def wait_for(self, expression, what):
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            try:
                if self.query(expression):
                    return
            except urllib.error.URLError:
                pass
            time.sleep(0.2)
        with open(self.log, encoding="utf-8") as log:
            raise Failure(f"{what}: {log.read()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE_S)


def a_prometheus_scrapes_it_and_its_alert_fires(programs, folder):
    with Fake(programs) as fake:
        fake.say("failing 2")
        with Prometheus(folder, fake.address) as prometheus:
            prometheus.wait_for('up{job="orrery"} == 1', "the port is not scraped")
            prometheus.wait_for('ALERTS{alertname="OrreryRecordingFailing", alertstate="firing"}', "no alert fires")
            check(prometheus.value("orrery_clients") == 3, str(prometheus.query("orrery_clients")))
            prometheus.wait_for("rate(orrery_ticks_total[1m])", "a second scrape")
            # Each expression of the dashboard is one, and finds something.
            for expression in expressions():
                result = prometheus.query(expression.replace("$instance", ".*").replace("$__rate_interval", "1m"))
                check(result, "no sample: " + expression)


def a_prometheus_has_the_same_series_while_rooms_come_and_go(programs, folder):
    with Rooms(programs, folder) as server, Prometheus(folder, server.facts["health"]) as prometheus:
        prometheus.wait_for("orrery_rooms_open == 0", "a scrape without a room")
        for open_rooms in (1, 4, 2, 5, 0):
            rooms = server.ask("GET", "/v1/rooms", expect=200)["rooms"]
            for room in rooms[open_rooms:]:
                server.ask("POST", f"/v1/rooms/{room['id']}/stop", {"reason": "test"}, expect=202)
            for _ in range(open_rooms - len(rooms)):
                server.ask("POST", "/v1/rooms", {"scene": "pyramid"}, expect=201)
            prometheus.wait_for(f"orrery_rooms_open == {open_rooms}", f"a scrape with {open_rooms} rooms")
        check(prometheus.value("max_over_time(orrery_rooms_open[5m])") == 5, "not all rooms were seen")
        fewest, most = (prometheus.value(f"{which}_over_time(scrape_samples_scraped[5m])") for which in ("min", "max"))
        check(fewest == most <= SERIES_MOST, f"{fewest} to {most} samples a scrape")
        series = prometheus.value('count(last_over_time({job="orrery"}[5m]))')
        check(series <= SERIES_MOST, f"{series} series in all scrapes")


def health(programs, *options, environment=None):
    return subprocess.run([programs.orrery, "health", *options], capture_output=True, text=True, timeout=PATIENCE_S,
                          env={**os.environ, **(environment or {})})


def orrery_health_says_good_false_or_no_answer(programs, folder):
    with Fake(programs) as fake:
        port = fake.address.split(":")[1]
        result = health(programs, "--health-port", port)
        check(result.returncode == 0 and result.stdout == f"{fake.address}/livez: 200: live\n", str(result))
        fake.say("draining 1")
        check(health(programs, environment={"ORRERY_HEALTH_PORT": port}).returncode == 0, "a drain is no reason to kill")
        result = health(programs, "--url", "http://" + fake.address, "--ready", "--json")
        check(result.returncode == 1 and not json.loads(result.stdout)["good"], str(result))
        fake.say("stalled 12")
        result = health(programs, "--health-port", port)
        check(result.returncode == 1 and "503: stalled: a room had no tick for 12.0 s" in result.stdout, str(result))
    result = health(programs, "--health-port", port)
    check(result.returncode == 3 and "no answer" in result.stdout, str(result))


def orrery_health_waits_until_it_is_good(programs, folder):
    with Fake(programs) as fake:
        fake.say("draining 1")
        result = health(programs, "--url", fake.address, "--ready", "--wait-s", "0.3")
        check(result.returncode == 1, str(result))
        waits = subprocess.Popen([programs.orrery, "health", "--url", fake.address, "--ready", "--wait-s", str(PATIENCE_S)],
                                 stdout=subprocess.PIPE, text=True)
        fake.say("draining 0")
        out, _ = waits.communicate(timeout=PATIENCE_S)
        check(waits.returncode == 0 and "200" in out, out)


def orrery_health_waits_for_no_server_that_dawdles(programs, folder):
    """One that says nothing, and one that sends a byte now and then for ever."""
    done = threading.Event()

    def dawdle(listener, text):
        connection, _ = listener.accept()
        with connection:
            at = 0
            while not done.wait(0.05):
                try:
                    connection.sendall(text[at:at + 1])
                except OSError:
                    return
                at += 1

    with socket.socket() as silent, socket.socket() as slow:
        for listener in (silent, slow):
            listener.bind(("127.0.0.1", 0))
            listener.listen()
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000
        thread = threading.Thread(target=dawdle, args=(slow, head), daemon=True)
        thread.start()
        try:
            probes = [subprocess.Popen([programs.orrery, "health", "--health-port", str(listener.getsockname()[1])],
                                       stdout=subprocess.PIPE, text=True) for listener in (silent, slow)]
            for probe in probes:
                output, _ = probe.communicate(timeout=PATIENCE_S)
                check(probe.returncode == 3 and "no whole answer" in output, f"{probe.returncode}: {output}")
        finally:
            done.set()
            thread.join(PATIENCE_S)


def a_server_tells_its_ticks_and_that_it_drains(programs, folder):
    settings = os.path.join(folder, "a.toml")
    with open(settings, "w", encoding="utf-8") as file:
        file.write('tick_rate = 120\nlog_format = "json"\ndrain_s = 30\n')
    with Server(programs, os.path.join(folder, "rec"), "--config", settings) as server:
        check(server.facts["tick_hz"] == "120", str(server.facts))
        address = server.facts["health"]

        def value(name):
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=PATIENCE_S) as answer:
                text = answer.read().decode()
            return float(re.search(rf"^{name} (\S+)$", text, re.M).group(1)), text

        ticks, text = value("orrery_ticks_total")
        code, output = promtool("check", "metrics", stdin=text)
        check(code == 0 and not output.strip(), f"promtool check metrics: {code}: {output}")
        ends = time.monotonic() + PATIENCE_S
        while value("orrery_ticks_total")[0] <= ticks or value("orrery_ticks_recorded_total")[0] == 0:
            check(time.monotonic() < ends, "no tick is counted or recorded")
            time.sleep(0.1)
        check(value("orrery_rooms_open")[0] == 1 and value("orrery_ready")[0] == 1, "a room is not open")
        check(value("orrery_tick_duration_seconds_count")[0] > 0, "no tick has a duration")
        for option in ((), ("--ready",)):
            check(health(programs, "--url", address, *option).returncode == 0, "not well: " + str(option))
        # A player keeps the room from its end while it drains.
        drive = subprocess.Popen([programs.drive, "--token", server.token, "--auto", "--seconds", "30"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while value("orrery_players")[0] < 1:
                check(time.monotonic() < ends, "the player is not counted")
                time.sleep(0.1)
            server.process.send_signal(signal.SIGTERM)
            while health(programs, "--url", address, "--ready").returncode != 1:
                check(time.monotonic() < ends, "a server that drains is ready")
                time.sleep(0.1)
            check(value("orrery_draining")[0] == 1, "no drain in the metrics")
            check(health(programs, "--url", address).returncode == 0, "a server that drains is not live")
        finally:
            drive.kill()
            drive.wait()
        check(server.stop() == 0, "a second signal does not end the server with 0")
        lines = [json.loads(line) for line in server.log_text().splitlines()]
        check(lines, "no line of the log")
        for line in lines:
            check(list(line) == ["ts", "level", "msg"] and re.fullmatch(r"[-0-9]{10}T[:0-9]{8}\.\d{3}Z", line["ts"]), str(line))


main([promtool_has_nothing_to_say_of_the_metrics, rules_and_configuration_are_valid_and_every_alert_fires_in_its_test,
      dashboard_and_rules_name_only_what_is_exported, a_prometheus_scrapes_it_and_its_alert_fires,
      a_prometheus_has_the_same_series_while_rooms_come_and_go, orrery_health_says_good_false_or_no_answer,
      orrery_health_waits_until_it_is_good, orrery_health_waits_for_no_server_that_dawdles,
      a_server_tells_its_ticks_and_that_it_drains])
