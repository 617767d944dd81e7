#!/usr/bin/env python3
"""Writes programs on sparse tensors, and the calls that test them: formats x operations x types.

usage: make_programs.py FOLDER [--few] [--scale N]     writes programs.mlir, includes.inc, cases.inc, names.txt
"""
import argparse
import pathlib

FORMATS = {
    "Csr": "(i, j) -> (i : dense, j : compressed)",
    "Csc": "(i, j) -> (j : dense, i : compressed)",
    "Dcsr": "(i, j) -> (i : compressed, j : compressed)",
    "Coo": "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "Bsr": "(i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
    "Vector": "(i) -> (i : compressed)",
    "Csf": "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
    "Rows3": "(i, j, k) -> (i : dense, j : dense, k : compressed)",
    "Loose": "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))",
    "Columns": "(i, j) -> (j : compressed, i : compressed)",
    "Planes": "(i, j) -> (i : compressed, j : dense)",
    "Sandwich": "(i, j, k) -> (k : compressed, i : dense, j : compressed)",
    "Coo3": "(i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton)",
}
SIZES = {"n": 12, "m": 10, "k": 6, "l": 4}  # as in Sparse.cpp


def affine(indices, subscripts):
    return f"affine_map<({', '.join(indices)}) -> ({', '.join(subscripts)})>"


class Program:
    """One function on a sparse A, and perhaps a sparse B."""

    def __init__(self, operation, form, element, width, is_dynamic):
        self.operation, self.form, self.element, self.width = operation, form, element, width
        self.is_dynamic = is_dynamic
        self.name = f"{operation}_{form.lower()}_{element}_{width}" + ("_dynamic" if is_dynamic else "")
        self.arguments, self.lines, self.values, self.extents = [], [], 0, []

    def dense(self, extents):
        sizes = ["?" if self.is_dynamic else str(SIZES[e]) for e in extents]
        return f"tensor<{'x'.join(sizes + [self.element])}>"

    def sparse(self, extents, form=None):
        return self.dense(extents)[:-1] + f", {self.encoding_of(form or self.form)}>"

    def encoding_of(self, form):
        bits = f", posWidth = {self.width}, crdWidth = {self.width}" if self.width else ""
        return f"#sparse_tensor.encoding<{{ map = {FORMATS[form]}{bits} }}>"

    def empty(self, extents, form=None):
        """The destination of a sparse result."""
        kind, name = self.sparse(extents, form), f"%empty{self.values}"
        self.values += 1
        sizes = [self.size(extent) for extent in extents] if self.is_dynamic else []
        self.lines.append(f"  {name} = tensor.empty({', '.join(sizes)}) : {kind}")
        return name, kind

    def size(self, extent):
        """Of an argument that has this extent."""
        if f"%{extent}_size" not in "".join(self.lines):
            name, kind, place = next((name, kind, extents.index(extent)) for name, kind, extents in self.extents if extent in extents)
            self.lines += [f"  %{extent}_at = arith.constant {place} : index",
                           f"  %{extent}_size = tensor.dim {name}, %{extent}_at : {kind}"]
        return f"%{extent}_size"

    def argument(self, name, extents, is_sparse=False):
        kind = self.sparse(extents) if is_sparse else self.dense(extents)
        self.arguments.append(f"%{name}: {kind}")
        self.extents.append((f"%{name}", kind, extents))
        return f"%{name}", kind

    def generic(self, iterators, operands, subscripts, body):
        """`body` is a list of `a * b`, the last of which is the result; `out` is the element so far."""
        indices = [i for i, _ in iterators]
        kinds = ", ".join('"reduction"' if is_reduced else '"parallel"' for _, is_reduced in iterators)
        maps = ", ".join(affine(indices, s) for s in subscripts)
        *inputs, output = operands
        result = f"%r{self.values}"
        self.values += 1
        letters = [f"%v{i}" for i in range(len(inputs))] + ["%out"]
        self.lines += [
            f"  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
            f"      ins({', '.join(n for n, _ in inputs)} : {', '.join(t for _, t in inputs)}) outs({output[0]} : {output[1]}) {{",
            f"  ^bb0({', '.join(f'{letter}: {self.element}' for letter in letters)}):",
        ]
        for i, (verb, a, b) in enumerate(body):
            if "{" in verb:  # what it does to stored elements
                self.lines.append(f"    %t{i} = " + verb.format(a=f"%{a}", b=f"%{b}", t=self.element))
                continue
            kind = "f" if self.element.startswith("f") else "i"
            self.lines.append(f"    %t{i} = arith.{verb}{kind} %{a}, %{b} : {self.element}")
        self.lines += [f"    linalg.yield %t{len(body) - 1} : {self.element}", f"  }} -> {output[1]}"]
        return result, output[1]

    def zeros(self, extents):
        zero = "0.0" if self.element.startswith("f") else "0"
        kind = self.dense(extents)
        self.lines += [
            f"  %zero = arith.constant {zero} : {self.element}",
            f"  %e = tensor.empty() : {kind}",
            f"  %z = linalg.fill ins(%zero : {self.element}) outs(%e : {kind}) -> {kind}",
        ]
        return "%z", kind

    def text(self, *results):
        kinds = ", ".join(kind for _, kind in results)
        header = kinds if len(results) == 1 else f"({kinds})"
        return "\n".join(
            [f"func.func @{self.name}({', '.join(self.arguments)}) -> {header} {{"]
            + self.lines
            + [f"  return {', '.join(name for name, _ in results)} : {kinds}", "}", ""]
        )


I, J, K, L = ("i", False), ("j", False), ("k", False), ("l", False)
OVER_I, OVER_J, OVER_K = ("i", True), ("j", True), ("k", True)
MULTIPLY, ADD = ("mul", "v0", "v1"), ("add", "out", "t0")


def spmv(p):
    a, x, y = p.argument("A", "nm", True), p.argument("x", "m"), p.argument("y", "n")
    return p.generic([I, OVER_J], [a, x, y], ["ij", "j", "i"], [MULTIPLY, ADD])


def matvec(p):
    a, x = p.argument("A", "nm", True), p.argument("x", "m")
    z = p.zeros("n")
    p.lines.append(f"  %r = linalg.matvec ins(%A, %x : {a[1]}, {x[1]}) outs(%z : {z[1]}) -> {z[1]}")
    return "%r", z[1]


def spmvt(p):
    a, x, y = p.argument("A", "nm", True), p.argument("x", "n"), p.argument("y", "m")
    return p.generic([OVER_I, J], [a, x, y], ["ij", "i", "j"], [MULTIPLY, ADD])


def spmm(p):
    a, x = p.argument("A", "nm", True), p.argument("x", "mk")
    y = p.argument("y", "nk")
    p.lines.append(f"  %r = linalg.matmul ins(%A, %x : {a[1]}, {x[1]}) outs(%y : {y[1]}) -> {y[1]}")
    return "%r", y[1]


def product(p):
    """A * x from zeros."""
    a, x = p.argument("A", "nm", True), p.argument("x", "mk")
    z = p.zeros("nk")
    return p.generic([I, OVER_J, K], [a, x, z], ["ij", "jk", "ik"], [MULTIPLY, ADD])


def sddmm(p):
    a, u, v = p.argument("A", "nm", True), p.argument("u", "nk"), p.argument("v", "km")
    y = p.argument("y", "nm")
    body = [("mul", "v1", "v2"), ("mul", "v0", "t0"), ("add", "out", "t1")]
    return p.generic([I, J, OVER_K], [a, u, v, y], ["ij", "ik", "kj", "ij"], body)


def rowsum(p):
    a, y = p.argument("A", "nm", True), p.argument("y", "n")
    return p.generic([I, OVER_J], [a, y], ["ij", "i"], [("add", "v0", "out")])


def colsum(p):
    a, y = p.argument("A", "nm", True), p.argument("y", "m")
    return p.generic([OVER_I, J], [a, y], ["ij", "j"], [("add", "v0", "out")])


def total(p):
    a = p.argument("A", "nm", True)
    return p.generic([OVER_I, OVER_J], [a, p.zeros("")], ["ij", ""], [("add", "v0", "out")])


def elementwise(verb, is_sparse):
    def make(p):
        a, b, y = p.argument("A", "nm", True), p.argument("B", "nm", is_sparse), p.argument("y", "nm")
        return p.generic([I, J], [a, b, y], ["ij"] * 3, [(verb, "v0", "v1")])

    return make


def inner(p):
    """The sum of A .* B."""
    a, b = p.argument("A", "nm", True), p.argument("B", "nm", True)
    return p.generic([OVER_I, OVER_J], [a, b, p.zeros("")], ["ij", "ij", ""], [MULTIPLY, ADD])


def inner_spmv(p):
    """y + (A .* B) x"""
    a, b, x, y = p.argument("A", "nm", True), p.argument("B", "nm", True), p.argument("x", "m"), p.argument("y", "n")
    return p.generic([I, OVER_J], [a, b, x, y], ["ij", "ij", "j", "i"], [MULTIPLY, ("mul", "t0", "v2"), ("add", "out", "t1")])


def inner_columns(p):
    """y + the column sums of A .* (2 + B^T), whose second factor is nowhere zero."""
    a, b, y = p.argument("A", "nm", True), p.argument("B", "mn", True), p.argument("y", "m")
    p.lines.append(f"  %two = arith.constant 2.0 : {p.element}")
    body = [("add", "v1", "two"), ("mul", "v0", "t0"), ("add", "out", "t1")]
    return p.generic([OVER_I, J], [a, b, y], ["ij", "ji", "j"], body)


def residual(p):
    """b - A * x, and three times that."""
    a, x, b = p.argument("A", "nm", True), p.argument("x", "m"), p.argument("b", "n")
    q = p.generic([I, OVER_J], [a, x, p.zeros("n")], ["ij", "j", "i"], [MULTIPLY, ADD])
    p.lines.append(f"  %f = tensor.empty() : {b[1]}")
    r = p.generic([I], [b, q, ("%f", b[1])], ["i"] * 3, [("sub", "v0", "v1")])
    p.lines.append(f"  %g = tensor.empty() : {b[1]}")
    return p.generic([I], [r, ("%g", b[1])], ["i"] * 2, [("add", "v0", "v0"), ("add", "t0", "v0")])


def dot(is_sparse):
    def make(p):
        a, b = p.argument("A", "n", True), p.argument("B", "n", is_sparse)
        return p.generic([OVER_I], [a, b, p.zeros("")], ["i", "i", ""], [MULTIPLY, ADD])

    return make


def ttv(p):
    a, x, y = p.argument("A", "nmk", True), p.argument("x", "k"), p.argument("y", "nm")
    return p.generic([I, J, OVER_K], [a, x, y], ["ijk", "k", "ij"], [MULTIPLY, ADD])


def mttkrp(p):
    a, u, v = p.argument("A", "nmk", True), p.argument("u", "ml"), p.argument("v", "kl")
    y = p.argument("y", "nl")
    body = [MULTIPLY, ("mul", "t0", "v2"), ("add", "out", "t1")]
    return p.generic([I, OVER_J, OVER_K, L], [a, u, v, y], ["ijk", "jl", "kl", "il"], body)


#===--- Sparse results ---===#


def squared(p):
    """A * A by elements: values of A's entries."""
    a = p.argument("A", "nm", True)
    return p.generic([I, J], [a, p.empty("nm")], ["ij"] * 2, [("mul", "v0", "v0")])


def sampled(p):
    """A .* (U * V), of A's entries."""
    a, u, v = p.argument("A", "nm", True), p.argument("u", "nk"), p.argument("v", "km")
    body = [("mul", "v1", "v2"), ("mul", "v0", "t0"), ("add", "out", "t1")]
    return p.generic([I, J, OVER_K], [a, u, v, p.empty("nm")], ["ij", "ik", "kj", "ij"], body)


def attention(p):
    """softmax along rows of A .* (U * V), times X: graph attention."""
    a, u, v, x = p.argument("A", "nm", True), p.argument("u", "nk"), p.argument("v", "km"), p.argument("x", "mk")
    body = [("mul", "v1", "v2"), ("mul", "v0", "t0"), ("add", "out", "t1")]
    s = p.generic([I, J, OVER_K], [a, u, v, p.empty("nm")], ["ij", "ik", "kj", "ij"], body)
    low = "0xFFF0000000000000" if p.element == "f64" else "0xFF800000"
    kind = p.dense("n")
    p.lines += [
        f"  %low = arith.constant {low} : {p.element}",
        f"  %ne = tensor.empty() : {kind}",
        f"  %lows = linalg.fill ins(%low : {p.element}) outs(%ne : {kind}) -> {kind}",
    ]
    largest = "sparse_tensor.reduce {a}, {b}, %low : {t} {{ ^bb0(%p: {t}, %q: {t}): %m = arith.maximumf %p, %q : {t}\n      sparse_tensor.yield %m : {t} }}"
    m = p.generic([I, OVER_J], [s, ("%lows", kind)], ["ij", "i"], [(largest, "v0", "out")])
    shifted = "sparse_tensor.binary {a}, {b} : {t}, {t} to {t} overlap = {{ ^bb0(%p: {t}, %q: {t}): %d = arith.subf %p, %q : {t}\n      %ex = math.exp %d : {t}\n      sparse_tensor.yield %ex : {t} }} left = {{}} right = {{}}"
    e = p.generic([I, J], [s, m, p.empty("nm")], ["ij", "i", "ij"], [(shifted, "v0", "v1")])
    z = p.zeros("n")
    t = p.generic([I, OVER_J], [e, z], ["ij", "i"], [("add", "v0", "out")])
    q = p.generic([I, J], [e, t, p.empty("nm")], ["ij", "i", "ij"], [("div", "v0", "v1")])
    y = p.argument("y", "nk")
    return p.generic([I, OVER_J, K], [q, x, y], ["ij", "jk", "ik"], [MULTIPLY, ADD])


def joined(verb):
    def make(p):
        a, b = p.argument("A", "nm", True), p.argument("B", "nm", True)
        return p.generic([I, J], [a, b, p.empty("nm")], ["ij"] * 3, [(verb, "v0", "v1")])

    return make


def multiplied(p):
    """A * B, all sparse."""
    a, b = p.argument("A", "nm", True), p.argument("B", "mk", True)
    c = p.empty("nk")
    p.lines.append(f"  %r = linalg.matmul ins(%A, %B : {a[1]}, {b[1]}) outs({c[0]} : {c[1]}) -> {c[1]}")
    return "%r", c[1]


def converted(to):
    def make(p):
        a, kind = p.argument("A", "nm", p.form != "Dense"), p.sparse("nm", to)
        p.lines.append(f"  %r = sparse_tensor.convert %A : {a[1]} to {kind}")
        return "%r", kind

    return make


#===--- Operations on results with entries of their own ---===#


def multiply_matrices(p, a, b, extents):
    c, result = p.empty(extents), f"%r{p.values}"
    p.values += 1
    p.lines.append(f"  {result} = linalg.matmul ins({a[0]}, {b[0]} : {a[1]}, {b[1]}) outs({c[0]} : {c[1]}) -> {c[1]}")
    return result, c[1]


def convert(p, a, extents, to):
    kind, result = p.sparse(extents, to), f"%r{p.values}"
    p.values += 1
    p.lines.append(f"  {result} = sparse_tensor.convert {a[0]} : {a[1]} to {kind}")
    return result, kind


def galerkin(p):
    """R * A * P"""
    r, a, q = p.argument("R", "kn", True), p.argument("A", "nm", True), p.argument("P", "ml", True)
    return multiply_matrices(p, multiply_matrices(p, r, a, "km"), q, "kl")


def multiplied_spmv(p):
    """y + (A * B) x"""
    a, b, x, y = p.argument("A", "nm", True), p.argument("B", "mk", True), p.argument("x", "k"), p.argument("y", "n")
    return p.generic([I, OVER_K], [multiply_matrices(p, a, b, "nk"), x, y], ["ik", "k", "i"], [MULTIPLY, ADD])


def sum_and_spmv(p):
    """C = A + B, and y + C x"""
    a, b, x, y = p.argument("A", "nm", True), p.argument("B", "nm", True), p.argument("x", "m"), p.argument("y", "n")
    c = p.generic([I, J], [a, b, p.empty("nm")], ["ij"] * 3, [("add", "v0", "v1")])
    return c, p.generic([I, OVER_J], [c, x, y], ["ij", "j", "i"], [MULTIPLY, ADD])


def scaled_sum(p):
    """The rows of A + B, each times a number."""
    a, b, d = p.argument("A", "nm", True), p.argument("B", "nm", True), p.argument("d", "n")
    c = p.generic([I, J], [a, b, p.empty("nm")], ["ij"] * 3, [("add", "v0", "v1")])
    return p.generic([I, J], [c, d, p.empty("nm")], ["ij", "i", "ij"], [("mul", "v0", "v1")])


def long_chain(p):
    """The column sums of 2 * ((A + B) .* A) in the other format."""
    a, b, y = p.argument("A", "nm", True), p.argument("B", "nm", True), p.argument("y", "m")
    c = p.generic([I, J], [a, b, p.empty("nm")], ["ij"] * 3, [("add", "v0", "v1")])
    d = p.generic([I, J], [c, a, p.empty("nm")], ["ij"] * 3, [("mul", "v0", "v1")])
    twice = p.generic([I, J], [d, p.empty("nm")], ["ij"] * 2, [("add", "v0", "v0")])
    other = convert(p, twice, "nm", "Csc" if p.form == "Csr" else "Csr")
    return p.generic([OVER_I, J], [other, y], ["ij", "j"], [("add", "v0", "out")])


def inner_of_sum(p):
    """The sum of A .* (A + B)."""
    a, b = p.argument("A", "nm", True), p.argument("B", "nm", True)
    c = p.generic([I, J], [a, b, p.empty("nm")], ["ij"] * 3, [("add", "v0", "v1")])
    return p.generic([OVER_I, OVER_J], [a, c, p.zeros("")], ["ij", "ij", ""], [MULTIPLY, ADD])


CHAINS = {
    "inner_of_sum": inner_of_sum, "galerkin": galerkin, "multiplied_spmv": multiplied_spmv, "sum_and_spmv": sum_and_spmv, "scaled_sum": scaled_sum,
    "long_chain": long_chain,
}

SAME_ENTRIES = {"squared": squared, "sampled": sampled, "attention": attention}
OWN_ENTRIES = {
    "sum_of": joined("add"), "difference_of": joined("sub"), "product_of": joined("mul"), "multiplied": multiplied,
}
CONVERSIONS = [("Csr", "Csc"), ("Csc", "Csr"), ("Coo", "Csr"), ("Coo", "Csc"), ("Loose", "Csr"), ("Loose", "Csc"), ("Dense", "Csr")]

MATRIX = {
    "spmv": spmv, "matvec": matvec, "spmvt": spmvt, "spmm": spmm, "product": product, "sddmm": sddmm,
    "rowsum": rowsum, "colsum": colsum, "total": total, "residual": residual,
    "inner": inner, "inner_spmv": inner_spmv, "inner_columns": inner_columns,
    "add_dense": elementwise("add", False), "multiply_dense": elementwise("mul", False),
    "add": elementwise("add", True), "subtract": elementwise("sub", True), "multiply": elementwise("mul", True),
}
DYNAMIC = ["spmv", "spmvt", "spmm", "sddmm", "rowsum", "add_dense", "multiply_dense", "add", "inner", "inner_spmv",
           "inner_columns"]
VECTOR = {"dot_dense": dot(False), "dot": dot(True)}
CUBE = {"ttv": ttv, "mttkrp": mttkrp}
CPP = {"f64": "double", "f32": "float", "i32": "int", 0: "int", 16: "std::int16_t", 32: "int", 64: "std::int64_t"}


def programs():
    for form in ("Csr", "Csc", "Dcsr", "Coo", "Bsr"):
        for name, make in MATRIX.items():
            yield Program(name, form, "f64", 32, False), make
    for form in ("Csr", "Csc"):
        for name in DYNAMIC:
            yield Program(name, form, "f32", 64, True), MATRIX[name]
    for element, width in (("f32", 0), ("f64", 16), ("i32", 32)):
        for form in ("Csr", "Csc", "Coo"):
            yield Program("spmv", form, element, width, False), spmv
    for name, make in VECTOR.items():
        yield Program(name, "Vector", "f64", 32, False), make
    for form in ("Csr", "Csc", "Dcsr", "Coo", "Bsr"):
        for name, make in SAME_ENTRIES.items():
            yield Program(name, form, "f64", 32, False), make
    for form in ("Csr", "Csc"):
        for name, make in OWN_ENTRIES.items():
            yield Program(name, form, "f64", 32, False), make
    yield Program("sum_of", "Csr", "f32", 64, False), OWN_ENTRIES["sum_of"]
    yield Program("multiplied", "Csr", "f32", 64, False), multiplied
    yield Program("sampled", "Csr", "f32", 64, False), sampled
    yield Program("attention", "Csr", "f32", 64, False), attention
    for name, make in CHAINS.items():
        for form in ("Csr", "Csc"):
            yield Program(name, form, "f64", 32, False), make
        yield Program(name, "Csr", "f32", 64, True), make
        yield Program(name, "Csc", "f64", 0, True), make
    yield Program("sum_and_spmv", "Csr", "f64", 16, False), sum_and_spmv
    for form, to in CONVERSIONS:
        yield Program(f"to_{to.lower()}", form, "f64", 32, False), converted(to)
    for form in ("Csf", "Rows3", "Coo3"):
        for name, make in CUBE.items():
            yield Program(name, form, "f64", 64, False), make


def results_of(make, program):
    """Pairs of a name and a type."""
    results = make(program)
    return [results] if isinstance(results[0], str) else results


# One of each kernel, for runs that take longer
FEW = [
    *(f"{name}_csr_f64_32" for name in ("spmv", "spmm", "sddmm", "total", "residual", "add", "inner", "squared", "sampled", "attention")),
    *(f"{name}_csr_f64_32" for name in ("sum_of", "product_of", "multiplied", "to_csc")), "spmvt_csc_f64_32", "to_csr_csc_f64_32",
    "spmvt_csr_f64_32", "spmvt_dcsr_f64_32", "spmvt_coo_f64_32", "colsum_csr_f32_64_dynamic",
    *(f"{name}_csr_f64_32" for name in CHAINS), "galerkin_csc_f64_32", "spmv_coo_f64_32", "to_csr_coo_f64_32", "to_csr_loose_f64_32", "to_csr_dense_f64_32", "attention_dcsr_f64_32",
    "inner_columns_bsr_f64_32", "inner_spmv_dcsr_f64_32", "spmv_bsr_f64_32", "attention_bsr_f64_32", "mttkrp_csf_f64_64", "dot_vector_f64_32",
]


def main(folder, few=False, scale=1):
    """With `scale` more rows and columns."""
    for extent in "nm":
        SIZES[extent] *= scale
    text, includes, cases, names = [], [], [], []
    for program, make in programs():
        if few and program.name not in FEW:
            continue
        text.append(program.text(*results_of(make, program)))
        includes.append(f'#include "{program.name}.hpp"\n')
        cases.append(
            f'CASE({program.name}, {program.operation}, {program.form.replace("Dense", "Dense2")}, {CPP[program.element]}, {CPP[program.width]})\n'
        )
        names.append(program.name + "\n")
    for name, lines in (("programs.mlir", text), ("includes.inc", includes), ("cases.inc", cases), ("names.txt", names)):
        path = folder / name
        if not path.exists() or path.read_text() != "".join(lines):
            path.write_text("".join(lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--few", action="store_true", help="one program for each kernel")
    parser.add_argument("--scale", type=int, default=1, help="of the rows and columns")
    main(**vars(parser.parse_args()))
