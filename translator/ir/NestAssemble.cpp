//===- NestAssemble.cpp - what a printable nest.assemble must satisfy ---------------------------------------------===//

#include "translator/ir/Nest.h"

using namespace mlir;
using namespace ml2k::nest;

static unsigned inputsOf(Assembly kind) {
  switch (kind) {
  case Assembly::Union:
  case Assembly::Intersection:
  case Assembly::Product:
    return 6;
  case Assembly::Transpose:
  case Assembly::Triplets:
    return 3;
  case Assembly::Nonzeros:
    return 1;
  }
  llvm_unreachable("all kinds are listed");
}

/// Positions, coordinates, values; scratch.
static unsigned outputsOf(Assembly kind) { return kind == Assembly::Product ? 4 : kind == Assembly::Triplets ? 5 : 3; }

LogicalResult AssembleOp::verify() {
  unsigned const inputs = inputsOf(getKind()), outputs = outputsOf(getKind());
  if (getInputs().size() != inputs || !getExtras().empty() || getOutputs().size() != outputs)
    return emitOpError() << stringifyAssembly(getKind()) << " takes " << inputs << " inputs, no extras and " << outputs
                         << " outputs";
  auto const type = [](Value value) { return cast<ShapedType>(value.getType()); };
  for (Value operand : getOperands())
    if (!isa<MemRefType>(operand.getType()) ||
        type(operand).getRank() != (operand == getInputs()[0] && getKind() == Assembly::Nonzeros ? 2 : 1))
      return emitOpError("takes arrays in memory");
  auto const element = [&](Value value) { return type(value).getElementType(); };
  for (Value indices : {getOutputs()[0], getOutputs()[1]})
    if (!element(indices).isIntOrIndex())
      return emitOpError("requires integers as positions and coordinates");
  Type const value = element(getOutputs()[2]);
  Block &block = getCombine().front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (block.getNumArguments() != 2 || !yield || yield.getOperandTypes() != TypeRange(value))
    return emitOpError("combines two values to one of the result");
  return success();
}
