#!/usr/bin/env python3
"""Translates models of thousands of operations: `growth.py TOOL [FAMILY...]`.

Each family of graphs.py is translated at two sizes. Twice the operations take at most 2.6 times the time, once that is
more than a second, and never more than the ceilings below, which are several times what they take. A pair beyond that is
measured again, several times: the fastest run of each size counts, or the median of the pairs' ratios, as one run on a
machine that others leave alone for a moment is faster than all that follow."""

import statistics
import sys
import tempfile
from pathlib import Path

import graphs
from measure import translate

RATIO = 2.6
ROUNDS = 16
FEWEST = 5 # pairs that have a median
SMALL, LARGE = 600, 1200
SECONDS, MEGABYTES = 30, 1500
LONGEST = 120  # characters that clang-format leaves in a line
# Models of 10,000 layers: seconds and megabytes
TEN_THOUSAND = {"matmul": (20, 1024), "shared_weight": (20, 1024), "unary": (20, 1024)}


def run(tool, family, count, folder, seconds=SECONDS, megabytes=MEGABYTES):
    suffix = "mlir" if family in graphs.MLIR else "onnx"
    model = Path(folder) / f"{family.__name__}_{count}.{suffix}"
    model.write_bytes(family(count))
    cost = translate(tool, str(model), str(Path(folder) / f"{family.__name__}.cpp"), seconds, 4 * megabytes)
    print(f"{family.__name__:22}{count:7} {cost.seconds:7.2f} s {cost.megabytes:6} MB", flush=True)
    if cost.code != 0:
        return cost, f"{family.__name__} of {count}: exit code {cost.code}: {cost.message}"
    if cost.megabytes > megabytes:
        return cost, f"{family.__name__} of {count}: {cost.megabytes} MB"
    return cost, None


def too_slow(small, large):
    return large > 1 and large > RATIO * small


def grows(tool, family, folder):
    """None, or what is wrong with the time or the memory of two sizes."""
    pairs = []
    for _ in range(ROUNDS):
        first, problem = run(tool, family, SMALL, folder)
        if problem:
            return problem
        second, problem = run(tool, family, LARGE, folder)
        if problem:
            return problem
        pairs.append((first.seconds, second.seconds))
        small, large = (min(times) for times in zip(*pairs))
        steady = len(pairs) >= FEWEST and statistics.median(large / small for small, large in pairs) <= RATIO
        if steady or not too_slow(small, large):
            return None
    return f"{family.__name__}: {small:.2f} s for {SMALL}, {large:.2f} s for {LARGE}"


def check(tool, family, folder):
    if problem := grows(tool, family, folder):
        return problem
    lines = (Path(folder) / f"{family.__name__}.cpp").read_text().splitlines()
    longest = max(len(line) for line in lines)
    return f"{family.__name__}: a line of {longest} characters" if longest > 2 * LONGEST else None


def main():
    tool, chosen = sys.argv[1], sys.argv[2:]
    families = [family for family in graphs.FAMILIES if not chosen or family.__name__ in chosen]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            problems.append(check(tool, family, folder))
            if limits := TEN_THOUSAND.get(family.__name__):
                problems.append(run(tool, family, 10000, folder, *limits)[1])
    problems = [problem for problem in problems if problem]
    print("\n".join(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
