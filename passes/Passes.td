//===- Passes.td - every pass: what it needs and what it leaves ---------------------------------------------*- td -*-===//

#ifndef ML2K_PASSES
#define ML2K_PASSES

include "mlir/Pass/PassBase.td"

//===--- canonicalize: every spelling of a network to one -------------------------------------------------------------===//

def NameWeights : Pass<"ml2k-name-weights", "::mlir::func::FuncOp"> {
  let summary = "constants of the model become nest.weight";
  let description = [{
    Pre: tensors. Post: no arith.constant of a tensor with several distinct elements is left; each is a nest.weight named by
    its location, or after the layer that uses it.
  }];
}

//===--- schedule: kernels and their epilogues ------------------------------------------------------------------------===//

//===--- lower: memory ------------------------------------------------------------------------------------------------===//

#endif
