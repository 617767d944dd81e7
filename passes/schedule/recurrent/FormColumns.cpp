//===- FormColumns.cpp - loops over steps whose columns do not meet become one kernel -----------------------------===//
//
// A selective scan, a moving average, a column of an atmosphere: each step changes all elements of a state, but none
// asks for another column's. Launched step by step it is as many kernels as there are steps, which hand the state on
// through memory. Here each column takes all its steps by itself, with the state in registers.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/recurrent/ColumnCode.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FORMCOLUMNS
#include "passes/Passes.h.inc"

namespace {

struct FormColumns : impl::FormColumnsBase<FormColumns> {
  void runOnOperation() override {
    for (scf::ForOp loop : llvm::make_early_inc_range(getOperation().getOps<scf::ForOp>())) {
      ColumnDims dims(loop);
      if (!dims.find())
        continue;
      ColumnCode code(loop, dims);
      if (code.isSmall())
        code.build();
    }
    IRRewriter rewriter(&getContext());
    eraseDead(rewriter, getOperation()); // what is computed in a column now
  }
};

} // namespace
} // namespace ml2k
