//===- Nest.cpp - the nest dialect: registration of its parts and memory effects ----------------------------------===//

#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ml2k::nest;

#include "translator/ir/NestDialect.cpp.inc"
#include "translator/ir/NestEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "translator/ir/NestTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "translator/ir/NestAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "translator/ir/NestOps.cpp.inc"

void NestDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "translator/ir/NestTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "translator/ir/NestAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "translator/ir/NestOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "translator/ir/NestScalars.cpp.inc"
      >();
}

//===--- Memory effects: inputs are read, outputs written; on tensors a kernel is pure ----------------------------===//

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(Effects &effects, DestinationStyleOpInterface kernel) {
  auto *memory = SideEffects::DefaultResource::get();
  for (OpOperand &operand : kernel->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool const isInit = kernel.isDpsInit(&operand);
    if (isInit)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, memory);
    if (!isInit || isa<RecurrentOp>(kernel))
      effects.emplace_back(MemoryEffects::Read::get(), &operand, memory);
  }
  // A gather reads what its block loads from, not only its operands
  kernel->walk([&](Operation *op) {
    if (isa<memref::LoadOp>(op))
      effects.emplace_back(MemoryEffects::Read::get(), memory);
  });
}

void MapOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void ReduceOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void ContractOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void ConvOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void WindowOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void RowOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void RecurrentOp::getEffects(Effects &effects) { addEffects(effects, *this); }
