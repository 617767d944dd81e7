"""Element types, annotations of parameters, and which type an operation has: NumPy's rules; literals never promote."""

import numpy as np



class Unsigned(str):
    """The name of an unsigned type. MLIR's integers have no sign, its operations do: a u8 is formatted as i8, by !s as u8."""

    def __format__(self, spec):
        return format("i" + self[1:], spec)


FLOATS = ("f16", "bf16", "f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = tuple(Unsigned("u" + name[1:]) for name in SIGNED)
REAL = {"c64": "f32", "c128": "f64"} # of the parts of complex numbers
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "i1": np.bool_, "c64": np.complex64, "c128": np.complex128,
         **dict(zip(UNSIGNED, (np.uint8, np.uint16, np.uint32, np.uint64)))}


class Kind:
    """f64 is a number, f64[:, 3] or f64["N", "M"] an array. Called, it converts."""

    def __init__(self, name):
        self.name = name

    def __getitem__(self, sizes):
        return Annotation(self, sizes if isinstance(sizes, tuple) else (sizes,))

    def __call__(self, value):
        return NUMPY[self.name](value)

    def __repr__(self):
        return self.name


class Annotation:
    def __init__(self, kind, sizes):
        self.kind, self.sizes = kind, sizes


class Size:
    """A name for an extent that calls decide."""

    def __init__(self, name):
        self.name = name


def sizes(names):
    """N, M = kk.sizes("N M")"""
    made = tuple(map(Size, names.replace(",", " ").split()))
    return made[0] if len(made) == 1 else made


KINDS = {name: Kind(name) for name in (*FLOATS, *SIGNED, *UNSIGNED, *REAL, "index")}
KINDS["bool_"] = Kind("i1")


def is_float(kind):
    return kind in FLOATS


def is_integer(kind):
    return kind in SIGNED or kind in UNSIGNED


def is_unsigned(kind):
    return kind in UNSIGNED


def bits_of(kind):
    return 1 if kind == "i1" else 64 if kind == "index" else int(kind[1:])


def range_of(kind):
    """The smallest and the largest integer of a type."""
    bits = bits_of(kind)
    return (0, (1 << bits) - 1) if is_unsigned(kind) or bits == 1 else (-(1 << bits - 1), (1 << bits - 1) - 1)


def memory_type(extents, kind):
    """Of MLIR; `extents` is text such as `?x3x`. Complex numbers are two."""
    return f"memref<{extents}{f'2x{REAL[kind]}' if kind in REAL else kind}>"


def kind_of_dtype(dtype):
    """The element type of a NumPy array; None where there is none."""
    if np.dtype(dtype).name == "bfloat16":
        return "bf16"
    for name, kind in NUMPY.items():
        if np.dtype(dtype) == np.dtype(kind):
            return name
    return None


def promoted(a, b):
    """The type of an operation on two that are not literals."""
    if a == b:
        return a
    if a in REAL or b in REAL:
        return "c128" if "f64" in (promoted(REAL.get(a, a), "f32"), promoted(REAL.get(b, b), "f32")) else "c64"
    if "i1" in (a, b):
        return b if a == "i1" else a
    if is_float(a) and is_float(b):
        return "f32" if {a, b} == {"f16", "bf16"} else max(a, b, key=FLOATS.index)
    if is_integer(a) and is_integer(b):
        if is_unsigned(a) == is_unsigned(b):
            return max(a, b, key=bits_of)
        without, signed = (a, b) if is_unsigned(a) else (b, a)
        bits = max(2 * bits_of(without), bits_of(signed))
        return f"i{bits}" if bits <= 64 else "f64"
    real, whole = (a, b) if is_float(a) else (b, a)
    return promoted(real, float_for(whole))


def float_for(kind):
    """The floating-point type that NumPy computes functions of integers in."""
    return {1: "f16", 8: "f16", 16: "f32"}.get(bits_of(kind), "f64")
