#!/usr/bin/env python3
"""Promises of `orrery serve --rooms`: many rooms on one UDP port and one web server, which come and go by the control API,
players who reach their own room alone, drains, and rooms that go on after the process was killed."""
import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from debian_websockets import websockets
from programs import Failure, Serving, check, main, values

WAIT_S = 20  # far more than anything here takes


class Rooms(Serving):
    """`orrery serve --rooms`."""

    def __init__(self, programs, folder, *options, **limits):
        self.record = os.path.join(folder, "rec")
        super().__init__(programs, os.path.join(folder, "log"), "--rooms", "--scenes", os.path.dirname(programs.yard), "--port",
                         "0", "--record", self.record, *options, **limits)
        self.listen()
        self.rooms = [values(self.read_line()) for _ in range(int(self.facts["rooms"]))]
        self.keys = os.path.join(self.record, "control.key")
        with open(self.keys) as keys:
            self.key = [line for line in keys if line.strip() and not line.startswith("#")][0].split()[2]

    def ask(self, method, path, body=None, expect=None):
        request = urllib.request.Request(
            f"http://{self.facts['control']}{path}", method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self.key, "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        check(expect is None or status == expect, f"{method} {path}: {status}: {text[:400]}")
        return json.loads(text) if text else None

    def room(self, identity):
        return self.ask("GET", "/v1/rooms/" + identity, expect=200)

    def token(self, identity, path, **wish):
        answer = self.ask("POST", f"/v1/rooms/{identity}/tokens", wish, expect=200)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["token"]))
        return path

    def until(self, what, holds):
        end = time.monotonic() + WAIT_S
        while not holds():
            if time.monotonic() > end:
                raise Failure(f"{what}, waited for in vain: {self.log_text()}")
            time.sleep(0.05)


def verified(programs, folder, count, *options):
    result = programs.run(programs.orrery, "verify", folder, *options, timeout_s=120)
    check(result.returncode == 0 and f"{count} recordings: {count} same" in result.stdout, result.stdout + result.stderr)


def players_reach_their_own_room_alone(programs, folder):
    with Rooms(programs, folder, "--room", "first=yard", "--room", "ragdolls") as server:
        first, second = server.rooms
        check(first["name"] == "first" and second["scene"] == "ragdolls", str(server.rooms))
        made = server.ask("POST", "/v1/rooms", {"scene": "yard", "name": "third", "max_clients": 4}, expect=201)
        check(made["max_clients"] == 4 and made["phase"] == "open", str(made))
        drives = []
        for number, identity in enumerate((first["id"], made["id"])):
            token = server.token(identity, os.path.join(folder, f"token{number}"), client_id=f"{number + 1:016x}", timeout_s=3)
            drives.append(subprocess.Popen([programs.drive, "--token", token, "--auto", "--seconds", "3"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        server.until("two players", lambda: server.ask("GET", "/v1/host")["players"] == 2)
        members = [[m["client_id"] for m in server.room(identity)["members"]] for identity in (first["id"], made["id"])]
        check(members == [[f"{1:016x}"], [f"{2:016x}"]], str(members))
        for drive in drives:
            out, errors = drive.communicate(timeout=WAIT_S)
            check(drive.returncode == 0 and "snapshots received" in out, f"{drive.returncode}: {out}{errors}")
        check(server.room(second["id"])["received_bytes"] == 0, "the third room got datagrams of others")

        async def over_a_websocket():
            token = open(server.token(second["id"], os.path.join(folder, "token_ws")), "rb").read()
            async with websockets.connect(f"ws://{server.facts['http']}/play") as client:
                await client.send(token)
                accepted = await asyncio.wait_for(client.recv(), WAIT_S)
                check(accepted[0] == 1 and len(accepted) == 9, str(accepted))
                await asyncio.to_thread(server.until, "a client by WebSocket",
                                        lambda: server.room(second["id"])["clients"] == 1)
            async with websockets.connect(f"ws://{server.facts['http']}/play") as client:
                await client.send(bytes(2048))
                try:
                    while True:
                        await asyncio.wait_for(client.recv(), WAIT_S)
                except websockets.ConnectionClosed as closed:
                    check(closed.code == 4000 and "connect token" in closed.reason, f"{closed.code} {closed.reason}")

        asyncio.run(over_a_websocket())
        server.ask("POST", f"/v1/rooms/{made['id']}/stop", {"reason": "enough"}, expect=202)
        server.until("the end of a room", lambda: len(server.ask("GET", "/v1/rooms")["rooms"]) == 2)
        server.ask("GET", "/v1/rooms/" + made["id"], expect=404)
        gone = programs.run(programs.drive, "--token", os.path.join(folder, "token1"), "--auto", "--seconds", "1")
        check(gone.returncode != 0, "a player got into a room that has ended")
        check(server.stop() == 0, "SIGTERM does not end the server with 0: " + server.log_text())
    verified(programs, server.record, 3, "--require-complete")


def a_drain_lets_players_end_and_refuses_newcomers(programs, folder):
    with Rooms(programs, folder, "--room", "yard", "--room", "yard", "--drain-s", "4") as server:
        room = server.rooms[0]["id"]
        drive = subprocess.Popen([programs.drive, "--token", server.token(room, os.path.join(folder, "t1")), "--auto",
                                  "--seconds", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        server.until("a player", lambda: server.room(room)["players"] == 1)
        late = server.token(room, os.path.join(folder, "t2"))
        server.process.send_signal(signal.SIGTERM)
        server.until("the drain", lambda: server.room(room)["phase"] == "draining")
        server.until("the end of the empty room", lambda: len(server.ask("GET", "/v1/rooms")["rooms"]) == 1)
        server.ask("POST", "/v1/rooms", {"scene": "yard"}, expect=409)
        refused = programs.run(programs.drive, "--token", late, "--auto", "--seconds", "1")
        check(refused.returncode != 0 and "being stopped" in refused.stderr, f"{refused.returncode}: {refused.stderr}")
        out, errors = drive.communicate(timeout=WAIT_S)
        check(drive.returncode == 0, f"the player was thrown out: {out}{errors}")
        server.process.communicate(timeout=WAIT_S)
        check(server.process.returncode == 0, f"{server.process.returncode}: {server.log_text()}")
    verified(programs, server.record, 2, "--require-complete")


def a_drain_ends_in_time_and_a_second_signal_at_once(programs, folder):
    for name, signals, least_s, most_s in (("in_time", 1, 1.5, 4.0), ("at_once", 2, 0.0, 1.5)):
        place = os.path.join(folder, name)
        os.mkdir(place)
        drain_s = 1.5 if signals == 1 else 60
        with Rooms(programs, place, *["--room", "yard"] * 10, "--drain-s", str(drain_s)) as server:
            swarm = subprocess.Popen(
                [programs.orrery, "swarm", server.facts["udp"], "--control", server.facts["control"], "--control-keys",
                 server.keys, "--clients", "20", "--seconds", "0", "--join-within-s", "0.5", "--stay-s", "0"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                server.until("20 players", lambda: server.ask("GET", "/v1/host")["players"] == 20)
                began = time.monotonic()
                server.process.send_signal(signal.SIGTERM)
                if signals == 2:
                    server.until("the drain", lambda: server.ask("GET", "/v1/host")["draining"])
                    server.process.send_signal(signal.SIGTERM)
                server.process.communicate(timeout=WAIT_S)
                took = time.monotonic() - began
            finally:
                swarm.send_signal(signal.SIGTERM)
                swarm.communicate(timeout=WAIT_S)
            check(server.process.returncode == 0, f"{server.process.returncode}: {server.log_text()}")
            check(least_s <= took <= most_s, f"{name}: {took:.2f} s")
        verified(programs, server.record, 10, "--require-complete")


def rooms_of_a_killed_process_go_on(programs, folder):
    with Rooms(programs, folder, "--room", "one=yard", "--room", "two=yard", "--fsync", "tick") as server:
        room = server.rooms[1]["id"]
        drive = subprocess.Popen([programs.drive, "--token", server.token(room, os.path.join(folder, "t1"), client_id="00000000000000aa"),
                                  "--auto", "--seconds", "30"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            server.until("a player", lambda: server.room(room)["players"] == 1)
            server.until("ticks", lambda: server.room(room)["recording"]["durable"] > 60)
            before = {r["name"]: server.room(r["id"])["recording"]["durable"] for r in server.rooms}
            server.process.kill()
            server.process.communicate()
        finally:
            drive.kill()
            drive.communicate()
    with Rooms(programs, folder, "--resume-rooms") as server:
        check(sorted(r["name"] for r in server.rooms) == ["one", "two"], str(server.rooms))
        for r in server.rooms:
            check(server.room(r["id"])["tick"] >= before[r["name"]], f"{r['name']} lost ticks that were durable")
        two = next(r for r in server.rooms if r["name"] == "two")["id"]
        token = server.token(two, os.path.join(folder, "t2"), client_id="00000000000000aa")
        back = programs.run(programs.drive, "--token", token, "--auto", "--seconds", "3")
        check(back.returncode == 0, f"{back.returncode}: {back.stdout}{back.stderr}")
        check(server.stop() == 0, server.log_text())
    verified(programs, server.record, 2, "--require-complete")
    with Rooms(programs, folder, "--resume-rooms") as server:
        check(server.rooms == [], "rooms that have ended go on")
        check(server.stop() == 0, server.log_text())


def wrong_settings_are_told(programs, folder):
    scenes = os.path.dirname(programs.yard)
    for options, words in (
            (["--rooms", "--scenes", folder + "/none"], "is no folder"),
            (["--rooms", "--scenes", scenes, "--room", "no_such_scene"], 'there is no scene "no_such_scene"'),
            (["--rooms", "--scenes", scenes, "--room", "../yard"], "rooms[0].scene"),
            (["--rooms", "--scenes", scenes, "--insecure"], "is for a server of one room"),
            (["--rooms", "--scenes", scenes, "--bind", "0.0.0.0"], "--key-file"),
            (["--room", "yard", programs.yard], "--rooms"),
            ([programs.yard, "--control-bind", "0.0.0.0"], "--control-keys")):
        result = programs.run(programs.orrery, "serve", *options, "--port", "0", "--record", os.path.join(folder, "rec"))
        check(result.returncode in (2, 64) and words in result.stderr, f"{options}: {result.returncode}: {result.stderr}")


if __name__ == "__main__":
    main([players_reach_their_own_room_alone, a_drain_lets_players_end_and_refuses_newcomers,
          a_drain_ends_in_time_and_a_second_signal_at_once, rooms_of_a_killed_process_go_on, wrong_settings_are_told])
