"""Complex numbers: a Scalar with two names, real and imaginary part. In MLIR and in C++ an array of them has one more dimension
of two elements."""

from .types import REAL
from .values import Const, Scalar

FUNCTIONS = ("abs", "exp", "conj", "real", "imag", "angle")


class Complexes:
    """Mixed into the compiler."""

    @staticmethod
    def is_complex(value):
        return isinstance(value, Scalar) and value.kind in REAL or isinstance(value, Const) and isinstance(value.value, complex)

    def parts(self, value, kind="c128"):
        """Real and imaginary part, as those of a complex type."""
        real = REAL[kind]
        return [Scalar(name, real) for name in self.as_kind(value, kind)]

    def of_parts(self, real, imaginary, kind, weak=False):
        return Scalar((self.as_kind(real, REAL[kind]), self.as_kind(imaginary, REAL[kind])), kind, weak)

    def as_complex(self, value, kind):
        """The two names of a value converted to a complex type."""
        real = REAL[kind]
        if isinstance(value, Const):
            if not isinstance(value.value, (bool, int, float, complex)):
                raise self.problem(f"{value.value!r} is not a number")
            number = complex(value.value)
            return self.w.constant(number.real, real), self.w.constant(number.imag, real)
        if isinstance(value, Scalar) and value.kind in REAL:
            return tuple(self.converted(Scalar(name, REAL[value.kind]), real) for name in value.name)
        return self.as_kind(value, real), self.w.constant(0.0, real)

    # --- Operations ---

    def complex_binary(self, name, a, b, kind, weak):
        if name == "Pow":
            return self.power(a, b, kind, weak)
        if name not in ("Add", "Sub", "Mult", "Div"):
            raise self.problem(f"complex numbers have no {'bits' if 'Bit' in name or 'Shift' in name else 'quotient and rest of integers'}")
        if name == "Mult" and not (self.is_complex(a) and self.is_complex(b)):
            number, factor = (a, b) if self.is_complex(a) else (b, a)
            return self.of_parts(*(self.binary("Mult", part, factor) for part in self.parts(number, kind)), kind, weak)
        if name == "Div" and not self.is_complex(b):
            return self.of_parts(*(self.binary("Div", part, b) for part in self.parts(a, kind)), kind, weak)
        (x, y), (u, v) = self.parts(a, kind), self.parts(b, kind)
        if name in ("Add", "Sub"):
            return self.of_parts(self.binary(name, x, u), self.binary(name, y, v) if self.is_complex(b) else y, kind, weak)
        if name == "Mult":
            return self.of_parts(self.binary("Sub", self.binary("Mult", x, u), self.binary("Mult", y, v)),
                                 self.binary("Add", self.binary("Mult", x, v), self.binary("Mult", y, u)), kind, weak)
        return self.complex_quotient(x, y, u, v, kind, weak)

    def complex_quotient(self, x, y, u, v, kind, weak):
        """By the ratio of the divisor's parts, which neither overflows nor vanishes."""
        upright = self.compare("Lt", self.call_abs(u), self.call_abs(v))
        pick = lambda yes, no: self.chosen(upright, yes, no)
        ratio = self.binary("Div", pick(u, v), pick(v, u))
        below = self.binary("Add", pick(v, u), self.binary("Mult", ratio, pick(u, v)))
        real = self.binary("Add", pick(y, x), self.binary("Mult", pick(x, y), ratio))
        turned = self.binary("Mult", pick(y, x), ratio)
        imaginary = pick(self.binary("Sub", turned, x), self.binary("Sub", y, turned))
        return self.of_parts(self.binary("Div", real, below), self.binary("Div", imaginary, below), kind, weak)

    def complex_compare(self, name, a, b, kind):
        if name not in ("Eq", "NotEq"):
            raise self.problem("complex numbers have no order")
        same = [self.compare(name, x, y).name for x, y in zip(self.parts(a, kind), self.parts(b, kind))]
        return self.op("arith.andi" if name == "Eq" else "arith.ori", "i1", *same)

    def complex_function(self, name, value):
        if name not in FUNCTIONS:
            raise self.problem(f"{name} of complex numbers is not supported; there are {', '.join(FUNCTIONS)}")
        kind, weak = self.kind_of(value)
        x, y = self.parts(value, kind)
        if name == "conj":
            return self.of_parts(x, self.negated(y), kind, weak)
        if name == "exp":
            size = self.function("exp", [x])
            return self.of_parts(self.binary("Mult", size, self.function("cos", [y])),
                                 self.binary("Mult", size, self.function("sin", [y])), kind, weak)
        result = {"real": lambda: x, "imag": lambda: y, "angle": lambda: self.function("arctan2", [y, x]),
                  "abs": lambda: self.function("sqrt", [self.binary("Add", self.binary("Mult", x, x), self.binary("Mult", y, y))])}[name]()
        return Scalar(result.name, result.kind, weak)

    def call_complex(self, real, imaginary=Const(0.0)):
        return self.of_parts(real, imaginary, "c128", True)

    def call_conj(self, value):
        return self.complex_function("conj", value) if self.is_complex(value) else value

    def call_real(self, value):
        return self.complex_function("real", value) if self.is_complex(value) else value

    def call_imag(self, value):
        return self.complex_function("imag", value) if self.is_complex(value) else Const(0.0)

    def call_angle(self, value):
        return self.complex_function("angle", value) if self.is_complex(value) else self.function("arctan2", [Const(0.0), value])

    # --- Values that loops and branches hand on ---

    def fresh_value(self, hint, kind):
        """A new name, or two of them."""
        return (self.w.fresh(hint and f"{hint}_re"), self.w.fresh(hint and f"{hint}_im")) if kind in REAL else self.w.fresh(hint)

    @staticmethod
    def unknown(kind):
        return ("%x", "%x") if kind in REAL else "%x"

    @staticmethod
    def flat(names):
        return [part for name in names for part in ([name] if isinstance(name, str) else name)]

    @staticmethod
    def flat_kinds(kinds):
        return [f"{part}" for kind in kinds for part in ([REAL[kind]] * 2 if kind in REAL else [kind])]

    def load_parts(self, memory, where, hint):
        """Both parts of an element at subscripts that are text."""
        last = [self.w.constant(place, "index") for place in (0, 1)]
        hints = (f"{hint}_re", f"{hint}_im") if hint else (None, None)
        return Scalar(tuple(self.w.value(f"memref.load {memory.name}[{', '.join([*where, place])}] : {memory.type}", own)
                            for place, own in zip(last, hints)), memory.kind)
