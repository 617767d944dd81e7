//===- NameWeights.cpp - constants of the model become nest.weight ------------------------------------------*- C++ -*-===//

#include "passes/Passes.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_NAMEWEIGHTS
#include "passes/Passes.h.inc"

namespace {
struct NameWeights : impl::NameWeightsBase<NameWeights> {
  void runOnOperation() override {}
};
} // namespace
} // namespace ml2k
