#!/usr/bin/env python3
"""Prints every input of the tests and examples under several sets of options and writes a list with a hash per printed file
and per message. Two lists of two builds of the tool that are equal prove that a change of the tool changes no output.

  printed.py LIST [--against OLD_LIST] [--quick]

With --against the differences are shown, and the exit code is 1 if there are any. The inputs are collected once into
WORK/inputs, so that both builds see the same ones; --collect does it again."""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

project = Path(__file__).resolve().parents[1]
python = project / "build/venv/bin/python"
if python.exists() and Path(sys.prefix) != project / "build/venv" and "ML2K_PYTHON" not in os.environ:
    os.execv(python, [str(python), *sys.argv])

test = project / "test"
OPTIONS = {
    "default": [],
    "host": ["--target=host"],
    "device": ["--target=device"],
    "naive": ["--schedule=naive"],
    "plain": ["--math=std", "--winograd=off", "--weights=file", "--locations=plain"],
}
EXAMPLES = ["digits/mlp.onnx", "digits/cnn.onnx", "mlp_mlir/mlp.mlir", "stencil/heat.mlir", "nbody/nbody.mlir",
            "sparse/assemble.mlir", "sparse/solve.mlir"]
SEEDS = [*range(40), 44, 59, 110, 130, 133, 156, 211, 321, 524, 642, 200078, 200335]
QUICK = 16  # --quick takes one job of so many


def identifier(text):
    return re.sub(r"\W", "_", str(text))


def examples(made):
    for name in EXAMPLES:
        yield "example_" + identifier(name), project / "examples" / name


def scripts(made):
    for name in ["run/make_models.py", "onnx/newer.py", "onnx/own.py"]:
        subprocess.run([sys.executable, test / name, made / Path(name).stem], check=True, stdout=subprocess.DEVNULL)
    for path in sorted((made / "make_models").glob("*.onnx")):
        yield "run_" + path.stem, path


def backend_tests(made):
    from cases import DATA, load
    for folder in [DATA, made / "newer", made / "own"]:
        for case in load(folder):
            yield f"{folder.name}_{case.stem}", case.folder / "model.onnx"


def generated(made):
    import dynamic_cache # these two add to dynamic_models.MODELS # noqa: F401
    import dynamic_images # noqa: F401
    import dynamic_models
    import onnx
    import random_graphs
    models = [("dynamic_" + name, dynamic_models.make(name)[0]) for name in dynamic_models.MODELS]
    for stem, model in models + [(f"random{seed}", random_graphs.graph_of(seed)) for seed in SEEDS]:
        onnx.save(model, str(made / f"{stem}.onnx"))
        yield stem, made / f"{stem}.onnx"


def texts(made, encode):
    for path in sorted(p for p in test.rglob("*") if p.suffix in (".onnxtxt", ".textproto")):
        stem = identifier(path.relative_to(test))
        done = subprocess.run([encode, path], capture_output=True)
        if done.returncode == 0:
            (made / f"{stem}.onnx").write_bytes(done.stdout)
            yield stem, made / f"{stem}.onnx"


def programs(made):
    """Every function of every part of an MLIR test."""
    for path in sorted(test.rglob("*.mlir")):
        for part, text in enumerate(re.split(r"^// -----.*$", path.read_text(), flags=re.M)):
            stem = f"{identifier(path.relative_to(test))}_{part}"
            (made / f"{stem}.mlir").write_text(text)
            for entry in re.findall(r"(?m)^[^\n/]*func\.func (?:public )?@(\w+)", text):
                yield f"{stem}_{entry}", made / f"{stem}.mlir", f"--entry={entry}"


def collect(made, tool):
    """Every input as (name, path, options...), listed in a file for the next run."""
    sys.path[:0] = [str(project / "python"), str(test / "onnx")]
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    found = [*examples(made), *scripts(made), *backend_tests(made), *generated(made),
             *texts(made, tool.parent / "onnx-encode"), *programs(made)]
    (made / "list").write_text("".join("\t".join(map(str, entry)) + "\n" for entry in found))


def print_one(tool, out, option, stem, path, more):
    """Writes the printed files, and a file with exit code and messages."""
    folder = out / option
    command = [tool, path, "-o", folder / f"{stem}.cpp", "--style=llvm", *OPTIONS[option], *more]
    try:
        done = subprocess.run(command, capture_output=True, timeout=120)
        code, said = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        code, said = "no end", b""
    said = said.replace(str(path).encode(), b"INPUT").replace(str(folder).encode(), b"OUT")
    (folder / f"{stem}.said").write_bytes(f"{code}\n".encode() + said)


def print_all(options, out):
    shutil.rmtree(out, ignore_errors=True)
    inputs = [line.split("\t") for line in (options.work / "inputs/list").read_text().splitlines()]
    jobs = [(option, *entry[:2], entry[2:]) for option in OPTIONS for entry in inputs]
    if options.quick:
        jobs = [job for job in jobs if zlib.crc32(f"{job[0]} {job[1]}".encode()) % QUICK == 0]
    for option in OPTIONS:
        (out / option).mkdir(parents=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda job: print_one(options.tool, out, *job), jobs))
    files = sorted(path for path in out.rglob("*") if path.is_file())
    print(f"{len(jobs)} runs, {len(files)} files")
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def read_list(path):
    return {name: digest for digest, name in (line.split("  ", 1) for line in path.read_text().splitlines())}


def differences(old, new, quick):
    """With --quick the old list may be one of all inputs."""
    names = sorted(name for name in old.keys() | new.keys() if name in new or not quick)
    return [name for name in names if old.get(name) != new.get(name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path, help="the list to write")
    parser.add_argument("--against", type=Path, metavar="LIST", help="a list to compare with")
    parser.add_argument("--quick", action="store_true", help=f"every {QUICK}th run: under a minute on one processor")
    parser.add_argument("--tool", type=Path, default=project / "build/release/bin/ml2kokkos", help="default: %(default)s")
    parser.add_argument("--work", type=Path, default=project / "build/printed", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="default: all processors")
    parser.add_argument("--collect", action="store_true", help="collect the inputs again; tool's folder has onnx-encode")
    options = parser.parse_args()
    if options.collect or not (options.work / "inputs/list").exists():
        collect(options.work / "inputs", options.tool)
    printed = print_all(options, options.work / f"out-{options.list.name}")
    options.list.write_text("".join(f"{digest}  {name}\n" for name, digest in printed.items()))
    if options.against:
        found = differences(read_list(options.against), printed, options.quick)
        print("\n".join([f"differs: {name}" for name in found] or ["every file is the same"]))
        sys.exit(bool(found))


if __name__ == "__main__":
    main()
