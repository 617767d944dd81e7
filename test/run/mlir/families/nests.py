"""200 loop nests from a seeded generator, with and without dependences: the values are those of sequential execution."""

import random

from . import Program, function

COUNT = 200
EXTENT = 12
MATRIX, VECTOR = f"memref<{EXTENT}x{EXTENT}xT>", f"memref<{EXTENT}xT>"
ARRAYS = {"a": 2, "b": 2, "c": 2, "v": 1, "w": 1}
INTEGER = ["addi", "subi", "muli", "xori", "maxsi"]
FLOAT = ["addf", "subf", "mulf", "maximumf"]


class Nest:
    """One function of one to three nests; indices stay in [1, EXTENT - 2], subscripts move by at most one."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.is_affine = number % 2 == 0
        self.element = self.random.choice(["i64", "f64"])
        self.lines, self.values = [], 0

    def fresh(self):
        self.values += 1
        return f"%t{self.values}"

    def emit(self, depth, text):
        self.lines.append("  " * depth + text)

    def type_of(self, array):
        return (MATRIX if ARRAYS[array] == 2 else VECTOR).replace("T", self.element)

    def subscript(self, depth, indices):
        """An index, moved or not, or a constant."""
        if not indices or self.random.random() < 0.1:
            at = self.random.randrange(EXTENT)
            return str(at) if self.is_affine else f"%c{at}"
        index, move = self.random.choice(indices), self.random.choice([0, 0, 0, 1, -1])
        if self.is_affine or move == 0:
            return f"{index} {'+' if move > 0 else '-'} 1" if move else index
        moved = self.fresh()
        self.emit(depth, f"{moved} = arith.{'addi' if move > 0 else 'subi'} {index}, %c1 : index")
        return moved

    def place(self, depth, array, indices, is_store):
        """Subscripts of an access; stores mostly walk through their array with the loops in order."""
        if is_store and self.random.random() < 0.7 and len(indices) >= ARRAYS[array]:
            return ", ".join(indices[-ARRAYS[array]:])
        return ", ".join(self.subscript(depth, indices) for _ in range(ARRAYS[array]))

    def access(self, depth, verb, array, indices, value=None):
        at = self.place(depth, array, indices, verb == "store")
        dialect = "affine" if self.is_affine else "memref"
        if verb == "store":
            self.emit(depth, f"{dialect}.store {value}, %{array}[{at}] : {self.type_of(array)}")
            return None
        result = self.fresh()
        self.emit(depth, f"{result} = {dialect}.load %{array}[{at}] : {self.type_of(array)}")
        return result

    def expression(self, depth, indices, others=()):
        value = self.access(depth, "load", self.random.choice(list(ARRAYS)), indices)
        for _ in range(self.random.randrange(3)):
            other = self.random.choice(others) if others and self.random.random() < 0.3 else self.access(
                depth, "load", self.random.choice(list(ARRAYS)), indices)
            result = self.fresh()
            operation = self.random.choice(INTEGER if self.element == "i64" else FLOAT)
            self.emit(depth, f"{result} = arith.{operation} {value}, {other} : {self.element}")
            value = result
        return value

    def bounds(self, indices):
        lower, upper = self.random.choice([1, 1, 2]), self.random.choice([EXTENT - 1, EXTENT - 2])
        if indices and self.random.random() < 0.25: # a triangle
            return (indices[-1], upper) if self.random.random() < 0.5 else (lower, indices[-1])
        return lower, upper

    def bound(self, value):
        if isinstance(value, str):
            return f"affine_map<(i) -> (i)>({value})" if self.is_affine else value
        return str(value) if self.is_affine else f"%c{value}"

    def header(self, indices):
        lower, upper = map(self.bound, self.bounds(indices))
        index = f"%i{len(indices)}"
        step = self.random.choice([1, 1, 1, 2])
        if self.is_affine:
            return index, f"affine.for {index} = {lower} to {upper}" + (f" step {step}" if step > 1 else "")
        return index, f"scf.for {index} = {lower} to {upper} step %c{step}"

    def sum(self, depth, indices):
        """A loop that carries a value."""
        index, header = self.header(indices)
        start = self.access(depth, "load", "v", indices)
        result, before = self.fresh(), self.fresh()
        self.emit(depth, f"{result} = {header} iter_args({before} = {start}) -> {self.element} {{")
        term = self.expression(depth + 1, [*indices, index])
        after = self.fresh()
        operation = self.random.choice(["addi", "maxsi", "xori"] if self.element == "i64" else ["addf", "maximumf"])
        self.emit(depth + 1, f"{after} = arith.{operation} {before}, {term} : {self.element}")
        self.emit(depth + 1, f"{'affine' if self.is_affine else 'scf'}.yield {after} : {self.element}")
        self.emit(depth, "}")
        return result

    def loop(self, depth, indices, left):
        index, header = self.header(indices)
        self.emit(depth, header + " {")
        inside = [*indices, index]
        values = [self.sum(depth + 1, inside)] if self.random.random() < 0.2 else []
        if left > 1 and self.random.random() < 0.8:
            self.loop(depth + 1, inside, left - 1)
        if left == 1 or values or self.random.random() < 0.3:
            for _ in range(self.random.choice([1, 1, 2])):
                self.access(depth + 1, "store", self.random.choice(list(ARRAYS)), inside, self.expression(depth + 1, inside, values))
        self.emit(depth, "}")

    def text(self, name):
        for value in range(EXTENT):
            self.emit(0, f"%c{value} = arith.constant {value} : index")
        for _ in range(self.random.choice([1, 1, 2, 3])):
            self.loop(0, [], self.random.choice([1, 2, 2, 3]))
        self.emit(0, "return")
        return function(name, {array: self.type_of(array) for array in ARRAYS}, [], "\n".join(self.lines))


def programs():
    for number in range(COUNT):
        name = f"nest_{number:03}"
        yield Program(name, Nest(number).text(name), tolerance=1e-13, integers=(-9, 10))
