"""Second values for the operands of a test that decide about shapes, axes, counts or branches.

The first values are those of ONNX's test data. Code that was right for them only would pass; so the same test is run with
others against onnx's reference evaluator."""

import numpy as np
from cases import Case, walk

# Inputs of operators that decide about shapes, axes, counts, branches or which elements are taken
DECIDING = {
    "CenterCropPad": [1], "Col2Im": [1, 2], "Compress": [1], "ConstantOfShape": [0], "AffineGrid": [1], "CumProd": [1], "CumSum": [1], "DFT": [1, 2], "Expand": [1],
    "BlackmanWindow": [0], "HammingWindow": [0], "HannWindow": [0], "If": [0], "Loop": [0, 1], "MaxUnpool": [2],
    "MelWeightMatrix": [0, 1, 2, 3, 4], "NonMaxSuppression": [1, 2, 3, 4], "NonZero": [0], "OneHot": [1], "Pad": [1, 2, 3],
    "Range": [0, 1, 2], "Reshape": [1], "Resize": [1, 2, 3], "ReverseSequence": [1], "Slice": [1, 2, 3, 4], "Split": [1],
    "Squeeze": [1], "STFT": [1, 3], "Tile": [1], "TopK": [1], "Trilu": [1], "Unique": [0], "Unsqueeze": [1], "Upsample": [1],
}
LARGEST = 1 << 16 # elements of an output


def positions(node):
    reduces = node.op_type.startswith("Reduce")
    return DECIDING.get(node.op_type, [1] if reduces else [])


def deciding_inputs(case):
    """Those inputs of a model from which a deciding operand is computed."""
    made = {name: node for node in walk(case.model.graph.node) for name in node.output}
    found, waiting = set(), []
    for node in walk(case.model.graph.node):
        waiting += [node.input[at] for at in positions(node) if at < len(node.input)]
    seen = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in case.inputs:
            found.add(name)
        elif name in made and made[name].op_type not in ("Shape", "Size"): # these look at extents, not at data
            waiting += made[name].input
    return [name for name in case.inputs if name in found]


def others(value):
    """Other values of the same type and shape."""
    flat = value.reshape(-1)
    if value.dtype == np.bool_:
        yield ~value
        yield np.roll(flat, 1).reshape(value.shape)
        return
    yield flat[::-1].reshape(value.shape)
    if value.dtype.kind in "iu":
        for step in (1, -1, 2):
            yield (value + np.asarray(step, value.dtype)).astype(value.dtype)
        yield np.concatenate([flat[:1] + 1, flat[1:]]).astype(value.dtype).reshape(value.shape)
        yield np.concatenate([flat[:-1], flat[-1:] - 1]).astype(value.dtype).reshape(value.shape)
        yield np.where(flat > 1, flat - 1, flat).astype(value.dtype).reshape(value.shape)
    else:
        yield (value * 0.5).astype(value.dtype)
        yield (value + 1).astype(value.dtype)


def reference(model, inputs):
    from onnx.reference import ReferenceEvaluator

    with np.errstate(all="ignore"):
        outputs = ReferenceEvaluator(model).run(None, inputs)
    return [np.asarray(output) for output in outputs]


def is_other(first, second):
    """Whether outputs tell that an operand had another value, and are of a kind that the model has."""
    if len(first) != len(second) or any(a.dtype != b.dtype or a.ndim != b.ndim or b.size > LARGEST or b.size == 0
                                        for a, b in zip(first, second)):
        return False
    return any(a.shape != b.shape or not np.array_equal(a, b) for a, b in zip(first, second))


def second_of(case):
    """A case like this one with other operands, and what the reference makes of them; None if there is none."""
    second = Case(case.folder)
    second.read()
    names = deciding_inputs(second)
    second.stem += "_second"
    second.name += " (second operands)"
    for name in names:
        for value in others(second.inputs[name]):
            inputs = {**second.inputs, name: value}
            try:
                outputs = reference(second.model, inputs)
            except Exception: # a value that the operator or the evaluator does not take
                continue
            if not is_other(second.outputs, outputs):
                continue
            second.inputs, second.outputs = inputs, outputs
            for declared, output in zip(second.model.graph.output, outputs):
                for dimension, extent in zip(declared.type.tensor_type.shape.dim, output.shape):
                    dimension.dim_value = extent
            return second
    return None
