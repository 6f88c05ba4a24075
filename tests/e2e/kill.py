#!/usr/bin/env python3
"""A serving room that is killed loses nothing that its status line had announced, and goes on from its recording: SIGKILL
50 times at random moments."""
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Server, announced_tick, check, main

CHAINS, KILLS = 10, 5  # of each: 50 in all
SEED = 4711
POLICIES = ["none", "interval", "tick"]


def what_was_announced_before_a_kill_verifies_and_the_room_goes_on(programs, folder):
    moments = random.Random(SEED)
    most = 0
    for chain in range(CHAINS):
        replay, ticks = None, 0
        policy = POLICIES[chain % len(POLICIES)]
        record = os.path.join(folder, f"rec{chain}")
        for kill in range(KILLS):
            where = f"chain {chain} ({policy}), kill {kill}"
            # A fast grid, a line every few ticks, and in every other run a player: kills fall into all parts of a tick.
            rate = [] if replay else ["--tick-rate", "240"]
            with Server(programs, record, "--status-every-s", "0.02", "--fsync", policy, *rate, resume=replay) as server:
                replay = server.replay
                drive = None
                if kill % 2 == 0:
                    drive = subprocess.Popen([programs.drive, "--token", server.token, "--auto", "--seconds", "30"],
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(moments.uniform(0.05, 0.6))
                server.process.send_signal(signal.SIGKILL)
                rest, _ = server.process.communicate(timeout=5)
                if drive:
                    drive.kill()
                    drive.wait()
                announced = announced_tick(rest.splitlines()[:-1] if not rest.endswith("\n") else rest.splitlines())
            code, report = programs.verify(replay)
            check(code == 0 and report["result"] == "same" and not report["complete"], f"{where}: exit {code}, {report}")
            check(report["ticks"] >= max(announced, ticks), f"{where}: {report['ticks']} ticks verified, "
                                                            f"{announced} announced, {ticks} before")
            ticks = report["ticks"]
            most = max(most, announced)
        with Server(programs, record, resume=replay) as server:
            server.read_line()
            check(server.stop() == 0, f"chain {chain}: a room that goes on does not end with 0: {server.log_text()}")
        code, report = programs.verify(replay, "--require-complete")
        check(code == 0 and report["ticks"] >= ticks, f"chain {chain}: exit {code}, {report}")
    check(most > 60, f"no run had announced more than {most} ticks before its kill")


def a_recording_in_use_or_of_another_kind_is_not_resumed(programs, folder):
    with Server(programs, os.path.join(folder, "rec")) as server:
        second = programs.run(programs.orrery, "serve", "--resume", server.replay, "--port", "0")
        check(second.returncode == 2 and "another process records to it" in second.stderr, second.stderr)
        check(server.stop() == 0, "the first server did not end with 0")
    both = programs.run(programs.orrery, "serve", programs.yard, "--resume", server.replay)
    check(both.returncode == 64, f"a scene and a recording: {both.returncode}")
    none = programs.run(programs.orrery, "serve", "--resume", os.path.join(folder, "none.orr"), "--port", "0")
    check(none.returncode == 2 and "none.orr" in none.stderr, f"{none.returncode}: {none.stderr}")


if __name__ == "__main__":
    main([what_was_announced_before_a_kill_verifies_and_the_room_goes_on,
          a_recording_in_use_or_of_another_kind_is_not_resumed])
