#!/usr/bin/env python3
"""Programs on sparse tensors beside upstream's own pipeline for them: values of the printed code, positions and coordinates of
sparse results, against mlir-opt's --sparsifier with its runtime library.

  upstream.py --work FOLDER [--part N/M] [PATTERN...]

Upstream gets the elements as dense tensors, and its sparse_tensor.convert stores them. What its pipeline does not lower is counted
and named."""

import argparse
import ctypes
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "python"), str(HERE.parents[2] / "scripts")]
import collected_programs # noqa: E402
import make_programs # noqa: E402
import upstream_run # noqa: E402
from ml2kokkos.verify import sparse # noqa: E402
from ml2kokkos.verify.build import build_runner, write_runner # noqa: E402
from ml2kokkos.verify.compare import deviation # noqa: E402
from ml2kokkos.verify.exchange import run_all # noqa: E402
from ml2kokkos.verify.translate import Failure, translate # noqa: E402

SPARSIFIER = "--sparsifier=enable-runtime-library=true"
# Upstream cannot make a tensor in this form, and keeps one entry of each row in these results; two results are one too many for
# wrapped() (run.sparse compares all of them with loops)
LEFT_OUT_FORM, LEFT_OUT = "Loose", r"(sampled|multiplied)_coo_f64_32|sum_and_spmv_.*"


def split_types(text):
    return [item.split(": ", 1) for item in upstream_run.split_list(text)]


def is_sparse(kind):
    return "#sparse_tensor" in kind


def dense(kind):
    return re.sub(r", #sparse_tensor\.encoding<\{.*?\}>", "", kind)


def wrapped(name, text):
    """The function with another one in front, whose tensors are dense."""
    start = text.index("(")
    end = upstream_run.closing(text, start)
    arguments, result = split_types(text[start + 1 : end]), text[end:].removeprefix(") -> ").split(" {\n", 1)[0]
    lines, passed = [], []
    for argument, kind in arguments:
        passed.append((f"{argument}_stored" if is_sparse(kind) else argument, kind))
        if is_sparse(kind):
            lines.append(f"  {argument}_stored = sparse_tensor.convert {argument} : {dense(kind)} to {kind}")
    given = ", ".join(f"{argument}: {dense(kind)}" for argument, kind in arguments)
    names, kinds = zip(*passed)
    lines.append(f"  %made = call @{name}({', '.join(names)}) : ({', '.join(kinds)}) -> {result}")
    if is_sparse(result):
        lines.append(f"  %whole = sparse_tensor.convert %made : {result} to {dense(result)}")
    value = "%whole" if is_sparse(result) else "%made"
    header = f"func.func @run_{name}({given}) -> {dense(result)}"
    body = "\n".join([*lines, f"  return {value} : {dense(result)}"])
    return header, f"{text}{header} attributes {{llvm.emit_c_interface}} {{\n{body}\n}}\n"


class Case:
    def __init__(self, program, make):
        self.name, self.text = program.name, program.text(*make_programs.results_of(make, program))
        self.header, self.wrapped = wrapped(self.name, self.text)
        self.function, self.problem = None, None

    def translate(self, folder):
        path = folder / f"{self.name}.mlir"
        path.write_text(self.text)
        self.model = translate(path, folder, self.name, [f"--entry={self.name}"])
        self.tensors = sparse.sparse_tensors(path, [f"--entry={self.name}"])
        self.arrays, self.whole = sparse.make_inputs(self.model, self.tensors, 1, {}, (-7, 8))

    def expect(self):
        """Arguments of forward(), and what it has to compute."""
        self.expected = sparse.expected_of(self.model, self.tensors, self.arrays, self.function(*self.whole))
        self.inputs = [self.arrays[argument.name].astype(argument.dtype) for argument in self.model.inputs]

    def compare(self, results):
        if isinstance(results, Failure):
            return str(results)
        for argument, result, wanted in zip(self.model.outputs, results, self.expected, strict=True):
            if argument.is_room:
                continue
            wanted = np.asarray(wanted).astype(argument.dtype)
            if argument.dtype.kind in "iu":
                if not np.array_equal(result, wanted):
                    return f"{argument.name}: {result} instead of {wanted}"
                continue
            line = deviation(argument.name, result, wanted, 1e-5 if argument.dtype == np.float32 else 1e-12)
            if not line.is_good:
                return f"{argument.name}: {line.error:.2e}: {result} instead of {wanted}"
        return None


def compile_upstream(text, folder):
    lowered = upstream_run.run(["mlir-opt-19", SPARSIFIER], text)
    source = folder / "module.ll"
    source.write_text(upstream_run.run(["mlir-translate-19", "--mlir-to-llvmir"], lowered))
    libraries = subprocess.run(["llvm-config-19", "--libdir"], capture_output=True, text=True).stdout.strip()
    upstream_run.run(["clang-19", "-w", "-O1", "-shared", "-fPIC", str(source), "-o", str(folder / "module.so"), f"-L{libraries}",
                      f"-Wl,-rpath,{libraries}", "-lmlir_c_runner_utils", "-lm"], "")
    return ctypes.CDLL(str(folder / "module.so"))


def lower(cases, folder):
    """All at once; where one of them keeps the others from being lowered, by halves."""
    try:
        library = compile_upstream("".join(case.wrapped for case in cases), Path(tempfile.mkdtemp(dir=folder)))
        for case in cases:
            case.function = upstream_run.Function(upstream_run.Signature(case.header), library)
    except upstream_run.Failed as failure:
        if len(cases) == 1:
            cases[0].problem = str(failure).splitlines()[0]
            return
        lower(cases[: len(cases) // 2], folder)
        lower(cases[len(cases) // 2 :], folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--part", default="0/1")
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    cases = [Case(program, make) for program, make in [*make_programs.programs(), *collected_programs.programs()]
             if program.form != LEFT_OUT_FORM and not re.fullmatch(LEFT_OUT, program.name)]
    cases = [case for case in cases if not options.patterns or any(re.search(text, case.name) for text in options.patterns)][first::step]
    folder, lowered = options.work / "programs", options.work / "upstream"
    folder.mkdir(parents=True, exist_ok=True)
    lowered.mkdir(exist_ok=True)
    lower(cases, lowered)
    unknown = [case for case in cases if not case.function]
    cases = [case for case in cases if case.function]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda case: case.translate(folder), cases))
    for case in cases:
        case.expect()
    write_runner(folder, [case.model for case in cases])
    program = build_runner(options.work, "programs", unity=24, flags="-O1")
    results, _ = run_all(program, [(case.model, case.inputs, 0, None) for case in cases], outputs=[case.expected for case in cases])
    wrong = [(case.name, said) for case, result in zip(cases, results) if (said := case.compare(result))]
    for name, said in wrong:
        print(f"WRONG {name}: {said}")
    for case in unknown:
        print(f"not lowered upstream: {case.name}: {case.problem}")
    print(f"{len(cases) - len(wrong)} right, {len(wrong)} wrong, {len(unknown)} not lowered upstream")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
