"""The rigs' bits on a GPU are the CPU's. gpu.py ORRERY SCENES TEST_SERVER; exit 77 and a reason where no GPU answers."""
import json
import subprocess
import sys

orrery, scenes, test_server = sys.argv[1:4]


def lines(*arguments):
    done = subprocess.run([orrery, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"orrery {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


gpu = lines("doctor", "--json")[0]["gpu"]
if gpu.startswith("none"):
    print(f"skipped, for it needs a GPU: {gpu}")
    sys.exit(77)
print(f"GPU: {gpu}")

runs = [["bench", name, "--json", "--ticks", ticks, *more] for name, ticks, more in (
    ("S1_1k", "600", []), ("S1_10k", "300", ["--substeps", "2"]), ("S1_100k", "60", ["--substeps", "8"]), ("rig_tip", "300", []),
    ("rig_tree", "120", []), ("rig_net", "300", []), ("S5_ball", "60", ["--substeps", "2"]), ("S5_dist", "60", ["--substeps", "2"]))]
runs += [["run", f"{scenes}/{scene}.json", "--json", "--ticks", "300"] for scene in ("chains", "necklaces", "gallery/rigs")]
bad = subprocess.run([test_server, "--test-case=a GPU gives*", "--no-skip"]).returncode != 0  # random ones
for run in runs:
    cpu = [line for line in lines(*run, "--jacobi", "cpu") if "hash" in line][-1]
    cuda = [line for line in lines(*run, "--jacobi", "cuda") if "hash" in line][-1]
    same = cpu["hash"] == cuda["hash"] and (cuda["jacobi"] == "cuda" or "gallery" in run[1])
    bad += not same
    print(f"{' '.join(run)}: cpu {cpu['hash']} {cpu['ms_median']} ms, {cuda['jacobi']} {cuda['hash']} {cuda['ms_median']} ms: "
          f"{'the same' if same else 'DIFFERENT'}")
sys.exit(1 if bad else 0)
