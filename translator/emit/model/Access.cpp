//===- Access.cpp - slices and reshapes of memory as index arithmetic ---------------------------------------------===//

#include "translator/emit/model/Program.h"
#include "translator/emit/scalars/Scalars.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ml2k {

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

/// Sizes over the values that the generated code has names for.
template <class Use> static AffineExpr withSizes(Program const &program, Use use) {
  auto const isNamed = [&](Value value) { return !program.hostName(value).empty(); };
  auto const extentOf = [&](BlockArgument argument, unsigned dim) { return sizeValue(program, argument, dim); };
  return use(Sizes(isNamed, extentOf));
}

AffineExpr Program::hostIndex(Value value, HostSymbols &symbols) const {
  return withSizes(*this, [&](Sizes const &sizes) { return sizes.index(value, symbols); });
}

AffineExpr Program::extent(Value memref, unsigned dim, HostSymbols &symbols) const {
  return withSizes(*this, [&](Sizes const &sizes) { return sizes.extent(memref, dim, symbols); });
}

static AffineExpr sizeExpr(OpFoldResult size, Program const &program, HostSymbols &symbols, MLIRContext *context) {
  return withSizes(program, [&](Sizes const &sizes) { return sizes.size(size, symbols, context); });
}

static SmallVector<OpFoldResult> outputShape(memref::ExpandShapeOp op) {
  Builder builder(op.getContext());
  return getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), builder);
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

FailureOr<Element> Program::access(Value memref, ArrayRef<AffineExpr> indices, HostSymbols &symbols) const {
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
      return unprintable(entry, "memory that has no name in the generated code");
    memref = op->getOperand(0);
  }
  return Element{storages.lookup(memref), at};
}

} // namespace ml2k
