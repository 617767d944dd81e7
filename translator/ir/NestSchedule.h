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

enum class DevicePath : uint32_t; // NestSchedule.td

/// The loops and facts of a schedule; those that a block does not know stay as they are.
struct ScheduleParts {
  int64_t inner = -1, crossing = -1, channel = -1; ///< loops of a map
  int64_t kept = -1;                               ///< operand of a row whose elements stay in registers
  int64_t fused = 0;                               ///< outer loops of nest.kernel that run as one
  bool left = false, right = false;                ///< columns of a contraction's operands are adjacent
  bool inPlace = false;                            ///< sums are stored as they are
  DevicePath device{};                             ///< beside the plain one
  int64_t scratch = 0;                             ///< elements for a host thread
  int64_t threads = 0, lanes = 0;                  ///< of a device's team
};

} // namespace ml2k::nest

#endif
