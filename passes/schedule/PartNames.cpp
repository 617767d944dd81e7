//===- PartNames.cpp - what the kernels of one layer are called ---------------------------------------------------===//

#include "passes/schedule/PartNames.h"

#include "passes/Provenance.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
namespace {

StringRef nameOf(nest::Combiner combiner) {
  using C = nest::Combiner;
  switch (combiner) {
  case C::Sum:
    return "sum";
  case C::Prod:
    return "product";
  case C::Max:
  case C::MaxNum:
  case C::MaxSI:
  case C::MaxUI:
    return "max";
  case C::Min:
  case C::MinNum:
  case C::MinSI:
  case C::MinUI:
    return "min";
  default:
    return "";
  }
}

bool isReshape(Operation *op) {
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op);
}

bool isOf(Operation *op, StringRef layer) {
  return op && isa<nest::Kernel>(op) &&
         llvm::any_of(namesBehind(op->getLoc()), [&](NameLoc name) { return nameFromLocation(name) == layer; });
}

bool isReadBy(Value value, StringRef layer) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isReshape(user) ? isReadBy(user->getResult(0), layer) : isOf(user, layer);
  });
}

bool isMadeBy(Value value, StringRef layer) {
  while (isReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return isOf(value.getDefiningOp(), layer);
}

StringRef nameOf(nest::MapOp map, StringRef layer) {
  Block &body = map.getBody().front();
  if (body.getTerminator()->getNumOperands() != 1)
    return "";
  Value const element = body.getTerminator()->getOperand(0);
  if (matchPattern(element, m_Constant()))
    return "fill";
  auto const argument = dyn_cast<BlockArgument>(element);
  if (!argument || argument.getArgNumber() >= map.getInputs().size())
    return "";
  if (isReadBy(map->getResult(0), layer))
    return "input";
  return isMadeBy(map.getInputs()[argument.getArgNumber()], layer) ? "output" : "";
}

} // namespace

StringRef partNameOf(Operation *kernel, StringRef layer) {
  if (auto reduce = dyn_cast<nest::ReduceOp>(kernel))
    return nameOf(reduce.getCombiner());
  if (auto map = dyn_cast<nest::MapOp>(kernel))
    return nameOf(map, layer);
  return "";
}

} // namespace ml2k
