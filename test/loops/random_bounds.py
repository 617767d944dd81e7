#!/usr/bin/env python3
"""Random nests of affine loops, triangular ones and conditions among them: no loop that is proved parallel has an iteration that
writes what another one touches. Nothing is compiled: the elements that each iteration touches are counted for a few sizes.

  random_bounds.py ML2KOKKOS_OPT        ML2K_RANDOM_LOOPS many (default 400) from seed ML2K_RANDOM_SEED on
"""

import os
import random
import re
import subprocess
import sys
from dataclasses import dataclass

INDICES, SIZES = "ijk", (3, 5, 8)
COMPARISONS = {"slt": int.__lt__, "sle": int.__le__, "sgt": int.__gt__, "sge": int.__ge__, "eq": int.__eq__, "ne": int.__ne__}


@dataclass
class Affine:
    terms: list # (coefficient, name)
    constant: int

    def at(self, values):
        return sum(factor * values[name] for factor, name in self.terms) + self.constant


@dataclass
class Statement:
    """a[stored] = 2 * a[loaded], where the condition holds if there is one."""
    condition: tuple # of predicate, left, right
    stored: list
    loaded: list

    def runs(self, values):
        if not self.condition:
            return True
        predicate, left, right = self.condition
        return COMPARISONS[predicate](left.at(values), right.at(values))


def affine(choose, names):
    count = min(len(names), choose.choice([1, 1, 1, 2]))
    return Affine([(choose.choice([1, 1, 1, -1, 2]), name) for name in choose.sample(names, count)], choose.randint(-2, 3))


class Nest:
    """`loops`: name, lower bound, upper bound and step of each, outermost first."""

    def __init__(self, choose):
        names = list(INDICES[:choose.choice([2, 2, 3])])
        self.loops, self.statements = [], []
        for depth, name in enumerate(names):
            is_plain = depth == 0 or choose.random() < .4
            lower = Affine([], choose.randint(0, 2)) if is_plain else affine(choose, names[:depth])
            is_whole = depth == 0 or choose.random() < .4
            upper = Affine([(1, "n")], choose.randint(-1, 1)) if is_whole else affine(choose, names[:depth] + ["n"] * (choose.random() < .3))
            self.loops.append((name, lower, upper, choose.choice([1, 1, 1, 2])))
        for _ in range(choose.choice([1, 1, 2])):
            condition = (choose.choice(list(COMPARISONS)), affine(choose, names), affine(choose, [*names, "n"])) if choose.random() < .4 else ()
            self.statements.append(Statement(condition, [affine(choose, names) for _ in range(2)], [affine(choose, names) for _ in range(2)]))

    # --- Text ---

    def text(self):
        lines = []

        def value(operation):
            lines.append(f"%v{len(lines)} = {operation}")
            return f"%v{len(lines) - 1}"

        def number(form):
            total = value(f"arith.constant {form.constant} : index")
            for factor, name in form.terms:
                product = value(f"arith.muli %{name}, {value(f'arith.constant {factor} : index')} : index")
                total = value(f"arith.addi {total}, {product} : index")
            return total

        for name, lower, upper, step in self.loops:
            begin, end, by = number(lower), number(upper), value(f"arith.constant {step} : index")
            lines.append(f"scf.for %{name} = {begin} to {end} step {by} {{")
        for statement in self.statements:
            if statement.condition:
                predicate, left, right = statement.condition
                holds = value(f"arith.cmpi {predicate}, {number(left)}, {number(right)} : index")
                lines.append(f"scf.if {holds} {{")
            element = value(f"memref.load %a[{', '.join(map(number, statement.loaded))}] : memref<?x?xf64>")
            double = value(f"arith.addf {element}, {element} : f64")
            lines.append(f"memref.store {double}, %a[{', '.join(map(number, statement.stored))}] : memref<?x?xf64>")
            lines += ["}"] * bool(statement.condition)
        return "\n".join(["func.func @nest(%a: memref<?x?xf64>, %n: index) {", *lines, *["}"] * len(self.loops), "return", "}", ""])

    # --- What it touches ---

    def touches(self, size):
        """(iteration, element, whether it is written) in the order of the program."""
        def run(depth, values, iteration):
            if depth < len(self.loops):
                name, lower, upper, step = self.loops[depth]
                for index in range(lower.at(values), upper.at(values), step):
                    yield from run(depth + 1, {**values, name: index}, (*iteration, index))
                return
            for statement in self.statements:
                if statement.runs(values):
                    yield iteration, tuple(form.at(values) for form in statement.loaded), False
                    yield iteration, tuple(form.at(values) for form in statement.stored), True

        return run(0, {"n": size}, ())

    def conflicts(self, level):
        """Whether an iteration of that loop writes what another one of the same iteration around it touches."""
        for size in SIZES:
            found = {}
            for iteration, element, writes in self.touches(size):
                touching, writing = found.setdefault((iteration[:level], element), (set(), set()))
                touching.add(iteration[level])
                if writes:
                    writing.add(iteration[level])
            if any(writing and len(touching) > 1 for touching, writing in found.values()):
                return True
        return False


def main():
    tool, seed, count = sys.argv[1], int(os.environ.get("ML2K_RANDOM_SEED", "1")), int(os.environ.get("ML2K_RANDOM_LOOPS", "400"))
    loops = parallel = missed = wrong = 0
    for number in range(seed, seed + count):
        nest = Nest(random.Random(number))
        text = nest.text()
        done = subprocess.run([tool, "--ml2k-parallelize-loops"], input=text, capture_output=True, text=True)
        if done.returncode:
            print(f"seed {number}: {done.stderr}\n{text}")
            return 1
        heads = re.findall(r"scf\.(for|parallel) (\([^)]*\)|%\S+)", done.stdout)
        kinds = [kind for kind, indices in heads for _ in range(indices.count("%"))]
        if len(kinds) != len(nest.loops): # one became two
            continue
        for level, kind in enumerate(kinds):
            conflicts = nest.conflicts(level)
            loops += 1
            parallel += kind == "parallel"
            missed += kind == "for" and not conflicts
            if kind == "parallel" and conflicts:
                wrong += 1
                print(f"WRONG seed {number}, loop over {nest.loops[level][0]}:\n{text}")
    print(f"{loops} loops, {parallel} proved parallel, {missed} more without a conflict at sizes {SIZES}, {wrong} wrong")
    return 1 if wrong or parallel < loops // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
