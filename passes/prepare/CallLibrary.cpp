//===- CallLibrary.cpp - large products as calls of KokkosKernels -------------------------------------------------===//
//
// A product whose operands lie as BLAS takes them becomes a call. What its epilogue does with the sums is a kernel
// behind it, unless it adds what the result holds.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/memory/Memory.h"
#include "passes/prepare/Prepare.h"
#include "translator/ir/LibraryCalls.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CALLLIBRARY
#include "passes/prepare/Passes.h.inc"

using nest::KernelBlock;

//===--- The rule -------------------------------------------------------------------------------------------------===//

/// So many multiplications of a gemm, elements of the matrix of a gemv, rows of a sparse matrix are worth a call; what
/// extents that are known at run time only count as.
static constexpr int64_t largeGemm = int64_t(1) << 24, largeMatrix = int64_t(1) << 20, manyRows = 4096;
static constexpr int64_t assumedRows = 256, assumedElements = 1024;

/// Of a gemm with fewer rows or columns than that our kernel reads the other factor once. A shorter sum is no more work
/// than the pass of an epilogue.
static constexpr int64_t leastExtent = 8, shortSum = 64;

static int64_t extentOf(nest::Kernel kernel, ArrayRef<unsigned> loops, int64_t unknown) {
  SmallVector<nest::LoopExtent> const extents = kernel.getLoopExtents();
  int64_t product = 1;
  for (unsigned loop : loops) {
    int64_t const size = extents[loop].size();
    product *= ShapedType::isDynamic(size) ? unknown : size;
  }
  return product;
}

/// Why a call does not pay; empty where it does.
static std::string tooSmall(nest::Kernel kernel, nest::BlasProduct const &product, bool hasEpilogue) {
  int64_t const unknown = product.isMatrix ? assumedRows : assumedElements;
  ArrayRef<unsigned> const terms = product.a.isTransposed ? product.a.rows : product.a.columns;
  int64_t const rows = extentOf(kernel, product.c.rows, unknown), k = extentOf(kernel, terms, unknown);
  if (!product.isMatrix)
    return rows * k < largeMatrix ? "a matrix of fewer than 2^20 elements" : "";
  int64_t const columns = extentOf(kernel, product.c.columns, unknown);
  if (rows < leastExtent || columns < leastExtent)
    return "fewer than 8 rows or columns";
  if (rows * columns * k < largeGemm)
    return "fewer than 2^24 multiplications";
  return hasEpilogue && k < shortSum ? "an epilogue of sums of fewer than 64 terms" : "";
}

//===--- Dense products -------------------------------------------------------------------------------------------===//

namespace {
class Handover {
public:
  explicit Handover(func::FuncOp entry) : entry(entry) {
    entry.walk([&](nest::Kernel kernel) { labels.insert(kernel.getLabel()); });
  }

  void run() {
    SmallVector<Operation *> products;
    entry.walk([&](Operation *op) {
      if (isa<nest::ContractOp, nest::ReduceOp, nest::RowOp, nest::LoopKernelOp>(op) && !nest::scheduleOf(op))
        products.push_back(op);
    });
    for (Operation *op : products)
      if (std::string const why = reasonToKeep(op); !why.empty())
        kept[op] = why;
    keepSharedWeights(products);
    for (Operation *op : products)
      if (!kept.contains(op))
        hand(op);
      else if (isProduct(op))
        op->setAttr("nest.kept", StringAttr::get(op->getContext(), kept[op]));
  }

private:
  /// What one could expect to be a call.
  static bool isProduct(Operation *op) {
    std::string why;
    if (auto loops = dyn_cast<nest::LoopKernelOp>(op))
      return bool(nest::sparseProductOf(loops, why));
    return isa<nest::ContractOp>(op) || nest::blasSumsOf(op, why);
  }

  std::string reasonToKeep(Operation *op) {
    std::string why;
    if (auto loops = dyn_cast<nest::LoopKernelOp>(op)) {
      std::optional<nest::SparseProduct> const product = nest::sparseProductOf(loops, why);
      if (!product)
        return why;
      std::optional<int64_t> const rows = getConstantIntValue(loops.getUppers()[0]);
      if (rows && *rows < manyRows)
        return "fewer than 4096 rows";
      return product->x == product->y ? "the result is an operand" : "";
    }
    std::optional<nest::BlasProduct> const product = nest::blasSumsOf(op, why);
    if (!product)
      return why;
    bool const isWhole = bool(nest::blasProductOf(op, why));
    if (std::string const small = tooSmall(cast<nest::Kernel>(op), *product, !isWhole); !small.empty())
      return small;
    for (nest::BlasMatrix const &operand : {product->a, product->b, product->c})
      if (!isPlain(operand.memref))
        return "an operand is a part of an image, or of memory of unknown sizes";
    Value const result = rootOf(product->c.memref);
    if (rootOf(product->a.memref) == result || rootOf(product->b.memref) == result)
      return "the result is an operand";
    if (isWhole)
      return "";
    bool const readsResult = llvm::any_of(extrasOf(op), [&](Value extra) { return rootOf(extra) == result; });
    return readsResult ? "its epilogue reads the result" : "";
  }

  /// Whether a pointer to its first element can be printed.
  static bool isPlain(Value memref) {
    Value const root = rootOf(memref);
    auto buffer = root.getDefiningOp<nest::BufferOp>();
    ArrayRef<int64_t> const border = buffer ? buffer.getBorder().value_or(ArrayRef<int64_t>()) : ArrayRef<int64_t>();
    ArrayRef<int64_t> const shape = cast<MemRefType>(root.getType()).getShape();
    bool const isKnown = memref == root || shape.empty() || llvm::none_of(shape.drop_front(), ShapedType::isDynamic);
    return isKnown && llvm::all_of(border, [](int64_t extent) { return extent == 0; });
  }

  static OperandRange extrasOf(Operation *op) {
    return isa<nest::ContractOp>(op) ? cast<nest::ContractOp>(op).getExtras() : cast<nest::ReduceOp>(op).getExtras();
  }

  static nest::WeightOp packedWeight(Operation *op) {
    for (Value operand : op->getOperands())
      if (auto weight = rootOf(operand).getDefiningOp<nest::WeightOp>(); weight && weight.getPacking())
        return weight;
    return {};
  }

  /// Packed weights are for our kernels: all readers are calls, or none is.
  void keepSharedWeights(ArrayRef<Operation *> products) {
    llvm::DenseSet<Operation *> const all(products.begin(), products.end());
    for (Operation *op : products) {
      nest::WeightOp weight = packedWeight(op);
      if (!weight || kept.contains(op))
        continue;
      bool const isShared =
          llvm::any_of(weight->getUsers(), [&](Operation *user) { return kept.contains(user) || !all.contains(user); });
      if (isShared)
        kept[op] = "its weights are packed for another kernel";
    }
  }

  void hand(Operation *op) {
    if (isa<nest::LoopKernelOp>(op))
      return nest::setSchedule(op, KernelBlock::LibrarySpmv);
    std::string why;
    if (nest::WeightOp weight = packedWeight(op))
      weight.removePackingAttr();
    if (!nest::blasProductOf(op, why))
      splitEpilogue(op);
    nest::BlasProduct const product = *nest::blasProductOf(op, why);
    nest::setSchedule(op, product.isMatrix ? KernelBlock::LibraryGemm : KernelBlock::LibraryGemv,
                      {.left = !product.a.isTransposed, .right = product.isMatrix && !product.b.isTransposed});
  }

  /// What is done with the sums becomes a map over the result, in place.
  void splitEpilogue(Operation *op) {
    auto kernel = cast<nest::Kernel>(op);
    SmallVector<AffineMap> const maps = kernel.getMaps();
    OperandRange const extras = extrasOf(op);
    Value const result = cast<DestinationStyleOpInterface>(op).getDpsInits()[0];
    SmallVector<AffineMap> own = {maps.back()};
    llvm::append_range(own, ArrayRef(maps).drop_back().take_back(extras.size()));
    own.push_back(maps.back());
    SmallVector<Value> inputs = {result};
    llvm::append_range(inputs, extras);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto map = builder.create<nest::MapOp>(op->getLoc(), TypeRange(), freeLabel(kernel.getLabel()), inputs,
                                           ValueRange(), result, builder.getAffineMapArrayAttr(withoutSums(op, own)));
    Region &epilogue = kernel.getStoringRegion();
    map.getBody().takeBody(epilogue);
    Block *block = builder.createBlock(&epilogue, {}, map.getBody().getArgument(0).getType(), op->getLoc());
    builder.create<nest::YieldOp>(op->getLoc(), block->getArgument(0));
    llvm::SmallBitVector const sums = sumsOf(op);
    map.walk([&](nest::IndexOp index) {
      unsigned const before = llvm::count_if(sums.set_bits(), [&](unsigned loop) { return loop < index.getDim(); });
      index.setDim(index.getDim() - before);
    });
    dropExtras(op, extras.size());
  }

  /// The loops that the sums run over.
  static llvm::SmallBitVector sumsOf(Operation *op) {
    llvm::SmallBitVector sums(cast<nest::Kernel>(op).getMaps()[0].getNumDims());
    if (auto contract = dyn_cast<nest::ContractOp>(op)) {
      for (auto [loop, role] : llvm::enumerate(contract.getRoles()))
        sums[loop] = role == nest::Role::K;
    } else {
      for (int64_t loop : cast<nest::ReduceOp>(op).getReductionDims())
        sums.set(loop);
    }
    return sums;
  }

  /// Maps over the loops of the result alone.
  static SmallVector<AffineMap> withoutSums(Operation *op, ArrayRef<AffineMap> maps) {
    llvm::SmallBitVector const sums = sumsOf(op);
    return llvm::map_to_vector(maps, [&](AffineMap map) { return projectDims(map, sums, /*compressDims=*/true); });
  }

  static void dropExtras(Operation *op, unsigned count) {
    auto const drop = [&](auto kernel) {
      SmallVector<AffineMap> maps = kernel.getMaps();
      maps.erase(maps.end() - 1 - count, maps.end() - 1);
      kernel.getExtrasMutable().clear();
      kernel.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(maps));
    };
    if (auto contract = dyn_cast<nest::ContractOp>(op))
      drop(contract);
    else
      drop(cast<nest::ReduceOp>(op));
  }

  std::string freeLabel(StringRef label) {
    std::string name = (label + ".epilogue").str();
    while (!labels.insert(name).second)
      name += "_";
    return name;
  }

  func::FuncOp entry;
  llvm::MapVector<Operation *, std::string> kept;
  llvm::StringSet<> labels;
};

struct CallLibrary : impl::CallLibraryBase<CallLibrary> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (llvm::is_contained({"none", "kokkoskernels"}, calls))
      return success();
    return emitError(UnknownLoc::get(context)) << "calls is none or kokkoskernels, not '" << calls << "'";
  }

  void runOnOperation() override {
    if (calls == "kokkoskernels" && !getOperation().isExternal())
      Handover(getOperation()).run();
  }
};
} // namespace

} // namespace ml2k
