#!/usr/bin/env python3
"""Counts the objects of the libraries and programs that a build folder compiles again after an edit of a file.

    rebuild.py BUILD FILE MOST [FILE MOST]...

A FILE is given from the root of the source tree. Objects of tests are not counted. Exit 1 where more than MOST objects depend on a
FILE, or none does. The dependencies are those that the compiler wrote when it last compiled: build first.
"""
import subprocess
import sys
from pathlib import Path


def dependencies(build):
    """Object -> files that it was compiled from."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    found, files = {}, None
    for line in text.splitlines():
        if line.startswith("    "):
            files.add((Path(build) / line.strip()).resolve().as_posix())
        elif ": #deps" in line:
            files = found.setdefault(line.split(":")[0], set())
    return found


def main():
    build, limits = sys.argv[1], sys.argv[2:]
    if len(limits) < 2 or len(limits) % 2:
        sys.exit(__doc__)
    root = Path(__file__).resolve().parents[2]
    objects = {o: f for o, f in dependencies(build).items() if not o.startswith("tests/")}
    bad = False
    for file, most in zip(limits[::2], limits[1::2]):
        count = sum((root / file).as_posix() in files for files in objects.values())
        wrong = count == 0 or count > int(most)
        bad = bad or wrong
        print(f"{file}: {count} of {len(objects)} objects, at most {most}{'  TOO MANY' if count > int(most) else ''}"
              f"{'  NOT COMPILED' if count == 0 else ''}")
    return 1 if bad else 0


sys.exit(main())
