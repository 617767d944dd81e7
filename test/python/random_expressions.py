"""Expressions of random kernels."""

import random


class Place:
    """Where an expression stands: loop indices with how far they may be moved, and locals with their kinds."""

    def __init__(self, rows=(), columns=(), floats=(), integers=(), frozen=()):
        self.rows, self.columns = list(rows), list(columns) # (name, lowest move, highest move)
        self.floats, self.integers, self.frozen = list(floats), list(integers), set(frozen) # frozen: arrays that may not be read
        self.vectors, self.matrices, self.shorts = ["a", "b"], ["m", "q"], [] # arrays of f64, the short ones of four elements
        self.writes = set("abmqkuwzfghc")

    def inside(self, **more):
        place = Place(self.rows, self.columns, self.floats, self.integers, self.frozen)
        place.writes, place.vectors, place.matrices, place.shorts = self.writes, list(self.vectors), list(self.matrices), list(self.shorts)
        for name, values in more.items():
            setattr(place, name, type(getattr(place, name))([*getattr(place, name), *values]))
        return place


class Expressions:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def choose(self, *options):
        return self.random.choice(options)()

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def moved(self, indices):
        name, low, high = self.random.choice(indices)
        move = self.random.randint(low, high)
        return name if move == 0 else f"{name} {'+' if move > 0 else '-'} {abs(move)}"

    def row(self, at):
        if at.rows and self.random.random() < 0.8:
            return self.moved(at.rows)
        return self.random.choice(["0", "-1", "2", f"({self.integer(at, 1)}) % N"])

    def column(self, at):
        if at.columns and self.random.random() < 0.8:
            return self.moved(at.columns)
        return self.random.choice(["0", "-1", "3", f"({self.integer(at, 1)}) % M"])

    def position(self, at, name):
        """Somewhere in the array."""
        if name in at.shorts:
            return self.random.choice([str(self.random.randint(0, 3)), f"({self.integer(at, 1)}) % 4"])
        if name == "h":
            return f"{self.row(at)}, {self.random.randint(0, 2)}, {self.column(at)}"
        return f"{self.row(at)}, {self.column(at)}" if name in at.matrices or name == "g" else self.row(at)

    def element(self, at):
        names = [name for name in [*at.vectors, *at.matrices, *at.vectors, *at.matrices, *at.shorts, *at.shorts, "h"] if name not in at.frozen]
        if not names:
            return "s"
        name = self.random.choice(names)
        return f"{name}[{self.position(at, name)}]"

    def single(self, at, depth=2):
        """Of 32 bits of floating point; literals alone would be numbers of Python's."""
        r = self.random
        names = [name for name in "fg" if name not in at.frozen]
        if depth <= 0 or r.random() < 0.2:
            leaves = [lambda: f"kk.f32({r.uniform(-2, 2):.2f})", lambda: f"kk.f32({self.real(at, 1)})"]
            name = r.choice(names) if names else ""
            return r.choice(leaves + [lambda: f"{name}[{self.position(at, name)}]"] * (4 if names else 0))()
        x = lambda: self.single(at, depth - 1)
        return self.choose(
            lambda: f"({x()} + {x()})", lambda: f"({x()} - {x()})", lambda: f"({x()} * {r.choice(['0.5', '-0.3', 's', '2'])})", lambda: f"({x()} / (abs({x()}) + 0.5))",
            lambda: f"abs({x()})", lambda: f"min({x()}, {x()})", lambda: f"np.maximum({x()}, {x()})", lambda: f"np.sqrt(abs({x()}) + 0.1)", lambda: f"(-{x()})",
            lambda: f"({x()} if {self.test(at, depth - 1)} else {x()})", lambda: f"np.tanh({x()})", lambda: f"(1.5 - {x()})", lambda: f"kk.f32(kk.f16({x()}))")

    def pair(self, at, depth=2):
        """A complex number that is not much larger than those it is made of."""
        r = self.random
        if depth <= 0 or r.random() < 0.2:
            leaves = [lambda: f"complex({self.real(at, 1)}, {self.real(at, 1)})"]
            return r.choice(leaves + [lambda: f"c[{self.row(at)}]"] * (0 if "c" in at.frozen else 3))()
        x, y = self.pair(at, depth - 1), self.pair(at, depth - 1)
        return r.choice([f"({x} + {y})", f"({x} - {y})", f"({x} * ({y} / (abs({y}) + 1.0)))", f"({x} * {self.real(at, 0)} * 0.25)", f"np.conj({x})", f"(-{x})",
                         f"({x} * 0.5j)", f"({x} / ({y} + complex(3.0, abs({y}))))", f"(1.0 - {x})", f"(({x}) ** 2 / (abs({x}) + 1.0))"])

    def of_other_kind(self, at):
        r = self.random
        name = r.choice([name for name in "fg" if name not in at.frozen] or [""])
        leaves = [lambda: f"float({name}[{self.position(at, name)}])"] * bool(name) + \
            [lambda: f"c[{self.row(at)}].{r.choice(['real', 'imag'])}", lambda: f"abs(c[{self.row(at)}])"] * ("c" not in at.frozen)
        return r.choice(leaves or [lambda: "s"])()

    def real(self, at, depth=3):
        r = self.random
        if depth == 0 or r.random() < 0.15:
            return r.choice([lambda: f"{r.uniform(-2, 2):.2f}", lambda: "s", lambda: self.element(at), lambda: self.element(at),
                             lambda: self.of_other_kind(at), lambda: r.choice(at.floats) if at.floats else self.element(at)])()
        x = lambda: self.real(at, depth - 1)
        return self.choose(
            lambda: f"({x()} + {x()})", lambda: f"({x()} - {x()})", lambda: f"({x()} * {r.choice(['0.5', '0.25', '-0.75', 's'])})",
            lambda: f"np.sin({x()} * {x()})", lambda: f"({x()} / (abs({x()}) + 0.5))", lambda: f"(-{x()})", lambda: f"abs({x()})",
            lambda: f"min({x()}, {x()})", lambda: f"np.maximum({x()}, {x()})", lambda: f"math.sqrt(abs({x()}) + 0.1)",
            lambda: f"({x()} if {self.test(at, depth - 1)} else {x()})", lambda: f"limited({x()}, 1.5)",
            lambda: f"(({self.integer(at, depth - 1)}) * 0.125)", lambda: f"kk.where({self.test(at, depth - 1)}, {x()}, {x()})",
            lambda: f"(({x()} + 0.0137) % 3.0)", lambda: f"np.tanh({x()})", lambda: f"(({self.integer(at, depth - 1)}) / 7)",
            lambda: f"(({self.natural(at, depth - 1)}) % 1000 * 0.003)", lambda: f"math.copysign({x()}, {x()})", lambda: f"(({x()}) ** 2 * 0.1)", lambda: f"(math.floor({x()} + 0.0137) * 0.5)")

    def integer(self, at, depth=2):
        r = self.random
        if depth == 0 or r.random() < 0.2:
            options = [lambda: str(r.randint(0, 9)), lambda: "n"]
            options += [lambda: r.choice(at.rows)[0]] * bool(at.rows) + [lambda: r.choice(at.columns)[0]] * bool(at.columns)
            options += [lambda: r.choice(at.integers)] * bool(at.integers)
            if "k" not in at.frozen:
                options.append(lambda: f"k[{self.row(at) if depth else '1'}]")
            if "w" not in at.frozen:
                options.append(lambda: f"w[{self.row(at) if depth else '2'}]")
            return r.choice(options)()
        x = lambda: self.integer(at, depth - 1)
        return self.choose(
            lambda: f"({x()} + {x()})", lambda: f"({x()} - {x()})", lambda: f"(({x()} * {r.randint(-4, 4)}) % 1009)",
            lambda: f"(({x()}) // {r.choice([2, 3, -3, 7])})", lambda: f"(({x()}) % {r.choice([2, 5, -5, 11])})", lambda: f"({x()} & 15)",
            lambda: f"({x()} | 4)", lambda: f"({x()} ^ 3)", lambda: f"abs({x()})", lambda: f"min({x()}, {x()})",
            lambda: f"({x()} if {self.test(at, depth - 1)} else {x()})", lambda: f"kk.i64(({self.natural(at, depth - 1)}) % 50)", lambda: f"({self.wide(at, depth - 1)} % 50)",
            lambda: f"(-({x()}))", lambda: f"(({x()} & 7) << 2)", lambda: f"(({x()}) >> 1)")

    def natural(self, at, depth=2):
        """Of 32 bits, all of which may be set; literals alone would be numbers of Python's."""
        r = self.random
        if depth <= 0 or r.random() < 0.2:
            options = [lambda: f"kk.u32({r.choice(['7', '4000000000', 'n'])})"]
            options += [lambda: f"kk.u32({r.choice(at.rows)[0]})"] * bool(at.rows)
            if "u" not in at.frozen:
                options += [lambda: f"u[{self.row(at) if depth > 0 else '1'}]"] * 3
            return r.choice(options)()
        x = lambda: self.natural(at, depth - 1)
        y = lambda: r.choice([x, lambda: str(r.randint(0, 99))])()
        return self.choose(
            lambda: f"({x()} + {y()})", lambda: f"({x()} - {y()})", lambda: f"({x()} * {y()})", lambda: f"({x()} // ({x()} | 1))", lambda: f"({x()} // 10)",
            lambda: f"({x()} % ({x()} | 1))", lambda: f"({x()} ^ {y()})", lambda: f"({x()} & {y()})", lambda: f"({x()} | {y()})", lambda: f"(~{x()})",
            lambda: f"({x()} << {r.randint(0, 31)})", lambda: f"({x()} >> {r.randint(0, 31)})", lambda: f"{r.choice(['min', 'max'])}({x()}, {x()})",
            lambda: f"({x()} if {self.test(at, depth - 1)} else {x()})", lambda: f"kk.u32(kk.u8({x()}))", lambda: f"kk.u32(kk.i16({x()}))")

    def wide(self, at, depth=2):
        """Of 64 bits, all of which may be set."""
        r = self.random
        if depth <= 0 or r.random() < 0.2:
            options = [lambda: f"kk.i64({r.choice(['7', '-40000000000', '9', 'n'])})"]
            options += [lambda: f"kk.i64({r.choice(at.rows)[0]})"] * bool(at.rows)
            if "z" not in at.frozen:
                options += [lambda: f"z[{self.row(at) if depth > 0 else '1'}]"] * 3
            return r.choice(options)()
        x = lambda: self.wide(at, depth - 1)
        y = lambda: r.choice([x, lambda: str(r.randint(-99, 99))])()
        divisor = lambda: r.choice([lambda: f"(abs({x()} >> 1) | 1)", lambda: str(r.choice([3, -7, 1000]))])()
        return self.choose(
            lambda: f"({x()} + {y()})", lambda: f"({y()} - {x()})", lambda: f"({x()} - {y()})", lambda: f"({x()} * {y()})", lambda: f"({x()} // {divisor()})",
            lambda: f"({r.randint(-99, 99)} // (abs({x()} >> 1) | 1))", lambda: f"({x()} % {divisor()})", lambda: f"({x()} ^ {y()})", lambda: f"({x()} & {y()})",
            lambda: f"({x()} | {y()})", lambda: f"(~{x()})", lambda: f"({x()} << {r.randint(0, 63)})", lambda: f"({x()} >> {r.randint(0, 63)})",
            lambda: f"{r.choice(['min', 'max'])}({x()}, {x()})",
            lambda: f"({r.choice([x, lambda: 'kk.i64(9)'])()} if {self.test(at, depth - 1)} else {r.choice([x, lambda: 'kk.i64(5)'])()})",
            lambda: f"kk.i64(kk.{r.choice(['i32', 'u32', 'u8', 'i16'])}({x()}))", lambda: f"kk.i64({self.natural(at, depth - 1)})", lambda: f"abs({x()} >> 1)",
            lambda: f"kk.i64({self.test(at, depth - 1)})")

    def test(self, at, depth=1):
        if self.random.random() < 0.1:
            return f"{self.wide(at, depth)} {self.random.choice(['<', '>=', '==', '!='])} {self.wide(at, depth)}"
        if self.random.random() < 0.1:
            return f"{self.single(at, depth)} {self.random.choice(['<', '>='])} {self.single(at, depth)}"
        x, i = lambda: self.real(at, depth), lambda: self.integer(at, depth)
        if self.random.random() < 0.1:
            return f"{self.natural(at, depth)} {self.random.choice(['<', '>=', '==', '!='])} {self.natural(at, depth)}"
        return self.choose(
            lambda: f"{x()} > {x()}", lambda: f"{x()} <= {self.random.uniform(-1, 1):.2f}", lambda: f"{i()} % 2 == 0", lambda: f"{i()} < {i()}",
            lambda: f"-0.5 < {x()} <= 0.75", lambda: f"not {i()} >= 4", lambda: f"({x()} > 0.1 and {i()} != 3)", lambda: f"({x()} < 0.0 or {i()} == 2)")
