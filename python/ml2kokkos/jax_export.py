"""JAX functions by way of StableHLO."""

import inspect

from .compiler import Mlir, compile


def names_of(function, count):
    """Names of the parameters where each is one array."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if len(parameters) == count and all(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters):
        return [one.name for one in parameters]
    return [f"input{i}" for i in range(count)] if count > 1 else ["input"]


def from_jax(function, example_inputs, *, name=None, input_names=None, **options):
    """compile() of a JAX function of arrays with the shapes of the examples; what it closes over, such as its parameters, are weights.

    example_inputs  one array or several (also jax.ShapeDtypeStruct); nested ones are not taken
    input_names     default: those of the parameters
    options         of compile()"""
    from .linalg_export import jax_text

    examples = list(example_inputs) if isinstance(example_inputs, (list, tuple)) else [example_inputs]
    input_names = list(input_names or names_of(function, len(examples)))
    text = jax_text(function, examples, input_names)
    name = name or getattr(function, "__name__", "model").strip("<>")
    return compile(Mlir(text.encode()), name=name, **options)
