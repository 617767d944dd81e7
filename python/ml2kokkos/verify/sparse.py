"""Arguments that are sparse tensors: seeded elements, their arrays as forward() takes them, and the same program on dense tensors
as upstream's lowering takes it."""

import re
from dataclasses import dataclass, replace

import numpy as np

from .reference import seeded_inputs
from .translate import Failure, run_tool

STORED = 0.4 # of the elements of a seeded tensor
DEFAULT_EXTENT = 9 # of a dimension that nobody gave a value
ARGUMENT = re.compile(r"%\w+: memref<([\dx?]*)(\w+)> \{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
ENCODING = r"#sparse_tensor\.encoding<\{[^{}]*\}>"
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


@dataclass
class Level:
    dim: int
    format: str    # dense, compressed, singleton, the latter two perhaps nonunique
    part: str = "" # of the index along the dimension: "floordiv" or "mod" by `block`, "" for all of it
    block: int = 1

    def coordinates(self, indices):
        return {"": indices, "floordiv": indices // self.block, "mod": indices % self.block}[self.part]

    def extent(self, shape):
        return {"": shape[self.dim], "floordiv": shape[self.dim] // self.block, "mod": self.block}[self.part]


@dataclass
class SparseTensor:
    name: str
    number: int      # its arrays have the same
    shape: list      # extents; the name of the dimension where it is known at run time only
    dtype: np.dtype
    levels: list     # outermost first
    arrays: list     # names of its arguments
    is_result: bool
    is_between: bool = False # assembled for other operations: its arrays are room that the caller gives
    is_collected: bool = False # the first level has positions, too: from 0 to how many there are
    pattern: int = -1        # the number of the tensor whose entries it has


def attribute(text, name):
    found = re.search(rf'{re.escape(name)} = ("([^"]*)"|\[[^\]]*\]|{ENCODING}|\d+)', text)
    return found and (found[2] if found[2] is not None else found[1])


def levels_of(tensor, encoding):
    """Those of `(d0, d1) -> (d0 floordiv 2 : dense, d1 : compressed, d0 mod 2 : dense)`."""
    targets = re.search(r"->\s*\((.*?)\)\s*(?:,\s*\w+Width|\})", encoding)[1]
    level = re.compile(r"\s*d(\d+)(?: (floordiv|mod) (\d+))? : (dense|compressed|singleton)(?:\((\w+)\))?\s*")
    levels = [level.fullmatch(text) for text in targets.split(", ")]
    if not all(levels) or any(found[5] not in (None, "nonunique") for found in levels):
        raise Failure(f"'{tensor}': no inputs are made of {encoding}; give them by --inputs")
    return [Level(int(found[1]), found[4] + (" nonunique" if found[5] else ""), found[2] or "", int(found[3] or 1)) for found in levels]


def sparse_tensors(path, options):
    """The sparse arguments and results of a program, as `--emit=imported` says it."""
    text = run_tool(path, "--emit=imported", *options)
    arguments = [(shape, element, attributes) for shape, element, attributes in ARGUMENT.findall(text)]
    arrays, tensors = {}, []
    for shape, element, attributes in arguments:
        name, number, encoding = (attribute(attributes, f"nest.{word}") for word in ("name", "stored", "sparse"))
        if number and not encoding:
            arrays.setdefault(number, []).append(name)
        if encoding:
            dims = re.findall(r'"([^"]*)"', attribute(attributes, "nest.dims") or "")
            extents = [int(extent) if extent != "?" else None for extent in shape.split("x")[:-1]]
            shape = [extent if extent else (dims[d] if d < len(dims) and dims[d] else f"{name}_{d}") for d, extent in enumerate(extents)]
            is_between, pattern = "nest.intermediate" in attributes, attribute(attributes, "nest.pattern")
            is_collected = "nest.collected" in attributes
            is_result = ("nest.assembly" in attributes or pattern is not None or is_collected) and not is_between
            tensors.append(SparseTensor(name, int(number), shape, np.dtype(DTYPES[element]), levels_of(name, encoding), [], is_result,
                                        is_between, is_collected, int(pattern or -1)))
    for tensor in tensors:
        tensor.arrays = arrays.get(str(tensor.number), [])
    return tensors


def arrays_of(tensor, dense):
    """Positions and coordinates of each level that has them, then the values."""
    indices = np.argwhere(dense != 0)
    at = np.stack([level.coordinates(indices[:, level.dim]) for level in tensor.levels], axis=1)
    order = np.lexsort(at.T[::-1]) # by the first level, then the second ...
    indices, at = indices[order], at[order]
    parents, count, found = np.zeros(len(at), np.int64), 1, [] # which node of the level before an entry belongs to
    for number, level in enumerate(tensor.levels):
        here = at[:, number]
        if level.format == "dense":
            extent = level.extent(dense.shape)
            parents, count = parents * extent + here, count * extent
            continue
        is_singleton = level.format.startswith("singleton")
        if is_singleton or "nonunique" in level.format:
            nodes = np.arange(len(at))
        else:
            nodes = np.unique(np.stack([parents, here]), axis=1, return_inverse=True)[1].reshape(-1)
        first = np.unique(nodes, return_index=True)[1]
        if tensor.is_collected and number == 0:
            found.append(np.array([0, len(first)]))
        if not is_singleton and number > 0:
            found.append(np.concatenate([[0], np.cumsum(np.bincount(parents[first], minlength=count))]))
        found.append(here[first])
        parents, count = nodes, len(first)
    values = np.zeros(count, tensor.dtype)
    values[parents] = dense[tuple(indices.T)]
    return [*found, values]


def block_of(tensors, extent):
    """What an extent, or the dimension of a name, has to be a multiple of."""
    blocks = [level.block for tensor in tensors for level in tensor.levels if tensor.shape[level.dim] == extent]
    return int(np.lcm.reduce(blocks)) if blocks else 1


def checked_extent(tensors, name, extent):
    block = block_of(tensors, name)
    if extent is None:
        return -(-DEFAULT_EXTENT // block) * block
    if extent % block:
        raise Failure(f"--dim {name}={extent}: blocks need a multiple of {block}")
    return extent


def room_for(tensor, shape):
    """Zeros: positions of all rows, and as many entries as there are elements."""
    positions, coordinates, values = tensor.arrays
    rows = next(level.extent(shape) for level in tensor.levels if level.format == "dense")
    return {positions: np.zeros(rows + 1, np.int64), coordinates: np.zeros(np.prod(shape), np.int64),
            values: np.zeros(np.prod(shape), tensor.dtype)}


def make_inputs(model, tensors, seed, extents, integers):
    """Arguments of forward() by name, and those of the program on dense tensors in order."""
    given = [tensor for tensor in tensors if not tensor.is_result and not tensor.is_between]
    own = {name for tensor in tensors for name in tensor.arrays}
    others = [argument for argument in model.inputs if argument.name not in own]
    known = {extent for argument in others for extent in argument.shape if not isinstance(extent, int)}
    names = known | {extent for tensor in given for extent in tensor.shape if not isinstance(extent, int)}
    if unknown := sorted(extents.keys() - names):
        raise Failure(f"no input has a symbolic dimension {unknown[0]}; there are: {', '.join(sorted(names)) or 'none'}")
    extents = {name: checked_extent(given, name, extents.get(name)) for name in names}
    seeded = seeded_inputs(replace(model, arguments=others), seed, {name: extents[name] for name in known}, integers)
    arrays = {argument.name: array for argument, array in zip(others, seeded)}
    random = np.random.default_rng(seed + 1)
    dense = {}
    for tensor in given:
        shape = [extent if isinstance(extent, int) else extents[extent] for extent in tensor.shape]
        elements = random.standard_normal(shape) if tensor.dtype.kind == "f" else random.integers(1, 9, shape)
        whole = np.where(random.random(shape) < STORED, elements, 0).astype(tensor.dtype)
        made = arrays_of(tensor, whole)
        if len(made) != len(tensor.arrays):
            raise Failure(f"'{tensor.name}': {len(tensor.arrays)} arrays are passed, {len(made)} were made")
        arrays |= dict(zip(tensor.arrays, made))
        dense[tensor.arrays[-1]] = whole
    for tensor in tensors:
        if tensor.is_between:
            arrays |= room_for(tensor, [extent if isinstance(extent, int) else extents[extent] for extent in tensor.shape])
    whole = [dense.get(argument.name, arrays.get(argument.name)) for argument in model.inputs if argument.name in dense or argument in others]
    return arrays, whole


def dense_program(path):
    """The text with dense tensors: a sparse result begins as zeros."""
    text = path.read_text()
    text = re.sub(rf"(?m)^\s*#\w+ = {ENCODING}\s*$", "", text.replace("\r", ""))
    aliases = set(re.findall(rf"(?m)^\s*(#\w+) = {ENCODING}", path.read_text()))
    encoded = "|".join([ENCODING, *map(re.escape, aliases)])
    zeros = (r"\1_none = tensor.empty(\2) : tensor<\3>\n  \1_zero = arith.constant 0.0 : \4\n"
             r"  \1 = linalg.fill ins(\1_zero : \4) outs(\1_none : tensor<\3>) -> tensor<\3>")
    text = re.sub(rf"(%\w+) = tensor\.empty\(([^)]*)\) : tensor<([\dx?]*(\w+)), (?:{encoded})>", zeros, text)
    text = re.sub(rf"(tensor<[\dx?]*\w+), (?:{encoded})>", r"\1>", text)
    if "sparse_tensor" in text:
        raise Failure("upstream's lowering on dense tensors knows no operation of sparse_tensor; give --reference FILE.npz")
    return text


def stored_results(tensors, outputs):
    """The arrays of sparse results by name, of dense ones."""
    results = [tensor for tensor in tensors if tensor.is_result and tensor.arrays]
    if results and len(results) != len(outputs):
        raise Failure("some results are sparse, some dense; give --reference FILE.npz")
    between = [tensor.number for tensor in tensors if tensor.is_between]
    stored = {}
    for tensor, dense in zip(results, outputs):
        arrays = arrays_of(tensor, dense)[-len(tensor.arrays):]
        if tensor.pattern in between: # it has the room of the other one
            arrays = [np.concatenate([arrays[0], np.zeros(dense.size - len(arrays[0]), arrays[0].dtype)])]
        stored |= dict(zip(tensor.arrays, arrays))
    return stored


def expected_of(model, tensors, arrays, outputs):
    """What each output of forward() has to be, of those of the program; what is none of them is the room in `arrays`."""
    stored = stored_results(tensors, outputs)
    rooms = {name for tensor in tensors if tensor.is_between for name in tensor.arrays}
    for argument in model.outputs:
        argument.is_room = argument.name in rooms
    dense = iter(outputs)
    arrays |= {name: np.zeros_like(array) for name, array in stored.items()}
    return [arrays[argument.name] if argument.is_room else stored[argument.name] if stored else next(dense) for argument in model.outputs]


def given(model, tensors, seed, extents, integers, run):
    """Arguments of forward(), and what it has to compute; `run` says it of the dense program and its arguments."""
    arrays, whole = make_inputs(model, tensors, seed, extents, integers)
    outputs = [np.asarray(output).astype(argument.dtype)
               for argument, output in zip(model.outputs, expected_of(model, tensors, arrays, run(whole)), strict=True)]
    return [arrays[argument.name].astype(argument.dtype) for argument in model.inputs], outputs
