//===- RaiseTopK.cpp - the first elements of sorted rows become nest.top_k or nest.sort ---------------------------===//
//
// Front ends sort without a loop that carries state: a first reduction counts for each element of a row those that come
// before it, a second one finds for each of the first k places the position whose count it is, and a gather reads the
// elements. Both reductions are n * n or n * k steps a row; the kernel that keeps k elements takes n log k comparisons,
// a sort n log n.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/Tensors.h"

#include "translator/ir/Nest.h"
#include "translator/ir/SortRoom.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_RAISETOPK
#include "passes/Passes.h.inc"

using arith::CmpIPredicate;
using linalg::GenericOp;

namespace {

/// A thread keeps so many elements at most, in order; more are sorted.
constexpr int64_t mostKept = 64;

/// Parts of a long row that are looked through side by side have so many elements at least, and find so many at most.
constexpr int64_t shortestPart = 1024, mostFound = 4096, mostRowParts = 512;

/// The order of a row: from the largest or the smallest element on, a NaN behind all numbers, equal ones as they stand.
struct Order {
  bool isLargest, isUnsigned;
};

/// Rows along one dimension of `input`.
struct Sorting {
  Value input;
  int64_t along;
  Order order;
};

} // namespace

//===--- Bodies ---------------------------------------------------------------------------------------------------===//

/// The operand of a commutative operation other than `known`.
static Value otherOperand(Operation *op, Value known) { return op->getOperand(op->getOperand(0) == known ? 1 : 0); }

/// What a generic adds to its only result, which starts with 0.
static Value addedTerm(GenericOp op) {
  auto add = yielded(op, 0).getDefiningOp<arith::AddIOp>();
  Value const sum = op.getBody()->getArguments().back();
  if (!add || !llvm::is_contained(add->getOperands(), sum))
    return {};
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_Zero()) ? otherOperand(add, sum) : Value();
}

/// The loop of which a value is the index, cast or not.
static std::optional<int64_t> loopOf(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index ? std::optional<int64_t>(index.getDim()) : std::nullopt;
}

/// `i == loop`, in any order.
static std::optional<int64_t> loopEqualTo(Value condition, Value i) {
  auto equal = condition.getDefiningOp<arith::CmpIOp>();
  if (!equal || equal.getPredicate() != CmpIPredicate::eq || !llvm::is_contained(equal->getOperands(), i))
    return std::nullopt;
  return loopOf(otherOperand(equal, i));
}

/// (d0, .., dn) -> the first n, with the last loop in place of `along`.
static bool readsAlong(AffineMap map, int64_t along) {
  if (map.getNumDims() != map.getNumResults() + 1)
    return false;
  return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto const &result) {
    unsigned const loop = int64_t(result.index()) == along ? map.getNumResults() : result.index();
    return result.value() == getAffineDimExpr(loop, map.getContext());
  });
}

/// (d0, .., dn) -> the first n.
static bool isOwn(AffineMap map) {
  return map.getNumDims() == map.getNumResults() + 1 && map.isProjectedPermutation() &&
         map ==
             AffineMap::getMultiDimIdentityMap(map.getNumDims(), map.getContext()).getMajorSubMap(map.getNumResults());
}

static bool isSumOverLast(GenericOp op) {
  SmallVector<utils::IteratorType> const loops = op.getIteratorTypesArray();
  return op.getNumResults() == 1 && op.hasPureTensorSemantics() && op.getNumReductionLoops() == 1 &&
         loops.back() == utils::IteratorType::reduction;
}

//===--- The order ------------------------------------------------------------------------------------------------===//
//
// Passes before this one may spell a comparison in many ways. What it says is a table: of each pair of elements and
// positions that differ in how they compare. Only comparisons of the two elements, and of the two positions, and logic
// over them are read, so that the table holds for all elements.
//
//===----------------------------------------------------------------------------------------------------------------===//

namespace {
/// Element i of a row, the own one, and element j, of which the body says whether it comes before.
struct Pair {
  TypedAttr own, other;
  int64_t i, j;
};

class Comparison {
public:
  Comparison(GenericOp places, int64_t along, int64_t last) : places(places), along(along), last(last) {}

  /// Whether the condition holds for a pair; none if that is not known.
  std::optional<bool> holds(Value condition, Pair const &pair) {
    known.clear();
    auto const value = dyn_cast_or_null<IntegerAttr>(evaluate(condition, pair));
    return value ? std::optional<bool>(value.getValue().isOne()) : std::nullopt;
  }

private:
  enum class Kind { None, Element, Position };
  Kind kindOf(Value value);
  bool isKnown(Operation *op);
  Attribute evaluate(Value value, Pair const &pair);
  Attribute evaluateOnce(Value value, Pair const &pair);

  GenericOp places;
  int64_t along, last;
  llvm::DenseMap<Value, Attribute> known; ///< of the pair
};
} // namespace

Comparison::Kind Comparison::kindOf(Value value) {
  while (Operation *cast = value.getDefiningOp())
    if (isa<arith::IndexCastOp, arith::ExtFOp>(cast))
      value = cast->getOperand(0);
    else
      return isa<linalg::IndexOp>(cast) ? Kind::Position : Kind::None;
  return Kind::Element;
}

bool Comparison::isKnown(Operation *op) {
  if (isa<arith::CmpFOp, arith::CmpIOp>(op)) {
    Kind const kind = kindOf(op->getOperand(0));
    return kind != Kind::None && kind == kindOf(op->getOperand(1));
  }
  return isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, arith::IndexCastOp, arith::ExtFOp>(op);
}

/// Each value once: conditions may share most of their parts.
Attribute Comparison::evaluate(Value value, Pair const &pair) {
  if (auto const found = known.find(value); found != known.end())
    return found->second;
  Attribute const result = evaluateOnce(value, pair);
  return known[value] = result;
}

Attribute Comparison::evaluateOnce(Value value, Pair const &pair) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return value.getType().isInteger(1) ? constant : Attribute();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned const number = argument.getArgNumber();
    if (argument.getOwner() != places.getBody() || number > 1)
      return {};
    return number == 0 ? pair.own : pair.other;
  }
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int64_t const dim = index.getDim();
    return dim == along || dim == last ? Builder(op->getContext()).getIndexAttr(dim == along ? pair.i : pair.j)
                                       : Attribute();
  }
  if (!isKnown(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    if (!operands.emplace_back(evaluate(operand, pair)))
      return {};
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1)
    return {};
  auto const attribute = dyn_cast<Attribute>(folded.front());
  return attribute ? attribute : evaluate(cast<Value>(folded.front()), pair);
}

/// Elements of every relation to each other.
static SmallVector<TypedAttr> samples(Type type) {
  Builder builder(type.getContext());
  if (auto floats = dyn_cast<FloatType>(type)) {
    SmallVector<TypedAttr> all = {FloatAttr::get(type, APFloat::getQNaN(floats.getFloatSemantics()))};
    for (double const value : {-1.0, -0.0, 0.0, 1.0})
      all.push_back(builder.getFloatAttr(type, value));
    return all;
  }
  SmallVector<TypedAttr> all;
  for (int64_t const value : {-1, 0, 1})
    all.push_back(builder.getIntegerAttr(type, value));
  return all;
}

static bool precedes(TypedAttr a, TypedAttr b, Order order) {
  if (auto x = dyn_cast<FloatAttr>(a)) {
    APFloat const left = x.getValue(), right = cast<FloatAttr>(b).getValue();
    return !left.isNaN() && (right.isNaN() || (order.isLargest ? left > right : left < right));
  }
  APInt const left = cast<IntegerAttr>(order.isLargest ? a : b).getValue(),
              right = cast<IntegerAttr>(order.isLargest ? b : a).getValue();
  return order.isUnsigned ? left.ugt(right) : left.sgt(right);
}

/// Whether the condition says of each pair whether the other element comes before the own one.
static bool isOrder(Comparison &comparison, Value condition, Type type, Order order) {
  SmallVector<TypedAttr> const elements = samples(type);
  for (TypedAttr own : elements)
    for (TypedAttr other : elements)
      for (auto const &[i, j] : {std::pair(0, 1), std::pair(1, 0), std::pair(1, 1)}) {
        bool const isTie = !precedes(own, other, order) && !precedes(other, own, order);
        if (i != j || own == other)
          if (comparison.holds(condition, {own, other, i, j}) != (precedes(other, own, order) || (isTie && j < i)))
            return false;
      }
  return true;
}

static std::optional<Order> orderOf(Comparison comparison, Value condition, Type type) {
  for (bool const isLargest : {true, false})
    for (bool const isUnsigned : {false, true})
      if (isOrder(comparison, condition, type, {isLargest, isUnsigned}))
        return Order{isLargest, isUnsigned};
  return std::nullopt;
}

//===--- The three generics ---------------------------------------------------------------------------------------===//

/// `places[.., i, ..]` = how many elements come before element i of the row along a dimension.
static std::optional<Sorting> sortingOf(GenericOp places, int64_t along) {
  constexpr size_t mostOperations = 64; // of a comparison
  if (!isSumOverLast(places) || places.getInputs().size() != 2 || places.getInputs()[0] != places.getInputs()[1] ||
      places.getBody()->getOperations().size() > mostOperations)
    return std::nullopt;
  SmallVector<AffineMap> const maps = places.getIndexingMapsArray();
  int64_t const last = maps[0].getNumResults();
  if (!isOwn(maps[0]) || !readsAlong(maps[1], along) || !isOwn(maps[2]))
    return std::nullopt;
  Value const input = places.getInputs()[0], term = addedTerm(places);
  auto widened = term ? term.getDefiningOp<arith::ExtUIOp>() : arith::ExtUIOp();
  Type const type = cast<ShapedType>(input.getType()).getElementType();
  if (!widened || !widened.getIn().getType().isInteger(1) || !type.isIntOrFloat())
    return std::nullopt;
  std::optional<Order> const order = orderOf({places, along, last}, widened.getIn(), type);
  return order ? std::optional<Sorting>({input, along, *order}) : std::nullopt;
}

/// The sorting behind `positions[.., p, ..]` = the position of the element whose place is p.
static std::optional<Sorting> sortingOf(GenericOp positions) {
  if (!isSumOverLast(positions) || positions.getInputs().size() != 1)
    return std::nullopt;
  Value const term = addedTerm(positions);
  auto chosen = term ? term.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  SmallVector<AffineMap> const maps = positions.getIndexingMapsArray();
  int64_t const last = maps[0].getNumResults();
  if (!chosen || !matchPattern(chosen.getFalseValue(), m_Zero()) || loopOf(chosen.getTrueValue()) != last)
    return std::nullopt;
  std::optional<int64_t> const along = loopEqualTo(chosen.getCondition(), positions.getBody()->getArgument(0));
  auto places = positions.getInputs()[0].getDefiningOp<GenericOp>();
  if (!along || *along == last || !places || !readsAlong(maps[0], *along) || !isOwn(maps[1]))
    return std::nullopt;
  return sortingOf(places, *along);
}

/// Whether a generic gathers the elements of the input at the positions.
static bool isGather(GenericOp gather, Value positions, Sorting const &sorting) {
  auto const isIdentity = [](AffineMap map) { return map.isIdentity(); };
  if (gather.getInputs().size() != 1 || gather.getInputs()[0] != positions || gather.getNumResults() != 1 ||
      !llvm::all_of(gather.getIndexingMapsArray(), isIdentity))
    return false;
  auto read = yielded(gather, 0).getDefiningOp<tensor::ExtractOp>();
  if (!read || read.getTensor() != sorting.input)
    return false;
  auto const type = cast<RankedTensorType>(sorting.input.getType());
  for (auto [dim, index] : llvm::enumerate(read.getIndices())) {
    auto position = index.getDefiningOp<arith::IndexCastOp>();
    bool const isTaken = position && position.getIn() == gather.getBody()->getArgument(0);
    bool const isOnly = type.getDimSize(dim) == 1 && matchPattern(index, m_Zero());
    if (int64_t(dim) == sorting.along ? !isTaken : !isOnly && loopOf(index) != int64_t(dim))
      return false;
  }
  return true;
}

//===--- The kernel -----------------------------------------------------------------------------------------------===//

/// Whether element `a` comes before element `b`.
static Value createOrder(OpBuilder &builder, Location loc, Value a, Value b, Order order) {
  if (isa<FloatType>(a.getType())) {
    using Predicate = arith::CmpFPredicate;
    Value const wins = builder.create<arith::CmpFOp>(loc, order.isLargest ? Predicate::UGT : Predicate::ULT, a, b);
    return builder.create<arith::AndIOp>(loc, wins, builder.create<arith::CmpFOp>(loc, Predicate::ORD, a, a));
  }
  CmpIPredicate const predicate = order.isUnsigned ? (order.isLargest ? CmpIPredicate::ugt : CmpIPredicate::ult)
                                                   : (order.isLargest ? CmpIPredicate::sgt : CmpIPredicate::slt);
  return builder.create<arith::CmpIOp>(loc, predicate, a, b);
}

static void addOrder(OpBuilder &builder, nest::TopKOp kernel, Sorting const &sorting) {
  Location const loc = kernel.getLoc();
  Type const type = cast<ShapedType>(sorting.input.getType()).getElementType();
  OpBuilder::InsertionGuard const guard(builder);
  Block &block = *builder.createBlock(&kernel.getBefore(), {}, {type, type}, {loc, loc});
  builder.create<nest::YieldOp>(loc,
                                createOrder(builder, loc, block.getArgument(0), block.getArgument(1), sorting.order));
}

/// Uninitialised, with the first elements of the input along its rows.
static Value outputLike(RewriterBase &rewriter, Location loc, RankedTensorType type, Value input) {
  SmallVector<std::pair<Value, int64_t>> sources;
  for (int64_t d = 0; d < type.getRank(); ++d)
    sources.push_back({input, d});
  return emptyLike(rewriter, loc, type, sources);
}

/// Into how many parts rows are split: few long ones that lie in memory as they are computed with.
static int64_t partsOf(RankedTensorType input, int64_t along, int64_t kept) {
  Type const element = input.getElementType();
  int64_t const length = input.getDimSize(along);
  if (!input.hasStaticShape() || element.isInteger(1) || element.isF16() || element.isBF16() || length == 0)
    return 1;
  int64_t const rows = input.getNumElements() / length;
  return std::min({length / shortestPart, mostFound / kept, mostRowParts / std::max<int64_t>(rows, 1)});
}

/// Room for the lists of parts of rows, for the first of a few long ones.
static void addRooms(RewriterBase &rewriter, Location loc, Sorting const &sorting, int64_t kept,
                     SmallVectorImpl<Value> &outputs) {
  auto const input = cast<RankedTensorType>(sorting.input.getType());
  int64_t const parts = partsOf(input, sorting.along, kept);
  if (parts < 2)
    return;
  int64_t const rows = input.getNumElements() / input.getDimSize(sorting.along);
  for (Type const element : {input.getElementType(), Type(rewriter.getI32Type())})
    outputs.push_back(rewriter.create<tensor::EmptyOp>(loc, ArrayRef<int64_t>{rows, parts * kept}, element));
}

/// The kernel's first two results are the elements and their positions.
static Operation *createKernel(RewriterBase &rewriter, Location loc, Sorting const &sorting, int64_t kept,
                               SmallVector<Value> outputs) {
  auto const types = [&] { return TypeRange(ValueRange(outputs)); };
  if (kept <= mostKept) {
    addRooms(rewriter, loc, sorting, kept, outputs);
    auto kernel =
        rewriter.create<nest::TopKOp>(loc, types(), "top_k", sorting.along, sorting.input, ValueRange(), outputs);
    addOrder(rewriter, kernel, sorting);
    return kernel;
  }
  outputs.push_back(nest::roomForSort(rewriter, loc, sorting.input));
  nest::Order const order = sorting.order.isLargest ? nest::Order::Descending : nest::Order::Ascending;
  return rewriter.create<nest::SortOp>(loc, types(), "sort", order, sorting.order.isUnsigned, /*slices=*/false,
                                       sorting.along, sorting.input, ValueRange(), outputs);
}

/// Whether rows have so many elements, for the kernels look no further: as the extent of their places is made, or as a
/// check before says.
static bool hasElements(Value places, int64_t along, int64_t count, func::FuncOp entry) {
  using Bounds = ValueBoundsConstraintSet;
  Builder builder(entry.getContext());
  auto const isAtLeast = [&](Bounds::Variable const &size, int64_t least) {
    return Bounds::compare(size, Bounds::GE, OpFoldResult(builder.getIndexAttr(least)));
  };
  Bounds::Variable const length(places, along);
  AffineMap const difference = AffineMap::get(2, 0, builder.getAffineDimExpr(0) - builder.getAffineDimExpr(1));
  return isAtLeast(length, count) || llvm::any_of(entry.getBody().getOps<cf::AssertOp>(), [&](cf::AssertOp check) {
           auto compare = check.getArg().getDefiningOp<arith::CmpIOp>();
           if (!compare || compare.getPredicate() != CmpIPredicate::sge || !compare.getLhs().getType().isIndex())
             return false;
           std::optional<int64_t> const least = getConstantIntValue(compare.getRhs());
           return least && isAtLeast({difference, {length, compare.getLhs()}}, count - *least);
         });
}

static void raise(RewriterBase &rewriter, GenericOp positions, Sorting const &sorting) {
  Location const loc = positions.getLoc();
  rewriter.setInsertionPoint(positions);
  auto const type = cast<RankedTensorType>(positions.getResult(0).getType());
  Type const element = cast<ShapedType>(sorting.input.getType()).getElementType();
  Value const values = outputLike(rewriter, loc, RankedTensorType::get(type.getShape(), element), sorting.input);
  Value const places = outputLike(rewriter, loc, type, sorting.input);
  Operation *kernel = createKernel(rewriter, loc, sorting, type.getDimSize(sorting.along), {values, places});
  SmallVector<GenericOp> gathers;
  for (Operation *user : positions.getResult(0).getUsers())
    if (auto gather = dyn_cast<GenericOp>(user); gather && isGather(gather, positions.getResult(0), sorting))
      gathers.push_back(gather);
  for (GenericOp gather : gathers)
    rewriter.replaceOp(gather, kernel->getResult(0));
  rewriter.replaceOp(positions, kernel->getResult(1));
}

/// A sort of which few elements are kept, as front ends make it.
static void keepFew(RewriterBase &rewriter, nest::SortOp sort) {
  if (sort.getSlices() || sort.getCount() > mostKept || sort.getCount() == 0 || sort->getNumResults() == 0)
    return;
  rewriter.setInsertionPoint(sort);
  Sorting const sorting{sort.getInputs()[0],
                        int64_t(sort.getAlong()),
                        {sort.getOrder() == nest::Order::Descending, sort.getIsUnsigned()}};
  Operation *kernel =
      createKernel(rewriter, sort.getLoc(), sorting, sort.getCount(), {sort.getOutputs()[0], sort.getOutputs()[1]});
  for (unsigned i = 0; i < 2; ++i)
    rewriter.replaceAllUsesWith(sort->getResult(i), kernel->getResult(i));
  rewriter.eraseOp(sort);
}

namespace {
struct RaiseTopK : impl::RaiseTopKBase<RaiseTopK> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](nest::SortOp sort) {
      if (sort->getNumResults() < 3 || sort->getResult(2).use_empty())
        keepFew(rewriter, sort);
    });
    SmallVector<std::pair<GenericOp, Sorting>> found;
    getOperation().walk([&](GenericOp op) {
      std::optional<Sorting> const sorting = sortingOf(op);
      if (!sorting)
        return;
      int64_t const kept = cast<ShapedType>(op.getResult(0).getType()).getDimSize(sorting->along);
      if (!ShapedType::isDynamic(kept) && kept > 0 &&
          hasElements(op.getInputs()[0], sorting->along, kept, getOperation()))
        found.emplace_back(op, *sorting);
    });
    for (auto &[op, sorting] : found)
      raise(rewriter, op, sorting);
    eraseDead(rewriter, getOperation());
  }
};
} // namespace

} // namespace ml2k
