//===- NestScalars.cpp - scalar operations of the front ends ------------------------------------------------------===//

#include "translator/ir/NestScalars.h"

#include "translator/ir/ReservedNames.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ml2k::nest;

#define GET_OP_CLASSES
#include "translator/ir/NestScalars.cpp.inc"

/// An index out of range stays: the program that computes it ends.
OpFoldResult PositionOp::fold(FoldAdaptor adaptor) {
  auto const index = dyn_cast_or_null<IntegerAttr>(adaptor.getIndex());
  auto const extent = dyn_cast_or_null<IntegerAttr>(adaptor.getExtent());
  if (!index || !extent)
    return {};
  int64_t const at = index.getInt() < 0 ? index.getInt() + extent.getInt() : index.getInt();
  return at < 0 || at >= extent.getInt() ? OpFoldResult() : IntegerAttr::get(getType(), at);
}

//===--- Loops that go down ---------------------------------------------------------------------------------------===//

LogicalResult FromEndOp::verify() {
  auto loop = dyn_cast<scf::ForOp>((*this)->getParentOp());
  bool const isOfLoop = loop && getIndex() == loop.getInductionVar() && &loop.getBody()->front() == getOperation() &&
                        getIndex().hasOneUse() && matchPattern(loop.getStep(), m_One());
  return isOfLoop ? success()
                  : emitOpError("requires the index of its scf.for by ones, which nothing else uses, in front");
}

bool ml2k::nest::isWholeArray(Value memref) {
  auto const type = cast<MemRefType>(memref.getType());
  auto const argument = dyn_cast<BlockArgument>(memref);
  bool const isNamed =
      argument ? isa<func::FuncOp>(argument.getOwner()->getParentOp()) : memref.getDefiningOp<BufferOp>() != nullptr;
  return isNamed && type.getLayout().isIdentity() && !llvm::is_contained(type.getShape(), 1);
}

memref::StoreOp ml2k::nest::storeFromLine(LoopKernelOp kernel) {
  auto const positions = kernel.getBody().getArguments();
  bool const isGrid = positions.size() == 2 || positions.size() == 3;
  for (auto store : kernel.getBody().front().getOps<memref::StoreOp>())
    if (store->hasAttr(fromLine) && isGrid && llvm::equal(store.getIndices(), positions) &&
        isWholeArray(store.getMemref()))
      return store;
  return {};
}

scf::IfOp ml2k::nest::branchOfEveryOther(LoopKernelOp kernel) {
  unsigned const loops = kernel.getLowers().size();
  Operation *const last = kernel.getBody().front().getTerminator()->getPrevNode();
  auto branch = dyn_cast_or_null<scf::IfOp>(last);
  bool const isAll = branch && branch->getNumResults() == 0 && branch.getElseRegion().empty();
  return isAll && (loops == 2 || loops == 3) && branch->hasAttrOfType<IntegerAttr>(everyOther) ? branch : scf::IfOp();
}

bool ml2k::nest::goesToEveryOther(LoopKernelOp kernel) {
  ScheduleAttr const schedule = scheduleOf(kernel);
  bool const isGrid = schedule && schedule.getBlock() == KernelBlock::ForGrid && schedule.getFused() == 0;
  return isGrid && branchOfEveryOther(kernel);
}

Value ml2k::nest::shownIndex(scf::ForOp loop) {
  return countsDown(loop) ? loop.getBody()->front().getResult(0) : loop.getInductionVar();
}

bool ml2k::nest::countsDown(scf::ForOp loop) { return isa<FromEndOp>(loop.getBody()->front()); }

//===--- Functions of C -------------------------------------------------------------------------------------------===//

/// Letters, digits and underscores; no word of C++, no name that belongs to the compiler or its library.
static char const *problemOf(StringRef name) {
  auto const isLetter = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (name.empty() || llvm::isDigit(name.front()) || !llvm::all_of(name, isLetter))
    return "is no identifier of C";
  if (name.front() == '_' || name.contains("__"))
    return "belongs to the compiler";
  if (ml2k::isCppWord(name))
    return "is a word of C++";
  return ml2k::isLibraryName(name) ? "is declared by the C library" : nullptr;
}

static bool isNumber(Type type) {
  return ml2k::nest::isScalar(type) && !type.isIndex() && !type.isF16() && !type.isBF16();
}

static bool isArray(Type type) {
  auto const memory = dyn_cast<MemRefType>(type);
  return memory && memory.getRank() > 0 && isNumber(memory.getElementType());
}

LogicalResult CallOp::verify() {
  if (char const *const problem = problemOf(getCallee()))
    return emitError("a function of C cannot be called ") << getCalleeAttr() << ": it " << problem;
  if (getWrites().size() != getArguments().size())
    return emitOpError("wants to know of each argument whether it is written");
  for (auto [type, writes] : llvm::zip(getArguments().getTypes(), getWrites()))
    if (!isArray(type) && (writes || !isNumber(type)))
      return emitError("a function of C takes no ") << type << (writes ? " that it writes" : "");
  if (getResult() && !isNumber(getResult().getType()))
    return emitError("a function of C returns no ") << getResult().getType();
  return success();
}

void CallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  auto *memory = SideEffects::DefaultResource::get();
  for (auto [operand, writes] : llvm::zip(getArgumentsMutable(), getWrites())) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand, memory);
    if (writes)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, memory);
  }
}
