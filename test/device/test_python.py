"""Modules and kernels in Python whose Kokkos computes on a GPU; skipped where it does not.

  Kokkos_ROOT=build/kokkos-cuda CXX=build/kokkos-cuda/bin/nvcc_for_kokkos pytest test/device/test_python.py"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "python"), str(PROJECT / "test/python")]

import kernels as own # noqa: E402
import ml2kokkos as kk # noqa: E402
from ml2kokkos.compiler import Mlir # noqa: E402
from ml2kokkos.tuning import cli # noqa: E402
from test_kernels import arguments_of, compare, copied, together # noqa: E402

TEXT = b"""func.func @scaled(%x: tensor<?x6xf32>, %y: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %sum = linalg.add ins(%x, %y : tensor<?x6xf32>, tensor<?x6xf32>) outs(%x : tensor<?x6xf32>) -> tensor<?x6xf32>
  %product = linalg.mul ins(%x, %y : tensor<?x6xf32>, tensor<?x6xf32>) outs(%x : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %sum, %product : tensor<?x6xf32>, tensor<?x6xf32>
}
"""


@pytest.fixture(scope="module")
def module():
    built = kk.compile(Mlir(TEXT), name="scaled")
    if not built.is_on_device:
        pytest.skip("Kokkos computes on the host")
    return built


@pytest.fixture
def arrays():
    random = np.random.default_rng(1)
    return random.random((5, 6), np.float32), random.random((5, 6), np.float32)


def check(found, arrays):
    for mine, theirs in zip(found, (arrays[0] + arrays[1], arrays[0] * arrays[1])):
        np.testing.assert_array_equal(mine, theirs)


def test_arrays_of_the_host(module, arrays):
    check(module.forward(*arrays), arrays)
    given = np.full((5, 6), np.nan, np.float32)
    first, _ = module.forward(*arrays, **{module.outputs[0].parameter: given})
    assert first is given
    check([given], arrays)


def test_own_arrays(module, arrays):
    results = {argument.parameter: module.to_device(np.full((5, 6), np.nan, np.float32)) for argument in module.outputs}
    found = module.forward(*map(module.to_device, arrays), **results)
    check([module.to_host(one) for one in found], arrays)
    with pytest.raises(TypeError, match="give one as"): # which package should make the result?
        module.forward(*map(module.to_device, arrays))


@pytest.mark.parametrize("package", ["cupy", "torch"])
def test_arrays_of_others(module, arrays, package):
    other = pytest.importorskip(package)
    moved = [other.asarray(array) if package == "cupy" else other.from_numpy(array).cuda() for array in arrays]
    found = module.forward(*moved)
    assert all(type(one) is type(moved[0]) for one in found)
    check([one.get() if package == "cupy" else one.cpu().numpy() for one in found], arrays)
    mixed = module.forward(moved[0], arrays[1]) # one of them from the host
    check([module.to_host(one) for one in mixed], arrays)
    with pytest.raises(TypeError, match="is float64, the model takes float32"):
        module.forward(moved[0].astype("float64") if package == "cupy" else moved[0].double(), moved[1])
    with pytest.raises(ValueError, match="not in C order"):
        module.forward(moved[0].T.copy().T if package == "cupy" else moved[0].T.contiguous().T, moved[1])
    with pytest.raises(ValueError, match="shares memory"):
        module.forward(*moved, **{module.outputs[0].parameter: moved[0]})


def test_report(module, arrays):
    report = module.report(*arrays)
    assert sum(kernel.seconds is not None for kernel in report.costs.kernels) >= 1
    assert report.costs.limits["bandwidth"] > 1e11


def test_kernels(module):
    """What the host's tests compare with Python."""
    arguments = arguments_of(own.ALL, 1)
    arguments[[kernel.name for kernel, _ in own.ALL].index("csr_product")][0][:] = [0, 3, 3, 9, 14, 20]
    before, expected = [copied(one) for one in arguments], [copied(one) for one in arguments]
    parts = [slice(first, first + 10) for first in range(0, len(own.ALL), 10)] # nvcc refuses functions of hundreds of arguments
    joined = [together([kernel for kernel, _ in own.ALL[part]], f"kernels_{part.start}") for part in parts]
    values = [[value for one in arguments[part] for value in one] for part in parts]
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda kernel, given: kernel.build(*given), joined, values))
    for kernel, given in zip(joined, values):
        kernel(*given)
    wrong = []
    for (kernel, _), mine, theirs, old in zip(own.ALL, arguments, expected, before):
        kernel.python(*theirs)
        try:
            compare(kernel.name, mine, theirs, old)
        except AssertionError as error:
            wrong.append(f"{kernel.name}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", ["cupy", "torch"])
def test_kernels_on_arrays_of_others(module, package):
    @kk.kernel
    def twice(x):
        for i in kk.range(len(x)):
            x[i] = 2.0 * x[i]

    other = pytest.importorskip(package)
    x = other.arange(5.0) if package == "cupy" else other.arange(5.0, dtype=other.float64).cuda()
    twice(x)
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_tuning(module, tmp_path):
    (tmp_path / "scaled.mlir").write_bytes(TEXT)
    parsed = cli.parse([str(tmp_path / "scaled.mlir"), "--device", "--candidates", "3", "--seconds", "0.1"])
    size = next(extent for extent in module.inputs[0].shape if isinstance(extent, str))
    parsed.size = [(size, 100000)]
    model, family, entries, search = cli.tune(parsed)
    assert family == module._native.device_family
    assert len(search.log) >= 1 and all(record.problem is None for record in search.log)
    assert 0 < search.final[1] <= search.final[0] * 1.5
