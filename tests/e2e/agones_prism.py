#!/usr/bin/env python3
"""The client of Agones' sidecar is held to Agones' contract, and so is the fake sidecar of the other tests: between both stands
`prism proxy --errors` with Agones' own documents (tests/data/agones), which answers a request or an answer that breaks
them with an error of its own. Two runs: counters and lists on the stable paths, and below /v1beta1.

usage: agones_prism.py BINARY_DIR SOURCE_DIR [NAME...]"""
import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fake_agones import FakeAgones
from programs import check, main

SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
TOOLS = os.path.join(SOURCE, "deploy", "tools")
PRISM = os.path.join(TOOLS, "node_modules", ".bin", "prism")
NODE = os.path.join(TOOLS, "node_modules", ".bin", "node")


def contract(counted):
    """One document of Agones' two: Prism takes one, and no dots in the names of path parameters."""
    def read(name):
        with open(os.path.join(SOURCE, "tests", "data", "agones", name + ".swagger.json"), encoding="utf-8") as file:
            return json.load(file)
    both, beta = read("sdk"), read("beta")
    both["definitions"].update(beta["definitions"])
    for path, methods in beta["paths"].items():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    path = path.replace("{%s}" % parameter["name"], "{name}")
                    parameter["name"] = "name"
                # `required` names the parameter itself: generated so, and nothing that a body could have.
                parameter.get("schema", {}).pop("required", None)
        path = path if counted == "beta" else path[len("/v1beta1"):]
        both["paths"].setdefault(path, {}).update(methods)

    def close(schema):  # what the contract does not name is an error
        if isinstance(schema, dict):
            if "properties" in schema and "additionalProperties" not in schema and "$ref" not in schema:
                schema["additionalProperties"] = False
            for value in schema.values():
                close(value)
        elif isinstance(schema, list):
            for value in schema:
                close(value)
    close(both["definitions"])
    close(both["paths"])
    return both


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prism:
    def __init__(self, document, upstream, folder):
        path = os.path.join(folder, "agones.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        self.port = free_port()
        self.log = open(os.path.join(folder, "prism.log"), "w+")
        self.process = subprocess.Popen(
            [NODE, PRISM, "proxy", "--errors", "--host", "127.0.0.1", "--port", str(self.port), path, f"http://127.0.0.1:{upstream}"],
            stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(600):
            if "Prism is listening" in self.text():
                return
            check(self.process.poll() is None, "prism ended: " + self.text())
            time.sleep(0.05)
        check(False, "prism does not listen: " + self.text())

    def text(self):
        with open(self.log.name, encoding="utf-8") as log:
            return log.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()


class Front(http.server.BaseHTTPRequestHandler):
    """Sends the stream to the sidecar itself, since Prism passes on whole answers alone, and all else through Prism. Notes what
    Prism finds."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        streams = self.path.startswith("/watch/")
        peer = http.client.HTTPConnection("127.0.0.1", self.server.sidecar if streams else self.server.prism, timeout=60)
        peer.request(self.command, self.path, body or None, {"Content-Type": "application/json"} if body else {})
        answer = peer.getresponse()
        self.close_connection = True
        try:
            if streams:
                self.send_response(answer.status)
                self.send_header("Connection", "close")
                self.end_headers()
                while line := answer.readline():
                    self.wfile.write(line)
                    self.wfile.flush()
                return
            text = answer.read()
            violations = answer.getheader("sl-violations")
            if answer.status >= 400 and "stoplight.io/prism" in text.decode(errors="replace"):
                violations = text.decode(errors="replace")
            if violations:
                self.server.violations.append((self.command, self.path, body.decode(), violations))
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            pass
        finally:
            peer.close()

    do_GET = do_POST = do_PUT = do_PATCH = pass_on


def front(prism, sidecar):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Front)
    server.daemon_threads = True
    server.prism, server.sidecar, server.violations = prism, sidecar, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def whole_life(programs, folder, counted):
    test = os.path.join(os.path.dirname(programs.orrery), "test_server")
    with FakeAgones(counted=counted) as sidecar, Prism(contract(counted), sidecar.port, folder) as prism:
        server = front(prism.port, sidecar.port)
        environment = dict(os.environ, ORRERY_AGONES_SDK=f"127.0.0.1:{server.server_port}")
        run = subprocess.run([test, "-tc=a whole life told to the sidecar*", "--no-skipped-summary"], env=environment,
                             capture_output=True, text=True, timeout=120)
        server.shutdown()
        server.server_close()
        # An unknown path is what the client tries first with a sidecar of /v1beta1.
        broken = [one for one in server.violations if "NO_PATH_MATCHED" not in one[3]]
        check(run.returncode == 0 and " 1 passed" in run.stdout, run.stdout + run.stderr + str(broken))
        check(not broken, f"against the contract: {broken}")
        if counted == "stable":
            check(not server.violations, f"unknown paths: {server.violations}")
        below = "" if counted == "stable" else "/v1beta1"
        for method, path in (("POST", "/ready"), ("POST", "/allocate"), ("POST", "/health"), ("POST", "/shutdown"),
                             ("PUT", "/metadata/label"), ("PATCH", below + "/counters/rooms"), ("GET", below + "/lists/players"),
                             ("PATCH", below + "/lists/players"), ("POST", below + "/lists/players:addValue"),
                             ("POST", below + "/lists/players:removeValue")):
            check(sidecar.count(method, path) > 0, f"{method} {path} was not asked: {sidecar.asked}")
        check(sidecar.asked[-1][:2] == ("POST", "/shutdown"), f"the last request is {sidecar.asked[-1]}")
        check(sidecar.counters["rooms"]["count"] == 0, str(sidecar.counters))
        check(sidecar.labels["agones.dev/sdk-draining"] == "true", str(sidecar.labels))


def stable(programs, folder):
    whole_life(programs, folder, "stable")


def beta(programs, folder):
    whole_life(programs, folder, "beta")


def the_proxy_finds_faults(_, folder):
    """What the other tests rely on: a request and an answer that break the contract are seen."""
    with FakeAgones() as sidecar, Prism(contract("stable"), sidecar.port, folder) as prism:
        server = front(prism.port, sidecar.port)

        def send(method, path, body):
            peer = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
            peer.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            status = peer.getresponse().status
            peer.close()
            return status, len(server.violations)
        check(send("PATCH", "/counters/rooms", {"capacity": "5"}) == (200, 0), f"a good request: {server.violations}")
        status, found = send("PATCH", "/counters/rooms", {"capacity": 5})  # a number where a string must be
        check(status == 422 and found == 1, f"a number for a string: {status} {found}")
        status, found = send("PUT", "/metadata/label", {"key": "a", "vaule": "b"})
        check(found == 2, f"an unknown field: {status} {found}")
        sidecar.lists["players"]["values"] = [7]
        status, found = send("POST", "/lists/players:addValue", {"value": "a"})
        check(found == 3, f"an answer with a number in a list of strings: {status} {found}")
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    subprocess.run([os.path.join(TOOLS, "install")], check=True)
    main([the_proxy_finds_faults, stable, beta])
