"""Random scenes with rigs under loads, run by several builds of orrery, the first of which is judged by the others: nets, ropes over drums,
bridges, ladders, rings, trees, stars, ropes that land. A change to a solver of rigs helps some scenes and harms others; this counts both.

    tests/bench/rigs.py build/release/bin/orrery /elsewhere/orrery_before --count 300

Figures of a scene:
  gain   J a kg: the most that energy rises above its start, where nothing drives the scene
  late   J a kg: the most that it rises again in the second half
  end    m/s: the fastest body of the last second
  apart  mm: the largest separation of joints; `mean` over ticks of each tick's largest
  deep   mm: the deepest penetration; `rests` at the end
  lost   bodies quarantined, and ticks of bodies whose speed was limited
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

GRAVITY, LINK, STEP = 10.0, 0.1, 0.25
BOXES = {"crate": (0.4, 0.4, 0.4), "plank": (0.2, 0.04, 0.6), "rung": (0.03, 0.03, 0.25), "chassis": (0.5, 0.1, 0.3)}
SPHERES = {"link": LINK, "ball": 0.3, "wheel": 0.15, "knot": 0.03}
SHAPES = ([{"name": n, "box": {"half_extents": list(h)}} for n, h in BOXES.items()] +
          [{"name": n, "sphere": {"radius": r}} for n, r in SPHERES.items()] +
          [{"name": "ground", "plane": {}}, {"name": "drum", "cylinder": {"radius": 0.5, "half_height": 3}}])
OTHERS_ONLY = {"category": 2, "mask": 0xFFFFFFFD}
# By how much a figure must exceed twice the other's before it is worse.
SLACK = {"gain": 0.02, "late": 0.05, "end": 0.02, "apart": 3.0, "mean": 0.5, "deep": 3.0, "rests": 1.5, "lost": 0.0}


class Scene:
    def __init__(self, pick):
        self.pick, self.bodies, self.generators, self.joints = pick, [], [], []
        self.substeps, self.mass = pick.choice([1, 2, 2, 4, 4, 4, 8]), pick.choice([1, 3, 10, 30, 50, 100, 100, 200, 300])
        self.solver = {"rig_joints": 3, "sleep": pick.random() < 0.3}
        chance = pick.random()
        if chance < 0.1: self.solver["rig_iterations"] = pick.choice([16, 40])
        elif chance < 0.25: self.solver["coupling_iterations"] = pick.choice([1, 2, 4, 8])
        self.driven = False
        self.shape_of, self.mass_of = {}, {}

    def body(self, name, shape, at, mass=None, **more):
        mass = self.mass if mass is None else mass
        self.bodies.append({"name": name, "shape": shape, "mass_kg": mass, "position": at, **more})
        self.shape_of[name], self.mass_of[name] = shape, mass

    def still(self, name, shape, at, **more):
        self.bodies.append({"name": name, "shape": shape, "type": "static", "position": at, **more})

    def generate(self, kind, shapes, **fields):
        """`shapes`: of the bodies that it makes, in order; none for those that do not move."""
        self.generators.append({"name": "g", kind: {"mass_kg": 1, **fields}})
        for i, shape in enumerate(shapes):
            if shape: self.shape_of[f"g[{i}]"], self.mass_of[f"g[{i}]"] = shape, 1.0

    def socket(self, b, at, a=None, kind="ball_socket", **more):
        self.joints.append({**({"a": a} if a else {}), "b": b, kind: {"at": at, **more}})

    def text(self):
        return json.dumps({"scene_version": 1, "gravity": [0, -GRAVITY, 0], "substeps": self.substeps, "solver": self.solver, "shapes": SHAPES,
                           "bodies": self.bodies, "generators": self.generators, "joints": self.joints})


def net(s, columns, rows, y):
    s.generate("net", ["link"] * (columns * rows), columns=columns, rows=rows, centred=True, origin=[0, y, 0], shape="link", collide=True,
               joint=s.pick.choice(["ball_socket", "distance"]), **OTHERS_ONLY)


def hung_net(s):
    n, y, load = s.pick.choice([7, 9, 11, 15, 21]), 4.0, s.pick.choice(["ball_socket", "weld", "hinge", "lies", "pebbles", "none"])
    net(s, n, n, y)
    half, middle = (n - 1) * STEP / 2, n // 2 * n + n // 2
    for i, x, z in ((0, -1, -1), (n - 1, 1, -1), (n * (n - 1), -1, 1), (n * n - 1, 1, 1)):
        s.socket(f"g[{i}]", [half * x, y, half * z])
    off = (n // 2) * STEP - half
    if load == "pebbles":
        for i in range(s.pick.choice([1, 3, 8])): s.body(f"p{i}", "wheel", [s.pick.uniform(-0.4, 0.4), y + 0.5 + 0.4 * i, s.pick.uniform(-0.4, 0.4)])
    elif load != "none":
        s.body("crate", "crate", [off, y + 0.55 if load == "lies" else y - 0.6, off])
    if load in ("ball_socket", "weld"): s.joints.append({"a": f"g[{middle}]", "b": "crate", load: {} if load == "weld" else {"at": [off, y - 0.2, off]}})
    if load == "hinge": s.socket("crate", [off, y - 0.15, off], f"g[{middle}]", "hinge", axis=[1, 0, 0])


def falling_net(s):
    n, over = s.pick.choice([7, 11, 15]), s.pick.choice(["ground", "drum", "crate"])
    net(s, n, n, 1.0 if over == "ground" else 2.2)
    s.still("ground", "ground", [0, 0, 0])
    if over == "drum": s.still("drum", "drum", [0, 0.8, 0], rotation_deg=[90, 0, 0])
    if over == "crate": s.body("crate", "crate", [0.1, 0.4, 0.05])


def net_over_drum(s):
    net(s, 15, 11, 3.75)
    s.still("drum", "drum", [0, 3.1, 0], rotation_deg=[90, 0, 0])
    for i, x, z in ((0, -1.75, -1.25), (14, 1.75, -1.25), (150, -1.75, 1.25), (164, 1.75, 1.25)):
        s.body(f"c{i}", "crate", [x, 3.2, z], category=2, mask=0)
        s.socket(f"c{i}", [x, 3.7, z], f"g[{i}]")


def rope(s, n, x, y, **more):
    s.generate("chain", ["link"] * n, links=n, origin=[x, y, 0], spacing=STEP, shape="link", collide=True, **OTHERS_ONLY, **more)


def rope_over_drum(s):
    n, end, turns = s.pick.choice([11, 21, 41]), s.pick.choice(["ball", "crate"]), s.pick.random() < 0.35
    drum = {"type": "kinematic", "angular_velocity": [0, 0, s.pick.choice([0.5, 2.0])]} if turns else {"type": "static"}
    s.driven = turns
    s.bodies.append({"name": "drum", "shape": "drum", "position": [0, 3, 0], "rotation_deg": [90, 0, 0], **drum})
    first = -STEP * (n - 1) / 2
    rope(s, n, first - STEP / 2, 3.75, attached=False, linear_damping=0.5, angular_damping=0.5)
    for name, link, side in (("left", 0, -1), ("right", n - 1, 1)):
        x = first + link * STEP
        s.body(name, end, [x + 0.5 * side, 3.75, 0], linear_damping=0.5, angular_damping=0.5)
        s.socket(name, [x + 0.1 * side, 3.75, 0], f"g[{link}]")


def rope_lands(s):
    n = s.pick.choice([20, 60, 200])
    y = s.pick.uniform(0.5, 3.0)
    s.still("ground", "ground", [0, 0, 0])
    rope(s, n, 0, y, attached=s.pick.random() < 0.3)
    if s.pick.random() < 0.6:
        s.body("crate", "crate", [STEP * n + 0.5, y, 0])
        s.joints.append({"a": f"g[{n - 1}]", "b": "crate", "ball_socket": {"anchor_a": [0.125, 0, 0], "anchor_b": [-0.4, 0, 0]}})


def bridge(s):
    n, load = s.pick.choice([8, 16, 16, 24]), s.pick.choice(["crate", "ball", "cart", "cart", "hangs"])
    s.generate("bridge", ["plank"] * n, count=n, origin=[0, 2, 0], shape="plank", collide=True)
    x = s.pick.uniform(0.25, 0.5) * n * 0.5
    if load in ("crate", "ball"): s.body("load", load, [x, 2.6, 0])
    elif load == "hangs":
        s.body("load", "crate", [0.25 + 0.5 * (n // 2), 1.2, 0])
        s.socket("load", [0.25 + 0.5 * (n // 2), 1.8, 0], f"g[{n // 2}]")
    else:
        s.body("load", "chassis", [x - 1, 2.45, 0], linear_velocity=[2, 0, 0])
        for i, (dx, dz) in enumerate(((-0.4, -0.45), (0.4, -0.45), (-0.4, 0.45), (0.4, 0.45))):
            s.body(f"w{i}", "wheel", [x - 1 + dx, 2.3, dz], max(s.mass, 5) / 10, linear_velocity=[2, 0, 0])
            s.socket(f"w{i}", [x - 1 + dx, 2.3, dz], "load", "hinge", axis=[0, 0, 1])


def ladder(s):
    n, links, step = s.pick.choice([4, 8, 12, 20]), s.pick.choice([0, 1, 2]), s.pick.choice([0.3, 0.3, 0.6])
    rung, knot, top = s.pick.choice(["rung", "rung", "link"]), s.pick.choice(["knot", "link"]), step * n + 3
    s.generate("rope_ladder", [rung] * n, rungs=n, links=links, step=[0, -step, 0], origin=[0, top, 0], rung_shape=rung, collide=False, **({"link_shape": knot} if links else {}))
    for i in range(2 * links * n): s.shape_of[f"g[{n + i}]"], s.mass_of[f"g[{n + i}]"] = knot, 1.0
    s.body("crate", "crate", [0, top - step * (n - 1) - 0.6, 0])
    for z in s.pick.choice([(0.0,), (-0.2, 0.2)]): s.joints.append({"a": f"g[{n - 1}]", "b": "crate", "ball_socket": {"anchor_a": [0, 0, z], "anchor_b": [0, 0.6, z]}})


def ring(s):
    n, load = s.pick.choice([8, 20, 32, 64, 128]), s.pick.choice(["none", "hangs", "ground"])
    bead, step = s.pick.choice(["link", "link", "knot"]), s.pick.choice([STEP, STEP, 0.5])
    radius = step / (2 * math.sin(math.pi / n))
    y = radius + 0.2 if load == "ground" else 2 * radius + 2
    s.generate("ring", [bead] * n, count=n, spacing=step, origin=[0, y, 0], shape=bead, attached=load != "ground", collide=True)
    if load == "ground": s.still("ground", "ground", [0, 0, 0])
    if load == "hangs":
        s.body("crate", "crate", [0, y - 2 * radius - 0.6, 0], category=2, mask=0)
        s.joints.append({"a": f"g[{n // 2}]", "b": "crate", "ball_socket": {"anchor_a": [0, -0.1, 0], "anchor_b": [0, 0.5, 0]}})


def tree(s):
    branches, levels = s.pick.choice([(2, 3), (2, 5), (2, 6), (3, 4), (4, 3)])
    n, load = sum(branches**i for i in range(levels)), s.pick.choice(["none", "hangs", "touches", "lies"])
    touched = load in ("touches", "lies")
    y = STEP * levels + 0.3 if load == "lies" else 4.0
    s.generate("tree", ["link"] * n, branches=branches, levels=levels, origin=[0, y, 0], shape="link", attached=load != "lies",
               collide=touched, **(OTHERS_ONLY if touched else {}))
    if load == "lies": s.still("ground", "ground", [0, 0, 0])
    if load == "touches": s.still("drum", "drum", [0.3, y - 1.4, 0], rotation_deg=[90, 0, 0])
    if load == "hangs":
        s.body("crate", "crate", [0, y - 2.5, 0], category=2, mask=0)
        s.joints.append({"a": f"g[{n - 1}]", "b": "crate", "ball_socket": {"anchor_a": [0, -0.1, 0], "anchor_b": [0, 0.4, 0]}})


def star(s):
    arms, length, load = s.pick.choice([4, 8, 16]), s.pick.choice([1, 2, 4]), s.pick.choice(["hub", "tips"])
    s.body("hub", "ball", [0, 3, 0])
    if load == "hub": s.socket("hub", [0, 3, 0])
    for arm in range(arms):
        x, z, before = math.cos(2 * math.pi * arm / arms), math.sin(2 * math.pi * arm / arms), "hub"
        for k in range(length):
            name, out = f"a{arm}_{k}", 0.45 + STEP * k
            s.body(name, "link", [out * x, 3, out * z], 1, **OTHERS_ONLY)
            s.socket(name, [(out - 0.1) * x, 3, (out - 0.1) * z], before)
            before = name
        if load == "tips" and arm % 2 == 0: s.socket(before, [(0.55 + STEP * (length - 1)) * x, 3, (0.55 + STEP * (length - 1)) * z])


FAMILIES = [hung_net, hung_net, falling_net, net_over_drum, rope_over_drum, rope_over_drum, rope_lands, bridge, bridge, ladder, ring, tree, star]


def spin_energy(shape, mass, q, w):
    """q: x y z w, body to world."""
    if shape in SPHERES: return 0.2 * mass * SPHERES[shape]**2 * sum(x * x for x in w)
    x, y, z, s = -q[0], -q[1], -q[2], q[3]
    t = [2 * (y * w[2] - z * w[1]), 2 * (z * w[0] - x * w[2]), 2 * (x * w[1] - y * w[0])]
    local = [w[0] + s * t[0] + y * t[2] - z * t[1], w[1] + s * t[1] + z * t[0] - x * t[2], w[2] + s * t[2] + x * t[1] - y * t[0]]
    squares = [e * e for e in BOXES[shape]]
    return sum(mass / 6 * (sum(squares) - squares[i]) * local[i]**2 for i in range(3))


def run(orrery, path, scene, ticks, every):
    """What `orrery run` prints, its last line apart; or None and why not."""
    done = subprocess.run([orrery, "run", path, "--ticks", str(ticks), "--json", "--bodies", ",".join(scene.shape_of), "--bodies-every", str(every)],
                          capture_output=True, text=True)
    if done.returncode: return None, done.stderr.strip() or f"exit code {done.returncode}"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[:-1], lines[-1]


def energies(scene, lines):
    """J, by tick."""
    energy = {}
    for line in lines:
        name = line["body"]
        mass, square = scene.mass_of[name], sum(x * x for x in line["linear_velocity"])
        energy[line["tick"]] = energy.get(line["tick"], 0.0) + mass * (square / 2 + GRAVITY * line["position"][1]) + spin_energy(
            scene.shape_of[name], mass, line["orientation"], line["angular_velocity"])
    return energy


def measure(orrery, path, scene, ticks, start):
    every = max(1, ticks // 60)
    lines, last = run(orrery, path, scene, ticks // every * every, every)
    if lines is None: return {"error": last}
    energy, speed, total = energies(scene, lines), {}, sum(scene.mass_of.values())
    for line in lines: speed[line["tick"]] = max(speed.get(line["tick"], 0.0), math.hypot(*line["linear_velocity"]))
    late, least = 0.0, math.inf
    for tick in sorted(energy):
        if tick > ticks / 2:
            least = min(least, energy[tick])
            late = max(late, energy[tick] - least)
    quality = {key: math.nan if value is None else value for key, value in last["quality"].items()}
    return {"hash": last["hash"], "gain": 0.0 if scene.driven else max(0.0, max(energy.values()) - start) / total, "late": 0.0 if scene.driven else late / total,
            "end": max(v for t, v in speed.items() if t > ticks - 60), "apart": 1e3 * quality["max_separation_m"], "mean": 1e3 * quality["mean_max_separation_m"],
            "deep": 1e3 * quality["max_penetration_m"], "rests": 1e3 * quality["end_penetration_m"], "lost": quality["quarantined"] + quality["speed_limited"]}


def scene_of(seed, number):
    pick = random.Random(f"{seed}:{number}")
    scene = Scene(pick)
    family = pick.choice(FAMILIES)
    family(scene)
    return family.__name__, scene


def one(arguments, number):
    name, scene = scene_of(arguments.seed, number)
    path = pathlib.Path(arguments.folder, f"{arguments.seed}_{number}_{name}.json")
    path.write_text(scene.text())
    first, why = run(arguments.orrery[0], path, scene, 1, 1)  # the start is not printed; in a tick nothing gains much
    if first is None: return name, scene, [{"error": why}]
    start = energies(scene, first)[1]
    return name, scene, [measure(orrery, path, scene, arguments.ticks, start) for orrery in arguments.orrery]


def compare(new, old):
    worse, better = [], []
    for figure, slack in SLACK.items():
        x, y = new[figure], old[figure]
        if math.isnan(x) or math.isnan(y): continue
        if x > 2 * y + slack: worse.append(f"{figure} {y:.3g} -> {x:.3g}")
        elif y > 2 * x + slack: better.append(f"{figure} {y:.3g} -> {x:.3g}")
    return worse, better


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery", nargs="+", help="programs; the first is judged, each of the others judges it")
    parser.add_argument("--count", type=int, default=300, help="scenes (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first scene's number, to go on where a run ended or to run one again")
    parser.add_argument("--seed", type=int, default=1, help="%(default)s")
    parser.add_argument("--ticks", type=int, default=1200, help="of each scene (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="scenes at a time (%(default)s)")
    parser.add_argument("--folder", help="where scenes are kept; without it they are deleted at the end")
    arguments = parser.parse_args()
    kept = None if arguments.folder else tempfile.TemporaryDirectory()
    arguments.folder = arguments.folder or kept.name
    pathlib.Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    counts = {orrery: {} for orrery in arguments.orrery[1:]}
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        numbers = range(arguments.first, arguments.first + arguments.count)
        for number, (name, scene, figures) in zip(numbers, pool.map(lambda n: one(arguments, n), numbers)):
            head = ", ".join([f"{number} {name} of {scene.mass:g} kg", f"{scene.substeps} substeps"] +
                             [f"{k} {v}" for k, v in scene.solver.items() if k.endswith("iterations")] + ["sleep"] * scene.solver["sleep"])
            broken = [f["error"] for f in figures if "error" in f]
            if broken:
                failed += 1
                print(f"{head}: {broken}", flush=True)
                continue
            if not counts: print(f"{head}: " + ", ".join(f"{k} {figures[0][k]:.3g}" for k in SLACK), flush=True)
            for orrery, old in zip(arguments.orrery[1:], figures[1:]):
                worse, better = compare(figures[0], old)
                verdict = ("same bits" if figures[0]["hash"] == old["hash"] else "mixed" if worse and better else "worse" if worse else "better" if better else "alike")
                row = counts[orrery].setdefault(name, {})
                row[verdict] = row.get(verdict, 0) + 1
                if worse or better:
                    print(f"{head}: " + "; ".join(f"{word}: {', '.join(what)}" for word, what in (("worse", worse), ("better", better)) if what), flush=True)
    verdicts = ["better", "alike", "worse", "mixed", "same bits"]
    for orrery, rows in counts.items():
        print(f"\n{arguments.orrery[0]} against {orrery}\n{'':16}" + "".join(f"{v:>11}" for v in verdicts))
        for name in sorted(rows): print(f"{name:16}" + "".join(f"{rows[name].get(v, 0):>11}" for v in verdicts))
        print(f"{'all':16}" + "".join(f"{sum(r.get(v, 0) for r in rows.values()):>11}" for v in verdicts))
    if failed: print(f"{failed} scenes did not run")
    return 1 if failed else 0


sys.exit(main())
