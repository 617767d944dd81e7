//===- FileSerializer.cpp - the structs and the loader as JSON for the templates ----------------------------------===//

#include "translator/emit/cpp/Serializer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ml2k::cpp {

Json Serializer::json(Member const &member) { return {{"type", text(member.type.code)}, {"name", member.name.str()}}; }

/// `, n, 4 * m`
static std::string extentsOf(Buffer const &buffer) {
  std::string text;
  for (Expression const &extent : buffer.extents)
    text += ", " + Serializer::text(extent);
  return text;
}

static Json viewTake(Buffer const &buffer) {
  Json release = Json::array();
  if (!buffer.released.empty())
    release.push_back({{"views", Serializer::list(buffer.released)}});
  return {{"view", Serializer::text(buffer.view)}, {"extents", extentsOf(buffer)}, {"release", release}};
}

static Json viewAllocation(Buffer const &buffer) {
  return {{"view", Serializer::text(buffer.view)}, {"label", buffer.label}, {"extents", extentsOf(buffer)}};
}

/// How a workspace serves other sizes: one view per buffer, in the memory that it has. None where all sizes are known.
static Json viewFitted(Workspace const &workspace) {
  if (workspace.sizes.empty())
    return Json::array();
  Json names = Json::array(), views = Json::array();
  for (Identifier const &size : workspace.sizes)
    names.push_back({{"name", size.str()}});
  for (Buffer const &buffer : workspace.buffers)
    if (!buffer.extents.empty())
      views.push_back({{"view", Serializer::text(buffer.view)}, {"extents", extentsOf(buffer)}});
  auto const local = [&](std::string name) {
    while (llvm::any_of(workspace.sizes, [&](Identifier const &size) { return size.str() == name; }))
      name += "_";
    return name;
  };
  return Json::array({{{"sizes", Serializer::list(intParameters(workspace.sizes))},
                       {"names", names},
                       {"views", views},
                       {"whole", local("whole")},
                       {"part", local("part")},
                       {"fit", local("fit")},
                       {"message", workspace.tooSmall}}});
}

/// Parameters of the constructor: those of its definition hide no member.
static std::vector<Parameter> parametersOf(Workspace const &workspace, bool isDefinition) {
  Names members(workspace.sizes.begin(), workspace.sizes.end());
  for (Member const &member : workspace.members)
    members.insert(member.name);
  std::vector<Parameter> parameters = {{Raw("ExecutionSpace"), Identifier(Raw("space")), " const &"}};
  for (Identifier const &size : workspace.sizes) {
    std::string name = size.str();
    while (isDefinition && members.contains(Identifier(name)))
      name += "_";
    parameters.push_back(intParameter(Identifier(name)));
  }
  return parameters;
}

/// `: n(n_), split("model::split", space)`
static std::string initializersOf(Workspace const &workspace, llvm::ArrayRef<Parameter> definition) {
  std::vector<std::string> all;
  for (auto const &[size, parameter] : llvm::zip(workspace.sizes, definition.drop_front()))
    all.push_back(size.str() + "(" + parameter.name->str() + ")");
  for (Initializer const &initializer : workspace.initializers)
    all.push_back(initializer.name.str() + "(" + Serializer::list(initializer.arguments) + ")");
  return (all.empty() ? "" : ": ") + llvm::join(all, ", ");
}

/// The constructor's refusal of negative sizes. None where all sizes are known.
static Json viewNegative(Workspace const &workspace, llvm::ArrayRef<Parameter> definition) {
  std::vector<std::string> conditions;
  for (Parameter const &parameter : definition.drop_front())
    conditions.push_back(parameter.name->str() + " < 0");
  if (conditions.empty())
    return Json::array();
  return Json::array({{{"condition", llvm::join(conditions, " || ")}, {"message", workspace.negative}}});
}

Json Serializer::json(Workspace const &workspace) {
  std::vector<Parameter> const definition = parametersOf(workspace, true);
  Json sizes = Json::array(), takes = Json::array(), allocations = Json::array();
  for (Identifier const &size : workspace.sizes)
    sizes.push_back({{"name", size.str()}});
  for (Buffer const &buffer : workspace.buffers)
    if (workspace.hasArena)
      takes.push_back(viewTake(buffer));
    else
      allocations.push_back(viewAllocation(buffer));
  return {{"members", all(workspace.members)},
          {"sizes", sizes},
          {"splits", all(workspace.splits)},
          {"parameters", list(parametersOf(workspace, false))},
          {"definition", list(definition)},
          {"initializers", initializersOf(workspace, definition)},
          {"negative", viewNegative(workspace, definition)},
          {"fits", viewFitted(workspace)},
          {"has_arena", workspace.hasArena},
          {"has_allocations", !allocations.empty()},
          {"takes", takes},
          {"allocations", allocations},
          {"label", workspace.label}};
}

Json Serializer::json(Load const &load) {
  return {{"reader", text(load.reader)}, {"source", text(load.source)}, {"views", list(load.views)}};
}

Json Serializer::json(Array const &array) {
  return {{"label", array.label},
          {"type", text(array.type.code)},
          {"name", array.name.str()},
          {"values", list(array.values)}};
}

} // namespace ml2k::cpp
