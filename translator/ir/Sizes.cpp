//===- Sizes.cpp - extents and host values as affine expressions over named values --------------------------------===//

#include "translator/ir/Sizes.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ml2k;

AffineExpr HostSymbols::get(Value value) {
  known.insert(value);
  auto const position = std::distance(known.begin(), llvm::find(known, value));
  return getAffineSymbolExpr(first + position, value.getContext());
}

AffineExpr Sizes::index(Value value, HostSymbols &symbols) const {
  unsigned steps = 1 << 16; // what is computed of the same parts again and again has no end
  return index(value, symbols, steps);
}

AffineExpr Sizes::index(Value value, HostSymbols &symbols, unsigned &steps) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), value.getContext());
  if (isNamed(value))
    return symbols.get(value);
  Operation *op = value.getDefiningOp();
  if (steps == 0)
    return {};
  --steps;
  auto const operand = [&](unsigned i) { return index(op->getOperand(i), symbols, steps); };
  auto const both = [&](auto join) {
    AffineExpr const left = operand(0), right = operand(1);
    return left && right ? join(left, right) : AffineExpr();
  };
  return TypeSwitch<Operation *, AffineExpr>(op)
      .Case<arith::AddIOp>([&](auto) { return both(std::plus<AffineExpr>()); })
      .Case<arith::SubIOp>([&](auto) { return both(std::minus<AffineExpr>()); })
      .Case<arith::MulIOp>([&](auto) { return both(std::multiplies<AffineExpr>()); })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>([&](auto) { return operand(0); })
      .Case<arith::DivUIOp>(
          [&](auto) { return both([](AffineExpr a, AffineExpr b) { return a.floorDiv(b); }); }) // of sizes
      .Case<affine::AffineApplyOp>([&](affine::AffineApplyOp apply) {
        SmallVector<AffineExpr> operands =
            llvm::map_to_vector(apply.getMapOperands(), [&](Value v) { return index(v, symbols, steps); });
        if (!llvm::all_of(operands, [](AffineExpr operand) { return bool(operand); }))
          return AffineExpr();
        AffineMap const map = apply.getAffineMap();
        return map.getResult(0).replaceDimsAndSymbols(ArrayRef(operands).take_front(map.getNumDims()),
                                                      ArrayRef(operands).drop_front(map.getNumDims()));
      })
      .Case<memref::DimOp>([&](memref::DimOp dim) { return extent(dim.getSource(), *dim.getConstantIndex(), symbols); })
      .Default([&](Operation *) { return symbols.get(value); });
}

AffineExpr Sizes::size(OpFoldResult size, HostSymbols &symbols, MLIRContext *context) const {
  if (auto value = dyn_cast<Value>(size))
    return index(value, symbols);
  return getAffineConstantExpr(cast<IntegerAttr>(cast<Attribute>(size)).getInt(), context);
}

/// Of the dimension of the source that becomes dimension `dim` of the slice.
static OpFoldResult sizeOfSlice(memref::SubViewOp op, unsigned dim) {
  unsigned kept = 0;
  llvm::SmallBitVector const dropped = op.getDroppedDims();
  for (unsigned d = 0; d < dropped.size(); ++d)
    if (!dropped.test(d) && kept++ == dim)
      return op.getMixedSizes()[d];
  return {};
}

AffineExpr Sizes::extent(Value memref, unsigned dim, HostSymbols &symbols) const {
  auto const type = cast<MemRefType>(memref.getType());
  MLIRContext *context = type.getContext();
  if (!type.isDynamicDim(dim))
    return getAffineConstantExpr(type.getDimSize(dim), context);
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    for (Operation *user : argument.getUsers())
      if (auto dimOp = dyn_cast<memref::DimOp>(user); dimOp && dimOp.getConstantIndex() == int64_t(dim))
        return symbols.get(dimOp);
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      return extent(loop.getTiedLoopInit(argument)->get(), dim, symbols);
    Value const known = extentOf(argument, dim);
    return known ? symbols.get(known) : AffineExpr();
  }
  return TypeSwitch<Operation *, AffineExpr>(memref.getDefiningOp())
      .Case<nest::BufferOp>(
          [&](nest::BufferOp op) { return index(op.getSizes()[type.getDynamicDimIndex(dim)], symbols); })
      .Case<memref::CastOp>([&](memref::CastOp op) { return extent(op.getSource(), dim, symbols); })
      .Case<memref::SubViewOp>([&](memref::SubViewOp op) {
        OpFoldResult const kept = sizeOfSlice(op, dim);
        return kept ? size(kept, symbols, context) : AffineExpr();
      })
      .Case<memref::CollapseShapeOp>([&](memref::CollapseShapeOp op) {
        AffineExpr product = getAffineConstantExpr(1, context);
        auto const groups = op.getReassociationIndices();
        for (int64_t d : groups[dim]) {
          AffineExpr const part = extent(op.getSrc(), d, symbols);
          if (!part)
            return AffineExpr();
          product = product * part;
        }
        return product;
      })
      .Case<memref::ExpandShapeOp>([&](memref::ExpandShapeOp op) {
        Builder builder(context);
        return size(getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), builder)[dim], symbols, context);
      })
      .Default([](Operation *) { return AffineExpr(); });
}

StringRef ml2k::nameOfExtent(func::FuncOp entry, BlockArgument argument, unsigned dim) {
  auto const dims = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
  auto const name = dims ? dyn_cast<StringAttr>(dims[dim]) : StringAttr();
  return name ? name.getValue() : StringRef();
}

bool ml2k::isContiguous(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0, expected = 1;
  if (type.getLayout().isIdentity())
    return true;
  if (failed(getStridesAndOffset(type, strides, offset)))
    return false;
  for (auto [stride, extent] : llvm::reverse(llvm::zip(strides, type.getShape()))) {
    if (extent != 1 && (stride != expected || ShapedType::isDynamic(stride)))
      return false;
    expected = ShapedType::isDynamic(extent) ? ShapedType::kDynamic : expected * extent;
  }
  return true;
}
