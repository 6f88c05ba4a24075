#!/usr/bin/env python3
"""`orrery serve --agones` and the fake sidecar: a server of a fleet from its start to its end. The sidecar comes late; the server's
tokens name the address that the fleet gave it; a room that the control API makes allocates it; a player comes by the example
director; drains and SIGTERM end in a request for shutdown.

usage: agones_serve.py BINARY_DIR SOURCE_DIR [NAME...]"""
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agones_director import DIRECTOR, Answers, World
from fake_agones import FakeAgones
from programs import Serving, check, main

SCENES = os.path.join(os.path.abspath(sys.argv[2]), "deploy", "scenes") if len(sys.argv) > 2 else ""
KEY = "0123456789abcdef" * 4
CONTROL_KEY = "c0" * 32


def eventually(is_so, text, seconds=60):
    for _ in range(seconds * 20):
        if is_so():
            return
        time.sleep(0.05)
    check(False, text() if callable(text) else text)


class FleetServer(Serving):
    """`orrery serve --rooms --agones`, with the keys that manifests give it."""

    def __init__(self, programs, folder, port, *options, udp=0):
        def secret(name, text):
            path = os.path.join(folder, name)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
            return path
        super().__init__(
            programs, os.path.join(folder, "server.log"), "--rooms", "--max-rooms=4", "--scenes=" + SCENES, f"--port={udp}",
            "--http-port=0", "--control-port=0", "--health-port=0", "--key-file=" + secret("orrery.key", KEY),
            "--control-keys=" + secret("control.keys", f"test admin {CONTROL_KEY}\n"),
            "--record=" + os.path.join(folder, "replays"), "--agones", "--status-every-s=0", *options,
            env={"AGONES_SDK_HTTP_PORT": str(port)})

    def call(self, method, path, body=None):
        request = urllib.request.Request(f"http://{self.facts['control']}/v1{path}", None if body is None else json.dumps(body).encode(),
                                         {"Authorization": "Bearer " + CONTROL_KEY, "Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def wait(self):
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            check(False, "the server does not end: " + self.log_text())


def a_life_in_a_fleet(programs, folder):
    sidecar = FakeAgones(counted="beta")
    port = sidecar.start().port
    sidecar.stop()
    with FleetServer(programs, folder, port, "--bind=0.0.0.0", "--drain-s=20") as server:
        time.sleep(0.5)  # the server is there first
        sidecar.ports = {"http": 7013, "udp": 7012}
        sidecar.start(port)
        try:
            server.listen()
            eventually(lambda: sidecar.state == "Ready" and sidecar.count("POST", "/health") > 0, server.log_text)
            check(sidecar.counters["rooms"] == {"count": 0, "capacity": 4}, str(sidecar.counters))
            check(sidecar.labels["agones.dev/sdk-draining"] == "false", str(sidecar.labels))
            room = server.call("POST", "/rooms", {"scene": "pyramid"})["id"]
            eventually(lambda: sidecar.state == "Allocated" and sidecar.counters["rooms"]["count"] == 1, server.log_text)
            token = base64.b64decode(server.call("POST", f"/rooms/{room}/tokens", {})["token"])
            # netcode 1.02: behind version, protocol id, times, nonce, private data and timeout: count, kind, address, port.
            addresses = token[13 + 8 + 8 + 8 + 24 + 1024 + 4:]
            check(addresses[0] > 0 and bytes([1, 127, 0, 0, 1]) + (7012).to_bytes(2, "little") in addresses[4:4 + 32 * 7], addresses[:64].hex())
            server.process.send_signal(signal.SIGTERM)
            check(server.wait() == 0, server.log_text())
            check(sidecar.asked[-1][:2] == ("POST", "/shutdown"), str(sidecar.asked[-3:]))
            check(sidecar.labels["agones.dev/sdk-draining"] == "true", str(sidecar.labels))
            check(sidecar.counters["rooms"]["count"] == 0, str(sidecar.counters))
        finally:
            sidecar.stop()


def the_fleet_drains_it(programs, folder):
    with FakeAgones() as sidecar, FleetServer(programs, folder, sidecar.port) as server:
        server.listen()
        eventually(lambda: sidecar.state == "Ready", server.log_text)
        server.call("POST", "/rooms", {"scene": "pyramid"})
        eventually(lambda: sidecar.state == "Allocated", server.log_text)
        sidecar.touch(annotations={"orrery.dev/drain": "1"})
        check(server.wait() == 0, server.log_text())
        check(sidecar.asked[-1][:2] == ("POST", "/shutdown"), str(sidecar.asked[-3:]))


def a_player_comes_by_the_director(programs, folder):
    """The example director allocates by a fake cluster, asks this server for a room and a token, and the token lets a player in."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        udp = probe.getsockname()[1]
    world = World(folder)
    with FakeAgones() as sidecar, Answers(world.cluster) as cluster:
        sidecar.ports = {"udp": udp}
        with FleetServer(programs, folder, sidecar.port, udp=udp) as server:
            server.listen()
            eventually(lambda: sidecar.state == "Ready", server.log_text)
            environment = dict(world.environment(cluster, cluster), CONTROL_KEY=CONTROL_KEY, CONTROL_PORT=server.facts["control"].split(":")[1])
            run = subprocess.run([sys.executable, DIRECTOR, "yard"], env=environment, capture_output=True, text=True, timeout=60)
            check(run.returncode == 0, run.stderr)
            answer = json.loads(run.stdout)
            path = os.path.join(folder, "player.token")
            with open(path, "wb") as file:
                file.write(base64.b64decode(answer["token"]))
            player = subprocess.Popen([programs.drive, "--token", path, "--auto", "--seconds", "3"], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)
            eventually(lambda: sidecar.lists["players"]["values"] == [answer["client_id"]], server.log_text)
            said, _ = player.communicate(timeout=60)
            check(player.returncode == 0, said)
            eventually(lambda: sidecar.lists["players"]["values"] == [], server.log_text)
            check(sidecar.lists["players"]["capacity"] == 4 * 64, str(sidecar.lists))
            server.process.send_signal(signal.SIGTERM)
            check(server.wait() == 0, server.log_text())


if __name__ == "__main__":
    main([a_life_in_a_fleet, the_fleet_drains_it, a_player_comes_by_the_director])
