"""What is wrong with a kernel, at its line; and that no text of a kernel becomes code."""

import linecache
import pickle
import textwrap

import ml2kokkos as kk
import numpy as np
import pytest

HEAD = "import ml2kokkos as kk, numpy as np, math\nN, M = kk.sizes('N M')\n"


def made(text, name="f", file="<kernel>", decorated=True, **options):
    """A kernel from text."""
    text = HEAD + textwrap.dedent(text)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    meant = {}
    exec(compile(text, file, "exec"), meant)
    return kk.kernel(meant[name], **options) if decorated else meant[name]


def problems(text, file="<kernel>"):
    with pytest.raises(kk.KernelError) as caught:
        made(text, file=file).mlir()
    return caught.value


REFUSED = [
    ("x[0] = y", "there is no y", 12),
    ("x[0, 1] = 1.0", "an array of 1 dimensions has 2 subscripts", 5),
    ("(x + 1.0)[0] = 1.0", "only elements of parameters and of local arrays can be assigned, not of an expression", 5),
    ("x[x > 0.0] = 1.0", "an array does not choose elements here; use kk.where, or a loop with if", 5),
    ("x[..., 0, ...] = 1.0", "... stands once in a subscript", 5),
    ("x[0] = [v for v in (1, 2)]", "a list comprehension is not supported in kernels; fill an array in a loop", 12),
    ("x[0] = (lambda: 1)()", "lambda is not supported in kernels; write a function with def and call it", 13),
    ("x[0] = 1j", "1j is not a real number", 5),
    ("x[0] = x[0] * 1j", "a complex number is not a real one; take its .real, .imag or abs()", 5),
    ("x[0] = 1.0 if x[0] * 1j < 2 else 0.0", "complex numbers have no order", 19),
    ("x[0] = abs(np.tan(x[0] * 1j))", "tan of complex numbers is not supported; there are abs, exp, conj, real, imag, angle", 16),
    ("x[0] = abs((x[0] * 1j) // 2)", "complex numbers have no quotient and rest of integers", 16),
    ("x[0] = abs(kk.prod(x[i] * 1j for i in kk.range(N)))", "kk.prod of complex numbers is not supported; there is kk.sum", 16),
    ("x[0] = sum(x)", "Python's sum is not supported; use kk.sum", 12),
    ("x[0] = np.median(x)", "median is not supported in kernels", 12),
    ("x[0] = math.gamma(x[1])", "gamma is not supported in kernels", 12),
    ("x[0] = open('f')", "open is not supported in kernels", 12),
    ("x[0] = kk.zeros(3, kk.f64) @ x[0]", "@ takes vectors and matrices", 12),
    ("for i in range(len(x)):\n        x[i] = 0.0", "Python's range takes what is known when the kernel is read; use kk.range", 14),
    ("for i in x:\n        pass", "loops run over kk.range, kk.parallel, or what is known when the kernel is read, such as range(3)", 5),
    ("for i in kk.range(9):\n        break", "break is not supported in kernels; put the condition into a while", 9),
    ("for i in kk.range(9):\n        return", "return inside a loop is not supported in kernels; return outside of loops only", 9),
    ("for i in kk.range(0, 9, 0):\n        x[i] = 0.0", "the step of kk.range is 0", 5),
    ("for i in kk.range(9):\n        x[i - 1] = 0.0", "the position is negative in the first iteration; only constants count from the end", 9),
    ("try:\n        x[0] = 1.0\n    except ValueError:\n        pass", "try is not supported in kernels; check before the call", 5),
    ("with x:\n        pass", "with is not supported in kernels; leave it out", 5),
    ("import os", "import is not supported in kernels; import outside of the kernel", 5),
    ("global y", "global is not supported in kernels; pass it as an argument", 5),
    ("x[0] = x[0] & 1", "bits of floating-point numbers cannot be combined", 12),
    ("x[0] = 3 ** N", "integers take a power of 0 to 8, powers of two any; else convert with float(...)", 12),
    ("x[0] = kk.u8(300)", "300 does not fit u8", 12),
    ("x[0] = kk.u16(x[1]) + -1", "-1 does not fit u16", 12),
    ("x[0] = 1 // 0", "a constant cannot be computed: integer division or modulo by zero", 12),
    ("x[0] = 9 ** 9 ** 9", "a constant is too large", 12),
    ("x[0]", "an expression without effect", 5),
    ("return x", "a kernel returns nothing; write results into arrays", 5),
    ("x[0] = x.mean()", "arrays have shape, ndim, size, T, real and imag here, not mean", 12),
    ("x[0] = not x", "not of an array has no meaning; use ~", 12),
    ("x[::-1] = 0.0", "only elements of parameters and of local arrays can be assigned, not of an expression, a transposed or a reversed", 5),
    ("x[::0] = 0.0", "the step of a slice is 0", 5),
    ("for i in kk.parallel(3):\n        t = x + 1.0", "iterations of kk.parallel cannot share an array", 9),
    ("for i in kk.range(3):\n        t = kk.zeros(i, kk.f64)", "how large this array may become cannot be seen", 13),
    ("x[0] = 2 if x else 3", "the condition is an array; use kk.where", 12),
    ("for i in kk.parallel(*x):\n        x[i] = 0.0", "* takes the shape of an array, or a tuple that is known when the kernel is read", 5),
    ("x[:] = x[:-1] + x", "the shapes of the arrays differ", 12),
    ("x[0] = kk.sort(x)", "ml2kokkos has no sort", 12),
    ("x[:] = kk.scan(x[0])", "kk.scan takes an array", 5),
    ("x[:] = kk.scan(x, how='mean')", "kk.scan takes an array", 5),
    ("x[:] = kk.scan(x, axis=1)", "the array has no axis 1", 5),
    ("x[:] = kk.scan(x[i] for i in kk.range(3) if i)", "kk.scan takes one loop over kk.range, without a condition", 5),
    ("x[0] = kk.einsum(x, x)", "kk.einsum takes subscripts and arrays", 12),
    ("x[0] = kk.einsum('ij->', x)", '"ij" has 2 subscripts, the array 1 dimensions', 12),
    ("x[:] = kk.einsum('i->k', x)", '"k" has a letter twice, or one that no operand has', 12),
]


@pytest.mark.parametrize("statement, text, column", REFUSED, ids=[text for _, text, _ in REFUSED])
def test_refused(statement, text, column):
    error = problems(f"def f(x: kk.f64[N]):\n    {statement}\n")
    assert len(error.problems) == 1
    file, line, found_column, found = error.problems[0]
    assert file == "<kernel>" and text in found
    assert (line, found_column) == (HEAD.count("\n") + 2 + ("\n" in statement and column in (9, 13)), column)


def test_every_problem_at_once_with_its_line():
    error = problems("""\
        def f(x: kk.f64[N], y: kk.f64[M]):
            a = x[0] + missing
            y[0] = a
            for i in kk.range(N):
                x[i] = unknown(i)
                y[i, i] = 0.0
        """)
    assert str(error) == textwrap.dedent("""\
        <kernel>:4:16: error: there is no missing
                a = x[0] + missing
                           ^
        <kernel>:7:16: error: there is no unknown
                    x[i] = unknown(i)
                           ^
        <kernel>:8:9: error: an array of 1 dimensions has 2 subscripts
                    y[i, i] = 0.0
                    ^""")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


CONFLICTS = [("x[0] = 1.0 * i", "write the same element of x: i does not choose it; use kk.range or kk.atomic_add"),
             ("x[i] = x[i + 1]", "write and read the same element of x: those of i and i "),
             ("x[i] = 1.0\n        x[i + 2] = 2.0", "write the same element of x: those of i and i "),
             ("x[3] += 1.0", "the same element of x: i does not choose it")]


@pytest.mark.parametrize("statement, text", CONFLICTS)
def test_conflicts_of_parallel_loops(statement, text):
    error = problems(f"def f(x: kk.f64[N]):\n    for i in kk.parallel(N - 2):\n        {statement}\n")
    assert text in error.problems[0][3] and error.problems[0][1] in (5, 6)


def test_no_conflict_where_subscripts_do_not_prove_one():
    made("""\
        def f(x: kk.f64[N, 2], p: kk.i64[N]):
            for i in kk.parallel(N):
                x[p[i], 0] = x[i, 1]
                if i == 0:
                    x[0, 0] = 1.0
                t = kk.zeros(2, kk.f64)
                t[0] = 1.0
        """).mlir()


def test_values_of_other_iterations():
    error = problems("def f(x: kk.f64[N]):\n    s = 0.0\n    for i in kk.parallel(N):\n        s += x[i]\n    x[0] = s\n")
    assert "iterations of kk.parallel cannot hand on s; use kk.sum and its like, or kk.range" in error.problems[0][3]


def test_names_without_value():
    error = problems("def f(x: kk.f64[N]):\n    if x[0] > 0.0:\n        a = 1.0\n    x[1] = a\n    x[2] = b\n    b = 1.0\n")
    assert [problem[3] for problem in error.problems] == ["a may have no value here", "b has no value yet"]


def test_functions_inside():
    error = problems("""\
def f(x: kk.f64[N]):
    x[0] = late(1.0)
    def late(v):
        return unknown * v
    def again(v):
        return again(v)
    x[1] = late(1.0)
    x[2] = again(1.0)
    x[3] = late(1.0, 2.0)
    @kk.kernel
    def decorated(v):
        return v
    def defaulted(v, by=x):
        return v
    x[:] = (1.0, 2.0)
""")
    assert [problem[3] for problem in error.problems] == [
        "late has no value yet", "there is no unknown", "functions call each other too deeply; recursion is not supported",
        "late: too many positional arguments", "functions inside of a kernel have no decorators",
        "parameters of a function inside have constants as defaults",
        "a tuple of numbers is assigned to as many elements along one dimension of known size"]


def test_wrong_annotations():
    with pytest.raises(kk.KernelError, match="the annotation of x is wrong: 'tensor' is no type of a kernel"):
        made("def f(x: 'repr(\"tensor\")[1:-1]'):\n    pass\n")


def test_the_translator_names_the_line_of_python():
    kernel = made("""\
        def f(x: kk.f64[N], n: kk.i64[1]):
            for i in kk.range(n[0]):
                x[i] = 1.0
        """, options=["--graph"])
    with pytest.raises(kk.KernelError) as caught:
        kernel.cpp()
    assert caught.value.problems[0][:2] == ("<kernel>", 4)


# --- Arguments --------------------------------------------------------------------------------------------------------

def test_wrong_arguments():
    kernel = made("def f(x: kk.f64[N], y):\n    x[0] = y[0]\n")
    with pytest.raises(TypeError, match="f takes 2 arguments"):
        kernel(np.zeros(3))
    with pytest.raises(TypeError, match=r"f: y has elements of the type timedelta64\[s\], which kernels do not have"):
        kernel(np.zeros(3), np.zeros(3, "timedelta64[s]"))


# --- Hostile text -----------------------------------------------------------------------------------------------------

HOSTILE = """\
def f(x: kk.f64[N]):
    for i in kk.range(len("*/ #include </etc/passwd> \\\\\\n \\x1b[31m ??/ \\u202e \\" // ") if True else 0):
        x[i] = 1.0
    for \u03b1\u03b2 in kk.range(N):
        int_ = x[\u03b1\u03b2]
        class_ = int_ * 2.0
        x[\u03b1\u03b2] = class_
"""


def test_no_text_becomes_code():
    kernel = made(HOSTILE, file='<kernel\x1b[31m"); system("ls">')
    source = kernel.cpp()
    assert "\x1b" not in source and "\u202e" not in source and "system(" not in source
    assert all("#include <c" in line or "#include <s" in line or "#include <t" in line or '#include "f.hpp"' in line
               for line in source.splitlines() if line.startswith("#include"))
    comments = [line for line in source.splitlines() if "passwd" in line]
    assert comments and all(line.lstrip().startswith("//") and not line.endswith("\\") for line in comments)
    assert '"' not in kernel.mlir().split("loc(\"")[1].split("\")")[0]


def test_the_printed_text_has_no_paths_and_no_line_numbers():
    kernel = made("def f(x: kk.f64[N]):\n    for i in kk.range(N):\n        x[i] = 1.0\n", file="/secret/place/kernel.py")
    assert "secret" not in kernel.mlir() + kernel.cpp() and "// --- x: for i in kk.range(N):" in kernel.cpp()
