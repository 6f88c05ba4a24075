"""`orrery bisect --with` names where another build's bits go apart: one whose compiler contracts a*b+c in the solver, and
one of another constant.

bisect.py ORRERY SCENES CHANGED (CONTRACTED OBJECT OBJDUMP | "none: WHY")
Exit 77 and the reason where there is no contracted build, or the machine cannot run it: then the rest has passed."""
import json
import os
import subprocess
import sys
import tempfile

orrery, scenes, changed, contracted = sys.argv[1:5]
TICKS = 630  # one keyframe, after 10 s


def run(*command, codes=(0,)):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}, not {codes}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(condition, text):
    if not condition:
        sys.exit("FAILED: " + text)


def bisect(program, replay, *options, code):
    return json.loads(run(program, "bisect", replay, "--json", *options, codes=(code,)))


def record(program, scene, folder):
    os.mkdir(folder)
    run(program, "run", f"{scenes}/{scene}.json", "--ticks", str(TICKS), "--record", folder, "--target", "scalar")
    return os.path.join(folder, os.listdir(folder)[0])


def state(program, replay, tick):
    """Every element of the state that the program finds, by list and index."""
    lines = run(program, "replay", "state", replay, "--tick", str(tick), "--start", "0", "--unchecked", "--json",
                "--target", "scalar").splitlines()
    return {(element["list"], element["index"]): element for element in map(json.loads, lines)}


def number(element, found):
    value = element["fields"][found["field"]]
    return float(value[found["number"]] if isinstance(value, list) else value)


def goes_apart(other, what, folder):
    """The first difference is where the dumps of both programs say it is, and the tick before has none."""
    os.mkdir(folder)
    replay = record(orrery, "yard", folder + "/good")
    report = bisect(orrery, replay, "--with", other, "--target", "scalar", code=1)
    check(report["result"] == "differs", f"{what}: {report}")
    tick, found = report["first_divergent_tick"], report["difference"]
    check(report["ticks"] == tick - 1 and found["tick"] == tick and not found["keyframe"], f"{what}: {report}")
    check(found["subsystem"] in report["subsystems"], f"{what}: {report}")
    check(found["called"] and found["bodies"] and found["field"], f"{what}: no body or no field: {report}")
    check(found["here_bits"] != found["there_bits"] and found["ulps"] > 0, f"{what}: {report}")
    check("recording agrees with this program" in report["note"], f"{what}: {report}")
    here, there = state(orrery, replay, tick), state(other, replay, tick)
    place = (found["list"], found["index"])
    check(here[place]["called"] == found["called"], f"{what}: {here[place]}")
    check(number(here[place], found) == found["here"], f"{what}: {here[place]} has not {found['here']}")
    check(number(there[place], found) == found["there"], f"{what}: {there[place]} has not {found['there']}")
    check(state(orrery, replay, tick - 1) == state(other, replay, tick - 1), f"{what}: tick {tick - 1} differs already")
    print(f"{what}: tick {tick}, {found['list']}[{found['index']}] {found['called']}, {found['name']}: "
          f"{found['here']} and {found['there']}, {found['ulps']} ulp")

    back = bisect(other, replay, "--with", orrery, "--target", "scalar", code=1)
    swapped = back["difference"]
    check((swapped["here_bits"], swapped["there_bits"]) == (found["there_bits"], found["here_bits"]), f"{what}: {back}")
    check(back["first_divergent_tick"] == tick and "agrees with " + orrery in back["note"], f"{what}: {back}")

    # Of what the other program recorded, the state is known at the keyframe alone.
    theirs = record(other, "yard", folder + "/other")
    report = bisect(orrery, theirs, "--target", "scalar", code=1)
    found = report["difference"]
    check(report["first_divergent_tick"] == tick, f"{what}: {report}")
    check(found["keyframe"] and found["tick"] == 600 and found["called"] and found["field"], f"{what}: {report}")
    check("recorded state nearest behind tick" in report["note"], f"{what}: {report}")
    place = (found["list"], found["index"])
    check(number(state(other, theirs, 600)[place], found) == found["there"], f"{what}: {report}")
    check(bisect(other, theirs, code=0, *["--target", "scalar"])["result"] == "same", what)


def goes_apart_late(other, folder):
    """Behind a keyframe, from which the other program's state is then simulated: a crate that falls for 10.5 s."""
    scene = {"scene_version": 1, "name": "fall", "shapes": [{"name": "ground", "box": {"half_extents": [50, 1, 50]}},
                                                           {"name": "crate", "box": {"half_extents": [0.5, 0.5, 0.5]}}],
             "bodies": [{"name": "ground", "type": "static", "shape": "ground", "position": [0, -1, 0]},
                        {"name": "crate", "shape": "crate", "position": [0, 552, 0], "rotation_deg": [20, 10, 30]}]}
    os.mkdir(folder)
    with open(folder + "/fall.json", "w") as file:
        json.dump(scene, file)
    run(orrery, "run", folder + "/fall.json", "--ticks", "800", "--record", folder + "/recorded")
    report = bisect(orrery, folder + "/recorded/" + os.listdir(folder + "/recorded")[0], "--with", other, code=1)
    check(report["first_divergent_tick"] > 600 and report["difference"]["called"] == "crate", f"late: {report}")
    print(f"late: tick {report['first_divergent_tick']}, {report['difference']['name']}")


with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
    goes_apart_late(changed, folder + "/late")
    replay = record(orrery, "pyramid", folder + "/same")
    report = bisect(orrery, replay, "--with", orrery, code=0)
    check(report["result"] == "same" and report["ticks"] == TICKS, f"the same program: {report}")
    goes_apart(changed, "another constant", folder + "/changed")
    if contracted.startswith("none: "):
        print("skipped, the contracted build: " + contracted[len("none: "):])
        sys.exit(77)
    object_file, objdump = sys.argv[5:7]
    fused = run(objdump, "-d", "--no-show-raw-insn", object_file).count("vfmadd")
    check(fused > 0, f"{object_file} has no fused multiply-add: the compiler did not heed its flags")
    print(f"the contracted build has {fused} fused multiply-adds")
    with open("/proc/cpuinfo") as cpus:
        if " fma " not in cpus.read().replace("\n", " \n"):
            print("skipped, the contracted build: this machine has no fused multiply-add")
            sys.exit(77)
    goes_apart(contracted, "contraction", folder + "/contracted")
