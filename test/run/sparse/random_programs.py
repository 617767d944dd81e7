"""Random programs on sparse matrices, as text and as what NumPy computes: chains of products, sums, conversions, scalings and reductions.

Values are letters of extents, a dense array and a mask of what is stored: an entry may be zero."""

import random
from dataclasses import dataclass, field

import make_programs
import numpy as np
from make_programs import Program

BY_ROWS, OTHERS = ("Csr", "Csc"), ("Dcsr", "Coo", "Bsr")
DTYPES = {"f32": np.float32, "f64": np.float64}


@dataclass
class Value:
    name: str       # in the text, with %
    kind: str       # its type there
    extents: str    # letters
    dense: np.ndarray
    mask: np.ndarray = None # of a sparse one
    form: str = None
    made: str = "argument"  # "assembled", "pattern" (values of another one's entries), "dense"
    needs: set = field(default_factory=set) # names of assembled ones that it is computed from
    entries: str = ""       # the name of the one whose entries it has
    destination: str = "%"  # of a dense one, what it is written to

    @property
    def pair(self):
        return self.name, self.kind


class RandomProgram:
    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        pick = self.random.choice
        element = pick(("f64", "f64", "f32"))
        is_dynamic = self.random.random() < 0.5
        # Blocks of two go into all of them; extents of the text are not zero
        self.sizes = {letter: 2 * self.random.randint(0 if is_dynamic and self.random.random() < 0.1 else 1, 5) for letter in "nmk"}
        make_programs.SIZES.update(self.sizes)
        self.program = Program("random", pick(BY_ROWS), element, pick((0, 32, 32, 64)), is_dynamic)
        self.program.name = f"random_{seed}"
        self.dtype = DTYPES[element]
        self.values, self.given, self.count = [], {}, 0 # given: dense arguments by name

    #===--- Values ---===#

    def elements(self, extents):
        shape = [self.sizes[letter] for letter in extents]
        return (self.numbers.integers(-8, 9, shape) / 4).astype(self.dtype)

    def sparse_argument(self, form, extents):
        dense = self.elements(extents)
        mask = self.numbers.random(dense.shape) < self.random.choice((0.0, 0.2, 0.5, 1.0))
        mask[self.numbers.random(len(mask)) < 0.2] = False # empty rows
        if form == "Bsr": # whole blocks
            mask = np.repeat(np.repeat(mask[::2, ::2], 2, 0), 2, 1)
        name = self.fresh("A")
        self.program.form, kept = form, self.program.form
        _, kind = self.program.argument(name, extents, True)
        self.program.form = kept
        return self.keep(Value(f"%{name}", kind, extents, np.where(mask, dense, 0).astype(self.dtype), mask, form, entries=name))

    def dense_argument(self, extents):
        name = self.fresh("x")
        self.given[name] = self.elements(extents)
        return Value(*self.program.argument(name, extents), extents, self.given[name])

    def fresh(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def keep(self, value):
        self.values.append(value)
        return value

    def matrix(self, extents=None, forms=None):
        """One that there is, or another argument."""
        fits = [value for value in self.values if value.mask is not None and (not extents or value.extents == extents)
                and (not forms or value.form in forms)]
        if fits and self.random.random() < 0.8:
            return self.random.choice(fits)
        return self.sparse_argument(self.random.choice(forms or BY_ROWS + OTHERS), extents or "".join(self.random.sample("nmk", 2)))

    def zeros(self, extents):
        program, name = self.program, self.fresh("z")
        kind = program.dense(extents)
        sizes = ", ".join(program.size(letter) for letter in extents) if program.is_dynamic else ""
        program.lines += [f"  %{name}c = arith.constant 0.0 : {program.element}", f"  %{name}e = tensor.empty({sizes}) : {kind}",
                          f"  %{name} = linalg.fill ins(%{name}c : {program.element}) outs(%{name}e : {kind}) -> {kind}"]
        return Value(f"%{name}", kind, extents, np.zeros([self.sizes[letter] for letter in extents], self.dtype))

    def destination(self, extents):
        return self.dense_argument(extents) if self.random.random() < 0.5 else self.zeros(extents)

    def generic(self, iterators, operands, maps, body):
        return self.program.generic([(letter, letter in iterators[1]) for letter in iterators[0]], operands, maps, body)

    def needs_of(self, *values):
        return set().union(*(value.needs | ({value.name[1:]} if value.made == "assembled" else set()) for value in values))

    def result(self, pair, extents, dense, mask, form, made, *operands):
        dense = np.where(mask, dense, 0).astype(self.dtype) if mask is not None else dense.astype(self.dtype)
        entries = operands[0].entries if made == "pattern" else pair[0][1:]
        return self.keep(Value(*pair, extents, dense, mask, form, made, self.needs_of(*operands), entries))

    #===--- Operations ---===#

    def joined(self):
        a = self.matrix(forms=BY_ROWS)
        b = self.matrix(a.extents, (a.form,))
        verb = self.random.choice(("add", "sub", "mul"))
        empty = self.program.empty(a.extents, a.form)
        pair = self.generic(("ij", ""), [a.pair, b.pair, empty], ["ij"] * 3, [(verb, "v0", "v1")])
        dense = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[verb](a.dense, b.dense)
        mask, is_pattern = a.mask & b.mask if verb == "mul" else a.mask | b.mask, a.entries == b.entries
        self.result(pair, a.extents, dense, mask, a.form, "pattern" if is_pattern else "assembled", a, b)

    def multiplied(self):
        a = self.matrix(forms=BY_ROWS)
        b = self.matrix(a.extents[1] + self.random.choice("nmk"), (a.form,))
        extents = a.extents[0] + b.extents[1]
        empty = self.program.empty(extents, a.form)
        pair = self.generic(("ikj", "k"), [a.pair, b.pair, empty], ["ik", "kj", "ij"], [("mul", "v0", "v1"), ("add", "out", "t0")])
        mask = a.mask.astype(int) @ b.mask.astype(int) > 0
        self.result(pair, extents, a.dense @ b.dense, mask, a.form, "assembled", a, b)

    def converted(self):
        a = self.matrix(forms=(*BY_ROWS, "Coo"))
        to = {"Csr": "Csc", "Csc": "Csr"}.get(a.form) or self.random.choice(BY_ROWS)
        pair = make_programs.convert(self.program, a.pair, a.extents, to)
        self.result(pair, a.extents, a.dense, a.mask, to, "assembled", a)

    def packed(self):
        """Of a dense matrix."""
        extents = "".join(self.random.sample("nmk", 2))
        x = self.dense_argument(extents)
        pair = make_programs.convert(self.program, x.pair, extents, "Csr")
        self.result(pair, extents, x.dense, x.dense != 0, "Csr", "assembled")

    def scaled(self):
        a, side = self.matrix(), self.random.choice((0, 1))
        d = self.dense_argument(a.extents[side])
        pair = self.generic(("ij", ""), [a.pair, d.pair, self.program.empty(a.extents, a.form)], ["ij", "ij"[side], "ij"], [("mul", "v0", "v1")])
        factor = d.dense[:, None] if side == 0 else d.dense[None, :]
        self.result(pair, a.extents, a.dense * factor, a.mask, a.form, "pattern", a)

    def squared(self):
        a = self.matrix()
        pair = self.generic(("ij", ""), [a.pair, self.program.empty(a.extents, a.form)], ["ij"] * 2, [("mul", "v0", "v0")])
        self.result(pair, a.extents, a.dense * a.dense, a.mask, a.form, "pattern", a)

    def spmv(self):
        a, side = self.matrix(), self.random.choice((0, 1)) # summed over the columns, or over the rows
        x, y = self.dense_argument(a.extents[1 - side]), self.destination(a.extents[side])
        own, other = "ij"[side], "ij"[1 - side]
        pair = self.generic(("ij", other), [a.pair, x.pair, y.pair], ["ij", other, own], [("mul", "v0", "v1"), ("add", "out", "t0")])
        matrix = a.dense if side == 0 else a.dense.T
        self.result(pair, a.extents[side], y.dense + matrix @ x.dense, None, None, "dense", a).destination = y.name

    def spmm(self):
        a = self.matrix()
        x = self.dense_argument(a.extents[1] + self.random.choice("nmk"))
        y = self.destination(a.extents[0] + x.extents[1])
        pair = self.generic(("ikj", "k"), [a.pair, x.pair, y.pair], ["ik", "kj", "ij"], [("mul", "v0", "v1"), ("add", "out", "t0")])
        self.result(pair, y.extents, y.dense + a.dense @ x.dense, None, None, "dense", a).destination = y.name

    def total(self):
        a = self.matrix()
        pair = self.generic(("ij", "ij"), [a.pair, self.zeros("").pair], ["ij", ""], [("add", "v0", "out")])
        self.result(pair, "", a.dense.sum(keepdims=False), None, None, "dense", a)

    def inner(self):
        """Sums of A .* B along rows, columns or both, or with the transpose of B."""
        a, is_turned = self.matrix(forms=(*BY_ROWS, "Dcsr", "Bsr")), self.random.random() < 0.3
        b = self.matrix(a.extents[::-1] if is_turned else a.extents, (*BY_ROWS, "Dcsr", "Bsr"))
        kept = self.random.choice(("", "i", "j"))
        y = self.destination("".join(a.extents["ij".index(letter)] for letter in kept)) if kept else self.zeros("")
        summed = "".join(letter for letter in "ij" if letter not in kept)
        pair = self.generic(("ij", summed), [a.pair, b.pair, y.pair], ["ij", "ji" if is_turned else "ij", kept],
                            [("mul", "v0", "v1"), ("add", "out", "t0")])
        product = a.dense * (b.dense.T if is_turned else b.dense)
        sums = {"": product.sum(), "i": product.sum(1), "j": product.sum(0)}[kept]
        self.result(pair, y.extents, y.dense + sums, None, None, "dense", a, b).destination = y.name

    def dense_copy(self):
        a = self.matrix()
        kind, name = self.program.dense(a.extents), f"%{self.fresh('w')}"
        self.program.lines.append(f"  {name} = sparse_tensor.convert {a.name} : {a.kind} to {kind}")
        self.result((name, kind), a.extents, a.dense, None, None, "dense", a)

    MAKERS = [joined, multiplied, converted, packed, scaled, squared, joined, multiplied]
    READERS = [spmv, spmv, spmm, total, inner, inner, dense_copy]

    #===--- The program ---===#

    def make(self):
        for _ in range(self.random.randint(1, 4)):
            self.random.choice(self.MAKERS)(self)
        for _ in range(self.random.randint(0, 2)):
            self.random.choice(self.READERS)(self)
        made = [value for value in self.values if value.made != "argument"]
        last = made[-1]
        self.returned = [value for value in made if value is last or value.made == "dense" or self.random.random() < 0.3]
        return self.program.text(*(value.pair for value in self.returned))
