"""200 loop nests from a seeded generator, with and without dependences, and 40 sweeps over elements of a chessboard: the values
are those of sequential execution."""

import random

from . import Program, function

COUNT, COLORED = 200, 40
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


class Sweeps:
    """Sweeps over elements of one color, or of one and some of the other; along any of the two loops, by conditions or steps."""

    KIND = "memref<20x22xf64>"

    def __init__(self, number):
        self.random = random.Random(1000 + number)
        self.lines = [f"%c{value} = arith.constant {value} : index" for value in range(22)]
        self.values = 0

    def emit(self, text):
        self.values += 1
        self.lines.append(f"%t{self.values} = {text}")
        return f"%t{self.values}"

    def moved(self, index, by):
        return self.emit(f"arith.{'addi' if by > 0 else 'subi'} {index}, %c1 : index") if by else index

    def update(self):
        """An element from some of its neighbours, now and then of its own color."""
        near = [(-1, 0), (1, 0), (0, -1), (0, 1)]
        places = self.random.sample(near, self.random.choice([1, 2, 4])) + [(0, 0)]
        if self.random.random() < 0.3:
            places[0] = self.random.choice([(1, 1), (-1, 1), (0, 0)])
        total = None
        for di, dj in places:
            array = self.random.choice("aab")
            value = self.emit(f"memref.load %{array}[{self.moved('%i', di)}, {self.moved('%j', dj)}] : {self.KIND}")
            total = value if total is None else self.emit(f"arith.{self.random.choice(['addf', 'subf', 'maximumf'])} {total}, {value} : f64")
        self.lines.append(f"memref.store {total}, %a[%i, %j] : {self.KIND}")

    def guarded(self, outer, inner):
        ends = {"%i": "%c19", "%j": "%c21"}
        self.lines += [f"scf.for {outer} = %c1 to {ends[outer]} step %c1 {{", f"scf.for {inner} = %c1 to {ends[inner]} step %c1 {{"]
        total = self.emit(f"arith.{self.random.choice(['addi', 'subi'])} %i, %j : index")
        rest = self.emit(self.random.choice([f"arith.remsi {total}, %c2", f"arith.remui {total}, %c2", f"arith.andi {total}, %c1", f"arith.remsi {total}, %c3"])
                         + " : index")
        mine = self.emit(f"arith.cmpi {self.random.choice(['eq', 'ne'])}, {rest}, %c{self.random.randrange(2)} : index")
        self.lines.append(f"scf.if {mine} {{")
        self.update()
        if self.random.random() < 0.2:
            self.lines.append("} else {")
            self.update()
        self.lines.append("}\n}\n}")

    def stepped(self, outer, inner):
        ends = {"%i": "%c19", "%j": "%c21"}
        self.lines.append(f"scf.for {outer} = %c1 to {ends[outer]} step %c1 {{")
        rest = self.emit(f"arith.remui {self.moved(outer, self.random.randrange(2))}, %c2 : index")
        first = self.emit(f"arith.addi {rest}, %c1 : index")
        self.lines.append(f"scf.for {inner} = {first} to {ends[inner]} step %c2 {{")
        self.update()
        self.lines.append("}\n}")

    def text(self, name):
        for _ in range(self.random.choice([1, 2, 3])):
            order = self.random.choice([("%i", "%j"), ("%j", "%i")])
            self.random.choice([self.guarded, self.guarded, self.stepped])(*order)
        self.lines.append("return")
        return function(name, {"a": self.KIND, "b": self.KIND}, [], "\n".join(self.lines))


def programs():
    for number in range(COUNT):
        name = f"nest_{number:03}"
        yield Program(name, Nest(number).text(name), tolerance=1e-13, integers=(-9, 10))
    for number in range(COLORED):
        name = f"nest_colored_{number:02}"
        yield Program(name, Sweeps(number).text(name), tolerance=1e-13)
