#!/usr/bin/env python3
"""Work and memory of printed code grow like the number of elements: `ops.py TOOL [FAMILY...]`.

Each operator of counts.py is translated for n and for 2 n elements. Twice as many take at most 2.6 times the floating-point
operations, steps of explicit loops, bytes that kernels move and bytes of buffers: n log n is linear here, n * n is not. How
long they take is measured by bench/run.py --suite growth."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from counts import FAMILIES

RATIO = 2.6
COUNT = 10000


def translate(tool, path, *options):
    done = subprocess.run([tool, path, *options], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{path.stem}: {done.stderr}")
    return done.stdout


def steps(text):
    """Iterations of all explicit loops of a prepared nest; those whose ends are not known count once."""
    constants = {name: int(value) for name, value in re.findall(r"(%\S+) = arith.constant (-?\d+) : index", text)}
    trips = lambda lowers, uppers: [max(1, constants.get(upper, 1) - constants.get(lower, 0)) for lower, upper in
                                    zip(lowers.split(", "), uppers.split(", "))]
    total, around = 0, [1]
    for line in text.splitlines():
        loop = re.search(r"nest\.kernel .* = \((.*?)\) to \((.*?)\)", line) or re.search(r"scf\.for \S+ = (\S+) to (\S+) ", line)
        if line.lstrip().startswith("}"):
            around.pop()
        if not line.endswith("{"):
            continue
        runs = around[-1]
        for count in trips(*loop.groups()) if loop else []:
            runs *= count
        total += runs if loop else 0
        around.append(runs)
    return total


def cost(tool, family, count, folder):
    """What is counted of an operator with so many elements."""
    path = folder / f"{family}_{count}.onnx"
    path.write_bytes(FAMILIES[family](count).SerializeToString())
    translate(tool, path, "-o", folder / f"{family}.cpp", "--report-json", folder / "report.json")
    report = json.loads((folder / "report.json").read_text())
    kernels = report["kernels"]
    return {"operations": sum(kernel.get("flops") or 0 for kernel in kernels),
            "steps": steps(translate(tool, path, "--emit=prepared", "-o", "-")),
            "moved": sum(kernel["bytes"] for kernel in kernels),
            "buffers": sum(buffer["bytes"] for buffer in report["buffers"]), "kernels": len(kernels)}


def check(tool, family, folder):
    """None, or what grows faster."""
    small, large = (cost(tool, family, count, folder) for count in (COUNT, 2 * COUNT))
    print(f"{family:20}" + "".join(f"{what:>12}{large[what]:>12}" for what in large), flush=True)
    if not any(small[what] for what in ("operations", "steps", "moved")):
        return f"{family}: nothing was counted"
    for what, before in small.items():
        if large[what] > (RATIO * before if what != "kernels" else before):
            return f"{family}: {what} grow from {before} to {large[what]}"
    return None


def main():
    tool, families = sys.argv[1], sys.argv[2:] or FAMILIES
    with tempfile.TemporaryDirectory() as folder:
        problems = [problem for family in families if (problem := check(tool, family, Path(folder)))]
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
