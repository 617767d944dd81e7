//===- Work.cpp - what a kernel costs -----------------------------------------------------------------------------===//

#include "translator/ir/Work.h"

#include "translator/ir/LoopExtents.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

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

int64_t ml2k::countBytes(Operation *kernel) {
  llvm::SmallSetVector<Value, 8> const distinct(kernel->operand_begin(), kernel->operand_end());
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

/// The extents of the loops of a kernel whose operands, in order, are accessed through the maps.
static SmallVector<int64_t> loopExtents(Operation *kernel, ArrayAttr maps) {
  SmallVector<Value> const operands(kernel->operand_begin(), kernel->operand_begin() + maps.size());
  auto const values = maps.getAsValueRange<AffineMapAttr>();
  auto const loops = nest::loopExtents(SmallVector<AffineMap>(values.begin(), values.end()), operands);
  return llvm::map_to_vector(loops, [](nest::LoopExtent const &loop) { return extent(loop.size()); });
}

static int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

static int64_t flopsOf(nest::ConvOp conv) {
  int64_t const outputs = countElements(conv.getOutputs().front().getType());
  ArrayRef<int64_t> const weight = cast<ShapedType>(conv.getInputs()[1].getType()).getShape();
  int64_t const taps = product(weight.drop_front()); // input channels of the group, rows, columns
  return outputs * (2 * taps + countIn(conv.getEpilogue()));
}

static int64_t flopsOf(nest::WindowOp window) {
  int64_t const outputs = countElements(window.getOutputs().front().getType());
  return outputs * (product(window.getKernel()) + countIn(window.getFinish()));
}

static int64_t flopsOf(nest::ContractOp contract) {
  int64_t const sums = 2 * product(loopExtents(contract, contract.getIndexingMaps()));
  return sums + countElements(contract.getOutputs().front().getType()) * countIn(contract.getEpilogue());
}

static int64_t flopsOf(nest::MapOp map) {
  return product(loopExtents(map, map.getIndexingMaps())) * countIn(map.getBody());
}

static int64_t flopsOf(nest::ReduceOp reduce) {
  int64_t const terms = product(loopExtents(reduce, reduce.getIndexingMaps())) * (countIn(reduce.getTerm()) + 1);
  return terms + countElements(reduce.getOutputs().front().getType()) * countIn(reduce.getFinish());
}

static int64_t flopsOf(nest::RowOp row) {
  SmallVector<int64_t> const extents = loopExtents(row, row.getIndexingMaps());
  int64_t const length = extents.empty() ? 1 : extents.back();
  return product(ArrayRef(extents).drop_back(!extents.empty())) * countIn(row.getBody(), length);
}

static int64_t flopsOf(nest::RecurrentOp recurrent) {
  int64_t const elements = countElements(recurrent.getOutputs().front().getType());
  int64_t const sums = 2 * recurrent.getGates() * recurrent.getHidden();
  return recurrent.getSteps() * elements * (sums + countIn(recurrent.getNext()));
}

std::optional<int64_t> ml2k::countFlops(Operation *kernel) {
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(kernel)
      .Case<nest::ConvOp, nest::WindowOp, nest::ContractOp, nest::MapOp, nest::ReduceOp, nest::RowOp,
            nest::RecurrentOp>([](auto op) { return flopsOf(op); })
      .Default([](Operation *) { return std::nullopt; });
}

bool ml2k::isSmall(Operation *program) {
  constexpr int64_t most = 1 << 19;
  int64_t total = 0;
  WalkResult const walked = program->walk([&](Operation *op) {
    bool const isDynamic = llvm::any_of(op->getOperandTypes(), [](Type type) {
      auto const shaped = dyn_cast<ShapedType>(type);
      return shaped && !shaped.hasStaticShape();
    });
    if (isDynamic)
      return WalkResult::interrupt();
    if (!op->hasAttr("label"))
      return WalkResult::advance();
    std::optional<int64_t> const flops = countFlops(op);
    total += std::max(flops.value_or(0), countBytes(op) / 2); // what comes from memory takes time, too
    return flops && total < most ? WalkResult::skip() : WalkResult::interrupt();
  });
  return !walked.wasInterrupted();
}
