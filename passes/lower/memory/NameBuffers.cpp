//===- NameBuffers.cpp - allocations become named members of the workspace ----------------------------------------===//

#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/lower/Labels.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_NAMEBUFFERS
#include "passes/Passes.h.inc"

namespace {

bool isWhole(Value alias, Value root) {
  Box const part = boxOf(alias), whole = boxOf(root);
  return part.offsets == whole.offsets && part.sizes == whole.sizes;
}

/// What a recurrent layer keeps: its state, other states, a sequence.
std::string recurrentName(nest::RecurrentOp recurrent, Value output) {
  unsigned const forward = recurrent.getOutputs().size() / recurrent.getNumDirections();
  bool const isReverse = llvm::is_contained(recurrent.getOutputs().drop_front(forward), output);
  std::string const name = recurrent.isState(output)                           ? ".state"
                           : cast<ShapedType>(output.getType()).getRank() == 3 ? ".sequence"
                                                                               : ".cell";
  return (isReverse ? ".reverse" : "") + name;
}

/// What the results of sorts are, and what they work in.
StringRef sortedName(Operation *op, unsigned output) {
  if (auto sort = dyn_cast<nest::SortOp>(op))
    return output == sort.getOutputs().size() - 1 ? ".room" : ".positions";
  return !isa<nest::TopKOp>(op) ? "" : output == 1 ? ".positions" : output == 2 ? ".firsts" : ".places";
}

/// `label`, with the place of the output where the kernel has several.
std::string outputName(Access const &access) {
  auto kernel = dyn_cast<DestinationStyleOpInterface>(access.op);
  std::string name = labelOf(access.op).str();
  if (auto recurrent = dyn_cast<nest::RecurrentOp>(access.op))
    return name + recurrentName(recurrent, access.alias);
  if (!kernel || kernel.getNumDpsInits() == 1)
    return name;
  for (auto [i, output] : llvm::enumerate(kernel.getDpsInits()))
    if (output == access.alias && i > 0)
      name += sortedName(access.op, i).empty() ? "." + std::to_string(i) : sortedName(access.op, i).str();
  return name;
}

/// After the one kernel that writes all of it; else after what joins the parts: the location of the buffer. What a loop
/// carries is written before the loop and inside it.
std::string bufferName(memref::AllocOp buffer) {
  SmallVector<Access> writers = accessesOf(buffer);
  llvm::erase_if(writers, [](Access const &access) { return !access.writes; });
  if (writers.empty())
    return nameFromLocation(buffer.getLoc());
  auto const whole =
      llvm::make_filter_range(writers, [&](Access const &access) { return isWhole(access.alias, buffer.getResult()); });
  if (whole.empty()) {
    std::string const joined = nameFromLocation(buffer.getLoc());
    bool const isSequence = writers.back().op->getParentOfType<scf::ForOp>() != nullptr;
    return (joined.empty() ? outputName(writers.front()) : joined) + (isSequence ? ".sequence" : "");
  }
  Access const &last = *std::prev(whole.end());
  bool const isState = writers.size() > 1 && last.op->getParentOfType<scf::ForOp>();
  std::string const layer = nameFromLocation(last.op->getLoc());
  return isState ? (layer.empty() ? outputName(last) : layer) + ".state" : outputName(last);
}

struct NameBuffers : impl::NameBuffersBase<NameBuffers> {
  void runOnOperation() override {
    Labels names;
    getOperation().walk([&](memref::AllocOp alloc) {
      if (accessesOf(alloc).empty() && alloc->use_empty()) {
        alloc.erase();
        return;
      }
      std::string const wanted = bufferName(alloc);
      std::string const name = names.unique(wanted.empty() ? "buffer" : wanted, nameFromLocation(alloc.getLoc()));
      OpBuilder builder(alloc);
      auto buffer = builder.create<nest::BufferOp>(
          alloc.getLoc(), alloc.getType(), builder.getStringAttr(name), alloc.getDynamicSizes(), IntegerAttr(),
          alloc->getAttrOfType<DenseI64ArrayAttr>("border"), nest::BufferFormAttr());
      alloc.replaceAllUsesWith(buffer.getResult());
      alloc.erase();
    });
  }
};

} // namespace
} // namespace ml2k
