#!/usr/bin/env python3
"""Every launch of a device in the templates of blocks has the policy of kernels that hold many views.

  launches.py TEMPLATES

Without `Light` a kernel above 512 bytes waits for the one before and no graph captures it. Which kernels grow so large
depends on the model, so all that take a caller's body have it."""

import re
import sys
from pathlib import Path

POLICY = re.compile(r"Kokkos::(?:Team|Range)Policy(?:\{\{#device\}\})?(?:<ExecutionSpace[^;(]*>|(?=\(space))")
TAG = re.compile(r"\{\{([#^/])([a-z_]+)\}\}")


def sections(text, end):
    """The sections around a position, outermost first."""
    around = []
    for kind, name in TAG.findall(text[:end]):
        if kind == "/":
            around.pop()
        else:
            around.append((kind, name))
    return around


def heavy_launches(path):
    text = path.read_text()
    for policy in POLICY.finditer(text):
        on_device = ("#", "device") in sections(text, policy.start())
        if on_device and "Light" not in policy[0] and not text[policy.end():].startswith("::member_type"):
            yield f"{path}:{text.count(chr(10), 0, policy.start()) + 1}: error: a launch of a device without Light: {policy[0]}"


def main():
    paths = sorted(Path(sys.argv[1], "block").rglob("*.mustache"))
    problems = [problem for path in paths for problem in heavy_launches(path)]
    light = sum(len(re.findall(r"\bLight\b", path.read_text())) for path in paths)
    print("\n".join(problems + [f"{light} launches with Light"]))
    sys.exit(bool(problems) or light == 0)


if __name__ == "__main__":
    main()
