"""Every scene of the gallery runs for 60 simulated seconds, keeps the bounds that it states and loses no body; without the constraint that it
shows it keeps them not, so that they hold it to something; and one that breaks a bound says so. gallery.py ORRERY SCENES"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

orrery, scenes = sys.argv[1:3]


def run(path):
    done = subprocess.run([orrery, "run", path, "--ticks", "3600", "--json"], capture_output=True, text=True)
    return done, json.loads(done.stdout.splitlines()[-1]) if done.returncode in (0, 1) else {}


paths = sorted(pathlib.Path(scenes, "gallery").glob("*.json"))
constraints = len(re.findall(r"\bX\(\w+, \w+\)", pathlib.Path(scenes, "../../sim/constraints/list.h").read_text()))
bad = 0 if paths else 1
for path in paths:
    done, report = run(path)
    quality = report.get("quality", {})
    if done.returncode != 0 or not report["bounds"] or report["bounds_broken"] or report["bounds_not_reached"] or quality["quarantined"] or quality["speed_limited"]:
        bad += 1
        print(f"{path.name}: exit {done.returncode} {report} {done.stderr}")

with tempfile.TemporaryDirectory() as folder:
    shown = 0
    for path in paths:
        scene = json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE))
        others = [joint for joint in scene.get("joints", []) if path.stem not in joint]
        if len(others) == len(scene.get("joints", [])):
            continue
        shown += 1
        without = pathlib.Path(folder, path.name)
        without.write_text(json.dumps(scene | {"joints": others}))
        done, report = run(without)
        if done.returncode != 1 or not report["bounds_broken"]:
            bad += 1
            print(f"{path.name} without its {path.stem}: exit {done.returncode} {report} {done.stderr}")
    if shown != constraints or constraints < 2:
        bad += 1
        print(f"{shown} scenes show a constraint of their name, of {constraints}")
    path = pathlib.Path(folder, "falls.json")
    path.write_text('{"scene_version": 1, "shapes": [{"name": "s", "sphere": {"radius": 0.5}}], "bodies": [{"name": "b", "shape": "s"}],'
                    ' "bounds": [{"body": "b", "of": "x", "most": 1}, {"body": "b", "of": "y", "least": -1}]}')
    done, report = run(path)
    if (done.returncode, report.get("bounds"), report.get("bounds_broken")) != (1, 2, 1) or 'bounds[1]: y of "b" was -1.0' not in done.stderr:
        bad += 1
        print(f"a broken bound: exit {done.returncode} {report} {done.stderr}")
print(f"{len(paths)} scenes, {bad} of them bad, {shown} without what they show")
sys.exit(1 if bad else 0)
