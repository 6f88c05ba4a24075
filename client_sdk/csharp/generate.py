#!/usr/bin/env python3
"""Writes OrreryNative.cs, the C# declarations of the C interface, from the header that C programs include.

    generate.py HEADER OUT [--clang CLANG]

What c_header.py does not understand is an error with its line; nothing is written then.

How C is said in C#:

    functions       two overloads in the class Native. The first has IntPtr for every pointer, so that null can be
                    passed. The second, where it differs, has arrays and references.
    structs         structs of value types with the same names and fields, in the same order. `float point[3]` becomes
                    point_0, point_1, point_2, so that a struct needs no copy and no unsafe code at a call.
    constants       macros and enumerators keep their names, in the class Native. An enum is also an enum of C#: its
                    name is that of the typedef whose values it has ("Values of orrery_status."), or made of the prefix
                    of its enumerators (ORRERY_EVENT_*: EventKind).
    hooks           a pointer to a function is an IntPtr, and a delegate named STRUCT_FIELD or FUNCTION_PARAMETER.
    comments        become summaries.
"""
import argparse
import os
import re
import sys
from xml.sax.saxutils import escape

from c_header import PREFIX, Header, NotUnderstood

SCALARS = {"int8_t": "sbyte", "uint8_t": "byte", "int16_t": "short", "uint16_t": "ushort", "int32_t": "int",
           "uint32_t": "uint", "int64_t": "long", "uint64_t": "ulong", "size_t": "UIntPtr", "float": "float",
           "double": "double", "int": "int", "unsigned int": "uint"}
KEYWORDS = set("""abstract as base bool break byte case catch char checked class const continue decimal default
    delegate do double else enum event explicit extern false finally fixed float for foreach goto if implicit in int
    interface internal is lock long namespace new null object operator out override params private protected public
    readonly ref return sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint
    ulong unchecked unsafe ushort using virtual void volatile while""".split())
MAX_WIDTH = 120


def pascal(words):
    return "".join(word[:1].upper() + word[1:].lower() for word in words.split("_") if word)


def safe(name):
    return "@" + name if name in KEYWORDS else name


class Writer:
    """Says a Header in C#."""

    def __init__(self, header):
        self.header, self.lines, self.indent = header, [], 0

    def line(self, text=""):
        self.lines.append("    " * self.indent + text if text else "")

    def open(self, text):
        self.line(text)
        self.line("{")
        self.indent += 1

    def close(self):
        self.indent -= 1
        self.line("}")

    def summary(self, text):
        if not text:
            return
        words, lines = escape(text).split(" "), [""]
        width = MAX_WIDTH - 4 * self.indent - len("/// ")
        for word in ["<summary>"] + words + ["</summary>"]:
            joint = "" if not lines[-1] or lines[-1] == "<summary>" or word == "</summary>" else " "
            if lines[-1] and len(lines[-1]) + len(joint) + len(word) > width:
                lines.append(word)
            else:
                lines[-1] += joint + word
        for text_line in lines:
            self.line("/// " + text_line)

    # --------------------------------------------------------------------------------------------------------- types

    def raw(self, kind):
        pointers, _, base = kind
        if pointers:
            return "IntPtr"
        return "void" if base == "void" else SCALARS.get(base, base)

    def friendly(self, kind):
        """Of a parameter: an array for what is only read, a reference for what is written."""
        pointers, const, base = kind
        if pointers == 2:
            return "ref IntPtr"
        if pointers == 1 and base in self.header.structs:
            return "ref " + base
        if pointers == 1 and (base in SCALARS or base == "char"):
            element = "byte" if base == "char" else SCALARS[base]
            return element + "[]" if const else "ref " + element
        return self.raw(kind)

    # --------------------------------------------------------------------------------------------------------- parts

    def write(self):
        header = self.header
        self.line("// Made by client_sdk/csharp/generate.py from orrery/client.h; changes here are lost.")
        self.line("// Units, frames, threads and errors are those of that header. Text is UTF-8 with a 0 at its end.")
        for name in ("System", "System.Runtime.InteropServices"):
            self.line(f"using {name};")
        self.line()
        self.open("namespace Orrery")
        self.enums()
        self.delegates()
        for name, record in header.structs.items():
            self.struct(name, record)
        self.open("public static partial class Native")
        self.library()
        for name, kind, value, note in header.macros:
            self.summary(note)
            self.line(f"public const {kind} {name} = {value};")
        for enum in header.enums:
            for name, value, note in enum["values"]:
                self.summary(note or enum["comment"])
                self.line(f"public const int {name} = {value};")
        self.line()
        for function in header.functions:
            self.function(function)
        while self.lines[-1] == "":
            self.lines.pop()
        self.close()
        self.close()
        return "\n".join(self.lines) + "\n"

    def library(self):
        self.summary("The library that is loaded: liborrery_client.so, orrery_client.dll or liborrery_client.dylib; on "
                     "iOS and in a browser it is linked into the program.")
        self.lines.append("#if (UNITY_IOS || UNITY_WEBGL) && !UNITY_EDITOR")
        self.line('public const string Library = "__Internal";')
        self.lines.append("#else")
        self.line('public const string Library = "orrery_client";')
        self.lines.append("#endif")
        self.line()

    def enums(self):
        names = set()
        for enum in self.header.enums:
            values = enum["values"]
            typedef = re.search(r"Values of orrery_(\w+)\.", enum["comment"])
            prefix = os.path.commonprefix([name for name, _, _ in values])
            prefix = prefix[: prefix.rfind("_") + 1] if len(values) > 1 else values[0][0][: values[0][0].rfind("_") + 1]
            if not prefix.startswith(PREFIX):
                self.header.fail(enum["node"], f"an enumerator without {PREFIX}")
            if typedef:
                name = pascal(typedef[1])
            elif prefix != PREFIX:
                name = pascal(prefix[len(PREFIX):]) + "Kind"
            else:
                self.header.fail(enum["node"], "an enum without a common prefix or a typedef whose values it has")
            if name in names:
                self.header.fail(enum["node"], f"a second enum that would be called {name}")
            names.add(name)
            self.summary(enum["comment"] or f"{prefix}*.")
            self.open(f"public enum {name}")
            for value_name, value, note in values:
                member = pascal(value_name[len(prefix):])
                if not re.match(r"[A-Za-z]", member):
                    self.header.fail(enum["node"], f"the enumerator {value_name}")
                self.summary(note)
                self.line(f"{member} = {value},")
            self.close()
            self.line()

    def delegates(self):
        for name, (returned, parameters), note in self.header.hooks:
            self.summary(note)
            self.line("[UnmanagedFunctionPointer(CallingConvention.Cdecl)]")
            listed = ", ".join(f"{self.raw(kind)} {safe(parameter)}" for parameter, kind in parameters)
            self.line(f"public delegate {self.raw(returned)} {name}({listed});")
            self.line()

    def struct(self, name, record):
        self.summary(record["comment"])
        self.line("[StructLayout(LayoutKind.Sequential)]")
        self.open(f"public struct {name}")
        for field in record["fields"]:
            kind, note = self.raw(field["type"]), field["comment"]
            if field["hook"]:
                delegate = f"{name}_{field['name']}"
                note = f"{note.rstrip('.')}. A delegate {delegate}, by Marshal.GetFunctionPointerForDelegate."
            if field["count"]:
                self.summary(note)
                for index in range(field["count"]):
                    self.line(f"public {kind} {field['name']}_{index};")
            else:
                self.summary(note)
                self.line(f"public {kind} {safe(field['name'])};")
        self.close()
        self.line()

    def function(self, function):
        raw = [f"{self.raw(kind)} {safe(name)}" for name, kind in function["parameters"]]
        friendly = [f"{self.friendly(kind)} {safe(name)}" for name, kind in function["parameters"]]
        for parameters in [raw] if raw == friendly else [raw, friendly]:
            self.summary(function["comment"])
            self.line("[DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]")
            self.line(f"public static extern {self.raw(function['returned'])} {function['name']}(")
            self.line(f"    {', '.join(parameters)});")
        self.line()


def main():
    parser = argparse.ArgumentParser(description="Writes the C# declarations of the C interface.")
    parser.add_argument("header")
    parser.add_argument("out")
    parser.add_argument("--clang", default="clang-14")
    options = parser.parse_args()
    try:
        text = Writer(Header(options.header, options.clang)).write()
    except NotUnderstood as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    except FileNotFoundError as error:
        print(f"generate.py: {error}; deploy/deps test installs clang-14", file=sys.stderr)
        return 2
    with open(options.out, "w", encoding="utf-8") as out:
        out.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
