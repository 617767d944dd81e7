"""Kernels in Python: their values against the same functions run by Python, their texts, and what is refused."""

import linecache

import kernels as own
import ml2kokkos as kk
import numpy as np
import pytest

AT_ONCE = 40 # in one file of C++: for all 91 gcc takes 249 s and 5 GiB, for three parts together 133 s


def together(kernels, name, **options):
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
    return kk.kernel(meant[name], **options)


def copied(arguments):
    return [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]


def arguments_of(cases, seed):
    random = np.random.default_rng(seed)
    return [[make(random) for make in makers] for _, makers in cases]


def compare(name, found, expected, old):
    assert len(found) == len(expected)
    for place, (mine, theirs) in enumerate(zip(found, expected)):
        if isinstance(theirs, np.ndarray):
            tolerance = {"float64": 1e-12, "float32": 2e-6, "complex128": 1e-12, "complex64": 2e-6}.get(theirs.dtype.name, 0)
            tolerance = 1e-6 if name == "networks" else tolerance # computes in float, with functions of its own
            is_single = theirs.dtype.name in ("float32", "complex64") and theirs.size # sums of large terms may be small
            around = tolerance * max(1.0, float(np.nanmax(np.abs(theirs)))) if is_single else tolerance
            np.testing.assert_allclose(mine.astype(theirs.dtype), theirs, tolerance, around, err_msg=f"{name}, argument {place}")
    assert name == "early" or any(not np.array_equal(mine, theirs) for mine, theirs in zip(found, old)), f"{name} changes nothing"


@pytest.fixture(scope="module")
def results(cache):
    """By kernel: arguments before, after, and after Python."""
    cases = own.ALL
    arguments = arguments_of(cases, 1)
    arguments[[kernel.name for kernel, _ in cases].index("csr_product")][0][:] = [0, 3, 3, 9, 14, 20]
    before, expected = [copied(one) for one in arguments], [copied(one) for one in arguments]
    for first in range(0, len(cases), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        together([kernel for kernel, _ in cases[part]], f"kernels_{first}")(*[value for one in arguments[part] for value in one])
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
def every(x: kk.f64[:], step: int):
    for i in kk.range(0, len(x), step):
        x[i] = 1.0


def test_steps_of_a_call(cache):
    x = np.zeros(7)
    every(x, 3)
    np.testing.assert_array_equal(x, [1, 0, 0, 1, 0, 0, 1])
    for step in (0, -1):
        with pytest.raises(ValueError, match="the step of kk.range has to be above zero"):
            every(x, step)


@kk.kernel
def halved(x, y):
    y[:] = x[::2]


def test_lengths_of_slices(cache):
    x, y = np.arange(7.0), np.zeros(4)
    halved(x, y)
    np.testing.assert_array_equal(y, x[::2])
    with pytest.raises(ValueError, match="the shapes of the arrays differ"):
        halved(np.zeros(9), y)


@kk.kernel
def moved(x: kk.f64[own.N]):
    x[:-2:2] = x[2::2] * 2.0
    x[1:] = x[:-1] + 1.0


def test_slices_of_short_arrays(cache):
    for extent in (0, 3, 1, 2, 7, 0): # the room of the copies is made anew, or is part of a larger one
        x = np.arange(float(extent))
        expected = x.copy()
        moved(x)
        moved.python(expected)
        np.testing.assert_array_equal(x, expected)


@kk.kernel
def saxpy_once(a: kk.f32, x: kk.f32[own.N], y: kk.f32[own.N]):
    for i in kk.range(own.N):
        y[i] = a * x[i] + y[i]


# --- Texts ------------------------------------------------------------------------------------------------------------

def test_what_is_printed():
    source = saxpy_once.cpp()
    assert "KOKKOS_LAMBDA(int i) { y(i) = a * x(i) + y(i); }" in source
    assert "// --- y: for i in kk.range(own.N):" in source


@kk.kernel
def spread(x: kk.f64[own.N, own.M], y: kk.f64[own.N, own.M]):
    mean = kk.sum(x, axis=0) / own.N
    y[:] = x - mean[None, :] * kk.max(x, axis=1)[:, None]


def test_sums_that_are_spread_are_computed_once():
    source = spread.cpp()
    assert "along.each(m, [&](int j) { y(i, j) = x(i, j) - mean(j) * largest; });" in source and "for (int k" not in source[source.index("// ==== Layers"):]


@kk.kernel
def blurred(image: kk.f32[:, :], weight: kk.f32[3], out: kk.f32[own.N, own.M]):
    for i, j in kk.parallel(own.N, own.M):
        out[i, j] = 0.0
        for r in range(3):
            out[i, j] += weight[r] * image[i + r, j]


def test_elements_that_are_stored_again_stay_in_registers():
    text = blurred.mlir()
    assert text.count("memref.store") == 1 and "memref.load %out" not in text
    assert text.index("memref.store") > text.rindex("memref.load")


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


@kk.kernel
def wide(image: kk.f32[:, :], weight: kk.f32[3, 3, 3], out: kk.f32[3, own.N, own.M]):
    for i, j in kk.parallel(own.N, own.M):
        for c in range(3):
            total = kk.f32(0.0)
            for r in range(3):
                for s in range(3):
                    total += weight[c, r, s] * image[i + r, j + s]
            out[c, i, j] = total


def test_large_bodies_are_vectorized(tmp_path):
    """A body of 27 products is inlined into the vector loop instead of called for each element."""
    import subprocess

    from ml2kokkos.building import find_kokkos

    wide.write(tmp_path / "wide.cpp")
    include = find_kokkos().parents[2] / "include"
    command = ["g++", "-std=c++17", "-O3", "-march=x86-64-v3", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", f"-I{include}",
               f"-I{include}/kokkos", "-fopt-info-vec-optimized", "-c", "wide.cpp", "-o", "wide.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "optimized: loop vectorized" in done.stderr, wide.cpp()


# --- Networks ---------------------------------------------------------------------------------------------------------

LAYERS = """<ir_version: 8, opset_import: ["" : 13]>
{name} (float[rows, 2] x) => (float[rows, 2] y) <float[2, 2] w = {{1.0, 2.0, -3.0, 4.0}}, float[2] b = {{0.5, -0.5}}> {{ {nodes} }}"""
NETWORKS = {
    "gemm": "h = Gemm <transB = 1> (x, w, b) y = Relu(h)",
    "activations": "h = MatMul(x, w) e = Elu <alpha = 0.5> (h) l = LeakyRelu(e) s = Sigmoid(l) p = Softplus(s) f = Erf(p) y = Sub(f, b)",
    "residual": "h = Mul(x, b) t = Tanh(h) d = Div(t, w1) y = Add(d, x)",
}


def network(folder, name, nodes):
    import onnx

    model = onnx.parser.parse_model(LAYERS.format(name=name, nodes=nodes))
    if "w1" in nodes:
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([[2.0]], np.float32), "w1"))
    onnx.save(model, str(folder / f"{name}.onnx"))
    return folder / f"{name}.onnx"


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_are_onnxruntimes(tmp_path, name):
    import onnxruntime

    path = network(tmp_path, name, NETWORKS[name])
    net, x = kk.model(path), np.random.default_rng(1).standard_normal((5, 2)).astype(np.float32)
    wanted = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    np.testing.assert_allclose(net(x), wanted, rtol=1e-5, atol=1e-6)
    assert repr(net) == f"<ml2kokkos.model {name}: 2 -> 2>"


def test_networks_in_a_kernel(cache, tmp_path):
    nets = [kk.model(network(tmp_path, name, nodes)) for name, nodes in NETWORKS.items()]

    @kk.kernel
    def layers(x: kk.f32["n", 2], y: kk.f32["n", 2]):
        for i in kk.range(len(x)):
            for net in nets:
                y[i] += net(x[i])

    x, y = np.random.default_rng(1).standard_normal((50, 2)).astype(np.float32), np.zeros((50, 2), np.float32)
    layers(x, y)
    np.testing.assert_allclose(y, sum(net(x) for net in nets), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("nodes, text", [("y = Einsum <equation = \"ij->ij\"> (x)", "kernels do not call Einsum; they have Gemm"),
                                         ("y = MatMul(w, x)", "products of a point and a constant matrix")])
def test_networks_that_are_refused(tmp_path, nodes, text):
    with pytest.raises(kk.Error, match=text):
        kk.model(network(tmp_path, "refused", nodes))


def test_points_of_another_size(tmp_path):
    net = kk.model(network(tmp_path, "gemm", NETWORKS["gemm"]))

    @kk.kernel
    def wrong(x: kk.f64[3]):
        x[0] = net([x[0], x[1], x[2]])[0]

    with pytest.raises(kk.KernelError, match="gemm takes a point of 2 values"):
        wrong.mlir()


def test_names_of_unpacked_values():
    @kk.kernel
    def ends(x: kk.f64["n"], tri: kk.i64["m", 2], out: kk.f64["m"]):
        for e in kk.range(tri.shape[0]):
            first, last = tri[e, 0], tri[e, 1]
            left, right = x[first] + 1.0, x[last] * 2.0
            out[e] = left * right + left / right

    text = ends.cpp()
    for line in ("double const left = x(int(tri(e, 0))) + 1.0;", "double const right = 2.0 * x(int(tri(e, 1)));",
                 "out(e) = left * right + left / right;"):
        assert line in text


def test_names_of_choices():
    @kk.kernel
    def upwind(u: kk.f64["n"], speed: kk.f64["n"], out: kk.f64["n"]):
        for i in kk.range(1, u.shape[0] - 1):
            slope = u[i] - u[i - 1] if speed[i] > 0.0 else u[i + 1] - u[i]
            out[i] = slope * speed[i] + slope

    assert "double const slope = speed_i > 0.0 ? u_i - u_im1 : u_ip1 - u_i;" in upwind.cpp()


def test_conditions_of_loops():
    @kk.kernel
    def sorted_rows(x: kk.f64["n", 8]):
        for r in kk.parallel(x.shape[0]):
            for i in kk.range(1, 8):
                key = x[r, i]
                j = i - 1
                while j >= 0 and x[r, j] > key:
                    x[r, j + 1] = x[r, j]
                    j -= 1
                x[r, j + 1] = key

    assert "while (j >= 0 && x(r, int(j)) > key) {" in sorted_rows.cpp()


def test_names_in_strips():
    @kk.kernel
    def decay(y: kk.f64["n", 2], rate: kk.f64, steps: kk.index):
        for i in kk.parallel(y.shape[0]):
            u = y[i, 0]
            for _ in kk.range(steps):
                u = u + rate * u * (1.0 - u)
            y[i, 1] = u

    assert "Strip<16>::Of<double> u(strip);" in decay.cpp()


class Tensor:
    """An array whose type is another package's own."""

    class Type:
        def __str__(self):
            return "torch.float64"

    def __init__(self, held):
        self.held, self.shape, self.dtype = held, held.shape, self.Type()

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()


def test_types_of_other_packages(cache):
    @kk.kernel
    def twice(x):
        for i in kk.range(len(x)):
            x[i] = 2.0 * x[i]

    x = np.arange(5.0)
    twice(Tensor(x))
    np.testing.assert_array_equal(x, 2 * np.arange(5.0))
