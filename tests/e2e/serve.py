#!/usr/bin/env python3
"""Promises of `orrery serve`, `orrery token` and `orrery_drive`, kept by the built programs over real loopback sockets."""
import fcntl
import os
import signal
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Server, announced_tick, check, main, values

F_SETPIPE_SZ = 1031  # Linux; fcntl.F_SETPIPE_SZ from Python 3.10 on


def a_driven_session_is_recorded_and_verifies(programs, folder):
    with Server(programs, os.path.join(folder, "rec")) as server:
        check(server.facts["scene"] == "yard" and server.facts["tick_hz"] == "60", str(server.facts))
        check(server.address.startswith("127.0.0.1:"), server.address)
        check(stat.S_IMODE(os.stat(server.token).st_mode) == 0o600, "connect.token is readable by others")
        drive = programs.run(programs.drive, "--token", server.token, "--auto", "--seconds", "10")
        check(drive.returncode == 0, f"orrery_drive ended with {drive.returncode}: {drive.stdout}{drive.stderr}")
        check("distance" in drive.stdout and "snapshots received" in drive.stdout, drive.stdout)
        # The file holds a fresh token once the first has been used: a second player needs no new server.
        again = programs.run(programs.drive_c, server.token, "6")
        check(again.returncode == 0, f"drive_headless ended with {again.returncode}: {again.stdout}{again.stderr}")
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        check(any(line.startswith("status ") and "clients=1" in line for line in server.lines), "no status line counts the client")
        announced = announced_tick(server.lines)
        check("ignored" not in server.log_text(), "players who came and left cleanly are logged as ignored: " + server.log_text())
    check(announced > 900, f"only tick {announced} was announced")
    for target in ("scalar", "auto"):
        code, report = programs.verify(server.replay, "--require-complete", "--target", target)
        check(code == 0 and report["result"] == "same" and report["complete"], str(report))
        check(report["ticks"] == announced, f"{report['ticks']} ticks verified, {announced} announced")


def a_client_is_told_when_the_server_stops(programs, folder):
    with Server(programs, os.path.join(folder, "rec")) as server:
        drive = subprocess.Popen([programs.drive, "--token", server.token, "--auto", "--seconds", "30"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            while not any("clients=1" in line for line in server.lines):
                server.read_line()
            check(server.stop(signal.SIGINT) == 0, "SIGINT does not end the server with 0")
            _, errors = drive.communicate(timeout=5)
        finally:
            drive.kill()
        check(drive.returncode == 1 and "the server stopped" in errors, f"{drive.returncode}: {errors}")


def a_key_file_and_a_minted_token_let_a_player_in(programs, folder):
    key = os.path.join(folder, "key")
    token = os.path.join(folder, "token")
    with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(os.urandom(32).hex() + "\n")
    with Server(programs, os.path.join(folder, "rec"), "--key-file", key, "--bind", "0.0.0.0", "--json") as server:
        check(not os.path.exists(server.token), "a server with a key file writes a token")
        address = "127.0.0.1:" + server.address.split(":")[1]
        mint = programs.run(programs.orrery, "token", "--key-file", key, "--server", address, "--client-id", "7", "--out", token)
        check(mint.returncode == 0, mint.stderr)
        check(stat.S_IMODE(os.stat(token).st_mode) == 0o600 and os.stat(token).st_size == 2048, "the token file is not as it should be")
        drive = programs.run(programs.drive, "--token", token, "--auto", "--seconds", "6")
        check(drive.returncode == 0, drive.stdout + drive.stderr)
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
    os.chmod(key, 0o644)
    open_key = programs.run(programs.orrery, "serve", programs.yard, "--key-file", key)
    check(open_key.returncode == 2 and "chmod 600" in open_key.stderr, open_key.stderr)


def an_insecure_server_mints_for_whoever_asks(programs, folder):
    with Server(programs, os.path.join(folder, "rec"), "--insecure") as server:
        drive = programs.run(programs.drive, "--server", server.address, "--auto", "--seconds", "6")
        check(drive.returncode == 0, drive.stdout + drive.stderr)
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
    public = programs.run(programs.orrery, "serve", programs.yard, "--bind", "0.0.0.0", "--insecure")
    check(public.returncode == 64 and "--insecure-public" in public.stderr, public.stderr)
    no_key = programs.run(programs.orrery, "serve", programs.yard, "--bind", "0.0.0.0")
    check(no_key.returncode == 64 and "--key-file" in no_key.stderr, no_key.stderr)


def rigs_beyond_limits_and_idle_ones_are_told(programs, folder):
    scene = os.path.join(folder, "hub.json")
    with open(scene, "w") as out:
        out.write("""{"scene_version": 1, "shapes": [{"name": "bead", "sphere": {"radius": 0.1}}],
            "bodies": [{"name": "alone", "shape": "bead"}],
            "generators": [{"name": "hub", "tree": {"levels": 2, "branches": 1100, "shape": "bead"}}],
            "rigs": [{"name": "hub", "bodies": ["hub[0]"], "solver": "jacobi"}, {"name": "nobody", "bodies": ["alone"]}]}""")
    with Server(programs, os.path.join(folder, "rec"), "--status-every-s", "0.1", scene=scene) as server:
        while not any(line.startswith("status ") for line in server.lines):
            server.read_line()
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        log = server.log_text()
        check(log.count("rigs beyond kMaxGraphSides: 1,") == 1, "the log does not tell once of the rig that is too large")
        check(log.count("rigs[1] 'nobody' holds nothing") == 1, "the log does not tell once of the rig that holds nothing")


def a_recording_that_the_disk_ends_is_told_and_goes_on_in_a_new_part(programs, folder):
    limit = 100_000  # of a file; stands for a full disk
    record = os.path.join(folder, "rec")
    with Server(programs, record, "--tick-rate", "240", "--status-every-s", "0.1", "--fsync", "none",
                file_size_limit=limit) as server:
        while not any("recording=failed" in line for line in server.lines):
            check(len(server.lines) < 300, "no status line tells of the failed recording")
            server.read_line()
        check("recording=on" in server.lines[2], server.lines[2])
        last = announced_tick(server.lines)
        drive = programs.run(programs.drive_c, server.token, "6")
        check(drive.returncode == 0, f"drive_headless ended with {drive.returncode}: {drive.stdout}{drive.stderr}")
        while "recording=on" not in server.read_line():
            check(len(server.lines) < 600, "no new part has begun")
        check(int(values(server.lines[-1])["lost_ticks"]) > 0, server.lines[-1])
        check(server.stop() == 3, f"a server that has lost ticks ends with {server.process.returncode}")
        log = server.log_text()
        check("the recording has ended" in log and "goes on in a new part" in log, log)
    code, report = programs.verify(server.replay)
    check(code == 0 and report["ticks"] == last and not report["complete"], str(report))
    parts = [name for name in sorted(os.listdir(record)) if name.endswith(".orr")]
    check(len(parts) >= 2, f"parts: {parts}")
    for part in parts:
        code, report = programs.verify(os.path.join(record, part))
        check(code == 0, f"{part}: {report}")


def a_room_that_is_to_stop_with_its_recording_does(programs, folder):
    with Server(programs, os.path.join(folder, "rec"), "--tick-rate", "240", "--fsync", "tick", "--on-record-failure",
                "stop-room", file_size_limit=60_000) as server:
        rest, _ = server.process.communicate(timeout=30)
        check(server.process.returncode == 3, f"it ends with {server.process.returncode}")
        last = announced_tick(rest.splitlines())
    code, report = programs.verify(server.replay)
    check(code == 0 and report["ticks"] == last, str(report))


def a_start_that_fails_leaves_nothing_behind(programs, folder):
    record = os.path.join(folder, "rec")
    for public in ("1.2.3.4:0", "1.2.3.4", "nowhere:1"):
        wrong = programs.run(programs.orrery, "serve", programs.yard, "--port", "0", "--record", record, "--public", public)
        check(wrong.returncode == 64 and public in wrong.stderr, f"{public}: {wrong.returncode}: {wrong.stderr}")
        check(not os.path.exists(record), f"{public}: the recording folder was made")
    os.makedirs(os.path.join(record, "connect.token"))  # a token cannot be written there
    no_token = programs.run(programs.orrery, "serve", programs.yard, "--port", "0", "--record", record)
    check(no_token.returncode == 3, f"{no_token.returncode}: {no_token.stderr}")
    check(os.listdir(record) == ["connect.token"], str(os.listdir(record)))


def a_reader_that_stopped_reading_holds_nothing_up(programs, folder):
    def unread():
        pipe = os.pipe()
        os.set_blocking(pipe[1], False)
        try:
            while True:
                os.write(pipe[1], bytes(4096))
        except BlockingIOError:
            os.set_blocking(pipe[1], True)
        return pipe

    with Server(programs, os.path.join(folder, "rec"), "--status-every-s", "0.02", "--tick-rate", "240") as server:
        fcntl.fcntl(server.process.stdout, F_SETPIPE_SZ, 4096)
        time.sleep(1.5)  # the pipe is full long before
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
    code, report = programs.verify(server.replay, "--require-complete")
    check(code == 0 and report["ticks"] > 240, f"{report}: the room stood still while stdout was not read")

    # A full stderr: what is logged when a client comes and goes.
    record, (reader, writer) = os.path.join(folder, "log"), unread()
    command = [programs.orrery, "serve", programs.yard, "--port", "0", "--record", record]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writer, text=True)
    try:
        process.stdout.readline()
        drive = programs.run(programs.drive_c, os.path.join(record, "connect.token"), "6")
        check(drive.returncode == 0, f"drive_headless ended with {drive.returncode}: {drive.stdout}{drive.stderr}")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=5)
        check(process.returncode == 0, "SIGTERM does not end the server with 0")
    finally:
        process.kill()
        process.communicate()
        os.close(reader)
        os.close(writer)


def what_is_wrong_is_named_by_its_exit_code(programs, folder):
    record = os.path.join(folder, "rec")
    with Server(programs, record) as server:
        port = server.address.split(":")[1]
        taken = programs.run(programs.orrery, "serve", programs.yard, "--port", port, "--record", record)
        check(taken.returncode == 3 and port in taken.stderr, f"{taken.returncode}: {taken.stderr}")
    with open("/dev/full", "w") as full:  # a result that cannot be printed is not a success
        scene = os.path.join(os.path.dirname(programs.yard), "chains.json")
        lost = subprocess.run([programs.orrery, "run", scene, "--ticks", "1", "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
    check(lost.returncode == 3 and "stdout" in lost.stderr, f"{lost.returncode}: {lost.stderr}")
    file = os.path.join(folder, "file")
    open(file, "w").close()
    key = os.path.join(folder, "key")
    with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
        out.write(os.urandom(32).hex() + "\n")
    below = os.path.join(file, "below")
    for command in (["serve", programs.yard, "--port", "0", "--record", below],
                    ["run", programs.yard, "--ticks", "1", "--record", below],
                    ["token", "--key-file", key, "--server", "127.0.0.1:7770", "--client-id", "1", "--out", below]):
        unwritable = programs.run(programs.orrery, *command)
        check(unwritable.returncode == 3 and below in unwritable.stderr,
              f"{command[0]}: {unwritable.returncode}: {unwritable.stderr}")
    missing = programs.run(programs.orrery, "serve", os.path.join(folder, "none.json"), "--port", "0")
    check(missing.returncode == 2, f"{missing.returncode}: {missing.stderr}")
    usage = programs.run(programs.orrery, "serve", programs.yard, "--no-such-option")
    check(usage.returncode == 64, f"{usage.returncode}: {usage.stderr}")
    no_token = programs.run(programs.drive, "--token", os.path.join(folder, "none"), "--auto", "--seconds", "1")
    check(no_token.returncode == 2, f"{no_token.returncode}: {no_token.stderr}")
    check(programs.run(programs.drive, "--auto", "--seconds", "x").returncode == 64, "--seconds x is accepted")


if __name__ == "__main__":
    main([a_driven_session_is_recorded_and_verifies, a_client_is_told_when_the_server_stops,
          a_key_file_and_a_minted_token_let_a_player_in, an_insecure_server_mints_for_whoever_asks,
          rigs_beyond_limits_and_idle_ones_are_told, a_recording_that_the_disk_ends_is_told_and_goes_on_in_a_new_part,
          a_room_that_is_to_stop_with_its_recording_does,
          a_start_that_fails_leaves_nothing_behind, a_reader_that_stopped_reading_holds_nothing_up,
          what_is_wrong_is_named_by_its_exit_code])
