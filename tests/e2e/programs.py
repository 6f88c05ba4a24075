"""Runs the built programs over real sockets: starts and stops servers, reads what they print."""
import json
import os
import resource
import signal
import subprocess
import sys
import time


class Failure(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Failure(text)


def values(line):
    """The key=value items after a line's first word."""
    return dict(item.split("=", 1) for item in line.split()[1:])


class Programs:
    def __init__(self, binary_dir, source_dir):
        self.orrery = os.path.join(binary_dir, "bin", "orrery")
        self.drive = os.path.join(binary_dir, "bin", "orrery_drive")
        self.drive_c = os.path.join(binary_dir, "bin", "drive_headless")
        self.client_31 = os.path.join(binary_dir, "bin", "client_31")
        self.yard = os.path.join(source_dir, "deploy", "scenes", "yard.json")

    def run(self, *command, timeout_s=60):
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)

    def verify(self, replay, *options, timeout_s=60):
        result = self.run(self.orrery, "verify", replay, "--json", *options, timeout_s=timeout_s)
        return result.returncode, json.loads(result.stdout.splitlines()[-1]) if result.stdout else {}


class Serving:
    """A process of `orrery serve`; `with` ends it whatever happens."""

    def __init__(self, programs, log, *options, file_size_limit=None, env=None):
        def limit_file_size():
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size_limit, file_size_limit))
        self.log = open(log, "a")
        self.process = subprocess.Popen(
            [programs.orrery, "serve", *options], stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=dict(os.environ, **env) if env else None, preexec_fn=limit_file_size if file_size_limit else None)
        self.lines = []

    def listen(self):
        """Reads the first line."""
        first = self.read_line()
        check(first.startswith("listening ") or first.startswith("{"), "the first line is: " + first)
        self.facts = json.loads(first) if first.startswith("{") else values(first)

    def read_line(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failure("the server ended early: " + self.log_text())
        self.lines.append(line.rstrip("\n"))
        return self.lines[-1]

    def log_text(self):
        with open(self.log.name) as log:
            return log.read()

    def stop(self, number=signal.SIGTERM, timeout_s=20):
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=timeout_s)
        self.lines += rest.splitlines()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.log.close()


class Server(Serving):
    """`orrery serve` of one room."""

    def __init__(self, programs, record, *options, scene=None, resume=None, **limits):
        what = ["--resume", resume] if resume else [scene or programs.yard, "--record", record]
        super().__init__(programs, record + ".log", *what, "--port", "0", *options, **limits)
        self.listen()
        self.address, self.replay = self.facts["udp"], self.facts["replay"]
        self.token = os.path.join(record, "connect.token")


def announced_tick(lines):
    """The last tick that a status line says is recorded."""
    last = 0
    for line in lines:
        for item in line.split():
            if line.startswith("status ") and item.startswith("recorded_tick="):
                last = int(item.split("=")[1])
    return last


def main(tests):
    """usage: SCRIPT BINARY_DIR SOURCE_DIR [NAME...]"""
    import tempfile
    programs = Programs(sys.argv[1], sys.argv[2])
    failed = 0
    for test in tests:
        if len(sys.argv) > 3 and test.__name__ not in sys.argv[3:]:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
            try:
                test(programs, folder)
                verdict = "passed"
            except (Failure, subprocess.TimeoutExpired) as error:
                verdict, failed = f"FAILED: {error}", failed + 1
        print(f"{test.__name__} ({time.monotonic() - began:.1f} s): {verdict}", flush=True)
    sys.exit(1 if failed else 0)
