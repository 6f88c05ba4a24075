#!/usr/bin/env python3
"""deploy/build_progress: its estimate goes by what steps cost, what is left shrinks, a fault is shown. Builds of `sleep`."""
import os
import re
import subprocess
import sys
import tempfile

CORES = len(os.sched_getaffinity(0))


def build(source_dir, folder, target):
    run = subprocess.run([os.path.join(source_dir, "deploy", "build_progress"), folder, target], capture_output=True, text=True, timeout=60,
                         env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
    minutes = [0 if "less than" in line else int(re.search(r"about (\d+) min", line).group(1))
               for line in run.stdout.splitlines() if line.startswith("deploy/run: ")]
    return run.returncode, run.stdout, minutes


def check(condition, text):
    if not condition:
        sys.exit("FAILED: " + text)


def main(source_dir):
    with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
        # As many steps of each kind as there are cores, so that a kind's cost is what each of its rows takes.
        def steps(row):
            return [f"{row}_{i}.cpp.o" for i in range(CORES)]
        dear = [output for row in range(20) for output in steps(f"Unity/unity_{row}")]  # 20 x 7 s: 2 min
        cheap = [output for row in range(20) for output in steps(f"small_{row}")]       # 20 x 1 s
        with open(os.path.join(folder, "build.ninja"), "w") as file:
            file.write("rule cc\n  command = sleep 0.1 && touch $out\n  description = Building CXX object $out\n"
                       "rule fail\n  command = echo this is why && false\n  description = Building CXX object $out\n")
            for output in dear + cheap:
                file.write(f"build {output}: cc source\n")
            file.write(f"build dear: phony {' '.join(dear)}\nbuild cheap: phony {' '.join(cheap)}\nbuild bad.o: fail source\n")
        for name, text in (("source", ""), ("c++", "#!/bin/sh\nexit 1\n")):  # the compiler by which the machine is measured
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        os.chmod(os.path.join(folder, "c++"), 0o755)

        code, text, minutes = build(source_dir, folder, "cheap")
        check(code == 0 and minutes == [0], f"20 s of work are told as: {text}")
        code, text, minutes = build(source_dir, folder, "dear")
        check(code == 0 and f"building {len(dear)} steps" in text and minutes[0] == 2, f"140 s of work are told as: {text}")
        check(minutes[-1] == 0 and minutes == sorted(minutes, reverse=True), f"what is left does not shrink: {text}")
        code, text, minutes = build(source_dir, folder, "dear")
        check(code == 0 and minutes == [], f"nothing is to be done, but: {text}")

        os.utime(os.path.join(folder, "source"))
        code, text, minutes = build(source_dir, folder, "dear")
        check(code == 0 and minutes == [0], f"what took 2 s the last time is told as: {text}")

        # A machine on which a small file takes 5 s.
        with open(os.path.join(folder, "c++"), "w") as file:
            file.write("#!/bin/sh\nsleep 5\n")
        for name in [".ninja_log"] + dear:
            os.remove(os.path.join(folder, name))
        code, text, minutes = build(source_dir, folder, "dear")
        check(code == 0 and minutes[0] >= 5, f"140 s of work on a slow machine are told as: {text}")

        code, text, _ = build(source_dir, folder, "bad.o")
        check(code != 0 and "this is why" in text, f"a fault is not shown ({code}): {text}")
    print("passed")


main(sys.argv[1])
