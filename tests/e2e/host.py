#!/usr/bin/env python3
"""Promises of a game's own server (orrery/server.hpp), kept by the example host over real loopback sockets."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import check, main, values


class Host:
    """The example in a folder; `with` ends it whatever happens."""

    def __init__(self, programs, folder, seconds, *options):
        program = os.path.join(os.path.dirname(programs.orrery), "host_a_game")
        self.folder = folder
        self.process = subprocess.Popen([os.path.abspath(program), os.path.abspath(programs.yard), str(seconds), *options], cwd=folder,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.first = self.process.stdout.readline()
        self.facts = values(self.first)
        self.replay = os.path.join(folder, self.facts["replay"])

    def end(self, timeout_s=20):
        out, log = self.process.communicate(timeout=timeout_s)
        check(self.process.returncode == 0, f"the host ended with {self.process.returncode}: {log}")
        return self.first + out, log

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def ticks_of(programs, replay):
    code, report = programs.verify(replay, "--require-complete")
    check(code == 0 and report["result"] == "same" and report["complete"], str(report))
    return report["ticks"]


def a_match_on_the_virtual_clock_takes_no_time_and_verifies(programs, folder):
    with Host(programs, folder, 60, "virtual") as host:
        out, log = host.end()
        check("udp=" not in out and "connect: " not in out, out)
        check("stopping (the rain is over)" in log, log)
    ticks = ticks_of(programs, host.replay)
    check(ticks == 60 * 60 + 1, f"{ticks} ticks, and the director stopped the room in the one after {60 * 60}")


def players_of_a_game_that_ends_are_told(programs, folder):
    with Host(programs, folder, 6) as host:
        drive = programs.run(programs.drive, "--server", host.facts["udp"], "--auto", "--seconds", "30")
        check(drive.returncode == 1 and "the server stopped" in drive.stderr, f"{drive.returncode}: {drive.stderr}")
        out, log = host.end()
        check("connected: id" in log and "stopping (the rain is over): 1 clients" in log, log)
        check("tick 360" in out, out)
    ticks = ticks_of(programs, host.replay)
    check(361 <= ticks <= 364, f"{ticks} ticks, and the director stopped the room at 360")


def a_signal_ends_a_game(programs, folder):
    with Host(programs, folder, 3600) as host:
        host.process.send_signal(signal.SIGTERM)
        _, log = host.end()
        check("stopping: 0 clients" in log, log)
    ticks_of(programs, host.replay)


if __name__ == "__main__":
    main([a_match_on_the_virtual_clock_takes_no_time_and_verifies, players_of_a_game_that_ends_are_told,
          a_signal_ends_a_game])
