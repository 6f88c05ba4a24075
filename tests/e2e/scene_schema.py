"""The JSON Schema of scenes agrees with the loader: every shipped scene is valid, and the schema refuses the unknown keys
and the values of wrong type that the loader refuses. scene_schema.py ORRERY SCENES"""
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema  # python3-jsonschema: deploy/deps test

orrery, scenes = sys.argv[1:3]
LEAST_CHANGED = 400  # scenes with one change that have to be refused: the shipped scenes have more kinds of places


def plain(text):
    """Without comments and commas before a closing bracket, which JSON does not have."""
    token = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return re.sub(r",(\s*[}\]])", r"\1", token.sub(lambda found: found.group(1) or " ", text))


def places(value, kind=()):
    """Every value below, with how to get to it: (kind of place, path)."""
    yield kind, ()
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        for below, path in places(part, kind + (key if isinstance(value, dict) else "[]",)):
            yield below, (key,) + path


def at(scene, path):
    for key in path:
        scene = scene[key]
    return scene


def changes(value):
    """What may stand in its place, and whether the loader has to refuse it."""
    if isinstance(value, dict):
        yield value | {"colour": 1}, True
        yield "a string", True
    elif isinstance(value, list):
        yield "a string", True
        yield 3, True
    elif isinstance(value, bool):
        yield "true", True
    elif isinstance(value, str):
        yield 5, False  # FlatBuffers takes the number of a word
        yield [], True
        yield {}, True
    else:
        yield str(value), True
        yield [value], True


def changed(scene, path, value):
    copied = copy.deepcopy(scene)
    if not path:
        return value
    at(copied, path[:-1])[path[-1]] = value
    return copied


def refused(files):
    """Which of them the loader refuses."""
    bad = set()
    for begin in range(0, len(files), 500):
        done = subprocess.run([orrery, "check", "--json", *files[begin:begin + 500]], capture_output=True, text=True)
        if done.returncode not in (0, 2) or done.stderr:
            sys.exit(f"orrery check: exit {done.returncode} {done.stderr}")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        bad |= {line["file"] for line in lines if line.get("severity") == "error"}
    return bad


schema = json.loads(subprocess.run([orrery, "check", "--json-schema", "-"], capture_output=True, text=True, check=True).stdout)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)

faults = []
seen = set()
cases = []  # scene, what was changed, and whether the loader has to refuse it, or None: it has to take it
paths = sorted(pathlib.Path(scenes).rglob("*.json"))
for path in paths:
    scene = json.loads(plain(path.read_text()))
    for error in validator.iter_errors(scene):
        faults.append(f"{path}: is not valid by the schema: {error.json_path}: {error.message}")
    cases.append((scene | {"$schema": "scene.schema.json"}, f"{path.name}: $schema", None))
    cases.append(({key: value for key, value in scene.items() if key != "scene_version"}, f"{path.name}: no scene_version", True))
    for kind, place in places(scene):
        if kind in seen:
            continue
        seen.add(kind)
        for value, has_to in changes(at(scene, place)):
            cases.append((changed(scene, place, value), f"{path.name}: {place} is {json.dumps(value)[:60]}", has_to))

with tempfile.TemporaryDirectory() as folder:
    files = []
    for number, (scene, what, has_to) in enumerate(cases):
        file = pathlib.Path(folder, f"{number}.json")
        file.write_text(json.dumps(scene))
        files.append(str(file))
    bad = refused(files)
    for file, (scene, what, has_to) in zip(files, cases):
        if has_to is not None and has_to and file not in bad:
            faults.append(f"{what}: the loader takes it")
        if has_to is None and file in bad:
            faults.append(f"{what}: the loader refuses it")
        if has_to is None and not validator.is_valid(scene):
            faults.append(f"{what}: the schema refuses it")
        if file in bad and validator.is_valid(scene):
            faults.append(f"{what}: the loader refuses it, the schema does not")
if len(bad) < LEAST_CHANGED:
    faults.append(f"only {len(bad)} changed scenes were refused, of {LEAST_CHANGED} at least")
print("\n".join(faults[:40]))
print(f"{len(paths)} scenes are valid, {len(bad)} of {len(cases)} changed ones refused by both; {len(faults)} faults")
sys.exit(1 if faults or not paths else 0)
