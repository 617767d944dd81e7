"""Functions of C in kernels: their values in built kernels and under Python, and what is refused."""

import ml2kokkos as kk
import numpy as np
import pytest
from test_kernels import copied

N, M = kk.sizes("N M")
SOURCE = """
#include <math.h>
#include <stdint.h>
double upwind(double left, double right) { return left > 0.0 ? left * left : sqrt(fabs(right)); }
float halved(float x, int32_t by) { return x / (float)by; }
double row_sum(double const *x, int64_t count, int64_t stride) {
  double total = 0.0;
  for (int64_t i = 0; i < count; ++i)
    total += x[i * stride];
  return total;
}
int64_t add_table(double *x, int64_t count, int64_t step, double const *t, int64_t rows, int64_t columns, int64_t row_step, int64_t step_in_row) {
  for (int64_t i = 0; i < count; ++i)
    x[i * step] += t[i % rows * row_step + i % columns * step_in_row];
  return count;
}
void scale(float *x, int64_t rows, int64_t columns, int64_t row_step, int64_t step_in_row, float by) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      x[i * row_step + j * step_in_row] *= by;
}
"""


@pytest.fixture(scope="module")
def functions(cache, tmp_path_factory):
    path = tmp_path_factory.mktemp("c") / "functions.c"
    path.write_text(SOURCE)
    return {name: kk.extern(declaration, link=path) for name, declaration in {
        "upwind": "double upwind(double left, double right)", "halved": "float halved(float, int)", "row_sum": "double row_sum(double const x[:])",
        "add_table": "int64_t add_table(double x[:], const double t[:, :])", "scale": "void scale(float x[:, :], float by);"}.items()}


def compare(kernel, *arguments):
    mine, theirs = copied(arguments), copied(arguments)
    kernel(*mine)
    kernel.python(*theirs)
    for found, expected, before in zip(mine, theirs, arguments):
        np.testing.assert_allclose(found, expected, 1e-13, 1e-13)
    assert any(not np.array_equal(found, before) for found, before in zip(mine, arguments))


def test_values(functions):
    upwind, halved, row_sum, add_table, scale = functions.values()

    @kk.kernel
    def calls(u: kk.f64[N, M], new: kk.f64[N, M], sums: kk.f64[N], columns: kk.f64[M], x: kk.f32[N, M], counts: kk.i64[N]):
        for i in kk.range(N):
            for j in kk.range(1, M):
                flux = upwind(u[i, j - 1] - 0.5, u[i, j])
                new[i, j] = u[i, j] + 0.1 * flux if u[i, j] > 0.25 else flux
        for i in kk.range(N):
            sums[i] = row_sum(u[i]) + row_sum(u[i, 1::2])
            w = kk.zeros((2, 3), kk.f64)
            for k in kk.range(3):
                w[1, k] = u[i, k]
            counts[i] = add_table(new[i, 1:], w)
        for j in kk.range(M):
            columns[j] = row_sum(u[:, j])
        scale(x[1:-1, ::3], 0.5)
        scale(x, 2.0)
        x[:] = halved(x, 3)
        sums[0] += row_sum(columns) + upwind(sums[1], 2.0)

    random = np.random.default_rng(1)
    compare(calls, random.random((7, 11)), np.zeros((7, 11)), np.zeros(7), np.zeros(11), random.random((7, 11), np.float32), np.zeros(7, np.int64))
    explained = calls.explain(*[])
    assert explained.count("parallel: no iteration touches what another one writes") >= 3, explained


def test_order_is_kept(functions):
    row_sum, add_table = functions["row_sum"], functions["add_table"]

    @kk.kernel
    def ordered(a: kk.f64[N, M], t: kk.f64[2, 2]):
        for i in kk.range(1, N):
            a[i, 0] += row_sum(a[i - 1])
            count = add_table(a[i], t)
            a[i, 1] += count

    random = np.random.default_rng(2)
    compare(ordered, random.random((9, 5)), random.random((2, 2)))
    assert "sequential: iterations may" in ordered.explain()


def test_parts_have_to_lie_inside(functions):
    row_sum = functions["row_sum"]

    @kk.kernel
    def beyond(a: kk.f64[:], out: kk.f64["n"], count: kk.index):
        for i in kk.range(len(out)):
            out[i] = row_sum(a[i:i + count])

    compare(beyond, np.random.default_rng(3).random(8), np.zeros(5), 4)
    with pytest.raises(ValueError, match="a_size_0 \\+ 1 has to be at least n \\+ count"):
        beyond(np.zeros(7), np.zeros(5), 4)


def test_the_linked_file_is_part_of_the_hash(cache, tmp_path):
    path = tmp_path / "one.c"

    def result(text):
        path.write_text(text)
        own = kk.extern("double one(double)", link=path)

        @kk.kernel
        def with_one(x: kk.f64[1]):
            x[0] = own(x[0])

        x = np.ones(1)
        with_one(x)
        return x[0], own(1.0)

    assert result("double one(double x) { return x + 1.0; }") == (2.0, 2.0)
    assert result("double one(double x) { return x + 20.0; }") == (21.0, 21.0)


DECLARATIONS = ["double f", "double f(double", "char f(double)", "double f(double*)", "double f(double x[3])", "double f g(double)", "double f(long)",
                "double system(\"ls\")", "double f(double); double g(double)", "double f(double)\nint x", "double 2f(double)", "double fé(double)",
                "double f(double x[:)", "f(double)", "double f(unsigned int)", "double *f(double)"]


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_wrong_declarations(declaration):
    with pytest.raises(kk.Error, match="kk.extern"):
        kk.extern(declaration)


f, g = kk.extern("double f(double)"), kk.extern("void g(double x[:], float const y[:])")
again = kk.extern("double f(float)")
REFUSED = [("x[0] = f()", "f takes 1 arguments, not 0"), ("x[0] = f(x=1.0)", "f takes no keywords"),
           ("x[0] = f(x[0]) + again(x[0])", "f is declared in two ways"), ("g(x)", "g takes 2 arguments, not 1"),
           ("g(x, x)", "g takes an array of f32 with 1 dimensions, or a part of one"), ("g(x[0], y)", "g takes an array of f64 with 1 dimensions"),
           ("g(x + 1.0, y)", "g takes an array of f64"), ("x[0] = f(1j)", "1j is not a real number"), ("f(x[0])", "an expression without effect"),
           ("for i in kk.parallel(N):\n        g(x, y)", "iterations of kk.parallel write the same element of x"),
           ("x[0] = h(x[0])", "there is no h")]


@pytest.mark.parametrize("statement, text", REFUSED, ids=[text for _, text in REFUSED])
def test_refused(statement, text):
    import linecache

    source = f"def wrong(x: kk.f64[N], y: kk.f32[N]):\n    {statement}\n"
    linecache.cache["<extern>"] = (len(source), None, source.splitlines(True), "<extern>")
    meant = {"kk": kk, "N": N, "f": f, "g": g, "again": again}
    exec(compile(source, "<extern>", "exec"), meant)
    with pytest.raises(kk.KernelError) as caught:
        kk.kernel(meant["wrong"]).mlir()
    assert [text in problem[3] for problem in caught.value.problems] == [True] and caught.value.problems[0][0] == "<extern>"


@pytest.mark.parametrize("name, text", [("exit", "is declared by the C library"), ("class", "is a word of C\\+\\+"), ("__f", "belongs to the compiler")])
def test_names_that_the_translator_refuses(name, text):
    own = kk.extern(f"double {name}(double)")

    @kk.kernel
    def named(x: kk.f64[N]):
        x[0] = own(x[0])

    with pytest.raises(kk.KernelError, match=f'a function of C cannot be called "{name}": it {text}') as caught:
        named.cpp()
    assert caught.value.problems[0][0] == __file__


def test_a_kernel_of_the_same_name():
    @kk.kernel
    def f(x: kk.f64[N]):
        x[0] = outer(x[0])

    outer = kk.extern("double f(double)")
    with pytest.raises(kk.KernelError, match="the kernel and a function of C are both called f"):
        f.mlir()


def test_devices():
    @kk.kernel
    def on_devices(x: kk.f64[N]):
        for i in kk.range(N):
            x[i] = own(x[i])

    own = kk.extern("double f(double)", device=True)
    assert "KOKKOS_FUNCTION double f(double a);" in on_devices.cpp() and "declared for a host" not in on_devices.cpp()
    own = f
    assert "\ndouble f(double a);" in on_devices.cpp() and '"f() is declared for a host"' in on_devices.cpp()


def test_nothing_to_link():
    with pytest.raises(kk.Error, match="f cannot be called by Python: kk.extern was given nothing to link"):
        f(1.0)
    with pytest.raises(FileNotFoundError, match="there is no .*missing.c"):
        kk.extern("double f(double)", link="missing.c")
