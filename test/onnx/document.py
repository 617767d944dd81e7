#!/usr/bin/env python3
"""Writes docs/onnx.md from the translator's table of operators; --check says whether it is up to date."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "python"))
from ml2kokkos.verify.translate import tool_path # noqa: E402

PAGE = PROJECT / "docs/onnx.md"

HEAD = """\
# ONNX operators

Written by `test/onnx/document.py` from the table of the translator (`ml2kokkos --print-supported-ops`); do not edit.

The numbers are the versions of the specification that are read. Operators that the specification defines by a function body
and that are not listed, and the local functions of a model, are expanded. Shapes, axes, counts and conditions of loops have
to be known at translation: constants of the model, computed from its static shapes, or inputs that `--operand` makes constants.
Known at run time only may be: the bounds of Slice (along known axes, by known steps), `k` of TopK and Trilu, the axis of CumSum,
the mask of Compress, the parameters of NonMaxSuppression, the condition of If. What is not supported is refused with
the node, its operator and the reason; strings, sequences, optionals, training and random numbers are refused so.

NonZero, Unique, NonMaxSuppression and those of the above whose results have no fixed size give the largest result that there can
be, and a count ([output-format.md](output-format.md)).

`If` with a condition that is known takes its branch; else both branches are computed and the results chosen element by
element. `Loop` and `Scan` are written out step by step.

| operator | versions |
|---|---|
"""


def rows():
    lines = subprocess.run([tool_path(), "--print-supported-ops"], capture_output=True, text=True, check=True).stdout
    for line in lines.split("ONNX operators")[1].splitlines()[1:]:
        name, _, versions = line.strip().partition(" ")
        if name and versions:
            yield f"| {name} | {versions.strip()} |\n"


def main():
    text = HEAD + "".join(rows())
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    if PAGE.exists() and PAGE.read_text() == text:
        return 0
    print(f"{PAGE.name} is not what the table says: run test/onnx/document.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
