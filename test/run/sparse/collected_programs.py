"""Programs for upstream.py whose results' entries are collected from a dense tensor."""

from make_programs import I, J, OWN_ENTRIES, SIZES, Program, converted


def compared(p):
    """Where A < B, which is so for some of the elements that neither stores."""
    a, b = p.argument("A", "nm", True), p.argument("B", "nm", True)
    smaller, number = "arith.cmpf ult, {a}, {b} : {t}", "arith.uitofp {a} : i1 to {t}"
    return p.generic([I, J], [a, b, p.empty("nm")], ["ij"] * 3, [(smaller, "v0", "v1"), (number, "t0", "v0")])


def joined_vectors(p):
    a, b = p.argument("A", "n", True), p.argument("B", "n", True)
    return p.generic([I], [a, b, p.empty("n")], ["i"] * 3, [("sub", "v0", "v1")])


SMALLER = """sparse_tensor.binary {a}, {b} : {t}, {t} to {t}
      overlap = {{ ^bb0(%p: {t}, %q: {t}): %m = arith.minimumf %p, %q : {t}
      sparse_tensor.yield %m : {t} }} left = identity right = {{ ^bb0(%q: {t}): %m = arith.addf %q, %q : {t}
      sparse_tensor.yield %m : {t} }}"""
ONLY_ONE = "sparse_tensor.binary {a}, {b} : {t}, {t} to {t} overlap = {{}} left = identity right = identity"
BOTH = """sparse_tensor.binary {a}, {b} : {t}, {t} to {t}
      overlap = {{ ^bb0(%p: {t}, %q: {t}): %m = arith.subf %p, %q : {t}
      sparse_tensor.yield %m : {t} }} left = {{}} right = {{}}"""


def of_entries(operation, extents="nm", dense_result=False):
    """What an operation says of elements that one of two matrices stores, or both."""

    def make(p):
        a, b = p.argument("A", extents, True), p.argument("B", extents, True)
        result = p.argument("c", extents) if dense_result else p.empty(extents)
        axes, letters = [I, J][: len(extents)], "ij"[: len(extents)]
        return p.generic(axes, [a, b, result], [letters] * 3, [(operation, "v0", "v1")])

    return make


def concatenated(axis, to):
    def make(p):
        a, b = p.argument("A", "nm", True), p.argument("B", "nm", True)
        sizes = [2 * SIZES[extent] if d == axis else SIZES[extent] for d, extent in enumerate("nm")]
        kind = f"tensor<{'x'.join(map(str, sizes))}x{p.element}" + (f", {p.encoding_of(to)}>" if to else ">")
        p.lines.append(f"  %r = sparse_tensor.concatenate %A, %B {{dimension = {axis} : index}} : {a[1]}, {b[1]} to {kind}")
        return "%r", kind

    return make


def flattened(p):
    a = p.argument("A", "nm", True)
    kind = f"tensor<{SIZES['n'] * SIZES['m']}x{p.element}, {p.encoding_of('Vector')}>"
    p.lines.append(f"  %r = tensor.collapse_shape %A [[0, 1]] : {a[1]} into {kind}")
    return "%r", kind


def stored_cube(p):
    a, kind = p.argument("A", "nmk"), p.sparse("nmk")
    p.lines.append(f"  %r = sparse_tensor.convert %A : {a[1]} to {kind}")
    return "%r", kind


def programs():
    for form in ("Dcsr", "Coo", "Columns", "Planes"):
        for name, make in OWN_ENTRIES.items():
            yield Program(name, form, "f64", 32, False), make
        yield Program("compared", form, "f32", 64, False), compared
        yield Program("concatenated_0", form, "f64", 32, False), concatenated(0, form)
        yield Program("concatenated_1", form, "f64", 32, False), concatenated(1, form)
    for to in ("Csc", "Dcsr", "Coo", "Columns", "Planes"):
        yield Program(f"to_{to.lower()}", "Dense", "f64", 32, False), converted(to)
    for to in ("Dcsr", "Coo", "Planes"):
        yield Program(f"to_{to.lower()}", "Csr", "f64", 32, False), converted(to)
    for form in ("Csr", "Csc"):
        yield Program("compared", form, "f64", 32, False), compared
        yield Program("concatenated_0", form, "f64", 32, False), concatenated(0, "Csr")
        yield Program("concatenated_dense", form, "f64", 32, False), concatenated(1, None)
    for form in ("Csr", "Dcsr", "Coo"):
        for name, operation in (("smaller", SMALLER), ("only_one", ONLY_ONE), ("both", BOTH)):
            yield Program(f"entries_{name}", form, "f64", 32, False), of_entries(operation)
    yield Program("entries_dense", "Csr", "f32", 64, False), of_entries(SMALLER, dense_result=True)
    yield Program("entries_vector", "Vector", "f64", 32, False), of_entries(SMALLER, "n")
    yield Program("flattened", "Csr", "f64", 32, False), flattened
    yield Program("joined_vectors", "Vector", "f64", 32, False), joined_vectors
    for form in ("Csf", "Rows3", "Coo3", "Sandwich"):
        yield Program("stored_cube", form, "f64", 32, False), stored_cube
