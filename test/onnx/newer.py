#!/usr/bin/env python3
"""Writes the operator tests of the onnx wheel that libonnx-testdata does not have, as a tree for run.py --data.

  newer.py DIR [--opset N]

Taken are inference tests on tensors of numbers, as models of an opset (default: 28) where they are valid in it. Expected values are those of the
wheel, that is of numpy code beside each test. Left out are types that C++ has not (floats of 8 bits, integers of 4), previews
of operators, and images in the formats of files."""

import argparse
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

sys.path.insert(0, str(Path(__file__).parent))
from cases import DATA, element_types, not_wanted # noqa: E402

NO_NUMBERS = {value for name, value in TensorProto.DataType.items() if re.match("FLOAT[468]|U?INT[24]$|STRING|COMPLEX", name)}


def cases():
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return collect_testcases(None)


def is_wanted(case, opset):
    if case.model is None or (DATA / "node" / case.name).exists() or not_wanted(case.model):
        return False
    versions = {entry.domain: entry.version for entry in case.model.opset_import}
    if set(versions) != {""} or any(node.op_type == "ImageDecoder" for node in case.model.graph.node):
        return False
    return 18 <= versions[""] and not set(element_types(case.model)) & NO_NUMBERS and is_valid(case.model, opset)


def is_valid(model, opset):
    """Whether a model of a newer opset is one of this opset, too; makes it one."""
    for entry in model.opset_import:
        if not entry.domain:
            entry.version = min(entry.version, opset)
    model.ir_version = min(model.ir_version, 13)
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception: # of several kinds
        return False
    return True


def write(case, folder):
    (folder / "test_data_set_0").mkdir(parents=True, exist_ok=True)
    onnx.save(case.model, str(folder / "model.onnx"))
    inputs, outputs = case.data_sets[0]
    for kind, values, declared in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
        for number, (value, argument) in enumerate(zip(values, declared)):
            tensor = value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value), argument.name)
            (folder / f"test_data_set_0/{kind}_{number}.pb").write_bytes(tensor.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--opset", type=int, default=28)
    arguments = parser.parse_args()
    wanted = [case for case in cases() if is_wanted(case, arguments.opset)]
    for case in wanted:
        write(case, arguments.folder / "node" / case.name)
    print(f"{len(wanted)} tests")


if __name__ == "__main__":
    main()
