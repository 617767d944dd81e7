//===- PrintedVectors.cpp - vectors that are printed --------------------------------------------------------------===//
//
// The elements are printed one after the other in loops, in the text that MLIR's runner prints: `( 1, 2 )` and
// `( ( 1, 2 ), ( 3, 4 ) )`.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Vectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace {

/// Prints one vector.
class Printer {
public:
  Printer(vector::PrintOp print, ml2k::mlir_import::VectorElements &elements)
      : print(print), loc(print.getLoc()), vector(print.getSource()), type(cast<VectorType>(vector.getType())),
        elements(elements), builder(print) {}

  void run() {
    SmallVector<Value> positions;
    if (type.getRank() == 0) { // ( 1 )
      text(builder, vector::PrintPunctuation::Open);
      dimension(builder, 0, positions);
      text(builder, vector::PrintPunctuation::Close);
    } else
      dimension(builder, 0, positions);
    if (print.getPunctuation() != vector::PrintPunctuation::NoPunctuation)
      builder.create<vector::PrintOp>(loc, print.getPunctuation());
  }

private:
  Value index(OpBuilder &at, int64_t value) const { return at.create<arith::ConstantIndexOp>(loc, value); }

  void text(OpBuilder &at, vector::PrintPunctuation what) const { at.create<vector::PrintOp>(loc, what); }

  /// `( `, what lies along the dimension with commas between, ` )`.
  void dimension(OpBuilder &at, int64_t dim, SmallVectorImpl<Value> &positions) {
    if (dim == type.getRank()) {
      at.create<vector::PrintOp>(loc, elements.element(at, vector, positions), vector::PrintPunctuation::NoPunctuation);
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

  vector::PrintOp print;
  Location loc;
  Value vector;
  VectorType type;
  ml2k::mlir_import::VectorElements &elements;
  OpBuilder builder;
};

} // namespace

void ml2k::mlir_import::printElements(vector::PrintOp print, VectorElements &elements) {
  Printer(print, elements).run();
}
