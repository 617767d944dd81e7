"""Where inputs and expected outputs come from: an .npz file, onnxruntime, or upstream MLIR's own lowering."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from .exchange import shape_of
from .translate import PROJECT, Failure

DEFAULT_EXTENT = 3 # of a symbolic dimension that nobody gave a value


def with_edges(array, place):
    """NaN, infinities, zeros and the ends of the integers among the first elements, elsewhere for each input."""
    flat = array.reshape(-1)
    if np.issubdtype(array.dtype, np.integer):
        limits = np.iinfo(array.dtype)
        edges = [limits.min, limits.max, limits.max - 1, 0, 1, limits.min + 1]
    else:
        edges = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5]
    for i, edge in enumerate(edges):
        if 2 * place + i < flat.size:
            flat[2 * place + i] = edge
    return flat.reshape(array.shape)


def seeded_inputs(model, seed, extents, integers, edges=False):
    """Normal floats, integers from a small range (token ids, masks), random bits for booleans."""
    random = np.random.default_rng(seed)
    names = {extent for argument in model.inputs for extent in argument.shape if not isinstance(extent, int)}
    if unknown := sorted(extents.keys() - names):
        raise Failure(f"no input has a symbolic dimension {unknown[0]}; there are: {', '.join(sorted(names)) or 'none'}")
    extents = {name: extents.get(name, DEFAULT_EXTENT) for name in names}
    inputs = []
    for argument in model.inputs:
        shape = shape_of(argument, extents)
        if argument.dtype == np.bool_:
            inputs.append(random.integers(0, 2, shape).astype(np.bool_))
        elif np.issubdtype(argument.dtype, np.integer):
            inputs.append(random.integers(*integers, shape).astype(argument.dtype))
        else:
            inputs.append(np.asarray(random.standard_normal(shape)).astype(argument.dtype))
        if edges and argument.is_view and argument.dtype != np.bool_:
            inputs[-1] = with_edges(inputs[-1], len(inputs) - 1)
    return inputs


def numbered(arrays, *stems):
    """x0, x1, ... of an .npz file, or the same under another stem."""
    found = []
    while names := [f"{stem}{len(found)}" for stem in stems if f"{stem}{len(found)}" in arrays]:
        found.append(arrays[names[0]])
    return found


def read_npz(path):
    with np.load(path) as arrays:
        inputs, outputs = numbered(arrays, "x", "arg"), numbered(arrays, "y", "out")
    if not outputs:
        raise Failure(f"{path}: holds neither y0 nor out0")
    return inputs, outputs


def onnxruntime_session(path, threads=1):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Else its threads spin on while others are timed: printed code on two threads took twice its time
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def operands_of(options):
    """What --operand makes of inputs, as text, by name."""
    pairs = zip(options, [*options[1:], ""])
    given = [after if option == "--operand" else option.split("=", 1)[1] for option, after in pairs
             if option == "--operand" or option.startswith("--operand=")]
    return dict(text.split("=", 1) for text in given)


def run_onnxruntime(path, inputs, operands=None):
    """`inputs` in the model's order, without those of `operands`, which are text as --operand takes it."""
    session = onnxruntime_session(path)
    operands, inputs, feed = operands or {}, iter(inputs), {}
    for value in session.get_inputs(): # an initializer may be listed among the inputs and is not asked for
        if value.name not in operands:
            feed[value.name] = next(inputs)
            continue
        kind = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}.get(value.type, np.int64)
        numbers = [float(word) for word in operands[value.name].split(",") if word.strip()]
        feed[value.name] = np.array(numbers).astype(kind).reshape([] if not value.shape else [-1, *value.shape[1:]])
    try:
        return session.run(None, feed)
    except Exception as error: # its own classes, and ValueError
        raise Failure(f"onnxruntime: {error}") from error


def run_upstream(path, inputs, model, entry=None):
    """scripts/upstream_run.py lowers with mlir-opt, compiles and runs. Outputs in the order of the model's."""
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(given, **{f"x{i}": array for i, array in enumerate(inputs)})
        command = [sys.executable, PROJECT / "scripts/upstream_run.py", path, "--inputs", given, "--outputs", result]
        if entry:
            command += ["--entry", entry]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"the upstream lowering failed:\n{done.stderr[-3000:]}")
        with np.load(result) as arrays: # results under their names, then arguments that may have been written as @0, @1...
            updated = [arrays[f"@{i}"] for i, argument in enumerate(model.arguments) if argument.is_updated]
            return updated + [arrays[name] for name in arrays.files if not name.startswith("@")]


def with_every_tensor(path, output):
    """A copy of an ONNX model that also returns every intermediate tensor of its top-level graph; their names."""
    import onnx

    model = onnx.shape_inference.infer_shapes(onnx.load(str(path)))
    known = {value.name: value for value in model.graph.value_info}
    existing = {value.name for value in model.graph.output}
    constants = {name for node in model.graph.node if node.op_type == "Constant" for name in node.output}
    names = [name for node in model.graph.node for name in node.output if name in known and name not in existing]
    names = [name for name in names if name not in constants]
    model.graph.output.extend(known[name] for name in names)
    onnx.save(model, str(output))
    return names
