#!/usr/bin/env python3
"""The diff in README.md: what the tool prints of examples/mlp_mlir before and after a layer's activation changed.

    readme_diff.py TOOL            # writes it into README.md, between the marks
    readme_diff.py TOOL --check    # exit code 1 if that would change anything
"""

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
README = PROJECT / "README.md"
BEGIN, END = "<!-- diff: scripts/readme_diff.py -->", "<!-- /diff -->"
BEFORE, AFTER = "math.tanh %a", "arith.maximumf %a, %zero" # of the second layer


def difference(old, new, name):
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", n=2, lineterm="")
    return "".join(line.rstrip() + "\n" for line in lines)


def printed(tool, model):
    output = model.with_suffix(".cpp")
    subprocess.run([tool, model, "-o", output], check=True)
    return output.read_text()


def shown(tool):
    folder = PROJECT / "examples/mlp_mlir"
    old = (folder / "mlp.mlir").read_text()
    where = old.rindex(BEFORE)
    new = old[:where] + AFTER + old[where + len(BEFORE):]
    with tempfile.TemporaryDirectory() as work:
        model = Path(work) / "mlp.mlir"
        model.write_text(new)
        code = printed(tool, model)
    return (f"```diff\n{difference(old, new, 'mlp.mlir')}```\n```diff\n"
            f"{difference((folder / 'mlp.cpp').read_text(), code, 'mlp.cpp')}```\n")


def main():
    tool, *options = sys.argv[1:]
    text = README.read_text()
    before, rest = text.split(BEGIN)
    wanted = f"{before}{BEGIN}\n{shown(tool)}{END}{rest.split(END)[1]}"
    if text == wanted:
        return 0
    if "--check" in options:
        print("the diff in README.md is not what the tool prints: scripts/readme_diff.py TOOL", file=sys.stderr)
        return 1
    README.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
