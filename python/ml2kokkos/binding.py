"""Writes the C++ file that makes a Python module of a printed model."""

FILE = """\
// Written by ml2kokkos: {name} as a Python module.
#include "ml2kokkos_module.hpp"

#include "{name}.cpp"

namespace ml2k_{key} {{
namespace nb = nanobind;

inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {{ return a / b - (a % b != 0 && (a < 0) != (b < 0)); }}
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {{ return -floor_div(-a, b); }}
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) {{ return a - b * floor_div(a, b); }}

struct Printed {{
  using Space = {ns}::ExecutionSpace;
  using Weights = {weights};
  using Workspace = {workspace};
  static constexpr int arguments = {count}, sizes = {sizes};
  using Sizes = std::array<int, {workspace_sizes}>;

  static Weights load([[maybe_unused]] Space const &space, [[maybe_unused]] std::string const &path) {{
    return {load};
  }}
  static std::unique_ptr<Workspace> allocate([[maybe_unused]] Space const &space, [[maybe_unused]] Sizes const &sizes) {{
    return std::make_unique<Workspace>({allocate});
  }}
}};

using Model = ml2k_python::Model<Printed>;

static nb::object forward(Model const &model{parameters}) {{
  auto call = model.call();
{body}
  model.run(call, {{{{{taken}}}}},
            [&](Printed::Space const &space, [[maybe_unused]] Printed::Weights const &weights,
                [[maybe_unused]] Printed::Workspace const &work) {{ {ns}::forward({arguments}); }});
  return {result};
}}

}} // namespace ml2k_{key}

NB_MODULE({module}, module) {{
  using namespace ml2k_{key};
  ml2k_python::liveWithKokkos<Printed>(module);
  nb::class_<Model>(module, "Model")
      .def(nb::init<std::string const &, nb::object>())
      .def("forward", forward{signature});
}}
"""


def shape_text(argument, sizes):
    return "{" + ", ".join(str(extent) if isinstance(extent, int) else f"~{sizes.index(extent)}"
                           for extent in argument.shape) + "}"


def take_text(number, argument, interface):
    """Statement that makes a parameter of forward() from an object of Python's."""
    if not argument.is_view:
        return f"  auto const a{number} = call.number<{argument.type}>({number}, p{number});"
    kind = "updated" if argument.is_updated else "output" if argument.is_output else "input"
    return (f"  auto const a{number} = call.{kind}<{interface.namespace}::{argument.type}>({number}, p{number}, "
            f"{shape_text(argument, interface.sizes)});")


def computed_sizes(interface):
    """Statements for sizes of outputs that follow from those of inputs."""
    sizes = interface.sizes
    known = [name for argument in interface.inputs for name in argument.shape if isinstance(name, str)]
    parameters = ", ".join(f"[[maybe_unused]] std::int64_t {name}" for name in dict.fromkeys(known))
    values = ", ".join(f"call.size({sizes.index(name)})" for name in dict.fromkeys(known))
    for argument in interface.outputs:
        for extent, text in zip(argument.shape, argument.extents):
            if text and isinstance(extent, str) and extent not in known:
                yield f"  call.compute({sizes.index(extent)}, [&]({parameters}) -> std::int64_t {{ return {text}; }}({values}));"


def workspace_values(interface):
    numbers = {argument.parameter: f"int(a{number})" for number, argument in enumerate(interface.arguments)
               if not argument.is_view}
    return ", ".join(f"call.size({interface.sizes.index(name)})" if name in interface.sizes else numbers[name]
                     for name in interface.workspace_sizes)


def body_text(interface):
    order = [(number, argument) for number, argument in enumerate(interface.arguments)]
    lines = [take_text(*entry, interface) for entry in order if entry[1].is_given]
    lines += computed_sizes(interface)
    lines += [take_text(*entry, interface) for entry in order if not entry[1].is_given]
    return "\n".join(lines)


def result_text(interface):
    objects = [f"a{number}.object" for number, argument in enumerate(interface.arguments) if argument.is_output]
    return objects[0] if len(objects) == 1 else f"nb::make_tuple({', '.join(objects)})"


def python_order(interface):
    """Numbers of the arguments as Python gives them: inputs, then outputs by keyword."""
    numbers = range(len(interface.arguments))
    given = [number for number in numbers if interface.arguments[number].is_given]
    return given, [number for number in numbers if number not in given]


def signature_text(interface):
    given, made = python_order(interface)
    names = [f'nb::arg("{interface.arguments[number].parameter}")' for number in given]
    if made:
        names.append("nb::kw_only()")
        names += [f'nb::arg("{interface.arguments[number].parameter}") = nb::none()' for number in made]
    return "".join(f", {name}" for name in names)


def binding_text(interface, module, key):
    ns = interface.namespace
    given, made = python_order(interface)
    values = [f"a{number}.view" if argument.is_view else f"a{number}" for number, argument in enumerate(interface.arguments)]
    leading = ["space", *["weights"] * interface.has_weights, *["work"] * interface.has_workspace]
    load = f"{ns}::load_weights(space{'' if interface.is_embedded else ', path'})" if interface.has_weights else "{}"
    taken = len(interface.workspace_sizes)
    return FILE.format(
        name=interface.name, key=key, ns=ns, module=module, load=load,
        weights=f"{ns}::Weights" if interface.has_weights else "ml2k_python::Nothing",
        workspace=f"{ns}::Workspace" if interface.has_workspace else "ml2k_python::Nothing",
        count=len(interface.arguments), sizes=len(interface.sizes), workspace_sizes=taken,
        allocate=", ".join(["space", *[f"sizes[{i}]" for i in range(taken)]]) if interface.has_workspace else "",
        parameters="".join(f", nb::handle p{number}" for number in [*given, *made]), body=body_text(interface),
        taken=workspace_values(interface), arguments=", ".join([*leading, *values]), result=result_text(interface),
        signature=signature_text(interface))
