//===- NestVerify.cpp - what a printable nest must satisfy --------------------------------------------------------===//
//
// The printer trusts these checks: it neither repeats them nor handles what they refuse.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/ir/NestVerify.h"
#include "translator/ir/StoredSums.h"

#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace ml2k::nest;

static Type elementType(Value value) { return cast<ShapedType>(value.getType()).getElementType(); }

//===--- Shared checks --------------------------------------------------------------------------------------------===//

/// Results exist on tensors only and have the types of the outputs.
LogicalResult ml2k::nest::verifyResults(DestinationStyleOpInterface op) {
  bool const onTensors = llvm::all_of(op.getDpsInits(), [](Value v) { return isa<RankedTensorType>(v.getType()); });
  bool const onMemRefs = llvm::all_of(op.getDpsInits(), [](Value v) { return isa<MemRefType>(v.getType()); });
  if (!onTensors && !onMemRefs)
    return op->emitOpError("mixes tensor and memref outputs");
  if (op.getDpsInits().empty())
    return op->emitOpError("has no output");
  if (!onTensors)
    return op->getNumResults() == 0 ? success() : LogicalResult(op->emitOpError("has results, but writes memrefs"));
  if (op->getResultTypes() != ValueRange(op.getDpsInits()).getTypes())
    return op->emitOpError("result types differ from the types of the outputs");
  return success();
}

/// One map per operand, over the same loops, as many results as the operand has dimensions.
static LogicalResult verifyMaps(Operation *op, ArrayAttr maps, ArrayRef<Value> operands, unsigned loops,
                                unsigned mostSymbols = 0) {
  if (maps.size() != operands.size())
    return op->emitOpError() << "has " << maps.size() << " maps for " << operands.size() << " operands";
  for (auto [attribute, operand] : llvm::zip(maps.getAsValueRange<AffineMapAttr>(), operands)) {
    if (attribute.getNumDims() != loops || attribute.getNumSymbols() > mostSymbols)
      return op->emitOpError() << "map " << AffineMapAttr::get(attribute) << " is not over the " << loops
                               << " loops of the kernel";
    int64_t const rank = cast<ShapedType>(operand.getType()).getRank();
    if (attribute.getNumResults() != rank)
      return op->emitOpError() << "map " << AffineMapAttr::get(attribute) << " does not address an operand of rank "
                               << rank;
  }
  return success();
}

/// Operands agree on how often a loop runs; an input may be larger than an output.
static LogicalResult verifyExtents(Operation *op, ArrayAttr attributes, ArrayRef<Value> operands, unsigned outputs) {
  auto const values = attributes.getAsValueRange<AffineMapAttr>();
  SmallVector<AffineMap> const maps(values.begin(), values.end());
  unsigned const inputs = operands.size() - outputs;
  SmallVector<LoopExtent> const loops = loopExtents(maps, operands);
  for (auto [i, loop] : llvm::enumerate(loops))
    if (!loop.operand)
      return op->emitOpError() << "no operand says how often loop " << i << " runs";
  for (unsigned i = 0; i < operands.size(); ++i)
    for (auto [d, expr] : llvm::enumerate(maps[i].getResults())) {
      auto const dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      LoopExtent const &loop = loops[dim.getPosition()];
      LoopExtent const own{operands[i], unsigned(d), i};
      bool const isKnown = !ShapedType::isDynamic(loop.size()) && !ShapedType::isDynamic(own.size());
      bool const readsFront = i < inputs && loop.position >= inputs && own.size() > loop.size();
      if (isKnown && own.size() != loop.size() && !readsFront)
        return op->emitOpError() << "loop " << dim.getPosition() << " runs over " << own.size()
                                 << " elements of operand " << i << ", but over " << loop.size() << " of operand "
                                 << loop.position;
    }
  return success();
}

static SmallVector<Value> concat(std::initializer_list<ValueRange> ranges) {
  SmallVector<Value> all;
  for (ValueRange range : ranges)
    llvm::append_range(all, range);
  return all;
}

/// The nest.yield at the end of the region's block, which may be empty; null when there is none.
static YieldOp yieldOf(Region &body) {
  return body.front().empty() ? YieldOp() : dyn_cast<YieldOp>(body.front().back());
}

static unsigned loopCount(ArrayAttr maps) {
  return maps.empty() ? 0 : cast<AffineMapAttr>(maps[0]).getValue().getNumDims();
}

/// The block has the given number of arguments in front, then a scalar per value; it ends in nest.yield of `yields`.
LogicalResult ml2k::nest::verifyBlock(Operation *op, Region &region, unsigned leading, ValueRange scalars,
                                      TypeRange yields) {
  Block &block = region.front();
  if (block.getNumArguments() != leading + scalars.size())
    return op->emitOpError() << "block has " << block.getNumArguments() << " arguments, expected "
                             << leading + scalars.size();
  for (auto [argument, value] : llvm::zip(block.getArguments().drop_front(leading), scalars))
    if (argument.getType() != elementType(value))
      return op->emitOpError() << "block argument of type " << argument.getType() << " for an operand of "
                               << elementType(value);
  YieldOp yield = yieldOf(region);
  if (!yield)
    return op->emitOpError("block does not end in nest.yield");
  if (yield.getOperandTypes() != yields)
    return op->emitOpError("yields other types than the kernel stores");
  return success();
}

static SmallVector<Type> elementTypes(ValueRange values) {
  return llvm::map_to_vector(values, [](Value v) { return elementType(v); });
}

static LogicalResult verifySingle(Operation *op, ValueRange inputs, unsigned inputCount, ValueRange outputs) {
  if (inputs.size() != inputCount || outputs.size() != 1)
    return op->emitOpError() << "takes " << inputCount << " inputs and one output";
  return success();
}

//===--- Storage --------------------------------------------------------------------------------------------------===//

LogicalResult PackingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, PackingKind kind,
                                  int64_t winograd, int64_t outputs, int64_t depth, int64_t rows, int64_t columns,
                                  int64_t groups, bool depthFirst, bool) {
  bool const isPanels = kind == PackingKind::Panels;
  if (winograd != 0 && (!isPanels || (winograd != 2 && winograd != 4)))
    return emitError() << "winograd requires panels and tiles of 2 or 4";
  if (!isPanels && outputs != 0)
    return emitError() << "only panels have extents";
  if (outputs < 0 || depth < 0 || rows < 1 || columns < 1 || groups < 1)
    return emitError() << "extents are not negative, taps and groups at least 1";
  if (depthFirst && rows * columns != 1)
    return emitError() << "depth_first is for matrices";
  return success();
}

static bool hasPath(KernelBlock block, DevicePath path) {
  switch (path) {
  case DevicePath::Plain:
    return true;
  case DevicePath::SmallProducts:
    return block == KernelBlock::BatchedContract;
  case DevicePath::FewRows:
    return block == KernelBlock::Contract;
  case DevicePath::LargeProduct:
    return block == KernelBlock::Contract || block == KernelBlock::Conv || block == KernelBlock::Winograd;
  case DevicePath::BroadWindows:
    return block == KernelBlock::Pool;
  }
  llvm_unreachable("all device paths are listed");
}

/// Loops belong to maps, columns to contractions.
LogicalResult ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, KernelBlock block, int64_t inner,
                                   int64_t crossing, int64_t channel, int64_t kept, int64_t fused, bool left,
                                   bool right, bool inPlace, DevicePath device, int64_t scratch, int64_t threads,
                                   int64_t lanes) {
  bool const isMap = block < KernelBlock::ChannelsLast;
  bool const crosses = block == KernelBlock::ForSquares || block == KernelBlock::TransposedCopy;
  bool const goesAlong = llvm::is_contained(
      {KernelBlock::ForRows, KernelBlock::FoldColumns, KernelBlock::FoldFewColumns}, block); // of reductions
  if (!isMap && !goesAlong && inner != -1)
    return emitError() << "only maps, rows and columns have an inner loop";
  if (crosses ? crossing < 0 : crossing != -1)
    return emitError() << "for_squares and transposed_copy have a crossing loop, other blocks none";
  if (channel != -1 && block != KernelBlock::ForEach)
    return emitError() << "only for_each runs through the channels of a pixel";
  if (block == KernelBlock::ForWideRows ? kept < 0 : kept != -1)
    return emitError() << "for_wide_rows keeps an operand, other blocks none";
  bool const isBlas = block == KernelBlock::LibraryGemm || block == KernelBlock::LibraryGemv;
  if ((inPlace || ((left || right) && !isBlas)) && block != KernelBlock::BatchedContract)
    return emitError() << "left, right and in_place are for batched_contract";
  if (!hasPath(block, device))
    return emitError() << stringifyKernelBlock(block) << " has no path " << stringifyDevicePath(device);
  if (scratch != 0 && block != KernelBlock::Winograd)
    return emitError() << "scratch is for winograd";
  if (block == KernelBlock::Team ? threads < 1 || lanes < 1 || lanes > 32 || !llvm::isPowerOf2_64(lanes) : threads != 0)
    return emitError() << "team has threads, each of a power of two of lanes up to 32; other blocks have none";
  bool const ofStrips = block == KernelBlock::ForStrips || block == KernelBlock::ScanColumns;
  bool const isGrid = block == KernelBlock::ForGrid;
  if (block != KernelBlock::Team && (ofStrips ? lanes < 1 : isGrid ? lanes < 0 : lanes != 0))
    return emitError()
           << "for_strips and scan_columns have the columns of a strip, for_grid of a short row, other blocks "
              "but team no lanes";
  if (fused < 0 || scratch < 0)
    return emitError() << "counts are not negative";
  return success();
}

PackingAttr PackingAttr::with(PanelExtents const &extents, bool paired) const {
  return get(getContext(), getKind(), getWinograd(), extents.outputs, extents.depth, extents.rows, extents.columns,
             extents.groups, extents.depthFirst, paired);
}

/// The bias of a convolution or contraction is what its epilogue adds first.
static LogicalResult verifyBias(Operation *op, std::optional<uint64_t> bias, Region &epilogue) {
  if (bias && addedToSum(epilogue) != bias)
    return op->emitOpError() << "bias " << *bias << " is not what the epilogue first adds to the sum";
  return success();
}

LogicalResult WeightOp::verify() {
  auto type = cast<ShapedType>(getType());
  auto value = cast<ShapedType>(getValue().getType());
  if (getName().empty())
    return emitOpError("has no name");
  if (type.getShape() != value.getShape() || type.getElementType() != value.getElementType())
    return emitOpError() << "is a " << type << " but its value is a " << value;
  return success();
}

LogicalResult BufferOp::verify() {
  auto type = cast<MemRefType>(getType());
  if (getSizes().size() != size_t(type.getNumDynamicDims()))
    return emitOpError() << "has " << getSizes().size() << " sizes for " << type.getNumDynamicDims()
                         << " dynamic dimensions";
  if (!type.getLayout().isIdentity())
    return emitOpError("is not contiguous");
  auto border = getBorder();
  if (!border)
    return success();
  bool const isVolume = border->size() == 4;
  if ((border->size() != 2 && !isVolume) || type.getRank() != 4 ||
      llvm::any_of(*border, [](int64_t extent) { return extent < 0; }))
    return emitOpError("border wants [rows, columns] or [rows, columns, planes, depth] and a buffer N H W C");
  if (isVolume && ((*border)[3] < 1 || (!type.isDynamicDim(0) && type.getDimSize(0) % (*border)[3] != 0)))
    return emitOpError() << "volumes of " << (*border)[3] << " planes do not make up " << type.getDimSize(0)
                         << " images";
  return success();
}

//===--- Structured kernels ---------------------------------------------------------------------------------------===//

LogicalResult MapOp::verify() {
  SmallVector<Value> const operands = concat({getInputs(), getExtras(), getOutputs()});
  if (failed(verifyResults(*this)) ||
      failed(verifyMaps(*this, getIndexingMaps(), operands, loopCount(getIndexingMaps()))) ||
      failed(verifyExtents(*this, getIndexingMaps(), operands, getOutputs().size())))
    return failure();
  return verifyBlock(*this, getBody(), 0, concat({getInputs(), getExtras()}), elementTypes(getOutputs()));
}

LogicalResult ReduceOp::verify() {
  unsigned const loops = loopCount(getIndexingMaps());
  SmallVector<Value> const operands = concat({getInputs(), getExtras(), getOutputs()});
  if (getOutputs().size() != 1)
    return emitOpError("takes one output");
  if (failed(verifyResults(*this)) || failed(verifyMaps(*this, getIndexingMaps(), operands, loops)) ||
      failed(verifyExtents(*this, getIndexingMaps(), operands, getOutputs().size())))
    return failure();
  for (int64_t dim : getReductionDims())
    if (dim < 0 || dim >= loops)
      return emitOpError() << "reduces loop " << dim << " of " << loops;
  Type const accumulator = getInitial().getType();
  if (failed(verifyBlock(*this, getTerm(), 0, getInputs(), {accumulator})))
    return failure();
  return verifyBlock(*this, getFinish(), 1, getExtras(), elementTypes(getOutputs()));
}

LogicalResult ContractOp::verify() {
  SmallVector<Value> const operands = concat({getInputs(), getExtras(), getOutputs()});
  unsigned const loops = getIterators().size();
  if (failed(verifySingle(*this, getInputs(), 2, getOutputs())) || failed(verifyResults(*this)) ||
      failed(verifyMaps(*this, getIndexingMaps(), operands, loops)) ||
      failed(verifyExtents(*this, getIndexingMaps(), operands, getOutputs().size())))
    return failure();
  if (!llvm::is_sorted(getRoles()))
    return emitOpError("iterators are not batch, m, n, k in this order");
  if ((*this)->hasAttr("nest.fixed_extents")) {
    if (ScheduleAttr const schedule = scheduleOf(*this); schedule && !schedule.getRight())
      return emitOpError("has nest.fixed_extents, but no right operand that is read in place");
    for (auto [role, extent] : llvm::zip(getRoles(), Kernel(*this).getLoopExtents()))
      if (role != Role::Batch && ShapedType::isDynamic(extent.size()))
        return emitOpError("has nest.fixed_extents, but some are known at run time only");
  }
  return success(succeeded(verifyBlock(*this, getEpilogue(), 1, getExtras(), elementTypes(getOutputs()))) &&
                 succeeded(verifyBias(*this, getBias(), getEpilogue())));
}

static LogicalResult verifySpatial(Operation *op, ValueRange inputs, Value output, ArrayRef<int64_t> pads,
                                   std::initializer_list<ArrayRef<int64_t>> pairs) {
  if (cast<ShapedType>(inputs[0].getType()).getRank() != 4 || cast<ShapedType>(output.getType()).getRank() != 4)
    return op->emitOpError("works on images N H W C");
  if (pads.size() != 4 || llvm::any_of(pads, [](int64_t pad) { return pad < 0; }))
    return op->emitOpError("pads want top, left, bottom, right, none negative");
  for (ArrayRef<int64_t> pair : pairs)
    if (pair.size() != 2 || pair[0] < 1 || pair[1] < 1)
      return op->emitOpError("kernel, strides and dilations want a positive value for rows and for columns");
  return success();
}

/// Volumes as a batch of planes: depth, results, taps, stride, dilation, front, back.
static LogicalResult verifyPlanes(Operation *op, std::optional<ArrayRef<int64_t>> planes, bool isTransposed,
                                  ShapedType image, ShapedType out) {
  if (!planes)
    return success();
  auto const isBelow = [](int64_t least) { return [=](int64_t value) { return value < least; }; };
  if (planes->size() != 7 || llvm::any_of(planes->take_front(5), isBelow(1)) ||
      llvm::any_of(planes->drop_front(5), isBelow(0)))
    return op->emitOpError("planes want depth, results, taps, stride, dilation, front, back");
  int64_t const depth = (*planes)[0], results = (*planes)[1], taps = (*planes)[2], stride = (*planes)[3];
  int64_t const dilation = (*planes)[4], pads = (*planes)[5] + (*planes)[6];
  int64_t const room = depth + pads - (taps - 1) * dilation - 1;
  if (isTransposed && (dilation != 1 || pads % stride != 0))
    return op->emitOpError("transposed wants no dilation and pads that are a multiple of the stride together");
  if (isTransposed ? results != (depth - 1 + taps) * stride - pads : room < 0 || results != room / stride + 1)
    return op->emitOpError() << "makes another number of planes than " << results;
  if (image.isDynamicDim(0) != out.isDynamicDim(0))
    return op->emitOpError("makes as many volumes as it takes");
  if (!image.isDynamicDim(0) && (image.getDimSize(0) % depth != 0 || out.getDimSize(0) % results != 0 ||
                                 image.getDimSize(0) / depth != out.getDimSize(0) / results))
    return op->emitOpError() << "takes " << image.getDimSize(0) << " planes of volumes of " << depth << " to "
                             << out.getDimSize(0) << " of " << results;
  return success();
}

LogicalResult ConvOp::verify() {
  if (failed(verifySingle(*this, getInputs(), 2, getOutputs())) || failed(verifyResults(*this)) ||
      failed(verifyMaps(*this, getExtraMaps(), getMappedOperands(), 4)) ||
      failed(verifySpatial(*this, getInputs(), getOutputs()[0], getPads(), {getStrides(), getDilations()})))
    return failure();
  auto const image = cast<ShapedType>(getInputs()[0].getType());
  auto const weight = cast<ShapedType>(getInputs()[1].getType());
  auto const out = cast<ShapedType>(getOutputs()[0].getType());
  if (weight.getRank() != 4 || !weight.hasStaticShape())
    return emitOpError("weight wants the static shape O, C / groups, R, S");
  if (failed(verifyPlanes(*this, getPlanes(), getTransposed(), image, out)))
    return failure();
  if (getChannelsFirst() && (getGroups() != 1 || getTransposed() || getPlanes() ||
                             llvm::any_of(getDilations(), [](int64_t d) { return d != 1; })))
    return emitOpError("channels_first wants one group and no dilation, and is neither transposed nor of volumes");
  if (weight.getDimSize(2) % getPlaneTaps() != 0)
    return emitOpError() << "weight " << weight << " has no kernels of " << getPlaneTaps() << " planes";
  int64_t const groups = getGroups();
  if (groups < 1 || weight.getDimSize(0) % groups != 0 || weight.getDimSize(1) * groups != getImageExtent(2))
    return emitOpError() << "channels " << getImageExtent(2) << " and weight " << weight << " do not fit " << groups
                         << " groups";
  YieldOp const yield = yieldOf(getEpilogue());
  int64_t const perSum = yield ? yield->getNumOperands() : 1;
  if (out.getDimSize(3) * getPhases() != weight.getDimSize(0) * perSum)
    return emitOpError() << "output has " << out.getDimSize(3) << " channels, weight makes "
                         << weight.getDimSize(0) * perSum / getPhases();
  if (perSum > 1 && (getTransposed() || getGroups() != 1))
    return emitOpError("stores one channel for each sum if it is transposed or has groups");
  if (int64_t const parts = shuffledParts(*this);
      parts != 1 && (parts == 0 || perSum > 1 || groups % parts != 0 || groups == weight.getDimSize(0)))
    return emitOpError("stores its sums in their order, or shuffles parts of whole groups");
  if (getTransposed() && (groups != 1 || llvm::any_of(getDilations(), [](int64_t d) { return d != 1; })))
    return emitOpError("transposed wants one group and no dilation");
  for (int d : {0, 1}) {
    int64_t const stride = getStrides()[d], pads = getPads()[d] + getPads()[2 + d], taps = getKernel()[d];
    if (getTransposed() && pads % stride != 0)
      return emitOpError("transposed wants pads that are a multiple of the stride together");
    int64_t const in = getImageExtent(d), reach = (taps - 1) * getDilations()[d] + 1;
    if (ShapedType::isDynamic(in) || out.isDynamicDim(1 + d))
      continue;
    int64_t const extent = getTransposed() ? (in - 1 + taps) * stride - pads : (in + pads - reach) / stride + 1;
    if (out.getDimSize(1 + d) != extent)
      return emitOpError() << "output extent " << out.getDimSize(1 + d) << ", expected " << extent;
  }
  SmallVector<Type> const yields(std::max<int64_t>(perSum, 1), out.getElementType());
  return success(succeeded(verifyBlock(*this, getEpilogue(), 1, getExtras(), yields)) &&
                 succeeded(verifyBias(*this, getBias(), getEpilogue())));
}

LogicalResult WindowOp::verify() {
  if (failed(verifySingle(*this, getInputs(), 1, getOutputs())) || failed(verifyResults(*this)) ||
      failed(verifyMaps(*this, getExtraMaps(), concat({getExtras()}), 4)) ||
      failed(
          verifySpatial(*this, getInputs(), getOutputs()[0], getPads(), {getKernel(), getStrides(), getDilations()})) ||
      failed(verifyPlanes(*this, getPlanes(), false, cast<ShapedType>(getInputs()[0].getType()),
                          cast<ShapedType>(getOutputs()[0].getType()))))
    return failure();
  return verifyBlock(*this, getFinish(), 1, getExtras(), elementTypes(getOutputs()));
}

LogicalResult RowOp::verify() {
  SmallVector<Value> const operands = concat({getInputs(), getExtras(), getOutputs()});
  unsigned const loops = loopCount(getIndexingMaps());
  if (failed(verifyResults(*this)) || failed(verifyMaps(*this, getIndexingMaps(), operands, loops)) ||
      failed(verifyExtents(*this, getIndexingMaps(), operands, getOutputs().size())))
    return failure();
  if (loops == 0)
    return emitOpError("has no loop along the row");
  Block &block = getBody().front();
  if (block.getNumArguments() != operands.size())
    return emitOpError("block wants a row per operand");
  for (auto [argument, value] : llvm::zip(block.getArguments(), operands))
    if (argument.getType() != RowType::get(getContext(), elementType(value)))
      return emitOpError() << "block argument of type " << argument.getType() << " for an operand of "
                           << elementType(value);
  return success();
}

/// A number of its type for a state, nothing for one that memory holds and for sequences.
static LogicalResult verifyStarts(RecurrentOp op) {
  if (!op.getStartsAttr())
    return success();
  if (op.getStartsAttr().size() != op.getOutputs().size())
    return op.emitOpError("requires an entry per output in `starts`");
  for (auto [start, output] : llvm::zip(op.getStartsAttr(), op.getOutputs())) {
    auto const type = cast<ShapedType>(output.getType());
    auto const number = dyn_cast<TypedAttr>(start);
    bool const isNumber = type.getRank() == 2 && number && number.getType() == type.getElementType();
    if (!isNumber && !isa<UnitAttr>(start))
      return op.emitOpError() << "cannot start a " << type << " with " << start;
  }
  return success();
}

static LogicalResult verifyDirection(RecurrentOp op, unsigned number) {
  Direction const direction = op.getDirection(number);
  auto const weight = cast<ShapedType>(direction.weight.getType());
  if (weight.getRank() != 2 || !weight.hasStaticShape() || weight.getDimSize(0) % weight.getDimSize(1) != 0)
    return op.emitOpError("weight wants the static shape gates * hidden, hidden");
  if (weight.getShape() != cast<ShapedType>(op.getInputs()[0].getType()).getShape())
    return op.emitOpError("both directions want weights of one shape");
  auto const isAlike = [](AffineMap a, AffineMap b) { return a.isFunctionOfDim(0) == b.isFunctionOfDim(0); };
  Direction const forward = op.getDirection(0);
  if (!llvm::all_of_zip(direction.maps, forward.maps, isAlike) ||
      elementTypes(direction.extras) != elementTypes(forward.extras))
    return op.emitOpError("both directions want extras of the same kind");
  auto const state = cast<ShapedType>(direction.outputs[0].getType());
  if (state.getRank() != 2 || state.getDimSize(1) != op.getHidden())
    return op.emitOpError() << "the state is a " << state << ", expected [batch, " << op.getHidden() << "]";
  return verifyBlock(op, *direction.next, op.getGates(), concat({direction.extras, direction.outputs}),
                     elementTypes(direction.outputs));
}

LogicalResult RecurrentOp::verify() {
  unsigned const count = getNumDirections();
  if (count < 1 || count > 2 || getNext().size() != count)
    return emitOpError("takes a weight and a block for one direction or two");
  if (getOutputs().empty() || getOutputs().size() % count != 0 || getExtras().size() % count != 0)
    return emitOpError("requires as many extras and outputs for one direction as for the other");
  if (getSteps().has_value() == bool(getCount()))
    return emitOpError("requires the number of steps, as an attribute or as an operand");
  if (failed(verifyResults(*this)) ||
      failed(verifyMaps(*this, getIndexingMaps(), getMappedOperands(), 3, getCount() ? 1 : 0)))
    return failure();
  for (unsigned number = 0; number < count; ++number)
    if (failed(verifyDirection(*this, number)))
      return failure();
  return verifyStarts(*this);
}

//===--- Inside rows ----------------------------------------------------------------------------------------------===//

static LogicalResult verifyAlongRow(Operation *op, Region &body) {
  if (!op->getParentOfType<RowOp>())
    return op->emitOpError("stands outside a nest.row");
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex())
    return op->emitOpError("block wants the position along the row");
  if (!yieldOf(body))
    return op->emitOpError("block does not end in nest.yield");
  return success();
}

LogicalResult FoldOp::verify() {
  if (failed(verifyAlongRow(*this, getBody())))
    return failure();
  if (getNumResults() == 0)
    return emitOpError("has no result");
  if (yieldOf(getBody()).getOperandTypes() != getResultTypes())
    return emitOpError("yields another type than it returns");
  return success();
}

LogicalResult EachOp::verify() { return verifyAlongRow(*this, getBody()); }

LogicalResult IndexOp::verify() {
  auto kernel = (*this)->getParentOfType<Kernel>();
  if (!kernel)
    return emitOpError("is outside of a kernel");
  size_t loops = 0; // the epilogue of a product knows those of its results only, which the printer checks
  for (AffineMap map : kernel.getMaps())
    loops = std::max<size_t>(loops, map.getNumDims());
  if (auto structured = dyn_cast<DestinationStyleOpInterface>(kernel.getOperation()))
    for (Value output : structured.getDpsInits())
      loops = std::max<size_t>(loops, cast<ShapedType>(output.getType()).getRank());
  if (getDim() >= loops)
    return emitOpError() << "is the position in loop " << getDim() << " of " << loops;
  return success();
}
