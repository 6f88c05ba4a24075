#!/usr/bin/env python3
"""The example director: it allocates through the Kubernetes API, creates rooms and mints tokens by the control API of the server that
it was given, lets players of a scene share a room, and allocates again where the room has gone to another.

usage: agones_director.py BINARY_DIR SOURCE_DIR [NAME...]"""
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import check, main

DIRECTOR = os.path.join(os.path.abspath(sys.argv[2]), "deploy", "kubernetes", "agones", "director.py") if len(sys.argv) > 2 else ""
KEY = "c0" * 32


class Answers(http.server.ThreadingHTTPServer):
    """A server whose answers are a function of (method, path, body, bearer token): (status, answer)."""
    daemon_threads = True

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def reply(self):
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                bearer = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
                status, body = answer(self.command, self.path, json.loads(text) if text else None, bearer)
                body = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = reply
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class World:
    """A cluster with one server of rooms."""

    def __init__(self, folder):
        self.folder = folder
        self.seats = 2
        self.refuse = 0  # so many creations of rooms
        self.free = True
        self.asked, self.rooms = [], {}
        for name, text in (("token", "account"), ("namespace", "games"), ("ca.crt", "")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)

    def cluster(self, method, path, body, bearer):
        self.asked.append((method, path))
        if bearer != "account":
            return 401, {}
        if (method, path) == ("POST", "/apis/allocation.agones.dev/v1/namespaces/games/gameserverallocations"):
            check(body["kind"] == "GameServerAllocation", str(body))
            if not self.free:
                return 201, {"status": {"state": "UnAllocated"}}
            return 201, {"status": {"state": "Allocated", "gameServerName": "orrery-x", "address": "203.0.113.7",
                                    "ports": [{"name": "http", "port": 7013}, {"name": "udp", "port": 7012}]}}
        if path == "/api/v1/namespaces/games/pods/orrery-x":
            return 200, {"status": {"podIP": "127.0.0.1"}}
        return 404, {}

    def control(self, method, path, body, bearer):
        self.asked.append((method, path))
        if bearer != KEY:
            return 401, {}
        if (method, path) == ("POST", "/v1/rooms"):
            if body["scene"] != "yard":
                return 404, {"detail": "no such scene"}
            if self.refuse:
                self.refuse -= 1
                return 409, {"detail": "all rooms are taken"}
            room = f"room{len(self.rooms)}"
            self.rooms[room] = 0
            return 201, {"id": room}
        room = path.split("/")[3]
        if method == "POST" and path.endswith("/tokens"):
            self.rooms[room] += 1
            return 201, {"token": "dG9rZW4=", "client_id": f"{self.rooms[room]:016x}"}
        return 200, {"phase": "open", "clients": self.rooms[room], "max_clients": self.seats}

    def environment(self, cluster, control):
        return dict(os.environ, KUBERNETES_API=f"http://127.0.0.1:{cluster.server_port}", KUBERNETES_ACCOUNT=self.folder,
                    CONTROL_KEY=KEY, CONTROL_PORT=str(control.server_port))


def once(_, folder):
    world = World(folder)
    with Answers(world.cluster) as cluster, Answers(world.control) as control:
        def run(scene):
            return subprocess.run([sys.executable, DIRECTOR, scene], env=world.environment(cluster, control), capture_output=True,
                                  text=True, timeout=60)
        world.refuse = 2
        first = run("yard")
        check(first.returncode == 0, first.stderr)
        check(json.loads(first.stdout) == {"server": "orrery-x", "address": "203.0.113.7:7012", "room": "room0",
                                           "client_id": "0000000000000001", "token": "dG9rZW4="}, first.stdout)
        check(sum("allocation" in path for _, path in world.asked) == 3, str(world.asked))
        unknown = run("attic")
        check(unknown.returncode == 1 and "404" in unknown.stderr, unknown.stderr)
        world.free = False
        full = run("yard")
        check(full.returncode == 1 and "no server has a free room" in full.stderr, full.stderr)


def what_is_missing_is_told(_, folder):
    for changed, words in (({"KUBERNETES_ACCOUNT": folder + "/none"}, "KUBERNETES_ACCOUNT"), ({"CONTROL_KEY": ""}, "CONTROL_KEY")):
        environment = dict(os.environ, CONTROL_KEY=KEY, KUBERNETES_ACCOUNT=folder) | changed
        run = subprocess.run([sys.executable, DIRECTOR, "yard"], env=environment, capture_output=True, text=True, timeout=60)
        check(run.returncode == 64 and words in run.stderr and "Traceback" not in run.stderr, f"{changed}: {run.stderr}")


def players_share_rooms(_, folder):
    world = World(folder)
    with Answers(world.cluster) as cluster, Answers(world.control) as control:
        process = subprocess.Popen([sys.executable, DIRECTOR, "--listen", "127.0.0.1:0"], env=world.environment(cluster, control),
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = process.stdout.readline().split()[1]

            def play(body):
                try:
                    with urllib.request.urlopen(f"http://{address}/play", json.dumps(body).encode(), timeout=30) as answer:
                        return answer.status, json.load(answer)
                except urllib.error.HTTPError as error:
                    return error.code, json.load(error)
            rooms = [play({"scene": "yard"})[1]["room"] for _ in range(5)]
            check(rooms == ["room0", "room0", "room1", "room1", "room2"], str(rooms))
            check(play({"sceen": "yard"})[0] == 400, "a body without a scene is taken")
            world.free = False
            world.seats = 1
            check(play({"scene": "yard"})[0] == 503, "a full fleet is not named")
        finally:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    main([once, players_share_rooms, what_is_missing_is_told])
