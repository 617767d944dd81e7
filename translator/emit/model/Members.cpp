//===- Members.cpp - Weights, Workspace and the loader in the view model ------------------------------------------===//

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/model/Views.h"
#include "translator/emit/render/Blocks.h"
#include "translator/ir/Tuning.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

using namespace mlir;

namespace ml2k {

static std::string quotedLabel(Program const &program, Storage const &storage) {
  return quotedText(program.model + "::" + storage.modelName, longestName);
}

/// In the header, types that nobody but the model uses have their own namespace.
static cpp::Type inHeader(cpp::Type type) {
  if (isDetail(type.block.str()))
    type.code = Raw("detail::") + type.code;
  return type;
}

//===--- Workspace ------------------------------------------------------------------------------------------------===//

/// Whether an extent may be below 0 though no size is: n - 1 elements of an array that has none.
static bool mayBeNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() < 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && expr.getKind() != AffineExprKind::Mod &&
         (mayBeNegative(binary.getLHS()) || mayBeNegative(binary.getRHS()));
}

/// The product of the extents of dimensions [begin, end).
static Expression extentOf(Program &program, Storage const &buffer, int64_t begin, int64_t end) {
  HostSymbols symbols;
  AffineExpr all = getAffineConstantExpr(1, buffer.type.getContext());
  for (int64_t d = begin; d < end; ++d)
    all = all * program.allocatedExtent(buffer, d, symbols);
  IndexSpace space;
  for (Value value : symbols.values())
    space.symbols.push_back(cpp::name(Identifier(program.hostName(value))));
  Expression const extent = indexExpression(all, space);
  return mayBeNegative(all) ? call(Raw("Kokkos::max"), {literal(0), extent}) : extent;
}

/// The run-time extents that the constructor of the view takes; images always count theirs, a flat view has one.
static std::vector<Expression> extentsOf(Program &program, Storage const &buffer) {
  std::vector<std::pair<int64_t, int64_t>> dimensions;
  if (buffer.isFlat && !buffer.type.hasStaticShape())
    dimensions.emplace_back(0, buffer.type.getRank());
  int64_t last = !buffer.isImage ? -1 : program.sizesImages ? 2 : 0;
  for (auto [d, extent] : llvm::enumerate(buffer.type.getShape()))
    if (ShapedType::isDynamic(extent))
      last = std::max<int64_t>(last, d);
  for (int64_t d = 0; d <= last && !buffer.isFlat; ++d)
    dimensions.emplace_back(d, d + 1);
  std::vector<Expression> extents;
  for (auto [begin, end] : dimensions)
    extents.push_back(extentOf(program, buffer, begin, end));
  return extents;
}

/// First and last moment of forward() at which the buffer is in use; always, if nobody planned that.
static std::pair<int64_t, int64_t> lifetimeOf(Storage const &buffer) {
  if (auto alive = buffer.value.getDefiningOp()->getAttrOfType<DenseI64ArrayAttr>("nest.alive"))
    return {alive[0], alive[1]};
  return {-1, std::numeric_limits<int64_t>::max()};
}

static Expression viewOf(Storage const &buffer) {
  Expression const own = cpp::name(Identifier(buffer.name));
  return buffer.isImage ? cpp::member(own, Raw("rows")) : own;
}

/// The buffers with their extents, in the order of `order`.
static std::vector<cpp::Buffer> viewBuffers(Program &program, ArrayRef<Storage const *> order) {
  std::vector<cpp::Buffer> buffers;
  for (Storage const *buffer : order)
    buffers.push_back({viewOf(*buffer), quotedLabel(program, *buffer), extentsOf(program, *buffer)});
  return buffers;
}

/// The buffers in the order in which forward() first uses them, each with those that are done with before the next one.
static std::vector<cpp::Buffer> viewArena(Program &program, SmallVector<Storage const *> order) {
  llvm::stable_sort(order, [](auto *a, auto *b) { return lifetimeOf(*a).first < lifetimeOf(*b).first; });
  SmallVector<Storage const *> byEnd = order;
  llvm::stable_sort(byEnd, [](auto *a, auto *b) { return lifetimeOf(*a).second < lifetimeOf(*b).second; });
  std::vector<cpp::Buffer> buffers = viewBuffers(program, order);
  size_t released = 0;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    int64_t const next = lifetimeOf(*order[i + 1]).first;
    for (; released < byEnd.size() && lifetimeOf(*byEnd[released]).second < next; ++released)
      buffers[i].released.push_back(viewOf(*byEnd[released]));
  }
  return buffers;
}

/// What kernels share beside buffers: partial sums of device teams, transformed tiles of host threads.
static void addShared(Program const &program, cpp::Workspace &workspace) {
  Expression const space = cpp::name(Raw("space"));
  auto const labelOf = [&](Identifier const &name) { return cpp::stringLiteral(program.model + "::" + name.str()); };
  for (auto const &[scalar, name] : program.splits) {
    workspace.splits.push_back({Raw("detail::SplitSums<") + scalar + Raw(">"), name});
    workspace.initializers.push_back({name, {labelOf(name), space}});
  }
  if (program.winogradShare == 0)
    return;
  Identifier const name = Raw("winograd");
  Expression const threads = call(cpp::member(space, Raw("concurrency")), {});
  Expression const share = binary(literal(program.winogradShare), "*", Rank::Multiply, threads);
  Expression const plain = cpp::global(Raw("Kokkos::WithoutInitializing"));
  workspace.splits.push_back({Code(Raw("Tensor<float *>")), name});
  workspace.initializers.push_back({name,
                                    {call(Raw("Kokkos::view_alloc"), {space, plain, labelOf(name)}),
                                     conditional(cpp::global(Raw("on_host")), share, literal(0))}});
}

static cpp::Workspace viewWorkspace(Program &program) {
  cpp::Workspace workspace;
  workspace.label = quotedText(program.model + "::workspace");
  workspace.tooSmall = quotedText(program.model + ": the workspace is too small");
  workspace.negative = quotedText(program.model + ": a size of the workspace is negative");
  for (std::string const &name : workspaceSizes(program))
    workspace.sizes.push_back(Identifier(name));
  addShared(program, workspace);
  SmallVector<Storage const *> order;
  for (Storage const &buffer : program.buffers) {
    workspace.members.push_back({inHeader(buffer.cpp), Identifier(buffer.name)});
    order.push_back(&buffer);
  }
  workspace.hasArena = program.settled<nest::PlacementAttr>("nest.placement").getValue() == nest::Placement::Arena;
  workspace.buffers = workspace.hasArena ? viewArena(program, order) : viewBuffers(program, order);
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

MembersView viewMembers(Program &program) {
  MembersView view;
  view.arguments = viewArguments(program);
  for (Storage const &argument : program.arguments)
    view.aliases.push_back({argument.cpp, Identifier(argument.alias)});
  for (Storage const &weight : program.weights)
    if (!weight.biasOf)
      view.weights.push_back({inHeader(weight.cpp), Identifier(weight.name)});
  if (program.buffers.empty() && program.splits.empty())
    return view;
  view.workspace = viewWorkspace(program);
  return view;
}

//===--- Loader ---------------------------------------------------------------------------------------------------===//

std::vector<SidecarTensor> sidecarOf(Program const &program) {
  std::vector<SidecarTensor> tensors;
  for (Storage const &weight : program.weights)
    tensors.push_back({weight.modelName, cast<nest::WeightOp>(weight.value.getDefiningOp()).getValue()});
  return tensors;
}

static Identifier arrayOf(Storage const &weight) { return Identifier(weight.name + "_values"); }

/// The elements of a weight as literals; 16-bit floating point as its bits.
static cpp::Array viewArray(Storage const &weight, ElementsAttr value) {
  Type const type = value.getElementType();
  MLIRContext *context = type.getContext();
  Type const stored = isStoredNarrow(type) ? IntegerType::get(context, 16, IntegerType::Unsigned)
                      : type.isIndex()     ? IntegerType::get(context, 64)
                                           : type;
  cpp::Array array{commentText(weight.modelName, longestName), scalarType(stored), arrayOf(weight), {}};
  if (isStoredNarrow(type)) {
    for (APFloat const &element : value.getValues<APFloat>())
      array.values.push_back(literal(element.bitcastToAPInt().getZExtValue()));
  } else {
    for (Attribute element : value.getValues<Attribute>())
      array.values.push_back(literal(cast<TypedAttr>(element)));
  }
  return array;
}

/// Whether a weight is the bias, or another plain tensor, of the layer to which the one before it belongs.
static bool follows(Storage const &weight, Storage const &previous) {
  auto const layer = [](Storage const &storage) { return StringRef(storage.modelName).rsplit('.').first; };
  auto const type = [](Storage const &storage) { return storage.type.getElementType(); };
  bool const alike =
      type(weight) == type(previous) || !(isStoredNarrow(type(weight)) || isStoredNarrow(type(previous)));
  return weight.reader == Raw("read_plain") && alike && StringRef(weight.modelName).contains('.') &&
         layer(weight) == layer(previous);
}

/// Where a weight is read from: `file`, `Halves<8, Sidecar>{file}` for bfloat16, `arrays.at(bias_values)`.
static Expression sourceOf(Storage const &weight, bool embedded) {
  Expression const arrays = cpp::member(cpp::name(Raw("arrays")), Raw("at"));
  Expression const source = embedded ? call(arrays, {cpp::name(arrayOf(weight))}) : cpp::name(Raw("file"));
  Type const type = weight.type.getElementType();
  if (!isStoredNarrow(type))
    return source;
  Raw const reader = embedded ? Raw("EmbeddedWeights") : Raw("Sidecar");
  return cpp::braces((type.isF16() ? Raw("Halves<5, ") : Raw("Halves<8, ")) + Code(reader) + Raw(">"), {source},
                     "halves");
}

/// A tuning of the kernel that a weight is for may choose other squares of Winograd's method.
static Code readerArguments(Program const &program, Storage const &weight) {
  Operation *const kernel = weight.winograd ? *weight.value.user_begin() : nullptr;
  if (!kernel || tunedOf(kernel).empty())
    return weight.readerArguments;
  Code const tuned =
      Raw("square_of<Tuned::") + Code(Identifier(program.functions.lookup(program.labelOfKernel(kernel))));
  Code const square = tuned + Raw(", ") + Code(weight.winograd) + Raw(">");
  int64_t const planes = cast<nest::WeightOp>(weight.value.getDefiningOp()).getPacking()->getRows() / 3;
  return planes == 1 ? square : square + Raw(", ") + Code(planes);
}

LoaderView viewLoader(Program const &program, std::vector<SidecarTensor> const &tensors, bool embedded) {
  LoaderView loader{embedded, {}, {}};
  Storage const *previous = nullptr;
  for (auto [weight, tensor] : llvm::zip(program.weights, tensors)) {
    if (embedded)
      loader.arrays.push_back(viewArray(weight, tensor.value));
    Expression const view = program.reference(weight);
    if (!embedded && previous && follows(weight, *previous)) {
      loader.loads.back().views.push_back(view);
    } else {
      Code const arguments = readerArguments(program, weight);
      Code const reader =
          arguments.empty() ? Code(weight.reader) : weight.reader + Code(Raw("<")) + arguments + Raw(">");
      loader.loads.push_back({reader, weight.reader, sourceOf(weight, embedded), {view}});
    }
    previous = &weight;
  }
  return loader;
}

} // namespace ml2k
