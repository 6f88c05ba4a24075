#!/usr/bin/env python3
"""Writes what JavaScript must know of orrery/client.h: sizes and offsets of its structs in WebAssembly, and its constants.

    layout.py HEADER --ts FILE      the TypeScript module (src/layout.ts)
    layout.py HEADER --hash         a number of 32 bits that names this layout; the module has it, too
    layout.py HEADER --exports      the names of the functions, one a line

The layout is that of clang 19 for wasm32, so that nothing of it is written by hand.
"""
import re
import subprocess
import sys
import zlib
from pathlib import Path

CLANG = ["clang-19", "--target=wasm32-wasi", "-x", "c", "-std=c11"]
BASE_TYPES = {"int32_t": "i32", "uint32_t": "u32", "uint64_t": "u64", "uint16_t": "u16", "uint8_t": "u8", "float": "f32",
              "double": "f64", "size_t": "u32", "orrery_body_id": "u64"}


def run(arguments, text):
    done = subprocess.run(CLANG + arguments + ["-"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"layout.py: {done.stderr}")
    return done.stdout


def records_of(header):
    """{struct: (size, [(field, offset, type)])}, in the order of the header."""
    text = f'#include "{header.resolve()}"\n'
    dump = run(["-fsyntax-only", "-Xclang", "-fdump-record-layouts-complete"], text)
    records = {}
    for part in dump.split("*** Dumping AST Record Layout")[1:]:
        head = re.search(r"^ +0 \| struct (orrery_\w+)$", part, re.M)
        size = re.search(r"\[sizeof=(\d+)", part)
        if not head or not size:
            continue
        fields = []
        for line in part.splitlines():
            field = re.match(r" +(\d+) \|   (\S.*?) ?(\w+)$", line)  # members of members are indented more
            if field:
                fields.append((field[3], int(field[1]), kind_of(field[2])))
        records[head[1]] = (int(size[1]), fields)
    order = re.findall(r"^typedef struct (orrery_\w+) \{", header.read_text(), re.M)
    missing = [name for name in order if name not in records]
    if missing:
        sys.exit(f"layout.py: clang gives no layout of {', '.join(missing)}")
    return {name: records[name] for name in order}


def kind_of(type_name):
    if "*" in type_name:
        return "pointer"
    return BASE_TYPES.get(re.sub(r"\[.*", "", type_name).strip(), "struct")


def constants_of(header):
    text = header.read_text()
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    values = re.findall(r"\b(ORRERY_\w+) = (-?\d+)", plain)
    for name, value in re.findall(r"^#define (ORRERY_\w+) (\w+)\s*$", plain, re.M):
        if value == "UINT64_MAX":
            values.append((name, "0xffff_ffff_ffff_ffffn"))
        number = re.fullmatch(r"(0x[0-9a-f]+|\d+)u?", value)
        if number:
            values.append((name, str(int(number[1], 0))))
    return values


def exports_of(header):
    return re.findall(r"^ORRERY_API [^(]*?\b(orrery_\w+)\(", header.read_text(), re.M)


def body_of(header):
    lines = []
    for name, (size, fields) in records_of(header).items():
        title = "".join(word.capitalize() for word in name.removeprefix("orrery_").split("_"))
        lines.append(f"/** struct {name}: offsets in bytes. */")
        lines.append(f"export const {title}Layout = {{")
        lines.append(f"  sizeof: {size},")
        lines += [f"  {field}: {offset},  // {kind}" for field, offset, kind in fields]
        lines.append("} as const;\n")
    lines += [f"export const {name.removeprefix('ORRERY_')} = {value};" for name, value in constants_of(header)]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    header, what = Path(sys.argv[1]), sys.argv[2]
    if what == "--exports":
        print("\n".join(exports_of(header)))
        return
    body = body_of(header)
    number = zlib.crc32(body.encode())
    if what == "--hash":
        print(number)
    elif what == "--ts" and len(sys.argv) == 4:
        text = f"// Generated from orrery/client.h by tools/layout.py; never edited.\n/** Names this layout. */\nexport const LAYOUT = {number};\n\n{body}"
        out = Path(sys.argv[3])
        if not out.exists() or out.read_text() != text:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(text)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
