"""ml2kokkos-tune: what is refused, what is taken, what is written; candidates are stand-ins but for one real search."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import ml2kokkos
from conftest import PROJECT
from ml2kokkos.tuning import cli, files
from ml2kokkos.tuning.measuring import Arguments, Contestant, DeviceContestant, Judge, TuneError, Wrong, error_of
from ml2kokkos.tuning.reference import doubled_text
from ml2kokkos.tuning.search import Kernel, Search

TEXT = """func.func @product(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
"""
LABEL = "c"


@pytest.fixture(scope="module")
def product(work):
    folder = work / "tuning"
    folder.mkdir(exist_ok=True)
    (folder / "product.mlir").write_text(TEXT)
    return cli.Model(str(folder / "product.mlir"), [])


@pytest.fixture(scope="module")
def module(product, cache):
    return product.compiled()


class Silent:
    """A module's profiler that sees no launch: candidates are timed by their calls."""

    def record(self):
        pass

    def recorded(self):
        return []


class Candidate:
    def __init__(self, module, forward):
        self.module, self.forward, self._native = module, forward, Silent()


class Clock:
    """Advances by what a candidate is said to take, and else not: a busy machine changes no result of these tests."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds

    def taking(self, seconds, forward):
        def timed(*inputs, **outputs):
            self.seconds += seconds
            return forward(*inputs, **outputs)

        return timed


def search_of(product, module, default, candidate, clock=time.perf_counter):
    """With one kernel that has one choice, which `candidate` computes with."""
    arguments = [Arguments(module.interface, seed, {}) for seed in (0, 1)]
    judge = Judge(arguments, product.references(arguments), module.forward)
    kernel = Kernel(LABEL, "a class", {"launch": [1]})
    return Search([kernel], lambda choices: Candidate(module, candidate if any(choices.values()) else default),
                  lambda built: Contestant(built, arguments[0], {LABEL}, clock), judge, budget=30, seconds=0.05)


def found(product, module, default, candidate):
    """What a search takes where a call of the default takes `default` seconds and one of the candidate `candidate`."""
    clock = Clock()
    return search_of(product, module, clock.taking(default, module.forward), clock.taking(candidate, module.forward), clock).run()


def problem_of(search):
    assert search.run() == {}
    return search.log[0].problem


# --- What is refused --------------------------------------------------------------------------------------------------

def test_a_wrong_candidate(product, module):
    def wrong(*inputs, c):
        module.forward(*inputs, c=c)
        c[5, 7] *= 1.001

    assert "differs from f64" in problem_of(search_of(product, module, module.forward, wrong))


def test_a_candidate_that_shares_its_output_buffer(product, module):
    shared = np.zeros((64, 64), np.float32)
    search = search_of(product, module, module.forward, lambda *inputs, c: module.forward(*inputs, c=shared))
    assert "differs from f64 by inf" in problem_of(search) # its own outputs keep their NaN


def test_a_candidate_that_returns_what_it_has_computed_before(product, module):
    kept = []

    def lazy(*inputs, c):
        if not kept:
            kept.append(np.empty_like(c))
            module.forward(*inputs, c=kept[0])
        c[...] = kept[0]

    assert "differs from f64" in problem_of(search_of(product, module, module.forward, lazy))


@pytest.mark.parametrize("clock", [lambda: 0.0, lambda: float("nan"), lambda: -time.perf_counter()])
def test_a_clock_that_does_not_advance(product, module, clock):
    with pytest.raises(TuneError, match="clock does not advance"):
        search_of(product, module, module.forward, module.forward, clock).run()


def test_a_candidate_that_cannot_be_built(product, module):
    search = search_of(product, module, module.forward, module.forward)
    build = search.build

    def failing(choices):
        if any(choices.values()):
            raise ml2kokkos.BuildError("no", "log")
        return build(choices)

    search.build = failing
    assert problem_of(search) == "no"


def test_a_default_that_is_wrong_itself(product, module):
    arguments = [Arguments(module.interface, 0, {})]
    with pytest.raises(TuneError, match="default itself differs"):
        Judge(arguments, product.references(arguments), lambda *inputs, c: c.fill(3))


def test_an_infinite_value_is_no_nan():
    assert error_of({"y": [np.nan]}, {"y": [1.0]}) == float("inf")
    assert error_of({"y": [2.0, np.inf]}, {"y": [1.0, np.inf]}) == 1.0


# --- What is taken ----------------------------------------------------------------------------------------------------

def test_a_faster_candidate_is_taken(product, module):
    choices, seconds, default = found(product, module, 0.002, 0.001)[LABEL]
    assert choices == {"launch": 1} and seconds == pytest.approx(0.001) and default == pytest.approx(0.002)


@pytest.mark.parametrize("default, candidate", [(0.002, 0.002), (0.001, 0.002), (0.002, 0.00197)])
def test_neither_the_same_nor_a_slower_one_is(product, module, default, candidate):
    """Nor one that is faster by less than three parts in a hundred."""
    assert found(product, module, default, candidate) == {}


class Device:
    """A module whose kernels take what `seconds` says, as a tool of Kokkos sees them on a device, and its launches some more."""

    def __init__(self, interface, seconds, launch):
        self.interface, self.seconds, self.overhead = interface, seconds, launch
        self._native = self

    def to_device(self, array):
        return array

    def launch(self):
        return self.overhead

    def forward(self, *inputs, **outputs):
        pass

    def record(self):
        pass

    def recorded(self):
        return [(f"model::{label}", seconds + 4e-6) for label, seconds in self.seconds]


def test_times_of_a_device(module, monkeypatch):
    """A call takes what its kernels take, each beyond one without work; all have the same number taken off."""
    monkeypatch.setattr(DeviceContestant, "launch", float("inf"))
    arguments = Arguments(module.interface, 0, {})
    first = DeviceContestant(Device(module.interface, [("c", 5e-6), ("other", 1e-6), ("c", 2e-6)], 4e-6), arguments, {"c"})
    later = DeviceContestant(Device(module.interface, [("c", 5e-6)], 7e-6), arguments, {"c"}) # a slow moment
    assert first.times() == pytest.approx({"": 8e-6, "c": 7e-6}) and later.times() == pytest.approx({"": 5e-6, "c": 5e-6})
    with pytest.raises(TuneError, match="launches nothing"):
        DeviceContestant(Device(module.interface, [], 4e-6), arguments, {"c"}).times()


def test_the_device_has_to_be_there(module):
    assert cli.family_of(module, False) == files.family_of_machine()
    with pytest.raises(TuneError, match="--device: Kokkos computes by"):
        cli.family_of(module, True)


def test_combinations():
    few = Kernel("k", "", {"piece": [256, 1024], "launch": [1]})
    assert few.combinations(0) == [{"piece": 256}, {"launch": 1}, {"piece": 1024}, {"piece": 256, "launch": 1}, {"piece": 1024, "launch": 1}]
    many = Kernel("k", "", {name: [1, 2, 3] for name in ("rows", "strip", "chunk")})
    assert many.combinations(0) == many.combinations(0) != many.combinations(1)
    assert sorted(map(str, many.combinations(0))) == sorted(map(str, many.combinations(1)))


def test_promising_combinations_come_first():
    kernel = Kernel("k", "", {name: [1, 2, 3] for name in ("rows", "strip", "chunk")})
    kernel.ratios = {("rows", 2): 0.9, ("chunk", 3): 0.8, ("strip", 1): 1.5, ("strip", 2): 1.2, ("strip", 3): 1.1}
    changes = list(kernel.changes(0))
    assert changes[:9] == kernel.combinations(0)[:9] and changes[9] == {"rows": 2, "chunk": 3}
    promises = [math.prod(kernel.ratios.get(item, 1.0) for item in change.items()) for change in changes[9:]]
    assert promises == sorted(promises) and promises[0] < 0.73 < 1.4 < promises[-1]
    assert sorted(map(str, changes)) == sorted(map(str, kernel.combinations(0)))


# --- What is written --------------------------------------------------------------------------------------------------

def entry(kernel, family="avx512", **choices):
    return {"kernel": kernel, "class": "c", "family": family, "threads": 1, "choices": choices, "nanoseconds": 1, "default_nanoseconds": 2}


def test_entries_change_singly():
    old = [entry("a", rows=4), entry("b", rows=4), entry("a", "neon", rows=2)]
    new = files.merged(old, [entry("a", strip=2)], "avx512", {"a"})
    assert new == [old[1], old[2], entry("a", strip=2)]
    assert files.merged(old, [], "avx512", {"a", "b"}) == [old[2]]


def test_the_file_is_the_same_in_any_order():
    entries = [entry("b", rows=4), entry("a", "neon", rows=2), entry("a", rows=4)]
    assert files.text_of(entries) == files.text_of(entries[::-1])
    assert json.loads(files.text_of(entries))["entries"][0]["family"] == "avx512"
    assert json.loads(files.text_of([]))["entries"] == []


def test_families(tmp_path):
    for flags, family in (("fpu avx2 avx512f", "avx512"), ("fpu avx2", "avx2"), ("fpu", None)):
        (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
        assert files.family_of_machine(tmp_path / "cpuinfo") == family


def test_text_in_f64():
    text = "%w = arith.extf %h : f16 to f32\n%y = arith.mulf %w, %x fastmath<fast> : f32\n%z = arith.truncf %y : f32 to f16\nreturn %z : f16\n"
    assert doubled_text(text) == "%y = arith.mulf %h, %x fastmath<fast> : f64\nreturn %y : f64\n"
    assert doubled_text("tensor<?x16xf32>, memref<f16>, %c_f32 : bf16") == "tensor<?x16xf64>, memref<f64>, %c_f32 : f64"
    with pytest.raises(TuneError):
        doubled_text('dense<"0x00"> : tensor<1xf32>')


# --- A real search ----------------------------------------------------------------------------------------------------

def test_the_commands_of_the_page(work, tmp_path):
    """As docs/tuning.md has them, with less time; the file that is written holds for the model that it is for."""
    page = (PROJECT / "docs/tuning.md").read_text()
    tune, translate = re.search(r"```\n(ml2kokkos-tune [^#\n]*)#[^\n]*\n(ml2kokkos [^#\n]*)#[^\n]*\n```", page).groups()
    shutil.copy(PROJECT / "examples/mlp_mlir/mlp.mlir", tmp_path)
    tune = tune.replace("2m", "5s").split()
    done = subprocess.run([sys.executable, "-m", "ml2kokkos.tuning.cli", *tune[1:], "--seconds", "0.1", "--jobs", "1", "--log", "log.json"],
                          cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PROJECT / "python")}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d of \d kernels in mlp.tune.json; a call takes", done.stdout, re.MULTILINE), done.stdout
    assert json.loads((tmp_path / "mlp.tune.json").read_text())["ml2kokkos-tune"] == 1
    assert json.loads((tmp_path / "log.json").read_text())["candidates"]
    from ml2kokkos.tool import find_tool

    done = subprocess.run([find_tool(), *translate.split()[1:]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr


LOOPS = """func.func @loops(%x: memref<?x300xf32>, %y: memref<?x300xf32>, %z: memref<?x5x300xf32>, %line: memref<?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %width = arith.constant 300 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %width) step (%c1, %c1) {
    %a = memref.load %x[%i, %j] : memref<?x300xf32>
    %b = math.absf %a : f32
    memref.store %b, %y[%i, %j] : memref<?x300xf32>
    scf.reduce
  }
  scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%n, %c5, %width) step (%c1, %c1, %c1) {
    %a = memref.load %z[%i, %j, %k] : memref<?x5x300xf32>
    %b = math.absf %a : f32
    memref.store %b, %z[%i, %j, %k] : memref<?x5x300xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    %a = memref.load %line[%i] : memref<?xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %line[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
"""


@pytest.mark.parametrize("name, blocks", [("mlp_batch", ["contract"]), ("loops", ["for_lines", "for_planes", "for_span"])])
def test_values_with_every_number_set(tmp_path, paths, name, blocks):
    """All choices of all kernels at once: the same results."""
    model = paths[name] if name in paths else ml2kokkos.compiler.Mlir(LOOPS.encode())
    module = ml2kokkos.compile(model, name=name)
    kernels = cli.kernels_of(module, None)
    family = files.family_of_machine()
    entries = [files.entry_of(kernel, ({name: values[-1] for name, values in kernel.choices.items()}, 0, 0), family, 1) for kernel in kernels]
    (tmp_path / "all.tune.json").write_text(files.text_of(entries))
    tuned = ml2kokkos.compile(model, name=name, options=[f"--tune={tmp_path / 'all.tune.json'}"])
    assert all(f"{block}<Tuned::" in tuned.source.read_text() for block in blocks)
    for rows in (1, 7, 1000):
        arguments = Arguments(module.interface, 0, {name: rows for name in module.interface.sizes}, values={"n": rows, "m": rows})
        assert error_of(arguments.run(tuned.forward), arguments.run(module.forward)) < 1e-6


@pytest.mark.parametrize("size, rule, square, rest", [(30, 4, 1, []), (30, 4, 2, ["--target=host"]), (8, 2, 4, [])])
def test_squares_of_winograd(tmp_path, size, rule, square, rest):
    """Larger or smaller tiles of a convolution by Winograd's method than those of the rule, or the direct method."""
    weights = np.random.default_rng(3).standard_normal((32, 32, 3, 3)).astype(np.float32) / 17
    path = tmp_path / "conv.onnx"
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 32, size, size]) for name in "xy"]
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="layer", pads=[1, 1, 1, 1])
    graph = helper.make_graph([node], "conv", tensors[:1], tensors[1:], [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    module = ml2kokkos.compile(path, options=rest)
    kernel, = [kernel for kernel in cli.kernels_of(module, None) if "square" in kernel.choices]
    assert sorted([rule, *kernel.choices["square"]]) == [1, 2, 4]
    tune = tmp_path / "conv.tune.json"
    tune.write_text(files.text_of([files.entry_of(kernel, ({"square": square}, 0, 0), files.family_of_machine(), 1)]))
    tuned = ml2kokkos.compile(path, options=[f"--tune={tune}", *rest])
    text = tuned.source.read_text()
    assert f"winograd<{rule}, Square<3, 1, 1>, Tuned::layer>(" in text and f"read_winograd<square_of<Tuned::layer, {rule}>>(" in text
    arguments = Arguments(module.interface, 0, {})
    assert error_of(arguments.run(tuned.forward), arguments.run(module.forward)) < 1e-5


def test_messages(tmp_path, capsys):
    assert cli.main([str(tmp_path / "none.onnx")]) == 3
    assert "there is no file" in capsys.readouterr().err
    shutil.copy(PROJECT / "examples/mlp_mlir/mlp.mlir", tmp_path)
    assert cli.main([str(tmp_path / "mlp.mlir")]) == 3
    assert re.search(r"the size \w+ is known at run time only: give --size", capsys.readouterr().err)
    assert cli.main([str(tmp_path / "mlp.mlir"), "--kernel", "none"]) == 3
    assert "there is no kernel none; there are: product0, product1" in capsys.readouterr().err
