#!/usr/bin/env python3
"""Programs on sparse tensors under a sanitizer, with four threads: no race, no access outside of memory, right values.

usage: sanitized.py thread|address TOOL KOKKOS FOLDER     exit 77 without clang 19, its OpenMP and Archer

`thread`: clang's OpenMP says to ThreadSanitizer, through Archer, who waits for whom; Kokkos' library is not instrumented, and
threads of its parallel_scan wait for each other in there."""

import os
import pathlib
import shutil
import subprocess
import sys

import make_programs

HERE = pathlib.Path(__file__).resolve().parent
SUPPRESSIONS = HERE.parents[1] / "thread_sanitizer.suppressions"
LLVM = pathlib.Path("/usr/lib/llvm-19/lib")
THREADS, SCALE = 4, {"thread": 25, "address": 4}
FLAGS = {"thread": ["-fsanitize=thread"], "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]}


def run(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))[:400]}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[:6000]}")
    return done.stdout + done.stderr


def build(kind, tool, kokkos, folder):
    make_programs.main(folder, few=True, scale=SCALE[kind])
    names = (folder / "names.txt").read_text().split()
    for name in names:
        run([tool, folder / "programs.mlir", f"--entry={name}", "-o", folder / f"{name}.cpp"])
    main = folder / "main.cpp"
    main.write_text("".join(f'#include "{name}.cpp"\n' for name in names) + f'#include "{HERE}/Sparse.cpp"\n')
    library = next(path for path in (kokkos / "lib64", kokkos / "lib") if list(path.glob("libkokkoscore*")))
    more = [f"-Wl,-rpath-link,{path}" for path in kokkos.parent.glob("pygenten.libs")]
    run(["clang++-19", "-std=c++17", "-O1", "-g", "-fopenmp", *FLAGS[kind], f"-DML2K_SCALE={SCALE[kind]}", f"-I{folder}", f"-I{HERE}",
         f"-isystem{kokkos}/include", f"-isystem{kokkos}/include/kokkos", main, "-o", folder / "sparse", f"-L{library}", "-lkokkoscore",
         f"-Wl,-rpath,{library}", *more])
    return names


def main(kind, tool, kokkos, folder):
    if not shutil.which("clang++-19") or not (LLVM / "libarcher.so").exists() or not (LLVM / "libomp.so").exists():
        sys.exit(77)
    folder.mkdir(parents=True, exist_ok=True)
    names = build(kind, tool, kokkos, folder)
    environment = dict(os.environ, OMP_NUM_THREADS=str(THREADS), OMP_PROC_BIND="false")
    if kind == "thread":
        environment.update(OMP_TOOL_LIBRARIES=f"{LLVM}/libarcher.so", LD_PRELOAD=f"{LLVM}/libomp.so", ARCHER_OPTIONS="verbose=1",
                           TSAN_OPTIONS=f"ignore_noninstrumented_modules=1 exitcode=66 suppressions={SUPPRESSIONS}")
    else:
        environment["ASAN_OPTIONS"] = "detect_leaks=0"
    said = run([folder / "sparse"], env=environment)
    right = sum(line.endswith(" ok") for line in said.splitlines())
    wanted = ["Archer detected OpenMP application with TSan"] if kind == "thread" else []
    if "WARNING: ThreadSanitizer" in said or right < len(names) or any(text not in said for text in wanted):
        sys.exit(said[-6000:])
    print(f"{right} results are right, with {THREADS} threads")


if __name__ == "__main__":
    main(sys.argv[1], *(pathlib.Path(argument).resolve() for argument in sys.argv[2:5]))
