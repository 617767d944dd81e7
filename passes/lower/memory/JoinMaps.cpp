//===- JoinMaps.cpp - maps of one shape that need no element of each other but their own are one kernel -----------===//
//
// Part of LabelCopies. A decoder copies the keys and the values of earlier tokens into the tensors that it returns,
// layer by layer, and turns queries and keys by the same angles; a closure takes the symmetric and the antisymmetric
// part of one gradient; the cell of an LSTM that is no LSTM any more updates its state, then its output from that:
// launches that do next to nothing each, and read the same twice.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Provenance.h"
#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/NestScalars.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {
namespace {

/// From so many elements on a launch does not count, and devices copy by assign_each, which has one output.
constexpr int64_t manyElements = int64_t(1) << 20;

/// True if neighbours along the last dimension of `to` are neighbours in `from`.
bool keepsNeighbours(AffineMap from, AffineMap to) {
  if (from.getNumResults() == 0 || to.getNumResults() == 0)
    return false;
  auto const loop = dyn_cast<AffineDimExpr>(to.getResults().back());
  return loop &&
         !simplifyAffineExpr(from.getResults().back() - loop, from.getNumDims(), 0).isFunctionOfDim(loop.getPosition());
}

/// A map that moves elements as they are.
bool isCopy(nest::MapOp map) {
  Block &body = map.getBody().front();
  return map.getInputs().size() == 1 && map.getExtras().empty() && body.getOperations().size() == 1 &&
         body.back().getOperand(0) == body.getArgument(0);
}

/// The index of the innermost dimension that varies; null if there is none.
AffineExpr innermostIndex(AffineMap map) {
  for (AffineExpr expr : llvm::reverse(map.getResults()))
    if (!isa<AffineConstantExpr>(expr))
      return expr;
  return {};
}

/// True if an operand lies across the innermost loop of what is written: such a map goes in squares.
bool isTurned(AffineMap from, AffineMap to) {
  auto const loop = dyn_cast_or_null<AffineDimExpr>(innermostIndex(to));
  AffineExpr const index = innermostIndex(from);
  return !loop || (index && from.isFunctionOfDim(loop.getPosition()) && !index.isFunctionOfDim(loop.getPosition()));
}

/// True if all outputs get their elements in one order.
bool storesAlike(nest::MapOp map) {
  SmallVector<AffineMap> const maps = map.getMaps();
  return llvm::all_equal(ArrayRef(maps).take_back(map.getOutputs().size())) &&
         llvm::all_of(map.getOutputs().drop_front(),
                      [&](Value output) { return haveSameShape(map.getOutputs()[0], output); });
}

/// Elementwise work along the same loop in all operands, which its body does not read by itself.
bool isPlainMap(nest::MapOp map) {
  SmallVector<AffineMap> const maps = map.getMaps();
  auto const type = cast<MemRefType>(map.getOutputs()[0].getType());
  if (maps.back().getNumResults() == 0 || !storesAlike(map) ||
      (type.hasStaticShape() && type.getNumElements() >= manyElements))
    return false;
  if (isCopy(map))
    return keepsNeighbours(maps[0], maps[1]);
  constexpr int64_t square = 8; // shorter dimensions are not turned in squares
  bool const isShort = llvm::any_of(type.getShape().take_back(1),
                                    [](int64_t extent) { return !ShapedType::isDynamic(extent) && extent < square; });
  auto const isPlain = [](Operation &op) {
    return isPure(&op) && op.getNumRegions() == 0 &&
           llvm::none_of(op.getOperandTypes(), llvm::IsaPred<BaseMemRefType>) && !isa<nest::PositionOp>(op);
  };
  return !map.getInputs().empty() && llvm::all_of(map.getBody().front().without_terminator(), isPlain) &&
         (isShort ||
          llvm::none_of(ArrayRef(maps).drop_back(), [&](AffineMap from) { return isTurned(from, maps.back()); }));
}

/// Operands that are read, with their maps.
SmallVector<std::pair<Value, AffineMap>> readsOf(nest::MapOp map) {
  SmallVector<std::pair<Value, AffineMap>> reads;
  SmallVector<AffineMap> const maps = map.getMaps();
  for (auto [number, value] : llvm::enumerate(map->getOperands().drop_back(map.getOutputs().size())))
    reads.push_back({value, maps[number]});
  return reads;
}

/// The number of the output of `first` that `second` reads as it writes its own: each element at its place. Nothing
/// where it reads, or first overwrites, other elements of that memory.
std::optional<unsigned> passedOn(nest::MapOp first, std::pair<Value, AffineMap> const &read) {
  SmallVector<AffineMap> const maps = first.getMaps();
  for (auto [number, output] : llvm::enumerate(first.getOutputs()))
    if (output == read.first && maps[first->getNumOperands() - first.getOutputs().size() + number] == read.second)
      return number;
  return std::nullopt;
}

/// True if everything that a body takes from outside is there at `place`.
bool isDefinedBefore(nest::MapOp map, Operation *place) {
  bool isDefined = true;
  map.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == place->getBlock())
        isDefined &= def->isBeforeInBlock(place);
  });
  return isDefined;
}

/// True if `later` reads what `earlier` writes, at least in part each element at its place.
bool isChain(nest::MapOp earlier, nest::MapOp later) {
  return llvm::any_of(readsOf(later), [&](auto const &read) { return passedOn(earlier, read).has_value(); });
}

/// Whether two maps are worth one kernel: one works on what the other writes, both are copies of one type, or they
/// store one type and work on the same memory.
bool belongTogether(nest::MapOp a, nest::MapOp b) {
  auto const typeOf = [](nest::MapOp map) { return getElementTypeOrSelf(map.getOutputs()[0].getType()); };
  if (isChain(a, b))
    return true;
  if (typeOf(a) != typeOf(b))
    return false;
  if (isCopy(a) && isCopy(b))
    return true;
  return llvm::any_of(readsOf(a), [&](auto const &left) {
    return llvm::any_of(readsOf(b), [&](auto const &right) { return rootOf(left.first) == rootOf(right.first); });
  });
}

/// Both at the place of `place`, which is one of them: what they read alike is read once, and what the second reads of
/// the first is what that computed.
nest::MapOp join(nest::MapOp first, nest::MapOp second, nest::MapOp place) {
  OpBuilder builder(place);
  SmallVector<std::pair<Value, AffineMap>> reads;
  SmallVector<Value> outputs;
  SmallVector<AffineMap> written;
  SmallVector<SmallVector<std::optional<unsigned>>> arguments; // of each body: numbers in `reads`, if they are read
  for (nest::MapOp map : {first, second}) {
    SmallVector<std::optional<unsigned>> &numbers = arguments.emplace_back();
    for (auto const &read : readsOf(map)) {
      if (map == second && passedOn(first, read)) {
        numbers.push_back(std::nullopt);
        continue;
      }
      auto *const found = llvm::find(reads, read);
      numbers.push_back(found - reads.begin());
      if (found == reads.end())
        reads.push_back(read);
    }
    llvm::append_range(outputs, map.getOutputs());
    llvm::append_range(written, ArrayRef(map.getMaps()).take_back(map.getOutputs().size()));
  }
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  for (auto const &[value, map] : reads) {
    inputs.push_back(value);
    maps.push_back(map);
  }
  llvm::append_range(maps, written);
  Location const location = fusedLocation(builder.getContext(), {first.getLoc(), second.getLoc()});
  auto both = builder.create<nest::MapOp>(location, TypeRange(), first.getLabel(), inputs, ValueRange(), outputs,
                                          builder.getAffineMapArrayAttr(maps));
  SmallVector<Type> types(inputs.size());
  for (auto const &[map, numbers] : llvm::zip(SmallVector<nest::MapOp>{first, second}, arguments))
    for (auto [argument, read] : llvm::zip(nest::MapOp(map).getBody().getArguments(), numbers))
      if (read)
        types[*read] = argument.getType();
  Block *body = builder.createBlock(&both.getBody(), {}, types, SmallVector<Location>(types.size(), location));
  SmallVector<Value> results;
  for (auto const &[map, numbers] : llvm::zip(SmallVector<nest::MapOp>{first, second}, arguments)) {
    Block &from = nest::MapOp(map).getBody().front();
    IRMapping mapping;
    for (auto [argument, read, operand] : llvm::zip(from.getArguments(), numbers, readsOf(map)))
      mapping.map(argument, read ? body->getArgument(*read) : results[*passedOn(first, operand)]);
    for (Operation &op : from.without_terminator())
      builder.clone(op, mapping);
    for (Value result : from.getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(result));
  }
  builder.create<nest::YieldOp>(location, results);
  first.erase();
  second.erase();
  return both;
}

/// Maps that store as many elements in the same order, and are not too much for one kernel.
bool areAlike(nest::MapOp a, nest::MapOp b) {
  constexpr unsigned mostOutputs = 4, mostOperands = 16, mostOperations = 64;
  AffineMap const map = a.getMaps().back();
  llvm::SmallBitVector known(map.getNumDims());
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      known.set(dim.getPosition());
  auto const size = [](nest::MapOp each) { return each.getBody().front().getOperations().size(); };
  return a->getBlock() == b->getBlock() && known.all() && map == b.getMaps().back() &&
         haveSameShape(a.getOutputs()[0], b.getOutputs()[0]) &&
         a.getOutputs().size() + b.getOutputs().size() <= mostOutputs &&
         a->getNumOperands() + b->getNumOperands() <= mostOperands && size(a) + size(b) <= mostOperations &&
         belongTogether(a, b);
}

/// True if `later` does the same right after `earlier`.
bool canFollow(nest::MapOp earlier, nest::MapOp later) {
  return llvm::all_of(readsOf(later),
                      [&](auto const &read) {
                        Operation *first = passedOn(earlier, read) ? earlier->getNextNode() : earlier;
                        return isFreeBetween(read.first, first, later, true);
                      }) &&
         llvm::all_of(later.getOutputs(), [&](Value output) { return isFreeBetween(output, earlier, later, false); });
}

/// True if `earlier` does the same right before `later`, and nothing but its own elements is what they share.
bool canWait(nest::MapOp earlier, nest::MapOp later) {
  Operation *next = earlier->getNextNode();
  return llvm::all_of(readsOf(earlier),
                      [&](auto const &read) { return isFreeBetween(read.first, next, later->getNextNode(), true); }) &&
         llvm::all_of(earlier.getOutputs(), [&](Value output) { return isFreeBetween(output, next, later, false); }) &&
         llvm::all_of(readsOf(later),
                      [&](auto const &read) {
                        return passedOn(earlier, read) || isFreeBetween(read.first, earlier, next, true);
                      }) &&
         llvm::all_of(later.getOutputs(), [&](Value output) { return isFreeBetween(output, earlier, next, false); });
}

/// Both as one kernel at the place of one of them; null if either has to stay where it is.
nest::MapOp joined(nest::MapOp earlier, nest::MapOp later) {
  if (canFollow(earlier, later) && isDefinedBefore(later, earlier) &&
      hoistAllBefore(later->getOperands(), earlier) == nullptr)
    return join(earlier, later, earlier);
  if (canWait(earlier, later))
    return join(earlier, later, later);
  return nullptr;
}

} // namespace

void joinMaps(func::FuncOp function) {
  constexpr unsigned most = 8; // that wait: time must not grow with the square of the program
  SmallVector<nest::MapOp> maps, open;
  function.walk([&](nest::MapOp map) {
    if (isPlainMap(map))
      maps.push_back(map);
  });
  for (nest::MapOp later : maps) {
    // What joins one may join another then: each of them stores one output more, and of those there are few
    for (auto *each = open.begin(); each != open.end();) {
      nest::MapOp const both = areAlike(*each, later) ? joined(*each, later) : nullptr;
      if (both)
        open.erase(each);
      each = both ? open.begin() : std::next(each);
      later = both ? both : later;
    }
    open.push_back(later);
    if (open.size() > most)
      open.erase(open.begin());
  }
}

} // namespace ml2k
