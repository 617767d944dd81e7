"""Models of PyTorch by torch-mlir, and of JAX by StableHLO, as linalg text."""

import importlib.util
import re

from .errors import Error, ToolNotFound

CONVERT = ("builtin.module(inline,symbol-dce,func.func(chlo-legalize-to-stablehlo),canonicalize,stablehlo-legalize-to-linalg,"
           "canonicalize)")


def quoted(text):
    return '"' + re.sub(r'[^ !#-\[\]-~]', lambda match: "".join(f"\\{byte:02X}" for byte in match.group().encode()), text) + '"'


def named(text, function, arguments, results):
    """MLIR text whose function has names of arguments and results, each with those of its run-time sizes: (name, sizes)."""
    start = text.index("(", text.index(f"@{function}"))
    found = re.compile(r"(%arg\d+): (tensor<[^>]*>)(?: \{[^{}]*\})?(?: loc\([^()]*\))?(, )?").finditer
    end, pieces = start + 1, ["("]
    for match, argument in zip(found(text, start), arguments):
        if match.start() != end:
            break
        pieces.append(f"{match.group(1)}: {match.group(2)} {attributes(*argument)}{match.group(3) or ''}")
        end = match.end()
    if len(pieces) != len(arguments) + 1:
        raise Error(f"the function {function} has other arguments than the model")
    return text[:start] + "".join(pieces) + named_results(text[end:], results)


def attributes(name, sizes):
    dims = f", nest.dims = [{', '.join(map(quoted, sizes))}]" if any(sizes) else ""
    return f"{{nest.name = {quoted(name)}{dims}}}"


def named_results(text, results):
    """`text` begins behind the arguments."""
    head, brace, rest = text.partition("{\n")
    types = re.findall(r"tensor<[^>]*>", head)
    if len(types) != len(results):
        raise Error(f"the function has {len(types)} results, the model {len(results)}")
    listed = ", ".join(f"{type} {{nest.name = {quoted(name)}}}" for type, name in zip(types, results))
    return f") -> ({listed}) {brace}{rest}"


# --- PyTorch ----------------------------------------------------------------------------------------------------------

def axes_of(dynamic, names):
    """By input: axis -> name of its run-time size."""
    if dynamic is True:
        return {name: {0: "batch"} for name in names}
    return {name: axes if isinstance(axes, dict) else {axis: f"{name}_size_{axis}" for axis in axes}
            for name, axes in (dynamic or {}).items() if name in names}


def torch_text(model, inputs, name, input_names, output_names, dynamic):
    """linalg of a PyTorch model by torch-mlir's exporter; what it says on the way reaches the user."""
    if importlib.util.find_spec("torch_mlir") is None:
        raise ToolNotFound("torch-mlir is not installed: pip install --no-deps torch-mlir, or export by ONNX")
    import torch
    from torch_mlir import fx

    axes = axes_of(dynamic, input_names)
    sizes = {size: torch.export.Dim(size) for found in axes.values() for size in found.values()}
    shapes = tuple({axis: sizes[size] for axis, size in axes.get(given, {}).items()} or None for given in input_names)
    signature = {"dynamic_shapes": shapes} if sizes else {}
    was_training = getattr(model, "training", False)
    try:
        model.eval()
        module = fx.export_and_import(model, *inputs, output_type="linalg-on-tensors", func_name=name, **signature)
    finally:
        if was_training:
            model.train()
    arguments = [(given, [axes.get(given, {}).get(axis, "") for axis in range(value.dim())]) for given, value in zip(input_names, inputs)]
    return named(without_assertions(str(module)), name, arguments, output_names)


def without_assertions(text):
    """Extents are not negative: torch-mlir asks of each that is made anew."""
    return re.sub(r'^ *cf\.assert %\w+, "negative values not allowed in new dimensions"\n', "", text, flags=re.MULTILINE)


# --- JAX --------------------------------------------------------------------------------------------------------------

def jax_text(function, examples, input_names):
    """linalg of a JAX function with the shapes of the examples: StableHLO, converted by the passes that jaxlib brings."""
    import jax
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    from jaxlib.mlir.passmanager import PassManager

    module = jax.jit(function, keep_unused=True).lower(*examples).compiler_ir()
    results = len(jax.tree.leaves(jax.eval_shape(function, *examples)))
    stablehlo.register_stablehlo_passes()
    with module.context:
        try:
            PassManager.parse(CONVERT).run(module.operation)
        except ir.MLIRError as error:
            raise Error(f"StableHLO cannot be converted: {error}") from None
        text = str(module)
    left = sorted(set(re.findall(r"\b(?:stablehlo|chlo)\.\w+", text)))
    if left:
        raise Error(f"JAX's operations {', '.join(left)} have no form in linalg")
    return named(text, "main", [(name, []) for name in input_names], ["output"] if results == 1 else [f"output{i}" for i in range(results)])
