//===- AlignGrids.cpp - vectors of a grid begin where lines of the cache do ---------------------------------------===//
//
// Vectors as wide as a line of the cache, stored across two lines, take twice as long: the inner columns of a stencil,
// the arrays of NumPy, which begin 16 bytes behind a line. Where a kernel of two or three loops stores an element of
// one array for each of its positions, that store is marked and the loops count as its indices do, so that the block
// sees from the array alone where its rows begin.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/LinearForms.h"
#include "passes/prepare/GridAccesses.h"
#include "passes/prepare/Prepare.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_ALIGNGRIDS
#include "passes/prepare/Passes.h.inc"

static constexpr int64_t lineBytes = 64;
static constexpr int64_t worthIt = 128; ///< columns of a row that are worth a start of their own

/// Whether sums of two such numbers fit into an int.
static bool isModest(int64_t number) { return llvm::isInt<30>(number); }

static bool isModest(Value bound) {
  auto const constant = getConstantIntValue(bound);
  return !constant || isModest(*constant);
}

/// How far the indices of a store are from the positions of the loops; none if they are others.
static std::optional<SmallVector<int64_t>> offsetsOf(memref::StoreOp store, nest::LoopKernelOp kernel) {
  if (store.getIndices().size() != kernel.getLowers().size())
    return std::nullopt;
  SmallVector<int64_t> offsets;
  for (auto [index, position] : llvm::zip(store.getIndices(), kernel.getBody().getArguments())) {
    Linear const form = linearForm(index);
    if (form.terms.size() != 1 || form.terms.front() != std::pair<Value, int64_t>(position, 1))
      return std::nullopt;
    offsets.push_back(form.constant);
  }
  return offsets;
}

/// Whether every row is known to begin at a line where the array does.
static bool isAligned(nest::LoopKernelOp kernel, MemRefType type, int64_t offset) {
  int64_t const bytes = type.getElementTypeBitWidth() / 8;
  auto const first = getConstantIntValue(kernel.getLowers().back());
  return first && !type.isDynamicDim(type.getRank() - 1) && type.getShape().back() * bytes % lineBytes == 0 &&
         (*first + offset) * bytes % lineBytes == 0;
}

static bool isWorthIt(nest::LoopKernelOp kernel, memref::StoreOp store, int64_t offset) {
  MemRefType const type = store.getMemRefType();
  bool const isNumber = type.getElementType().isIntOrFloat();
  unsigned const bits = isNumber ? type.getElementTypeBitWidth() : 0;
  auto const first = getConstantIntValue(kernel.getLowers().back()),
             end = getConstantIntValue(kernel.getUppers().back());
  bool const isLong = !first || !end || *end - *first >= worthIt;
  return (bits == 32 || bits == 64) && isLong && !isAligned(kernel, type, offset);
}

/// Loop `loop` counts from `offset` further on.
static void shift(nest::LoopKernelOp kernel, unsigned loop, int64_t offset) {
  OpBuilder builder(kernel);
  Location const place = kernel.getLoc();
  auto const shifted = [&](Value bound) -> Value {
    if (auto const constant = getConstantIntValue(bound))
      return builder.create<arith::ConstantIndexOp>(place, *constant + offset);
    Linear const form = linearForm(bound); // n - 1 for n - 2 and 1
    bool const isSum =
        form.terms.size() == 1 && form.terms.front().second == 1 && form.terms.front().first.getType().isIndex();
    if (isSum && form.constant == -offset)
      return form.terms.front().first;
    return builder.create<arith::AddIOp>(place, bound, builder.create<arith::ConstantIndexOp>(place, offset));
  };
  kernel.getLowersMutable()[loop].assign(shifted(kernel.getLowers()[loop]));
  kernel.getUppersMutable()[loop].assign(shifted(kernel.getUppers()[loop]));
  BlockArgument const position = kernel.getBody().getArgument(loop);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  auto const before = [&](int64_t constant) -> Value { // what was position + constant
    return constant == offset ? Value(position)
                              : builder.create<arith::AddIOp>(
                                    place, position, builder.create<arith::ConstantIndexOp>(place, constant - offset));
  };
  SmallVector<OpOperand *> uses = llvm::map_to_vector(position.getUses(), [](OpOperand &use) { return &use; });
  SmallVector<Operation *> sums; // which the builder may stand at
  Value same;                    // what was the position itself
  for (OpOperand *use : uses) {
    Operation *const sum = use->getOwner();
    llvm::APInt constant;
    if (isa<arith::AddIOp, arith::SubIOp>(sum) && use->getOperandNumber() == 0 &&
        matchPattern(sum->getOperand(1), m_ConstantInt(&constant)) && constant.getSignificantBits() <= 30) {
      int64_t const value = constant.getSExtValue();
      sum->replaceAllUsesWith(ValueRange{before(isa<arith::AddIOp>(sum) ? value : -value)});
      sums.push_back(sum);
      continue;
    }
    if (!same)
      same = before(0);
    use->set(same);
  }
  for (Operation *const sum : sums)
    sum->erase();
}

namespace {
struct AlignGrids : impl::AlignGridsBase<AlignGrids> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr("nest.naive"))
      getOperation().walk([](nest::LoopKernelOp kernel) {
        auto const areModest = [](ValueRange bounds) {
          return llvm::all_of(bounds, [](Value bound) { return isModest(bound); });
        };
        if (isPlainGrid(kernel) && areModest(kernel.getLowers()) && areModest(kernel.getUppers()))
          align(kernel);
      });
  }

  static void align(nest::LoopKernelOp kernel) {
    for (auto store : kernel.getBody().front().getOps<memref::StoreOp>()) {
      auto const offsets = offsetsOf(store, kernel);
      if (!offsets || !llvm::all_of(*offsets, [](int64_t offset) { return isModest(offset); }) ||
          !nest::isWholeArray(store.getMemref()) || !isWorthIt(kernel, store, offsets->back()))
        continue;
      store->setAttr(nest::fromLine, UnitAttr::get(kernel.getContext()));
      for (auto [loop, offset] : llvm::enumerate(*offsets))
        if (offset != 0)
          shift(kernel, loop, offset);
      return;
    }
  }
};
} // namespace

} // namespace ml2k
