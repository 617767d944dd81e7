#!/usr/bin/env python3
"""Compares what blocks.json says that parts and blocks declare with what clang finds.

  declared.py BLOCKS.hpp BLOCKS.json --include DIR ...

The translator keeps the names of a model off these, or they would hide each other. Exit 77 without clang."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CLANGS = ["clang++-19", "clang++"]


def listed(path):
    entries = [entry for entry in json.loads(path.read_text()) if not entry["file"].startswith("block/library/")]
    return {name for entry in entries for name in entry.get("declares", [entry["name"]])}


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def candidates(clang, header):
    """Names in the namespace, and those of the parameters of its templates."""
    result = run([*clang, "-Xclang", "-ast-list", header])
    if result.returncode:
        sys.exit(result.stderr[:2000])
    return set(re.findall(r"^blocks::(\w+)$", result.stdout, re.MULTILINE)) - {"ExecutionSpace"}


def members(clang, header, names):
    """Those that a using-declaration accepts."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "using.cpp"
        source.write_text(f'#include "{header.resolve()}"\n' + "".join(f"using blocks::{name};\n" for name in sorted(names)))
        errors = run([*clang, "-ferror-limit=0", source]).stderr
    return names - set(re.findall(r"no member named '(\w+)' in namespace 'blocks'", errors))


def processors(clang):
    """Options for those that parts of the text are only for: none, and Intel's tiles where clang knows them."""
    wide = ["-march=sapphirerapids"]
    return [[], wide] if run([*clang, *wide, "/dev/null"]).returncode == 0 else [[]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("header", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--include", nargs="+", default=[])
    arguments = parser.parse_args()
    compiler = next(filter(None, map(shutil.which, CLANGS)), None)
    if not compiler:
        print("no clang here")
        sys.exit(77)
    clang = [compiler, "-std=c++17", "-fopenmp", "-fsyntax-only", "-w", "-x", "c++"]
    clang += [f"-isystem{path}" for path in arguments.include]
    named = listed(arguments.table)
    found = set()
    for options in processors(clang):
        found |= members([*clang, *options], arguments.header, candidates([*clang, *options], arguments.header) | named)
    for name in sorted(found - named):
        print(f"{arguments.table}: error: no block declares {name}")
    for name in sorted(named - found):
        print(f"{arguments.table}: error: {name} is declared nowhere")
    print(f"{len(found & named)} names")
    sys.exit(found != named)


if __name__ == "__main__":
    main()
