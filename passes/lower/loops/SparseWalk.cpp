//===- SparseWalk.cpp - the arrays of a stored tensor -------------------------------------------------------------===//

#include "passes/lower/loops/SparseWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {

StoredTensor::StoredTensor(func::FuncOp entry, BlockArgument standIn)
    : standIn(standIn), levels(*levelsOf(entry.getArgAttrOfType<sparse_tensor::SparseTensorEncodingAttr>(
                            standIn.getArgNumber(), sparseEncoding))),
      positions(levels.size()), coordinates(levels.size()) {
  Attribute const number = entry.getArgAttr(standIn.getArgNumber(), sparseTensor);
  SmallVector<Value> arrays;
  for (BlockArgument argument : entry.getArguments())
    if (argument != standIn && entry.getArgAttr(argument.getArgNumber(), sparseTensor) == number)
      arrays.push_back(argument);
  auto next = arrays.begin();
  for (auto [i, level] : llvm::enumerate(levels)) {
    if (level.hasPositions(i))
      positions[i] = *next++;
    if (!level.isDense())
      coordinates[i] = *next++;
  }
  values = *next;
}

std::string StoredTensor::name() const {
  auto entry = cast<func::FuncOp>(standIn.getOwner()->getParentOp());
  return entry.getArgAttrOfType<StringAttr>(standIn.getArgNumber(), "nest.name").str();
}

StringRef StoredTensor::indexName(unsigned dim) const {
  unsigned const rank = cast<MemRefType>(standIn.getType()).getRank();
  static constexpr StringLiteral ofMatrix[] = {"row", "column"}, others[] = {"i", "j", "k", "l"};
  return rank == 2 ? StringRef(ofMatrix[dim]) : dim < 4 ? StringRef(others[dim]) : StringRef("index");
}

Value named(Value value, StringRef name) {
  Operation *op = value.getDefiningOp();
  StringRef const kind = op ? op->getName().stripDialect() : "argument";
  value.setLoc(NameLoc::get(StringAttr::get(value.getContext(), kind + " \"" + name + "\""), value.getLoc()));
  return value;
}

Value StoredTensor::read(OpBuilder &builder, Location location, Value array, Value at) {
  Value const element = builder.create<memref::LoadOp>(location, array, at);
  if (element.getType().isIndex())
    return element;
  // Indices fit an int; those of few bits have no sign
  if (element.getType().getIntOrFloatBitWidth() < 32)
    return builder.create<arith::IndexCastUIOp>(location, builder.getIndexType(), element);
  return builder.create<arith::IndexCastOp>(location, builder.getIndexType(), element);
}

Value StoredTensor::dimensionFromArrays(OpBuilder &builder, Location location, unsigned dim) const {
  bool const areRows = levels.size() > 1 && levels[0].isDense() && levels[0].dim == dim && positions[1];
  if (!areRows)
    return {};
  auto const index = [&](int64_t value) { return builder.create<arith::ConstantIndexOp>(location, value); };
  Value const length = builder.create<memref::DimOp>(location, positions[1], index(0));
  Value const rows = builder.create<arith::SubIOp>(location, length, index(1));
  return levels[0].block == 1 ? rows : builder.create<arith::MulIOp>(location, rows, index(levels[0].block));
}

Value StoredTensor::extentOf(OpBuilder &builder, Location location, size_t level, Value dimension) const {
  SparseLevel const &own = levels[level];
  if (own.part == SparseLevel::Part::Whole)
    return dimension;
  Value const block = builder.create<arith::ConstantIndexOp>(location, own.block);
  return own.part == SparseLevel::Part::Remainder
             ? block
             : Value(builder.createOrFold<arith::DivUIOp>(location, dimension, block));
}

} // namespace ml2k
