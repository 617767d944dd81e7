#!/usr/bin/env python3
"""Runs a page of the documentation: files are written, shell blocks run in order in one folder, expected output is compared.

  tutorial.py PAGE.md --tool ml2kokkos --kokkos DIR --work FOLDER

A fenced block is a file after `<!-- file: NAME -->`, the output of the block before it after `<!-- expect -->`; `sh` blocks are run. Where
PyTorch is not installed, `<!-- run: export SEED -->` writes the same network with the onnx package."""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"(?:<!-- (?P<note>[^>]*) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)```", re.DOTALL)


def export(folder, seed):
    """What export.py writes, without PyTorch: the same nodes and names, other numbers."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(seed)
    shapes = {"0.weight": (16, 3), "0.bias": (16,), "2.weight": (2, 16), "2.bias": (2,)}
    weights = [numpy_helper.from_array(random.uniform(-0.5, 0.5, shape).astype(np.float32), name) for name, shape in shapes.items()]
    nodes = [
        helper.make_node("Gemm", ["state", "0.weight", "0.bias"], ["h"], name="/0/Gemm", transB=1),
        helper.make_node("Tanh", ["h"], ["t"], name="/1/Tanh"),
        helper.make_node("Gemm", ["t", "2.weight", "2.bias"], ["flux"], name="/2/Gemm", transB=1),
    ]
    value = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["cells", width])
    graph = helper.make_graph(nodes, "main_graph", [value("state", 3)], [value("flux", 2)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "closure.onnx")


def run(command, folder, environment):
    done = subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout}{done.stderr}exit code {done.returncode}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--kokkos", required=True)
    parser.add_argument("--work", type=Path, required=True)
    arguments = parser.parse_args()
    folder = arguments.work.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = os.pathsep.join([str(arguments.tool.resolve().parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "Test"), ("EMAIL", "test@example.org"))}
    environment = {**os.environ, **who, "PATH": path, "Kokkos_ROOT": arguments.kokkos, "GIT_CONFIG_GLOBAL": "/dev/null",
                   "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    said, ran = "", 0
    for block in BLOCK.finditer(arguments.page.read_text()):
        note, text = (block["note"] or "").strip(), block["text"]
        if note.startswith("file: "):
            (folder / note[6:]).write_text(text)
        elif note == "expect":
            if said != text:
                sys.exit(f"expected\n{text}but found\n{said}")
        elif note.startswith("run: export") and importlib.util.find_spec("torch") is None:
            export(folder, int(note.split()[-1]))
        elif block["kind"] == "sh":
            said, ran = run(text, folder, environment), ran + 1
    print(f"{ran} blocks run")
    sys.exit(ran < 4)


if __name__ == "__main__":
    main()
