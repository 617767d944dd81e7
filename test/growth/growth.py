#!/usr/bin/env python3
"""Translates models of thousands of operations: `growth.py TOOL [FAMILY...]`.

Each family of graphs.py is translated at two sizes, some at 10,000 layers, too. Twice the operations take at most 2.6
times the time (3 on the way to 10,000), once that is more than a second. A pair beyond that is measured again, several
times: the fastest run of each size counts, or the median of the pairs' ratios, as one run on a machine that others leave
alone for a moment is faster than all that follow. The ceilings of seconds end what never would; how fast the machine is
is no test."""

import math
import statistics
import sys
import tempfile
from pathlib import Path

import graphs
from measure import translate

RATIO, RATIO_OF_MANY = 2.6, 3 # of twice the operations; half a gigabyte is slower to reach
ROUNDS, ROUNDS_OF_MANY = 16, 3
FEWEST = 5 # pairs that have a median
SMALL, LARGE, MANY = 600, 1200, 10000
SECONDS, SECONDS_OF_MANY = 60, 200
MEGABYTES, MEGABYTES_OF_MANY = 1500, 1024
LONGEST = 120  # characters that clang-format leaves in a line
TAKE_MANY = {"matmul", "shared_weight", "unary"}


def run(tool, family, count, folder):
    suffix = "mlir" if family in graphs.MLIR else "onnx"
    seconds, megabytes = (SECONDS_OF_MANY, MEGABYTES_OF_MANY) if count == MANY else (SECONDS, MEGABYTES)
    model = Path(folder) / f"{family.__name__}_{count}.{suffix}"
    model.write_bytes(family(count))
    cost = translate(tool, str(model), str(Path(folder) / f"{family.__name__}.cpp"), seconds, 4 * megabytes)
    print(f"{family.__name__:22}{count:7} {cost.seconds:7.2f} s {cost.megabytes:6} MB", flush=True)
    if cost.code != 0:
        return cost, f"{family.__name__} of {count}: exit code {cost.code}: {cost.message}"
    if cost.megabytes > megabytes:
        return cost, f"{family.__name__} of {count}: {cost.megabytes} MB"
    return cost, None


def grows(tool, family, folder, few, many, ratio, rounds):
    """None, or what is wrong with the time or the memory of two sizes."""
    most = ratio ** math.log2(many / few)
    pairs = []
    for _ in range(rounds):
        first, problem = run(tool, family, few, folder)
        if problem:
            return problem
        second, problem = run(tool, family, many, folder)
        if problem:
            return problem
        pairs.append((first.seconds, second.seconds))
        small, large = (min(times) for times in zip(*pairs))
        steady = len(pairs) >= FEWEST and statistics.median(large / small for small, large in pairs) <= most
        if steady or large <= 1 or large <= most * small:
            return None
    return f"{family.__name__}: {small:.2f} s for {few}, {large:.2f} s for {many}"


def check(tool, family, folder):
    if problem := grows(tool, family, folder, SMALL, LARGE, RATIO, ROUNDS):
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
            if family.__name__ in TAKE_MANY:
                problems.append(grows(tool, family, folder, LARGE, MANY, RATIO_OF_MANY, ROUNDS_OF_MANY))
    problems = [problem for problem in problems if problem]
    print("\n".join(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
