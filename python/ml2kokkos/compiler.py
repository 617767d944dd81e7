"""compile(): a model to a Python module with its printed code, by way of the cache."""

import hashlib
import json
import re
from pathlib import Path

from .binding import binding_text
from .building import build, find_compiler, find_kokkos, identity
from .cache import cache_root, made_once
from .errors import Error
from .interface import interface_of, to_json
from .module import EXTENSION, load
from .processes import Progress
from .tool import check_options, content_hash, find_tool, run_tool


def _name_of(given, path):
    name = re.sub(r"\W", "_", given or (Path(path).stem if path else "model"), flags=re.ASCII)
    name = f"_{name}" if name[0].isdigit() else name
    if name.startswith("ml2kokkos"):
        raise ValueError(f"a model cannot be called {name}; give another name=")
    return name


def _external_files(content, folder):
    """Files that an ONNX model keeps weights in: protobuf's entries of the key "location". Others that look alike cost a hash."""
    for match in re.finditer(rb"\x0a\x08location\x12(.)", content, re.DOTALL):
        name = content[match.end():match.end() + match.group(1)[0]]
        path = folder / name.decode(errors="replace")
        if path.is_file():
            yield path


def _model_hash(path, content):
    """Of the model with the files that it refers to."""
    if content is not None:
        return hashlib.sha256(content).hexdigest()
    hashes = [content_hash(path)]
    if path.suffix == ".onnx":
        hashes += [content_hash(file) for file in _external_files(path.read_bytes(), path.parent)]
    return ":".join(hashes)


class Mlir(bytes):
    """The text of an MLIR module, where bytes alone are an ONNX model."""


def _source_of(model):
    """(path, content): one of them; a ModelProto of the package onnx is its bytes."""
    if isinstance(model, Mlir):
        return None, model
    if isinstance(model, (bytes, bytearray, memoryview)):
        return None, bytes(model)
    if hasattr(model, "SerializeToString"):
        return None, model.SerializeToString()
    path = Path(model).absolute()
    if not path.is_file():
        raise FileNotFoundError(f"there is no model {path}")
    return path, None


def _options_of(dims, operands, entry, options):
    result = [f"--dim={name}={extent}" for name, extent in (dims or {}).items()]
    for name, values in (operands or {}).items():
        numbers = values.reshape(-1).tolist() if hasattr(values, "reshape") else values if isinstance(values, (list, tuple)) else [values]
        result.append(f"--operand={name}=" + ",".join(str(number).lower() for number in numbers))
    return result + ([f"--entry={entry}"] if entry else []) + check_options(options)


def compile(model, *, name=None, dims=None, operands=None, entry=None, options=(), flags=(), link=(), compiler=None,
            kokkos=None, tool=None, cache=None, progress=None):
    """Translates `model`, builds what the tool prints, and loads it.

    model     path of an .onnx, .mlir or .mlirbc file; the bytes of an ONNX model; or an onnx.ModelProto
    name      of the printed files and their namespace; default: that of the file
    dims      extents of symbolic dimensions, as --dim of the tool
    operands  inputs that become constants, as --operand
    entry     the function of an MLIR module, as --entry
    options   further options of the tool, such as "--winograd=off"
    flags     of the C++ compiler, behind those that printed code is made for
    link      sources of C and C++, object files and libraries with the functions that kernels call
    compiler, kokkos, tool   instead of $CXX, $Kokkos_ROOT, $ML2KOKKOS
    cache     instead of $ML2KOKKOS_CACHE or ~/.cache/ml2kokkos
    progress  whether to show what is being done; default: on a terminal

    Raises TranslationError with the text of the tool, BuildError, or ToolNotFound."""
    path, content = _source_of(model)
    name = _name_of(name, path)
    tool, compiler, kokkos = find_tool(tool), find_compiler(compiler), find_kokkos(kokkos)
    options, flags = _options_of(dims, operands, entry, options), list(flags)
    shown = Progress(progress)
    model_hash = _model_hash(path, content)
    hashed = [f"--tune {content_hash(option.partition('=')[2])}" if option.startswith("--tune=") else option for option in options]
    suffix = path.suffix if path else ".mlir" if isinstance(content, Mlir) else ".onnx"
    links = [Path(file).absolute() for file in link]
    texts = [model_hash, *(f"link {file} {content_hash(file)}" for file in links), content_hash(tool), name, suffix, *hashed, "", *identity(compiler, kokkos, flags)]
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]

    def make(folder):
        source = path
        if content is not None:
            source = folder / f"{name}{suffix}"
            source.write_bytes(content)
        shown.step(f"translating {name}")
        report = run_tool(tool, source, "-o", folder / f"{name}.cpp", "--report", "--report-json", folder / "report.json",
                          *options, progress=shown)
        view = folder / f"{name}.json" # named like the source, so that names in it are the source's
        run_tool(tool, source, "--emit=json", "-o", view, *options, progress=shown)
        if _model_hash(path, content) != model_hash:
            raise Error(f"{path} has changed while it was translated")
        interface = interface_of(name, json.loads(view.read_text()))
        view.unlink()
        (folder / "report.txt").write_text(report)
        (folder / "model.json").write_text(json.dumps({"path": source.name if content is not None else str(source), "options": options}))
        (folder / "interface.json").write_text(json.dumps(to_json(interface), indent=1))
        (folder / "ml2kokkos_binding.cpp").write_text(binding_text(interface, EXTENSION, key))
        shown.step(f"compiling {name}")
        build(folder, EXTENSION, compiler, kokkos, flags, shown, links)

    def waiting():
        if not shown.last:
            shown.step(f"another process builds {name}")
        import time

        time.sleep(0.1)
        shown.tick()

    try:
        return load(made_once(cache_root(cache), f"{name}-{key}", make, waiting))
    finally:
        shown.close()
