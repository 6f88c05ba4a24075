#!/usr/bin/env python3
"""Promises of `orrery swarm`: bots join, drive, leave and come back, over UDP and over WebSocket, and its exit code says whether
all were let in and kept."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Server, check, main, values
from rooms import Rooms


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


def thrown_out_by_a_stop(programs, server, clients, *options):
    """Ends the server once so many bots play; what they print."""
    swarm = subprocess.Popen([programs.orrery, "swarm", *options, "--clients", str(clients), "--join-within-s", "0", "--stay-s", "0",
                              "--status-every-s", "0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for line in swarm.stdout:
            if values(line)["playing"] == str(clients):
                break
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        out, errors = swarm.communicate(timeout=30)
    finally:
        swarm.kill()
    check(swarm.returncode == 1 and f"{clients} bots were thrown out" in errors, f"{swarm.returncode}: {out}{errors}")
    return out


def a_server_that_ends_throws_bots_out(programs, folder):
    key = key_file(folder, "key")
    with Server(programs, os.path.join(folder, "rec"), "--key-file", key) as server:
        out = thrown_out_by_a_stop(programs, server, 4, server.address, "--seconds", "6", "--key-file", key, "--away-s", "0.2")
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


def bots_over_web_sockets_join_leave_and_come_back(programs, folder):
    with Server(programs, os.path.join(folder, "rec")) as server:
        swarm = programs.run(programs.orrery, "swarm", server.facts["http"], "--ws", "--clients", "8", "--seconds", "1.6",
                             "--join-within-s", "0.2", "--stay-s", "0.7", "--away-s", "0.3", "--status-every-s", "0.4", "--json")
        check(swarm.returncode == 0, f"{swarm.returncode}: {swarm.stdout}{swarm.stderr}")
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        log = server.log_text()
    status = [json.loads(line) for line in swarm.stdout.splitlines()]
    summary = status.pop()
    check(any(line["playing"] > 0 and line["snapshots_per_s"] > 0 and (line["rtt_p50_ms"] or 0) > 0 for line in status), swarm.stdout)
    check(any(line["seated"] > 0 for line in status), "no bot has a seat: " + swarm.stdout)
    check(all(line["lost"] is None for line in status + [summary]), "a stream loses nothing: " + swarm.stdout)
    check(summary["joined"] > 8, f"no bot has come back: {summary}")
    check(summary["joined"] == summary["joins_tried"] == summary["left"], str(summary))
    check(summary["refusals"] == [] and summary["disconnections"] == [], str(summary))
    check(summary["snapshots"] > 8 and summary["in_bytes_per_client"] > summary["out_bytes_per_client"] > 2048, str(summary))
    check("from ws 127.0.0.1" in log and "from 127.0.0.1" not in log, "not over WebSocket: " + log)
    ends = [line for line in log.splitlines() if "(id " in line and " disconnected: " in line]
    check(ends and all(line.endswith("disconnected: it left") for line in ends), "the server was not told that bots left: " + log)
    check("ignored" not in log, "what bots send is logged as ignored: " + log)
    code, report = programs.verify(server.replay, "--require-complete")
    check(code == 0 and report["result"] == "same", str(report))


def bots_over_web_sockets_are_spread_over_rooms(programs, folder):
    with Rooms(programs, folder, "--room", "one=yard", "--room", "two=yard") as server:
        swarm = subprocess.Popen(
            [programs.orrery, "swarm", server.facts["http"], "--ws", "--control", server.facts["control"], "--control-keys",
             server.keys, "--clients", "6", "--seconds", "1.8", "--join-within-s", "0.2", "--stay-s", "0.8", "--away-s", "0.2"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            server.until("players in both rooms", lambda: all(server.room(room["id"])["players"] > 0 for room in server.rooms))
            out, errors = swarm.communicate(timeout=30)
        finally:
            swarm.kill()
        check(swarm.returncode == 0, f"{swarm.returncode}: {out}{errors}")
        summary = values(out.splitlines()[-1])
        check(int(summary["joined"]) > 6 and summary["joined"] == summary["left"], out)
        check("from ws 127.0.0.1" in server.log_text(), server.log_text())


class Answering:
    """A TCP server that answers each request by the same bytes; None: it says nothing."""

    def __init__(self, answer):
        self.answer, self.peers = answer, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            while True:
                peer = self.listener.accept()[0]
                self.peers.append(peer)
                peer.recv(4096)
                if self.answer is not None:
                    peer.sendall(self.answer)
                    peer.close()
        except OSError:
            pass  # closed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for peer in self.peers:
            peer.close()


def bots_over_web_sockets_say_why_they_are_not_let_in(programs, folder):
    def refused(address, *options, code, reason, errors="joins were refused"):
        swarm = programs.run(programs.orrery, "swarm", address, "--ws", "--clients", "3", "--seconds", "0.3", "--join-within-s", "0",
                             "--away-s", "10", "--stay-s", "0", *options)
        check(swarm.returncode == code and errors in swarm.stderr, f"{swarm.returncode}: {swarm.stdout}{swarm.stderr}")
        check(any(line.startswith("refused ") and reason in line for line in swarm.stdout.splitlines()), f"{reason}: {swarm.stdout}")
        check(" lost=- " in swarm.stdout.splitlines()[-1], swarm.stdout)

    key = key_file(folder, "key")
    with Server(programs, os.path.join(folder, "rec"), "--key-file", key, "--max-clients", "2") as server:
        web, names = server.facts["http"], ["--token-server", server.address]
        refused(web, "--key-file", key, *names, code=1,
                reason='"denied; the server says: every place of the server is taken (close code 4001)"')
        refused(web, "--key-file", key_file(folder, "other"), *names, code=1, reason="connect token of this server; ask for a new one (close code 4000)")
        refused(web, "--key-file", key, "--token-server", web, code=1, reason="(close code 4008)")
        refused(web, code=1, reason="POST /token: 403 Forbidden: ")
        refused(server.facts["health"], "--key-file", key, *names, code=1, reason="GET /play: 404 Not Found")
        out = thrown_out_by_a_stop(programs, server, 2, web, "--ws", "--seconds", "1", "--key-file", key, *names, "--away-s", "10")
        check('disconnected count=2 reason="the server stopped (close code 4103)"' in out.splitlines(), out)
    refused(web, code=3, reason="nothing listens at " + web, errors="the address that it prints as http=")
    keys = ["--key-file", key, *names]
    for answer, reason in ((b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\n\r\nanother version\n", '"GET /play: 426 Upgrade Required: another version"'),
                           (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
                            "not that of a WebSocket server"),
                           (b"SSH-2.0-x\r\n", "the answer to GET /play is no HTTP")):
        with Answering(answer) as other:
            refused(other.address, *keys, code=1, reason=reason)
    with Answering(None) as silent:
        refused(silent.address, *keys, "--join-timeout-s", "0.3", code=3, reason="no answer to GET /play within the time of --join-timeout-s",
                errors="nothing answers")
    for options in (["--key-file", key], ["--key-file", key, "--token-server", "127.0.0.1"], ["--token-server", server.address]):
        usage = programs.run(programs.orrery, "swarm", web, "--ws", "--clients", "2", *options)
        check(usage.returncode == 64 and "--token-server" in usage.stderr + usage.stdout, f"{options}: {usage.returncode}: {usage.stderr}")


if __name__ == "__main__":
    main([twenty_bots_join_leave_and_come_back, a_server_that_ends_throws_bots_out, a_signal_ends_the_bots_and_the_summary_follows,
          bots_that_are_not_let_in_say_why,
          what_is_wrong_is_named_by_its_exit_code, bots_over_web_sockets_join_leave_and_come_back,
          bots_over_web_sockets_are_spread_over_rooms, bots_over_web_sockets_say_why_they_are_not_let_in])
