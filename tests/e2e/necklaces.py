#!/usr/bin/env python3
"""deploy/scenes/necklaces.json, served to a spectator: the key frame within 20 s, then at most 64 KiB/s, and a recording that
verifies on other SIMD targets.

Seconds are counted as 60 ticks of the server, so that the verdict is not one about this machine's speed: where it cannot keep
the rate, ticks last longer, and spectators are sent fewer snapshots for as long as it slips. Times of the clock and slips are
printed and decide nothing."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Server, check, main, values

TICK_HZ = 60
BODIES = 2500 * 40 + 6
KEY_FRAME_TICKS = 20 * TICK_HZ
WATCHED_S = 10
BYTES_PER_S = 64 * 1024
PART_TICKS = 3 * TICK_HZ  # what the scalar target verifies, at a third of the speed
VERIFY_TIMEOUT_S = 150


def other_targets(programs):
    """The widest target that the server does not choose, and scalar."""
    facts = json.loads(programs.run(programs.orrery, "doctor", "--json").stdout.splitlines()[0])
    others = [name for name in facts["targets"] if name not in ("scalar", facts["best_target"])]
    return (others or [facts["best_target"]])[-1], "scalar"


def a_spectator_has_the_key_frame_in_20_s_and_then_64_kib_a_second(programs, folder):
    scene = os.path.join(os.path.dirname(programs.yard), "necklaces.json")
    part = os.path.join(folder, "part.orr")
    with Server(programs, os.path.join(folder, "rec"), "--threads", "1", "--jacobi", "cpu", "--status-every-s", "0.25",
                scene=scene) as server:
        status = {}

        def next_status():
            line = server.read_line()
            if line.startswith("status "):
                status.update(values(line))

        while not status:
            next_status()
        connecting_at = int(status["tick"])  # or some ticks later
        client = subprocess.Popen([programs.drive_c, "--watch", server.token, str(WATCHED_S)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            while client.poll() is None:
                next_status()
                check(int(status["tick"]) < connecting_at + 4 * KEY_FRAME_TICKS, "the client does not come to its end")
                if not os.path.exists(part) and int(status["recorded_tick"]) >= PART_TICKS:
                    shutil.copyfile(server.replay, part)  # as if the server had been killed now
            out, errors = client.communicate()
        finally:
            client.kill()
            client.wait()
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        recorded = int(values(server.lines[-1])["recorded_tick"])
    check(client.returncode == 0, f"drive_headless --watch ended with {client.returncode}: {out}{errors}")
    lines = {line.split()[0]: values(line) for line in out.splitlines()}
    key_frame, watched = lines["key_frame"], lines["watched"]
    first, last = int(watched["first_tick"]), int(watched["last_tick"])
    print(f"key frame: {key_frame['seconds']} s, {first - connecting_at} ticks, {key_frame['bodies']} bodies, {key_frame['bytes']} bytes")
    print(f"watched: {watched['wall_s']} s, {last - first} ticks, {watched['snapshots']} snapshots ({watched['snapshots_lost']} lost), "
          f"{watched['bytes_per_s']} bytes/s, at most {watched['bytes_per_s_max']}")
    print(f"server: tick p50 {status['tick_p50_ms']} ms, p99 {status['tick_p99_ms']} ms, {status['late_ticks']} late ticks", flush=True)

    # From a tick before the client connected to the first snapshot, which follows the complete key frame.
    check(first - connecting_at <= KEY_FRAME_TICKS, f"the key frame took {first - connecting_at} ticks")
    check(int(key_frame["bodies"]) == int(watched["bodies"]) == BODIES, f"{key_frame['bodies']}, then {watched['bodies']} bodies")
    check(last - first >= WATCHED_S * TICK_HZ, f"only {last - first} ticks were watched")
    check(int(watched["bytes_per_s_max"]) <= BYTES_PER_S, f"{watched['bytes_per_s_max']} bytes came in a second")

    whole_target, part_target = other_targets(programs)
    for replay, target, complete, ticks in ((server.replay, whole_target, True, recorded), (part, part_target, False, PART_TICKS)):
        code, report = programs.verify(replay, "--target", target, timeout_s=VERIFY_TIMEOUT_S)
        print(f"verify --target {target}: {report}", flush=True)
        check(code == 0 and report["result"] == "same" and report["complete"] == complete, str(report))
        check(report["ticks"] == ticks if complete else report["ticks"] >= ticks, f"{report['ticks']} ticks verified, {ticks} recorded")


if __name__ == "__main__":
    main([a_spectator_has_the_key_frame_in_20_s_and_then_64_kib_a_second])
