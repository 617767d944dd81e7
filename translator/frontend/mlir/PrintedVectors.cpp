//===- PrintedVectors.cpp - programs that print what they computed ------------------------------------------------===//
//
// Test programs read a tensor, or a part of it, as one vector and print that. Here the elements are printed one after
// the other in loops, in the text that MLIR's runner prints: `( 1, 2 )` and `( ( 1, 2 ), ( 3, 4 ) )`.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

/// Prints one vector.
class Printer {
public:
  explicit Printer(vector::PrintOp print)
      : print(print), loc(print.getLoc()), vector(print.getSource()), type(cast<VectorType>(vector.getType())),
        builder(print) {}

  /// Whether element() knows where the vector comes from.
  bool canPrint() const {
    Operation *op = vector.getDefiningOp();
    if (type.isScalable() || !op)
      return false;
    if (auto read = dyn_cast<vector::TransferReadOp>(op))
      return read.getPermutationMap().isMinorIdentity() && !read.getMask();
    return isa<vector::BroadcastOp, vector::SplatOp>(op) ? !isa<VectorType>(op->getOperand(0).getType())
                                                         : isSplatConstant();
  }

  void run() {
    SmallVector<Value> positions;
    dimension(builder, 0, positions);
    if (print.getPunctuation() != vector::PrintPunctuation::NoPunctuation)
      builder.create<vector::PrintOp>(loc, print.getPunctuation());
    print.erase();
  }

private:
  bool isSplatConstant() const {
    DenseElementsAttr value;
    return matchPattern(vector, m_Constant(&value)) && value.isSplat();
  }

  Value index(OpBuilder &at, int64_t value) const { return at.create<arith::ConstantIndexOp>(loc, value); }

  void text(OpBuilder &at, vector::PrintPunctuation what) const { at.create<vector::PrintOp>(loc, what); }

  /// `( `, what lies along the dimension with commas between, ` )`.
  void dimension(OpBuilder &at, int64_t dim, SmallVectorImpl<Value> &positions) {
    if (dim == type.getRank()) {
      at.create<vector::PrintOp>(loc, element(at, positions), vector::PrintPunctuation::NoPunctuation);
      return;
    }
    text(at, vector::PrintPunctuation::Open);
    Value const last = index(at, type.getDimSize(dim) - 1);
    auto loop = at.create<scf::ForOp>(loc, index(at, 0), index(at, type.getDimSize(dim)), index(at, 1));
    OpBuilder inside = OpBuilder::atBlockTerminator(loop.getBody());
    positions.push_back(loop.getInductionVar());
    dimension(inside, dim + 1, positions);
    positions.pop_back();
    Value const isBetween = inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, loop.getInductionVar(), last);
    inside.create<scf::IfOp>(loc, isBetween, [&](OpBuilder &between, Location) {
      text(between, vector::PrintPunctuation::Comma);
      between.create<scf::YieldOp>(loc);
    });
    text(at, vector::PrintPunctuation::Close);
  }

  Value element(OpBuilder &at, ArrayRef<Value> positions) const {
    Operation *op = vector.getDefiningOp();
    if (auto read = dyn_cast<vector::TransferReadOp>(op))
      return elementOf(at, read, positions);
    DenseElementsAttr constant;
    if (matchPattern(vector, m_Constant(&constant)))
      return at.create<arith::ConstantOp>(loc, cast<TypedAttr>(constant.getSplatValue<Attribute>()));
    return op->getOperand(0);
  }

  /// The element of the source there, or the padding beyond its end.
  Value elementOf(OpBuilder &at, vector::TransferReadOp read, ArrayRef<Value> positions) const {
    SmallVector<Value> place(read.getIndices());
    Value isInside;
    int64_t const first = place.size() - positions.size();
    for (auto [d, position] : llvm::enumerate(positions)) {
      Value &coordinate = place[first + d];
      coordinate = at.create<arith::AddIOp>(loc, coordinate, position);
      if (read.isDimInBounds(d) || isKnownInside(read, d, first))
        continue;
      Value const extent = isa<MemRefType>(read.getSource().getType())
                               ? at.createOrFold<memref::DimOp>(loc, read.getSource(), first + d)
                               : at.createOrFold<tensor::DimOp>(loc, read.getSource(), first + d);
      Value const fits = at.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, coordinate, extent);
      isInside = isInside ? at.create<arith::AndIOp>(loc, isInside, fits).getResult() : fits;
    }
    auto const load = [&](OpBuilder &here) -> Value {
      if (isa<MemRefType>(read.getSource().getType()))
        return here.create<memref::LoadOp>(loc, read.getSource(), place);
      return here.create<tensor::ExtractOp>(loc, read.getSource(), place);
    };
    if (!isInside)
      return load(at);
    return at
        .create<scf::IfOp>(
            loc, isInside, [&](OpBuilder &here, Location) { here.create<scf::YieldOp>(loc, load(here)); },
            [&](OpBuilder &here, Location) { here.create<scf::YieldOp>(loc, read.getPadding()); })
        .getResult(0);
  }

  bool isKnownInside(vector::TransferReadOp read, unsigned d, int64_t first) const {
    auto const source = cast<ShapedType>(read.getSource().getType());
    APInt begin;
    return !source.isDynamicDim(first + d) && matchPattern(read.getIndices()[first + d], m_ConstantInt(&begin)) &&
           begin.getSExtValue() >= 0 && begin.getSExtValue() + type.getDimSize(d) <= source.getDimSize(first + d);
  }

  vector::PrintOp print;
  Location loc;
  Value vector;
  VectorType type;
  OpBuilder builder;
};

} // namespace

void ml2k::mlir_import::lowerPrintedVectors(func::FuncOp entry) {
  SmallVector<vector::PrintOp> prints;
  entry.walk([&](vector::PrintOp print) {
    if (Value const source = print.getSource(); source && isa<VectorType>(source.getType()))
      prints.push_back(print);
  });
  for (vector::PrintOp print : prints)
    if (Printer printer(print); printer.canPrint())
      printer.run();
  entry.walk([](Operation *op) {
    bool const isVector = op->getNumResults() == 1 && isa<VectorType>(op->getResult(0).getType());
    if (isVector && op->use_empty() &&
        isa<vector::TransferReadOp, vector::BroadcastOp, vector::SplatOp, arith::ConstantOp>(op))
      op->erase();
  });
}
