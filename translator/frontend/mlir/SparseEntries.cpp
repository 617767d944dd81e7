//===- SparseEntries.cpp - operations that ask whether an element is stored ---------------------------------------===//
//
// sparse_tensor.binary and unary say what becomes of elements that one operand stores and the other does not, and
// sparse_tensor.select which entries stay. Where that is more than "what both store" the operands are written out as
// dense tensors, each with a second one that says which of its elements are stored:
//
//   overlap={min(a, b)} left=identity right=identity
//     ->  a_stored && b_stored ? min(a, b) : a_stored ? a : b_stored ? b : 0
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ml2k::mlir_import {
namespace {

/// Whether the operation has a value in some case.
bool hasValue(Operation &op) {
  auto binary = dyn_cast<sparse_tensor::BinaryOp>(op);
  return llvm::any_of(op.getRegions(), [](Region &region) { return !region.empty(); }) ||
         (binary && (binary.getLeftIdentity() || binary.getRightIdentity()));
}

/// What SparseValues.cpp makes of an operation on one sparse operand, or on several with the same entries.
bool isOfStoredOnly(Operation &op) {
  if (auto unary = dyn_cast<sparse_tensor::UnaryOp>(op))
    return !unary.getPresentRegion().empty() && unary.getAbsentRegion().empty();
  auto binary = dyn_cast<sparse_tensor::BinaryOp>(op);
  return binary && !binary.getOverlapRegion().empty() && binary.getLeftRegion().empty() &&
         binary.getRightRegion().empty() && !binary.getLeftIdentity() && !binary.getRightIdentity();
}

bool asksForEntries(Operation &op) {
  return isa<sparse_tensor::UnaryOp, sparse_tensor::BinaryOp, sparse_tensor::SelectOp>(op);
}

/// Two arguments have entries of their own.
bool haveOtherEntries(linalg::GenericOp op) {
  llvm::SmallPtrSet<Value, 2> own;
  for (Value input : op.getInputs())
    if (isSparse(input) && isa<BlockArgument>(input))
      own.insert(input);
  return own.size() > 1;
}

/// All regions are computed for each element, so that they may do nothing but compute.
bool onlyComputes(Operation &op) {
  for (Region &region : op.getRegions())
    if (!region.empty() &&
        (!llvm::hasSingleElement(region) || llvm::any_of(region.front().without_terminator(), [](Operation &inner) {
          return !isMemoryEffectFree(&inner) || !isSpeculatable(&inner) || inner.getNumRegions() != 0;
        })))
      return false;
  return true;
}

bool isNeeded(linalg::GenericOp op) {
  Block &body = *op.getBody();
  bool const isMore =
      llvm::any_of(body, [](Operation &inner) { return asksForEntries(inner) && !isOfStoredOnly(inner); });
  return isMore || (llvm::any_of(body, asksForEntries) && haveOtherEntries(op));
}

/// Whether the rules below know all of the operation.
bool isKnown(linalg::GenericOp op) {
  auto const isPlain = [](AffineMap map) { return map.isProjectedPermutation(); };
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
      !llvm::all_of(op.getIndexingMapsArray(), isPlain) || !op.getIndexingMapsArray().back().isPermutation())
    return false;
  OpOperand &output = *op.getDpsInitOperand(0);
  if (isSparse(output.get()) && !isEmptyTensor(output.get()))
    return false;
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return (asksForEntries(inner) && hasValue(inner) && onlyComputes(inner)) ||
           isa<arith::ConstantOp, linalg::IndexOp>(inner);
  });
}

/// An element, and whether there is one; null if there always is.
struct Element {
  Value value, isThere;
};

class Entries {
public:
  explicit Entries(linalg::GenericOp op) : op(op), builder(op), loc(op.getLoc()) {}

  void replace() {
    OpOperand &output = *op.getDpsInitOperand(0);
    auto const sparse = cast<RankedTensorType>(output.get().getType());
    auto const dense = RankedTensorType::get(sparse.getShape(), sparse.getElementType());
    SmallVector<OpFoldResult> const sizes = tensor::getMixedSizes(builder, loc, output.get());
    // As upstream has it: what no case gives a value is zero, unless the body asks for what was there
    bool const isRead = !op.getMatchingBlockArgument(&output).use_empty();
    Value const start = isRead && !isSparse(output.get()) ? output.get() : filled(sizes, sparse.getElementType());
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands())
      addInput(*input, loopSizes(sizes), inputs, maps);
    maps.push_back(op.getMatchingIndexingMap(&output));
    auto made = builder.create<linalg::GenericOp>(
        loc, dense, inputs, start, maps, op.getIteratorTypesArray(),
        [&](OpBuilder &inside, Location, ValueRange arguments) { fillBody(inside, arguments); });
    made->getResult(0).setLoc(op->getResult(0).getLoc());
    Value result = made.getResult(0);
    if (isSparse(output.get()))
      result = builder.create<sparse_tensor::ConvertOp>(op->getResult(0).getLoc(), sparse, result);
    op->replaceAllUsesWith(ValueRange(result));
    op.erase();
  }

private:
  Value zeroOf(OpBuilder &at, Type type) { return at.create<arith::ConstantOp>(loc, at.getZeroAttr(type)); }

  Value filled(ArrayRef<OpFoldResult> sizes, Type type) {
    Value const empty = builder.create<tensor::EmptyOp>(loc, sizes, type);
    return builder.create<linalg::FillOp>(loc, zeroOf(builder, type), empty).getResult(0);
  }

  /// The output says how long the loops are.
  SmallVector<OpFoldResult> loopSizes(ArrayRef<OpFoldResult> sizes) {
    SmallVector<OpFoldResult> all(op.getNumLoops());
    for (auto [size, dim] : llvm::zip_equal(sizes, op.getIndexingMapsArray().back().getResults()))
      all[cast<AffineDimExpr>(dim).getPosition()] = size;
    return all;
  }

  void addInput(OpOperand &input, ArrayRef<OpFoldResult> loops, SmallVectorImpl<Value> &inputs,
                SmallVectorImpl<AffineMap> &maps) {
    AffineMap const map = op.getMatchingIndexingMap(&input);
    maps.push_back(map);
    if (!isSparse(input.get())) {
      inputs.push_back(input.get());
      return;
    }
    SmallVector<OpFoldResult> sizes;
    for (AffineExpr dim : map.getResults())
      sizes.push_back(loops[cast<AffineDimExpr>(dim).getPosition()]);
    auto const type = cast<RankedTensorType>(input.get().getType());
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      if (!ShapedType::isDynamic(extent))
        sizes[dim] = builder.getIndexAttr(extent);
    inputs.push_back(densified(builder, named(input.get(), "_elements"), input.get(), sizes));
    inputs.push_back(entriesOf(input.get(), sizes));
    maps.push_back(map);
  }

  /// `elements "a_stored"`, where the operand has a name.
  Location named(Value operand, StringRef suffix) {
    auto const argument = dyn_cast<BlockArgument>(operand);
    auto entry = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    auto const name = entry ? entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name") : StringAttr();
    if (!name)
      return op.getLoc();
    return NameLoc::get(builder.getStringAttr("elements \"" + name.getValue() + suffix + "\""), op.getLoc());
  }

  /// True where an element is stored.
  Value entriesOf(Value sparse, ArrayRef<OpFoldResult> sizes) {
    Location const loc = named(sparse, "_stored");
    auto const type = cast<RankedTensorType>(sparse.getType());
    Type const flag = builder.getI1Type();
    Value const empty = builder.create<tensor::EmptyOp>(loc, sizes, flag);
    Value const none = builder.create<linalg::FillOp>(loc, zeroOf(builder, flag), empty).getResult(0);
    SmallVector<AffineMap> const maps(2, builder.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> const kinds(type.getRank(), utils::IteratorType::parallel);
    auto made = builder.create<linalg::GenericOp>(
        loc, none.getType(), sparse, none, maps, kinds, [&](OpBuilder &inside, Location, ValueRange values) {
          auto unary = inside.create<sparse_tensor::UnaryOp>(loc, flag, values[0]);
          Block *const present = inside.createBlock(&unary.getPresentRegion(), {}, type.getElementType(), loc);
          inside.setInsertionPointToEnd(present);
          Value const yes = inside.create<arith::ConstantOp>(loc, inside.getBoolAttr(true));
          inside.create<sparse_tensor::YieldOp>(loc, yes);
          inside.setInsertionPointAfter(unary);
          inside.create<linalg::YieldOp>(loc, unary.getResult());
        });
    return made.getResult(0);
  }

  //===--- The body ---===//

  void fillBody(OpBuilder &at, ValueRange arguments) {
    unsigned next = 0;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value const value = arguments[next++];
      elements[op.getMatchingBlockArgument(input)] = {value, isSparse(input->get()) ? arguments[next++] : Value()};
    }
    Value const before = arguments.back();
    elements[op.getMatchingBlockArgument(op.getDpsInitOperand(0))] = {before, {}};
    for (Operation &inner : op.getBody()->without_terminator())
      if (asksForEntries(inner))
        elements[inner.getResult(0)] = computed(at, inner);
      else
        elements[inner.getResult(0)] = {at.clone(inner)->getResult(0), {}};
    Value const yielded = op.getBody()->getTerminator()->getOperand(0);
    at.create<linalg::YieldOp>(loc, chosen(at, elementOf(yielded), before));
  }

  Element elementOf(Value value) const {
    auto const known = elements.find(value);
    return known == elements.end() ? Element{value, {}} : known->second;
  }

  Value chosen(OpBuilder &at, Element element, Value other) {
    if (!element.value)
      return other;
    return element.isThere ? at.create<arith::SelectOp>(loc, element.isThere, element.value, other).getResult()
                           : element.value;
  }

  Element computed(OpBuilder &at, Operation &inner) {
    if (auto unary = dyn_cast<sparse_tensor::UnaryOp>(inner)) {
      Element const x = elementOf(unary.getX());
      Element const present{inlined(at, unary.getPresentRegion(), x.value), yes(at, x)};
      Element const absent{inlined(at, unary.getAbsentRegion(), {}), no(at, x)};
      return either(at, present, absent);
    }
    if (auto select = dyn_cast<sparse_tensor::SelectOp>(inner)) {
      Element const x = elementOf(select.getX());
      return {x.value, both(at, yes(at, x), inlined(at, select.getRegion(), x.value))};
    }
    auto binary = cast<sparse_tensor::BinaryOp>(inner);
    Element const x = elementOf(binary.getX()), y = elementOf(binary.getY());
    Value const ofBoth = inlined(at, binary.getOverlapRegion(), {x.value, y.value});
    Value const left = binary.getLeftIdentity() ? x.value : inlined(at, binary.getLeftRegion(), x.value);
    Value const right = binary.getRightIdentity() ? y.value : inlined(at, binary.getRightRegion(), y.value);
    Element const overlap{ofBoth, both(at, yes(at, x), yes(at, y))};
    return either(at, overlap,
                  either(at, {left, both(at, yes(at, x), no(at, y))}, {right, both(at, no(at, x), yes(at, y))}));
  }

  /// The values of an absent region are those outside; null without a region.
  Value inlined(OpBuilder &at, Region &region, ValueRange arguments) {
    if (region.empty())
      return {};
    IRMapping values;
    for (auto const &[from, element] : elements)
      values.map(from, element.value);
    values.map(region.front().getArguments().take_front(arguments.size()), arguments);
    for (Operation &inner : region.front().without_terminator())
      at.clone(inner, values);
    return values.lookupOrDefault(region.front().getTerminator()->getOperand(0));
  }

  Value flag(OpBuilder &at, bool value) { return at.create<arith::ConstantOp>(loc, at.getBoolAttr(value)); }
  Value yes(OpBuilder &at, Element element) { return element.isThere ? element.isThere : flag(at, true); }
  Value no(OpBuilder &at, Element element) {
    return element.isThere ? at.create<arith::XOrIOp>(loc, element.isThere, flag(at, true)).getResult()
                           : flag(at, false);
  }
  Value both(OpBuilder &at, Value a, Value b) { return at.createOrFold<arith::AndIOp>(loc, a, b); }

  /// Of two elements of which one is there at most.
  Element either(OpBuilder &at, Element first, Element second) {
    if (!first.value || !second.value)
      return first.value ? first : second;
    return {at.create<arith::SelectOp>(loc, first.isThere, first.value, second.value),
            at.createOrFold<arith::OrIOp>(loc, first.isThere, second.isThere)};
  }

  linalg::GenericOp op;
  OpBuilder builder;
  Location loc;
  llvm::MapVector<Value, Element> elements; // of the old body
};

} // namespace

void spellOutEntries(func::FuncOp entry) {
  SmallVector<linalg::GenericOp> found;
  for (auto op : entry.getBody().front().getOps<linalg::GenericOp>())
    if (isNeeded(op) && isKnown(op))
      found.push_back(op);
  for (linalg::GenericOp op : found)
    Entries(op).replace();
}

} // namespace ml2k::mlir_import
