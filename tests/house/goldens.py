#!/usr/bin/env python3
"""Fails where a golden file has changed without a cause.

    goldens.py              looks at every commit that changed a file of tests/golden, and at the work tree
    goldens.py --self-test  does so in a repository that it makes for the purpose

A text begins with two lines, "engine version N" and "made of PATH". It may change in a commit that changes its version, or the file or
folder PATH. Other files (*.bin, bytes of a wire version) never change.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def git(*arguments, check=True):
    done = subprocess.run(["git", *arguments], capture_output=True, check=False)
    if check and done.returncode != 0:
        sys.exit(f"git {' '.join(arguments)}: {done.stderr.decode().strip()}")
    return done.stdout if done.returncode == 0 else None


def header(data):
    lines = data.decode(errors="replace").splitlines()[:2]
    if len(lines) == 2 and lines[0].startswith("engine version ") and lines[1].startswith("made of "):
        return lines[0], lines[1].removeprefix("made of ")
    return None


def fault(file, old, new, changed):
    """Why `file` may not go from `old` to `new` while the paths `changed` change; None where it may."""
    if old is None or new == old:
        return None
    if not file.endswith(".txt"):
        return f"{file}: changed. It holds bytes of one wire version: restore it, and add a file for the new version"
    if new is None:
        return None  # with its scene
    before, after = header(old), header(new)
    if after is None:
        return f"{file}: does not begin with \"engine version N\" and \"made of PATH\""
    if before is None or before[0] != after[0]:
        return None
    if any(path == after[1] or (after[1].endswith("/") and path.startswith(after[1])) for path in changed):
        return None
    return f"{file}: changed, but neither its engine version nor {after[1]} did. If bits were to change, raise kEngineVersion"


def check():
    found, looked = [], 0
    for file in git("ls-files", "tests/golden").decode().split("\n"):
        if not file:
            continue
        looked += 1
        for commit in git("log", "--no-merges", "--format=%H", "--", file).decode().split():
            old = git("show", f"{commit}^:{file}", check=False)
            new = git("show", f"{commit}:{file}", check=False)
            changed = git("show", "--name-only", "--format=", commit).decode().split("\n")
            why = fault(file, old, new, changed)
            if why:
                found.append(f"{commit[:12]} {why}")
        path = Path(file)
        changed = git("diff", "--name-only", "HEAD").decode().split("\n")
        why = fault(file, git("show", f"HEAD:{file}", check=False), path.read_bytes() if path.exists() else None, changed)
        if why:
            found.append(f"work tree: {why}")
    return found, looked


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        git("init", "-q")
        golden, scene = Path("tests/golden/a.txt"), Path("a.json")
        golden.parent.mkdir(parents=True)

        def commit(version, hashes, scene_text):
            golden.write_text(f"engine version {version}\nmade of a.json\n{hashes}\n")
            scene.write_text(scene_text)
            git("add", "-A")
            git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x")
            return len(check()[0])

        faults = [commit(1, "a", "1"), commit(2, "b", "1"), commit(2, "c", "2"), commit(2, "d", "2")]
        print(faults)
        return 0 if faults == [0, 0, 0, 1] else 1


if sys.argv[1:] == ["--self-test"]:
    sys.exit(self_test())
os.chdir(Path(__file__).resolve().parents[2])
faults, files = check()
for line in faults:
    print(line)
print(f"{files} golden files, {len(faults)} changed without a cause")
sys.exit(1 if faults or files == 0 else 0)
