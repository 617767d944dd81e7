#!/usr/bin/env python3
"""Which folder may include which: the one direction that docs/architecture.md draws. Fails with each include that does not.

  rooms.py PROJECT"""

import re
import sys
from pathlib import Path

# Longest prefix first; a room may include itself and what is named here.
MAY_INCLUDE = {
    "translator/text": set(),
    "translator/ir": set(),
    "translator/output": {"translator/ir", "translator/text"},
    "translator/frontend/mlir": {"translator/ir", "translator/frontend"},
    "translator/frontend/onnx/importer": {"translator/ir", "translator/frontend"},
    "translator/frontend/onnx/ops": {"translator/ir", "translator/frontend", "translator/frontend/onnx/importer"},
    "translator/frontend": {"translator/ir"},
    "passes": {"translator/ir"},
    "translator/emit/render": {"translator/ir", "translator/text"},
    "translator/emit/cpp": {"translator/text", "translator/emit/render"},
    "translator/emit": {
        "translator/ir", "translator/output", "translator/text", "translator/emit/cpp", "translator/emit/render",
    },
    "translator/tool": {
        "translator/ir", "translator/output", "translator/text", "translator/frontend", "translator/frontend/mlir",
        "translator/frontend/onnx/importer", "passes", "translator/emit",
    },
}


def room(path):
    """The room that a file or an included path lies in, or None for other people's headers."""
    for name in sorted(MAY_INCLUDE, key=len, reverse=True):
        if path.startswith(name + "/"):
            return name
    return None


def includes(path):
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def violations(project):
    files = [f for folder in ("translator", "passes") for f in sorted((project / folder).rglob("*")) if f.suffix in (".cpp", ".h")]
    if len(files) < 100:
        sys.exit(f"{project}: error: only {len(files)} sources found; is this the project?")
    for file in files:
        name = str(file.relative_to(project))
        here = room(name)
        for included in includes(file):
            there = room(included)
            if there and there != here and there not in MAY_INCLUDE[here]:
                yield f"{name}: error: {here} may not include {included}"


def main():
    found = list(violations(Path(sys.argv[1])))
    print("\n".join(found) or "every include runs one way")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
