"""The suite `sparse`: printed kernels beside KokkosSparse and KokkosBlas (Debian's, one thread), and beside naive kernels.

Two programs, since two versions of Kokkos do not fit into one, run in turns; each says the best time of every case, and a
number in which both have to agree. On one thread both run in Kokkos::Serial, Debian's only space.
"""

import os
import subprocess
import sys
from pathlib import Path

from ml2kokkos.verify.build import kokkos_root
from models import Failure, RUNNERS

BENCH = Path(__file__).resolve().parent
PROJECT = BENCH.parent
sys.path.append(str(BENCH / "sparse"))
import make_programs # noqa: E402

ENTRIES = ["spmv", "spmvt", "spmm8", "spmm64", "sddmm8", "sddmm32", "sddmm64", "residual", "chebyshev", "add", "multiply", "pcg"]
# What is in memory of a case, and in how many seconds a machine would stream it: bytes by the check of `gather`
ROUNDS = 3


def run(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(arguments):
    folder = RUNNERS / ("sparse_" + Path(arguments.compiler or "default").name)
    printed = folder / "printed"
    printed.mkdir(parents=True, exist_ok=True)
    programs = printed / "programs.mlir"
    programs.write_text("\n".join(make_programs.ALL))
    tool = os.environ.get("ML2KOKKOS", PROJECT / "build/release/bin/ml2kokkos")
    for entry in ENTRIES:
        run([tool, programs, f"--entry={entry}", "-o", printed / f"{entry}.cpp", *arguments.options])
    backend = "serial" if arguments.threads == 1 else "openmp"
    ours, options = folder / backend, [f"-DCMAKE_CXX_COMPILER={arguments.compiler}"] if arguments.compiler else []
    options.append(f"-DKokkos_ROOT={kokkos_root(backend)}") # not Debian's, which the peer needs
    run(["cmake", "-S", BENCH / "sparse", "-B", ours, "-G", "Ninja", f"-DPRINTED={printed}", *options])
    run(["ninja", "-C", ours])
    run(["cmake", "-S", BENCH / "sparse/peer", "-B", RUNNERS / "sparse_peer", "-G", "Ninja"])
    run(["ninja", "-C", RUNNERS / "sparse_peer"])
    return ours / "ours", RUNNERS / "sparse_peer/peer"


def times_of(program, arguments, threads):
    """Of each case the seconds and the number."""
    # The wheel of Kokkos brings a libgomp of its own: of two in one process the second sees only the core that the first has bound
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "false"}
    share = arguments.seconds / ROUNDS / 4
    lines = run([program, share, arguments.scale, arguments.filter], env=environment).splitlines()
    return {name: (float(seconds), float(number)) for name, seconds, number in map(str.split, lines)}


def best(runs):
    return {name: min(times[name] for times in runs) for name in runs[0]}


def measure(arguments):
    """A row for each case: seconds of ours and of its peer."""
    ours, peer = build(arguments)
    if arguments.prepare:
        return []
    runs = {"ours": [], "peer": []}
    for _ in range(ROUNDS):
        runs["peer"].append(times_of(peer, arguments, 1))
        runs["ours"].append(times_of(ours, arguments, arguments.threads))
    mine, theirs = best(runs["ours"]), best(runs["peer"])
    stream = mine["triad"][1] / mine["triad"][0] # bytes a second
    rows = []
    for name, (seconds, number) in mine.items():
        if name == "triad" or name.startswith(("naive_", "rows_", "gather/")):
            continue
        row = {"case": name, "threads": arguments.threads, "ours_ms": seconds * 1e3}
        if name in theirs:
            if abs(number - theirs[name][1]) > 1e-6 * max(1, abs(number)):
                raise Failure(f"{name}: {number} is not {theirs[name][1]}")
            row |= {"peer": "KokkosKernels", "peer_ms": theirs[name][0] * 1e3, "ratio": theirs[name][0] / seconds}
        for prefix, key, runs_of in (("naive_", "naive", mine), ("rows_", "rows", mine), ("sorted_", "sorted", theirs)):
            if prefix + name in runs_of:
                row[key] = runs_of[prefix + name][0] / seconds
        gather = mine.get("gather/" + name.split("/")[1]) if name.startswith("spmv/") else None
        if gather:
            row |= {"of_gather": gather[0] / seconds, "of_triad": gather[1] / seconds / stream}
        rows.append(row)
    return rows


def report(rows):
    for row in rows:
        ratio = f"{row['peer_ms']:9.3f} ms of {row['peer']}, ratio {row['ratio']:5.2f}" if "ratio" in row else " " * 40
        more = ", ".join(f"{key} {row[key]:.2f}" for key in ("naive", "rows", "sorted", "of_gather", "of_triad") if key in row)
        print(f"{row['case']:20} {row['ours_ms']:9.3f} ms {ratio}  {more}")
