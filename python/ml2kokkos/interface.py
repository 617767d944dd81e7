"""How forward() of a printed model is called, from the tool's view model (--emit=json)."""

import re
from dataclasses import asdict, dataclass, field, replace

from .errors import Error

# Elements of views, as the printed code spells them, and as NumPy calls them. Half precision is computed in float where Kokkos
# has no half type, which is so on every host.
DTYPES = {
    "Kokkos::Experimental::half_t": "float32", "Kokkos::Experimental::bhalf_t": "float32",
    "float": "float32", "double": "float64", "bool": "bool", "int": "int32", "unsigned": "uint32",
    **{f"std::{kind}{bits}_t": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}

HALVES = {"Kokkos::Experimental::half_t": "float16", "Kokkos::Experimental::bhalf_t": "bfloat16"} # on devices


@dataclass(frozen=True)
class Argument:
    """A parameter of forward() behind execution space, weights and workspace."""

    name: str           # as the model calls it
    parameter: str      # as the printed code and Python call it
    type: str           # of the printed header
    dtype: str
    shape: tuple        # extents; the name of a run-time size
    extents: tuple = () # by axis, how an output's size follows from those of inputs, "" where it is known otherwise
    is_output: bool = False
    is_updated: bool = False # an output that holds values before the call, too
    is_view: bool = True     # else a number
    counts: tuple = ()       # by axis, the output that says how many positions count
    half: str = ""           # of devices that have it: the 16-bit type that a host has as float32

    @property
    def is_given(self):
        return not self.is_output or self.is_updated

    def __str__(self):
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Interface:
    name: str
    namespace: str
    arguments: tuple
    sizes: tuple             # names of run-time sizes, in the order in which arguments show them
    workspace_sizes: tuple   # those that the Workspace takes
    has_weights: bool
    has_workspace: bool
    is_embedded: bool        # weights stand in the source
    format: int = field(default=1)

    @property
    def inputs(self):
        return tuple(argument for argument in self.arguments if argument.is_given)

    @property
    def outputs(self):
        return tuple(argument for argument in self.arguments if argument.is_output)


def identifiers(entries):
    """Keywords of Python's forward(), one per argument, however the model calls them."""
    taken = set()
    for entry in entries:
        name = re.sub(r"\W", "_", entry.get("name") or entry["model_name"], flags=re.ASCII) or "argument"
        name = f"_{name}" if name[0].isdigit() else name
        while name in taken:
            name += "_"
        taken.add(name)
        yield name


def argument_of(entry, parameter):
    return Argument(entry["model_name"], parameter, entry["type"], DTYPES[entry["scalar"]], tuple(entry["shape"]),
                    tuple(entry.get("extents", ())), entry["output"], entry["updated"], entry["is_view"], tuple(entry["counts"])
                    if entry["is_view"] else (), HALVES.get(entry["scalar"], ""))


def interface_of(name, view):
    """`view`: what ml2kokkos --emit=json prints."""
    arguments = tuple(map(argument_of, view["arguments"], identifiers(view["arguments"])))
    names = [extent for argument in arguments for extent in argument.shape if isinstance(extent, str)]
    workspace = [size["name"] for workspace in view["workspaces"] for size in workspace["sizes"]]
    return Interface(name, view["namespace"], arguments, tuple(dict.fromkeys(names)), tuple(workspace), bool(view["weights"]),
                     bool(view["workspaces"]), any(loader.get("embedded") for loader in view["loaders"]))


def with_halves(interface):
    """As a device has it."""
    for argument in interface.arguments:
        if argument.half == "bfloat16":
            raise Error(f"{interface.name}: \"{argument.name}\" is bfloat16 on a device, a type that NumPy does not have")
    return replace(interface, arguments=tuple(replace(argument, dtype=argument.half) if argument.half else argument
                                              for argument in interface.arguments))


def to_json(interface):
    return asdict(interface)


def from_json(data):
    def frozen(value):
        return tuple(map(frozen, value)) if isinstance(value, list) else value

    arguments = tuple(Argument(**{key: frozen(value) for key, value in entry.items()}) for entry in data.pop("arguments"))
    return Interface(arguments=arguments, **{key: frozen(value) for key, value in data.items()})
