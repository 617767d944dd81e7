//===- FormReductions.cpp - what reduces and is no row becomes nest.reduce ----------------------------------------===//
//
// Elementwise consumers of the result go into the finish block. A contraction that no earlier pass took ends here too:
// its term is the product.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/schedule/Combiners.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/KernelLoops.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FORMREDUCTIONS
#include "passes/Passes.h.inc"

namespace {
constexpr int parallelKind = 0, reducedKind = 1;
constexpr unsigned manyLoops = 4; ///< operands are not reshaped to have fewer

/// An operation whose body is part of the kernel; loops[i] is what its loop i is in the loops of the reduction.
struct Stage {
  linalg::GenericOp op;
  SmallVector<AffineExpr> loops;
};

class ReduceFormer {
public:
  ReduceFormer(RewriterBase &rewriter, OpResult result, Reduction const &reduction)
      : rewriter(rewriter), context(rewriter.getContext()), base(cast<linalg::GenericOp>(result.getOwner())),
        result(result), reduction(reduction) {}

  void form();

private:
  using Key = std::pair<Value, AffineMap>;

  void takeConsumers();
  std::optional<Stage> consumer(Value value, ArrayRef<AffineExpr> indices);
  void collect();
  void keepExtents(AffineMap output);
  void addInput(SmallVector<Key> &keys, Stage const &stage, OpOperand &operand);
  Value front(Value value, AffineMap map);
  Key keyOf(Stage const &stage, OpOperand &operand);
  void orderLoops();
  TypedAttr constantInitial();
  Operation *create();
  Operation *createReduce(ValueRange outputs, ArrayRef<int64_t> reduced);
  Operation *createMap(ValueRange outputs);
  BodyCopier copier(Stage const &stage, SmallVector<Key> const &keys, ValueRange arguments, Value previous);
  Value finish(ValueRange extraArguments, Value sum);
  Value position(Stage const &stage, int64_t loop);
  Location location() const;

  RewriterBase &rewriter;
  MLIRContext *context;
  linalg::GenericOp base;
  OpResult result;
  Reduction const reduction;
  SmallVector<Stage> stages; ///< the reduction, then what is done to its result
  std::optional<KernelLoops> loops;
  SmallVector<Key> terms, extras;
  bool joinsInitial = false; ///< in the finish block
};
} // namespace

//===--- Consumers ------------------------------------------------------------------------------------------------===//

/// The only reader of a value, if it is elementwise over the same loops.
std::optional<Stage> ReduceFormer::consumer(Value value, ArrayRef<AffineExpr> indices) {
  while (value.hasOneUse() && isUnitReshape(*value.user_begin()))
    value = (*value.user_begin())->getResult(0);
  if (!value.hasOneUse())
    return std::nullopt;
  auto op = dyn_cast<linalg::GenericOp>(*value.user_begin());
  if (!op || op->getBlock() != base->getBlock() || !isPlain(op) || op.getNumReductionLoops() != 0 ||
      op->getNumResults() != 1 || op.isDpsInit(&*value.use_begin()))
    return std::nullopt;
  SmallVector<AffineExpr> own, to(op.getNumLoops());
  for (unsigned i = 0; i < op.getNumLoops(); ++i)
    own.push_back(getAffineDimExpr(i, context));
  own = indicesOf(op.getMatchingIndexingMap(&*value.use_begin()), cast<ShapedType>(value.getType()), own);
  if (throughUnitReshapes(value, own) == nullptr || own.size() != indices.size())
    return std::nullopt;
  SmallVector<int64_t> const ranges = op.getStaticLoopRanges();
  for (auto [i, extent] : llvm::enumerate(ranges))
    if (extent == 1)
      to[i] = getAffineConstantExpr(0, context);
  for (auto [a, b] : llvm::zip(own, indices)) {
    auto const dim = dyn_cast<AffineDimExpr>(a);
    if (!dim ? a != b : bool(to[dim.getPosition()]))
      return std::nullopt;
    if (dim)
      to[dim.getPosition()] = b;
  }
  if (!llvm::all_of(to, [](AffineExpr expr) { return bool(expr); }))
    return std::nullopt;
  return Stage{op, to};
}

void ReduceFormer::takeConsumers() {
  SmallVector<AffineExpr> identity;
  for (auto [i, extent] : llvm::enumerate(base.getStaticLoopRanges()))
    identity.push_back(extent == 1 ? getAffineConstantExpr(0, context) : getAffineDimExpr(i, context));
  stages.push_back({base, identity});
  Value last = result;
  AffineMap map = base.getIndexingMapMatchingResult(result);
  while (auto next = consumer(last, indicesOf(map, cast<ShapedType>(last.getType()), stages.back().loops))) {
    stages.push_back(*next);
    last = next->op->getResult(0);
    map = next->op.getIndexingMapMatchingResult(cast<OpResult>(last));
  }
}

//===--- Operands -------------------------------------------------------------------------------------------------===//

ReduceFormer::Key ReduceFormer::keyOf(Stage const &stage, OpOperand &operand) {
  auto op = stage.op;
  AffineMap const map = op.getMatchingIndexingMap(&operand);
  return {operand.get(),
          AffineMap::get(base.getNumLoops(), 0, indicesOf(map, cast<ShapedType>(operand.get().getType()), stage.loops),
                         context)};
}

void ReduceFormer::addInput(SmallVector<Key> &keys, Stage const &stage, OpOperand &operand) {
  if (isUniform(operand.get()))
    return;
  Key const key = keyOf(stage, operand);
  if (!llvm::is_contained(keys, key))
    keys.push_back(key);
}

/// The constant that the reduction starts with; null if it is not known.
TypedAttr ReduceFormer::constantInitial() {
  Value const initial = uniformValue(rewriter, base.getDpsInitOperand(result.getResultNumber())->get());
  TypedAttr constant;
  return initial && matchPattern(initial, m_Constant(&constant)) ? constant : TypedAttr();
}

/// What a stage reads of the one before it.
static bool isLink(OpOperand &operand, Value previous) {
  Value value = operand.get();
  while (isUnitReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value == previous;
}

/// A loop that nothing read or written names by itself has its extent from an operand that is not read, such as the
/// taps of a window.
void ReduceFormer::keepExtents(AffineMap output) {
  auto const isNamed = [&](AffineExpr loop) {
    return llvm::is_contained(output.getResults(), loop) ||
           llvm::any_of(terms, [&](Key const &key) { return llvm::is_contained(key.second.getResults(), loop); });
  };
  for (OpOperand *operand : base.getDpsInputOperands()) {
    if (!isa<ShapedType>(operand->get().getType()))
      continue;
    Key const key = keyOf(stages.front(), *operand);
    if (llvm::any_of(key.second.getResults(), [&](AffineExpr e) { return isa<AffineDimExpr>(e) && !isNamed(e); }))
      terms.push_back(key);
  }
}

/// What the loops reach of an operand. Where a window does not move, a loop over its taps is an index of its own, but
/// the image may be larger.
Value ReduceFormer::front(Value value, AffineMap map) {
  auto const type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, value.getLoc(), value);
  SmallVector<int64_t> shape(type.getShape());
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      if (int64_t const extent = loops->loop(dim.getPosition()).extent; !ShapedType::isDynamic(extent)) {
        shape[d] = extent;
        sizes[d] = rewriter.getIndexAttr(extent);
      }
  if (shape == type.getShape())
    return value;
  SmallVector<OpFoldResult> const offsets(shape.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> const strides(shape.size(), rewriter.getIndexAttr(1));
  return rewriter.create<tensor::ExtractSliceOp>(base.getLoc(), type.clone(shape), value, offsets, sizes, strides);
}

void ReduceFormer::collect() {
  SmallVector<KernelLoop> all;
  for (auto [extent, kind] : llvm::zip(base.getStaticLoopRanges(), base.getIteratorTypesArray()))
    all.push_back({extent, kind == utils::IteratorType::reduction ? reducedKind : parallelKind});
  for (Stage &stage : stages)
    stage.op.getBody()->walk([&](linalg::IndexOp index) {
      if (auto dim = dyn_cast<AffineDimExpr>(stage.loops[index.getDim()]))
        all[dim.getPosition()].pinned = true;
    });
  loops.emplace(context, all);
  for (OpOperand *operand : base.getDpsInputOperands())
    if (reads(base, *operand))
      addInput(terms, stages.front(), *operand);
  if (joinsInitial)
    addInput(extras, stages.front(), *base.getDpsInitOperand(result.getResultNumber()));
  for (unsigned i = 1; i < stages.size(); ++i)
    for (OpOperand &operand : stages[i].op->getOpOperands())
      if (reads(stages[i].op, operand) && !isLink(operand, i == 1 ? result : stages[i - 1].op->getResult(0)))
        addInput(extras, stages[i], operand);
  Stage &last = stages.back();
  OpResult const output = stages.size() == 1 ? result : last.op->getResult(0);
  OpOperand &destination = *last.op.getTiedOpOperand(output);
  keepExtents(keyOf(last, destination).second);
  for (SmallVector<Key> const *keys : {&terms, &extras})
    for (auto const &[value, map] : *keys)
      loops->inputs.push_back({front(value, map), map, nullptr});
  loops->outputs.push_back({freshDestination(rewriter, destination.get()), keyOf(last, destination).second, output});
}

/// Parallel loops as the output lies in memory, then those that are reduced.
void ReduceFormer::orderLoops() {
  llvm::SetVector<unsigned> order;
  for (AffineExpr expr : loops->outputs.front().map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      order.insert(dim.getPosition());
  for (int kind : {parallelKind, reducedKind})
    for (unsigned i = 0; i < loops->count(); ++i)
      if (loops->loop(i).kind == kind)
        order.insert(i);
  loops->reorder(order.getArrayRef());
  loops->dropUnitLoops();
  loops->readThroughSlices();
  bool const isTotal = loops->count() > 0 && loops->loop(0).kind == reducedKind;
  bool const isDeep = loops->count() > manyLoops;
  if (isDeep)
    loops->joinLoops(rewriter, base.getLoc(), 0, 0, parallelKind);
  if (isDeep || isTotal)
    loops->joinLoops(rewriter, base.getLoc(), 0, 0, reducedKind);
}

//===--- Bodies ---------------------------------------------------------------------------------------------------===//

Value ReduceFormer::position(Stage const &stage, int64_t loop) {
  auto const dim = dyn_cast<AffineDimExpr>(stage.loops[loop]);
  std::optional<unsigned> const place = dim ? loops->find(dim.getPosition()) : std::nullopt;
  if (!place)
    return rewriter.create<arith::ConstantIndexOp>(base.getLoc(), 0);
  return rewriter.create<nest::IndexOp>(base.getLoc(), rewriter.getIndexType(), *place);
}

/// Reads operands of a stage: constants, arguments of the block, or the value of the stage before.
BodyCopier ReduceFormer::copier(Stage const &stage, SmallVector<Key> const &keys, ValueRange arguments,
                                Value previous) {
  return BodyCopier(
      rewriter, stage.op,
      [this, &stage, &keys, arguments, previous](BlockArgument argument) -> Value {
        auto op = stage.op;
        OpOperand &operand = *op.getMatchingOpOperand(argument);
        if (Value uniform = uniformValue(rewriter, operand.get()))
          return uniform;
        auto const found = llvm::find(keys, keyOf(stage, operand));
        return found == keys.end() ? previous : Value(arguments[found - keys.begin()]);
      },
      [this, &stage](int64_t loop) { return position(stage, loop); });
}

Value ReduceFormer::finish(ValueRange arguments, Value sum) {
  OpOperand &initial = *base.getDpsInitOperand(result.getResultNumber());
  if (joinsInitial) {
    BodyCopier start = copier(stages.front(), extras, arguments, {});
    Value const from = start.copy(base.getMatchingBlockArgument(&initial));
    sum = combine(rewriter, base.getLoc(), reduction.combiner, from, sum);
  }
  for (Stage const &stage : ArrayRef(stages).drop_front())
    sum = copier(stage, extras, arguments, sum).copy(yielded(stage.op, 0));
  return sum;
}

Location ReduceFormer::location() const {
  SmallVector<Location> parts;
  for (Stage stage : stages)
    parts.push_back(stage.op->getLoc());
  return FusedLoc::get(context, parts);
}

//===--- The kernel -----------------------------------------------------------------------------------------------===//

static SmallVector<Value> addArguments(Block &block, ArrayRef<std::pair<Value, AffineMap>> keys) {
  SmallVector<Value> arguments;
  for (auto const &[value, map] : keys)
    arguments.push_back(block.addArgument(cast<ShapedType>(value.getType()).getElementType(), value.getLoc()));
  return arguments;
}

Operation *ReduceFormer::createReduce(ValueRange outputs, ArrayRef<int64_t> reduced) {
  TypedAttr initial = constantInitial();
  if (joinsInitial)
    initial = neutralOf(reduction.combiner, reduction.term.getType());
  SmallVector<Value> const inputs = loops->inputValues();
  auto reduce = rewriter.create<nest::ReduceOp>(
      location(), outputs.getTypes(), "reduce", ArrayRef(inputs).take_front(terms.size()),
      ArrayRef(inputs).drop_front(terms.size()), outputs, loops->maps(rewriter), reduced, reduction.combiner, initial);
  OpBuilder::InsertionGuard const guard(rewriter);
  SmallVector<Value> arguments = addArguments(*rewriter.createBlock(&reduce.getTerm()), terms);
  Value const term = copier(stages.front(), terms, arguments, {}).copy(reduction.term);
  rewriter.create<nest::YieldOp>(base.getLoc(), term);
  Block &end = *rewriter.createBlock(&reduce.getFinish(), {}, {reduction.term.getType()}, {base.getLoc()});
  arguments = addArguments(end, extras);
  rewriter.create<nest::YieldOp>(base.getLoc(), finish(arguments, end.getArgument(0)));
  return reduce;
}

/// A reduction over a single element.
Operation *ReduceFormer::createMap(ValueRange outputs) {
  auto map = rewriter.create<nest::MapOp>(location(), outputs.getTypes(), "map", loops->inputValues(), ValueRange(),
                                          outputs, loops->maps(rewriter));
  OpBuilder::InsertionGuard const guard(rewriter);
  Block &body = *rewriter.createBlock(&map.getBody());
  SmallVector<Value> const first = addArguments(body, terms);
  SmallVector<Value> const rest = addArguments(body, extras);
  Value value = copier(stages.front(), terms, first, {}).copy(reduction.term);
  if (!joinsInitial) {
    Value const initial = rewriter.create<arith::ConstantOp>(base.getLoc(), constantInitial());
    if (!isIdentity(reduction.combiner, initial))
      value = combine(rewriter, base.getLoc(), reduction.combiner, initial, value);
  }
  rewriter.create<nest::YieldOp>(base.getLoc(), finish(rest, value));
  return map;
}

/// Erases an operation that the kernel has taken and the reshapes through which it read.
static void eraseStage(RewriterBase &rewriter, Operation *op) {
  SmallVector<Value> const operands = op->getOperands();
  rewriter.eraseOp(op);
  for (Value operand : operands)
    if (Operation *def = operand.getDefiningOp(); isUnitReshape(def) && def->use_empty())
      eraseStage(rewriter, def);
}

void ReduceFormer::form() {
  takeConsumers();
  rewriter.setInsertionPoint(stages.back().op);
  joinsInitial = !constantInitial();
  collect();
  orderLoops();
  SmallVector<Value> const outputs = loops->outputValues();
  SmallVector<int64_t> reduced;
  for (unsigned i = 0; i < loops->count(); ++i)
    if (loops->loop(i).kind == reducedKind)
      reduced.push_back(i);
  Operation *kernel = reduced.empty() ? createMap(outputs) : createReduce(outputs, reduced);
  rewriter.setInsertionPointAfter(kernel);
  loops->replaceResults(rewriter, kernel->getResults());
  for (Stage &stage : llvm::reverse(MutableArrayRef(stages).drop_front()))
    eraseStage(rewriter, stage.op);
}

//===--- The pass -------------------------------------------------------------------------------------------------===//

namespace {
struct FormReductions : impl::FormReductionsBase<FormReductions> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    generalize(rewriter);
    SmallVector<linalg::GenericOp> found;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && op.getNumReductionLoops() != 0)
        found.push_back(op);
    });
    for (linalg::GenericOp op : found)
      form(rewriter, op);
    eraseDead(rewriter, getOperation());
  }

  void generalize(RewriterBase &rewriter) {
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op) && op.getNumReductionLoops() != 0)
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
  }

  /// Each result, or none where one of them is joined in no way that has a name: loops take its terms in their order.
  void form(RewriterBase &rewriter, linalg::GenericOp op) {
    SmallVector<std::pair<OpResult, std::optional<Reduction>>> reductions;
    for (OpResult result : op->getResults())
      if (!result.use_empty())
        reductions.emplace_back(result, matchReduction(op, result.getResultNumber()));
    if (!llvm::all_of(reductions, [](auto const &reduction) { return reduction.second.has_value(); }))
      return op->setAttr("nest.in_order", rewriter.getUnitAttr());
    for (auto &[result, reduction] : reductions)
      ReduceFormer(rewriter, result, *reduction).form();
  }
};
} // namespace
} // namespace ml2k
