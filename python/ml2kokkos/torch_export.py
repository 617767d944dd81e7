"""PyTorch models by way of torch.onnx or torch-mlir."""

import inspect
import io
import os
import tempfile
from pathlib import Path

from .compiler import Mlir, compile


def _names(values, stem):
    return [stem] if len(values) == 1 else [f"{stem}{i}" for i in range(len(values))]


def _dynamic_axes(dynamic, names):
    """torch.onnx's dynamic_axes; True: the first axis of every input is the batch."""
    if dynamic is True:
        return {name: {0: "batch"} for name in names}
    return dynamic or None


def export(model, example_inputs, file, *, input_names=None, output_names=None, dynamic=False, opset=None, **options):
    """Writes `model` as ONNX. What torch.onnx says of it on the way reaches the user."""
    import torch

    inputs = tuple(example_inputs) if isinstance(example_inputs, (list, tuple)) else (example_inputs,)
    input_names = list(input_names or _names(inputs, "input"))
    if output_names is None:
        with torch.no_grad():
            results = model(*inputs)
        output_names = _names(results, "output") if isinstance(results, (list, tuple)) else ["output"]
    axes = _dynamic_axes(dynamic, input_names)
    if dynamic is True:
        axes.update({name: {0: "batch"} for name in output_names})
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        options.setdefault("dynamo", False) # the exporter that needs no further package and keeps dynamic_axes
    was_training = getattr(model, "training", False)
    try:
        if hasattr(model, "eval"):
            model.eval()
        torch.onnx.export(model, inputs, file, input_names=input_names, output_names=list(output_names), dynamic_axes=axes,
                          opset_version=opset or 13, **options)
    finally:
        if was_training:
            model.train()


def from_torch(model, example_inputs, *, name=None, input_names=None, output_names=None, dynamic=False, opset=None, exporter="onnx",
               **options):
    """compile() of a PyTorch model, exported in evaluation mode.

    example_inputs  one tensor or several, as forward() takes them
    dynamic         True: the first axis of every input and output is a batch of any size; or torch.onnx's dynamic_axes
    input_names, output_names, opset   as torch.onnx.export has them
    exporter        "onnx", or "torch-mlir": torch.export and the wheel torch-mlir, by linalg
    options         of compile()"""
    name = name or type(model).__name__.lower()
    if exporter == "torch-mlir":
        return from_torch_mlir(model, example_inputs, name, input_names, output_names, dynamic, options)
    if exporter != "onnx":
        raise ValueError(f'exporter={exporter!r}: give "onnx" or "torch-mlir"')
    buffer = io.BytesIO()
    export(model, example_inputs, buffer, input_names=input_names, output_names=output_names, dynamic=dynamic, opset=opset)
    return compile(buffer.getvalue(), name=name, **options)


def from_torch_mlir(model, example_inputs, name, input_names, output_names, dynamic, options):
    import torch

    from .linalg_export import torch_text

    inputs = tuple(example_inputs) if isinstance(example_inputs, (list, tuple)) else (example_inputs,)
    with torch.no_grad():
        results = model(*inputs)
    results = results if isinstance(results, (list, tuple)) else [results]
    output_names = output_names or _names(results, "output")
    text = torch_text(model, inputs, "forward", list(input_names or _names(inputs, "input")), list(output_names), dynamic)
    return compile(Mlir(text.encode()), name=name, **options)


def load_model(text, weights=None):
    """FILE.py:NAME: a module, a class without arguments, or a function that makes one. Runs the file."""
    import importlib.util
    import sys

    import torch

    path, _, name = text.rpartition(":")
    if not path:
        raise ValueError(f"{text}: give FILE.py:NAME")
    path = Path(path).absolute()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    if not hasattr(module, name):
        raise ValueError(f"{path.name} has no {name}")
    model = getattr(module, name)
    model = model if isinstance(model, torch.nn.Module) else model()
    if weights:
        model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    return model


def example_of(text):
    """A tensor of "1,3,224,224" or "1,16:int64": zeros for integers, else normal numbers with a fixed seed."""
    import torch

    sizes, _, kind = text.partition(":")
    try:
        shape = [int(size) for size in sizes.split(",") if size.strip()]
        dtype = getattr(torch, kind or "float32")
        if not isinstance(dtype, torch.dtype):
            raise AttributeError
    except (ValueError, AttributeError):
        raise ValueError(f'"{text}" is no example: give extents and a type, such as 1,3,224,224 or 1,16:int64') from None
    if not dtype.is_floating_point:
        return torch.zeros(shape, dtype=dtype)
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def translate(text, examples, output, *, weights=None, dynamic=False, opset=None, input_names=None, output_names=None, keep=None,
              options=()):
    """A PyTorch model to output.cpp, .hpp and .safetensors."""
    from .tool import check_options, find_tool, run_tool

    tool = find_tool()
    options = check_options(options)
    model = load_model(text, weights)
    output = Path(output)
    with tempfile.TemporaryDirectory() as folder: # the file's name is in the banner of what is printed
        path = Path(keep) if keep else Path(folder) / f"{output.stem}.onnx"
        export(model, [example_of(example) for example in examples], os.fspath(path), input_names=input_names,
               output_names=output_names, dynamic=dynamic, opset=opset)
        return run_tool(tool, path, "-o", output, *options)
