#!/usr/bin/env python3
"""Compiles printed code for AVX2 and AVX-512 and looks at the loops of its host tile: all sums in registers, whole vectors.

  assembly.py SOURCE --include DIR ... --compiler COMPILER ...

An innermost loop has to add products of whole vectors to the registers of a full tile without touching the stack: 12 of 6 x 16
with AVX2, 16 of 8 x 32 with AVX-512; with -O3 and with -O2.
Compilers that are not installed are named and passed over; exit 77 if
none is or if this is no x86-64."""

import argparse
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

FLAGS = ["-std=c++17", "-DNDEBUG", "-fopenmp", "-fno-math-errno", "-fno-trapping-math"]
TARGETS = [(["-march=haswell"], "ymm", 12), (["-march=x86-64-v4", "-mprefer-vector-width=512"], "zmm", 16)]
LEVELS = ["-O3", "-O2"]


def innermost_loops(assembly):
    """The lines of every loop without a label inside: from a label to the jump back to it."""
    label, lines = None, []
    for line in assembly.splitlines():
        if found := re.match(r"(\.L\w+):", line):
            label, lines = found[1], []
            continue
        lines.append(line)
        if label and re.match(rf"\s+j\w+\s+{re.escape(label)}$", line.split("#")[0].rstrip()):
            yield lines
            label = None


def check(source, compiler, includes, level, target):
    """Complaints about the code of one compiler."""
    flags, registers, count = target
    command = [compiler, *FLAGS, level, *flags, f"-I{source.parent}", *(f"-isystem{path}" for path in includes), "-S", source, "-o", "-"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        return [f"{compiler}: {source} does not compile:\n{done.stderr}"]
    tiles, what = [], " ".join([compiler, level, *flags])
    for loop in innermost_loops(done.stdout):
        products = [line.split("#")[0] for line in loop if re.search(rf"\bvfmadd\d+ps\b.*%{registers}", line)]
        sums = {line.split(",")[-1].strip() for line in products}
        if len(sums) == count and not any("(%rsp" in line for line in loop):
            tiles.append(f"{what}: a loop of {len(loop)} instructions, {len(products)} of them products into {count} registers")
    print(*tiles, sep="\n")
    return [] if tiles else [f"{what}: no loop keeps {count} vectors of sums in registers without touching the stack"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--include", nargs="+", default=[])
    parser.add_argument("--compiler", nargs="+", default=["g++", "clang++-19"])
    arguments = parser.parse_args()
    there = [compiler for compiler in arguments.compiler if shutil.which(compiler)]
    for compiler in set(arguments.compiler) - set(there):
        print(f"{compiler}: not installed, passed over")
    if not there or platform.machine() != "x86_64":
        return 77
    complaints = [text for compiler in there for level in LEVELS for target in TARGETS
                  for text in check(arguments.source, compiler, arguments.include, level, target)]
    print(*complaints, sep="\n", file=sys.stderr)
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
