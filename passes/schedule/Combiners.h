//===- Combiners.h - what a reduction joins, read off the body of linalg.generic ------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_SCHEDULE_COMBINERS_H
#define ML2K_PASSES_SCHEDULE_COMBINERS_H

#include "translator/ir/Identities.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace ml2k {

/// result = combiner(result, term).
struct Reduction {
  nest::Combiner combiner;
  mlir::Value term;
};

/// The reduction that makes a result, if its body is one: the accumulator is joined once and used nowhere else.
std::optional<Reduction> matchReduction(mlir::linalg::GenericOp op, unsigned result);

/// The larger or smaller of an accumulator and a term, chosen by comparing them; a NaN never replaces the accumulator.
struct ChosenExtreme {
  nest::Combiner combiner;
  mlir::Value term;
  mlir::Value guard; ///< what has to hold, too, or null
};
std::optional<ChosenExtreme> matchChosenExtreme(mlir::arith::SelectOp select, mlir::Value accumulator);

/// The same of a select that takes the term where another condition holds, too.
std::optional<ChosenExtreme> matchGuardedExtreme(mlir::arith::SelectOp select, mlir::Value accumulator);

/// The position of the largest or smallest term, carried beside that value: the body of an arg-max.
struct PositionReduction {
  unsigned extreme;  ///< the result that is the largest or smallest value
  unsigned position; ///< the result that says where it was
  nest::Combiner combiner;
  mlir::Value term;
  mlir::Value place; ///< what is remembered for a term
  bool first;        ///< of equal terms, the first wins
};
std::optional<PositionReduction> matchPosition(mlir::linalg::GenericOp op);

/// combiner(a, b) as a scalar operation.
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc, nest::Combiner combiner, mlir::Value a,
                    mlir::Value b);

} // namespace ml2k

#endif
