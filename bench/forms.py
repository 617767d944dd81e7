"""The suite `forms`: a network by a team, a thread, packs of columns, rows and one launch, and runners, beside onnxruntime in the
same process, one kernel per operation, and what the core can do: a register tile, and reads of the weights.
"""

import os
import subprocess
import sys
from pathlib import Path

from models import PROJECT, RUNNERS, Failure
from ml2kokkos.verify.build import kokkos_root

BENCH = Path(__file__).resolve().parent
sys.path.append(str(BENCH / "forms"))
import make_nets # noqa: E402

FLAGS = "-O3 -march=native"


def run(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def library():
    import onnxruntime
    return next((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*"))


def definitions(net, **more):
    texts = {"INPUTS": ",".join(str(width) for _, width in net.inputs), "OUTPUTS": ",".join(str(width) for _, width in net.outputs)}
    for key, tensors in (("INPUT_NAMES", net.inputs), ("OUTPUT_NAMES", net.outputs)):
        texts[key] = ",".join(f'\\"{name}\\"' for name, _ in tensors)
    return " ".join(f'"{key}={value}"' for key, value in {**texts, **more}.items())


def columns():
    """Name, network, type of the weights; two networks in both number formats."""
    return [(net.name, net, "f32") for net in make_nets.COLUMNS] + [(f"{net.name}_bf16", net, "bf16") for net in make_nets.HALVED]


def runners():
    """Name, network, options; the last one in both number formats."""
    return [(net.name, net, []) for net in make_nets.RUNNERS] + [("large_bf16", make_nets.RUNNERS[-1], ["--weights=bf16"])]


def weight_bytes(net, halved):
    """Of the layers: a layer of few outputs is never halved."""
    widths = [int(weight.dims[0]) * int(weight.dims[1]) for weight in net.weights if len(weight.dims) == 2]
    return sum(widths) * (2 if halved else 4)


def print_nets(printed, arguments):
    tool = os.environ.get("ML2KOKKOS", PROJECT / "build/release/bin/ml2kokkos")
    lines = []
    for name, net, weights in columns():
        net.save(printed)
        model = printed / f"{net.name}.onnx"
        run([tool, model, "--form=launch,team,thread,rows", f"--weights=file,{weights}", "-o", printed / f"{name}.cpp", *arguments.options])
        run([tool, model, "--schedule=naive", "--weights=file", "-o", printed / f"{net.name}_naive.cpp"])
        header = definitions(net, HEADER=f'\\"{name}.hpp\\"', NAIVE_HEADER=f'\\"{net.name}_naive.hpp\\"', NAIVE=f"{net.name}_naive",
                             TOLERANCE="1e-5" if weights == "f32" else "2e-2")
        lines += [f"list(APPEND COLUMNS {name})", f"set({name}_definitions {header})"]
    for name, net, options in runners():
        net.save(printed)
        run([tool, printed / f"{net.name}.onnx", "--form=runner", *options, "-o", printed / f"{name}.cpp"])
        lines += [f"list(APPEND RUNNERS {name})",
                  f'set({name}_definitions "HEADER=\\"{name}.hpp\\"" BYTES={weight_bytes(net, bool(options))})']
    text = "\n".join(lines) + "\n"
    file = printed / "nets.cmake"
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def build(arguments):
    flags = arguments.flags or FLAGS
    kind = Path(arguments.compiler or "default").name + "".join(c if c.isalnum() else "_" for c in flags)
    folder, printed = RUNNERS / f"forms_{kind}", RUNNERS / "forms_printed"
    printed.mkdir(parents=True, exist_ok=True)
    print_nets(printed, arguments)
    compiler = [f"-DCMAKE_CXX_COMPILER={arguments.compiler}"] if arguments.compiler else []
    run(["cmake", "-S", BENCH / "forms", "-B", folder, "-G", "Ninja", f"-DPRINTED={printed}", f"-DFLAGS={flags}",
         f"-DKokkos_ROOT={kokkos_root('openmp')}", *compiler])
    run(["ninja", "-C", folder])
    return folder, printed


def times_of(command):
    """{what: {columns: number}}"""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "true"}
    times = {}
    for line in run(command, env=environment).splitlines():
        what, columns, number = line.split("\t")
        times.setdefault(what, {})[int(columns)] = float(number)
    return times


def bounds_of(times, flops):
    """Seconds of a column: its operations at the rate of the tile; its weights at the rate of reads."""
    return flops / (times["flops"][1] / times["tile"][1]), times["read weights"][1]


def columns_rows(name, net, folder, printed, arguments):
    program = folder / f"columns_{name}"
    weights = [printed / f"{file}.safetensors" for file in (name, f"{net.name}_naive")]
    times = times_of([program, library(), printed / f"{net.name}.onnx", *weights, arguments.seconds])
    tile, read = bounds_of(times, net.flops)
    most = max(times["onnxruntime"])
    rows = []
    for what, counts in times.items():
        for columns, seconds in counts.items():
            if what in ("flops", "bytes", "tile", "read weights"):
                continue
            runtime = times["onnxruntime"]
            rows.append({"net": name, "case": what, "columns": columns, "us": seconds * 1e6, "of_tile": seconds / tile,
                         "of_read": seconds / read, "vs_batch": runtime.get(columns, runtime[most]) / seconds,
                         "vs_column": runtime[1] / seconds, "vs_naive": times["naive"][most] / seconds})
    return rows


def runner_row(name, net, folder, printed, arguments):
    times = times_of([folder / f"runner_{name}", library(), printed / f"{net.name}.onnx", arguments.seconds])
    tile, read = bounds_of(times, net.flops)
    seconds = times["runner"][1]
    return {"net": name, "case": "runner", "columns": 1, "us": seconds * 1e6, "of_tile": seconds / tile, "of_read": seconds / read,
            "vs_batch": times["onnxruntime"][1] / seconds, "vs_column": times["onnxruntime"][1] / seconds, "error": times["error"][1]}


def measure(arguments):
    folder, printed = build(arguments)
    if arguments.prepare:
        return []
    rows = []
    for name, net, _ in columns():
        if arguments.filter in name:
            rows += columns_rows(name, net, folder, printed, arguments)
    for name, net, _ in runners():
        if arguments.filter in name:
            rows.append(runner_row(name, net, folder, printed, arguments))
    return rows


def report(rows):
    print(f"{'network':15} {'case':26} columns {'us':>8}  x tile  x read  onnxruntime: batch, column  naive   error")
    for row in rows:
        more = f"{row['vs_naive']:6.1f}" if "vs_naive" in row else f"{'':6}  {row['error']:.0e}"
        print(f"{row['net']:15} {row['case']:26} {row['columns']:7} {row['us']:8.4f}  {row['of_tile']:6.2f}  {row['of_read']:6.2f}  "
              f"{row['vs_batch']:18.2f}  {row['vs_column']:6.1f}  {more}")
