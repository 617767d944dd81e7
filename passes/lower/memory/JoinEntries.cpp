//===- JoinEntries.cpp - work on the tiny matrices of a batch is one kernel ---------------------------------------===//
//
// Closures of turbulence models and equivariant networks multiply matrices of 3 x 3 for each of many points, take
// traces and deviators, and multiply again. Kernels that do a few dozen operations for an entry of the batch are
// launches and traffic: one kernel over the entries does all of them, and what only it needs of an entry is an array in
// it.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/lower/memory/Entries.h"
#include "passes/lower/memory/EntryLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_JOINENTRIES
#include "passes/Passes.h.inc"

namespace {

constexpr size_t mostKernels = 64;    ///< in one
constexpr int64_t mostElements = 256; ///< of arrays for an entry

//===--- Groups ---------------------------------------------------------------------------------------------------===//

/// How the kernels of a group touch a buffer.
struct Use {
  bool isOwn = true; ///< each entry its own part only
  bool isWritten = false;
  bool isFlat = false; ///< in several shapes
  ArrayRef<int64_t> shape;
};

/// Kernels over the same entries that follow each other, and may take turns entry by entry.
class Group {
public:
  bool take(nest::Kernel kernel);
  void close();

private:
  using Uses = llvm::MapVector<Value, Use>;

  static void addUses(nest::Kernel kernel, Uses &uses);
  void trim();
  bool isShared(nest::Kernel kernel);
  void join();
  bool isLocal(Value root, Use const &use, SmallVectorImpl<Operation *> &views);
  void replaceSizes(memref::AllocOp buffer, ArrayRef<Operation *> views);

  SmallVector<nest::Kernel> kernels;
  EntryCount count;
  Uses uses;
};

void Group::addUses(nest::Kernel kernel, Uses &uses) {
  unsigned const inputs = kernel->getNumOperands() - cast<DestinationStyleOpInterface>(*kernel).getNumDpsInits();
  for (auto [number, map] : llvm::enumerate(kernel.getMaps())) {
    Value const memory = kernel->getOperand(number), root = rootOf(memory);
    auto const shape = cast<MemRefType>(memory.getType()).getShape();
    Use &use = uses.try_emplace(root, Use{.shape = shape}).first->second;
    use.isOwn &= map.getNumResults() != 0 && map.isFunctionOfDim(0) && keepsEntries(memory);
    use.isWritten |= number >= inputs;
    use.isFlat |= use.shape != shape;
  }
}

/// False if the kernel is no part of the group: then it is as it was.
bool Group::take(nest::Kernel kernel) {
  EntryCount const own = countOf(kernel->getOperand(kernel->getNumOperands() - 1));
  if (!kernels.empty() && (!(own == count) || kernels.size() == mostKernels))
    return false;
  Uses added;
  addUses(kernel, added);
  for (auto const &[root, use] : added)
    if (auto const *known = uses.find(root);
        known != uses.end() && (known->second.isWritten || use.isWritten) && !(known->second.isOwn && use.isOwn))
      return false;
  if (llvm::any_of(added, [](auto const &use) { return use.second.isWritten && !use.second.isOwn; }))
    return false;
  addUses(kernel, uses);
  count = own;
  kernels.push_back(kernel);
  return true;
}

/// Whether another kernel of the group touches memory of the entries that this one touches.
bool Group::isShared(nest::Kernel kernel) {
  Uses own;
  addUses(kernel, own);
  return llvm::any_of(kernels, [&](nest::Kernel other) {
    Uses theirs;
    if (other != kernel)
      addUses(other, theirs);
    return llvm::any_of(theirs, [&](auto const &use) { return use.second.isOwn && own.contains(use.first); });
  });
}

/// Leaves out kernels at both ends that have nothing to do with the others.
void Group::trim() {
  while (!kernels.empty() && !isMatrixProduct(kernels.back()) && !isShared(kernels.back()))
    kernels.pop_back();
  while (!kernels.empty() && !isMatrixProduct(kernels.front()) && !isShared(kernels.front()))
    kernels.erase(kernels.begin());
  uses.clear();
  for (nest::Kernel kernel : kernels)
    addUses(kernel, uses);
}

/// Whether nobody else touches a buffer; what is another view of it, or asks for a size, is collected.
bool Group::isLocal(Value root, Use const &use, SmallVectorImpl<Operation *> &views) {
  auto buffer = root.getDefiningOp<memref::AllocOp>();
  if (!buffer || !use.isOwn)
    return false;
  SmallVector<Operation *> users(buffer->getUsers());
  while (!users.empty()) {
    Operation *const user = users.pop_back_val();
    if (auto dim = dyn_cast<memref::DimOp>(user)) {
      auto const index = dim.getConstantIndex();
      if (!index || (*index != 0 && cast<MemRefType>(dim.getSource().getType()).isDynamicDim(*index)))
        return false;
      views.push_back(user);
    } else if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(user)) {
      if (!keepsEntries(user))
        return false;
      views.push_back(user);
      users.append(user->getUsers().begin(), user->getUsers().end());
    } else if (!llvm::is_contained(kernels, dyn_cast<nest::Kernel>(user)))
      return false;
  }
  return true;
}

/// The sizes of a buffer that goes away.
void Group::replaceSizes(memref::AllocOp buffer, ArrayRef<Operation *> views) {
  for (Operation *op : views)
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      OpBuilder builder(dim);
      int64_t const extent = cast<MemRefType>(dim.getSource().getType()).getDimSize(*dim.getConstantIndex());
      dim.replaceAllUsesWith(ShapedType::isDynamic(extent)
                                 ? buffer.getDynamicSizes().front()
                                 : builder.create<arith::ConstantIndexOp>(dim.getLoc(), extent).getResult());
    }
}

/// That of the last kernel which computes something.
static StringRef joinedLabel(MutableArrayRef<nest::Kernel> kernels) {
  auto const computes = [](nest::Kernel kernel) {
    auto map = dyn_cast<nest::MapOp>(*kernel);
    return !map || &map.getBody().front().front() != map.getBody().front().getTerminator();
  };
  for (nest::Kernel kernel : llvm::reverse(kernels))
    if (computes(kernel))
      return kernel.getLabel();
  return kernels.back().getLabel();
}

/// The label of the kernel that writes a buffer first, with a number if it is one of several.
static std::string nameOf(Value buffer, ArrayRef<nest::Kernel> kernels) {
  for (nest::Kernel kernel : llvm::to_vector(kernels))
    for (auto [number, output] : llvm::enumerate(cast<DestinationStyleOpInterface>(*kernel).getDpsInits()))
      if (rootOf(output) == buffer)
        return kernel.getLabel().str() + (number == 0 ? "" : "." + std::to_string(number));
  return "";
}

void Group::join() {
  Operation *const last = kernels.back();
  MLIRContext *const context = last->getContext();
  OpBuilder builder(last);
  SmallVector<std::pair<Value, SmallVector<Operation *>>> locals;
  int64_t elements = 0;
  Value sized;
  for (auto const &[root, use] : uses) {
    SmallVector<Operation *> views;
    int64_t own = 1;
    for (int64_t extent : ArrayRef(cast<MemRefType>(root.getType()).getShape()).drop_front(use.isOwn))
      own *= ShapedType::isDynamic(extent) ? mostElements : std::min(extent, mostElements);
    if (elements + own <= mostElements && isLocal(root, use, views)) {
      elements += own;
      locals.push_back({root, views});
    } else if (use.isOwn && use.isWritten)
      sized = root;
  }
  if (!sized)
    return;
  Location const location =
      fusedLocation(context, llvm::map_to_vector(kernels, [](nest::Kernel kernel) { return kernel->getLoc(); }));
  Value const zero = builder.create<arith::ConstantIndexOp>(location, 0);
  Value const end = builder.createOrFold<memref::DimOp>(location, sized, 0);
  auto const policy = nest::PolicyAttr::get(context, nest::Policy::Range);
  auto loop = builder.create<nest::LoopKernelOp>(location, builder.getStringAttr(joinedLabel(kernels)), policy, zero,
                                                 end, ValueRange(), builder.getArrayAttr({}), StringAttr(),
                                                 DenseBoolArrayAttr(), TypedAttr());
  nest::setSchedule(loop, nest::KernelBlock::Range); // neighbouring entries lie apart: no vectors across them
  Block *const body = builder.createBlock(&loop.getBody(), {}, builder.getIndexType(), location);
  EntryLoops entry(builder, body->getArgument(0));
  for (auto const &[buffer, views] : locals)
    entry.keep(buffer, nameOf(buffer, kernels), uses.find(buffer)->second.isFlat);
  for (nest::Kernel kernel : kernels)
    entry.add(kernel);
  builder.create<nest::YieldOp>(location, ValueRange());
  for (nest::Kernel kernel : kernels)
    kernel->erase();
  for (auto &[buffer, views] : locals) {
    replaceSizes(buffer.getDefiningOp<memref::AllocOp>(), views);
    for (Operation *view : llvm::reverse(views))
      view->erase();
    buffer.getDefiningOp()->erase();
  }
}

void Group::close() {
  if (llvm::any_of(kernels, isMatrixProduct)) {
    trim();
    join();
  }
  kernels.clear();
  uses.clear();
}

/// What stands between kernels and does not touch memory.
bool isBetween(Operation &op) {
  return isAlias(&op) || isa<memref::AllocOp, nest::WeightOp, memref::DimOp>(op) ||
         (isPure(&op) && op.getNumRegions() == 0);
}

void joinEntries(Block &block) {
  Group group;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto kernel = dyn_cast<nest::Kernel>(op);
    bool const isPart = kernel && isOfEntries(kernel);
    if (isPart && group.take(kernel))
      continue;
    if (!kernel && isBetween(op))
      continue;
    group.close();
    if (isPart)
      group.take(kernel);
  }
  group.close();
}

struct JoinEntries : impl::JoinEntriesBase<JoinEntries> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      joinEntries(getOperation().getBody().front());
  }
};

} // namespace
} // namespace ml2k
