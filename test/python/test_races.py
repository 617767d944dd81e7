"""All kernels under ThreadSanitizer, with clang, its OpenMP and Archer: no race is reported, and the values are Python's.

The program is C++ alone: Python itself is not built for the sanitizer."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import kernels as own
import ml2kokkos as kk
import numpy as np
import pytest
from ml2kokkos.building import find_kokkos
from ml2kokkos.interface import interface_of
from ml2kokkos.tool import find_tool, run_tool
from test_kernels import arguments_of, compare, copied, together
from test_random_kernels import AT_ONCE, check

SUPPRESSIONS = Path(__file__).resolve().parents[1] / "thread_sanitizer.suppressions"
LLVM, NAME = "/usr/lib/llvm-19/lib", "all_kernels"
if not shutil.which("clang++-19") or not os.path.exists(f"{LLVM}/libarcher.so") or not os.path.exists(f"{LLVM}/libomp.so"):
    pytest.skip("no clang++-19 with libomp and Archer", allow_module_level=True)

MAIN = """
#include "all_kernels.cpp"
#include <cstdio>
#include <fstream>
#include <vector>

template <class View> View viewOf(char *data, std::vector<std::size_t> const &extents) {
  Kokkos::LayoutRight layout;
  for (std::size_t i = 0; i < extents.size(); ++i)
    layout.dimension[i] = extents[i];
  return View(reinterpret_cast<typename View::pointer_type>(data), layout);
}

int main() {
  Kokkos::ScopeGuard const guard;
  std::vector<char> data(SIZE);
  std::ifstream("in.bin", std::ios::binary).read(data.data(), data.size());
  {
    all_kernels::ExecutionSpace const space;
    WORKSPACE
    all_kernels::forward(space, ARGUMENTS);
    space.fence();
  }
  std::ofstream("out.bin", std::ios::binary).write(data.data(), data.size());
}
"""


def parted(value):
    """Complex numbers as pairs of reals, as forward() takes them."""
    if not np.iscomplexobj(value):
        return value
    parts = np.stack([np.real(value), np.imag(value)], -1)
    return np.ascontiguousarray(parts, np.asarray(value).real.dtype)


def program(interface, values):
    """The text of main.cpp, and the bytes of all arrays with where each lies."""
    blob, places, texts = bytearray(), {}, []
    sizes = {}
    for argument in interface.arguments:
        value = parted(values[argument.parameter])
        if not argument.is_view:
            value = value.item() if isinstance(value, np.generic) else value
            texts.append(repr(value).lower() if isinstance(value, bool) else repr(value))
            sizes[argument.parameter] = value
            continue
        sizes.update((name, extent) for name, extent in zip(argument.shape, value.shape) if isinstance(name, str))
        places[argument.parameter] = len(blob)
        blob += value.tobytes() + bytes(-value.nbytes % 64)
        texts.append(f"viewOf<all_kernels::{argument.type}>(data.data() + {places[argument.parameter]}, {{{', '.join(map(str, value.shape))}}})")
    workspace = ""
    if interface.has_workspace:
        texts.insert(0, "work")
        workspace = f"all_kernels::Workspace const work({', '.join(['space', *(str(sizes[name]) for name in interface.workspace_sizes)])});"
    text = MAIN.replace("SIZE", str(len(blob))).replace("WORKSPACE", workspace).replace("ARGUMENTS", ",\n                         ".join(texts))
    return text, bytes(blob), places


def sanitized(kernel, flat, names, folder):
    """Runs a kernel in a program of its own, its arrays written in place; what the process said."""
    kernel.write(folder / f"{NAME}.cpp", *flat)
    run_tool(find_tool(), folder / f"{NAME}.mlir", "--emit=json", "-o", folder / f"{NAME}.json")
    interface = interface_of(NAME, json.loads((folder / f"{NAME}.json").read_text()))
    text, blob, places = program(interface, {**dict(zip(names, flat)), **dict(kernel.captured(*flat))})
    (folder / "main.cpp").write_text(text)
    (folder / "in.bin").write_bytes(blob)
    kokkos = find_kokkos().parents[2]
    library = next(path for path in (kokkos / "lib64", kokkos / "lib") if list(path.glob("libkokkoscore*")))
    more = sorted({str(path) for path in kokkos.parent.glob("pygenten.libs")})
    command = ["clang++-19", "-std=c++20", "-O1", "-g", "-fsanitize=thread", "-fopenmp", f"-I{kokkos}/include", f"-I{kokkos}/include/kokkos",
               "main.cpp", "-o", "races", f"-L{library}", "-lkokkoscore", f"-Wl,-rpath,{library}", *(f"-Wl,-rpath-link,{path}" for path in more)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    environment = dict(os.environ, OMP_NUM_THREADS="2", OMP_PROC_BIND="false", OMP_TOOL_LIBRARIES=f"{LLVM}/libarcher.so",
                       LD_PRELOAD=f"{LLVM}/libomp.so", ARCHER_OPTIONS="verbose=1",
                       TSAN_OPTIONS=f"ignore_noninstrumented_modules=1 exitcode=66 suppressions={SUPPRESSIONS}")
    done = subprocess.run(["./races"], cwd=folder, capture_output=True, text=True, env=environment, timeout=300)
    assert "Archer detected OpenMP application with TSan" in done.stdout, done.stdout + done.stderr[-3000:]
    found = (folder / "out.bin").read_bytes()
    for name, value in zip(names, flat):
        if isinstance(value, np.ndarray):
            value[...] = np.frombuffer(found, value.dtype, value.size, places[name]).reshape(value.shape)
    return done


def test_no_races(tmp_path):
    cases = own.ALL
    arguments = arguments_of(cases, 1)
    arguments[[kernel.name for kernel, _ in cases].index("csr_product")][0][:] = [0, 3, 3, 9, 14, 20]
    before, expected = [copied(one) for one in arguments], [copied(one) for one in arguments]
    flat = [value for one in arguments for value in one]
    done = sanitized(together([kernel for kernel, _ in cases], NAME), flat, [f"a{place}" for place in range(len(flat))], tmp_path)
    assert done.returncode == 0 and "WARNING: ThreadSanitizer" not in done.stderr, done.stderr[:6000]
    for (kernel, _), mine, theirs, old in zip(cases, arguments, expected, before):
        kernel.python(*theirs)
        compare(kernel.name, mine, theirs, old)


def test_a_race_that_is_declared_away_is_found(tmp_path):
    @kk.kernel(name=NAME)
    def collide(where: kk.i64["n"], x: kk.f64["n"]):
        for i in kk.parallel(len(where)):
            x[where[i]] += 1.0

    done = sanitized(collide, [np.zeros(100000, np.int64), np.zeros(100000)], ["where", "x"], tmp_path)
    assert done.returncode == 66 and "WARNING: ThreadSanitizer: data race" in done.stderr


COUNT, FIRST = int(os.environ.get("ML2K_RANDOM_RACES", AT_ONCE)), int(os.environ.get("ML2K_RANDOM_SEED", 0))


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, AT_ONCE))
def test_no_races_of_random_kernels(tmp_path, first):
    """$ML2K_RANDOM_RACES many from $ML2K_RANDOM_SEED on."""
    def run(kernels, values):
        done = sanitized(together(kernels, NAME), values, [f"a{place}" for place in range(len(values))], tmp_path)
        assert done.returncode == 0 and "WARNING: ThreadSanitizer" not in done.stderr, done.stderr[:6000]

    check(range(first, min(first + AT_ONCE, FIRST + COUNT)), run)
