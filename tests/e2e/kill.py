#!/usr/bin/env python3
"""A serving room that is killed loses nothing that its status line had announced: SIGKILL 50 times at random moments."""
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Server, announced_tick, check, main

KILLS = 50
SEED = 4711


def what_was_announced_before_a_kill_verifies(programs, folder):
    moments = random.Random(SEED)
    most = 0
    for i in range(KILLS):
        # A fast grid, a line every few ticks, and in every other run a player: kills fall into all parts of a tick.
        with Server(programs, os.path.join(folder, f"rec{i}"), "--status-every-s", "0.02", "--tick-rate", "240") as server:
            drive = None
            if i % 2 == 0:
                drive = subprocess.Popen([programs.drive, "--token", server.token, "--auto", "--seconds", "30"],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0.05, 0.6))
            server.process.send_signal(signal.SIGKILL)
            rest, _ = server.process.communicate(timeout=5)
            if drive:
                drive.kill()
                drive.wait()
            announced = announced_tick(rest.splitlines()[:-1] if not rest.endswith("\n") else rest.splitlines())
        code, report = programs.verify(server.replay)
        check(code == 0 and report["result"] == "same" and not report["complete"], f"kill {i}: exit {code}, {report}")
        check(report["ticks"] >= announced, f"kill {i}: {report['ticks']} ticks verified, {announced} announced")
        most = max(most, announced)
    check(most > 60, f"no run had announced more than {most} ticks before its kill")


if __name__ == "__main__":
    main([what_was_announced_before_a_kill_verifies])
