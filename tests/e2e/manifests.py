#!/usr/bin/env python3
"""Every manifest of deploy/ is what Kubernetes and Agones take: each against kubernetes-models or the schema of Agones, in which a
field that the kind does not have is an error, too. A manifest with any one field misspelt is found. Containers are
confined, and have the time that a drain takes.

usage: manifests.py BINARY_DIR SOURCE_DIR [NAME...]"""
import copy
import glob
import importlib.util
import json
import os
import re
import subprocess
import sys

import jsonschema

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import check, main

SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
TOOLS = os.path.join(SOURCE, "deploy", "tools")
AGONES = os.path.join(SOURCE, "tests", "data", "agones")
COMPOSE = os.path.join(SOURCE, "deploy", "compose.yaml")
# Fields whose own fields are names that the user gives.
FREE = {"labels", "annotations", "matchLabels", "data", "requests", "limits", "counters", "lists"}


def node(*arguments, given=None):
    run = subprocess.run([os.path.join(TOOLS, "node_modules", ".bin", "node"), os.path.join(TOOLS, "manifests.mjs"), *arguments],
                         input=given, capture_output=True, text=True, timeout=120)
    check(run.returncode == 0, run.stderr)
    return json.loads(run.stdout)


def closed(schema, inside=False):
    """The schema with unknown fields as errors. `inside`: its keys are names of fields."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(value, key in ("properties", "definitions") and not inside) for key, value in schema.items()}
    if not inside and "properties" in schema and "additionalProperties" not in schema:
        out["additionalProperties"] = False
    return out


def agones_validators():
    with open(os.path.join(AGONES, "crds.json"), encoding="utf-8") as file:
        crds = json.load(file)
    meta = next(crd for crd in crds if crd["kind"] == "Fleet")["schema"]["properties"]["spec"]["properties"]["template"]["properties"]["metadata"]
    validators = {}
    for crd in crds:
        schema = copy.deepcopy(crd["schema"])
        schema["properties"].update(apiVersion={"const": f"{crd['group']}/{crd['version']}"}, kind={"const": crd["kind"]}, metadata=meta)
        schema["required"] = ["apiVersion", "kind", "metadata", "spec"]
        validators[crd["kind"]] = jsonschema.Draft7Validator(closed(schema))
    with open(os.path.join(AGONES, "allocation.schema.json"), encoding="utf-8") as file:
        validators["GameServerAllocation"] = jsonschema.Draft7Validator(closed(json.load(file)))
    return validators


class Checker:
    def __init__(self):
        self.agones = agones_validators()

    def faults(self, documents):
        """What is wrong with each document."""
        found = [None] * len(documents)
        others = []
        for at, document in enumerate(documents):
            if "agones.dev" in str(document.get("apiVersion")):
                validator = self.agones.get(document.get("kind"))
                found[at] = [f"{'.'.join(map(str, error.path))}: {error.message[:200]}" for error in validator.iter_errors(document)] \
                    if validator else [f"there is no kind {document.get('kind')}"]
            else:
                others.append(at)
        for at, faults in zip(others, node("check", given=json.dumps([documents[at] for at in others])) if others else ()):
            found[at] = faults
        return found


def manifests():
    files = sorted(glob.glob(os.path.join(SOURCE, "deploy", "**", "*.yaml"), recursive=True))
    files = [file for file in files if "node_modules" not in file and file != COMPOSE and os.path.basename(file) != "openapi.yaml"]
    read = node("parse", *files)
    found = [(os.path.relpath(file, SOURCE), document) for file in files for document in read[file]
             if isinstance(document, dict) and "apiVersion" in document]
    kinds = {document["kind"] for _, document in found}
    check({"Deployment", "Service", "NetworkPolicy", "PersistentVolumeClaim", "Fleet", "FleetAutoscaler", "GameServerAllocation",
           "Job", "Role"} <= kinds, f"kinds: {sorted(kinds)}")
    return found


def misspellings(value, document, free=False, path=()):
    """Copies of the document, with one field renamed in each."""
    if isinstance(value, dict):
        for name, child in value.items():
            if not free:
                changed = copy.deepcopy(document)
                at = changed
                for step in path:
                    at = at[step]
                at[name + "x"] = at.pop(name)
                yield ".".join(map(str, path + (name,))), changed
            is_free = name in FREE or (name == "selector" and "matchLabels" not in child)  # of a Service: labels
            yield from misspellings(child, document, not free and is_free, path + (name,))
    elif isinstance(value, list):
        for at, child in enumerate(value):
            yield from misspellings(child, document, False, path + (at,))


def pods(document):
    """The templates of pods of a document."""
    kind, spec = document["kind"], document.get("spec", {})
    if kind in ("Deployment", "StatefulSet", "Job"):
        yield spec["template"]
    if kind == "Fleet":
        yield spec["template"]["spec"]["template"]


def all_are_valid(_, __):
    found = manifests()
    for (file, document), faults in zip(found, Checker().faults([document for _, document in found])):
        check(not faults, f"{file}, {document['kind']}: {faults}")


def a_misspelt_field_is_found(_, __):
    copies = [(f"{file}, {document['kind']}: {path}", changed) for file, document in manifests()
              for path, changed in misspellings(document, document)]
    check(len(copies) > 300, f"{len(copies)} copies")
    missed = [path for (path, _), faults in zip(copies, Checker().faults([changed for _, changed in copies])) if not faults]
    check(not missed, f"of {len(copies)} misspelt copies, these pass: {missed}")
    print(f"{len(copies)} misspelt copies are found")


def a_wrong_value_is_found(_, __):
    fleet = next(document for _, document in manifests() if document["kind"] == "Fleet")
    service = next(document for _, document in manifests() if document["kind"] == "Service")
    changed = [copy.deepcopy(fleet), copy.deepcopy(fleet), copy.deepcopy(service), dict(service, kind="Servise")]
    changed[0]["spec"]["template"]["spec"]["ports"][0]["portPolicy"] = "Dynamc"
    changed[1]["spec"]["replicas"] = "two"
    changed[2]["spec"]["ports"][0]["port"] = "many"
    for document, faults in zip(changed, Checker().faults(changed)):
        check(faults, f"passes: {json.dumps(document)[:300]}")


def pods_are_confined(_, __):
    seen = 0
    for file, document in manifests():
        for template in pods(document):
            spec = template["spec"]
            seen += 1
            security = spec["securityContext"]
            check(security["runAsNonRoot"] and security["runAsUser"] == 10001, f"{file}: the user is not 10001")
            check(security["seccompProfile"]["type"] == "RuntimeDefault", f"{file}: no seccomp profile")
            volumes = {volume["name"] for volume in spec["volumes"]}
            for container in spec["containers"] + spec.get("initContainers", []):
                mounted = {mount["name"] for mount in container["volumeMounts"]}
                check(mounted <= volumes, f"{file}, {container['name']}: no volumes {mounted - volumes}")
                security = container["securityContext"]
                check(security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
                      and security["capabilities"] == {"drop": ["ALL"]}, f"{file}, {container['name']}: not confined")
                check("memory" in container["resources"]["limits"], f"{file}, {container['name']}: no limit of memory")
    check(seen >= 3, f"{seen} pods")


def options(arguments):
    given = {}
    for argument in arguments[1:]:
        name, _, value = argument.partition("=")
        given[name] = value
    return given


def servers():
    """The command lines that serve, with the seconds that each has to end."""
    for file, document in manifests():
        for template in pods(document):
            for container in template["spec"]["containers"]:
                if container.get("args", [""])[0] == "serve":
                    yield file, container["args"], template["spec"]["terminationGracePeriodSeconds"]
    for service in node("parse", COMPOSE)[COMPOSE][0]["services"].values():
        check(service["read_only"] and service["user"] == "10001:10001" and service["cap_drop"] == ["ALL"], "compose: not confined")
        yield "compose", service["command"], int(service["stop_grace_period"].rstrip("s"))


def a_drain_has_its_time(_, __):
    found = list(servers())
    check(len(found) == 3, f"{len(found)} servers")
    for file, arguments, grace_s in found:
        given = options(arguments)
        check(grace_s >= float(given["--drain-s"]) + 15, f"{file}: {grace_s} s are short for {given['--drain-s']} s")
        check(given["--bind"] == "0.0.0.0" and given["--health-bind"] == "0.0.0.0", f"{file}: bound to loopback")
        check("--control-keys" in given and "--key-file" in given, f"{file}: without keys")


def every_option_is_one_of_the_program(programs, _):
    known = set(re.findall(r"--[a-z-]+", programs.run(programs.orrery, "serve", "--help").stdout))
    for file, arguments, _ in servers():
        check(set(options(arguments)) <= known, f"{file}: {sorted(set(options(arguments)) - known)}")


def the_director_asks_as_the_manifest_does(_, __):
    path = os.path.join(SOURCE, "deploy", "kubernetes", "agones", "director.py")
    spec = importlib.util.spec_from_file_location("director", path)
    director = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(director)
    allocation = next(document for _, document in manifests() if document["kind"] == "GameServerAllocation")
    check(director.ALLOCATION == allocation, f"{director.ALLOCATION} is not {allocation}")


if __name__ == "__main__":
    subprocess.run([os.path.join(TOOLS, "install")], check=True)
    main([all_are_valid, a_misspelt_field_is_found, a_wrong_value_is_found, pods_are_confined, a_drain_has_its_time,
          every_option_is_one_of_the_program, the_director_asks_as_the_manifest_does])
