//===- SparseLookup.cpp - one element of a stored tensor, found by its indices ------------------------------------===//
//
// Level by level: a dense one leads on to its coordinate, a compressed one to the entry of it, which bisection finds
// among those between two positions, or to zero.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/SparseWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {
namespace {

class Lookup {
public:
  Lookup(OpBuilder &builder, Location location, StoredTensor const &tensor, ArrayRef<Value> indices,
         ArrayRef<Value> extents)
      : builder(builder), location(location), tensor(tensor), indices(indices), extents(extents),
        element(cast<MemRefType>(tensor.values.getType()).getElementType()) {}

  /// From `level` on, whose arrays `position` counts; null in front of the first one.
  Value from(size_t level, Value position) {
    if (level == tensor.levels.size())
      return builder.create<memref::LoadOp>(location, tensor.values, position);
    Value const coordinate = coordinateOf(tensor.levels[level]);
    return tensor.levels[level].isDense() ? from(level + 1, below(level, position, coordinate))
                                          : amongEntries(level, position, coordinate);
  }

private:
  Value index(int64_t value) { return builder.create<arith::ConstantIndexOp>(location, value); }

  Value coordinateOf(SparseLevel const &level) {
    Value const whole = indices[level.dim];
    switch (level.part) {
    case SparseLevel::Part::Whole:
      return whole;
    case SparseLevel::Part::Quotient:
      return builder.create<arith::DivSIOp>(location, whole, index(level.block));
    case SparseLevel::Part::Remainder:
      return builder.create<arith::RemSIOp>(location, whole, index(level.block));
    }
    llvm_unreachable("all parts are listed");
  }

  Value below(size_t level, Value position, Value coordinate) {
    if (!position)
      return coordinate;
    Value const extent = tensor.extentOf(builder, location, level, extents[tensor.levels[level].dim]);
    Value const start = builder.create<arith::MulIOp>(location, position, extent);
    return builder.create<arith::AddIOp>(location, start, coordinate);
  }

  std::pair<Value, Value> entriesOf(size_t level, Value position) {
    if (level == 0)
      return {index(0), builder.create<memref::DimOp>(location, tensor.coordinates[0], index(0))};
    Value const array = tensor.positions[level];
    Value const next = builder.create<arith::AddIOp>(location, position, index(1));
    return {StoredTensor::read(builder, location, array, position), StoredTensor::read(builder, location, array, next)};
  }

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder.create<arith::CmpIOp>(location, predicate, a, b);
  }

  Value coordinateAt(size_t level, Value entry) {
    return StoredTensor::read(builder, location, tensor.coordinates[level], entry);
  }

  /// `value()` if the condition holds.
  Value valueIf(Value condition, Value otherwise, llvm::function_ref<Value()> value) {
    auto branch = builder.create<scf::IfOp>(location, otherwise.getType(), condition, /*withElse=*/true);
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    builder.create<scf::YieldOp>(location, value());
    builder.setInsertionPointToStart(branch.elseBlock());
    builder.create<scf::YieldOp>(location, otherwise);
    return branch.getResult(0);
  }

  /// The first entry whose coordinate is not below the one that is looked for.
  Value bisect(size_t level, Value begin, Value end, Value coordinate) {
    auto search = builder.create<scf::WhileOp>(
        location, TypeRange{begin.getType(), end.getType()}, ValueRange{begin, end},
        [&](OpBuilder &, Location, ValueRange at) {
          Value const isOpen = compare(arith::CmpIPredicate::slt, at[0], at[1]);
          builder.create<scf::ConditionOp>(location, isOpen, at);
        },
        [&](OpBuilder &, Location, ValueRange at) {
          Value const sum = builder.create<arith::AddIOp>(location, at[0], at[1]);
          Value const middle = named(builder.create<arith::DivSIOp>(location, sum, index(2)), "middle");
          Value const isBelow = compare(arith::CmpIPredicate::slt, coordinateAt(level, middle), coordinate);
          Value const behind = builder.create<arith::AddIOp>(location, middle, index(1));
          Value const low = builder.create<arith::SelectOp>(location, isBelow, behind, at[0]);
          Value const high = builder.create<arith::SelectOp>(location, isBelow, at[1], middle);
          builder.create<scf::YieldOp>(location, ValueRange{low, high});
        });
    search->setAttr(bisectsEntries, builder.getUnitAttr());
    named(search.getBeforeArguments()[0], "low");
    named(search.getBeforeArguments()[1], "high");
    return named(search.getResult(0), "found");
  }

  Value amongEntries(size_t level, Value position, Value coordinate) {
    auto const [begin, end] = entriesOf(level, position);
    if (level > 0)
      named(end, "end");
    Value const found = bisect(level, begin, end, coordinate);
    Value const none = builder.create<arith::ConstantOp>(location, builder.getBoolAttr(false));
    Value const isStored = valueIf(compare(arith::CmpIPredicate::slt, found, end), none, [&] {
      return compare(arith::CmpIPredicate::eq, coordinateAt(level, found), coordinate);
    });
    named(isStored, "is_stored");
    Value const zero = builder.create<arith::ConstantOp>(location, builder.getZeroAttr(element));
    return valueIf(isStored, zero, [&] { return from(level + 1, found); });
  }

  OpBuilder &builder;
  Location location;
  StoredTensor const &tensor;
  ArrayRef<Value> indices, extents;
  Type element;
};

} // namespace

Value StoredTensor::lookUp(OpBuilder &builder, Location location, ArrayRef<Value> indices,
                           ArrayRef<Value> extents) const {
  return Lookup(builder, location, *this, indices, extents).from(0, {});
}

} // namespace ml2k
