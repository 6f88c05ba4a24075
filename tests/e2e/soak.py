#!/usr/bin/env python3
"""A server of many rooms under load for a long time: bots join and leave, rooms are created, drained and stopped, the process
is ended, killed and resumed, and its disk is full for a while or slow. Nothing that was said to be recorded or durable is lost, every
recording verifies, memory and the number of metrics stay as they are.

usage: soak.py BINARY_DIR SOURCE_DIR [--minutes M] [--rooms N] [--bots B] [--seed S] [--state FILE]

Without --minutes: a slice of some 25 s. Everything that the test chooses is drawn from the seed of the round; times of the
machine are not. The first half of the time one server lives, whose memory is measured. Then a round follows the other, each
with the next seed: seeds 4k to 4k+3 are a drain, a kill, a full disk, a drain or a kill with a slow disk. --state: a file with the seed to begin with,
which is written after each round, so that the next run goes on. What a failed round recorded stays, and its place is told.

A full disk is a tmpfs without space where the test may mount one, else a limit of the size of a file (RLIMIT_FSIZE). A slow
disk is a library that delays the server's calls (slow_disk.cpp)."""
import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Failure, Programs, check, values
from rooms import Rooms, WAIT_S

SCENES = ["yard", "yard", "vehicle", "chains", "pyramid"]  # those that 50 rooms at a time can have
DRAIN_S = 2
SERIES_MOST = 200
FLAT = 0.05  # of VmRSS, from 10 minutes on; before that the heap still grows to what the load takes
FLAT_FROM_MINUTES = 10
ROUND_S = (15, 60)  # of a long run
SLICE_STEADY_S, SLICE_ROUND_S, SLICE_ROUNDS = 6, (3, 4), 4
SMALL_DISK_OF_ROOM = (16 << 10, 40 << 10)  # bytes for each room: too few to be reserved ahead, full within some seconds
SLOW_DISK_MS = [3, 20, 80]  # at most, each write and each sync
LARGE_DISK = 64 << 20  # bytes for each room: it reserves 1 MiB for a file


class Load:
    """Bots, and rooms that come and go, at one server. What the server says of its recordings is kept in `said`."""

    def __init__(self, programs, server, draw, rooms, bots, said, full):
        self.server, self.draw, self.rooms, self.said = server, draw, rooms, said
        self.created = self.ended = self.disk_refusals = 0
        self.full = full  # the disk: rooms may be refused, and half of them stay
        self.top_up()
        self.swarm_out = tempfile.TemporaryFile("w+")
        self.swarm = subprocess.Popen(
            [programs.orrery, "swarm", server.facts["udp"], "--control", server.facts["control"], "--control-keys", server.keys,
             "--clients", str(bots), "--seconds", "0", "--join-within-s", "1", "--stay-s", "6", "--away-s", "1", "--seed",
             str(draw.getrandbits(32)), "--status-every-s", "60"], stdout=self.swarm_out, stderr=subprocess.STDOUT)

    def look(self):
        """Rooms, after what they say of their recordings was kept."""
        rooms = self.server.ask("GET", "/v1/rooms", expect=200)["rooms"]
        for room in rooms:
            recording = room["recording"]
            self.said[recording["name"]] = max(self.said.get(recording["name"], 0), recording["recorded"], recording["durable"])
        return rooms

    def create(self):
        wish = {"scene": self.draw.choice(SCENES), "max_clients": self.draw.choice([4, 16, 64])}
        if not self.full and self.draw.random() < 0.3:
            wish["end_when_empty_s"] = self.draw.choice([1, 5])
        if not self.full:
            self.server.ask("POST", "/v1/rooms", wish, expect=201)
            self.created += 1
            return
        answer = self.server.ask("POST", "/v1/rooms", wish)
        if "status" in answer:
            check(answer["status"] == 503, f"a room on a full disk: {answer}")
            self.disk_refusals += 1
        else:
            self.created += 1

    def top_up(self):
        rooms = self.look()
        for _ in range(self.rooms - sum(room["phase"] == "open" for room in rooms)):
            self.create()

    def step(self):
        rooms = [room for room in self.look() if room["phase"] == "open"]
        if len(rooms) > (self.rooms / 2 if self.full else 0) and self.draw.random() < 0.5:
            room = self.draw.choice(rooms)
            how, body = self.draw.choice([("stop", {"reason": "soak"}), ("drain", {"within_s": self.draw.choice([0, 1, 3])})])
            try:
                self.server.ask("POST", f"/v1/rooms/{room['id']}/{how}", body, expect=202)
                self.ended += 1
            except Failure as failure:  # end_when_empty_s was faster
                check(": 404:" in str(failure) or ": 409:" in str(failure), str(failure))
        if len(rooms) < self.rooms:
            self.create()
        check(self.server.process.poll() is None, "the server ended: " + self.server.log_text()[-2000:])
        check(self.swarm.poll() is None, f"the bots ended with {self.swarm.returncode}: {self.swarm_text()[-2000:]}")

    def run(self, seconds, at_each=lambda: None):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()
            at_each()
            time.sleep(self.draw.uniform(0.1, 0.5))

    def swarm_text(self):
        self.swarm_out.seek(0)
        return self.swarm_out.read()

    def end_bots(self):
        """Ends them; the number of joins."""
        self.swarm.send_signal(signal.SIGTERM)
        self.swarm.wait(timeout=WAIT_S)
        # 1: some were thrown out, since rooms end while they play. 3: their server is gone.
        check(self.swarm.returncode in (0, 1, 3), f"the bots ended with {self.swarm.returncode}: {self.swarm_text()[-2000:]}")
        summary = [line for line in self.swarm_text().splitlines() if line.startswith("summary ")]
        check(summary, "the bots have no summary: " + self.swarm_text()[-2000:])
        return int(values(summary[-1])["joined"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.swarm.poll() is None:
            self.swarm.kill()
            self.swarm.wait()
        self.swarm_out.close()


class Round:
    """A folder, the servers that record to it one after the other, and what they said."""

    def __init__(self, programs, folder, seed, rooms, bots, span_s):
        self.programs, self.folder, self.rooms, self.bots = programs, folder, rooms, bots
        self.draw = random.Random(seed)
        self.seconds = self.draw.uniform(*span_s)
        self.said = {}
        self.slow_ms = None
        self.facts = {"created": 0, "joined": 0}

    def serve(self, *options, **limits):
        if self.slow_ms:
            limits["env"] = {"LD_PRELOAD": os.path.join(os.path.dirname(self.programs.orrery), "slow_disk.so"),
                             "ORRERY_SLOW_DISK": os.path.join(self.folder, "rec"), "ORRERY_SLOW_DISK_MS": str(self.slow_ms)}
        return Rooms(self.programs, self.folder, "--max-rooms", str(4 * self.rooms + 8), "--status-every-s", "30", "--drain-s",
                     str(DRAIN_S), *options, **limits)

    def load(self, server, full=False):
        return Load(self.programs, server, self.draw, self.rooms, self.bots, self.said, full)

    def close(self, load):
        self.facts["created"] += load.created
        self.facts["joined"] += load.end_bots()

    def series(self, server):
        with urllib.request.urlopen(f"http://{server.facts['health']}/metrics", timeout=WAIT_S) as answer:
            text = answer.read().decode()
        names = sorted(line.rsplit(" ", 1)[0] for line in text.splitlines() if line and not line.startswith("#"))
        check(0 < len(names) <= SERIES_MOST, f"{len(names)} series")
        return names

    def verified(self, *options):
        """All recordings verify and have what was said of them; their reports by file name."""
        record = os.path.join(self.folder, "rec")
        result = self.programs.run(self.programs.orrery, "verify", record, "--json", "--parallel", str(os.cpu_count()), *options,
                                   timeout_s=3600)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        reports = {os.path.basename(line["replay"]): line for line in lines if "replay" in line}
        bad = [line for line in reports.values() if line["result"] != "same" or options and not line["complete"]]
        check(result.returncode == 0 and not bad, f"verify {' '.join(options)}: {result.returncode}: {bad[:3]} {result.stderr[-500:]}")
        infos = {}
        for name in reports:
            info = self.programs.run(self.programs.orrery, "replay", "info", os.path.join(record, name), "--json")
            check(info.returncode == 0, info.stderr)
            infos[name] = json.loads(info.stdout.splitlines()[0])
        for name, said in self.said.items():
            check(name in reports, f"{name}, which had {said} ticks, is gone")
            check(infos[name]["last_tick"] >= said,
                  f"{name} ends at tick {infos[name]['last_tick']}; the server had said that tick {said} is recorded")
        self.facts["recordings"] = len(reports)
        self.facts["ticks"] = sum(line["ticks"] for line in reports.values())
        return reports

    def drain(self, server, code=0):
        began = time.monotonic()
        ended = server.stop(timeout_s=DRAIN_S + WAIT_S)
        check(ended == code, f"SIGTERM ends the server with {ended}, not {code}: {server.log_text()[-2000:]}")
        self.facts["drain_s"] = round(time.monotonic() - began, 1)


def resident(process):
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"^VmRSS:\s+(\d+) kB", status.read(), re.M).group(1)) / 1024


def steady(run, must_be_flat):
    """One server for the whole time: its memory and its metrics."""
    samples = []
    with run.serve() as server, run.load(server) as load:
        load.run(run.seconds / 4)  # warm-up
        series = run.series(server)
        began = time.monotonic()
        load.run(run.seconds * 3 / 4, lambda: samples.append((time.monotonic() - began, resident(server.process))))
        check(run.series(server) == series, "the series of /metrics have changed")
        run.drain(server)
        run.close(load)
    whole = samples[-1][0]
    first = statistics.median(mb for at, mb in samples if at <= whole / 5)
    last = statistics.median(mb for at, mb in samples if at >= whole * 4 / 5)
    run.facts.update(series=len(series), resident_MB=f"{first:.1f} to {last:.1f} ({100 * (last / first - 1):+.1f} %)")
    check(not must_be_flat or last <= first * (1 + FLAT), f"memory has grown: {run.facts['resident_MB']}")
    run.verified("--require-complete")


def drain(run):
    with run.serve() as server, run.load(server) as load:
        series = run.series(server)
        load.run(run.seconds)
        check(run.series(server) == series, "the series of /metrics have changed")
        run.drain(server)
        run.close(load)
    run.verified("--require-complete")


def kill(run):
    options = ["--fsync", run.draw.choice(["none", "interval", "tick"])]
    run.facts["fsync"] = options[1]
    kills = run.draw.choice([1, 2])
    resumed = []
    for _ in range(kills):
        with run.serve(*options, *resumed) as server, run.load(server) as load:
            if resumed:
                came_back(run, server, going_on)
            load.run(run.seconds / (kills + 1))
            for _ in range(run.draw.choice([0, 0, 3])):
                load.create()  # files that hardly exist when the kill comes
            load.look()
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            run.close(load)
            # A room that nobody asked to end may have ended when it was empty: then its recording is complete.
            reports = run.verified()
            going_on = {name for name in run.said if not reports[name]["complete"]}
            run.facts["open"] = len(going_on)
        resumed = ["--resume-rooms"]
    with run.serve(*options, *resumed) as server:
        came_back(run, server, going_on)
        with run.load(server) as load:
            load.run(run.seconds / (kills + 1))
            run.drain(server)
            run.close(load)
    run.verified("--require-complete")


def came_back(run, server, names):
    rooms = {os.path.basename(room["replay"]) for room in server.rooms}
    check(names <= rooms, f"rooms that do not go on: {sorted(names - rooms)}: {server.log_text()[-2000:]}")
    for room in server.ask("GET", "/v1/rooms", expect=200)["rooms"]:
        name = room["recording"]["name"]
        check(room["tick"] >= run.said.get(name, 0), f"{name} goes on at tick {room['tick']}, {run.said.get(name)} were recorded")


def full_disk(run):
    record = os.path.join(run.folder, "rec")
    os.mkdir(record)
    size = run.draw.randint(*SMALL_DISK_OF_ROOM)
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size * run.rooms}", "soak", record], stderr=subprocess.DEVNULL).returncode == 0
    run.facts["full_disk"] = "tmpfs" if mounted else "RLIMIT_FSIZE"
    try:
        with run.serve("--fsync", run.draw.choice(["none", "tick"]), file_size_limit=None if mounted else size) as server:
            with run.load(server, full=True) as load:
                def failing():
                    load.look()
                    return server.ask("GET", "/v1/host", expect=200)["recordings_failing"]

                load.run(run.seconds / 3)
                server.until("a recording that fails", lambda: failing() > 0)
                load.run(run.seconds / 3)
                if mounted:
                    subprocess.run(["mount", "-o", f"remount,size={LARGE_DISK * run.rooms}", record], check=True)
                    load.full = False
                    server.until("recordings that go on", lambda: failing() == 0)
                load.run(run.seconds / 3)
                lost = server.ask("GET", "/v1/host", expect=200)["totals"]["ticks_lost"]
                check(lost > 0, "no tick was lost on a full disk")
                run.facts.update(lost=lost, refused=load.disk_refusals)
                run.drain(server, code=3)
                run.close(load)
        run.verified()
    except Failure:
        shutil.copytree(record, os.path.join(run.folder, "kept"))
        raise
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", record], check=True)


def slow_disk(run):
    run.slow_ms = run.facts["slow_ms"] = run.draw.choice(SLOW_DISK_MS)
    run.draw.choice([drain, kill])(run)
    check(os.path.exists(os.path.join(run.folder, "rec.delayed")), "no call was delayed")


KINDS = [drain, kill, full_disk, slow_disk]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary_dir")
    parser.add_argument("source_dir")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--rooms", type=int, default=6)
    parser.add_argument("--bots", type=int, default=12)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--state")
    options = parser.parse_args()
    programs = Programs(options.binary_dir, options.source_dir)
    seed = options.seed
    if seed is None:
        seed = 1
        if options.state and os.path.exists(options.state):
            with open(options.state) as state:
                seed = int(state.read())
    first, failed, began = seed, 0, time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    def one(name, what, seed, span_s):
        folder = tempfile.mkdtemp(prefix="orrery-soak-")
        start = time.monotonic()
        run = Round(programs, folder, seed, options.rooms, options.bots, span_s)
        good = False
        try:
            what(run)
            verdict, good = "passed", True
        except (Failure, OSError, subprocess.TimeoutExpired) as error:
            text = str(error)
            verdict = f"FAILED: {text if len(text) < 3000 else text[:300] + ' ... ' + text[-2500:]}: {folder}"
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if good:
            shutil.rmtree(folder)
        facts = ", ".join(f"{key} {value}" for key, value in run.facts.items())
        print(f"{name}, seed {seed} ({time.monotonic() - start:.1f} s): {facts}: {verdict}", flush=True)
        return good

    steady_s = SLICE_STEADY_S if options.minutes is None else 30 * options.minutes
    flat = options.minutes is not None and options.minutes >= FLAT_FROM_MINUTES
    failed += not one("steady", lambda run: steady(run, flat), seed, (steady_s, steady_s))
    passed = 1 - failed
    while True:
        done = seed - first
        if options.minutes is None and done == SLICE_ROUNDS:
            break
        if options.minutes is not None and done and time.monotonic() - began > 60 * options.minutes - ROUND_S[0]:
            break
        kind = KINDS[seed % len(KINDS)]
        if one(kind.__name__, kind, seed, SLICE_ROUND_S if options.minutes is None else ROUND_S):
            passed += 1
        else:
            failed += 1
        seed += 1
        if options.state:
            with open(options.state, "w") as state:
                state.write(f"{seed}\n")
    print(f"seeds {first} to {seed - 1} done: {options.rooms} rooms, {options.bots} bots, {(time.monotonic() - began) / 60:.1f} min")
    print(f"gate: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
