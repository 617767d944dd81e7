//===- SequenceLayout.cpp - sequences are read and written where they lie -----------------------------------------===//
//
// A recurrent layer takes [steps, batch, inputs]; what a network has with the batch in front is transposed before and
// behind it. The kernel addresses its sequences by maps over (t, n, j): it reads the projected inputs and writes the
// states in the order that the network has, and both directions beside each other.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/recurrent/Recurrence.h"

using namespace mlir;

namespace ml2k {
namespace {

using DimOrder = SmallVector<unsigned>; ///< which dimension of the source each dimension of the result is

/// The order in which a kernel copies the dimensions of its input; nothing if it does anything else.
std::optional<DimOrder> dimOrderOf(nest::MapOp map) {
  if (!map || map.getInputs().size() != 1 || !map.getExtras().empty() || map.getOutputs().size() != 1)
    return std::nullopt;
  Block &body = map.getBody().front();
  SmallVector<AffineMap> const maps = map.getMaps();
  if (body.getTerminator()->getOperand(0) != body.getArgument(0) || !maps[0].isPermutation() ||
      !maps[1].isPermutation() || getElementTypeOrSelf(map.getInputs()[0]) != getElementTypeOrSelf(map.getOutputs()[0]))
    return std::nullopt;
  DimOrder order;
  for (AffineExpr loop : maps[1].getResults())
    order.push_back(*maps[0].getResultPosition(loop));
  return order;
}

template <class T> SmallVector<T> inOrder(ArrayRef<T> source, ArrayRef<unsigned> order) {
  return llvm::map_to_vector(order, [&](unsigned dim) { return source[dim]; });
}

AffineMap inOrder(AffineMap map, ArrayRef<unsigned> order) {
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), inOrder(map.getResults(), order), map.getContext());
}

RankedTensorType inOrder(RankedTensorType type, ArrayRef<unsigned> order) {
  return RankedTensorType::get(inOrder(type.getShape(), order), type.getElementType());
}

//===--- What a layer reads ---------------------------------------------------------------------------------------===//

/// [rows of all steps, inputs] of [steps, batch, inputs], or the reverse: the first two dimensions are joined.
bool joinsFirst(ArrayRef<ReassociationIndices> groups) {
  return groups.size() == 2 && llvm::equal(groups[0], ArrayRef<int64_t>{0, 1}) &&
         llvm::equal(groups[1], ArrayRef<int64_t>{2});
}

/// The transposition of batch and steps in front of the rows of a product, if its other operands do not see rows.
nest::MapOp transpositionBefore(nest::ContractOp product) {
  auto rows = product.getInputs()[0].getDefiningOp<tensor::CollapseShapeOp>();
  if (!rows || !joinsFirst(rows.getReassociationIndices()))
    return {};
  SmallVector<AffineMap> const maps = product.getMaps();
  SmallVector<nest::Role> const roles = product.getRoles();
  for (unsigned extra = 0; extra < product.getExtras().size(); ++extra)
    for (auto [loop, role] : llvm::enumerate(roles))
      if (role == nest::Role::M && maps[2 + extra].isFunctionOfDim(loop))
        return {};
  bool const seesPosition =
      product.getEpilogue().walk([](nest::IndexOp) { return WalkResult::interrupt(); }).wasInterrupted();
  auto map = rows.getSrc().getDefiningOp<nest::MapOp>();
  std::optional<DimOrder> const order = seesPosition ? std::nullopt : dimOrderOf(map);
  return order && llvm::equal(*order, ArrayRef<unsigned>{1, 0, 2}) ? map : nest::MapOp();
}

/// The product of all steps with W, read with the batch in front.
void readWhereItLies(nest::RecurrentOp kernel, tensor::ExpandShapeOp projected) {
  auto product = projected.getSrc().getDefiningOp<nest::ContractOp>();
  bool const isOwn = product && product->getNumResults() == 1 && product->hasOneUse() &&
                     joinsFirst(projected.getReassociationIndices()) &&
                     llvm::all_of(projected->getUsers(), [&](Operation *user) { return user == kernel; });
  nest::MapOp transposition = isOwn ? transpositionBefore(product) : nest::MapOp();
  if (!transposition)
    return;
  OpBuilder builder(product);
  DimOrder const turned = {1, 0, 2};
  auto rows = builder.create<tensor::CollapseShapeOp>(product.getLoc(), transposition.getInputs()[0],
                                                      SmallVector<ReassociationIndices>{{0, 1}, {2}});
  if (rows.getType() != product.getInputs()[0].getType())
    return rows.erase();
  Operation *const before = product.getInputs()[0].getDefiningOp();
  product.getInputsMutable()[0].set(rows);
  if (before->use_empty())
    before->erase();
  if (transposition->use_empty())
    transposition.erase();
  builder.setInsertionPointAfter(projected);
  SmallVector<OpFoldResult> const sizes =
      getMixedValues(projected.getStaticOutputShape(), projected.getOutputShape(), builder);
  auto sequence = builder.create<tensor::ExpandShapeOp>(projected.getLoc(), inOrder(projected.getResultType(), turned),
                                                        product->getResult(0), projected.getReassociationIndices(),
                                                        inOrder(ArrayRef(sizes), turned));
  SmallVector<AffineMap> maps = kernel.getMaps();
  for (auto [number, extra] : llvm::enumerate(kernel.getExtras()))
    if (extra == projected.getResult())
      maps[number] = inOrder(maps[number], turned);
  kernel.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  projected.replaceAllUsesWith(sequence.getResult());
  projected.erase();
}

//===--- What it writes -------------------------------------------------------------------------------------------===//

/// A sequence that a kernel writes, [steps, batch, elements], and nobody reads but `reader`.
struct Sequence {
  OpResult result;
  Operation *reader = nullptr; ///< an expansion by the dimension of the directions, or nobody's
  nest::RecurrentOp kernel() const { return cast<nest::RecurrentOp>(result.getOwner()); }
  OpOperand &room() const { return kernel().getOutputsMutable()[result.getResultNumber()]; }
};

std::optional<Sequence> sequenceOf(Value value) {
  auto kernel = value.getDefiningOp<nest::RecurrentOp>();
  Sequence sequence{dyn_cast<OpResult>(value)};
  if (!kernel || !value.hasOneUse() || cast<RankedTensorType>(value.getType()).getRank() != 3)
    return std::nullopt;
  auto room = sequence.room().get().getDefiningOp<tensor::EmptyOp>();
  return room ? std::optional(sequence) : std::nullopt;
}

/// Who asks for an extent of a sequence gets the one that its room was made with.
void answerExtents(nest::RecurrentOp kernel) {
  for (OpResult result : kernel->getResults())
    for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
      auto dim = dyn_cast<tensor::DimOp>(user);
      auto room = kernel.getOutputs()[result.getResultNumber()].getDefiningOp<tensor::EmptyOp>();
      std::optional<int64_t> const index = dim ? dim.getConstantIndex() : std::nullopt;
      if (!room || !index || *index < 0 || *index >= room.getType().getRank())
        continue;
      if (auto const size = dyn_cast<Value>(room.getMixedSizes()[*index])) {
        dim.replaceAllUsesWith(size);
        dim.erase();
      }
    }
}

/// The kernel writes the sequence in another order; its sizes.
SmallVector<OpFoldResult> reorder(Sequence const &sequence, ArrayRef<unsigned> order) {
  nest::RecurrentOp kernel = sequence.kernel();
  auto room = sequence.room().get().getDefiningOp<tensor::EmptyOp>();
  OpBuilder builder(room);
  SmallVector<OpFoldResult> const old = room.getMixedSizes(), sizes = inOrder(ArrayRef(old), order);
  sequence.room().set(builder.create<tensor::EmptyOp>(room.getLoc(), sizes, room.getType().getElementType()));
  OpResult result = sequence.result;
  result.setType(cast<RankedTensorType>(sequence.room().get().getType()));
  SmallVector<AffineMap> maps = kernel.getMaps();
  unsigned const number = kernel.getExtras().size() + result.getResultNumber();
  maps[number] = inOrder(maps[number], order);
  kernel.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  return sizes;
}

/// A transposition of a sequence, or of those of both directions beside each other.
class Transposed {
public:
  explicit Transposed(nest::MapOp map) : map(map) {}

  void remove() {
    if (!match())
      return;
    OpBuilder builder(map);
    Value whole = concat ? joined(builder) : reordered(builder);
    if (joins)
      whole = builder.create<tensor::CollapseShapeOp>(map.getLoc(), cast<RankedTensorType>(map.getResult(0).getType()),
                                                      whole, groups);
    map.getResult(0).replaceAllUsesWith(whole);
    map.erase();
    if (joins)
      joins.erase();
    if (concat)
      concat.erase();
    for (Sequence const &sequence : sequences)
      if (sequence.reader)
        sequence.reader->erase();
  }

private:
  bool match();
  bool matchConcat();
  Value reordered(OpBuilder &) {
    reorder(sequences[0], order);
    return sequences[0].result;
  }
  Value joined(OpBuilder &builder);

  nest::MapOp map;
  tensor::CollapseShapeOp joins; ///< of neighbouring dimensions that stay together
  tensor::ConcatOp concat;       ///< of the directions
  SmallVector<Sequence> sequences;
  DimOrder order;                           ///< of all dimensions
  SmallVector<ReassociationIndices> groups; ///< which of them the result joins
};

bool Transposed::match() {
  std::optional<DimOrder> const moved = dimOrderOf(map);
  if (!moved)
    return false;
  Value whole = map.getInputs()[0];
  SmallVector<ReassociationIndices> from;
  if ((joins = whole.getDefiningOp<tensor::CollapseShapeOp>())) {
    if (!joins->hasOneUse())
      return false;
    from = joins.getReassociationIndices();
    whole = joins.getSrc();
  } else {
    for (int64_t dim = 0; dim < cast<RankedTensorType>(whole.getType()).getRank(); ++dim)
      from.push_back({dim});
  }
  for (unsigned group : *moved) {
    groups.emplace_back();
    for (int64_t dim : from[group]) {
      groups.back().push_back(order.size());
      order.push_back(dim);
    }
  }
  auto const type = cast<RankedTensorType>(whole.getType());
  if (tensor::CollapseShapeOp::inferCollapsedType(inOrder(type, order), groups) != map.getResult(0).getType())
    return false;
  if ((concat = whole.getDefiningOp<tensor::ConcatOp>()))
    return matchConcat();
  std::optional<Sequence> const sequence = sequenceOf(whole);
  if (sequence)
    sequences.push_back(*sequence);
  return sequence.has_value();
}

/// Whether `expand` puts in one dimension of extent 1 at `dim`.
bool addsUnit(tensor::ExpandShapeOp expand, uint64_t dim) {
  auto const shape = expand.getResultType().getShape(), source = expand.getSrcType().getShape();
  SmallVector<int64_t> without(shape);
  without.erase(without.begin() + dim);
  return shape[dim] == 1 && ArrayRef(without) == source;
}

bool Transposed::matchConcat() {
  if (!concat->hasOneUse() || cast<RankedTensorType>(concat.getType()).getRank() != 4)
    return false;
  for (Value input : concat.getInputs()) {
    auto expand = input.getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || !expand->hasOneUse() || !addsUnit(expand, concat.getDim()))
      return false;
    std::optional<Sequence> sequence = sequenceOf(expand.getSrc());
    if (!sequence)
      return false;
    sequence->reader = expand;
    sequences.push_back(*sequence);
  }
  return true;
}

Value Transposed::joined(OpBuilder &builder) {
  unsigned const along = concat.getDim();
  int64_t const place = llvm::find(order, along) - order.begin();
  DimOrder own; // of a sequence, which does not have the dimension of the directions
  for (unsigned dim : order)
    if (dim != along)
      own.push_back(dim - (dim > along));
  SmallVector<ReassociationIndices> split;
  for (int64_t dim = 0; dim < 4; ++dim)
    if (dim > 0 && (dim == place || (place == 0 && dim == 1)))
      split.back().push_back(dim);
    else
      split.push_back({dim});
  SmallVector<Value> parts;
  for (Sequence const &sequence : sequences) {
    SmallVector<OpFoldResult> sizes = reorder(sequence, own);
    sizes.insert(sizes.begin() + place, builder.getIndexAttr(1));
    SmallVector<int64_t> shape(cast<RankedTensorType>(sequence.result.getType()).getShape());
    shape.insert(shape.begin() + place, 1);
    auto const type = RankedTensorType::get(shape, cast<RankedTensorType>(sequence.result.getType()).getElementType());
    parts.push_back(builder.create<tensor::ExpandShapeOp>(map.getLoc(), type, sequence.result, split, sizes));
  }
  auto const type = inOrder(cast<RankedTensorType>(concat.getType()), order);
  return builder.create<tensor::ConcatOp>(concat.getLoc(), type, place, parts);
}

} // namespace

void layOutSequences(func::FuncOp function) {
  SmallVector<nest::RecurrentOp> kernels;
  function.walk([&](nest::RecurrentOp kernel) { kernels.push_back(kernel); });
  for (nest::RecurrentOp kernel : kernels) {
    answerExtents(kernel);
    SetVector<Operation *> projected;
    for (Value extra : kernel.getExtras())
      if (auto expand = extra.getDefiningOp<tensor::ExpandShapeOp>())
        projected.insert(expand);
    for (Operation *expand : projected)
      readWhereItLies(kernel, cast<tensor::ExpandShapeOp>(expand));
  }
  if (kernels.empty())
    return;
  SmallVector<nest::MapOp> maps;
  function.walk([&](nest::MapOp map) {
    if (map->getNumResults() > 0) // on tensors
      maps.push_back(map);
  });
  for (nest::MapOp map : maps)
    Transposed(map).remove();
}

} // namespace ml2k
