"""Operations on scalars."""

from .problems import Problem
from .text import Linear
from .types import REAL, bits_of, float_for, is_float, is_integer, is_unsigned, promoted, range_of
from .values import Const, Index, Scalar

ARITHMETIC = {"Add": ("addf", "addi"), "Sub": ("subf", "subi"), "Mult": ("mulf", "muli")}
BITS = {"BitAnd": "andi", "BitOr": "ori", "BitXor": "xori", "LShift": "shli", "RShift": "shrsi"}
COMPARISONS = {"Lt": ("olt", "slt"), "LtE": ("ole", "sle"), "Gt": ("ogt", "sgt"), "GtE": ("oge", "sge"), "Eq": ("oeq", "eq"),
               "NotEq": ("une", "ne")}
FUNCTIONS = {name: f"math.{name}" for name in
             ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
              "sqrt", "cbrt", "floor", "ceil", "trunc", "erf")}
FUNCTIONS.update(fabs="math.absf", arcsin="math.asin", arccos="math.acos", arctan="math.atan", rint="math.roundeven")
TWO = {"atan2": "math.atan2", "arctan2": "math.atan2", "copysign": "math.copysign", "pow": "math.powf", "power": "math.powf"}


class Scalars:
    """Mixed into the compiler; `self.w` writes text, `self.node` is where problems are reported."""

    def problem(self, text):
        return Problem(self.node, text, self.source)

    def op(self, name, kind, *operands):
        return Scalar(self.w.value(f"{name} {', '.join(operands)} : {kind}"), kind)

    # --- Types ---

    def kind_of(self, value):
        """The type, and whether it is that of literals."""
        if isinstance(value, Const):
            if isinstance(value.value, bool):
                return "i1", False
            if isinstance(value.value, int):
                return "i64", True
            if isinstance(value.value, float):
                return "f64", True
            if isinstance(value.value, complex):
                return "c128", True
            raise self.problem(f"{value.value!r} is not a number")
        if isinstance(value, Index):
            return "i64", True
        if isinstance(value, Scalar):
            return value.kind, value.weak
        raise self.problem("an array stands where a number is needed")

    def common(self, *values):
        """The type in which values meet, and whether it is weak."""
        kind, weak = self.kind_of(values[0])
        for value in values[1:]:
            other, other_weak = self.kind_of(value)
            if weak == other_weak:
                kind = promoted(kind, other)
            else:
                strong, literal = (other, kind) if weak else (kind, other)
                if literal in REAL and strong not in REAL:
                    strong = promoted(strong, "c64")
                kind = strong if is_float(strong) or strong in REAL or is_integer(literal) and strong != "i1" else "f64" if is_float(literal) else literal
                weak = False
        return kind, weak

    def as_kind(self, value, kind):
        """The name of a value converted to a type, two names for a complex one."""
        if kind in REAL:
            return self.as_complex(value, kind)
        if isinstance(value, Const):
            if not isinstance(value.value, (bool, int, float)):
                raise self.problem(f"{value.value!r} is not a {'real ' if isinstance(value.value, complex) else ''}number")
            if kind != "i1" and not is_float(kind):
                least, most = range_of(kind)
                if not least <= int(value.value) <= most:
                    raise self.problem(f"{value.value} does not fit {kind!s}")
            return self.w.constant(float(value.value) if is_float(kind) else bool(value.value) if kind == "i1" else int(value.value), kind)
        if isinstance(value, Index):
            if kind == "index":
                return self.w.index(value.form)
            if value.again:
                return value.again(kind)
            if value.form.is_constant:
                return self.w.constant(float(value.form.constant) if is_float(kind) else value.form.constant, kind)
            value = Scalar(self.w.integer(value.form), "i64")
        if not isinstance(value, Scalar):
            raise self.problem("an array stands where a number is needed")
        return self.converted(value, kind)

    def converted(self, value, kind):
        old = value.kind
        if old == kind:
            return value.name
        if old in REAL:
            raise self.problem("a complex number is not a real one; take its .real, .imag or abs()")
        if kind == "index" or old == "index":
            return self.w.value(f"arith.index_cast {self.converted(value, 'i64') if old != 'index' else value.name} : "
                                f"{'index' if old == 'index' else 'i64'} to {kind}")
        if kind == "i1":
            zero = self.as_kind(Const(0), old)
            return self.w.value(f"arith.cmpf une, {value.name}, {zero} : {old}" if is_float(old) else
                                f"arith.cmpi ne, {value.name}, {zero} : {old}")
        if is_float(old) and is_float(kind):
            if {old, kind} == {"f16", "bf16"}:
                return self.converted(Scalar(self.converted(value, "f32"), "f32"), kind)
            name = "extf" if ("f16", "bf16", "f32", "f64").index(old) < ("f16", "bf16", "f32", "f64").index(kind) else "truncf"
        elif is_float(kind):
            name = "uitofp" if old == "i1" or is_unsigned(old) else "sitofp"
        elif is_float(old):
            if is_unsigned(kind) and bits_of(kind) < 64: # numbers below zero count from the end
                return self.converted(Scalar(self.converted(value, "i64"), "i64"), kind)
            name = "fptoui" if is_unsigned(kind) else "fptosi"
        elif bits_of(old) == bits_of(kind):
            return value.name
        else:
            name = "trunci" if bits_of(old) > bits_of(kind) else "extui" if old == "i1" or is_unsigned(old) else "extsi"
        return self.w.value(f"arith.{name} {value.name} : {old} to {kind}")

    def index_of(self, value):
        """The linear form of a position."""
        if isinstance(value, Index):
            return value.form
        if isinstance(value, Const) and isinstance(value.value, int):
            return Linear(int(value.value))
        if isinstance(value, Scalar) and is_integer(value.kind):
            return Linear(0, {self.w.once(("index", value.name), lambda: self.as_kind(value, "index")): 1})
        raise self.problem("a position has to be an integer")

    def condition(self, value):
        return self.as_kind(value, "i1")

    # --- Operations ---

    def binary(self, name, a, b):
        if isinstance(a, Const) and isinstance(b, Const):
            return self.folded(name, a.value, b.value)
        whole = all(isinstance(v, Index) or isinstance(v, Const) and type(v.value) is int for v in (a, b))
        if whole and name in ("Add", "Sub", "Mult", "FloorDiv", "Mod"):
            return self.on_indices(name, a, b)
        kind, weak = self.common(a, b)
        if kind in REAL:
            return self.complex_binary(name, a, b, kind, weak)
        if name == "Pow":
            return self.power(a, b, kind, weak)
        if name in BITS:
            if is_float(kind):
                raise self.problem("bits of floating-point numbers cannot be combined")
            if kind == "i1" and name.endswith("Shift"):
                raise self.problem("booleans cannot be shifted")
            result = self.op(f"arith.{self.by_sign(BITS[name], kind)}", kind, self.as_kind(a, kind), self.as_kind(b, kind))
            result.weak = weak
            return result
        if name == "Div" and not is_float(kind):
            kind = "f64"
        if kind == "i1":
            if name in ("Add", "Mult"): # as NumPy has it: or, and
                return self.op("arith.ori" if name == "Add" else "arith.andi", "i1", self.as_kind(a, "i1"), self.as_kind(b, "i1"))
            raise self.problem("booleans cannot be subtracted or divided")
        x, y = self.as_kind(a, kind), self.as_kind(b, kind)
        if name in ARITHMETIC:
            result = self.op(f"arith.{ARITHMETIC[name][not is_float(kind)]}", kind, x, y)
        elif name == "Div":
            result = self.op("arith.divf", kind, x, y)
        elif name in ("FloorDiv", "Mod"):
            by = b.value if isinstance(b, Const) else 0
            result = self.floats_divided(name, kind, x, y) if is_float(kind) else self.integers_divided(name, kind, x, y, by)
        else:
            raise self.problem(f"the operator {name} is not supported")
        result.weak = weak
        return result

    @staticmethod
    def by_sign(name, kind):
        """divsi, slt or shrsi of MLIR, or what it is called for unsigned numbers."""
        return {"slt": "ult", "sle": "ule", "sgt": "ugt", "sge": "uge"}.get(name, name.replace("si", "ui")) if is_unsigned(kind) else name

    def folded(self, name, a, b):
        import operator

        functions = {"Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "FloorDiv": operator.floordiv,
                     "Mod": operator.mod, "Pow": operator.pow, "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
                     "LShift": operator.lshift, "RShift": operator.rshift}
        if not all(isinstance(v, (bool, int, float, complex)) for v in (a, b)):
            raise self.problem("only numbers can be computed with")
        if name in ("Pow", "LShift") and abs(b) > 1024:
            raise self.problem("a constant is too large")
        try:
            return Const(functions[name](a, b))
        except (ArithmeticError, TypeError, ValueError, KeyError) as error:
            raise self.problem(f"a constant cannot be computed: {error}") from None

    def on_indices(self, name, a, b):
        x, y = self.index_of(a), self.index_of(b)
        if name in ("Add", "Sub"):
            return Index(x.plus(y, 1 if name == "Add" else -1))
        if name == "Mult" and (x.is_constant or y.is_constant):
            return Index(y.times(x.constant) if x.is_constant else x.times(y.constant))
        return Index(Linear(0, {self.w.once((name, x, y), lambda: self.index_atom(name, x, y)): 1})) \
            if name == "Mult" or self.goes_up(x, y) else self.integers_divided(name, "i64", self.w.integer(x), self.w.integer(y), y.constant if y.is_constant else 0)

    def goes_up(self, x, y):
        least = self.w.least(x), self.w.least(y)
        return least[0] is not None and least[0] >= 0 and least[1] is not None and least[1] > 0

    def index_atom(self, name, x, y):
        """A product, or a quotient of what is not negative."""
        least = self.w.least(x), self.w.least(y)
        if name == "Mult":
            atom = self.w.value(f"arith.muli {self.w.index(x)}, {self.w.index(y)} : index")
            self.w.wide[atom] = ("muli", x, y)
            if None not in least and min(least) >= 0:
                self.w.lower[atom] = least[0] * least[1]
            return atom
        operation = "divsi" if name == "FloorDiv" else "remsi"
        self.w.effects += not y.is_constant # by a number that is perhaps 0
        unsigned = "divui" if name == "FloorDiv" and not self.depth else operation # as sizes of C++ are divided
        atom = self.w.value(f"arith.{unsigned} {self.w.index(x)}, {self.w.index(y)} : index")
        self.w.wide[atom] = (operation, x, y)
        self.w.lower[atom] = 0
        return atom

    def integers_divided(self, name, kind, x, y, by):
        """As Python has it: the quotient goes down, the remainder has the sign of the divisor; `by` is its value, 0 if that is not known."""
        self.w.effects += by <= 0 # by a number that is perhaps 0, or -1
        if is_unsigned(kind):
            return self.op("arith.divui" if name == "FloorDiv" else "arith.remui", kind, x, y)
        if name == "FloorDiv":
            return self.op("arith.floordivsi", kind, x, y)
        if by > 0 and by & (by - 1) == 0: # the last bits are the remainder of numbers below 0, too
            return self.op("arith.andi", kind, x, self.as_kind(Const(by - 1), kind))
        rest = self.w.value(f"arith.remsi {x}, {y} : {kind}")
        if by > 0: # a select becomes a branch that nothing predicts
            negative = self.w.value(f"arith.shrsi {rest}, {self.as_kind(Const(bits_of(kind) - 1), kind)} : {kind}")
            return Scalar(self.w.value(f"arith.addi {rest}, {self.w.value(f'arith.andi {negative}, {y} : {kind}')} : {kind}"), kind)
        return self.with_sign_of(rest, y, kind)

    def with_sign_of(self, rest, y, kind):
        zero = self.as_kind(Const(0), kind)
        compare = (lambda how, a: self.w.value(f"arith.cmpf {how}, {a}, {zero} : {kind}")) if is_float(kind) else \
                  (lambda how, a: self.w.value(f"arith.cmpi {how}, {a}, {zero} : {kind}"))
        less, unequal, add = ("olt", "une", "addf") if is_float(kind) else ("slt", "ne", "addi")
        differ = self.w.value(f"arith.xori {compare(less, rest)}, {compare(less, y)} : i1")
        wrong = self.w.value(f"arith.andi {compare(unequal, rest)}, {differ} : i1")
        moved = self.w.value(f"arith.{add} {rest}, {y} : {kind}")
        return Scalar(self.w.value(f"arith.select {wrong}, {moved}, {rest} : {kind}"), kind)

    def floats_divided(self, name, kind, x, y):
        """As NumPy computes it."""
        rest = Scalar(self.w.value(f"arith.remf {x}, {y} : {kind}"), kind)
        down = self.with_sign_of(rest.name, y, kind)
        if name == "Mod":
            return down
        x, y = Scalar(x, kind), Scalar(y, kind)
        quotient = self.binary("Div", self.binary("Sub", x, rest), y)
        quotient = self.chosen(self.compare("Eq", down, rest), quotient, self.binary("Sub", quotient, Const(1.0)))
        whole = self.op("math.floor", kind, quotient.name)
        more = self.compare("Gt", self.binary("Sub", quotient, whole), Const(0.5))
        whole = self.chosen(more, self.binary("Add", whole, Const(1.0)), whole)
        return self.chosen(self.compare("Eq", y, Const(0.0)), self.binary("Div", x, y), whole)

    def power(self, a, b, kind, weak):
        exponent = b.value if isinstance(b, Const) else None
        if isinstance(exponent, int) and not isinstance(exponent, bool) and 0 <= exponent <= 8:
            x = Scalar(self.as_kind(a, kind), kind, weak)
            result = x
            if exponent == 0:
                return Scalar(self.as_kind(Const(1), kind), kind, weak)
            for bit in bin(exponent)[3:]:
                result = self.binary("Mult", result, result)
                if bit == "1":
                    result = self.binary("Mult", result, x)
            return result
        if kind in REAL:
            raise self.problem("complex numbers take a power of 0 to 8 only")
        if not is_float(kind):
            base = a.value if isinstance(a, Const) and type(a.value) is int else 0
            if base < 2 or base & (base - 1):
                raise self.problem("integers take a power of 0 to 8, powers of two any; else convert with float(...)")
            digits = base.bit_length() - 1
            return self.binary("LShift", Const(1), b if digits == 1 else self.binary("Mult", b, Const(digits)))
        if exponent == 0.5:
            result = self.op("math.sqrt", kind, self.as_kind(a, kind))
        else:
            result = self.op("math.powf", kind, self.as_kind(a, kind), self.as_kind(b, kind))
        result.weak = weak
        return result

    def compare(self, name, a, b):
        if isinstance(a, Const) and isinstance(b, Const):
            import operator

            return Const({"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq,
                          "NotEq": operator.ne}[name](a.value, b.value))
        if all(isinstance(v, Index) or isinstance(v, Const) and type(v.value) is int for v in (a, b)):
            kind = "index"
        else:
            kind, _ = self.common(a, b)
        if kind in REAL:
            return self.complex_compare(name, a, b, kind)
        x, y = self.as_kind(a, kind), self.as_kind(b, kind)
        if kind == "i1" and name not in ("Eq", "NotEq"):
            raise self.problem("booleans have no order")
        how = COMPARISONS[name]
        return Scalar(self.w.value(f"arith.cmpf {how[0]}, {x}, {y} : {kind}" if is_float(kind) else
                                   f"arith.cmpi {self.by_sign(how[1], kind)}, {x}, {y} : {kind}"), "i1")

    def negated(self, value):
        if isinstance(value, Const):
            return Const(-value.value)
        if isinstance(value, Index):
            return Index(value.form.times(-1))
        if value.kind in REAL:
            return self.of_parts(*map(self.negated, self.parts(value, value.kind)), value.kind, value.weak)
        if is_float(value.kind):
            return Scalar(self.op("arith.negf", value.kind, value.name).name, value.kind, value.weak)
        return self.binary("Sub", Const(0), value)

    def inverted(self, value):
        if isinstance(value, Const):
            return Const(not value.value)
        return self.op("arith.xori", "i1", self.condition(value), self.w.constant(True, "i1"))

    # --- Functions ---

    def function(self, name, arguments):
        if name in ("fabs", *FUNCTIONS, *TWO) and any(map(self.is_complex, arguments)):
            return self.complex_function(name, arguments[0])
        if name in FUNCTIONS or name in TWO:
            if len(arguments) != (2 if name in TWO else 1):
                raise self.problem(f"{name} takes {2 if name in TWO else 1} arguments")
            kind, weak = self.common(*arguments)
            if name in ("pow", "power") and not is_float(kind):
                return self.binary("Pow", *arguments)
            kind = kind if is_float(kind) else float_for(kind)
            result = self.op(FUNCTIONS.get(name) or TWO[name], kind, *(self.as_kind(value, kind) for value in arguments))
            result.weak = weak
            return result
        if name.startswith("whole_"):
            kind, _ = self.kind_of(*arguments)
            if not is_float(kind):
                return arguments[0]
            return self.call_int(self.op(f"math.{name[6:]}", kind, self.as_kind(arguments[0], kind)))
        try:
            return getattr(self, f"call_{name}")(*arguments)
        except TypeError:
            raise self.problem(f"{name} does not take {len(arguments)} arguments here") from None

    def call_abs(self, value):
        if isinstance(value, Const):
            return Const(abs(value.value))
        kind, weak = self.kind_of(value)
        if kind in REAL:
            return self.complex_function("abs", value)
        if is_unsigned(kind):
            return value
        result = self.op("math.absf" if is_float(kind) else "math.absi", kind, self.as_kind(value, kind))
        result.weak = weak
        return result

    def extreme(self, order, values):
        """Python's min and max: the first of those that are not beaten."""
        best = values[0]
        for value in values[1:]:
            best = self.chosen(self.compare(order, value, best), value, best)
        return best

    def call_min(self, *values):
        return self.extreme("Lt", values)

    def call_max(self, *values):
        return self.extreme("Gt", values)

    def smaller_or_nan(self, a, b, names):
        kind, _ = self.common(a, b)
        return self.op(f"arith.{self.by_sign(names[not is_float(kind)], kind)}", kind, self.as_kind(a, kind), self.as_kind(b, kind))

    def call_minimum(self, a, b):
        return self.smaller_or_nan(a, b, ("minimumf", "minsi"))

    def call_maximum(self, a, b):
        return self.smaller_or_nan(a, b, ("maximumf", "maxsi"))

    def call_where(self, condition, a, b):
        return self.chosen(condition, a, b)

    def call_isnan(self, value):
        return self.compare("NotEq", value, value)

    def call_int(self, value):
        return value if isinstance(value, Index) else Const(int(value.value)) if isinstance(value, Const) else \
            Scalar(self.as_kind(value, "i64"), "i64", True)

    def call_float(self, value):
        return Const(float(value.value)) if isinstance(value, Const) else Scalar(self.as_kind(value, "f64"), "f64", True)

    def call_bool(self, value):
        return Const(bool(value.value)) if isinstance(value, Const) else Scalar(self.condition(value), "i1")

    def chosen(self, condition, a, b):
        if isinstance(condition, Const):
            return a if condition.value else b
        kind, weak = self.common(a, b)
        if all(isinstance(v, Index) or isinstance(v, Const) and type(v.value) is int for v in (a, b)):
            test = self.condition(condition)

            def select(kind):
                return self.w.value(f"arith.select {test}, {self.as_kind(a, kind)}, {self.as_kind(b, kind)} : {kind}")

            literals = isinstance(a, Const) and isinstance(b, Const)
            return Index(Linear(0, {select("index"): 1}), select if literals else None)
        if kind in REAL:
            return self.of_parts(*(self.chosen(condition, x, y) for x, y in zip(self.parts(a, kind), self.parts(b, kind))), kind, weak)
        return Scalar(self.w.value(f"arith.select {self.condition(condition)}, {self.as_kind(a, kind)}, {self.as_kind(b, kind)} : {kind}"),
                      kind, weak)
