"""Python side of ml2kokkos: models as Kokkos C++, built and called from Python (docs/python.md), and loop
kernels written in Python (docs/python-kernels.md)."""

import importlib

_FROM = {"compile": "compiler", "load": "module", "Module": "module", "finalize": "module", "from_torch": "torch_export", "from_jax": "jax_export",
         "Error": "errors", "TranslationError": "errors", "BuildError": "errors", "ToolNotFound": "errors"}
_FROM["Policy"] = "policy"
_FROM.update({"kernel": "kernels.kernel", "KernelError": "kernels.problems", "sizes": "kernels.types", "model": "kernels.models", "extern": "kernels.externs"})
__all__ = list(_FROM)
# For kernels, by `import ml2kokkos as kk`: kk.range, kk.sum, ... are no names for `from ml2kokkos import *`
_KINDS = ("f16", "bf16", "f32", "f64", "c64", "c128", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
          "index", "bool_")
_LANGUAGE = ("range", "parallel", "sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "scan", "einsum", "where", "atomic_add",
             "zeros", "empty", "minimum", "maximum")
__version__ = "0.1.0"


def __getattr__(name): # scripts that need only ml2kokkos.verify load nothing else
    if name in _KINDS:
        return importlib.import_module(".kernels.types", __name__).KINDS[name]
    if name in _LANGUAGE:
        return getattr(importlib.import_module(".kernels.language", __name__), name)
    if name not in _FROM:
        raise AttributeError(f"module 'ml2kokkos' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)


def __dir__():
    return sorted([*globals(), *__all__, *_KINDS, *_LANGUAGE])
