//===- Work.cpp - what a kernel costs -----------------------------------------------------------------------------===//

#include "translator/ir/Work.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ml2k;

static int64_t extent(int64_t size) { return ShapedType::isDynamic(size) ? 1 : size; }

static int64_t countElements(Type type) {
  int64_t count = 1;
  for (int64_t size : cast<ShapedType>(type).getShape())
    count *= extent(size);
  return count;
}

int64_t ml2k::bytesOf(Type type) {
  auto const shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || !shaped.getElementType().isIntOrIndexOrFloat())
    return 0;
  Type const element = shaped.getElementType();
  int64_t const bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return countElements(type) * ((bits + 7) / 8);
}

int64_t ml2k::bytesOf(ValueRange operands) {
  llvm::SmallSetVector<Value, 8> const distinct(operands.begin(), operands.end());
  int64_t bytes = 0;
  for (Value operand : distinct)
    bytes += bytesOf(operand.getType());
  return bytes;
}

//===--- Operations in blocks -------------------------------------------------------------------------------------===//

static bool isFloatingPointWork(Operation &op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()))
    return false;
  if (isa<arith::ConstantOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp, arith::BitcastOp>(op))
    return false;
  return op.getNumOperands() > 0 && isa<FloatType>(op.getOperand(0).getType());
}

/// In one execution of a block; folds and loops along a row of `length` elements repeat theirs.
static int64_t countIn(Block &block, int64_t length) {
  int64_t count = 0;
  for (Operation &op : block) {
    int64_t inner = 0;
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        inner += countIn(nested, length);
    count += isFloatingPointWork(op);
    count += isa<nest::FoldOp>(op) ? (inner + 1) * length : isa<nest::EachOp>(op) ? inner * length : inner;
  }
  return count;
}

static int64_t countIn(Region &region, int64_t length = 1) {
  return region.empty() ? 0 : countIn(region.front(), length);
}

//===--- Kernels --------------------------------------------------------------------------------------------------===//

/// The extents of the loops of a kernel, those at run time as 1.
static SmallVector<int64_t> extentsOf(nest::Kernel kernel) {
  return llvm::map_to_vector(kernel.getLoopExtents(), [](nest::LoopExtent const &loop) { return extent(loop.size()); });
}

static int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

std::optional<int64_t> nest::ConvOp::getFlops() {
  int64_t const outputs = countElements(getOutputs().front().getType());
  ArrayRef<int64_t> const weight = cast<ShapedType>(getInputs()[1].getType()).getShape();
  int64_t const taps = product(weight.drop_front()); // input channels of the group, rows, columns
  return outputs * (2 * taps + countIn(getEpilogue()));
}

std::optional<int64_t> nest::WindowOp::getFlops() {
  return countElements(getOutputs().front().getType()) * (product(getKernel()) * getPlaneTaps() + countIn(getFinish()));
}

std::optional<int64_t> nest::ContractOp::getFlops() {
  return 2 * product(extentsOf(*this)) + countElements(getOutputs().front().getType()) * countIn(getEpilogue());
}

std::optional<int64_t> nest::MapOp::getFlops() { return product(extentsOf(*this)) * countIn(getBody()); }

std::optional<int64_t> nest::ReduceOp::getFlops() {
  int64_t const terms = product(extentsOf(*this)) * (countIn(getTerm()) + 1);
  return terms + countElements(getOutputs().front().getType()) * countIn(getFinish());
}

std::optional<int64_t> nest::RowOp::getFlops() {
  SmallVector<int64_t> const extents = extentsOf(*this);
  int64_t const length = extents.empty() ? 1 : extents.back();
  return product(ArrayRef(extents).drop_back(!extents.empty())) * countIn(getBody(), length);
}

std::optional<int64_t> nest::RecurrentOp::getFlops() {
  int64_t const elements = countElements(getOutputs().front().getType());
  int64_t operations = 0; // for an element
  for (Region &next : getNext())
    operations += 2 * getGates() * getHidden() + countIn(next);
  return int64_t(getSteps().value_or(1)) * elements * operations;
}

/// A comparison for each element: few of them come before the last one that is kept.
std::optional<int64_t> nest::TopKOp::getFlops() {
  return countElements(getInputs().front().getType()) * countIn(getBefore());
}

/// Comparisons of a merge sort.
std::optional<int64_t> nest::SortOp::getFlops() {
  auto const type = cast<ShapedType>(getInputs().front().getType());
  int64_t const length = ShapedType::isDynamic(type.getDimSize(getAlong())) ? 1 : type.getDimSize(getAlong());
  return countElements(type) * int64_t(llvm::Log2_64_Ceil(std::max<int64_t>(length, 2)));
}

/// A comparison for each step, as many as a balanced tree has, and what joins the leaves.
std::optional<int64_t> nest::TreesOp::getFlops() {
  auto const values = cast<ShapedType>(getValues().getType());
  int64_t const rows = std::max<int64_t>(1, cast<ShapedType>(getX().getType()).getDimSize(0));
  int64_t const trees = std::max<int64_t>(1, cast<ShapedType>(getRoots().getType()).getNumElements());
  int64_t const steps = int64_t(llvm::Log2_64_Ceil(uint64_t(std::max<int64_t>(2, values.getDimSize(0) / trees))));
  return rows * trees * (steps * countIn(getSplit()) + values.getDimSize(1));
}

/// How many entries there are is known on the device only.
std::optional<int64_t> nest::AssembleOp::getFlops() { return std::nullopt; }

static bool hasRunTimeOperand(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto const shaped = dyn_cast<ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  });
}

bool ml2k::isSmall(Operation *program) {
  return isSmallAtOne(program) && !program
                                       ->walk([](Operation *op) {
                                         return hasRunTimeOperand(op) ? WalkResult::interrupt() : WalkResult::advance();
                                       })
                                       .wasInterrupted();
}

bool ml2k::isSmallAtOne(Operation *program) {
  constexpr int64_t most = 1 << 19;
  int64_t total = 0;
  WalkResult const walked = program->walk([&](Operation *op) {
    auto kernel = dyn_cast<nest::Kernel>(op);
    if (!kernel)
      return WalkResult::advance();
    std::optional<int64_t> const flops = kernel.getFlops();
    total += std::max(flops.value_or(0), kernel.getBytes() / 2); // what comes from memory takes time, too
    return flops && total < most ? WalkResult::skip() : WalkResult::interrupt();
  });
  return !walked.wasInterrupted();
}
