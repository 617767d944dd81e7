//===- SchedulePass.h - a user's schedule as a pass of ml2kokkos-opt ------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_SCHEDULEPASS_H
#define ML2K_TOOL_SCHEDULEPASS_H

namespace ml2k {

/// `--ml2k-run-schedule{file=FILE.mlir}`: what --schedule=FILE.mlir does to a program, or without a file its own
/// sequence.
void registerSchedulePass();

} // namespace ml2k

#endif
