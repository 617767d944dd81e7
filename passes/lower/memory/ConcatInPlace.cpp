//===- ConcatInPlace.cpp - concatenations that contain each other -------------------------------------------------===//
//
// Bufferization (ir/NestBufferize.cpp) gives each concatenation one buffer and copies its inputs into slices of that;
// what is only copied there is computed there in the end (ForwardCopies.cpp).
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CONCATINPLACE
#include "passes/Passes.h.inc"

namespace {

/// Where the inputs of `part` stand next to each other among those of `whole`.
std::optional<unsigned> findInputs(tensor::ConcatOp part, tensor::ConcatOp whole) {
  auto const few = part.getInputs(), many = whole.getInputs();
  for (unsigned i = 0; i + few.size() <= many.size(); ++i)
    if (ValueRange(many.slice(i, few.size())) == ValueRange(few))
      return i;
  return std::nullopt;
}

/// Concatenations seen so far with their place in the program, by their first two inputs.
using Starts = DenseMap<std::pair<Value, Value>, SmallVector<std::pair<unsigned, tensor::ConcatOp>>>;

/// Those whose first inputs are neighbours in `whole`, the last first.
SmallVector<tensor::ConcatOp> partsOf(tensor::ConcatOp whole, Starts const &starts) {
  SmallVector<std::pair<unsigned, tensor::ConcatOp>> found;
  auto const inputs = whole.getInputs();
  for (unsigned i = 0; i + 1 < inputs.size(); ++i)
    if (auto const start = starts.find({inputs[i], inputs[i + 1]}); start != starts.end())
      found.append(start->second);
  llvm::sort(found, [](auto const &a, auto const &b) { return a.first > b.first; });
  return llvm::map_to_vector(found, [](auto const &entry) { return entry.second; });
}

/// Replaces neighbouring inputs of `whole` by a concatenation of just these; false if there is none.
bool takeWhole(tensor::ConcatOp whole, Starts const &starts, DominanceInfo &dominance) {
  for (tensor::ConcatOp part : partsOf(whole, starts)) {
    auto const at = findInputs(part, whole);
    if (!at || part.getDim() != whole.getDim() || part.getInputs().size() == whole.getInputs().size() ||
        !dominance.properlyDominates(part.getOperation(), whole))
      continue;
    SmallVector<Value> inputs(whole.getInputs());
    inputs.erase(inputs.begin() + *at, inputs.begin() + *at + part.getInputs().size());
    inputs.insert(inputs.begin() + *at, part.getResult());
    whole.getInputsMutable().assign(inputs);
    return true;
  }
  return false;
}

/// Dense blocks concatenate everything so far again and again: concat(a, b, c) becomes concat(concat(a, b), c), and the
/// inner one later is a slice of the outer one.
void nest(func::FuncOp function) {
  DominanceInfo dominance(function);
  Starts starts;
  unsigned count = 0;
  function.walk([&](tensor::ConcatOp whole) {
    while (takeWhole(whole, starts, dominance))
      ; // concat(a, b) first, then concat(concat(a, b), c)
    auto const inputs = whole.getInputs();
    if (inputs.size() > 1)
      starts[{inputs[0], inputs[1]}].push_back({count++, whole});
  });
}

/// True for a concatenation that only serves another one along the same axis.
bool isPart(tensor::ConcatOp part) {
  auto whole = part && part->hasOneUse() ? dyn_cast<tensor::ConcatOp>(*part->getUsers().begin()) : tensor::ConcatOp();
  return whole && part.getDim() == whole.getDim();
}

bool isPart(Value input) { return isPart(input.getDefiningOp<tensor::ConcatOp>()); }

/// concat(concat(a, b), c) becomes concat(a, b, c) where nobody else asks for concat(a, b), and where there are many:
/// each level turns all slices inside it into slices of its own. A few keep the names of their operations.
void flatten(tensor::ConcatOp whole) {
  if (llvm::none_of(whole.getInputs(), [](Value input) { return isPart(input); }))
    return;
  SmallVector<Value> inputs, rest = llvm::to_vector(llvm::reverse(whole.getInputs()));
  SmallVector<tensor::ConcatOp> parts;
  while (!rest.empty()) {
    Value const input = rest.pop_back_val();
    if (!isPart(input)) {
      inputs.push_back(input);
      continue;
    }
    parts.push_back(input.getDefiningOp<tensor::ConcatOp>());
    llvm::append_range(rest, llvm::reverse(parts.back().getInputs()));
  }
  constexpr size_t few = 8;
  if (parts.size() <= few)
    return;
  whole.getInputsMutable().assign(inputs);
  for (tensor::ConcatOp part : parts) // each reads the next ones
    part.erase();
}

struct ConcatInPlace : impl::ConcatInPlaceBase<ConcatInPlace> {
  void runOnOperation() override {
    SmallVector<tensor::ConcatOp> wholes;
    getOperation().walk([&](tensor::ConcatOp concat) {
      if (!isPart(concat))
        wholes.push_back(concat);
    });
    llvm::for_each(wholes, flatten);
    nest(getOperation());
  }
};

} // namespace
} // namespace ml2k
