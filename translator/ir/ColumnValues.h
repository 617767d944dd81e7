//===- ColumnValues.h - what a network computes for one column ------------------------------------------*- C++ -*-===//
//
// Results to record in a test, and to compare number formats with. Scalar operations are those of MLIR's constant
// folding, sums of a layer are formed in double: nothing here is printed code.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_COLUMNVALUES_H
#define ML2K_IR_COLUMNVALUES_H

#include "translator/ir/Column.h"

namespace ml2k {

using RowValues = std::vector<mlir::Attribute>; ///< a FloatAttr or IntegerAttr for each element
using Query = std::vector<RowValues>;           ///< of all inputs, or of all outputs

/// The results of each query, with the weights as these forms store them. Refuses, with the operation, what cannot be
/// computed at translation.
mlir::FailureOr<std::vector<Query>> valuesOf(Column const &column, Forms const &forms, llvm::ArrayRef<Query> queries);

/// Inputs to ask for, always the same: floats uniform in (-2, 2), or in (0, 2) if results are not numbers otherwise;
/// small integers. Fails as valuesOf() does.
mlir::FailureOr<std::vector<Query>> sampleQueries(Column const &column, unsigned count);

/// A float, an integer or a boolean as double.
double numberOf(mlir::Attribute value);

} // namespace ml2k

#endif
