//===- EntryLoops.cpp - what kernels do for one entry of a batch, as loops ----------------------------------------===//

#include "passes/lower/memory/EntryLoops.h"

#include "passes/schedule/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {

Value EntryLoops::constant(int64_t value) { return builder.create<arith::ConstantIndexOp>(entry.getLoc(), value); }

/// What the printed code is to call a position or a sum.
static void name(Value argument, StringRef word) {
  argument.setLoc(NameLoc::get(StringAttr::get(argument.getContext(), "argument \"" + word + "\"")));
}

static StringRef letter(unsigned dim) {
  static StringRef const letters[] = {"i", "j", "k", "l"};
  return letters[std::min<size_t>(dim - 1, std::size(letters) - 1)];
}

EntryLoops::EntryLoops(OpBuilder &builder, BlockArgument entry) : builder(builder), entry(entry) {
  name(entry, "entry");
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

void EntryLoops::keep(Value buffer, StringRef name, bool isFlat) {
  auto const type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> shape(type.getShape().drop_front());
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  isNumber[buffer] = elements == 1;
  if (elements == 1)
    return;
  if (isFlat)
    shape = {elements};
  auto const location = NameLoc::get(builder.getStringAttr("alloca \"" + name.str() + "\""));
  arrays[buffer] = builder.create<memref::AllocaOp>(location, MemRefType::get(shape, type.getElementType()));
}

/// The subscripts of an operand's element at the positions of the loops.
SmallVector<Value> EntryLoops::place(unsigned operand) {
  return llvm::map_to_vector(maps[operand].getResults(), [&](AffineExpr expr) -> Value {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    return dim ? positions[dim.getPosition()] : constant(cast<AffineConstantExpr>(expr).getValue());
  });
}

/// The same in the array of the entry: without the entry's number, in row-major order where the shapes differ.
SmallVector<Value> EntryLoops::inArray(Value alias, Value array, ArrayRef<Value> at) {
  ArrayRef<int64_t> const shape = cast<MemRefType>(alias.getType()).getShape().drop_front();
  if (shape == cast<MemRefType>(array.getType()).getShape())
    return SmallVector<Value>(at.drop_front());
  Value flat;
  for (auto [extent, index] : llvm::zip(shape, at.drop_front())) {
    if (extent == 1)
      continue;
    if (flat) {
      flat = builder.createOrFold<arith::MulIOp>(kernel.getLoc(), flat, constant(extent));
      flat = builder.createOrFold<arith::AddIOp>(kernel.getLoc(), flat, index);
    } else
      flat = index;
  }
  return {flat};
}

Value EntryLoops::load(unsigned operand, ArrayRef<Value> at) {
  Value const memory = kernel->getOperand(operand), root = rootOf(memory);
  if (isNumber.lookup(root))
    return numbers[root];
  if (Value const array = arrays.lookup(root))
    return builder.create<memref::LoadOp>(kernel.getLoc(), array, inArray(memory, array, at));
  return builder.create<memref::LoadOp>(kernel.getLoc(), memory, at);
}

Value EntryLoops::load(unsigned operand) { return load(operand, place(operand)); }

void EntryLoops::store(Value value, unsigned operand) {
  Value const memory = kernel->getOperand(operand), root = rootOf(memory);
  SmallVector<Value> const at = place(operand);
  if (isNumber.lookup(root))
    numbers[root] = value;
  else if (Value const array = arrays.lookup(root))
    builder.create<memref::StoreOp>(kernel.getLoc(), value, array, inArray(memory, array, at));
  else
    builder.create<memref::StoreOp>(kernel.getLoc(), value, memory, at);
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

void EntryLoops::loops(Dims dims, llvm::function_ref<void()> body) {
  if (dims.empty())
    return body();
  unsigned const dim = dims.front();
  if (extents[dim] == 1) {
    positions[dim] = constant(0);
    return loops(dims.drop_front(), body);
  }
  auto loop = builder.create<scf::ForOp>(kernel.getLoc(), constant(0), constant(extents[dim]), constant(1));
  OpBuilder::InsertionGuard const guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  positions[dim] = loop.getInductionVar();
  name(loop.getInductionVar(), letter(dim));
  loops(dims.drop_front(), body);
}

static StringRef nounOf(nest::Combiner combiner) {
  switch (combiner) {
  case nest::Combiner::Sum:
    return "total";
  case nest::Combiner::Prod:
    return "product";
  case nest::Combiner::Max:
  case nest::Combiner::MaxNum:
    return "largest";
  case nest::Combiner::Min:
  case nest::Combiner::MinNum:
    return "smallest";
  default:
    return "result";
  }
}

Value EntryLoops::fold(Dims dims, Value start, nest::Combiner combiner, llvm::function_ref<Value()> term) {
  Location const location = kernel.getLoc();
  if (dims.empty())
    return combine(builder, location, combiner, start, term());
  unsigned const dim = dims.front();
  if (extents[dim] == 1) {
    positions[dim] = constant(0);
    return fold(dims.drop_front(), start, combiner, term);
  }
  auto loop = builder.create<scf::ForOp>(location, constant(0), constant(extents[dim]), constant(1), start);
  OpBuilder::InsertionGuard const guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  positions[dim] = loop.getInductionVar();
  name(loop.getInductionVar(), letter(dim));
  name(loop.getRegionIterArg(0), nounOf(combiner));
  Value const next = fold(dims.drop_front(), loop.getRegionIterArg(0), combiner, term);
  builder.create<scf::YieldOp>(location, next);
  return loop.getResult(0);
}

//===--- Kernels --------------------------------------------------------------------------------------------------===//

/// Elements for the arguments of a block that are read.
void EntryLoops::loadArguments(Block &block, unsigned firstArgument, unsigned firstOperand, IRMapping &mapping) {
  for (BlockArgument argument : block.getArguments().drop_front(firstArgument))
    if (!argument.use_empty())
      mapping.map(argument, load(firstOperand + argument.getArgNumber() - firstArgument));
}

void EntryLoops::copy(Block &block, IRMapping &mapping) {
  for (Operation &op : block.without_terminator())
    if (auto index = dyn_cast<nest::IndexOp>(op))
      mapping.map(index.getResult(), positions[index.getDim()]);
    else
      builder.clone(op, mapping);
}

static SmallVector<unsigned> elementLoops(unsigned end, ArrayRef<int64_t> without = {}) {
  SmallVector<unsigned> dims;
  for (unsigned dim = 1; dim < end; ++dim)
    if (!llvm::is_contained(without, int64_t(dim)))
      dims.push_back(dim);
  return dims;
}

void EntryLoops::addMap(nest::MapOp map) {
  Block &body = map.getBody().front();
  loops(elementLoops(extents.size()), [&] {
    IRMapping mapping;
    loadArguments(body, 0, 0, mapping);
    copy(body, mapping);
    unsigned output = map->getNumOperands() - map.getOutputs().size();
    for (Value value : body.back().getOperands())
      store(mapping.lookupOrDefault(value), output++);
  });
}

void EntryLoops::addReduce(nest::ReduceOp reduce) {
  Block &term = reduce.getTerm().front(), &finish = reduce.getFinish().front();
  loops(elementLoops(extents.size(), reduce.getReductionDims()), [&] {
    Value const start = builder.create<arith::ConstantOp>(reduce.getLoc(), reduce.getInitial());
    SmallVector<unsigned> const dims(reduce.getReductionDims().begin(), reduce.getReductionDims().end());
    Value const sum = fold(dims, start, reduce.getCombiner(), [&] {
      IRMapping mapping;
      loadArguments(term, 0, 0, mapping);
      copy(term, mapping);
      return mapping.lookupOrDefault(term.back().getOperand(0));
    });
    IRMapping mapping;
    mapping.map(finish.getArgument(0), sum);
    loadArguments(finish, 1, reduce.getInputs().size(), mapping);
    copy(finish, mapping);
    store(mapping.lookupOrDefault(finish.back().getOperand(0)), reduce->getNumOperands() - 1);
  });
}

/// A pass along the row, an element of it, or an operation on scalars.
void EntryLoops::addRowStatement(Operation &op, unsigned along, IRMapping &mapping) {
  auto const body = [&](Block &block) {
    mapping.map(block.getArgument(0), positions[along]);
    for (Operation &inner : block.without_terminator())
      addRowStatement(inner, along, mapping);
  };
  if (auto foldOp = dyn_cast<nest::FoldOp>(op)) {
    Block &block = foldOp.getBody().front();
    Value const start =
        builder.create<arith::ConstantOp>(op.getLoc(), neutralOf(foldOp.getCombiner(), foldOp.getResult().getType()));
    mapping.map(foldOp.getResult(), fold({along}, start, foldOp.getCombiner(), [&] {
                  body(block);
                  return mapping.lookupOrDefault(block.back().getOperand(0));
                }));
  } else if (auto each = dyn_cast<nest::EachOp>(op))
    loops({along}, [&] { body(each.getBody().front()); });
  else if (auto get = dyn_cast<nest::GetOp>(op))
    mapping.map(get.getValue(), load(cast<BlockArgument>(get.getRow()).getArgNumber()));
  else if (auto set = dyn_cast<nest::SetOp>(op))
    store(mapping.lookupOrDefault(set.getValue()), cast<BlockArgument>(set.getRow()).getArgNumber());
  else if (auto index = dyn_cast<nest::IndexOp>(op))
    mapping.map(index.getResult(), positions[index.getDim()]);
  else
    builder.clone(op, mapping);
}

void EntryLoops::addRow(nest::RowOp row) {
  unsigned const along = extents.size() - 1;
  loops(elementLoops(along), [&] {
    IRMapping mapping;
    for (Operation &op : row.getBody().front().without_terminator())
      addRowStatement(op, along, mapping);
  });
}

void EntryLoops::add(nest::Kernel added) {
  kernel = added;
  maps = kernel.getMaps();
  extents = llvm::map_to_vector(kernel.getLoopExtents(), [](nest::LoopExtent const &loop) { return loop.size(); });
  positions.assign(extents.size(), Value());
  positions[0] = entry;
  if (auto map = dyn_cast<nest::MapOp>(*added))
    addMap(map);
  else if (auto reduce = dyn_cast<nest::ReduceOp>(*added))
    addReduce(reduce);
  else
    addRow(cast<nest::RowOp>(*added));
}

} // namespace ml2k
