#!/usr/bin/env python3
"""Runs an MLIR module of linalg on tensors through upstream's own lowering: the reference for what ml2kokkos computes.

    upstream_run.py MODULE.mlir --inputs in.npz --outputs out.npz [--entry NAME] [--keep DIR]

MODULE may be the output of `ml2kokkos --emit=imported`: its nest.weight become arguments, which keeps large weights out of
LLVM. in.npz holds the inputs under their names (or x0, x1, ...); out.npz gets the outputs the same way (y0, y1, ...), and what is in
memrefs afterwards as @0, @1, ... by their places among the arguments.
As a library: `Program(text)(arrays...)`.
"""

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy

TOSA = (
    "builtin.module(func.func(tosa-make-broadcastable,tosa-infer-shapes,tosa-optional-decompositions,tosa-to-linalg-named,"
    "tosa-layerwise-constant-fold,tosa-make-broadcastable,tosa-to-linalg,tosa-to-arith{include-apply-rescale=1},tosa-to-tensor,"
    "tosa-to-scf,canonicalize))"
)
BUFFERIZE = (
    "builtin.module(func.func(convert-elementwise-to-linalg),one-shot-bufferize{bufferize-function-boundaries=1 allow-return-allocs-from-loops=1 "
    "function-boundary-type-conversion=identity-layout-map})"
)
LOWER = (
    "builtin.module(func.func(convert-linalg-to-loops,scf-forall-to-parallel,lower-affine),"
    "func.func(llvm-request-c-wrappers),memref-expand,convert-math-to-funcs,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "arith-expand{include-bf16=1},convert-math-to-llvm,convert-math-to-libm,"
    "convert-arith-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts)"
)
# Before these
VECTORS = (
    "builtin.module(func.func(convert-linalg-to-loops,lower-vector-mask,lower-vector-multi-reduction,convert-vector-to-scf),lower-affine,"
    "convert-vector-to-llvm{reassociate-fp-reductions=0})"
)
# What has no bufferization upstream
DECOMPOSE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.tensor.decompose_concat
    } : !transform.any_op
    %softmax = transform.structured.match ops{["linalg.softmax"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %softmax : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      transform.structured.decompose_interface %op : (!transform.any_op) -> !transform.any_op
    }
    %pack = transform.structured.match ops{["tensor.pack"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %pack : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %one = transform.cast %op : !transform.any_op to !transform.op<"tensor.pack">
      transform.structured.lower_pack %one : (!transform.op<"tensor.pack">)
        -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
    }
    %unpack = transform.structured.match ops{["tensor.unpack"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %unpack : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %one = transform.cast %op : !transform.any_op to !transform.op<"tensor.unpack">
      transform.structured.lower_unpack %one : (!transform.op<"tensor.unpack">)
        -> (!transform.op<"tensor.empty">, !transform.op<"linalg.transpose">, !transform.op<"tensor.collapse_shape">,
            !transform.op<"tensor.extract_slice">)
    }
    transform.yield
  }
}
"""
# bfloat16 has no numpy type: its bits
DTYPES = {
    "f16": numpy.float16, "f32": numpy.float32, "f64": numpy.float64, "bf16": numpy.uint16, "i1": numpy.bool_,
    "i8": numpy.int8, "i16": numpy.int16, "i32": numpy.int32, "i64": numpy.int64, "index": numpy.int64,
}
NAME = r'"((?:[^"\\]|\\.)*)"'


class Failed(Exception):
    """An upstream tool refused the module."""


# i1 is passed as a byte
C_TYPES = {
    "f32": ctypes.c_float, "f64": ctypes.c_double, "i1": ctypes.c_bool, "i8": ctypes.c_int8, "i16": ctypes.c_int16,
    "i32": ctypes.c_int32, "i64": ctypes.c_int64, "index": ctypes.c_int64,
}


class TensorType:
    """tensor<2x?x3xf32>, the same of a memref, or a number: f32"""

    def __init__(self, text):
        array = re.fullmatch(r"(?:tensor|memref)<((?:(?:\d+|\?)x)*)(\w+)>", text)
        if not array and text not in C_TYPES:
            raise Failed(f"cannot pass a {text}")
        self.text = text
        self.is_number = not array
        self.is_memref = text.startswith("memref")
        self.element = array.group(2) if array else text
        self.is_half = self.element in ("f16", "bf16")
        self.c_type = None if array else C_TYPES[text]
        self.dtype = numpy.dtype(DTYPES[array.group(2) if array else text])
        extents = array.group(1).split("x")[:-1] if array else []
        self.shape = [None if extent == "?" else int(extent) for extent in extents]

    @staticmethod
    def of(item):
        """The type in `%x: tensor<4xf32> {...}` or `tensor<4xf32> {...}`."""
        found = re.search(r"(?:tensor|memref)<[^>]*>|\b(?:index|i\d+|f\d+|bf16)\b(?=\s*(?:\{|$))", item)
        if not found:
            raise Failed(f"cannot pass {item}")
        return TensorType(found.group())


def to_half(array, element):
    """float32 to f16, or to the bits of bf16: to the nearest, ties to even."""
    if element == "f16":
        return array.astype(numpy.float16)
    bits = numpy.ascontiguousarray(array).view(numpy.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)
    return numpy.where(numpy.isnan(array), numpy.uint16(0x7FC0), rounded)


def from_half(array, element):
    if element == "f16":
        return array.astype(numpy.float32)
    return (array.astype(numpy.uint32) << 16).view(numpy.float32)


def constant(type_, text):
    """The value of a dense<...> attribute."""
    hexadecimal = re.match(r'dense<"0x([0-9A-Fa-f]*)">', text)
    if hexadecimal:
        data = bytes.fromhex(hexadecimal.group(1))
        if type_.dtype == numpy.bool_:
            bits = numpy.unpackbits(numpy.frombuffer(data, numpy.uint8), bitorder="little")
            return bits[: int(numpy.prod(type_.shape))].astype(bool).reshape(type_.shape)
        flat = numpy.frombuffer(data, type_.dtype)
    else:
        body = re.match(r"dense<([^>]*)>", text).group(1)
        flat = [element(type_.dtype, token) for token in re.findall(r"[-+.\w]+", body)]
        flat = numpy.array(flat, type_.dtype)
    return numpy.ascontiguousarray(numpy.broadcast_to(flat, type_.shape) if flat.size == 1 else flat.reshape(type_.shape))


def element(dtype, token):
    if token in ("true", "false"):
        return token == "true"
    if token.startswith("0x") and dtype.kind == "f":
        return numpy.array([int(token, 16)], f"u{dtype.itemsize}").view(dtype)[0]
    return int(token, 0) if dtype.kind in "iub" else float(token)


def split_list(text):
    """At the commas that are in no bracket and no string."""
    items, depth, quoted, start = [], 0, False, 0
    for at, char in enumerate(text):
        if char == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (char in "([{<") - (char in ")]}>" and text[at - 1] != "-")
            if char == "," and depth == 0:
                items.append(text[start:at])
                start = at + 1
    return [item.strip() for item in items + [text[start:]] if item.strip()]


def closing(text, start):
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    raise Failed("unbalanced parentheses in a function's signature")


class Signature:
    """The line of a func.func: arguments and results with their types and `nest.name`."""

    def __init__(self, line):
        self.entry = re.search(r"func\.func (?:public |private )?@([\w$.]+)", line).group(1)
        start = line.index("(")
        end = closing(line, start)
        self.before, self.after = line[: start + 1], line[end:]
        self.arguments = split_list(line[start + 1 : end])
        arrow = re.match(r"\)\s*->\s*", self.after)
        results = self.after[arrow.end() :] if arrow else ""
        results = results[1 : closing(results, 0)] if results.startswith("(") else results.partition(" ")[0]
        self.types = [TensorType.of(item) for item in self.arguments]
        self.result_types = [TensorType.of(item) for item in split_list(results)]
        self.names = self.names_of(self.arguments, "x")
        self.result_names = self.names_of(split_list(results), "y")

    @staticmethod
    def names_of(items, prefix):
        found = [re.search(r"nest\.name = " + NAME, item) for item in items]
        return [name.group(1) if name else f"{prefix}{at}" for at, name in enumerate(found)]

    def text(self, weights):
        arguments = [re.sub(r"\s*\{.*\}", "", item) for item in self.arguments]
        arguments += [f"{ssa}: {type_.text}" for ssa, type_, _ in weights]
        after = re.sub(r"(tensor<[^>]*>) \{[^}]*\}", r"\1", self.after)
        return self.before + ", ".join(arguments) + re.sub(r" attributes \{[^}]*\}", "", after)


class Descriptor:
    """MLIR's memref descriptor of an array."""

    def __init__(self, rank):
        fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)]
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)] if rank else []
        self.type = type(f"MemRef{rank}", (ctypes.Structure,), {"_fields_": fields})

    def of(self, array):
        strides = [stride // array.itemsize for stride in array.strides]
        extra = [tuple(array.shape), tuple(strides)] if array.ndim else []
        fields = [(ctypes.c_int64 * array.ndim)(*values) for values in extra]
        return self.type(array.ctypes.data, array.ctypes.data, 0, *fields)

    @staticmethod
    def array(memref, dtype):
        shape = tuple(getattr(memref, "sizes", ()))
        strides = tuple(stride * dtype.itemsize for stride in getattr(memref, "strides", ()))
        if 0 in shape:
            return numpy.zeros(shape, dtype)
        reach = dtype.itemsize + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
        data = (ctypes.c_char * reach).from_address(memref.aligned + memref.offset * dtype.itemsize)
        return numpy.ndarray(shape, dtype, data, 0, strides).copy()


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{os.path.basename(command[0])}: {done.stderr[:2000]}")
    return done.stdout


def lower(text, directory):
    """Text of linalg, tensor, scf, affine, memref and TOSA to a shared library; its path."""
    def path(name):
        return os.path.join(directory, name)

    if "tosa." in text:
        text = run(["mlir-opt-19", f"--pass-pipeline={TOSA}"], text)
    if re.search(r"tensor\.(concat|pack|unpack)|linalg\.softmax", text):
        with open(path("decompose.mlir"), "w") as file:
            file.write(DECOMPOSE)
        library = f"--transform-preload-library=transform-library-paths={path('decompose.mlir')}"
        text = run(["mlir-opt-19", library, "--transform-interpreter"], text)
    text = run(["mlir-opt-19", f"--pass-pipeline={BUFFERIZE}"], text)
    if "vector<" in text:
        text = run(["mlir-opt-19", f"--pass-pipeline={VECTORS}"], text)
    text = run(["mlir-opt-19", f"--pass-pipeline={LOWER}"], text)
    with open(path("module.ll"), "w") as file:
        file.write(run(["mlir-translate-19", "--mlir-to-llvmir"], text))
    libraries = subprocess.run(["llvm-config-19", "--libdir"], capture_output=True, text=True).stdout.strip()
    # A function of the program called as one of the C library, @glob or @index, is the program's
    run(["clang-19", "-w", "-O2", "-march=native", "-shared", "-fPIC", "-Wl,-Bsymbolic-functions", path("module.ll"), "-o", path("module.so"),
         f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lmlir_c_runner_utils", "-lmlir_float16_utils", "-lm"], "")
    return path("module.so")


class Function:
    """A compiled function: arrays in, the list of results out; memrefs as they are afterwards in `updated`."""

    def __init__(self, signature, library, weights=()):
        self.signature, self.weights = signature, list(weights)
        self.function = getattr(library, f"_mlir_ciface_{signature.entry}")
        types = signature.result_types
        fields = [(f"y{at}", type_.c_type or Descriptor(len(type_.shape)).type) for at, type_ in enumerate(types)]
        self.results = type("Results", (ctypes.Structure,), {"_fields_": fields})
        # One number comes back as it is, everything else through a pointer
        self.returns_number = len(types) == 1 and types[0].is_number
        self.function.restype = types[0].c_type if self.returns_number else None

    def arguments(self, given):
        types, names = self.signature.types, self.signature.names
        if isinstance(given, dict):
            given = [given[name] if name in given else given[f"x{at}"] for at, name in enumerate(names)]
        if len(given) != len(types):
            raise Failed(f"{len(given)} inputs are given, {len(types)} are needed")
        arrays = []
        for name, type_, array in zip(names, types, given):
            array = numpy.asarray(array, type_.dtype if type_.is_number else None)
            if type_.element == "index" and array.dtype == numpy.int32:
                array = array.astype(numpy.int64)
            if type_.is_half and array.dtype == numpy.float32:
                array = to_half(array, type_.element)
            if array.dtype.itemsize == type_.dtype.itemsize and array.dtype != type_.dtype:
                array = array.view(type_.dtype)  # unsigned integers, bfloat16
            fits = len(array.shape) == len(type_.shape) and all(
                want in (None, have) for want, have in zip(type_.shape, array.shape)
            )
            if array.dtype != type_.dtype or not fits:
                raise Failed(f'input "{name}": {array.dtype}{list(array.shape)} is given for {type_.text}')
            # A private copy: an in-place operation may write to it
            arrays.append(numpy.array(array, order="C"))
        return arrays + [value for _, _, value in self.weights]

    def __call__(self, *given):
        arrays = self.arguments(given[0] if len(given) == 1 and isinstance(given[0], dict) else list(given))
        types = self.signature.types
        numbers = [at for at, type_ in enumerate(types) if type_.is_number]
        passed = [
            types[at].c_type(array.item()) if at in numbers else ctypes.byref(Descriptor(array.ndim).of(array))
            for at, array in enumerate(arrays)
        ]
        results = self.results()
        by_pointer = self.signature.result_types and not self.returns_number
        returned = self.function(*([ctypes.byref(results)] if by_pointer else []), *passed)
        self.updated = {at: arrays[at] for at, type_ in enumerate(types) if type_.is_memref}
        return [
            numpy.array(returned if self.returns_number else getattr(results, f"y{at}"), type_.dtype)
            if type_.is_number else Descriptor.array(getattr(results, f"y{at}"), type_.dtype)
            for at, type_ in enumerate(self.signature.result_types)
        ]


class Library:
    """All functions of a module without weights, compiled once."""

    def __init__(self, text, directory):
        text = run(["mlir-opt-19"], text)  # one line for each signature, no names for types
        heads = re.findall(r"^\s*func\.func .*", text, re.M)
        self.signatures = {signature.entry: signature for signature in map(Signature, heads)}
        self.library = ctypes.CDLL(lower(text, directory))

    def function(self, name):
        return Function(self.signatures[name], self.library)


class Program(Function):
    """A module, compiled. Call it with arrays, or with a dictionary of them by name; it returns the list of outputs."""

    def __init__(self, text, entry=None, directory=None):
        self.directory = directory or tempfile.mkdtemp(prefix="upstream_run_")
        try:
            text, signature, weights = self.separate(text, entry)
            super().__init__(signature, ctypes.CDLL(lower(text, self.directory)), weights)
        finally:
            if not directory:
                shutil.rmtree(self.directory)

    @staticmethod
    def separate(text, entry):
        """Takes the weights out of the text; they become arguments."""
        if "nest." not in text:
            text = run(["mlir-opt-19"], text)  # one line for each signature, no names for types
        lines, weights, header = [], [], None
        name = re.escape(entry) if entry else r"[\w$.]+"
        wanted = re.compile(rf"\s*func\.func (public )?@{name}\(")
        for line in text.splitlines():
            weight = re.match(rf"\s*(%\S+) = nest\.weight {NAME}.*? : (tensor<[^>]*>) = (.*)", line)
            if weight:
                type_ = TensorType(weight.group(3))
                weights.append((weight.group(1), type_, constant(type_, weight.group(4))))
                continue
            if header is None and wanted.match(line):
                header = len(lines)
            lines.append(line)
        if header is None:
            raise Failed("the module has no public function" + (f" @{entry}" if entry else ""))
        signature = Signature(lines[header])
        lines[header] = signature.text(weights)
        return "\n".join(lines) + "\n", signature, weights


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--outputs", required=True)
    parser.add_argument("--entry")
    parser.add_argument("--keep", metavar="DIR", help="leave the intermediate files there")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    try:
        with open(options.module) as file:
            program = Program(file.read(), options.entry, options.keep)
        outputs = program(dict(numpy.load(options.inputs)))
    except (Failed, OSError) as error:
        sys.exit(f"upstream_run.py: {error}")
    written = {f"@{at}": array for at, array in program.updated.items()}
    numpy.savez(options.outputs, **dict(zip(program.signature.result_names, outputs)), **written)


if __name__ == "__main__":
    main()
