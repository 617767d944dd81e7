//===- Members.cpp - Weights, Workspace and the loader in the view model ------------------------------------------===//

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/model/Views.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

using namespace mlir;

namespace ml2k {

static std::string quotedLabel(Program const &program, Storage const &storage) {
  return quotedText(program.model + "::" + storage.modelName, longestName);
}

static Json member(cpp::Type const &type, std::string const &name) {
  return {{"type", cpp::Serializer::text(type.code)}, {"name", name}};
}

//===--- Workspace ------------------------------------------------------------------------------------------------===//

/// The extents of dimensions [begin, end), or one for all of them.
static std::string extentText(Program &program, Storage const &buffer, int64_t begin, int64_t end) {
  HostSymbols symbols;
  AffineExpr all = getAffineConstantExpr(1, buffer.type.getContext());
  for (int64_t d = begin; d < end; ++d)
    all = all * program.allocatedExtent(buffer, d, symbols);
  IndexSpace space;
  for (Value value : symbols.values())
    space.symbols.push_back(cpp::name(Identifier(program.hostName(value))));
  Expression const size = indexExpression(all, space);
  program.useBlocks(size);
  return ", " + cpp::Serializer::text(size);
}

/// The run-time extents that the constructor of the view wants; images always count theirs, a flat view has one.
static std::string extentsOf(Program &program, Storage const &buffer) {
  if (buffer.isFlat)
    return buffer.type.hasStaticShape() ? "" : extentText(program, buffer, 0, buffer.type.getRank());
  std::string text;
  int64_t last = !buffer.isImage ? -1 : program.sizesImages ? 2 : 0;
  for (auto [d, extent] : llvm::enumerate(buffer.type.getShape()))
    if (ShapedType::isDynamic(extent))
      last = std::max<int64_t>(last, d);
  for (int64_t d = 0; d <= last; ++d)
    text += extentText(program, buffer, d, d + 1);
  return text;
}

/// First and last moment of forward() at which the buffer is in use; always, if nobody planned that.
static std::pair<int64_t, int64_t> lifetimeOf(Storage const &buffer) {
  if (auto alive = buffer.value.getDefiningOp()->getAttrOfType<DenseI64ArrayAttr>("nest.alive"))
    return {alive[0], alive[1]};
  return {-1, std::numeric_limits<int64_t>::max()};
}

static std::string viewOf(Storage const &buffer) { return buffer.name + (buffer.isImage ? ".rows" : ""); }

/// The buffers in the order in which forward() first uses them, each with those that are done with before the next one.
static Json viewArena(Program &program) {
  std::vector<Storage const *> order;
  for (Storage const &buffer : program.buffers)
    order.push_back(&buffer);
  llvm::stable_sort(order, [](auto *a, auto *b) { return lifetimeOf(*a).first < lifetimeOf(*b).first; });
  Json takes = Json::array();
  size_t released = 0;
  std::vector<Storage const *> byEnd = order;
  llvm::stable_sort(byEnd, [](auto *a, auto *b) { return lifetimeOf(*a).second < lifetimeOf(*b).second; });
  for (auto [i, buffer] : llvm::enumerate(order)) {
    std::vector<std::string> done;
    int64_t const next = i + 1 < order.size() ? lifetimeOf(*order[i + 1]).first : -1;
    for (; next >= 0 && released < byEnd.size() && lifetimeOf(*byEnd[released]).second < next; ++released)
      done.push_back(viewOf(*byEnd[released]));
    Json release = Json::array();
    if (!done.empty())
      release.push_back({{"views", llvm::join(done, ", ")}});
    takes.push_back({{"view", viewOf(*buffer)}, {"extents", extentsOf(program, *buffer)}, {"release", release}});
  }
  return takes;
}

/// Each buffer as an allocation of its own: plainer where there is little to share.
static Json viewAllocations(Program &program) {
  Json allocations = Json::array();
  for (Storage const &buffer : program.buffers)
    allocations.push_back(
        {{"view", viewOf(buffer)}, {"label", quotedLabel(program, buffer)}, {"extents", extentsOf(program, buffer)}});
  return allocations;
}

/// How a workspace serves other sizes: one view per buffer, in the memory that it has. None where all sizes are known.
static Json viewFitted(Program const &program, Json const &buffers) {
  std::vector<std::string> parameters, sizes = workspaceSizes(program);
  Json names = Json::array(), views = Json::array();
  auto const local = [&](std::string name) {
    while (llvm::is_contained(sizes, name))
      name += "_";
    return name;
  };
  for (std::string const &name : sizes) {
    parameters.push_back("int " + name);
    names.push_back({{"name", name}});
  }
  if (names.empty())
    return Json::array();
  for (Json const &buffer : buffers)
    if (buffer["extents"] != "")
      views.push_back({{"view", buffer["view"]}, {"extents", buffer["extents"]}});
  return Json::array({{{"sizes", llvm::join(parameters, ", ")},
                       {"names", names},
                       {"views", views},
                       {"whole", local("whole")},
                       {"part", local("part")},
                       {"fit", local("fit")},
                       {"message", quotedText(program.model + ": the workspace is too small")}}});
}

static Json viewWorkspace(Program &program) {
  Json workspace = {{"members", Json::array()}, {"sizes", Json::array()}, {"splits", Json::array()}};
  std::string parameters = "ExecutionSpace const &space", definition = parameters;
  std::vector<std::string> initializers;
  llvm::StringSet<> members;
  for (std::string const &name : workspaceSizes(program))
    members.insert(name);
  for (Storage const &buffer : program.buffers)
    members.insert(buffer.name);
  for (std::string const &name : workspaceSizes(program)) {
    std::string parameter = name + "_"; // hides no member
    while (members.contains(parameter))
      parameter += "_";
    parameters += ", int " + name;
    definition += ", int " + parameter;
    workspace["sizes"].push_back({{"name", name}});
    initializers.push_back(name + "(" + parameter + ")");
  }
  workspace["parameters"] = parameters;
  workspace["definition"] = definition;
  auto const add = [&](std::string const &type, std::string const &name, std::string const &arguments) {
    workspace["splits"].push_back({{"type", type}, {"name", name}});
    initializers.push_back(name + "(" + arguments + ")");
  };
  auto const labelOf = [&](std::string const &name) { return quotedText(program.model + "::" + name); };
  for (auto const &[scalar, name] : program.splits)
    add("SplitSums<" + scalar + ">", name, labelOf(name) + ", space");
  if (program.winogradShare > 0)
    add("Tensor<float *>", "winograd",
        "Kokkos::view_alloc(space, Kokkos::WithoutInitializing, " + labelOf("winograd") + "), on_host ? " +
            std::to_string(program.winogradShare) + " * space.concurrency() : 0");
  workspace["initializers"] = (initializers.empty() ? "" : ": ") + llvm::join(initializers, ", ");
  for (Storage const &buffer : program.buffers)
    workspace["members"].push_back(member(buffer.cpp, buffer.name));
  bool const arena = program.settled<nest::PlacementAttr>("nest.placement").getValue() == nest::Placement::Arena;
  Json const parts = arena ? viewArena(program) : viewAllocations(program);
  workspace["fits"] = viewFitted(program, parts);
  workspace["has_arena"] = arena;
  workspace["has_allocations"] = !arena && !parts.empty();
  workspace["takes"] = arena ? parts : Json::array();
  workspace["allocations"] = arena ? Json::array() : parts;
  workspace["label"] = labelOf("workspace");
  if (arena)
    program.useBlock("arena");
  return workspace;
}

/// What programs need to call forward(), scripts/verify.py for one; no template reads it. Extents known at run time
/// only are named.
static Json viewArgument(Program &program, Storage const &argument) {
  unsigned const number = cast<BlockArgument>(argument.value).getArgNumber();
  Json shape = Json::array();
  for (int64_t extent : argument.type.getShape())
    shape.push_back(extent);
  for (RuntimeSize const &size : program.sizes)
    if (size.argument == argument.value)
      shape[size.dim] = size.name;
  Json counts = Json::array(); // by axis: the argument that holds how many positions count, or nothing
  if (auto const names = program.entry.getArgAttrOfType<ArrayAttr>(number, "nest.counts"))
    for (Attribute name : names)
      counts.push_back(validUtf8(cast<StringAttr>(name).getValue()));
  return {{"model_name", validUtf8(argument.modelName)},
          {"counts", counts},
          {"type", argument.alias},
          {"scalar", cpp::Serializer::text(argument.scalarType().code)},
          {"shape", shape},
          {"output", argument.isOutput},
          {"updated", bool(program.entry.getArgAttr(number, "nest.updated"))},
          {"is_view", true}};
}

/// The same for a number that is passed by value.
static Json viewScalar(Program const &program, BlockArgument argument, std::string const &modelName) {
  std::string const type = computeType(argument.getType());
  return {{"model_name", validUtf8(modelName)},
          {"type", type},
          {"scalar", type},
          {"shape", Json::array()},
          {"output", false},
          {"updated", false},
          {"is_view", false},
          {"name", program.hostName(argument)}};
}

static Json viewArguments(Program &program) {
  Json arguments = Json::array();
  for (BlockArgument argument : program.entry.getArguments())
    if (Storage const *storage = program.storageOf(argument))
      arguments.push_back(viewArgument(program, *storage));
    else
      arguments.push_back(viewScalar(
          program, argument, program.entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name").str()));
  return arguments;
}

Json viewMembers(Program &program) {
  Json view = {{"aliases", Json::array()},
               {"arguments", viewArguments(program)},
               {"weights", Json::array()},
               {"workspaces", Json::array()}};
  for (Storage const &argument : program.arguments)
    view["aliases"].push_back(member(argument.cpp, argument.alias));
  Json members = Json::array();
  for (Storage const &weight : program.weights)
    if (!weight.isBias)
      members.push_back(member(weight.cpp, weight.name));
  if (!members.empty())
    view["weights"].push_back({{"members", members}});
  if (program.buffers.empty() && program.splits.empty())
    return view;
  view["workspaces"].push_back(viewWorkspace(program));
  return view;
}

//===--- Loader ---------------------------------------------------------------------------------------------------===//

std::vector<SidecarTensor> sidecarOf(Program const &program) {
  std::vector<SidecarTensor> tensors;
  for (Storage const &weight : program.weights)
    tensors.push_back({weight.modelName, cast<nest::WeightOp>(weight.value.getDefiningOp()).getValue()});
  return tensors;
}

/// The elements of a weight as literals; 16-bit floating point as its bits.
static Json viewArray(Storage const &weight, ElementsAttr value) {
  Type const type = value.getElementType();
  std::vector<std::string> literals;
  if (isStoredNarrow(type)) {
    for (APFloat const &element : value.getValues<APFloat>())
      literals.push_back(std::to_string(element.bitcastToAPInt().getZExtValue()));
  } else {
    for (Attribute element : value.getValues<Attribute>())
      literals.push_back(cpp::Serializer::text(literal(cast<TypedAttr>(element))));
  }
  std::string const scalar = isStoredNarrow(type) ? "std::uint16_t" : type.isIndex() ? "std::int64_t" : cppType(type);
  return {{"label", commentText(weight.modelName, longestName)},
          {"type", scalar},
          {"name", weight.name + "_values"},
          {"values", llvm::join(literals, ", ")}};
}

/// Whether a weight is the bias, or another plain tensor, of the layer to which the one before it belongs.
static bool follows(Storage const &weight, Storage const &previous) {
  auto const layer = [](Storage const &storage) { return StringRef(storage.modelName).rsplit('.').first; };
  auto const type = [](Storage const &storage) { return storage.type.getElementType(); };
  bool const alike =
      type(weight) == type(previous) || !(isStoredNarrow(type(weight)) || isStoredNarrow(type(previous)));
  return weight.reader == "read_plain" && alike && StringRef(weight.modelName).contains('.') &&
         layer(weight) == layer(previous);
}

/// Where a weight is read from: `file`, `Halves<8, Sidecar>{file}` for bfloat16, `arrays.at(bias_values)`.
static std::string sourceOf(Program &program, Storage const &weight, bool embedded) {
  std::string const source = embedded ? "arrays.at(" + weight.name + "_values)" : "file";
  Type const type = weight.type.getElementType();
  if (!isStoredNarrow(type))
    return source;
  program.useBlock("halves");
  return std::string(type.isF16() ? "Halves<5, " : "Halves<8, ") + (embedded ? "EmbeddedWeights" : "Sidecar") + ">{" +
         source + "}";
}

Json viewLoader(Program &program, std::vector<SidecarTensor> const &tensors, bool embedded) {
  std::string const header = sidecarHeader(tensors);
  char hash[24];
  snprintf(hash, sizeof(hash), "0x%016llxu", static_cast<unsigned long long>(fnv1a(header)));
  Json loader = {
      {"header_size", std::to_string(header.size())},
      {"header_hash", hash},
      {"data_size", std::to_string(sidecarSize(tensors) - 8 - header.size())},
      {"parameters", embedded ? "ExecutionSpace const &space" : "ExecutionSpace const &space, std::string const &path"},
      {"embedded", embedded},
      {"from_file", !embedded},
      {"arrays", Json::array()},
      {"tensors", Json::array()}};
  program.useBlock(embedded ? "embedded" : "sidecar");
  Storage const *previous = nullptr;
  for (auto [weight, tensor] : llvm::zip(program.weights, tensors)) {
    program.useBlock(StringRef(weight.reader).take_until([](char c) { return c == '<'; }));
    if (embedded)
      loader["arrays"].push_back(viewArray(weight, tensor.value));
    if (!embedded && previous && follows(weight, *previous)) {
      std::string &views = loader["tensors"].back()["views"].get_ref<std::string &>();
      views += ", " + weight.expression;
    } else {
      loader["tensors"].push_back(
          {{"reader", weight.reader}, {"source", sourceOf(program, weight, embedded)}, {"views", weight.expression}});
    }
    previous = &weight;
  }
  return loader;
}

} // namespace ml2k
