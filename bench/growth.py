"""Operators of test/growth/counts.py at several numbers of elements, beside onnxruntime: whether time grows like the number."""

import sys

import onnx

import device_networks
import models
from kernels import Case
from ml2kokkos.verify.translate import PROJECT, Failure

sys.path.append(str(PROJECT / "test/growth"))
import counts # noqa: E402

MODELS = PROJECT / "build/bench/growth"


def cases(arguments):
    MODELS.mkdir(parents=True, exist_ok=True)
    for family, make in counts.FAMILIES.items():
        for count in map(int, arguments.counts.split(",")):
            name = f"{family}_{count}"
            if arguments.filter in name:
                onnx.save(make(count), MODELS / f"{name}.onnx")
                yield family, count, Case(name, MODELS / f"{name}.onnx")


def measure(arguments):
    """With --prepare the printed code for --suite gpu --networks-only."""
    results = []
    if arguments.prepare:
        device_networks.prepare([case.path for _, _, case in cases(arguments)], arguments.printed, arguments.options)
        return results
    for family, count, case in cases(arguments):
        try:
            results += [row | {"family": family, "count": count} for row in models.measure(case, arguments)]
        except Failure as failure:
            print(f"{case.name}: {failure}", file=sys.stderr)
    return results


def report(results):
    """`growth`: the time beside that of half as many, where both were measured."""
    times = {(row["family"], row["count"]): row["ours_ms"] for row in results}
    print(f"{'case':<28}{'ours ms':>10}{'peer ms':>10}{'ratio':>7}{'growth':>8}{'error':>9}")
    for row in results:
        half = times.get((row["family"], row["count"] // 2))
        growth = f"{row['ours_ms'] / half:8.2f}" if half else ""
        print(f"{row['case']:<28}{row['ours_ms']:10.4f}{row['peer_ms']:10.4f}{row['ratio']:7.2f}{growth:>8}{row['max_error']:9.0e}")
