#!/usr/bin/env python3
"""The C# binding is the header: what is made of it compiles, has C's layout and functions, and drives the yard."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Failure, Server, check, main
from sumo import Match

SOURCE = sys.argv[2]
HERE = os.path.join(SOURCE, "tests", "e2e")
BINDING = os.path.join(SOURCE, "client_sdk", "csharp")
HEADER = os.path.join(SOURCE, "client_sdk", "include", "orrery", "client.h")
LIBRARY = os.path.join(sys.argv[1], "lib")


def tool(name):
    if not shutil.which(name):
        raise Failure(f"there is no {name}; deploy/deps test installs it")
    return name


def generate(programs, header, out):
    return programs.run(sys.executable, os.path.join(BINDING, "generate.py"), header, out)


def build(programs, folder, *sources, native=True):
    """Compiles sources with the binding by C# 7.2, warnings as errors; gives the program."""
    declarations = os.path.join(folder, "OrreryNative.cs")
    if native:
        made = generate(programs, HEADER, declarations)
        check(made.returncode == 0, made.stderr)
        sources += (os.path.join(BINDING, "Client.cs"), os.path.join(BINDING, "ClientTypes.cs"))
    program = os.path.join(folder, os.path.basename(sources[0]).replace(".cs", ".exe"))
    compiled = programs.run(tool("mcs"), "-langversion:7.2", "-warn:4", "-warnaserror", f"-out:{program}", declarations,
                            *sources)
    check(compiled.returncode == 0, compiled.stdout + compiled.stderr)
    return program


def mono(programs, *command):
    return programs.run("env", f"LD_LIBRARY_PATH={LIBRARY}", tool("mono"), *command)


def probed(programs, folder, *arguments):
    result = mono(programs, build(programs, folder, os.path.join(HERE, "csharp_probe.cs")), *arguments)
    check(result.returncode == 0, f"{result.returncode}: {result.stdout}{result.stderr}")
    return [line.split() for line in result.stdout.splitlines()]


def header_without_comments():
    with open(HEADER, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.DOTALL)


def the_layout_is_that_of_the_c_compiler(programs, folder):
    facts = probed(programs, folder, "layout")
    printed = {"struct": '"%zu\\n", sizeof({0})', "constant": '"%lld\\n", (long long)({0})',
               "field": '"%zu\\n", offsetof({0}, {1})'}
    lines, expected = [], []
    for kind, *names, value in facts:
        if kind in printed:
            if kind == "field" and not re.search(rf"\b{names[1]}\b", header_without_comments()):
                names[1] = re.sub(r"_(\d+)$", r"[\1]", names[1])
            lines.append(f"    printf({printed[kind].format(*names)});\n")
            expected.append((kind, names, int(value)))
    program = os.path.join(folder, "layout")
    with open(program + ".c", "w", encoding="utf-8") as out:
        out.write('#include <stdio.h>\n#include "orrery/client.h"\nint main(void) {\n')
        out.write("".join(lines) + "    return 0;\n}\n")
    compiled = programs.run("gcc", "-I", os.path.dirname(os.path.dirname(HEADER)), program + ".c", "-o", program)
    check(compiled.returncode == 0, compiled.stderr)
    told = programs.run(program).stdout.split()
    check(len(told) == len(expected), f"{len(told)} of {len(expected)} lines")
    for (kind, names, value), number in zip(expected, told):
        check(value % 2**64 == int(number) % 2**64, f"{kind} {' '.join(names)}: C# has {value}, C has {number}")


def nothing_of_the_header_is_missing(programs, folder):
    facts, text = probed(programs, folder, "layout"), header_without_comments()
    structs = {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.DOTALL):
        structs[name] = sum(int(count or 1) for count in re.findall(r"(?:\[(\d+)\])?;", body))
    for name, count in structs.items():
        fields = [fact for fact in facts if fact[:2] == ["field", name]]
        check(len(fields) == count, f"{name}: {len(fields)} fields of {count}")
    check({fact[1] for fact in facts if fact[0] == "struct"} == set(structs), "the structs differ")

    constants = set(re.findall(r"\bORRERY_[A-Z0-9_]+\b", text)) - {"ORRERY_API", "ORRERY_CLIENT_H", "ORRERY_CLIENT_DLL"}
    check({fact[1] for fact in facts if fact[0] == "constant"} == constants, "the constants differ")

    exported = programs.run(tool("nm"), "-D", "--defined-only", os.path.join(LIBRARY, "liborrery_client.so")).stdout
    functions = set(re.findall(r" T (orrery_\w+)", exported))
    check(len(functions) >= 25 and {fact[1] for fact in facts if fact[0] == "function"} == functions,
          f"the functions differ from those of the library: {functions}")


def declarations_of_other_kinds_are_understood(programs, folder):
    header = os.path.join(folder, "more.h")
    with open(header, "w", encoding="utf-8") as out:
        out.write("""
            #include <stddef.h>
            #include <stdint.h>
            #define ORRERY_API __attribute__((visibility("default")))
            typedef struct orrery_client orrery_client;
            typedef int32_t orrery_status;
            /* How a client sees the world. */
            enum { ORRERY_MODE_SNAPSHOTS = 0, ORRERY_MODE_MIRROR = 1 << 3 };
            #define ORRERY_LEAST (-1) /* a number below 0 */
            typedef struct orrery_prediction {
                uint32_t struct_size;
                int (*count)(void);
            } orrery_prediction;
            ORRERY_API orrery_status orrery_client_stream_next(orrery_client* client, const uint8_t** bytes,
                                                               size_t* size);
            ORRERY_API orrery_status orrery_client_stream_closed(orrery_client* client, int32_t code,
                                                                 const char* text, uint64_t now_ns);
            ORRERY_API void orrery_client_set_prediction(orrery_client* client, const orrery_prediction* prediction,
                                                         float v[3]);
            ORRERY_API void orrery_client_watch(orrery_client* client, void (*seen)(void* user, int32_t what),
                                                void* user);
            """)
    made = generate(programs, header, os.path.join(folder, "OrreryNative.cs"))
    check(made.returncode == 0, made.stderr)
    use = os.path.join(folder, "Use.cs")
    with open(use, "w", encoding="utf-8") as out:
        out.write("""
            using System;
            using System.Runtime.InteropServices;
            using Orrery;
            static class Use
            {
                static int Main(string[] arguments)
                {
                    IntPtr bytes = IntPtr.Zero;
                    UIntPtr size = UIntPtr.Zero;
                    var prediction = new orrery_prediction { struct_size = 4, count = IntPtr.Zero };
                    orrery_prediction_count count = () => 3;
                    if (arguments.Length > 0)
                    {
                        Native.orrery_client_stream_next(IntPtr.Zero, ref bytes, ref size);
                        Native.orrery_client_stream_closed(IntPtr.Zero, 1000, new byte[1], 0ul);
                        orrery_client_watch_seen seen = (user, what) => { };
                        IntPtr hook = Marshal.GetFunctionPointerForDelegate(seen);
                        Native.orrery_client_watch(IntPtr.Zero, hook, IntPtr.Zero);
                        float first = 0.0f;
                        Native.orrery_client_set_prediction(IntPtr.Zero, ref prediction, ref first);
                    }
                    return (int)ModeKind.Mirror + Native.ORRERY_LEAST + count() - 10;
                }
            }
            """)
    result = mono(programs, build(programs, folder, use, native=False))
    check(result.returncode == 0, f"{result.returncode}: {result.stdout}{result.stderr}")


def what_is_not_understood_is_refused(programs, folder):
    api = '__attribute__((visibility("default")))'
    wrong = {
        "struct orrery_a { uint32_t few : 3; };": "few",
        "struct orrery_a { long size; };": "long",
        "struct orrery_a { _Bool on; };": "_Bool",
        "struct orrery_a { float m[3][3]; };": "float[3][3]",
        "struct orrery_a { struct { int x; } inner; };": "RecordDecl",
        "union orrery_a { int x; float y; };": "struct",
        f"{api} int orrery_print(const char* format, ...);": "...",
        f"{api} int orrery_f(int);": "name",
        f"{api} unsigned long orrery_f(int x);": "unsigned long",
        f"{api} int orrery_f(void (*done)(int x, ...));": "done",
        "int orrery_hidden(int x);": "ORRERY_API",
        f"{api} inline int orrery_f(int x) {{ return x; }}": "body",
        f"{api} extern int orrery_counter;": "VarDecl",
        "enum { ORRERY_ALPHA, ORRERY_BETA };": "prefix",
        "#define ORRERY_TWICE(x) (2 * (x))": "ORRERY_TWICE",
        '#define ORRERY_TEXT "text"': "ORRERY_TEXT",
        "#define SIZE 3": "SIZE",
        "this is no C": "clang",
    }
    header, out = os.path.join(folder, "wrong.h"), os.path.join(folder, "OrreryNative.cs")
    for declaration, named in wrong.items():
        with open(header, "w", encoding="utf-8") as file:
            file.write("#include <stdint.h>\n" + declaration + "\n")
        made = generate(programs, header, out)
        check(made.returncode == 1 and named in made.stderr and "Traceback" not in made.stderr,
              f"{declaration}: {made.returncode}: {made.stderr}")
        check(not os.path.exists(out), f"{declaration}: something was written")


def a_client_without_a_server_tells_what_is_wrong(programs, folder):
    check(probed(programs, folder, "offline")[-1] == ["offline", "holds"], "no end of the probe")


def a_frame_allocates_nothing(programs, folder):
    with Server(programs, os.path.join(folder, "rec")) as server:
        facts = dict(item.split("=") for item in probed(programs, folder, "frames", server.token)[-1])
        check(int(facts["bodies"]) > 50, str(facts))
        check(facts["allocated"] == "0", f"{facts['frames']} frames allocated {facts['allocated']} bytes")
        check(server.stop() == 0, "SIGTERM does not end the server with 0")


def a_mirror_predicts_and_is_told_its_events(programs, folder):
    with Server(programs, os.path.join(folder, "rec"), "--allow-mirror") as server:
        facts = {name: int(value) for name, value in
                 (item.split("=") for item in probed(programs, folder, "mirror", server.token, programs.yard)[-1])}
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
    check(facts["compared"] > 100 and facts["divergences"] == 0 and facts["dropped"] == 0, str(facts))
    check(facts["predicted"] >= facts["confirmed"] > 100 and facts["as_predicted"] > 100, str(facts))
    ended = facts["told_confirmed"] + facts["told_cancelled"]
    check(facts["told_confirmed"] > 0 and ended <= facts["told_predicted"] <= ended + 20, str(facts))


def messages_and_the_board_of_a_game_arrive(programs, folder):
    with Match(programs, folder, 6) as match:
        told = [" ".join(line) for line in probed(programs, folder, "game", match.udp)]
        match.end()
    for line in ("said player_1 is here", "board phase over", "board score 0:0"):
        check(line in told, f"{line}: {told}")
    check(any(line.startswith("end ServerStopped the server stopped") for line in told), str(told))


def the_example_drives_the_yard(programs, folder):
    program = build(programs, folder, os.path.join(BINDING, "examples", "Drive.cs"))
    with Server(programs, os.path.join(folder, "rec")) as server:
        drive = mono(programs, program, server.token, "10")
        check(drive.returncode == 0, f"{drive.returncode}: {drive.stdout}{drive.stderr}")
        told = re.search(r"distance ([\d.]+) m, rtt ([\d.]+) ms, (\d+) frames", drive.stdout)
        check(told and float(told[1]) > 5.0 and float(told[2]) > 0.0 and int(told[3]) > 100, drive.stdout)
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        check("ignored" not in server.log_text(), server.log_text())
    check(mono(programs, program).returncode == 64, "no usage")
    check(mono(programs, program, os.path.join(folder, "none")).returncode == 2, "a token that does not exist")
    check(mono(programs, program, HEADER).returncode == 2, "a token that is none")


if __name__ == "__main__":
    main([the_layout_is_that_of_the_c_compiler, nothing_of_the_header_is_missing,
          declarations_of_other_kinds_are_understood, what_is_not_understood_is_refused,
          a_client_without_a_server_tells_what_is_wrong, a_frame_allocates_nothing,
          a_mirror_predicts_and_is_told_its_events,
          messages_and_the_board_of_a_game_arrive, the_example_drives_the_yard])
