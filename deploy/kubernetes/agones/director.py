#!/usr/bin/env python3
"""An example of a backend: finds a server of an Agones fleet that has a free room, creates a room there, and gives players
connect tokens. Python's standard library alone; it runs in a pod of the cluster (director.yaml).

    director.py yard                     allocates, creates a room of the scene, mints a token; prints them as JSON
    director.py --listen 0.0.0.0:8000    POST /play {"scene": "yard"} answers the same; players of a scene share rooms

The answer is {"server", "address", "room", "client_id", "token"}: `address` is for a person, since `token` (base64; a client
needs nothing else) names it, too. Who may play is for the game to decide, before it asks.

    CONTROL_KEY          a key of level "operate" of the servers' --control-keys file
    KUBERNETES_API       default: that of the cluster
    KUBERNETES_ACCOUNT   folder with token, namespace and ca.crt; default: that of the pod's service account
    ALLOCATION           file with the request, as JSON; default: that of allocation.yaml
    CONTROL_PORT         default 7790
"""
import http.server
import json
import os
import ssl
import sys
import threading
import urllib.error
import urllib.request

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
ATTEMPTS = 5  # two directors may be given the same last free room
TIMEOUT_S = 10
MAX_REQUEST_BYTES = 4096


def free_room(state):
    return {"matchLabels": {"agones.dev/fleet": "orrery", "agones.dev/sdk-draining": "false"},
            "gameServerState": state, "counters": {"rooms": {"minAvailable": 1}}}


ALLOCATION = {
    "apiVersion": "allocation.agones.dev/v1", "kind": "GameServerAllocation", "metadata": {"generateName": "orrery-"},
    "spec": {"scheduling": "Packed", "priorities": [{"type": "Counter", "key": "rooms", "order": "Ascending"}],
             "selectors": [free_room("Allocated"), free_room("Ready")]}}


class WrongSetting(Exception):
    """What is missing in the environment."""


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status} {text}")
        self.status = status


def call(url, key, body=None, context=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Authorization": "Bearer " + key, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise Refused(error.code, error.read(300).decode(errors="replace")) from None
    except OSError as error:
        raise Refused(503, f"{url}: {error}") from None


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


class Cluster:
    """The Kubernetes API, as the pod's service account may use it."""

    def __init__(self):
        self.api = os.environ.get("KUBERNETES_API", "https://kubernetes.default.svc")
        account = os.environ.get("KUBERNETES_ACCOUNT", ACCOUNT)
        self.account = account
        try:
            self.namespace = read(account + "/namespace")
            self.context = ssl.create_default_context(cafile=account + "/ca.crt") if self.api.startswith("https:") else None
            read(account + "/token")
        except OSError as error:
            raise WrongSetting(f"{account}: no service account ({error.strerror or error}): run in a pod that has one, or "
                               "name a folder with token, namespace and ca.crt by KUBERNETES_ACCOUNT") from None
        self.wish = json.loads(read(os.environ["ALLOCATION"])) if "ALLOCATION" in os.environ else ALLOCATION

    def call(self, path, body=None):
        return call(self.api + path, read(self.account + "/token"), body, self.context)  # the token is renewed on disk

    def allocate(self):
        status = self.call(f"/apis/allocation.agones.dev/v1/namespaces/{self.namespace}/gameserverallocations",
                           self.wish).get("status", {})
        if status.get("state") != "Allocated":
            raise Refused(503, "no server has a free room: " + status.get("state", "no state"))
        port = next((port["port"] for port in status["ports"] if port["name"] == "udp"), None)
        return status["gameServerName"], f"{status['address']}:{port}"

    def pod_address(self, name):
        address = self.call(f"/api/v1/namespaces/{self.namespace}/pods/{name}")["status"]["podIP"]
        return f"[{address}]" if ":" in address else address


class Director:
    def __init__(self):
        self.key = os.environ.get("CONTROL_KEY", "")
        if not self.key:
            raise WrongSetting("CONTROL_KEY is not set: give it a key of level operate of the servers' control.keys")
        self.cluster = Cluster()
        self.port = os.environ.get("CONTROL_PORT", "7790")
        self.rooms = {}  # of each scene, that into which its players go: (server, address, control, room)
        self.lock = threading.Lock()

    def new_room(self, scene):
        for attempt in range(ATTEMPTS):
            server, address = self.cluster.allocate()
            control = f"http://{self.cluster.pod_address(server)}:{self.port}/v1/rooms"
            try:
                room = call(control, self.key, {"scene": scene, "end_when_empty_s": 60})["id"]
                return server, address, control, room
            except Refused as refusal:  # 409: another has taken the room, or the server drains
                if refusal.status not in (409, 503) or attempt + 1 == ATTEMPTS:
                    raise

    def play(self, scene):
        with self.lock:  # one room for players that come at once
            place = self.rooms.get(scene)
            if place and not self.has_seat(place):
                place = None
            if not place:
                place = self.rooms[scene] = self.new_room(scene)
        server, address, control, room = place
        token = call(f"{control}/{room}/tokens", self.key, {"role": "player"})
        return {"server": server, "address": address, "room": room, "client_id": token["client_id"], "token": token["token"]}

    def has_seat(self, place):
        try:
            room = call(f"{place[2]}/{place[3]}", self.key)
        except Refused:
            return False  # the room or its server has ended
        return room["phase"] == "open" and room["clients"] < room["max_clients"]


def serve(director, where):
    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = TIMEOUT_S

        def do_POST(self):
            try:
                size = int(self.headers.get("Content-Length") or 0)
                if self.path != "/play" or not 0 < size <= MAX_REQUEST_BYTES:
                    raise Refused(404, "POST /play, with a scene")
                scene = json.loads(self.rfile.read(size))["scene"]
                status, answer = 200, director.play(str(scene))
            except Refused as refusal:
                status, answer = (503 if refusal.status >= 500 else 400), {"error": str(refusal)}
            except (ValueError, KeyError, TypeError):
                status, answer = 400, {"error": 'the body is not {"scene": NAME}'}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    host, _, port = where.rpartition(":")
    server = http.server.ThreadingHTTPServer((host, int(port)), Handler)
    print(f"listening {host}:{server.server_port}", flush=True)
    server.serve_forever()


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "--listen":
        serve(Director(), arguments[1])
    elif len(arguments) == 1 and not arguments[0].startswith("-"):
        print(json.dumps(Director().play(arguments[0])))
    else:
        print(__doc__, file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refusal:
        print(f"director: {refusal}", file=sys.stderr)
        sys.exit(1)
    except WrongSetting as wrong:
        print(f"director: {wrong}", file=sys.stderr)
        sys.exit(64)
