#!/usr/bin/env python3
"""Fails where an #include runs upward: a file includes only what stands on its own floor or below.

    floors.py ROOT          checks every #include of sim/, protocol/, server/ and client_sdk/
    floors.py --self-test   checks that an upward #include is found

FLOORS is the one list of the floors, the lowest first. A floor is a list of patterns of paths, and the longest pattern that fits a
file decides. Folders without a pattern are errors: a new folder is given its floor here.
"""
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

FLOORS = [
    ["sim/base/"],
    # The public interface: its headers and the descriptions of constraints.
    ["sim/include/orrery/", "sim/constraints/*.h", "sim/constraints/list.h"],
    ["sim/lanes/"],
    ["sim/bodies/"],
    ["sim/trees/"],
    ["sim/shapes/"],
    ["sim/collision/"],
    # What the solver does of constraints: bundles, forms and functions in lanes.
    ["sim/constraints/*-inl.h", "sim/constraints/bundle.h", "sim/constraints/*_form.h"],
    ["sim/solver/"],
    ["sim/rigs/"],
    ["sim/world/"],
    ["sim/examples/"],
    ["protocol/netcode/", "protocol/snapshot/", "protocol/scene/"],
    ["protocol/session/", "protocol/replay/"],
    ["client_sdk/include/orrery/"],
    ["client_sdk/src/", "client_sdk/web/"],
    ["client_sdk/examples/"],
    ["server/base/"],
    ["server/room/"],
    ["server/include/orrery/"],
    ["server/control/"],
    ["server/net/"],
    ["server/cli/"],
    ["server/examples/", "client_sdk/examples/sumo/"],
]
INCLUDES = {"orrery/client": "client_sdk/include/", "orrery/server": "server/include/", "orrery/": "sim/include/"}  # of public headers, by their beginnings
ENDINGS = {".h", ".hpp", ".cpp", ".c", ".cu", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def floor_of(path):
    best = None
    for number, patterns in enumerate(FLOORS):
        for pattern in patterns:
            fits = path.startswith(pattern) if pattern.endswith("/") else fnmatchcase(path, pattern)
            if fits and (best is None or len(pattern) > len(best[1])):
                best = (number, pattern)
    return best[0] if best else None


def place_of(included):
    for beginning, folder in INCLUDES.items():
        if included.startswith(beginning):
            return folder + included
    if included.split("/")[0] in ("sim", "protocol", "server", "client_sdk"):
        return included
    return None  # a library's, or of the same folder


def upward(path, text):
    own = floor_of(path)
    if own is None:
        return [f"{path}: no floor; give its folder one in tests/house/floors.py"]
    found = []
    for match in INCLUDE.finditer(text):
        place = place_of(match.group(1))
        if place is None:
            continue
        other = floor_of(place)
        line = text.count("\n", 0, match.start()) + 1
        if other is None:
            found.append(f'{path}:{line}: "{match.group(1)}" has no floor')
        elif other > own:
            found.append(f'{path}:{line}: "{match.group(1)}" stands on a higher floor; move what is needed down')
    return found


def main():
    if sys.argv[1:] == ["--self-test"]:
        bad = upward("sim/lanes/x.h", '#include "sim/world/core.h"\n')
        good = upward("sim/world/x.cpp", '#include "sim/lanes/number-inl.h"\n#include "orrery/sim.hpp"\n#include <vector>\n')
        public = upward("sim/constraints/hinge.h", '#include "sim/constraints/hinge-inl.h"\n')
        unknown = upward("sim/attic/x.h", "")
        return 0 if len(bad) == 1 and not good and len(public) == 1 and len(unknown) == 1 else 1
    root = Path(sys.argv[1])
    found, files = [], 0
    for room in ("sim", "protocol", "server", "client_sdk"):
        for file in sorted((root / room).rglob("*")):
            if file.suffix in ENDINGS and file.is_file() and "node_modules" not in file.parts:
                files += 1
                found += upward(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    for line in found:
        print(line)
    print(f"{files} files, {len(found)} upward includes")
    return 1 if found or files < 200 else 0


sys.exit(main())
