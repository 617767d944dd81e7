//===- Scans.h - loops that carry a running sum ---------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_SCANS_H
#define ML2K_PASSES_LOWER_LOOPS_SCANS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k {

/// Of a loop that becomes a kernel of its own, a parallel_scan; or that is all a kernel does for each of several rows.
inline constexpr char const scanLoop[] = "nest.scan";

/// Whether `loop` carries a running sum from zero alone, from which it counts by 1: what printed scans do.
bool hasFormOfScan(mlir::scf::ForOp loop);

/// Whether iterations of `loop` depend on each other by a running sum from zero alone, in any order of its terms, and
/// write elements of their own: element i, those that the sum counts (`if (flag) out[count] = ...; count += flag`), or
/// in the last iteration. The sum's end is not used behind the loop.
bool isScan(mlir::scf::ForOp loop);

/// The same of the loop along a row, each of which has a scan of its own.
bool isRowScan(mlir::scf::ForOp loop);

/// The same of the loop down a column; whether neighbours are columns is not asked.
bool isColumnScan(mlir::scf::ForOp loop);

} // namespace ml2k

#endif
