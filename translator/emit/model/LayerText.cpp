//===- LayerText.cpp - the view model of a layer function ---------------------------------------------------------===//

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/model/Layer.h"
#include "translator/emit/model/Provenance.h"
#include "translator/emit/model/SharedCode.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/Tuning.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"

#include <set>

using namespace mlir;

namespace ml2k {

/// The function that a kernel calls, named like its building block.
static Raw functionOf(nest::KernelBlock block) {
  using enum nest::KernelBlock;
  static constexpr struct {
    nest::KernelBlock block;
    Raw function;
  } table[] = {{ForEach, "for_each"},
               {ForSpans, "for_spans"},
               {AssignEach, "assign_each"},
               {ForSquares, "for_squares"},
               {TransposedCopy, "transposed_copy"},
               {ChannelsLast, "channels_last"},
               {ForRows, "for_rows"},
               {ForWideRows, "for_wide_rows"},
               {FoldRows, "fold_rows"},
               {FoldColumns, "fold_columns"},
               {FoldFewColumns, "fold_few_columns"},
               {Contract, "contract"},
               {BatchedContract, "batched_contract"},
               {Conv, "conv"},
               {ConvChannelsFirst, "conv_channels_first"},
               {Winograd, "winograd"},
               {ConvTransposed, "conv_transposed"},
               {Depthwise, "depthwise"},
               {Pool, "pool"},
               {Recurrent, "recurrent"},
               {RecurrentBoth, "recurrent_both"},
               {ForGrid, "for_grid"},
               {ForTiles, "for_tiles"},
               {ReduceSpan, "reduce_span"},
               {ReduceSharedSpan, "reduce_shared_span"},
               {ForSharedSpan, "for_shared_span"},
               {ReduceGrid, "reduce_grid"},
               {ForUpdates, "for_updates"},
               {ForAtomicUpdates, "for_atomic_updates"},
               {ForOwnSums, "for_own_sums"},
               {ForStoredRows, "for_stored_rows"},
               {ReduceStoredRows, "reduce_stored_rows"},
               {JoinRows, "join_rows"},
               {MultiplyRows, "multiply_rows"},
               {TransposeRows, "transpose_rows"},
               {SortTriplets, "sort_triplets"},
               {PackRows, "pack_rows"},
               {LibraryGemm, "library_gemm"},
               {LibraryGemv, "library_gemv"},
               {LibrarySpmv, "library_spmv"},
               {ScatterRows, "scatter_rows"},
               {TopK, "top_k"},
               {TopKParts, "top_k_of_parts"},
               {SortRows, "sort_rows"},
               {SortSlices, "sort_slices"},
               {WalkTrees, "walk_trees"},
               {ScanRows, "scan_rows"},
               {ScanColumns, "scan_columns"},
               {ForStrips, "for_strips"}};
  auto const *found = llvm::find_if(table, [&](auto const &entry) { return entry.block == block; });
  assert(found != std::end(table) && "a policy of Kokkos is no block");
  return found->function;
}

Code Layer::tuning() const { return tunedOf(kernel).empty() ? Code() : Raw("Tuned::") + Code(function.name); }

void Layer::setCall(std::vector<Expression> arguments) {
  auto loops = dyn_cast<nest::LoopKernelOp>(kernel);
  bool const isLine = loops && schedule.getBlock() == nest::KernelBlock::ForGrid && loops.getLowers().size() == 1;
  bool const isAligned = loops && schedule.getBlock() == nest::KernelBlock::ForGrid && nest::storeFromLine(loops);
  bool const isHalf = loops && nest::goesToEveryOther(loops);
  bool const isPlane = loops && loops.getLowers().size() == 2;
  Raw const block = isLine      ? Raw("for_span")
                    : isHalf    ? (isPlane ? Raw("for_checkered") : Raw("for_checkered_planes"))
                    : isAligned ? (isPlane ? Raw("for_lines") : Raw("for_planes"))
                                : functionOf(schedule.getBlock());
  arguments.insert(arguments.begin(), cpp::name(Raw("space")));
  function.call.function = tuning().empty() ? Code(block) : block + Code(Raw("<")) + tuning() + Raw(">");
  function.call.blocks.push_back(block);
  function.call.arguments = std::move(arguments);
}

void Layer::setCall(Code const &templateArguments, std::vector<Expression> arguments) {
  setCall(std::move(arguments));
  Code const tuned = tuning().empty() ? Code() : Raw(", ") + tuning();
  function.call.function = function.call.blocks.back() + Code(Raw("<")) + templateArguments + tuned + Raw(">");
}

void Layer::setBlockCall(Raw block, Code const &templateArguments, std::vector<Expression> arguments) {
  arguments.insert(arguments.begin(), cpp::name(Raw("space")));
  function.call.function = block + Code(Raw("<")) + templateArguments + Raw(">");
  function.call.blocks.push_back(block);
  function.call.arguments = std::move(arguments);
}

void Layer::needDevicePath() {
  using enum nest::DevicePath;
  nest::DevicePath const path = schedule.getDevice();
  if (path == SmallProducts)
    needBlock("small_products");
  bool const isMatrix = schedule.getBlock() == nest::KernelBlock::Contract;
  if (path == LargeProduct)
    needBlock(isMatrix ? Raw("large_product") : Raw("large_conv"));
  if (isMatrix && (path == LargeProduct || path == FewRows))
    needBlock("few_rows");
}

void Layer::setBlockCall(Raw block, std::vector<Expression> arguments) {
  function.call.function = block;
  function.call.blocks.push_back(block);
  function.call.arguments = std::move(arguments);
}

void Layer::setPolicyCall(Raw pattern, Expression const &policy) {
  function.call.function = pattern;
  function.call.arguments = {policy};
}

/// A position among one element is not used, but checked all the same.
static void dropUnusedNames(Body &statements) {
  cpp::Names behind;
  for (cpp::Statement &statement : llvm::reverse(statements)) {
    for (Body *inner : bodiesOf(statement))
      dropUnusedNames(*inner);
    if (auto const *let = statement.as<cpp::Let>(); let && let->value->mustRun && !behind.contains(let->name))
      statement = cpp::Run{Expression(let->value)};
    behind.merge(usesOf(statement));
  }
}

void Layer::addLambda(cpp::Lambda lambda) {
  dropUnusedNames(lambda.body);
  dropUnusedParameters(lambda);
  function.call.lambdas.push_back(std::move(lambda));
}

void Layer::nameEpilogue(Block &block) {
  function.isEpilogue = true;
  function.epilogue = epilogueName(block, nest::biasedSum(kernel));
}

void Layer::nameUnchanged() {
  cpp::Lambda const &epilogue = function.call.lambdas.back();
  auto const *only = epilogue.body.size() == 1 ? epilogue.body.front().as<cpp::Return>() : nullptr;
  std::optional<Identifier> const &sum = epilogue.parameters.front().name;
  if (!only || !sum || only->value != cpp::name(*sum))
    return;
  function.call.arguments.push_back(cpp::braces(Raw("Unchanged"), {}, "unchanged"));
  function.call.lambdas.clear();
  function.isEpilogue = false;
}

std::string Layer::described(Value memref) {
  Storage const *storage = program.storageOf(memref);
  std::string name = storage->name;
  if (storage->kind == StorageKind::Weight) { // as the code of the layer calls it
    auto const known = localOf.find(storage->value);
    name = known == localOf.end() ? localNames(*storage).front() : known->second.str();
  }
  std::string text = name + "[";
  auto const type = cast<MemRefType>(memref.getType());
  for (unsigned d = 0; d < unsigned(type.getRank()); ++d)
    text += (d ? "," : "") + cpp::Serializer::text(extent(memref, d));
  return text + "]";
}

void Layer::addSplit(std::vector<Expression> &arguments, Type scalar) {
  if (program.options.target == Target::Host)
    return;
  needBlock("split_sums");
  std::string const bits = scalar.isF64()           ? "_double"
                           : isa<FloatType>(scalar) ? ""
                                                    : "_int" + std::to_string(scalar.getIntOrFloatBitWidth());
  Identifier const split("split" + bits);
  program.splits.insert({computedType(scalar).code, split});
  arguments.push_back(cpp::member(cpp::name(Raw("work")), split));
}

Expression Layer::winograd(int64_t share) {
  program.winogradShare = std::max(program.winogradShare, share);
  return cpp::member(cpp::name(Raw("work")), Raw("winograd"));
}

/// What the kernel computes: its name, the nodes of the model, the shapes.
void Layer::addProvenance(StringRef shapes) {
  llvm::append_range(function.comments,
                     provenanceLines(nest::labelOf(kernel), kernel->getLoc(), shapes, program.options.locations));
}

/// The parameters that the code of the layer uses: the structs, the model's arguments, sizes and indices of loops.
void Layer::bindParameters() {
  cpp::Names used = usesOf(function);
  auto const fix = [&](Raw type, Raw name) {
    if (used.erase(name) || name == Raw("space"))
      function.fixed.push_back({type, Identifier(name), " const &"});
  };
  fix("ExecutionSpace", "space");
  fix("Weights", "weights");
  fix("Workspace", "work");
  for (auto const *storages : {&program.arguments, &program.exchanged})
    for (Storage const &storage : *storages)
      if (Identifier const name(storage.name); used.erase(name))
        function.bindings.push_back({name, storage.parameterType()});
  for (Identifier const &name : used)
    function.bindings.push_back({name, program.scalarType(name.str())});
}

/// Kernels behind this one that close the borders of its images.
void Layer::addBorders() {
  auto outputs = dyn_cast<DestinationStyleOpInterface>(kernel);
  if (!outputs || closesBorders)
    return;
  std::set<Storage const *> closed;
  for (Value output : outputs.getDpsInits()) {
    Storage const *storage = program.storageOf(output);
    if (!storage || !storage->isImage || !storage->isBordered() || !closed.insert(storage).second)
      continue;
    needBlock("close_border");
    function.closings.push_back({StringRef(label()).drop_back().str() + ".border\"", member(*storage)});
  }
}

/// Not every block asks for the sizes of all loops.
void Layer::dropUnusedSizes() {
  cpp::Names behind = usesOf(function.call);
  Body &locals = function.locals;
  for (size_t i = locals.size(); i-- > 0;)
    if (auto const *size = locals[i].as<cpp::Let>(); size && !behind.contains(size->name))
      locals.erase(locals.begin() + i);
    else
      behind.merge(usesOf(locals[i]));
}

std::vector<Expression> Layer::takeOver(Layer &&part, StringRef shapes) {
  part.addProvenance(shapes);
  scope = std::move(part.scope);
  hasFailed |= part.hasFailed;
  llvm::append_range(function.comments, std::move(part.function.comments));
  llvm::append_range(function.locals, std::move(part.function.locals));
  llvm::append_range(function.call.blocks, std::move(part.function.call.blocks));
  llvm::append_range(function.call.lambdas, std::move(part.function.call.lambdas));
  return std::move(part.function.call.arguments);
}

cpp::Function Layer::finish(StringRef shapes) {
  if (function.comments.empty())
    addProvenance(shapes);
  dropUnusedSizes();
  addBorders();
  bindParameters();
  function.modelName = validUtf8(nest::labelOf(kernel));
  function.label = label();
  return std::move(function);
}

} // namespace ml2k
