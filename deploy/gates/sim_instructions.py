#!/usr/bin/env python3
"""sim_instructions.py LIBRARY OBJDUMP: what the compiled library of the world may and may not hold.

* No fused multiply-add anywhere (DETERMINISM.md rules 1 and 2), and no approximate reciprocal (rule 4).
* Float arithmetic only in lane namespaces: orrery::sim::N_<TARGET>:: and orrery::sim::ref:: (rule 15). Elsewhere the
  linker may keep one copy, compiled with any target's flags, for all.
* Instructions beyond the baseline (VEX and EVEX on x86) only in the namespaces of targets that have them: a function
  shared by all targets must run on all machines.

Moves, comparisons and conversions between integers and floats are bookkeeping and allowed everywhere.
"""
import re
import subprocess
import sys

FUSED = re.compile(r"^(vfn?m(add|sub|addsub|subadd)\w*|fn?madd|fn?msub|fmla|fmls|fmad|fmsb)$")
APPROXIMATE = re.compile(r"^(v?r(cp|sqrt)(14|28)?[sp][sd]|frecp[esx]|frsqrt[es]|vrsqrt\w+|vrcp\w+)$")
ARITHMETIC = re.compile(
    r"^(v?(add|sub|mul|div|sqrt|min|max|hadd|hsub|addsub|dp|round|reduce|scalef|range)[sp][sd]"
    r"|f(add|sub|mul|div|sqrt|abd|nmul|min|max|minnm|maxnm|addp)|fr?(add|sub|mul|div)p|fsin|fcos|fptan)$")
LANES = re.compile(r"orrery::sim::(N_[A-Z0-9_]+|ref)\b")
WIDE_LANES = re.compile(r"orrery::sim::N_AVX")
HIGHWAY = re.compile(r"hwy::N_[A-Z0-9_]+")
BEYOND_BASELINE = re.compile(r"^(v(?!err|erw|mcall|mlaunch|mresume|mxoff)\w+|k(mov|or|and|test|not|xnor|xor)\w*)$")


def disassemble(library, objdump):
    process = subprocess.Popen([objdump, "-d", "-C", "-w", "--no-show-raw-insn", library], stdout=subprocess.PIPE,
                               text=True, errors="replace")
    symbol, member = "", ""
    for line in process.stdout:
        if line.startswith(" "):
            parts = line.split("\t")
            if len(parts) >= 2:
                words = parts[1].split()
                while words and words[0] in ("rep", "repz", "repnz", "lock", "bnd", "notrack", "data16", "cs"):
                    words.pop(0)
                if words:
                    yield member, symbol, words[0]
        elif line.endswith(">:\n"):
            symbol = line[line.index("<") + 1:-3]
        elif "file format" in line:
            member = line.split(":")[0]
    if process.wait() != 0:
        sys.exit(f"{objdump} failed on {library}")


def main():
    library, objdump = sys.argv[1:3]
    x86 = "x86-64" in subprocess.run([objdump, "-f", library], capture_output=True, text=True).stdout
    faults = {}
    lanes_seen, arithmetic_seen, total = set(), 0, 0
    for member, symbol, instruction in disassemble(library, objdump):
        total += 1
        lane = LANES.search(symbol) or HIGHWAY.search(symbol)
        kind = None
        if FUSED.match(instruction):
            kind = "fused multiply-add"
        elif APPROXIMATE.match(instruction):
            kind = "approximate reciprocal"
        elif ARITHMETIC.match(instruction):
            if lane:
                lanes_seen.add(lane.group(0).split("::")[-1])
                arithmetic_seen += 1
            else:
                kind = "float arithmetic outside the lane namespaces"
        if kind is None and x86 and BEYOND_BASELINE.match(instruction) and not (
                WIDE_LANES.search(symbol) or re.search(r"hwy::N_AVX", symbol)):
            kind = "AVX instruction outside the namespaces of AVX targets"
        if kind:
            found = faults.setdefault((kind, member, symbol), {})
            found[instruction] = found.get(instruction, 0) + 1
    for (kind, member, symbol), found in sorted(faults.items()):
        listed = ", ".join(f"{count} {name}" for name, count in sorted(found.items()))
        print(f"{kind}: {member}: {symbol[:300]}: {listed}")
    print(f"{total} instructions read; {arithmetic_seen} of float arithmetic in {' '.join(sorted(lanes_seen)) or 'no lanes'}")
    if len(lanes_seen) < 2 or arithmetic_seen == 0:
        print("the library should hold float arithmetic in ref and at least one SIMD target: the check sees nothing")
        return 1
    return 1 if faults else 0


sys.exit(main())
