#!/usr/bin/env python3
"""Numbers that are computed of the same parts forty times over: as an expression each has 2^40 terms. Programs that use one as a
bound, a step, a size, an offset, a subscript, a condition or a number that a loop carries are translated or refused at once.

  shared_terms.py ML2KOKKOS
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT, COUNT = 10, 40 # seconds, times
UPDATE = """  %a = memref.load %x[%i] : memref<?xf64>
  %b = arith.addf %a, %a : f64
  memref.store %b, %x[%i] : memref<?xf64>
"""


def loop(end, step="%c1"):
    return f"scf.for %i = %c0 to {end} step {step} {{\n{UPDATE}}}\n"


def terms(start, kind, joining=("addi", "muli"), name="v"):
    """%v40 of %v0 = start"""
    lines = [f"%{name}0 = arith.addi {start}, {start} : {kind}"] if kind != "i1" else [f"%{name}0 = arith.andi {start}, %q : i1"]
    for number in range(COUNT):
        last, half = f"%{name}{number}", f"%{name}half{number}"
        other = "%q" if kind == "i1" else start
        lines.append(f"{half} = arith.{joining[0]} {last}, {other} : {kind}")
        lines.append(f"%{name}{number + 1} = arith.{joining[1]} {half}, {last if kind == 'i1' else half} : {kind}")
    return "\n".join(lines) + "\n"


def programs():
    cast = "%e = arith.index_cast %v40 : i64 to index\n"
    for joining in (("addi", "addi"), ("addi", "muli"), ("xori", "shli")):
        yield f"bound by {joining[1]}", terms("%s", "i64", joining) + cast + loop("%e")
    yield "bound of an index", terms("%n", "index") + loop("%v40")
    yield "step", terms("%n", "index") + loop("%n", "%v40")
    yield "inner bound", "scf.for %j = %c0 to %n step %c1 {\n" + terms("%j", "index") + loop("%v40") + "}\n"
    yield "subscript", f"scf.for %j = %c0 to %n step %c1 {{\n{terms('%j', 'index')}%a = memref.load %x[%v40] : memref<?xf64>\n" \
        "memref.store %a, %x[%j] : memref<?xf64>\n}\n"
    yield "size", terms("%n", "index") + f"%m = memref.alloc(%v40) : memref<?xf64>\n{loop('%v40').replace('store %b, %x', 'store %b, %m')}" + \
        loop("%v40").replace("load %x", "load %m")
    yield "offset", terms("%n", "index") + "%m = memref.subview %x[%v40] [%n] [1] : memref<?xf64> to memref<?xf64, strided<[1], offset: ?>>\n" + \
        loop("%n").replace("%x[%i] : memref<?xf64>", "%m[%i] : memref<?xf64, strided<[1], offset: ?>>")
    yield "check", terms("%n", "index") + '%g = arith.cmpi sgt, %v40, %c0 : index\ncf.assert %g, "it is"\n' + loop("%n")
    yield "condition", terms("%p", "i1", ("ori", "andi")) + f"scf.if %v40 {{\n{loop('%n')}}}\n"
    yield "carried", f"%r = scf.for %t = %c0 to %n step %c1 iter_args(%w = %s) -> i64 {{\n{terms('%w', 'i64')}%e = arith.index_cast %w : i64 to index\n" \
        f"{loop('%e')}scf.yield %v40 : i64\n}}\n"
    yield "while", "%r = scf.while (%w = %s) : (i64) -> i64 {\n" + terms("%w", "i64", name="g") + "%go = arith.cmpi sgt, %g40, %s : i64\n" \
        "scf.condition(%go) %w : i64\n} do {\n^bb0(%w: i64):\n" + terms("%w", "i64") + loop("%n") + "scf.yield %v40 : i64\n}\n"
    carried, inner = ["%s"] * 4, ""
    for depth in range(14): # each hands on what the one around it carries, in another order
        names = [f"%k{depth}_{place}" for place in range(4)]
        pairs = ", ".join(f"{name} = {value}" for name, value in zip(names, carried))
        inner += f"%r{depth}:4 = scf.for %t{depth} = %c0 to %n step %c1 iter_args({pairs}) -> (i64, i64, i64, i64) {{\n"
        carried = names
    inner += "%e = arith.index_cast %k13_0 : i64 to index\n" + loop("%e")
    for depth in reversed(range(14)):
        values = [f"%k13_{place}" for place in (1, 2, 3, 0)] if depth == 13 else [f"%r{depth + 1}#{place}" for place in range(4)]
        inner += f"scf.yield {', '.join(values)} : i64, i64, i64, i64\n}}\n"
    yield "nested", inner


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.mlir"
        for name, body in programs():
            source.write_text("func.func @f(%x: memref<?xf64>, %n: index, %s: i64, %p: i1, %q: i1) {\n%c0 = arith.constant 0 : index\n"
                              f"%c1 = arith.constant 1 : index\n{body}return\n}}\n")
            begin = time.monotonic()
            try:
                done = subprocess.run([sys.argv[1], source, "-o", source.with_suffix(".cpp"), "--force"], capture_output=True, text=True, timeout=LIMIT)
                size = source.with_suffix(".cpp").stat().st_size if done.returncode == 0 else 0
                said = "translated" if done.returncode == 0 else done.stderr.strip().splitlines()[0]
                is_right = size < 200_000 and (done.returncode == 0 or (done.returncode == 3 and "error: " in said))
            except subprocess.TimeoutExpired:
                is_right, said = False, f"takes more than {LIMIT} s"
            wrong += not is_right
            print(f"{'' if is_right else 'WRONG '}{name}: {said} ({time.monotonic() - begin:.1f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
