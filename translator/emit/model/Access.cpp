//===- Access.cpp - slices and reshapes of memory as index arithmetic ---------------------------------------------===//

#include "translator/emit/model/Program.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ml2k {

AffineExpr HostSymbols::get(Value value) {
  known.insert(value);
  auto const position = std::distance(known.begin(), llvm::find(known, value));
  return getAffineSymbolExpr(first + position, value.getContext());
}

//===--- Host values ----------------------------------------------------------------------------------------------===//

AffineExpr Program::hostIndex(Value value, HostSymbols &symbols) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), value.getContext());
  if (hostNames.contains(value))
    return symbols.get(value);
  Operation *op = value.getDefiningOp();
  auto const operand = [&](unsigned i) { return hostIndex(op->getOperand(i), symbols); };
  return TypeSwitch<Operation *, AffineExpr>(op)
      .Case<arith::AddIOp>([&](auto) { return operand(0) + operand(1); })
      .Case<arith::SubIOp>([&](auto) { return operand(0) - operand(1); })
      .Case<arith::MulIOp>([&](auto) { return operand(0) * operand(1); })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>([&](auto) { return operand(0); })
      .Case<arith::DivUIOp>([&](auto) { return operand(0).floorDiv(operand(1)); }) // of sizes
      .Case<affine::AffineApplyOp>([&](affine::AffineApplyOp apply) {
        SmallVector<AffineExpr> operands =
            llvm::map_to_vector(apply.getMapOperands(), [&](Value v) { return hostIndex(v, symbols); });
        AffineMap const map = apply.getAffineMap();
        return map.getResult(0).replaceDimsAndSymbols(ArrayRef(operands).take_front(map.getNumDims()),
                                                      ArrayRef(operands).drop_front(map.getNumDims()));
      })
      .Case<memref::DimOp>([&](memref::DimOp dim) { return extent(dim.getSource(), *dim.getConstantIndex(), symbols); })
      .Default([&](Operation *) { return symbols.get(value); });
}

static AffineExpr sizeExpr(OpFoldResult size, Program const &program, HostSymbols &symbols, MLIRContext *context) {
  if (auto value = dyn_cast<Value>(size))
    return program.hostIndex(value, symbols);
  return getAffineConstantExpr(cast<IntegerAttr>(cast<Attribute>(size)).getInt(), context);
}

static SmallVector<OpFoldResult> outputShape(memref::ExpandShapeOp op) {
  Builder builder(op.getContext());
  return getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), builder);
}

/// A host value that is the extent of an argument which forward() does not ask for it: an extent of the same name.
static Value sizeValue(Program const &program, BlockArgument argument, unsigned dim) {
  auto const size =
      llvm::find_if(program.sizes, [&](RuntimeSize const &s) { return s.argument == argument && s.dim == dim; });
  if (size == program.sizes.end())
    return {};
  Value found;
  func::FuncOp entry = program.entry;
  entry.walk([&](memref::DimOp op) {
    if (program.hostName(op) != size->name)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found ? found : program.hostName(argument) == size->name ? Value(argument) : Value();
}

AffineExpr Program::extent(Value memref, unsigned dim, HostSymbols &symbols) const {
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
    Value const known = sizeValue(*this, argument, dim);
    return known ? symbols.get(known) : AffineExpr();
  }
  return TypeSwitch<Operation *, AffineExpr>(memref.getDefiningOp())
      .Case<nest::BufferOp>(
          [&](nest::BufferOp op) { return hostIndex(op.getSizes()[type.getDynamicDimIndex(dim)], symbols); })
      .Case<memref::CastOp>([&](memref::CastOp op) { return extent(op.getSource(), dim, symbols); })
      .Case<memref::SubViewOp>([&](memref::SubViewOp op) -> AffineExpr {
        unsigned kept = 0;
        llvm::SmallBitVector const dropped = op.getDroppedDims();
        for (unsigned d = 0; d < dropped.size(); ++d)
          if (!dropped.test(d) && kept++ == dim)
            return sizeExpr(op.getMixedSizes()[d], *this, symbols, context);
        return {};
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
      .Case<memref::ExpandShapeOp>(
          [&](memref::ExpandShapeOp op) { return sizeExpr(outputShape(op)[dim], *this, symbols, context); })
      .Default([](Operation *) { return AffineExpr(); });
}

//===--- Views ----------------------------------------------------------------------------------------------------===//

namespace {
using Indices = SmallVector<AffineExpr>;

struct Tracer {
  Program const &program;
  HostSymbols &symbols;

  Indices through(memref::SubViewOp op, ArrayRef<AffineExpr> indices) const {
    Indices source;
    llvm::SmallBitVector const dropped = op.getDroppedDims();
    unsigned next = 0;
    for (unsigned d = 0; d < dropped.size(); ++d) {
      AffineExpr const offset = size(op.getMixedOffsets()[d], op);
      if (dropped.test(d))
        source.push_back(offset);
      else
        source.push_back(offset + indices[next++] * size(op.getMixedStrides()[d], op));
    }
    return source;
  }

  /// One index per group of the result stands for several of the source.
  Indices through(memref::CollapseShapeOp op, ArrayRef<AffineExpr> indices) const {
    Indices source(op.getSrcType().getRank(), getAffineConstantExpr(0, op.getContext())); // to rank 0 no group is left
    for (auto [group, linear] : llvm::zip(op.getReassociationIndices(), indices)) {
      AffineExpr rest = linear;
      for (int64_t d : llvm::reverse(ArrayRef(group).drop_front())) {
        AffineExpr const inner = program.extent(op.getSrc(), d, symbols);
        source[d] = rest % inner;
        rest = rest.floorDiv(inner);
      }
      source[group.front()] = rest;
    }
    return source;
  }

  /// Several indices of the result make up one of the source.
  Indices through(memref::ExpandShapeOp op, ArrayRef<AffineExpr> indices) const {
    Indices source;
    for (auto const &group : op.getReassociationIndices()) {
      AffineExpr linear = getAffineConstantExpr(0, op.getContext());
      for (int64_t d : group)
        linear = linear * size(outputShape(op)[d], op) + indices[d];
      source.push_back(linear);
    }
    return source;
  }

  AffineExpr size(OpFoldResult value, Operation *op) const {
    return sizeExpr(value, program, symbols, op->getContext());
  }
};
} // namespace

FailureOr<Access> Program::access(Value memref, ArrayRef<AffineExpr> indices, HostSymbols &symbols) const {
  Tracer const tracer{*this, symbols};
  Indices at(indices);
  while (!storages.contains(memref)) {
    Operation *op = memref.getDefiningOp();
    if (auto view = dyn_cast_or_null<memref::SubViewOp>(op))
      at = tracer.through(view, at);
    else if (auto view = dyn_cast_or_null<memref::CollapseShapeOp>(op))
      at = tracer.through(view, at);
    else if (auto view = dyn_cast_or_null<memref::ExpandShapeOp>(op))
      at = tracer.through(view, at);
    else if (!isa_and_nonnull<memref::CastOp>(op))
      return emitError(memref.getLoc(), "memory that has no name in the generated code");
    memref = op->getOperand(0);
  }
  return Access{storages.lookup(memref), at};
}

} // namespace ml2k
