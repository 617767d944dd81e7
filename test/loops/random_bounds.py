#!/usr/bin/env python3
"""Random nests of affine loops, triangular ones and conditions among them, and of loops over arrays that hold several dimensions,
blocks, rotations or pairs in one: no loop that is proved parallel has an iteration that
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


OPERATIONS = {"*": (int.__mul__, "muli"), "/": (int.__floordiv__, "floordivsi"), "%": (int.__mod__, "remui"), "^": (int.__xor__, "xori")}


@dataclass
class Affine:
    terms: list # (coefficient, name), or (coefficient, "i*n"): two names and what is done with them
    constant: int

    def at(self, values):
        def of(name):
            return OPERATIONS[name[1]][0](values[name[0]], values[name[2]]) if len(name) == 3 else values[name]

        return sum(factor * of(name) for factor, name in self.terms) + self.constant


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

    @classmethod
    def flat(cls, choose):
        """One subscript, with products, quotients, remainders and bits of indices and sizes."""
        nest = cls.__new__(cls)
        names, symbols = list(INDICES[:choose.choice([1, 2, 2, 3])]), ["n", "n", "m"]

        def size():
            return Affine([(choose.choice([1, 1, 1, 2]), choose.choice([*symbols, "n*m"]))], 0)

        nest.loops = [(name, Affine([], choose.choice([0, 0, 1])), size(), choose.choice([1, 1, 1, 1, 2, size()])) for name in names]
        if len(names) > 1 and choose.random() < .2: # tiles
            nest.loops[1] = (names[1], Affine([(1, names[0])], 0), Affine([(1, names[0]), (1, choose.choice(symbols))], 0), 1)
        choose_factor, digits = choose.choice(symbols), choose.random() < .3

        def subscript():
            terms = []
            for name in choose.sample(names, len(names)):
                kind = choose.random()
                if digits and kind < .6: # both digits of one index, mostly
                    terms += [(choose.choice([1, 1, 2]), f"{name}/{choose_factor}"), (choose.choice([1, 3, 9]), f"{name}%{choose_factor}")]
                elif kind < .45:
                    terms.append((choose.choice([1, 1, 2]), f"{name}*{choose.choice(symbols)}"))
                elif kind < .5:
                    terms.append((1, f"{name}^{choose.choice(symbols)}"))
                elif kind < .95:
                    terms.append((choose.choice([1, 1, 1, 2, 9]), name))
            if choose.random() < .3:
                terms.append((choose.choice([1, -1]), choose.choice(symbols)))
            return [Affine(terms, choose.choice([0, 0, 0, 1, -1]))]

        first = subscript()
        nest.statements = []
        for _ in range(choose.choice([1, 1, 2])):
            order = (choose.choice(["sgt", "slt", "ne"]), Affine([(1, f"{names[0]}^n")], 0), Affine([(1, names[0])], 0))
            near = [Affine(first[0].terms + choose.choice([[], [(1, "n")], [(-1, "m")]]), first[0].constant + choose.choice([0, 0, 1]))]
            nest.statements.append(Statement(order if choose.random() < .2 else (), choose.choice([first, first, subscript()]),
                                             choose.choice([first, near, subscript()])))
        return nest

    # --- Text ---

    def text(self):
        lines, kind = [], f"memref<{'?x' * len(self.statements[0].stored)}xf64>".replace("xx", "x")

        def value(operation):
            lines.append(f"%v{len(lines)} = {operation}")
            return f"%v{len(lines) - 1}"

        def number(form):
            total = value(f"arith.constant {form.constant} : index")
            for factor, name in form.terms:
                if len(name) == 3:
                    name = value(f"arith.{OPERATIONS[name[1]][1]} %{name[0]}, %{name[2]} : index")[1:]
                product = value(f"arith.muli %{name}, {value(f'arith.constant {factor} : index')} : index")
                total = value(f"arith.addi {total}, {product} : index")
            return total

        for name, lower, upper, step in self.loops:
            begin, end = number(lower), number(upper)
            by = number(step) if isinstance(step, Affine) else value(f"arith.constant {step} : index")
            lines.append(f"scf.for %{name} = {begin} to {end} step {by} {{")
        for statement in self.statements:
            if statement.condition:
                predicate, left, right = statement.condition
                holds = value(f"arith.cmpi {predicate}, {number(left)}, {number(right)} : index")
                lines.append(f"scf.if {holds} {{")
            element = value(f"memref.load %a[{', '.join(map(number, statement.loaded))}] : {kind}")
            double = value(f"arith.addf {element}, {element} : f64")
            lines.append(f"memref.store {double}, %a[{', '.join(map(number, statement.stored))}] : {kind}")
            lines += ["}"] * bool(statement.condition)
        return "\n".join([f"func.func @nest(%a: {kind}, %n: index, %m: index) {{", *lines, *["}"] * len(self.loops), "return", "}", ""])

    # --- What it touches ---

    def touches(self, size):
        """(iteration, element, whether it is written) in the order of the program."""
        def run(depth, values, iteration):
            if depth < len(self.loops):
                name, lower, upper, step = self.loops[depth]
                for index in range(lower.at(values), upper.at(values), step.at(values) if isinstance(step, Affine) else step):
                    yield from run(depth + 1, {**values, name: index}, (*iteration, index))
                return
            for statement in self.statements:
                if statement.runs(values):
                    yield iteration, tuple(form.at(values) for form in statement.loaded), False
                    yield iteration, tuple(form.at(values) for form in statement.stored), True

        return run(0, {"n": size, "m": {3: 2, 5: 6, 8: 3}[size]}, ())

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
        choose = random.Random(number)
        nest = Nest.flat(choose) if number % 2 else Nest(choose)
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
