"""Families of small MLIR programs, each a list of Program."""

from dataclasses import dataclass, field


@dataclass
class Program:
    """One function. Memrefs among its arguments are read and written."""

    name: str
    text: str
    integers: tuple = (-7, 8)    # range of integer inputs
    extents: dict = field(default_factory=dict)  # of run-time dimensions, by the names that the translation gives them
    edges: bool = False          # NaN, infinities and the ends of the integers among the inputs
    positive: bool = False       # floats above zero
    tolerance: float = 1e-5
    prints: str = ""             # what the program writes to the standard output
    schedule: str = ""           # the steps of a sequence of the transform dialect that runs before ours
    reference: object = None     # inputs -> outputs in place of upstream's lowering, where that has none


def function(name, arguments, results, body):
    """`arguments` is a dictionary of types by name; `results` the types of what `return` in `body` gives."""
    listed = ", ".join(f"%{argument}: {kind}" for argument, kind in arguments.items())
    after = f" -> ({', '.join(results)})" if results else ""
    lines = "\n".join("  " + line for line in body.strip("\n").splitlines())
    return f"func.func @{name}({listed}){after} {{\n{lines}\n}}\n"


def tensor(*extents_and_element):
    return "tensor<" + "x".join(map(str, extents_and_element)) + ">"


def memref(*extents_and_element):
    return "memref<" + "x".join(map(str, extents_and_element)) + ">"


def is_float(element):
    return element.startswith(("f", "bf"))


def zero(element):
    return "0.0" if is_float(element) else "0"
