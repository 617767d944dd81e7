"""Kernels in Python: their values against the same functions run by Python, their texts, and what is refused."""

import linecache

import kernels as own
import ml2kokkos as kk
import numpy as np
import pytest


def together(kernels, name):
    """One kernel that calls many, so that they are compiled at once."""
    count = iter(range(1000))
    calls = [(f"f{place}", [f"a{next(count)}" for _ in kernel.parameters]) for place, kernel in enumerate(kernels)]
    lines = [f"def {name}({', '.join(name for _, names in calls for name in names)}):"]
    lines += [f"    {function}({', '.join(names)})" for function, names in calls]
    text = "\n".join(lines) + "\n"
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    meant = {f"f{place}": kernel for place, kernel in enumerate(kernels)}
    exec(compile(text, file, "exec"), meant)
    return kk.kernel(meant[name])


def copied(arguments):
    return [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]


def arguments_of(cases, seed):
    random = np.random.default_rng(seed)
    return [[make(random) for make in makers] for _, makers in cases]


def compare(name, found, expected, old):
    assert len(found) == len(expected)
    for place, (mine, theirs) in enumerate(zip(found, expected)):
        if isinstance(theirs, np.ndarray):
            tolerance = {"float64": 1e-12, "float32": 2e-6}.get(theirs.dtype.name, 0)
            np.testing.assert_allclose(mine.astype(theirs.dtype), theirs, tolerance, tolerance, err_msg=f"{name}, argument {place}")
    assert name == "early" or any(not np.array_equal(mine, theirs) for mine, theirs in zip(found, old)), f"{name} changes nothing"


@pytest.fixture(scope="module")
def results(cache):
    """By kernel: arguments before, after, and after Python."""
    cases = own.ALL
    arguments = arguments_of(cases, 1)
    arguments[[kernel.name for kernel, _ in cases].index("csr_product")][0][:] = [0, 3, 3, 9, 14, 20]
    before, expected = [copied(one) for one in arguments], [copied(one) for one in arguments]
    together([kernel for kernel, _ in cases], "all_kernels")(*[value for one in arguments for value in one])
    for (kernel, _), one in zip(cases, expected):
        kernel.python(*one)
    return {kernel.name: values for (kernel, _), *values in zip(cases, arguments, expected, before)}


@pytest.mark.parametrize("name", [kernel.name for kernel, _ in own.ALL])
def test_values(results, name):
    compare(name, *results[name])


# --- Calls ------------------------------------------------------------------------------------------------------------

def scaled(factor):
    table = np.array([1.0, 2.0, 3.0])

    @kk.kernel
    def scale(x):
        for i in kk.range(len(x)):
            x[i] = x[i] * factor + table[i % 3]

    return scale, table


def test_closures_and_kernels_without_annotations(cache, monkeypatch):
    kernel, table = scaled(2.0)
    x = np.arange(5.0)
    kernel(x)
    np.testing.assert_array_equal(x, [1, 4, 7, 7, 10])
    table[0] = -1.0 # arrays are read at the call
    kernel(x)
    np.testing.assert_array_equal(x, [1, 10, 17, 13, 22])
    monkeypatch.setattr("ml2kokkos.compiler.build", None)
    same, _ = scaled(2.0)
    same(x) # the same text is built already
    monkeypatch.setattr("ml2kokkos.compiler.compile", None)
    same(x)
    with pytest.raises(Exception):
        scaled(3.0)[0](x)


def test_types_follow_the_first_call(cache):
    kernel, _ = scaled(2.0)
    assert "memref<?xf64>" in kernel.mlir(np.zeros(3)) and "memref<?xi32>" in kernel.mlir(np.zeros(3, np.int32))
    with pytest.raises(TypeError, match="types"):
        kernel.mlir()


def test_annotations_that_are_text():
    text = "import ml2kokkos as kk\ndef f(x: 'kk.f32[n, 3]', s: 'float'):\n    for i in kk.range(n):\n        x[i, 0] = s\n"
    linecache.cache["<text>"] = (len(text), None, text.splitlines(True), "<text>")
    meant = {}
    exec(compile(text, "<text>", "exec"), meant)
    kernel = kk.kernel(meant["f"])
    assert "memref<?x3xf32>" in kernel.mlir() and 'nest.dims = ["n", ""]' in kernel.mlir()
    x = np.zeros((4, 3), np.float32)
    kernel.python(x, 2.0)
    assert (x[:, 0] == 2.0).all()


@kk.kernel
def half(x: kk.f16[:], y: kk.f16[:]):
    y[:] = x * 0.5 + 1.0


def test_half_precision(cache):
    x, y = np.arange(5).astype(np.float16), np.zeros(5, np.float16)
    half(x, y)
    np.testing.assert_array_equal(y, x * np.float16(0.5) + np.float16(1.0))


def test_arguments_of_a_call(cache):
    with pytest.raises(TypeError, match="float64, the model takes float32"):
        saxpy_once(2.0, np.zeros(5), np.zeros(5, np.float32))
    with pytest.raises(ValueError, match="n = 5"):
        saxpy_once(2.0, np.zeros(5, np.float32), np.zeros(6, np.float32))
    x = np.arange(10, dtype=np.float32)[::2] # read by a copy
    y = np.ones(5, np.float32)
    saxpy_once(2.0, x, y)
    np.testing.assert_array_equal(y, 2 * x + 1)
    with pytest.raises(ValueError, match="not in C order"):
        saxpy_once(2.0, y, x)
    with pytest.raises(ValueError, match="shares memory"):
        saxpy_once(2.0, y, y)


@kk.kernel
def saxpy_once(a: kk.f32, x: kk.f32[own.N], y: kk.f32[own.N]):
    for i in kk.range(own.N):
        y[i] = a * x[i] + y[i]


# --- Texts ------------------------------------------------------------------------------------------------------------

def test_what_is_printed():
    source = saxpy_once.cpp()
    assert "KOKKOS_LAMBDA(int i) { y(i) = a * x(i) + y(i); }" in source
    assert "// --- y: for i in kk.range(own.N):" in source


def test_explain():
    kernels = {kernel.name: kernel for kernel, _ in own.ALL}
    line = kernels["nbody"].source.first + 2
    assert kernels["nbody"].explain() == f"{line}: for i in kk.parallel(N):  parallel"
    assert "parallel: no iteration touches what another one writes" in kernels["heat"].explain()
    assert "sequential: " in kernels["prefix"].explain(np.zeros(3))


def test_write(tmp_path):
    saxpy_once.write(tmp_path / "k.cpp")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k.cpp", "k.hpp", "k.mlir"]
    from ml2kokkos.tool import find_tool, run_tool

    run_tool(find_tool(), tmp_path / "k.mlir", "-o", tmp_path / "k.cpp", "--check")
    before = (tmp_path / "k.cpp").read_bytes()
    saxpy_once.write(tmp_path / "k.cpp")
    assert (tmp_path / "k.cpp").read_bytes() == before
