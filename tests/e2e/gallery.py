"""Every scene of the gallery runs for 60 simulated seconds and loses no body on the way. gallery.py ORRERY SCENES"""
import json
import pathlib
import subprocess
import sys

orrery, scenes = sys.argv[1:3]
paths = sorted(pathlib.Path(scenes, "gallery").glob("*.json"))
bad = 0 if paths else 1
for path in paths:
    done = subprocess.run([orrery, "run", path, "--ticks", "3600", "--json"], capture_output=True, text=True)
    quality = json.loads(done.stdout.splitlines()[-1])["quality"] if done.returncode == 0 else {}
    if quality.get("quarantined") != 0 or quality.get("speed_limited") != 0:
        bad += 1
        print(f"{path.name}: exit {done.returncode} {quality} {done.stderr}")
print(f"{len(paths)} scenes, {bad} of them bad")
sys.exit(1 if bad else 0)
