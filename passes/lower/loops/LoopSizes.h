//===- LoopSizes.h - sizes of the memory that kernels of loops work on ----------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_LOOPS_LOOPSIZES_H
#define ML2K_PASSES_LOWER_LOOPS_LOOPSIZES_H

#include "translator/ir/Nest.h"
#include "translator/ir/SizeChecks.h"

namespace ml2k {

class LoopSizes : public SizeChecks {
public:
  using SizeChecks::SizeChecks;

protected:
  Value64 extent(mlir::Value memref, int64_t dim) override;

  void enterKernel(nest::LoopKernelOp kernel);
};

} // namespace ml2k

#endif
