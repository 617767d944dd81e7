//===- ImportStepsLoop.cpp - the loop over steps that are alike ---------------------------------------------------===//

#include "translator/frontend/onnx/importer/StepImport.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

Value StepImport::indexOf(bool isReversed) {
  if (!isReversed)
    return index;
  if (!mirrored) {
    Value const last = build.extents.value(count - 1);
    OpBuilder::InsertionGuard const guard(build);
    build.setInsertionPointToStart(index.getParentBlock());
    if (Operation *op = last.getDefiningOp(); op && op->getBlock() == index.getParentBlock())
      build.setInsertionPointAfter(op);
    mirrored = build.create<arith::SubIOp>(last, index);
  }
  return mirrored;
}

/// `verb "name"` for a value that the text may call by the name that it has in the body, if that is a short word.
static Location named(Location location, StringRef verb, StringRef name, StringRef otherwise) {
  constexpr size_t longest = 16;
  bool const isWord = !name.empty() && name.size() <= longest && !llvm::isDigit(name.front()) &&
                      llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  StringRef const word = isWord ? name : otherwise;
  return NameLoc::get(StringAttr::get(location.getContext(), verb + " \"" + word + "\""), location);
}

Value StepImport::row(Value stack, Value at) {
  Sizes offsets(Build::rankOf(stack), build.getIndexAttr(0)), strides(Build::rankOf(stack), build.getIndexAttr(1)),
      extents = build.sizesOf(stack);
  offsets[0] = at;
  extents[0] = build.getIndexAttr(1);
  auto const type = RankedTensorType::get(Build::shapeOf(stack).drop_front(), Build::elementOf(stack));
  return build.create<tensor::ExtractSliceOp>(type, stack, offsets, extents, strides);
}

Value StepImport::insertRow(Value part, Value stack, Value at) {
  Sizes offsets(Build::rankOf(stack), build.getIndexAttr(0)), strides(Build::rankOf(stack), build.getIndexAttr(1)),
      extents = build.sizesOf(stack);
  offsets[0] = at;
  extents[0] = build.getIndexAttr(1);
  return build.create<tensor::InsertSliceOp>(part, stack, offsets, extents, strides);
}

/// The step of a sequence gets its name in the loop.
void StepImport::bind(std::string const &name, Scope &inner) {
  if (originOf(name) != Origin::sequence || inner.count(name))
    return;
  GraphValue part = scope[name];
  if (!part.isRefused) {
    part.value = row(importer.valueOf(part), indexOf(backwards.count(name) != 0));
    part.value.getDefiningOp()->setLoc(named(home, "load", name, "part"));
  }
  part.constant = {};
  inner[name] = part;
}

/// What is added to a matrix is not squeezed from [1, n] to [n] before.
void StepImport::keepRow(pb::NodeProto &node, int at, Scope &inner) {
  auto const maker = makers.find(node.input(at));
  auto const other = inner.find(node.input(1 - at)), addend = inner.find(node.input(at));
  if (maker == makers.end() || maker->second->op_type() != "Squeeze" || !isOnnx(*maker->second) ||
      maker->second->input_size() == 0)
    return;
  auto const whole = inner.find(maker->second->input(0));
  for (auto const &found : {other, addend, whole})
    if (found == inner.end() || found->second.isRefused)
      return;
  auto const type = whole->second.type();
  if (other->second.type().getRank() == 2 && addend->second.type().getRank() == 1 && type.getRank() == 2 &&
      type.getDimSize(0) == 1 && type.getDimSize(1) == addend->second.type().getDimSize(0))
    node.set_input(at, maker->second->input(0));
}

void StepImport::importStep(pb::NodeProto node, Scope &inner) {
  for (std::string const &name : namesRead(node))
    bind(name, inner);
  if (node.op_type() == "Add" && isOnnx(node) && node.input_size() == 2)
    for (int at : {0, 1})
      keepRow(node, at, inner);
  importer.importNode(node, inner, opsets);
}

/// A state after a step, in the type that it has before; nothing if its shape changes.
std::optional<Value> StepImport::nextOf(size_t at, Scope &inner, Value before) {
  GraphValue &state = found(stateOut(at), inner);
  Value const next = importer.valueOf(state);
  auto const type = Build::typeOf(before);
  if (!state.counts.empty() || type.getElementType() != Build::elementOf(next) ||
      build.extentsOf(next) != build.extentsOf(before))
    return std::nullopt;
  return build.casted(next, type);
}

/// What a name of the body is in the loop.
GraphValue &StepImport::found(std::string const &name, Scope &inner) {
  bind(name, inner);
  auto const place = inner.find(name);
  if (place == inner.end())
    throw Refusal("output \"" + Twine(name) + "\" of its body is made by no node");
  if (place->second.isRefused)
    throw Refusal("its body is not supported");
  return place->second;
}

/// Imports the body into a loop that carries the states; false if it is none after all.
bool StepImport::fillLoop(scf::ForOp steps) {
  OpBuilder::InsertionGuard const guard(build);
  if (!steps.getBody()->empty()) // a loop that carries nothing has its end already
    steps.getBody()->back().erase();
  build.setInsertionPointToEnd(steps.getBody());
  index = steps.getInductionVar();
  Scope inner = scope;
  for (auto const &[name, origin] : origins)
    if (origin != Origin::fixed)
      inner.erase(name);
  for (auto [at, argument] : llvm::zip(carried, steps.getRegionIterArgs()))
    inner[stateIn(at)] = GraphValue{loop.states[at].name, loop.states[at].dataType, argument, {}};
  for (pb::NodeProto const &node : perStep)
    importStep(node, inner);
  bool isLoop = true;
  for (auto [at, argument] : llvm::zip(carried, steps.getRegionIterArgs())) {
    auto const next = nextOf(at, inner, argument);
    isLoop &= next.has_value();
    yielded.push_back(next.value_or(argument));
  }
  for (size_t at : written) {
    GraphValue &output = found(scanOut(at), inner);
    isLoop &= output.counts.empty();
    rows.push_back({importer.valueOf(output), indexOf(loop.reversedOut[at] != 0), output.dataType});
    for (Extent const &extent : build.extentsOf(rows.back().value))
      isLoop &= build.extents.isOfHome(extent);
  }
  return isLoop && !steps.getBody()->walk([](cf::AssertOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

void StepImport::discard(scf::ForOp steps) {
  steps->remove();
  steps->dropAllReferences();
  importer.discarded.emplace_back(steps);
}

/// The same loop, which carries the outputs of its steps as well.
scf::ForOp StepImport::withOutputs(scf::ForOp steps) {
  build.setInsertionPoint(steps);
  build.setLoc(home); // not that of the last node of the body
  llvm::SmallVector<Value> inits;
  llvm::append_range(inits, steps.getInitArgs());
  size_t const states = inits.size();
  for (Row const &part : rows) {
    std::vector<Extent> extents = build.extentsOf(part.value);
    extents.insert(extents.begin(), count);
    inits.push_back(build.empty(build.sizesFor(extents), Build::elementOf(part.value)));
  }
  auto whole = build.create<scf::ForOp>(steps.getLowerBound(), steps.getUpperBound(), steps.getStep(), inits);
  whole.getBody()->getOperations().splice(whole.getBody()->end(), steps.getBody()->getOperations());
  for (auto [before, now] : llvm::zip(steps.getBody()->getArguments(), whole.getBody()->getArguments()))
    before.replaceAllUsesWith(now);
  for (auto [at, argument] : llvm::zip(carried, whole.getRegionIterArgs()))
    argument.setLoc(named(argument.getLoc(), "argument", stateIn(at), "state"));
  auto const now = [&](Value value) {
    auto const argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == steps.getBody() ? whole.getBody()->getArgument(argument.getArgNumber())
                                                              : value;
  };
  build.setInsertionPointToEnd(whole.getBody());
  llvm::SmallVector<Value> all = llvm::map_to_vector(yielded, now);
  for (auto [part, stack] : llvm::zip(rows, whole.getRegionIterArgs().drop_front(states)))
    all.push_back(insertRow(now(part.value), stack, now(part.place)));
  build.create<scf::YieldOp>(all);
  discard(steps);
  build.setInsertionPointAfter(whole);
  return whole;
}

std::optional<StepImport::Values> StepImport::makeLoop() {
  build.setLoc(home);
  for (size_t at = 0; at < scanCount(); ++at)
    if (!isWhole(at))
      written.push_back(at);
  if (carried.empty() && written.empty())
    return results({});
  llvm::SmallVector<Value> first;
  for (size_t at : carried) {
    GraphValue state = loop.states[at];
    first.push_back(importer.valueOf(state));
  }
  auto const number = [&](int64_t value) { return build.create<arith::ConstantIndexOp>(value); };
  Value const zero = number(0), upper = build.extents.value(count), one = number(1);
  auto steps = build.create<scf::ForOp>(zero, upper, one, first);
  if (!fillLoop(steps)) {
    discard(steps);
    return std::nullopt;
  }
  scf::ForOp const whole = withOutputs(steps);
  std::vector<GraphValue> made;
  for (auto [at, result] : llvm::zip(carried, ValueRange(whole->getResults())))
    made.push_back(GraphValue{loop.states[at].name, loop.states[at].dataType, result, {}});
  for (auto [at, row, result] : llvm::zip(written, rows, ValueRange(whole->getResults()).drop_front(first.size())))
    made.push_back(GraphValue{scanOut(at), row.dataType, result, {}});
  return results(made);
}

/// An output that is known for all steps, in their order.
bool StepImport::isWhole(size_t scan) const {
  std::string const &name = scanOut(scan);
  return originOf(name) == Origin::sequence && !scope.at(name).isRefused &&
         (backwards.count(name) != 0) == (loop.reversedOut[scan] != 0);
}

/// States, then outputs, of what the loop made of them.
StepImport::Values StepImport::results(ArrayRef<GraphValue> made) {
  Values all = loop.states;
  for (size_t at = 0; at < loop.states.size(); ++at)
    if (originOf(stateIn(at)) == Origin::step) {
      Type const type = loop.states[at].type().getElementType();
      int64_t const last = numbers[stateIn(at)].offset + *count.number();
      all[at].constant = DenseElementsAttr::get(RankedTensorType::get({}, type), build.getIntegerAttr(type, last));
      all[at].value = {};
    }
  for (auto [state, at] : llvm::zip(made, carried))
    all[at] = state;
  ArrayRef<GraphValue> rows = made.drop_front(carried.size());
  for (size_t at = 0; at < scanCount(); ++at) {
    bool const isRow = !rows.empty() && llvm::is_contained(written, at);
    all.push_back(isRow ? rows.front() : scope[scanOut(at)]);
    rows = rows.drop_front(isRow);
  }
  return all;
}

} // namespace ml2k::frontend
