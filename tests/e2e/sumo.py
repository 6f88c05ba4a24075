#!/usr/bin/env python3
"""The game of client_sdk/examples/sumo, played to its end: bots take empty seats and give them to players, points are
scored, a shove is a message, every client sees the same board, and the recording proves the match."""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import check, main


class Match:
    """A host in a folder; `with` ends it whatever happens."""

    def __init__(self, programs, folder, seconds):
        here = os.path.dirname(os.path.abspath(programs.orrery))
        self.play_program = os.path.join(here, "sumo_play")
        scene = os.path.abspath(os.path.join(os.path.dirname(programs.yard), "../../client_sdk/examples/sumo/sumo.json"))
        self.folder = folder
        self.host = subprocess.Popen([os.path.join(here, "sumo_host"), scene, str(seconds), "0"], cwd=folder, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
        first = self.host.stdout.readline()
        self.udp = re.search(r"udp=(\S+)", first)[1]
        self.replay = os.path.join(folder, re.search(r"replay=(\S+)", first)[1])
        self.players = []

    def add_player(self):
        self.players.append(subprocess.Popen([self.play_program, "--auto", self.udp], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             text=True))

    def end(self):
        out, log = self.host.communicate(timeout=120)
        check(self.host.returncode == 0, f"the host ended with {self.host.returncode}: {log}")
        seen = []
        for player in self.players:
            text, error = player.communicate(timeout=20)
            check(player.returncode == 0, f"a player ended with {player.returncode}: {text} {error}")
            seen.append(text)
        return out, seen

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [self.host, *self.players]:
            if process.poll() is None:
                process.kill()
                process.communicate()


def a_match_of_a_player_and_a_bot_ends_with_a_result_that_verifies(programs, folder):
    with Match(programs, folder, 25) as match:
        time.sleep(4.0)  # bots sit down after 3 s
        match.add_player()
        out, (seen,) = match.end()
    result = re.search(r"^result (\d+:\d+)$", out, re.M)
    check(result, out)
    check("is client" in out, f"no player came: {out}")
    check("the end: the server stopped" in seen, seen)
    scores = re.findall(r"^board score = (\S+)$", seen, re.M)
    check(scores and scores[-1] == result[1], f"{result[1]} is not the last of {scores}")
    check(result[1] != "0:0", "nobody scored in 25 s")
    check("board phase = playing" in seen, seen)
    code, report = programs.verify(match.replay, "--require-complete")
    check(code == 0 and report["result"] == "same", str(report))
    trace = subprocess.run([programs.orrery, "replay", "trace", match.replay, "--kinds", "spawned", "--bodies",
                            "player_1/wrestler,ball", "--every", "600"], capture_output=True, text=True)
    check(trace.returncode == 0 and "spawned player_1/wrestler" in trace.stdout, trace.stdout + trace.stderr)


def two_players_see_one_board(programs, folder):
    with Match(programs, folder, 20) as match:
        match.add_player()
        match.add_player()
        out, seen = match.end()
    result = re.search(r"^result (\d+:\d+)$", out, re.M)[1]
    for text in seen:
        check(re.findall(r"^board score = (\S+)$", text, re.M)[-1] == result, text)
        check("player_2 is here" in text or "player_1 is here" in text, text)


if __name__ == "__main__":
    main([a_match_of_a_player_and_a_bot_ends_with_a_result_that_verifies, two_players_see_one_board])
