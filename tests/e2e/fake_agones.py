"""Agones' sidecar without a cluster: an HTTP server with one GameServer object, which the same requests change as in Agones, and
a record of what was asked. For `orrery serve --agones` (AGONES_SDK_HTTP_PORT) and for AgonesAgent's test.

    with FakeAgones(counted="beta") as sidecar: ... sidecar.port, sidecar.state, sidecar.asked

A late sidecar is one whose start() comes later; stop() and start(port) is a restart. As a program it serves until it is
ended:  fake_agones.py [PORT]
"""
import http.server
import json
import sys
import threading

LIST_LIMIT = 1000


class FakeAgones:
    def __init__(self, counted="stable", state="Scheduled", counters=("rooms",), lists=("players",)):
        self.prefix = {"stable": "", "beta": "/v1beta1"}[counted]
        self.state = state
        self.labels, self.annotations = {}, {}
        self.deleted = 0
        self.counters = {name: {"count": 0, "capacity": 1} for name in counters}
        self.lists = {name: {"capacity": 10, "values": []} for name in lists}
        self.address, self.ports = "127.0.0.1", {"udp": 7770, "http": 7780}
        self.asked = []  # (method, path, body)
        self.changed = threading.Condition()
        self.revision = 0
        self.server = None
        self.port = 0

    def start(self, port=0):
        handler = type("Handler", (Handler,), {"fake": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None
            self.touch()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def touch(self, **change):
        """What a cluster does beside the process: touch(state="Shutdown")."""
        with self.changed:
            for name, value in change.items():
                setattr(self, name, value)
            self.revision += 1
            self.changed.notify_all()

    def object(self):
        def counted(all_of):
            return {name: {key: str(value) if isinstance(value, int) else value for key, value in one.items()}
                    for name, one in all_of.items()}
        return {
            "object_meta": {"name": "orrery-fake", "namespace": "default", "uid": "1", "resource_version": str(self.revision),
                            "generation": "1", "creation_timestamp": "1700000000", "deletion_timestamp": str(self.deleted),
                            "annotations": self.annotations, "labels": self.labels},
            "spec": {"health": {"disabled": False, "period_seconds": 5, "failure_threshold": 3, "initial_delay_seconds": 15}},
            "status": {"state": self.state, "address": self.address,
                       "addresses": [{"type": "InternalIP", "address": self.address}],
                       "ports": [{"name": name, "port": port} for name, port in self.ports.items()],
                       "counters": counted(self.counters), "lists": counted(self.lists)}}

    def count(self, method, path):
        with self.changed:
            return sum(1 for asked in self.asked if asked[:2] == (method, path))

    # What a request does: an HTTP status and an answer.
    def ask(self, method, path, body):
        with self.changed:
            if path != "/gameserver":
                self.asked.append((method, path, body))
            status, answer = self.change(method, path, body)
            if method != "GET" and status == 200:
                self.revision += 1
                self.changed.notify_all()
            return status, answer

    def change(self, method, path, body):
        states = {"/ready": "Ready", "/allocate": "Allocated", "/shutdown": "Shutdown", "/reserve": "Reserved"}
        if (method, path) == ("GET", "/gameserver"):
            return 200, self.object()
        if method == "POST" and path == "/health":
            return 200, {}
        if method == "POST" and path in states:
            self.state = states[path]
            return 200, {}
        if method == "PUT" and path in ("/metadata/label", "/metadata/annotation"):
            texts = self.labels if path.endswith("label") else self.annotations
            texts["agones.dev/sdk-" + body["key"]] = body["value"]
            return 200, {}
        if path.startswith(self.prefix + "/counters/"):
            return self.counter(method, path[len(self.prefix + "/counters/"):], body)
        if path.startswith(self.prefix + "/lists/"):
            return self.list(method, path[len(self.prefix + "/lists/"):], body)
        return fault(404, 5, "Not Found")

    def counter(self, method, name, body):
        counter = self.counters.get(name)
        if counter is None:
            return fault(404, 5, "counter not found: " + name)
        if method == "PATCH":
            count, capacity = body.get("count"), body.get("capacity")
            if (count is None) == (capacity is None):  # one and only one of them
                return fault(400, 3, "invalid argument. Malformed CounterUpdateRequest")
            if capacity is not None:
                if int(capacity) < 0:
                    return fault(400, 11, "out of range")
                counter["capacity"] = int(capacity)
            elif not 0 <= int(count) <= counter["capacity"]:
                return fault(400, 11, "out of range. Count must be within range [0,Capacity]")
            else:
                counter["count"] = int(count)
        return 200, {"name": name, "count": str(counter["count"]), "capacity": str(counter["capacity"])}

    def list(self, method, name, body):
        name, _, verb = name.partition(":")
        found = self.lists.get(name)
        if found is None:
            return fault(404, 5, "list not found: " + name)
        values = found["values"]
        if method == "PATCH":
            if not 0 <= int(body["capacity"]) <= LIST_LIMIT:
                return fault(400, 11, "out of range. Capacity must be within range [0,1000]")
            found["capacity"] = int(body["capacity"])
        elif verb == "addValue":
            if body["value"] in values:
                return fault(409, 6, "already exists")
            if len(values) >= found["capacity"]:
                return fault(400, 11, "out of range. No available capacity")
            values.append(body["value"])
        elif verb == "removeValue":
            if body["value"] not in values:
                return fault(404, 5, "not found")
            values.remove(body["value"])
        return 200, {"name": name, "capacity": str(found["capacity"]), "values": list(values)}


def fault(status, code, message):
    return status, {"code": code, "message": message, "details": []}


class Handler(http.server.BaseHTTPRequestHandler):
    fake = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self):
        size = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(size)
        if self.command == "GET" and self.path == "/watch/gameserver":
            return self.stream()
        try:
            status, answer = self.fake.ask(self.command, self.path, json.loads(text) if text else None)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            status, answer = fault(400, 3, f"{type(error).__name__}: {error}")
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = answer

    def stream(self):
        fake, shown, server = self.fake, None, self.fake.server
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        try:
            while fake.server is server and server is not None:
                with fake.changed:
                    fake.changed.wait_for(lambda: fake.revision != shown or fake.server is not server, timeout=0.5)
                    if fake.revision == shown:
                        continue
                    shown = fake.revision
                    line = json.dumps({"result": fake.object()}).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass  # the other side has gone


def main():
    fake = FakeAgones().start(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(f"listening 127.0.0.1:{fake.port}", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        fake.stop()


if __name__ == "__main__":
    main()
