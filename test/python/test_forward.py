"""Calls: what is taken in place, what is copied, what is refused, and that results are onnxruntime's."""

import array
import ctypes
import gc
import threading

import ml2kokkos
import models as test_models
import numpy as np
import onnxruntime
import pytest
from ml2kokkos.arrays import Face


def session(path):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@pytest.fixture(scope="session")
def mlp_reference(paths):
    running = session(paths["mlp_batch"])
    return lambda x: running.run(None, {"x": np.ascontiguousarray(x)})[0]


def normal(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def close(result, expected):
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


# --- Values -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("batch", [1, 7, 1000, 3, 1])
def test_batches(mlp, mlp_reference, batch):
    x = normal(batch, 24, seed=batch)
    result = mlp.forward(x)
    assert result.shape == (batch, 5) and result.dtype == np.float32
    close(result, mlp_reference(x))


@pytest.fixture(scope="session")
def network_results(modules, paths):
    module = modules["networks"]
    random = np.random.default_rng(7)
    inputs = [random.integers(0, 2, value.shape).astype(value.dtype) if np.dtype(value.dtype).kind in "iub"
              else np.asarray(random.standard_normal(value.shape)).astype(value.dtype) for value in module.inputs]
    expected = session(paths["networks"]).run(None, {value.name: given for value, given in zip(module.inputs, inputs)})
    return module.outputs, module.forward(*inputs), expected


@pytest.mark.parametrize("name", test_models.NETWORKS)
def test_networks(network_results, name):
    found = [(result, wanted) for value, result, wanted in zip(*network_results) if value.name.startswith(name + "_")]
    assert len(found) == len(test_models.network(name).graph.output)
    for result, wanted in found:
        assert result.shape == wanted.shape and result.dtype == wanted.dtype
        scale = max(1.0, float(np.abs(wanted).max()))
        np.testing.assert_allclose(result, wanted, rtol=0, atol=1e-4 * scale)


def kinds_inputs(n=5, m=3):
    random = np.random.default_rng(3)
    return {"values": normal(n, m), "places": random.integers(-9, 9, n), "points": random.standard_normal((n, 3)),
            "twice": np.zeros(2 * n, np.int64), "mask": random.integers(0, 2, n).astype(bool), "marks": np.array([0, 1, 1, 0, 0, 1], bool),
            "offset": np.array(-4, np.int32), "bytes": np.array([0, 1, 200, 255], np.uint8)}


KINDS = {"scaled": lambda x: x["values"] * np.float32(2), "twice": lambda x: np.concatenate([x["places"]] * 2),
         "across": lambda x: x["points"].T, "flipped": lambda x: ~x["mask"], "moved": lambda x: x["bytes"] + x["offset"],
         "positions": lambda x: np.stack(np.nonzero(x["marks"]))}


@pytest.mark.parametrize("output", KINDS)
@pytest.mark.parametrize("n", [5, 1, 300])
def test_kinds(kinds, output, n):
    inputs = kinds_inputs(n)
    result = kinds.forward(**inputs)[list(KINDS).index(output)]
    wanted = KINDS[output](inputs)
    assert result.dtype == wanted.dtype
    np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("marks", [[0] * 6, [1] * 6, [0, 0, 0, 0, 0, 1]])
def test_results_have_the_elements_that_count(kinds, marks):
    inputs = dict(kinds_inputs(), marks=np.array(marks, bool))
    np.testing.assert_array_equal(kinds.forward(**inputs)[-1], [np.flatnonzero(marks)])


def test_a_size_that_no_input_has(kinds):
    inputs = kinds_inputs()
    assert kinds.forward(**inputs)[1] is inputs["twice"]
    with pytest.raises(ValueError, match="kinds: the sizes of the arguments differ"):
        kinds.forward(**dict(inputs, twice=np.zeros(11, np.int64)))
    del inputs["twice"]
    with pytest.raises(ValueError, match='kinds: output "twice": its size .* does not follow from the inputs; give an array as twice='):
        kinds.forward(**inputs)


def test_updates_in_place(axpy):
    x, y = normal(100), normal(100, seed=2)
    wanted = np.float32(0.5) * x + y
    assert axpy.forward(0.5, x, y) is y
    np.testing.assert_allclose(y, wanted, rtol=1e-6)


def test_a_number_of_numpy(axpy):
    y = np.zeros(3, np.float32)
    axpy.forward(np.float32(2), np.ones(3, np.float32), y)
    assert y.tolist() == [2, 2, 2]


# --- In place ---------------------------------------------------------------------------------------------------------

def test_c_order_is_read_where_it_is(mlp, copies):
    mlp.forward(normal(7, 24))
    mlp.forward(normal(20, 24)[3:9]) # rows of a larger array
    assert copies == []


def test_read_only_inputs(mlp, copies, mlp_reference):
    x = normal(4, 24)
    x.flags.writeable = False
    close(mlp.forward(x), mlp_reference(x))
    assert copies == []


def test_results_into_a_given_array(mlp, mlp_reference):
    x, y = normal(6, 24), np.full((6, 5), np.nan, np.float32)
    assert mlp.forward(x, y=y) is y
    close(y, mlp_reference(x))


def test_results_into_rows_of_a_larger_array(mlp, mlp_reference):
    x, large = normal(2, 24), np.zeros((9, 5), np.float32)
    mlp.forward(x, y=large[4:6])
    close(large[4:6], mlp_reference(x))
    assert not large[:4].any() and not large[6:].any()


def test_results_are_new_arrays(mlp):
    x = normal(2, 24)
    first = mlp.forward(x)
    kept = first.copy()
    mlp.forward(-x)
    np.testing.assert_array_equal(first, kept)
    assert first.flags.owndata and first.flags.writeable and first.flags.c_contiguous


@pytest.mark.parametrize("n", [0])
def test_empty(mlp, kinds, axpy, n):
    assert mlp.forward(np.zeros((n, 24), np.float32)).shape == (n, 5)
    assert mlp.forward(normal(3, 24)).shape == (3, 5)
    scaled, twice, across, *_ = kinds.forward(**kinds_inputs(n))
    assert scaled.shape == (0, 3) and twice.shape == (0,) and across.shape == (3, 0)
    y = np.zeros(0, np.float32)
    assert axpy.forward(1.0, y.copy(), y) is y


# --- One copy ---------------------------------------------------------------------------------------------------------

def misaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    shifted = memory[1:].view(np.float32).reshape(x.shape)
    shifted[...] = x
    return shifted


STRIDES = {"fortran": np.asfortranarray, "reversed": lambda x: x[::-1, ::-1], "every other row": lambda x: np.repeat(x, 2, 0)[::2],
           "columns of a larger array": lambda x: np.pad(x, ((0, 0), (2, 3)))[:, 2:-3],
           "one row for all": lambda x: np.broadcast_to(x[0], x.shape), "misaligned": misaligned,
           "transposed": lambda x: x.T.copy().T}


@pytest.mark.parametrize("how", STRIDES)
def test_other_strides_are_copied_once(mlp, mlp_reference, copies, how):
    x = STRIDES[how](normal(8, 24))
    close(mlp.forward(x), mlp_reference(x))
    assert copies == [0]


# --- Other libraries' arrays ------------------------------------------------------------------------------------------

class Dlpack:
    def __init__(self, held, device=(1, 0)):
        self.held, self.device = held, device

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


class Interface:
    def __init__(self, held):
        self.held = held
        self.__array_interface__ = held.__array_interface__


OTHERS = {"DLPack": Dlpack, "__array_interface__": Interface, "memoryview": memoryview, "subclass": lambda x: x.view(np.recarray),
          "ctypes": lambda x: (ctypes.c_float * 24 * len(x)).from_buffer(x), "bytes of memory": lambda x: np.frombuffer(x, np.float32).reshape(x.shape),
          "memory map": lambda x: memoryview(x).cast("B").cast("f", x.shape)}


@pytest.mark.parametrize("kind", OTHERS)
def test_arrays_of_others(mlp, mlp_reference, kind):
    x = normal(5, 24)
    given = OTHERS[kind](x)
    close(mlp.forward(given), mlp_reference(x))
    x[:] = 1 # no copy was kept
    close(mlp.forward(given), mlp_reference(x))


def test_results_into_arrays_of_others(mlp, mlp_reference):
    x, y = normal(2, 24), np.zeros((2, 5), np.float32)
    mlp.forward(x, y=Dlpack(y))
    close(y, mlp_reference(x))


def test_array_module(axpy):
    y = array.array("f", [1, 2, 3])
    assert axpy.forward(2.0, array.array("f", [10, 10, 10]), y) is y
    assert y.tolist() == [21, 22, 23]


# --- Refused, by name -------------------------------------------------------------------------------------------------

TYPES = ["float64", "float16", "int32", "int64", "bool", "complex64", ">f4", "object", "U3"]


@pytest.mark.parametrize("dtype", TYPES)
def test_other_types_are_refused(mlp, dtype):
    with pytest.raises(TypeError, match=r'mlp_batch: input "x" is .*\.astype\(float32\)'):
        mlp.forward(np.zeros((2, 24), dtype))


@pytest.mark.parametrize("given", [[[1.0] * 24], "text", object(), None, 3.0, {}], ids=lambda value: type(value).__name__)
def test_other_objects_are_refused(mlp, given):
    with pytest.raises(TypeError, match=r'mlp_batch: input "x" is a .*not an array|incompatible function arguments'):
        mlp.forward(given)


@pytest.mark.parametrize("shape", [(24,), (2, 23), (2, 24, 1), (), (24, 2)])
def test_other_shapes_are_refused(mlp, shape):
    wanted = rf'mlp_batch: input "x" is \[{", ".join(map(str, shape))}\], the model takes \[batch, 24\]'
    with pytest.raises(ValueError, match=wanted):
        mlp.forward(np.zeros(shape, np.float32))


def test_sizes_that_differ(kinds):
    with pytest.raises(ValueError, match=r'kinds: input "places" is \[4\], the model takes \[n\] with n = 5'):
        kinds.forward(**dict(kinds_inputs(), places=np.zeros(4, np.int64)))


@pytest.mark.parametrize("lengths", [(3, 2), (1, 0), (1000, 999)])
def test_sizes_that_types_leave_open(axpy, lengths):
    x, memory = normal(lengths[0]), np.full(lengths[1] + 8, 7, np.float32)
    with pytest.raises(ValueError, match="axpy: y_size has to be at least n"):
        axpy.forward(2.0, x, memory[:lengths[1]])
    assert (memory == 7).all()


def read_only(y):
    y.flags.writeable = False
    return y


OUTPUTS = {"float64": (TypeError, lambda y: y.astype(np.float64), "is float64"),
           "read-only": (ValueError, read_only, "is read-only"),
           "Fortran": (ValueError, np.asfortranarray, "is not in C order"),
           "strided": (ValueError, lambda y: np.repeat(y, 2, 1)[:, ::2], "is not in C order"),
           "rows": (ValueError, lambda y: y[:-1], r"is \[5, 5\], the model gives \[batch, 5\] with batch = 6"),
           "columns": (ValueError, lambda y: np.zeros((6, 4), np.float32), r"is \[6, 4\], the model gives \[batch, 5\]"),
           "list": (TypeError, lambda y: y.tolist(), "is a list, not an array")}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_outputs_that_cannot_be_written(mlp, kind):
    error, make, text = OUTPUTS[kind]
    with pytest.raises(error, match=rf'mlp_batch: output "y" {text}'):
        mlp.forward(normal(6, 24), y=make(np.zeros((6, 5), np.float32)))


def test_arrays_of_jax_are_not_written(mlp, mlp_reference):
    jax_like = type("ArrayImpl", (Dlpack,), {"__module__": "jaxlib._jax"})
    x, y = normal(2, 24), np.zeros((2, 5), np.float32)
    close(mlp.forward(jax_like(x)), mlp_reference(x))
    with pytest.raises(ValueError, match='mlp_batch: output "y" is an array of JAX, which cannot be written'):
        mlp.forward(x, y=jax_like(y))
    assert not y.any()


def test_jax(mlp, mlp_reference, copies):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    x = normal(3, 24)
    close(mlp.forward(jax.numpy.asarray(x)), mlp_reference(x))
    assert copies == []
    with pytest.raises(ValueError, match="array of JAX"):
        mlp.forward(x, y=jax.numpy.zeros((3, 5)))


def test_shared_memory_is_refused(mlp, axpy):
    memory = np.zeros(29 * 4, np.float32)
    with pytest.raises(ValueError, match='mlp_batch: output "y" shares memory with input "x"'):
        mlp.forward(memory[:96].reshape(4, 24), y=memory[90:110].reshape(4, 5))
    with pytest.raises(ValueError, match='axpy: output "y" shares memory with input "x"'):
        axpy.forward(1.0, memory, memory)
    mlp.forward(memory[:96].reshape(4, 24), y=memory[96:].reshape(4, 5)) # side by side is fine


def test_a_device_is_refused(mlp):
    with pytest.raises(TypeError, match='mlp_batch: input "x" lies in the memory of a device'):
        mlp.forward(Dlpack(np.zeros((2, 24), np.float64), device=(2, 0)))


class OfDevice:
    """What messages look at."""

    def __init__(self, dtype, place):
        self.dtype, self.place = dtype, place

    def __dlpack_device__(self):
        return self.place


@pytest.mark.parametrize("given, problem", [
    (OfDevice("torch.float64", (2, 0)), 'input "x" is float64, the model takes float32'),
    (OfDevice("float32", (2, 1)), 'input "x" lies on device 1, the model computes on device 0'),
    (OfDevice("float32", (2, 0)), 'input "x" is not in C order, or not aligned')])
def test_arrays_that_a_device_cannot_use(mlp, given, problem):
    """As a module says that computes there: test/device has calls."""
    face = Face(mlp.interface, device_type=2)
    with pytest.raises((TypeError, ValueError), match=problem):
        face.refuse_on_device(0, given)
    face.refuse_on_device(0, OfDevice("float32", (1, 0))) # another reason
    with pytest.raises(TypeError, match="lies in the memory of another device"):
        face.as_array(0, OfDevice("float32", (10, 0)))


def test_results_beside_arrays_of_a_device(mlp):
    with pytest.raises(TypeError, match='output "y": .*cannot make an array for it; give one as y='):
        Face(mlp.interface, device_type=2).empty_like(1, OfDevice("float32", (2, 0)), [4, 5])


def test_the_memory_of_a_host(mlp):
    x = normal(2, 24)
    assert not mlp.is_on_device and mlp.device_type == 1 and mlp.to_device(x) is x and mlp.to_host(x) is x


@pytest.mark.parametrize("call", [lambda f, x: f(), lambda f, x: f(x, x), lambda f, x: f(x, z=x), lambda f, x: f(x, x=x)])
def test_arguments_of_python(mlp, call):
    with pytest.raises(TypeError):
        call(mlp.forward, normal(2, 24))


def test_updated_arguments_have_to_be_writable(axpy):
    x, y = np.ones(3, np.float32), np.ones(3, np.float32)
    with pytest.raises(ValueError, match='axpy: output "y" is read-only'):
        axpy.forward(1.0, x, read_only(y))
    with pytest.raises(TypeError, match='axpy: input "factor" is a str, the model takes a number of type float32'):
        axpy.forward("1", x, np.ones(3, np.float32))


# --- Many calls -------------------------------------------------------------------------------------------------------

def test_threads(mlp, mlp_reference):
    inputs = [normal(1 + 37 * i, 24, seed=i) for i in range(8)]
    wanted = [mlp_reference(x) for x in inputs]
    wrong = []

    def work(i):
        for _ in range(100):
            if np.abs(mlp.forward(inputs[i]) - wanted[i]).max() > 1e-4:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_10000_calls_keep_no_memory(mlp, kinds):
    x, inputs, strided = normal(50, 24), kinds_inputs(40), np.asfortranarray(normal(50, 24))

    def calls(count):
        for _ in range(count):
            mlp.forward(x)
            mlp.forward(strided)
            kinds.forward(**inputs)
            with pytest.raises(TypeError):
                mlp.forward(None)

    calls(1000)
    gc.collect()
    before = resident()
    calls(10000)
    gc.collect()
    assert resident() - before < 1 << 20 # one array a call would be 10 MB


def test_100_modules_keep_no_memory(mlp):
    x = normal(1000, 24)

    def load(count):
        for _ in range(count):
            ml2kokkos.load(mlp.folder).forward(x)

    load(20)
    gc.collect()
    before = resident()
    load(100)
    gc.collect()
    assert resident() - before < 4 << 20 # 100 workspaces would be 26 MB
