#!/usr/bin/env python3
"""Every form under a sanitizer, several models in one program, with four threads that share the weights.

usage: sanitized.py thread|address TOOL KOKKOS FOLDER MODELS     exit 77 without clang 19, its OpenMP and Archer

`thread`: clang's OpenMP says to ThreadSanitizer, through Archer, who waits for whom. `address`: also undefined behaviour. Both: launch,
team, thread and rows forms, runners, the C interface from four threads, the server."""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LLVM = pathlib.Path("/usr/lib/llvm-19/lib")
THREADS = 4
FLAGS = {"thread": ["-fsanitize=thread"], "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]}
COLUMNS = ["cloud_fraction", "gated", "counts", "wide", "per_level", "gated_halved", "odd_halved"]
OTHERS = {"cloud_fraction_runner": "runner", "counts_runner": "runner", "gated_runner": "runner", "halved_runner": "runner",
          "plain": "c", "gated_served": "server"}


def run(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))[:400]}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[:6000]}")
    return done.stdout + done.stderr


def print_models(tool, folder, models):
    for name in COLUMNS:
        model, weights = name.replace("_halved", ""), "file,bf16" if "_halved" in name else "file"
        run([tool, models / f"{model}.onnx", "--form=launch,team,thread,rows", f"--weights={weights}", "-o", folder / f"{name}.cpp"])
    for name, form in OTHERS.items():
        model = models / (name.replace("_runner", ".onnx") if "runner" in name and "halved" not in name else "gated.onnx")
        more = ["--weights=bf16"] if name == "halved_runner" else []
        run([tool, model, f"--form={form}", *more, "-o", folder / f"{name}.cpp"])


def build(kind, kokkos, folder):
    """All forms of all models, in one program."""
    main = folder / "main.cpp"
    sources = [*COLUMNS, *(name for name in OTHERS if "runner" in name)]
    main.write_text("".join(f'#include "{name}.cpp"\n' for name in COLUMNS) + f'#include "{HERE}/Forms.cpp"\n')
    runners = [folder / f"{name}.cpp" for name in sources if "runner" in name]
    library = next(path for path in (kokkos / "lib64", kokkos / "lib") if list(path.glob("libkokkoscore*")))
    more = [f"-Wl,-rpath-link,{path}" for path in kokkos.parent.glob("pygenten.libs")]
    run(["clang++-19", "-std=c++17", "-O1", "-g", "-march=native", "-fopenmp", *FLAGS[kind], "-DML2K_FEW", f"-I{folder}", f"-I{HERE}",
         f"-isystem{kokkos}/include", f"-isystem{kokkos}/include/kokkos", main, *runners, "-o", folder / "forms", f"-L{library}",
         "-lkokkoscore", f"-Wl,-rpath,{library}", *more])


def interfaces(kind, folder, models):
    """The C interface and the server, which know nothing of Kokkos."""
    flags = ["-O1", "-g", *FLAGS[kind], f"-I{folder}"]
    run(["clang-19", "-std=c99", *flags, "-c", HERE / "UseC.c", "-o", folder / "UseC.o"])
    run(["clang++-19", "-std=c++17", *flags, HERE / "Interfaces.cpp", folder / "plain.cpp", folder / "UseC.o", "-o", folder / "interfaces",
         "-pthread"])
    run([folder / "interfaces", models / "gated.values"])
    run(["clang++-19", "-std=c++17", *flags, folder / "gated_served.cpp", folder / "gated_served_server.cpp", "-o", folder / "server"])
    run([sys.executable, "-B", HERE / "policy.py", folder / "server", folder.parent])


def main(kind, tool, kokkos, folder, models):
    if not shutil.which("clang++-19") or not (LLVM / "libarcher.so").exists() or not (LLVM / "libomp.so").exists():
        sys.exit(77)
    (folder / "generated").mkdir(parents=True, exist_ok=True)
    for values in models.glob("*.values"): # where Forms.cpp looks for them
        shutil.copy(values, folder)
    print_models(tool, folder / "generated", models)
    build(kind, kokkos, folder / "generated")
    environment = dict(os.environ, OMP_NUM_THREADS=str(THREADS), OMP_PROC_BIND="false")
    if kind == "thread":
        environment.update(OMP_TOOL_LIBRARIES=f"{LLVM}/libarcher.so", LD_PRELOAD=f"{LLVM}/libomp.so", ARCHER_OPTIONS="verbose=1",
                           TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66")
    else:
        environment["ASAN_OPTIONS"] = "detect_leaks=0" # the OpenMP runtime keeps its threads
    said = run([folder / "generated/forms", folder, folder / "generated"], env=environment)
    wanted = ["Archer detected OpenMP application with TSan"] if kind == "thread" else []
    if "WARNING: ThreadSanitizer" in said or "\n0 failures" not in "\n" + said or any(text not in said for text in wanted):
        sys.exit(said[-6000:])
    interfaces(kind, folder / "generated", models)
    print(f"{len(COLUMNS)} networks in all forms, with {THREADS} threads")


if __name__ == "__main__":
    main(sys.argv[1], *(pathlib.Path(argument).resolve() for argument in sys.argv[2:6]))
