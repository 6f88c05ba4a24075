#!/usr/bin/env python3
"""The code of client_sdk/ENGINES.md compiles with stand-ins for the engines' types, and converts axes as it says."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from csharp import HEADER, HERE, LIBRARY, SOURCE, build, mono
from programs import check, main

PAGE = os.path.join(SOURCE, "client_sdk", "ENGINES.md")
STAND_INS = os.path.abspath(os.path.join(HERE, "engines"))


def blocks(language):
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(rf"(?:`([\w.]+)`:\n\n)?```{language}\n(.*?)```", file.read(), re.DOTALL)


def written(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def a_program_of_the_page(programs, folder, engine, stem):
    """Writes the files of the page, and the engine's headers, which include its stand-in; compiles and runs them."""
    files = {name: text for name, text in blocks("cpp") if name.startswith(stem + ".")}
    check(sorted(files) == [stem + ".cpp", stem + ".h"], f"the page has {sorted(files)}")
    sources = [written(folder, name, text) for name, text in sorted(files.items())]
    for text in files.values():
        for included in re.findall(r'#include ["<](.*?)[">]', text):
            if included not in files and not included.startswith("orrery/") and re.search(r"\.h(pp)?$", included):
                written(folder, included, f'#include "{os.path.join(STAND_INS, engine + ".h")}"\n')
    program = os.path.join(folder, engine)
    compiled = programs.run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", folder,
                            "-I", os.path.dirname(os.path.dirname(HEADER)), sources[0],
                            os.path.join(STAND_INS, engine + ".cpp"), "-L", LIBRARY, "-lorrery_client",
                            f"-Wl,-rpath,{os.path.abspath(LIBRARY)}", "-o", program)
    check(compiled.returncode == 0, compiled.stderr)
    result = programs.run(program)
    check(result.returncode == 0 and "conversions hold" in result.stdout,
          f"{result.returncode}: {result.stdout}{result.stderr}")


def the_script_for_unity_compiles_and_converts(programs, folder):
    scripts = [text for _, text in blocks("csharp")]
    check(len(scripts) == 1, f"the page has {len(scripts)} scripts")
    script = written(folder, "OrreryRoom.cs", scripts[0])
    result = mono(programs, build(programs, folder, script, os.path.join(STAND_INS, "unity.cs")))
    check(result.returncode == 0 and "conversions hold" in result.stdout,
          f"{result.returncode}: {result.stdout}{result.stderr}")


def the_actor_for_unreal_compiles_and_converts(programs, folder):
    a_program_of_the_page(programs, folder, "unreal", "OrreryRoom")


def the_node_for_godot_compiles_and_converts(programs, folder):
    a_program_of_the_page(programs, folder, "godot", "orrery_room")


if __name__ == "__main__":
    main([the_script_for_unity_compiles_and_converts, the_actor_for_unreal_compiles_and_converts,
          the_node_for_godot_compiles_and_converts])
