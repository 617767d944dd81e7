//===- SparseWalk.cpp - the arrays of a stored tensor -------------------------------------------------------------===//

#include "passes/lower/loops/SparseWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {

static int64_t numberOf(func::FuncOp entry, unsigned place, StringRef attribute) {
  auto const number = entry.getArgAttrOfType<IntegerAttr>(place, attribute);
  return number ? number.getInt() : -1;
}

/// As many values as the tensor of the same entries has.
static Value allocateValues(func::FuncOp entry, BlockArgument standIn, Value others, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.getBody().front());
  Location const location = NameLoc::get(builder.getStringAttr(("values \"" + name + "\"").str()), entry.getLoc());
  Value const zero = builder.create<arith::ConstantIndexOp>(location, 0);
  Value const size = builder.create<memref::DimOp>(location, others, zero);
  Type const element = cast<MemRefType>(standIn.getType()).getElementType();
  return builder.create<memref::AllocOp>(location, MemRefType::get({ShapedType::kDynamic}, element), size);
}

StoredTensor::StoredTensor(func::FuncOp entry, BlockArgument standIn, ArrayRef<StoredTensor> others)
    : standIn(standIn), number(numberOf(entry, standIn.getArgNumber(), sparseTensor)),
      levels(*levelsOf(
          entry.getArgAttrOfType<sparse_tensor::SparseTensorEncodingAttr>(standIn.getArgNumber(), sparseEncoding),
          /*takesLoose=*/true)),
      positions(levels.size()), coordinates(levels.size()) {
  if (auto const kind = entry.getArgAttrOfType<nest::AssemblyAttr>(standIn.getArgNumber(), sparseAssembly))
    assembly = kind.getValue();
  SmallVector<Value> arrays;
  for (BlockArgument argument : entry.getArguments())
    if (argument != standIn && numberOf(entry, argument.getArgNumber(), sparseTensor) == number)
      arrays.push_back(argument);
  int64_t const pattern = numberOf(entry, standIn.getArgNumber(), sparsePattern);
  auto const *const same = llvm::find_if(others, [&](StoredTensor const &other) { return other.number == pattern; });
  if (same != others.end()) {
    number = pattern;
    positions = same->positions;
    coordinates = same->coordinates;
    values = arrays.empty() ? allocateValues(entry, standIn, same->values, name()) : arrays[0];
    return;
  }
  auto next = arrays.begin();
  for (auto [i, level] : llvm::enumerate(levels)) {
    if (level.hasPositions(i))
      positions[i] = *next++;
    if (!level.isDense())
      coordinates[i] = *next++;
  }
  values = *next;
}

StoredTensors::StoredTensors(func::FuncOp entry) {
  for (BlockArgument argument : entry.getArguments())
    if (unsigned const place = argument.getArgNumber();
        entry.getArgAttr(place, sparseEncoding) && !entry.getArgAttr(place, "nest.collected"))
      tensors.emplace_back(StoredTensor(entry, argument, tensors));
}

StoredTensor const *StoredTensors::find(Value value) const {
  auto const *const found = llvm::find_if(tensors, [&](StoredTensor const &tensor) { return tensor.standIn == value; });
  return found == tensors.end() ? nullptr : found;
}

/// What an extent of an argument is called; null if it has no name.
static StringAttr extentName(BlockArgument argument, unsigned dim) {
  auto entry = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto const names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
  auto const name = names && dim < names.size() ? dyn_cast<StringAttr>(names[dim]) : StringAttr();
  return name && !name.empty() ? name : StringAttr();
}

Value StoredTensors::extentOf(OpBuilder &builder, Location location, StoredTensor const &tensor, unsigned dim) const {
  StringAttr const name = extentName(tensor.standIn, dim);
  for (BlockArgument argument : tensor.standIn.getOwner()->getArguments()) {
    auto const type = dyn_cast<MemRefType>(argument.getType());
    for (int64_t place = 0; name && type && !find(argument) && place < type.getRank(); ++place)
      if (extentName(argument, place) == name)
        return builder.create<memref::DimOp>(location, argument,
                                             builder.create<arith::ConstantIndexOp>(location, place));
  }
  if (Value const own = tensor.dimensionFromArrays(builder, location, dim))
    return own;
  for (StoredTensor const &other : tensors)
    for (int64_t place = 0; name && place < cast<MemRefType>(other.standIn.getType()).getRank(); ++place)
      if (extentName(other.standIn, place) == name)
        if (Value const extent = other.dimensionFromArrays(builder, location, place))
          return extent;
  return {};
}

void StoredTensors::setPositions(StoredTensor const &tensor, Value positions) {
  for (StoredTensor &other : tensors)
    if (other.number == tensor.number)
      other.positions[1] = positions;
}

std::string StoredTensor::name() const {
  auto entry = cast<func::FuncOp>(standIn.getOwner()->getParentOp());
  return entry.getArgAttrOfType<StringAttr>(standIn.getArgNumber(), "nest.name").str();
}

bool StoredTensor::isByRows() const {
  return levels.size() == 2 && levels[0].isDense() && levels[1].format == SparseLevel::Format::Compressed;
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

Value StoredTensor::element(OpBuilder &builder, Location location, Value array, Value index) {
  Type const type = cast<MemRefType>(array.getType()).getElementType();
  if (type.isIndex())
    return index;
  return builder.create<arith::IndexCastOp>(location, type, index);
}

Value StoredTensor::dimensionFromArrays(OpBuilder &builder, Location location, unsigned dim) const {
  bool const areRows = levels.size() > 1 && levels[0].isDense() && levels[0].dim == dim && positions[1];
  if (!areRows)
    return {};
  auto const index = [&](int64_t value) { return builder.create<arith::ConstantIndexOp>(location, value); };
  // What the text calls the extent is not what its array is called
  auto const name = dyn_cast<NameLoc>(location);
  Value const length = builder.create<memref::DimOp>(name ? name.getChildLoc() : location, positions[1], index(0));
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
