"""Other values for all that a model was trained to: `retrain.py TOOL FOLDER MODEL...`. Fails where code changes by them.

Each model is translated with the weights that it has and with weights of zeros and of ones. The sources
have to be the same, the headers but for the line of the sidecar's hash, and the sidecars of the same size."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

HASH = re.compile("// +(sha256 )?[0-9a-f]{64}")
VALUES = {"zeros": np.zeros, "ones": np.ones}


OPERATORS = {("Resize", 1), ("Resize", 2), ("Pow", 1)}  # inputs that say what the operator does


def fixed(graph):
    return {name for node in graph.node for at, name in enumerate(node.input) if (node.op_type, at) in OPERATORS}


def retrained(model, values):
    other = onnx.ModelProto()
    other.CopyFrom(model)
    for tensor in other.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype.kind == "f" and array.ndim > 0 and tensor.name not in fixed(model.graph):
            tensor.CopyFrom(numpy_helper.from_array(values(array.shape).astype(array.dtype), tensor.name))
    return other


def translate(tool, model, folder):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "net.onnx")
    subprocess.run([tool, "net.onnx", "-o", "net.cpp", "--weights=file", "--style=llvm"], cwd=folder, check=True)
    header = [line for line in (folder / "net.hpp").read_text().splitlines() if not HASH.fullmatch(line)]
    sidecar = folder / "net.safetensors"
    return {"net.cpp": (folder / "net.cpp").read_text(), "net.hpp": header, "size": sidecar.exists() and sidecar.stat().st_size}


def main():
    tool, folder, *paths = sys.argv[1:]
    problems = []
    for path in map(Path, paths):
        model = onnx.load(path)
        given = translate(tool, model, Path(folder) / path.stem / "given")
        for name, values in VALUES.items():
            other = translate(tool, retrained(model, values), Path(folder) / path.stem / name)
            problems += [f"{path.stem}: {file} differs for weights of {name}" for file in given if given[file] != other[file]]
    print("\n".join(problems) or f"{len(paths)} models")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
