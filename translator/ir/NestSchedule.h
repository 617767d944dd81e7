//===- NestSchedule.h - what attributes of the schedule are made of -------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_NESTSCHEDULE_H
#define ML2K_IR_NESTSCHEDULE_H

#include <cstdint>

namespace ml2k::nest {

/// Kokkos views have so many dimensions at most.
inline constexpr int64_t maxViewRank = 8;

/// Of weights in panels: `outputs` sums of depth * rows * columns terms in each of `groups`.
struct PanelExtents {
  int64_t outputs = 1;
  int64_t depth = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t groups = 1;
  bool depthFirst = false; ///< the constant is a matrix [k, n]
};

} // namespace ml2k::nest

#endif
