//===- VectorOperations.cpp - operations on vectors that make an array, or store ----------------------------------===//

#include "translator/frontend/mlir/VectorLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ml2k::mlir_import;

/// A constant of more elements is a table among the weights.
constexpr int64_t mostWritten = 16;

static ArrayRef<int64_t> shapeOf(Value value) {
  auto const type = dyn_cast<VectorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

//===--- Operations that make an array ----------------------------------------------------------------------------===//

void VectorLowering::insertAt(OpBuilder &at, Operation *op, Value source, Value dest, Positions first) {
  Location const loc = op->getResult(0).getLoc();
  Value const array = vectors.takeArray(at, dest, op, loc);
  forEach(at, loc, shapeOf(source), [&](OpBuilder &inside, Positions positions) {
    SmallVector<Value> place(first);
    place.append(positions.begin(), positions.end());
    inside.create<memref::StoreOp>(loc, vectors.element(inside, source, positions), array, place);
  });
  vectors.arrays[op->getResult(0)] = array;
}

void VectorLowering::make(OpBuilder &at, vector::InsertOp op) {
  SmallVector<Value> first;
  for (OpFoldResult position : op.getMixedPosition())
    first.push_back(getValueOrCreateConstantIndexOp(at, op.getLoc(), position));
  if (isa<VectorType>(op.getSource().getType()) && first.empty()) {
    vectors.arrays[op.getResult()] = vectors.copied(at, op.getSource(), op.getLoc());
    return;
  }
  insertAt(at, op, op.getSource(), op.getDest(), first);
}

void VectorLowering::make(OpBuilder &at, vector::InsertElementOp op) {
  SmallVector<Value> first;
  if (Value const position = op.getPosition())
    first.push_back(position.getType().isIndex()
                        ? position
                        : at.createOrFold<arith::IndexCastOp>(op.getLoc(), at.getIndexType(), position));
  insertAt(at, op, op.getSource(), op.getDest(), first);
}

void VectorLowering::make(OpBuilder &at, vector::InsertStridedSliceOp op) {
  Location const loc = op.getLoc();
  Value const array = vectors.takeArray(at, op.getDest(), op, loc);
  unsigned const leading = op.getDestVectorType().getRank() - op.getSourceVectorType().getRank();
  forEach(at, loc, shapeOf(op.getSource()), [&](OpBuilder &inside, Positions positions) {
    SmallVector<Value> place;
    for (auto [dim, offset] : llvm::enumerate(op.getOffsets())) {
      Value const first = indexOf(inside, loc, cast<IntegerAttr>(offset).getInt());
      place.push_back(dim < leading ? first : sumOf(inside, loc, first, positions[dim - leading]));
    }
    inside.create<memref::StoreOp>(loc, vectors.element(inside, op.getSource(), positions), array, place);
  });
  vectors.arrays[op.getResult()] = array;
}

/// A loop for each run of a shuffle's mask: first, first + step, ...
void VectorLowering::make(OpBuilder &at, vector::ShuffleOp op) {
  Location const loc = op.getLoc();
  Value const array = vectors.newArray(at, op.getType(), loc);
  auto const mask =
      llvm::map_to_vector(op.getMask(), [](Attribute place) { return cast<IntegerAttr>(place).getInt(); });
  bool const isOfScalars = shapeOf(op.getV1()).empty();
  int64_t const height = isOfScalars ? 1 : shapeOf(op.getV1())[0];
  ArrayRef<int64_t> const inner = isOfScalars ? ArrayRef<int64_t>() : shapeOf(op.getV1()).drop_front();
  auto const isOther = [&](int64_t place) { return place >= height; };
  for (size_t begin = 0, end; begin < mask.size(); begin = end) {
    end = begin + 1;
    int64_t const step = end < mask.size() ? mask[end] - mask[begin] : 1;
    while (end < mask.size() && mask[end] - mask[end - 1] == step && isOther(mask[end]) == isOther(mask[begin]))
      ++end;
    Value const source = isOther(mask[begin]) ? op.getV2() : op.getV1();
    int64_t const first = isOther(mask[begin]) ? mask[begin] - height : mask[begin];
    SmallVector<int64_t> extents{int64_t(end - begin)};
    extents.append(inner.begin(), inner.end());
    forEach(at, loc, extents, [&, begin = begin](OpBuilder &inside, Positions positions) {
      SmallVector<Value> from(positions), to(positions);
      from[0] = sumOf(inside, loc, indexOf(inside, loc, first), timesOf(inside, loc, positions[0], step));
      to[0] = sumOf(inside, loc, indexOf(inside, loc, begin), positions[0]);
      Positions const place = isOfScalars ? Positions() : Positions(from);
      inside.create<memref::StoreOp>(loc, vectors.element(inside, source, place), array, to);
    });
  }
  vectors.arrays[op.getResult()] = array;
}

void VectorLowering::make(OpBuilder &at, vector::InterleaveOp op) {
  Location const loc = op.getLoc();
  Value const array = vectors.newArray(at, op.getType(), loc);
  bool const isOfScalars = shapeOf(op.getLhs()).empty();
  forEach(at, loc, shapeOf(op.getLhs()), [&](OpBuilder &inside, Positions positions) {
    for (auto [part, source] : llvm::enumerate(SmallVector<Value, 2>{op.getLhs(), op.getRhs()})) {
      SmallVector<Value> place(positions);
      if (isOfScalars)
        place.push_back(indexOf(inside, loc, 0));
      place.back() = sumOf(inside, loc, timesOf(inside, loc, place.back(), 2), indexOf(inside, loc, part));
      inside.create<memref::StoreOp>(loc, vectors.element(inside, source, positions), array, place);
    }
  });
  vectors.arrays[op.getResult()] = array;
}

/// Stores scalars in the order of a vector's elements.
static void storeAll(OpBuilder &at, Location loc, VectorType type, Value array, function_ref<Value(int64_t)> element) {
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Value> place(type.getRank());
    int64_t rest = i;
    for (int64_t dim = type.getRank(); dim-- > 0; rest /= type.getDimSize(dim))
      place[dim] = indexOf(at, loc, rest % type.getDimSize(dim));
    at.create<memref::StoreOp>(loc, element(i), array, place);
  }
}

void VectorLowering::make(OpBuilder &at, vector::FromElementsOp op) {
  Value const array = vectors.newArray(at, op.getType(), op.getLoc());
  storeAll(at, op.getLoc(), op.getType(), array, [&](int64_t i) { return op.getElements()[i]; });
  vectors.arrays[op.getResult()] = array;
}

/// A constant whose elements follow no rule that isSimpleConstant() knows.
void VectorLowering::make(OpBuilder &at, arith::ConstantOp op) {
  Location const loc = op.getLoc();
  auto const type = cast<VectorType>(op.getType());
  auto value = cast<DenseElementsAttr>(op.getValue());
  if (type.getNumElements() <= mostWritten) {
    Value const array = vectors.newArray(at, type, loc);
    auto const elements = llvm::to_vector(value.getValues<Attribute>());
    storeAll(at, loc, type, array,
             [&](int64_t i) { return at.create<arith::ConstantOp>(loc, cast<TypedAttr>(elements[i])); });
    vectors.arrays[op.getResult()] = array;
    return;
  }
  auto const memory = MemRefType::get(type.getShape(), type.getElementType());
  std::string const name = "table" + std::to_string(tables++);
  OpBuilder globals = OpBuilder::atBlockBegin(entry->getParentOfType<ModuleOp>().getBody());
  globals.create<memref::GlobalOp>(loc, name, at.getStringAttr("private"), memory,
                                   value.reshape(RankedTensorType::get(type.getShape(), type.getElementType())),
                                   /*constant=*/true, /*alignment=*/IntegerAttr());
  vectors.arrays[op.getResult()] = at.create<memref::GetGlobalOp>(loc, memory, name);
}

/// dest[0] = source[0], or the first value where a place does not count itself; dest[k] joins what came before.
void VectorLowering::make(OpBuilder &at, vector::ScanOp op) {
  Location const loc = op.getLoc();
  int64_t const dim = op.getReductionDim(), extent = op.getSourceType().getDimSize(dim);
  Value const dest = vectors.newArray(at, op.getDestType(), op.getDest().getLoc());
  Value const total = vectors.newArray(at, op.getAccumulatorType(), op.getAccumulatedValue().getLoc());
  SmallVector<int64_t> others(op.getSourceType().getShape());
  others.erase(others.begin() + dim);
  bool const includes = op.getInclusive();
  forEach(at, loc, others, [&](OpBuilder &inside, Positions positions) {
    auto const at_ = [&, dim](Value k) {
      SmallVector<Value> place(positions);
      place.insert(place.begin() + dim, k);
      return place;
    };
    Value const zero = indexOf(inside, loc, 0), one = indexOf(inside, loc, 1);
    Value const first = includes ? vectors.element(inside, op.getSource(), at_(zero))
                                 : vectors.element(inside, op.getInitialValue(), positions);
    inside.create<memref::StoreOp>(loc, first, dest, at_(zero));
    auto loop = inside.create<scf::ForOp>(loc, one, indexOf(inside, loc, extent), one, ValueRange(first),
                                          [&](OpBuilder &here, Location, Value k, ValueRange before) {
                                            Value const from =
                                                includes ? k : here.create<arith::SubIOp>(loc, k, one).getResult();
                                            Value const term = vectors.element(here, op.getSource(), at_(from));
                                            Value const next =
                                                vector::makeArithReduction(here, loc, op.getKind(), before[0], term);
                                            here.create<memref::StoreOp>(loc, next, dest, at_(k));
                                            here.create<scf::YieldOp>(loc, next);
                                          });
    inside.create<memref::StoreOp>(loc, loop.getResult(0), total, positions);
  });
  vectors.arrays[op.getDest()] = dest;
  vectors.arrays[op.getAccumulatedValue()] = total;
}

/// `taken` where the mask is set, with the number of those before; else `left`.
void VectorLowering::countMasked(OpBuilder &at, Location loc, Value mask,
                                 function_ref<void(OpBuilder &, Positions, Value)> taken,
                                 function_ref<void(OpBuilder &, Positions)> left) {
  Value const none = indexOf(at, loc, 0);
  foldOver(at, loc, shapeOf(mask), none, [&](OpBuilder &inside, Positions positions, Value count) {
    return inside
        .create<scf::IfOp>(
            loc, vectors.element(inside, mask, positions),
            [&](OpBuilder &here, Location) {
              taken(here, positions, count);
              here.create<scf::YieldOp>(loc, sumOf(here, loc, count, indexOf(here, loc, 1)));
            },
            [&](OpBuilder &here, Location) {
              left(here, positions);
              here.create<scf::YieldOp>(loc, count);
            })
        .getResult(0);
  });
}

void VectorLowering::make(OpBuilder &at, vector::ExpandLoadOp op) {
  Location const loc = op.getLoc();
  Value const array = vectors.newArray(at, op.getType(), loc);
  countMasked(
      at, loc, op.getMask(),
      [&](OpBuilder &here, Positions positions, Value count) {
        auto const place = VectorElements::placeIn(here, loc, op.getIndices(), count);
        here.create<memref::StoreOp>(loc, here.create<memref::LoadOp>(loc, op.getBase(), place), array, positions);
      },
      [&](OpBuilder &here, Positions positions) {
        here.create<memref::StoreOp>(loc, vectors.element(here, op.getPassThru(), positions), array, positions);
      });
  vectors.arrays[op.getResult()] = array;
}

//===--- Stores ---------------------------------------------------------------------------------------------------===//

/// Stores where the condition holds, of which the value is computed there only.
static void storeIf(OpBuilder &at, Location loc, Value condition, function_ref<void(OpBuilder &)> store) {
  if (!condition)
    return store(at);
  at.create<scf::IfOp>(loc, condition, [&](OpBuilder &here, Location) {
    store(here);
    here.create<scf::YieldOp>(loc);
  });
}

void VectorLowering::write(OpBuilder &at, vector::TransferWriteOp op) {
  Location const loc = op.getLoc();
  auto const transfer = cast<VectorTransferOpInterface>(op.getOperation());
  if (isa<RankedTensorType>(op.getSource().getType())) {
    Value const result = foldOver(at, loc, shapeOf(op.getVector()), op.getSource(),
                                  [&](OpBuilder &inside, Positions positions, Value tensor) {
                                    Place const place = vectors.placeOf(inside, transfer, positions);
                                    return where(
                                        inside, loc, place.isInside,
                                        [&](OpBuilder &here) -> Value {
                                          Value const value = vectors.element(here, op.getVector(), positions);
                                          return here.create<tensor::InsertOp>(loc, value, tensor, place.indices);
                                        },
                                        [&](OpBuilder &) { return tensor; });
                                  });
    op.getResult().replaceAllUsesWith(result);
    return consume(op);
  }
  vectors.prepareStore(at, op, op.getVector(), op.getMask() ? ArrayRef(Value(op.getMask())) : ArrayRef<Value>());
  forEach(at, loc, shapeOf(op.getVector()), [&](OpBuilder &inside, Positions positions) {
    Place const place = vectors.placeOf(inside, transfer, positions);
    storeIf(inside, loc, place.isInside, [&](OpBuilder &here) {
      here.create<memref::StoreOp>(loc, vectors.element(here, op.getVector(), positions), op.getSource(),
                                   place.indices);
    });
  });
}

void VectorLowering::write(OpBuilder &at, vector::StoreOp op) {
  Location const loc = op.getLoc();
  vectors.prepareStore(at, op, op.getValueToStore(), {});
  forEach(at, loc, shapeOf(op.getValueToStore()), [&](OpBuilder &inside, Positions positions) {
    auto const place = VectorElements::placeIn(inside, loc, op.getIndices(), positions);
    Value const value = vectors.element(inside, op.getValueToStore(), positions);
    inside.create<memref::StoreOp>(loc, value, op.getBase(), place);
  });
}

void VectorLowering::write(OpBuilder &at, vector::MaskedStoreOp op) {
  Location const loc = op.getLoc();
  vectors.prepareStore(at, op, op.getValueToStore(), Value(op.getMask()));
  forEach(at, loc, shapeOf(op.getValueToStore()), [&](OpBuilder &inside, Positions positions) {
    storeIf(inside, loc, vectors.element(inside, op.getMask(), positions), [&](OpBuilder &here) {
      auto const place = VectorElements::placeIn(here, loc, op.getIndices(), positions);
      here.create<memref::StoreOp>(loc, vectors.element(here, op.getValueToStore(), positions), op.getBase(), place);
    });
  });
}

/// In the order of the elements: of several with one index the last one stays.
void VectorLowering::write(OpBuilder &at, vector::ScatterOp op) {
  Location const loc = op.getLoc();
  vectors.prepareStore(at, op, op.getValueToStore(), {Value(op.getMask()), Value(op.getIndexVec())});
  forEach(at, loc, shapeOf(op.getValueToStore()), [&](OpBuilder &inside, Positions positions) {
    storeIf(inside, loc, vectors.element(inside, op.getMask(), positions), [&](OpBuilder &here) {
      Value index = vectors.element(here, op.getIndexVec(), positions);
      if (!index.getType().isIndex())
        index = here.create<arith::IndexCastOp>(loc, here.getIndexType(), index);
      auto const place = VectorElements::placeIn(here, loc, op.getIndices(), index);
      here.create<memref::StoreOp>(loc, vectors.element(here, op.getValueToStore(), positions), op.getBase(), place);
    });
  });
}

void VectorLowering::write(OpBuilder &at, vector::CompressStoreOp op) {
  Location const loc = op.getLoc();
  vectors.prepareStore(at, op, op.getValueToStore(), Value(op.getMask()));
  countMasked(
      at, loc, op.getMask(),
      [&](OpBuilder &here, Positions positions, Value count) {
        auto const place = VectorElements::placeIn(here, loc, op.getIndices(), count);
        here.create<memref::StoreOp>(loc, vectors.element(here, op.getValueToStore(), positions), op.getBase(), place);
      },
      [](OpBuilder &, Positions) {});
}

void VectorLowering::write(OpBuilder &at, vector::PrintOp op) {
  vectors.consume(op.getSource());
  vectors.settleReads(at);
  printElements(op, vectors);
}
