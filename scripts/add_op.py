#!/usr/bin/env python3
"""Starts the import of an ONNX operator: a function, its row in the table of its family, a test.

    add_op.py NAME FAMILY [--versions N N ...] [--inputs K]

FAMILY is a file of translator/frontend/onnx/ops (Elementwise, Movement, ...). The versions are asked of the onnx package where
none are given. The new function refuses its nodes until its body is written: docs/add-an-op.md.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "translator" / "frontend" / "onnx" / "ops"
TESTS = ROOT / "test" / "frontend" / "onnx"

FUNCTION = """static void import{name}(Node &node) {{
  node.refuse("import{name} has no body yet");
}}

"""

TEST = """# Say here what {name} becomes, and check it below.
# RUN: onnx-encode %s | ml2kokkos - --emit=imported | FileCheck %s
# CHECK: linalg.generic
<ir_version: 8, opset_import: ["" : {opset}]>
net ({inputs}) => (float[2, 3] y) {{ y = {name}({names}) }}
"""


def known_versions(name, newest):
    try:
        import onnx
    except ImportError:
        sys.exit("add_op.py: give the versions by --versions (the onnx package, which knows them, is not installed)")
    schemas = [schema for schema in onnx.defs.get_all_schemas_with_history() if schema.name == name]
    versions = sorted(schema.since_version for schema in schemas if schema.domain == "")
    if not versions:
        sys.exit(f"add_op.py: ONNX has no operator {name}")
    return [version for version in versions if version <= newest]


def insert(text, name, versions):
    """The text of a family with the function before its table and the row at the table's end."""
    table = re.search(r"^void register\w+\(Registry &table\) \{\n", text, re.M)
    if not table:
        sys.exit("add_op.py: the family has no table of the usual form")
    row = f'  table.add("{name}", {{{", ".join(map(str, versions))}}}, import{name});\n'
    end = text.index("\n}\n", table.end()) + 1
    before, rows, after = text[: table.start()], text[table.start() : end], text[end:]
    return before + FUNCTION.format(name=name) + rows + row + after


def newest_opset():
    return int(re.search(r"newestOpset = (\d+)", (FRONTEND / "Registry.h").read_text()).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("family")
    parser.add_argument("--versions", type=int, nargs="+")
    parser.add_argument("--inputs", type=int, default=1)
    options = parser.parse_args()
    family, test = FRONTEND / f"{options.family}.cpp", TESTS / f"{options.name.lower()}.onnxtxt"
    if not family.exists():
        sys.exit(f"add_op.py: there is no family {family.relative_to(ROOT)}")
    if test.exists() or f'"{options.name}"' in "".join(path.read_text() for path in FRONTEND.glob("*.cpp")):
        sys.exit(f"add_op.py: {options.name} is there already")
    versions = options.versions or known_versions(options.name, newest_opset())
    family.write_text(insert(family.read_text(), options.name, versions))
    names = [f"x{at}" for at in range(options.inputs)]
    inputs = ", ".join(f"float[2, 3] {name}" for name in names)
    test.write_text(TEST.format(name=options.name, opset=versions[-1], inputs=inputs, names=", ".join(names)))
    print(f"write import{options.name} in {family.relative_to(ROOT)} and the checks of {test.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
