//===- SparseCollect.cpp - the entries of a dense tensor as a sparse result ---------------------------------------===//
//
// A result that no kernel assembles is computed as a dense tensor; here loops find its entries, level by level. Of each
// compressed level a scan numbers the nodes that have an element other than zero below them; all other loops know by
// that where to write. What there is no room for is counted, not written.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k::mlir_import {
namespace {

using Format = SparseLevel::Format;

class Collector {
public:
  Collector(OpBuilder &builder, Value dense, ArrayRef<SparseLevel> levels, ValueRange arrays, StringRef name)
      : builder(builder), location(dense.getLoc()), name(name), levels(levels), dense(dense), places(levels.size()) {
    takeArrays(arrays);
    measure();
  }

  void collect() {
    for (size_t level = levels.size(); level-- > 0;)
      if (isNumbered(level))
        numberNodes(level);
    for (size_t level = 0; level < levels.size(); ++level)
      if (positions[level])
        writePositions(level);
    for (size_t level = 0; level + 1 < levels.size(); ++level)
      if (levels[level].format == Format::Compressed)
        writeEntries(level, {level});
    writeValues();
  }

private:
  void takeArrays(ValueRange arrays) {
    positions.resize(levels.size());
    coordinates.resize(levels.size());
    for (auto [i, level] : llvm::enumerate(levels)) {
      if (level.isDense())
        continue;
      if (i == 0 || level.hasPositions(i)) {
        positions[i] = arrays.front();
        arrays = arrays.drop_front();
      }
      coordinates[i] = arrays.front();
      arrays = arrays.drop_front();
    }
    values = arrays.front();
  }

  void measure() {
    for (SparseLevel const &level : levels)
      extents.push_back(builder.createOrFold<tensor::DimOp>(location, dense, level.dim));
  }

  /// The coordinates of COO are those of one node.
  bool isNumbered(size_t level) const {
    return levels[level].format == Format::Compressed ||
           (level + 1 == levels.size() && levels[level].format == Format::Singleton);
  }

  std::optional<size_t> numberedAbove(size_t level) const {
    while (level-- > 0)
      if (isNumbered(level))
        return level;
    return std::nullopt;
  }

  //===--- Nodes ---===//

  Value index(int64_t value) { return builder.create<arith::ConstantIndexOp>(location, value); }
  Value plus(Value a, Value b) { return builder.create<arith::AddIOp>(location, a, b); }
  Value times(Value a, Value b) { return builder.create<arith::MulIOp>(location, a, b); }
  Value differ(Value a, Value b) { return builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, a, b); }

  /// Of the levels from `first` to before `last`.
  Value nodes(size_t first, size_t last) {
    Value count;
    for (size_t level = first; level < last; ++level)
      count = count ? times(count, extents[level]) : extents[level];
    return count ? count : index(1);
  }

  Value isOther(Value element) {
    Type const type = element.getType();
    if (auto const complex = dyn_cast<ComplexType>(type)) {
      Attribute const zero = builder.getZeroAttr(complex.getElementType());
      Value const origin = builder.create<complex::ConstantOp>(location, complex, builder.getArrayAttr({zero, zero}));
      return builder.create<complex::NotEqualOp>(location, element, origin);
    }
    Value const zero = builder.create<arith::ConstantOp>(location, builder.getZeroAttr(type));
    if (isa<FloatType>(type))
      return builder.create<arith::CmpFOp>(location, arith::CmpFPredicate::UNE, element, zero);
    return differ(element, zero);
  }

  /// By the coordinates of all levels.
  Value elementAt(ArrayRef<Value> at) {
    SmallVector<Value> indices(levels.size());
    for (auto [level, coordinate] : llvm::zip(levels, at))
      indices[level.dim] = coordinate;
    return builder.create<tensor::ExtractOp>(location, dense, indices);
  }

  /// The coordinates of a node among those of the levels from `first` to before `last`.
  SmallVector<Value> coordinatesOf(Value node, size_t first, size_t last) {
    SmallVector<Value> at(last - first);
    for (size_t level = last; level-- > first;) {
      bool const isFirst = level == first;
      at[level - first] = isFirst ? node : builder.create<arith::RemUIOp>(location, node, extents[level]);
      if (!isFirst)
        node = builder.create<arith::DivUIOp>(location, node, extents[level]);
    }
    return at;
  }

  Value nodeOf(ArrayRef<Value> at, size_t first) {
    Value node = at.front();
    for (auto const [i, own] : llvm::enumerate(at.drop_front()))
      node = plus(times(node, extents[first + i + 1]), own);
    return node;
  }

  ArrayRef<Value> extentsOf(size_t first, size_t last) const { return ArrayRef(extents).slice(first, last - first); }

  Value allocate(Value size, StringRef what) {
    auto const place = NameLoc::get(builder.getStringAttr("alloc \"" + name + "_" + what + "\""), location);
    return builder.create<memref::AllocOp>(place, MemRefType::get({ShapedType::kDynamic}, builder.getI32Type()), size);
  }

  /// Whether an element of a node, or of the dense levels below it, is other than zero, for each node of a level.
  Value findBlocks(size_t level) {
    Value const found = allocate(nodes(0, level + 1), "found");
    auto loop = parallel(extentsOf(0, level + 1));
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    SmallVector<Value> at(loop.getInductionVars());
    Value const node = nodeOf(at, 0);
    if (level + 1 == levels.size()) {
      Value const flag = builder.create<arith::ExtUIOp>(location, builder.getI32Type(), isOther(elementAt(at)));
      builder.create<memref::StoreOp>(location, flag, found, node);
      return found;
    }
    Value const none = builder.create<arith::ConstantOp>(location, builder.getBoolAttr(false));
    Value const size = nodes(level + 1, levels.size());
    auto any = builder.create<scf::ForOp>(location, index(0), size, index(1), none);
    {
      OpBuilder::InsertionGuard const inner(builder);
      builder.setInsertionPointToEnd(any.getBody());
      llvm::append_range(at, coordinatesOf(any.getInductionVar(), level + 1, levels.size()));
      Value const joined = builder.create<arith::OrIOp>(location, any.getRegionIterArg(0), isOther(elementAt(at)));
      builder.create<scf::YieldOp>(location, joined);
    }
    Value const flag = builder.create<arith::ExtUIOp>(location, builder.getI32Type(), any.getResult(0));
    builder.create<memref::StoreOp>(location, flag, found, node);
    return found;
  }

  /// places[level][k]: how many of the nodes in front of k are stored; one more element says how many there are.
  void numberNodes(size_t level) {
    Value const count = nodes(0, level + 1);
    size_t below = level + 1;
    while (below < levels.size() && !isNumbered(below))
      ++below;
    bool const isLast = below == levels.size();
    Value const ratio = isLast ? Value() : nodes(level + 1, below + 1);
    Value const blocks = isLast && levels.size() > 1 ? findBlocks(level) : Value();
    Value const next = allocate(plus(count, index(1)), "places");
    Value const zero = builder.create<arith::ConstantOp>(location, builder.getI32IntegerAttr(0));
    builder.create<memref::StoreOp>(location, zero, next, index(0));
    auto scan = builder.create<scf::ForOp>(location, index(0), count, index(1), zero);
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPointToEnd(scan.getBody());
    Value const node = scan.getInductionVar(), following = plus(node, index(1));
    auto const read = [&](Value array, Value place) -> Value {
      return builder.create<memref::LoadOp>(location, array, place);
    };
    Value term;
    if (blocks)
      term = read(blocks, node);
    else {
      Value const is =
          isLast ? isOther(elementAt(node))
                 : differ(read(places[below], times(following, ratio)), read(places[below], times(node, ratio)));
      term = builder.create<arith::ExtUIOp>(location, builder.getI32Type(), is);
    }
    // As many as there are elements, which an int counts
    Value const sum =
        builder.create<arith::AddIOp>(location, scan.getRegionIterArg(0), term, arith::IntegerOverflowFlags::nsw);
    builder.create<memref::StoreOp>(location, sum, next, following);
    builder.create<scf::YieldOp>(location, sum);
    places[level] = next;
  }

  //===--- Arrays ---===//

  scf::ParallelOp parallel(ArrayRef<Value> counts) {
    SmallVector<Value> const zeros(counts.size(), index(0)), ones(counts.size(), index(1));
    auto loop = builder.create<scf::ParallelOp>(location, zeros, counts, ones);
    loop->setAttr("nest.note", builder.getStringAttr("parallel: each entry of " + name + " has its own place"));
    return loop;
  }

  Value placeOf(size_t level, Value node) {
    Value const place = builder.create<memref::LoadOp>(location, places[level], node);
    return builder.create<arith::IndexCastOp>(location, builder.getIndexType(), place);
  }

  void store(Value number, Value array, Value place) {
    Type const element = cast<MemRefType>(array.getType()).getElementType();
    if (element != number.getType())
      number = builder.create<arith::IndexCastOp>(location, element, number);
    builder.create<memref::StoreOp>(location, number, array, place);
  }

  Value roomOf(Value array) { return builder.create<memref::DimOp>(location, array, index(0)); }

  /// Where `place` lies within the array, and `stored` holds, if that is given.
  void storeWithin(Value stored, Value place, ArrayRef<std::pair<Value, Value>> numbersTo) {
    Value room;
    for (auto const &[number, array] : numbersTo) {
      Value const own = roomOf(array);
      room = room ? builder.create<arith::MinSIOp>(location, room, own) : own;
    }
    Value fits = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::slt, place, room);
    if (stored)
      fits = builder.create<arith::AndIOp>(location, stored, fits);
    auto branch = builder.create<scf::IfOp>(location, fits);
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    for (auto const &[number, array] : numbersTo)
      store(number, array, place);
  }

  /// positions[p + 1] of each parent p that is stored: how many nodes there are up to its last one.
  void writePositions(size_t level) {
    store(index(0), positions[level], index(0));
    size_t const counted = levels[level].format == Format::Repeated ? levels.size() - 1 : level;
    if (level == 0) {
      Value const all = placeOf(counted, nodes(0, counted + 1));
      store(all, positions[level], index(1));
      return;
    }
    std::optional<size_t> const above = numberedAbove(level);
    Value const ratio = nodes(above ? *above + 1 : 0, level);
    auto loop = above ? parallel({nodes(0, *above + 1), ratio}) : parallel({ratio});
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    Value parent = loop.getInductionVars().back(), place = parent, stored;
    if (above) {
      Value const node = loop.getInductionVars()[0], first = placeOf(*above, node);
      stored = differ(placeOf(*above, plus(node, index(1))), first);
      place = plus(times(first, ratio), parent);
      parent = plus(times(node, ratio), parent);
    }
    Value const next = plus(place, index(1));
    Value const end = placeOf(level, times(plus(parent, index(1)), extents[level]));
    if (stored)
      storeWithin(stored, next, {{end, positions[level]}});
    else
      store(end, positions[level], next);
  }

  /// The coordinates of a numbered level, and of those above that share its nodes; of the last level with the values.
  void writeEntries(size_t level, ArrayRef<size_t> shared) {
    bool const isLast = level + 1 == levels.size();
    auto loop = parallel(extentsOf(0, level + 1));
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    SmallVector<Value> const at(loop.getInductionVars());
    Value const node = nodeOf(at, 0), place = placeOf(level, node);
    Value const stored = differ(placeOf(level, plus(node, index(1))), place);
    SmallVector<std::pair<Value, Value>> numbers;
    for (size_t own : shared)
      numbers.push_back({at[own], coordinates[own]});
    if (isLast)
      numbers.push_back({elementAt(at), values});
    storeWithin(stored, place, numbers);
  }

  void writeValues() {
    size_t const count = levels.size();
    if (levels[count - 1].format == Format::Singleton)
      return writeEntries(count - 1, llvm::to_vector(llvm::seq<size_t>(0, count)));
    if (isNumbered(count - 1))
      return writeEntries(count - 1, {count - 1});
    std::optional<size_t> const above = numberedAbove(count - 1);
    auto loop = parallel(extents);
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    SmallVector<Value> const at(loop.getInductionVars());
    if (!above)
      return store(elementAt(at), values, nodeOf(at, 0));
    Value const node = nodeOf(ArrayRef(at).take_front(*above + 1), 0), first = placeOf(*above, node);
    Value const own = nodeOf(ArrayRef(at).drop_front(*above + 1), *above + 1);
    Value const stored = differ(placeOf(*above, plus(node, index(1))), first);
    Value const place = plus(times(first, nodes(*above + 1, count)), own);
    storeWithin(stored, place, {{elementAt(at), values}});
  }

  OpBuilder &builder;
  Location location;
  std::string name;
  ArrayRef<SparseLevel> levels;
  Value dense;
  SmallVector<Value> places; ///< of numbered levels
  SmallVector<Value> positions, coordinates, extents;
  Value values;
};

} // namespace

bool canCollect(sparse_tensor::SparseTensorEncodingAttr encoding) {
  std::optional<SmallVector<SparseLevel>> const levels = levelsOf(encoding);
  return levels &&
         llvm::all_of(*levels, [](SparseLevel const &level) { return level.part == SparseLevel::Part::Whole; }) &&
         llvm::all_of(llvm::drop_begin(*levels), [&](SparseLevel const &level) {
           return level.format != Format::Singleton || levels->front().format == Format::Repeated;
         });
}

void collectEntries(func::FuncOp entry, Value dense, RankedTensorType type, StringAttr name, int64_t number) {
  entry.getContext()
      ->loadDialect<arith::ArithDialect, complex::ComplexDialect, memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
  unsigned const first = entry.getNumArguments();
  addArrays(entry, first, name, type, number, /*valuesOnly=*/false, /*counts=*/true);
  Builder attributes(entry.getContext());
  entry.insertArgument(
      entry.getNumArguments(), RankedTensorType::get(type.getShape(), type.getElementType()),
      attributes.getDictionaryAttr({attributes.getNamedAttr("nest.name", name),
                                    attributes.getNamedAttr(sparseEncoding, type.getEncoding()),
                                    attributes.getNamedAttr(sparseTensor, attributes.getI64IntegerAttr(number)),
                                    attributes.getNamedAttr(sparseCollected, attributes.getUnitAttr())}),
      dense.getLoc());
  OpBuilder builder(entry.getBody().front().getTerminator());
  auto const encoding = cast<sparse_tensor::SparseTensorEncodingAttr>(type.getEncoding());
  SmallVector<SparseLevel> const levels = *levelsOf(encoding);
  auto const arrays = entry.getArguments().drop_front(first).drop_back();
  Collector(builder, dense, levels, arrays, name.getValue()).collect();
}

} // namespace ml2k::mlir_import
