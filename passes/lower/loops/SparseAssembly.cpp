//===- SparseAssembly.cpp - sparse results with entries of their own become nest.assemble -------------------------===//

#include "passes/lower/loops/SparseKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using ml2k::nest::Assembly;

namespace ml2k {
namespace {

class Assembling {
public:
  Assembling(RewriterBase &rewriter, linalg::LinalgOp op, StoredTensors &tensors)
      : rewriter(rewriter), op(op), tensors(tensors), result(*tensors.find(op.getDpsInits()[0])),
        kind(*result.assembly), inputs(op.getDpsInputOperands()) {
    // Of matrices by columns the product's columns are those of the second one
    if (kind == Assembly::Product && result.levels[0].dim == 1)
      std::swap(inputs[0], inputs[1]);
  }

  LogicalResult lower() {
    rewriter.setInsertionPoint(op);
    addInputs();
    SmallVector<Value> outputs = {result.positions[1], result.coordinates[1], result.values};
    StoredTensor const *a = tensors.find(inputs[0]->get());
    if (kind == Assembly::Product)
      outputs.push_back(scratchFor(a->values, 2, "_next"));
    if (kind == Assembly::Triplets)
      llvm::append_range(outputs,
                         ValueRange{scratchFor(result.positions[1], 1, "_begins"), scratchFor(a->values, 1, "_order")});
    auto kernel = rewriter.create<nest::AssembleOp>(op.getLoc(), TypeRange(), rewriter.getStringAttr(result.name()),
                                                    nest::AssemblyAttr::get(rewriter.getContext(), kind), arrays,
                                                    ValueRange(), outputs);
    addCombine(kernel);
    int64_t const rows = cast<MemRefType>(result.standIn.getType()).getDimSize(result.levels[0].dim);
    if (!ShapedType::isDynamic(rows))
      kernel->setAttr(assembledRows, rewriter.getI64IntegerAttr(rows));
    Location const location = op.getLoc();
    rewriter.eraseOp(op);
    rewriter.setInsertionPointAfter(kernel);
    if (isRead())
      tensors.setPositions(result, positionsWithin(location));
    return success();
  }

private:
  void addInputs() {
    for (OpOperand *input : inputs) {
      StoredTensor const *tensor = tensors.find(input->get());
      if (!tensor)
        arrays.push_back(input->get());
      else if (kind == Assembly::Triplets)
        addTriplets(*tensor);
      else
        llvm::append_range(arrays, ValueRange{tensor->positions[1], tensor->coordinates[1], tensor->values});
    }
  }

  /// The coordinates that say the row of the result first.
  void addTriplets(StoredTensor const &tensor) {
    bool const isSwapped = tensor.levels[0].dim != result.levels[0].dim;
    for (unsigned level : {isSwapped ? 1u : 0u, isSwapped ? 0u : 1u})
      arrays.push_back(tensor.coordinates[level]);
    arrays.push_back(tensor.values);
  }

  /// So many integers for each element of an array.
  Value scratchFor(Value array, int64_t each, StringRef name) {
    Location const location = op.getLoc();
    auto const index = [&](int64_t value) { return rewriter.create<arith::ConstantIndexOp>(location, value); };
    Value size = rewriter.create<memref::DimOp>(location, array, index(0));
    if (each != 1)
      size = rewriter.create<arith::MulIOp>(location, size, index(each));
    return scratch(location, size, rewriter.getI32Type(), name);
  }

  Value scratch(Location location, Value size, Type element, StringRef name) {
    StringAttr const full = rewriter.getStringAttr("scratch \"" + StringRef(result.name()) + name + "\"");
    return rewriter.create<memref::AllocOp>(NameLoc::get(full, location),
                                            MemRefType::get({ShapedType::kDynamic}, element), size);
  }

  /// Whether operations behind this one, which is gone, run over the entries.
  bool isRead() {
    return llvm::any_of(tensors.all(), [&](StoredTensor const &tensor) {
      return tensor.number == result.number && !tensor.standIn.use_empty();
    });
  }

  /// What the caller has no room for is counted, and not written: who reads the entries finds none there. The positions
  /// themselves tell the caller how many there are.
  Value positionsWithin(Location location) {
    auto const index = [&](int64_t value) -> Value { return rewriter.create<arith::ConstantIndexOp>(location, value); };
    Value const all = result.positions[1], count = rewriter.create<memref::DimOp>(location, all, index(0));
    Value const room = rewriter.create<arith::MinSIOp>(
        location, rewriter.create<memref::DimOp>(location, result.coordinates[1], index(0)),
        rewriter.create<memref::DimOp>(location, result.values, index(0)));
    Value const within = scratch(location, count, cast<MemRefType>(all.getType()).getElementType(), "_within");
    auto loop =
        rewriter.create<scf::ParallelOp>(location, ValueRange(index(0)), ValueRange(count), ValueRange(index(1)));
    loop->setAttr("nest.note", rewriter.getStringAttr("the entries of " + result.name() + " that there is room for"));
    OpBuilder::InsertionGuard const guard(rewriter);
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    Value const row = named(loop.getInductionVars()[0], result.indexName(result.levels[0].dim));
    Value const position =
        rewriter.create<arith::MinSIOp>(location, StoredTensor::read(rewriter, location, all, row), room);
    rewriter.create<memref::StoreOp>(location, StoredTensor::element(rewriter, location, all, position), within, row);
    return within;
  }

  void addCombine(nest::AssembleOp kernel) {
    OpBuilder::InsertionGuard const guard(rewriter);
    auto const typeOf = [&](unsigned input) {
      return cast<MemRefType>(inputs[inputs.size() > 1 ? input : 0]->get().getType()).getElementType();
    };
    SmallVector<Location> const locations(2, op.getLoc());
    Block *block = rewriter.createBlock(&kernel.getCombine(), {}, {typeOf(0), typeOf(1)}, locations);
    Value const yielded = inputs.size() > 1            ? combined(*block)
                          : kind == Assembly::Triplets ? sum(*block)
                                                       : block->getArgument(0);
    rewriter.create<nest::YieldOp>(op.getLoc(), yielded);
  }

  Value sum(Block &block) {
    return nest::join(rewriter, op.getLoc(), nest::Combiner::Sum, block.getArgument(0), block.getArgument(1));
  }

  /// The block of the operation; of a product, what it adds.
  Value combined(Block &block) {
    IRMapping values;
    for (auto [input, argument] : llvm::zip(inputs, block.getArguments()))
      values.map(op.getMatchingBlockArgument(input), argument);
    BlockArgument const before = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
    Operation *const join = before.use_empty() ? nullptr : *before.getUsers().begin();
    for (Operation &inner : op.getBlock()->without_terminator())
      if (&inner != join)
        rewriter.clone(inner, values);
    Value const result =
        join ? join->getOperand(join->getOperand(0) == before) : op.getBlock()->getTerminator()->getOperand(0);
    return values.lookupOrDefault(result);
  }

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  StoredTensors &tensors;
  StoredTensor const &result;
  Assembly kind;
  SmallVector<OpOperand *> inputs;
  SmallVector<Value> arrays;
};

} // namespace

LogicalResult lowerAssembly(RewriterBase &rewriter, linalg::LinalgOp op, StoredTensors &tensors) {
  return Assembling(rewriter, op, tensors).lower();
}

} // namespace ml2k
