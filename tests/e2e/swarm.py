#!/usr/bin/env python3
"""Promises of `orrery swarm`: bots join, drive, leave and come back, and its exit code says whether all were let in and kept."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Server, check, main, values


def key_file(folder, name):
    path = os.path.join(folder, name)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(os.urandom(32).hex() + "\n")
    return path


def twenty_bots_join_leave_and_come_back(programs, folder):
    with Server(programs, os.path.join(folder, "rec"), "--insecure") as server:
        swarm = programs.run(programs.orrery, "swarm", server.address, "--clients", "20", "--seconds", "5",
                             "--join-within-s", "1", "--stay-s", "1.5", "--away-s", "0.5", "--json")
        check(swarm.returncode == 0, f"{swarm.returncode}: {swarm.stdout}{swarm.stderr}")
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        check("ignored" not in server.log_text(), "what bots send is logged as ignored: " + server.log_text())
    lines = [json.loads(line) for line in swarm.stdout.splitlines()]
    status, summary = lines[:-1], lines[-1]
    check(len(status) >= 4 and all(line["kind"] == "status" for line in status), swarm.stdout)
    check(any(line["playing"] > 0 and line["snapshots_per_s"] > 0 and (line["rtt_p50_ms"] or 0) > 0 for line in status), swarm.stdout)
    check(any(line["seated"] > 0 for line in status), "no bot has a seat: " + swarm.stdout)
    check(summary["kind"] == "summary" and summary["clients"] == 20, str(summary))
    check(summary["joined"] > 20, f"no bot has come back: {summary}")
    check(summary["joined"] == summary["joins_tried"] == summary["left"], str(summary))
    check(summary["refusals"] == [] and summary["disconnections"] == [], str(summary))
    check(summary["snapshots"] > 20 and summary["in_bytes_per_client"] > summary["out_bytes_per_client"] > 0, str(summary))
    check(0 < summary["join_p50_ms"] <= summary["join_p99_ms"] and 0 < summary["gap_p50_ms"] <= summary["gap_max_ms"], str(summary))
    code, report = programs.verify(server.replay, "--require-complete")
    check(code == 0 and report["result"] == "same", str(report))


def a_server_that_ends_throws_bots_out(programs, folder):
    key = key_file(folder, "key")
    with Server(programs, os.path.join(folder, "rec"), "--key-file", key) as server:
        swarm = subprocess.Popen([programs.orrery, "swarm", server.address, "--clients", "4", "--seconds", "6", "--key-file",
                                  key, "--join-within-s", "0", "--stay-s", "0", "--away-s", "0.2",
                                  "--status-every-s", "0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            for line in swarm.stdout:
                if values(line)["playing"] == "4":
                    break
            check(server.stop() == 0, "SIGTERM does not end the server with 0")
            out, errors = swarm.communicate(timeout=30)
        finally:
            swarm.kill()
    check(swarm.returncode == 1 and "4 bots were thrown out" in errors, f"{swarm.returncode}: {out}{errors}")
    check('disconnected count=4 reason="the server stopped"' in out.splitlines(), out)
    check(any(line.startswith("refused ") and "nothing listens at " + server.address in line for line in out.splitlines()), out)
    summary = values(out.splitlines()[-1])
    check(summary["joined"] == "4" and summary["disconnected"] == "4" and int(summary["refused"]) > 0, str(summary))


def a_signal_ends_the_bots_and_the_summary_follows(programs, folder):
    with Server(programs, os.path.join(folder, "rec"), "--insecure", "--bind", "::1") as server:
        swarm = subprocess.Popen([programs.orrery, "swarm", server.address, "--clients", "3", "--seconds", "0", "--join-within-s",
                                  "0", "--stay-s", "0", "--status-every-s", "0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            for line in swarm.stdout:
                if values(line)["playing"] == "3":
                    break
            swarm.send_signal(signal.SIGINT)
            out, errors = swarm.communicate(timeout=30)
        finally:
            swarm.kill()
        waited = 0
        while server.log_text().count("disconnected: it left") < 3:  # the server reads once a tick
            check(waited < 100, "the server was not told that the bots left: " + server.log_text())
            time.sleep(0.05)
            waited += 1
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
    summary = values(out.splitlines()[-1])
    check(swarm.returncode == 0 and summary["joined"] == summary["left"] == "3", f"{swarm.returncode}: {out}{errors}")


def bots_that_are_not_let_in_say_why(programs, folder):
    with Server(programs, os.path.join(folder, "rec"), "--key-file", key_file(folder, "key"), "--max-clients", "2") as server:
        wrong = programs.run(programs.orrery, "swarm", server.address, "--clients", "2", "--key-file", key_file(folder, "other"),
                             "--join-within-s", "0", "--join-timeout-s", "3.5")
        check(wrong.returncode == 3 and "nothing answers" in wrong.stderr, f"{wrong.returncode}: {wrong.stderr}")
        check("refused count=2 reason=" in wrong.stdout and "the server has another key" in wrong.stdout, wrong.stdout)
        full = programs.run(programs.orrery, "swarm", server.address, "--clients", "3", "--key-file",
                            os.path.join(folder, "key"), "--seconds", "1", "--join-within-s", "0", "--away-s", "10", "--stay-s", "0")
        check(full.returncode == 1 and "1 of 3 joins were refused" in full.stderr, f"{full.returncode}: {full.stdout}{full.stderr}")
        check("every place of the server is taken" in full.stdout, full.stdout)


def what_is_wrong_is_named_by_its_exit_code(programs, folder):
    with Server(programs, os.path.join(folder, "rec"), "--insecure") as server:
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
    nobody = programs.run(programs.orrery, "swarm", server.address, "--clients", "2", "--join-within-s", "0")
    check(nobody.returncode == 3 and server.address + ": nothing answers" in nobody.stderr, f"{nobody.returncode}: {nobody.stderr}")
    for options in (["127.0.0.1", "--clients", "2"], ["127.0.0.1:0", "--clients", "2"], [server.address],
                    [server.address, "--clients", "0"], [server.address, "--clients", "2", "--channels", "9"]):
        usage = programs.run(programs.orrery, "swarm", *options)
        check(usage.returncode == 64 and usage.stderr, f"{options}: {usage.returncode}: {usage.stderr}")
    no_key = programs.run(programs.orrery, "swarm", server.address, "--clients", "2", "--key-file", os.path.join(folder, "none"))
    check(no_key.returncode == 2 and "none" in no_key.stderr, f"{no_key.returncode}: {no_key.stderr}")


if __name__ == "__main__":
    main([twenty_bots_join_leave_and_come_back, a_server_that_ends_throws_bots_out, a_signal_ends_the_bots_and_the_summary_follows,
          bots_that_are_not_let_in_say_why,
          what_is_wrong_is_named_by_its_exit_code])
