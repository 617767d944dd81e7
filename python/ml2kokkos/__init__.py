"""Python side of ml2kokkos: models as Kokkos C++, built and called from Python. docs/python.md."""

import importlib

_FROM = {"compile": "compiler", "load": "module", "Module": "module", "finalize": "module", "from_torch": "torch_export",
         "Error": "errors", "TranslationError": "errors", "BuildError": "errors", "ToolNotFound": "errors"}
__all__ = list(_FROM)
__version__ = "0.1.0"


def __getattr__(name): # scripts that need only ml2kokkos.verify load nothing else
    if name not in _FROM:
        raise AttributeError(f"module 'ml2kokkos' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)


def __dir__():
    return sorted([*globals(), *__all__])
