"""60 nests from a seeded generator over arrays that hold several dimensions, blocks, rotated parts or pairs in one, some of which overlap:
the values are those of sequential execution."""

import random

from . import Program, function

COUNT = 60
FLAT, SHAPE = "memref<200xf64>", "memref<?x?x?xf64>"
SIZES = {"n": 5, "m": 6, "k": 3}
HEAD = """%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c10 = arith.constant 10 : index
%c16 = arith.constant 16 : index
%c32 = arith.constant 32 : index
%n = memref.dim %s, %c0 : memref<?x?x?xf64>
%m = memref.dim %s, %c1 : memref<?x?x?xf64>
%k = memref.dim %s, %c2 : memref<?x?x?xf64>"""


class Flat:
    """A function of one to three nests of two or three loops."""

    def __init__(self, number):
        self.random = random.Random(2000 + number)
        self.lines, self.values = HEAD.splitlines(), 0

    def emit(self, text):
        self.values += 1
        self.lines.append(f"%t{self.values} = {text}")
        return f"%t{self.values}"

    def index(self, operation, a, b):
        return self.emit(f"arith.{operation} {a}, {b} : index")

    def extent(self, size):
        """As it is, or now and then one less or one more, or that of something else."""
        chance = self.random.random()
        if chance < 0.1:
            return self.index("subi", size, "%c1")
        if chance < 0.15:
            return self.index("addi", size, "%c1")
        return self.random.choice(["%n", "%m", "%k"]) if chance < 0.2 else size

    def loop(self, name, begin, end, step="%c1"):
        self.lines.append(f"scf.for {name} = {begin} to {end} step {step} {{")
        return name

    def update(self, place):
        """An element from itself, from one that lies near, and from another array."""
        near = self.random.choice([None, None, "%c1", "%m", "%k"])
        value = self.emit(f"memref.load %a[{place}] : {FLAT}")
        if near:
            other = self.index(self.random.choice(["addi", "subi"]), place, near)
            read = self.emit(f"memref.load %{self.random.choice('aab')}[{other}] : {FLAT}")
            value = self.emit(f"arith.{self.random.choice(['subf', 'maximumf'])} {value}, {read} : f64")
        more = self.emit(f"memref.load %b[{place}] : {FLAT}")
        value = self.emit(f"arith.addf {value}, {more} : f64")
        self.lines.append(f"memref.store {value}, %a[{place}] : {FLAT}")

    def based(self, place):
        return self.index("addi", place, "%c10")

    def two(self):
        """i * m + j, with the loops in either order"""
        rows, columns, stride = self.extent("%n"), self.extent("%m"), self.extent("%m")
        loops = [("%i", "%c0", rows), ("%j", self.random.choice(["%c0", "%c1"]), columns)]
        for loop in self.random.sample(loops, 2):
            self.loop(*loop)
        self.update(self.based(self.index("addi", self.index("muli", "%i", stride), "%j")))
        return 2

    def three(self):
        """(i * m + j) * k + l"""
        stride, last = self.extent("%m"), self.extent("%k")
        for loop in self.random.sample([("%i", "%c0", "%n"), ("%j", "%c0", self.extent("%m")), ("%l", "%c0", self.extent("%k"))], 3):
            self.loop(*loop)
        row = self.index("addi", self.index("muli", "%i", stride), "%j")
        self.update(self.based(self.index("addi", self.index("muli", row, last), "%l")))
        return 3

    def blocks(self):
        """Two halves of each block"""
        block = self.index("muli", self.extent("%k"), "%c2")
        self.loop("%i", "%c0", self.index("muli", "%n", "%m"), block)
        self.loop("%j", "%c0", self.extent("%k"))
        low = self.based(self.index("addi", "%i", "%j"))
        high = self.index("addi", low, self.extent("%k"))
        x, y = (self.emit(f"memref.load %a[{at}] : {FLAT}") for at in (low, high))
        for at, operation in ((low, "addf"), (high, "subf")):
            self.lines.append(f"memref.store {self.emit(f'arith.{operation} {x}, {y} : f64')}, %a[{at}] : {FLAT}")
        return 2

    def tiles(self):
        """Rows in tiles, the last one shorter"""
        size, end = self.extent("%k"), self.index("muli", "%n", "%m")
        self.loop("%i", "%c0", end, size)
        last = self.index("minsi", self.index("addi", "%i", self.extent("%k")), end)
        self.loop("%j", "%i", last)
        self.update(self.based("%j"))
        return 2

    def parts(self):
        """Quotient and remainder of one index"""
        self.loop("%i", "%c0", self.index("muli", "%n", "%m"))
        by, stride = self.extent("%m"), self.extent("%m")
        quotient, rest = self.index("divui", "%i", by), self.index("remui", "%i", by)
        if self.random.random() < 0.4: # the halves of a butterfly
            stride = self.index("muli", stride, "%c2")
        place = self.based(self.index("addi", self.index("muli", quotient, stride), rest))
        self.update(place)
        if self.random.random() < 0.4:
            self.update(self.index("addi", place, by))
        return 1

    def rotated(self):
        """One index, moved and wrapped"""
        self.loop("%i", "%c0", self.extent("%m"))
        self.update(self.based(self.index("remui", self.index("addi", "%i", self.random.choice(["%k", "%n"])), self.extent("%m"))))
        return 1

    def pairs(self):
        """An index and what it is with some bits turned; mostly where one of them is greater"""
        mask, other = self.random.choice(["%k", "%m", "%c1"]), self.random.choice(["%k", "%c2"])
        self.loop("%i", "%c16", "%c32")
        partner = self.index("xori", "%i", mask)
        order = self.random.choice(["sgt", "sgt", "slt", "slt", "ne", "sge"])
        mine = self.emit(f"arith.cmpi {order}, {partner}, {self.random.choice(['%i', '%i', other])} : index")
        self.lines.append(f"scf.if {mine} {{")
        self.update(self.based(partner) if self.random.random() < 0.2 else partner)
        value = self.emit(f"memref.load %a[{partner}] : {FLAT}")
        self.lines.append(f"memref.store {value}, %a[%i] : {FLAT}")
        self.lines.append("}")
        return 1

    def text(self, name):
        for _ in range(self.random.choice([1, 2, 3])):
            depth = self.random.choice([self.two, self.two, self.three, self.blocks, self.tiles, self.parts, self.rotated, self.pairs])()
            self.lines += ["}"] * depth
        for place, size in enumerate(SIZES): # so that each has its name
            number = self.emit(f"arith.sitofp {self.emit(f'arith.index_cast %{size} : index to i64')} : i64 to f64")
            self.lines.append(f"memref.store {number}, %a[%c{place}] : {FLAT}")
        self.lines.append("return")
        return function(name, {"a": FLAT, "b": FLAT, "s": SHAPE}, [], "\n".join(self.lines))


def programs():
    for number in range(COUNT):
        name = f"flat_{number:02}"
        yield Program(name, Flat(number).text(name), extents=SIZES, tolerance=1e-13)
