//===- Recurrent.cpp - LSTM, GRU and RNN --------------------------------------------------------------------------===//
//
// The products of the whole sequence with W come first, as one matmul; a step is a matmul of the state with R and
// elementwise gates. The state lives in the iteration arguments of an scf.for, the sequence of outputs is written into
// a tensor row by row.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {

using Activation = std::function<Value(Scalars &, Value)>;

/// What the three operators have in common. Shapes of the specification: X [seq, batch, input], W [dirs, gates *
/// hidden, input], R [dirs, gates * hidden, hidden], B [dirs, 2 * gates * hidden], states [dirs, batch, hidden].
struct Recurrent {
  Node &node;
  int64_t gates, hidden, directions;
  Extent steps, batch;
  llvm::SmallVector<Activation> activations;
  double clip;
  bool isBatchFirst; // layout 1: X [batch, seq, input], states [batch, dirs, hidden]

  /// An input or state with the sequence, or the directions, in front, in the shape that describe() has checked.
  Value in(size_t at) const {
    Ints const shape{at == 0 ? Extents::shaped(steps) : directions, Extents::shaped(batch),
                     at == 0 ? node.shape(1)[2] : hidden};
    Value const x = isBatchFirst ? node.b.transpose(node.in(at), {1, 0, 2}) : node.in(at);
    return node.b.casted(x, tensorType(shape, node.element(at)));
  }
};

/// One direction.
struct Direction {
  Recurrent const &net;
  int64_t index;
  bool isReverse;
  Value projected; // [steps, batch, gates * hidden]: X * W' + Wb
  Value weight;    // [hidden, gates * hidden]: R'
  Value bias;      // [gates * hidden] or null: Rb

  Build &b() const { return net.node.b; }
  Activation const &activation(int64_t at) const {
    int64_t const perDirection = net.activations.size() / net.directions;
    return net.activations[index * perDirection + at];
  }
};

/// New states from this step's projection [batch, gates * hidden] and the states; the first is the output.
using Step = std::function<llvm::SmallVector<Value>(Direction const &, Value, ValueRange)>;

} // namespace

//===--- Attributes -----------------------------------------------------------------------------------------------===//

static Activation activationOf(Node &node, StringRef name, double alpha, double beta) {
  if (name.equals_insensitive("sigmoid"))
    return [](Scalars &s, Value x) { return s.sigmoid(x); };
  if (name.equals_insensitive("tanh"))
    return [](Scalars &s, Value x) { return s.tanh(x); };
  if (name.equals_insensitive("relu"))
    return [](Scalars &s, Value x) { return s.max(x, s.constantLike(x, 0)); };
  if (name.equals_insensitive("affine"))
    return [=](Scalars &s, Value x) { return s.add(s.mul(s.constantLike(x, alpha), x), s.constantLike(x, beta)); };
  if (name.equals_insensitive("hardsigmoid"))
    return [=](Scalars &s, Value x) {
      Value const line = s.add(s.mul(s.constantLike(x, alpha), x), s.constantLike(x, beta));
      return s.min(s.max(line, s.constantLike(x, 0)), s.constantLike(x, 1));
    };
  node.refuse("activation \"" + name + "\" is not supported");
}

static llvm::SmallVector<Activation> activationsOf(Node &node, ArrayRef<StringRef> usual, int64_t directions) {
  llvm::SmallVector<Activation> activations;
  auto const *names = node.attribute("activations");
  auto const *alphas = node.attribute("activation_alpha"), *betas = node.attribute("activation_beta");
  if (names && names->strings_size() != static_cast<int>(usual.size() * directions))
    node.refuse(Twine(names->strings_size()) + " activations are given, " + Twine(usual.size() * directions) +
                " are needed");
  for (int at = 0; at < static_cast<int>(usual.size() * directions); ++at) {
    StringRef const name = names ? StringRef(names->strings(at)) : usual[at % usual.size()];
    bool const isHard = name.equals_insensitive("hardsigmoid");
    double const alpha = alphas && at < alphas->floats_size() ? alphas->floats(at) : isHard ? 0.2 : 1.0;
    double const beta = betas && at < betas->floats_size() ? betas->floats(at) : isHard ? 0.5 : 0.0;
    activations.push_back(activationOf(node, name, alpha, beta));
  }
  return activations;
}

static Recurrent describe(Node &node, int64_t gates, ArrayRef<StringRef> usualActivations) {
  node.needFloat(0);
  for (size_t at : {0, 1, 2})
    node.needRank(at, 3, 3);
  node.needStatic(1);
  node.needStatic(2);
  bool const isBatchFirst = node.intAttr("layout", 0) != 0;
  std::vector<Extent> const extents = node.extents(0);
  Extent const steps = extents[isBatchFirst ? 1 : 0];
  Extent batch = extents[isBatchFirst ? 0 : 1];
  if (node.has(4)) {
    for (Extent const &length : node.shapeInput(4, "sequence_lens"))
      if (!(length == steps))
        node.refuse("sequences of different lengths are not supported");
  }
  std::string const direction = node.stringAttr("direction", "forward");
  int64_t const directions = direction == "bidirectional" ? 2 : 1, hidden = node.shape(2)[2];
  if (node.shape(1)[0] != directions || node.shape(2)[0] != directions || node.shape(1)[1] != gates * hidden ||
      node.shape(2)[1] != gates * hidden || extents[2].number().value_or(node.shape(1)[2]) != node.shape(1)[2])
    node.refuse("X " + shapeText(node.shape(0)) + ", W " + shapeText(node.shape(1)) + " and R " +
                shapeText(node.shape(2)) + " do not fit");
  node.b.extents.requireEqual(extents[2], node.shape(1)[2]);
  if (node.has(3) && node.shape(3) != IntsRef({directions, 2 * gates * hidden}))
    node.refuse("B has shape " + shapeText(node.shape(3)));
  Ints state{directions, Extents::shaped(batch), hidden};
  if (isBatchFirst)
    std::swap(state[0], state[1]);
  for (size_t at : {5, 6}) {
    if (!node.has(at))
      continue;
    if (node.rank(at) != 3 || failed(verifyCompatibleShape(node.shape(at), state)))
      node.refuse("initial state " + Twine(at) + " has shape " + shapeText(node.shape(at)) + ", " + shapeText(state) +
                  " is needed");
    for (auto [dim, extent] : llvm::enumerate(node.extents(at))) {
      bool const isBatch = dim == (isBatchFirst ? 0 : 1);
      node.b.extents.requireEqual(extent, isBatch ? batch : Extent(state[dim]));
      if (isBatch && extent.number())
        batch = extent; // what a state knows of it
    }
  }
  if (node.has(7) && node.shape(7) != IntsRef({directions, 3 * hidden}))
    node.refuse("P has shape " + shapeText(node.shape(7)));
  auto const activations = activationsOf(node, usualActivations, directions);
  double const clip = node.floatAttr("clip", 0.0);
  return {node, gates, hidden, directions, steps, batch, activations, clip, isBatchFirst};
}

//===--- The loop over the sequence -------------------------------------------------------------------------------===//

/// A row of a stack of tensors, without its first dimension.
static Value rowOf(Build &b, Value stack, int64_t row) { return b.squeeze(b.slice(stack, 0, row, 1), {0}); }

static Direction prepare(Recurrent const &net, int64_t index) {
  Node &node = net.node;
  Build &b = node.b;
  bool const isReverse = index == 1 || node.stringAttr("direction", "forward") == "reverse";
  int64_t const width = net.gates * net.hidden;
  Value const flat = b.reshapeTo(net.in(0), {net.steps * net.batch, Extent(node.shape(1)[2])});
  Value const weight = b.transpose(rowOf(b, node.in(1), index), {1, 0});
  Value product = b.matmul(flat, weight);
  Value bias;
  if (node.has(3)) {
    Value const both = rowOf(b, node.in(3), index);
    Value const ofInput = b.slice(both, 0, 0, width);
    product = b.alongAxis(product, {ofInput}, 1, [](Scalars &s, ValueRange v) { return s.add(v[0], v[1]); });
    bias = b.slice(both, 0, width, width);
  }
  Value const projected = b.reshapeTo(product, {net.steps, net.batch, Extent(width)});
  return {net, index, isReverse, projected, b.transpose(rowOf(b, node.in(2), index), {1, 0}), bias};
}

static Value initialState(Direction const &direction, size_t input) {
  Build &b = direction.b();
  Recurrent const &net = direction.net;
  if (net.node.has(input))
    return rowOf(b, net.in(input), direction.index);
  return b.initial(b.sizesFor({net.batch, Extent(net.hidden)}), net.node.element(0), Build::Fold::sum);
}

/// Row `step` of [steps, ...] tensors, at run time.
static Value rowAt(Build &b, Value stack, Value step) {
  Ints const shape(Build::shapeOf(stack));
  Sizes offsets(shape.size(), b.getIndexAttr(0)), strides(shape.size(), b.getIndexAttr(1)), extents = b.sizesOf(stack);
  offsets[0] = step;
  extents[0] = b.getIndexAttr(1);
  auto const type = RankedTensorType::get(IntsRef(shape).drop_front(), Build::elementOf(stack));
  return b.create<tensor::ExtractSliceOp>(type, stack, offsets, extents, strides);
}

static Value insertRow(Build &b, Value row, Value stack, Value step) {
  Ints const shape(Build::shapeOf(stack));
  Sizes offsets(shape.size(), b.getIndexAttr(0)), strides(shape.size(), b.getIndexAttr(1)), extents = b.sizesOf(stack);
  offsets[0] = step;
  extents[0] = b.getIndexAttr(1);
  return b.create<tensor::InsertSliceOp>(row, stack, offsets, extents, strides);
}

/// The sequence of outputs [steps, batch, hidden], then the last states.
static llvm::SmallVector<Value> runDirection(Direction const &direction, ArrayRef<Value> states, Step const &step) {
  Build &b = direction.b();
  Recurrent const &net = direction.net;
  Value const sequence = b.empty(b.sizesFor({net.steps, net.batch, Extent(net.hidden)}), net.node.element(0));
  Value const last = direction.isReverse ? b.extents.value(net.steps - 1) : Value();
  llvm::SmallVector<Value> carried{sequence};
  carried.append(states.begin(), states.end());
  auto index = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(value); };
  auto loop = b.create<scf::ForOp>(index(0), b.extents.value(net.steps), index(1), carried);
  OpBuilder::InsertionGuard const guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value at = loop.getInductionVar();
  if (direction.isReverse)
    at = b.create<arith::SubIOp>(last, at);
  Value const projected = rowAt(b, direction.projected, at);
  llvm::SmallVector<Value> const next = step(direction, projected, loop.getRegionIterArgs().drop_front());
  llvm::SmallVector<Value> yielded{insertRow(b, next[0], loop.getRegionIterArg(0), at)};
  yielded.append(next.begin(), next.end());
  b.create<scf::YieldOp>(yielded);
  return llvm::to_vector(llvm::map_range(loop.getResults(), [](Value value) { return value; }));
}

/// Runs every direction and stacks the results: Y [steps, dirs, batch, hidden] and the last states [dirs, batch,
/// hidden].
static void run(Recurrent const &net, ArrayRef<size_t> stateInputs, Step const &step) {
  Node &node = net.node;
  Build &b = node.b;
  llvm::SmallVector<llvm::SmallVector<Value>> results(1 + stateInputs.size());
  for (int64_t index = 0; index < net.directions; ++index) {
    std::optional<Part> part;
    if (index > 0)
      part.emplace(b, "reverse");
    Direction const direction = prepare(net, index);
    llvm::SmallVector<Value> states;
    for (size_t input : stateInputs)
      states.push_back(initialState(direction, input));
    auto const done = runDirection(direction, states, step);
    results[0].push_back(b.unsqueeze(done[0], {1}));
    for (size_t at = 1; at < done.size(); ++at)
      results[at].push_back(b.unsqueeze(done[at], {0}));
  }
  for (auto [at, parts] : llvm::enumerate(results)) {
    Value const stacked = b.concat(parts, at == 0 ? 1 : 0);
    Ints const batchFirst = at == 0 ? Ints{2, 0, 1, 3} : Ints{1, 0, 2};
    node.out(at, net.isBatchFirst ? b.transpose(stacked, batchFirst) : stacked);
  }
}

//===--- Steps ----------------------------------------------------------------------------------------------------===//

namespace {
/// An elementwise formula over [batch, hidden] whose operands are gates (columns of [batch, gates * hidden]), states
/// and gate biases (parts of [gates * hidden]).
class Gates {
public:
  explicit Gates(Direction const &direction) : direction(direction) {}
  size_t add(Value x, int64_t gate) {
    int64_t const last = Build::rankOf(x) - 1, hidden = direction.net.hidden;
    inputs.push_back(b().slice(x, last, gate * hidden, hidden));
    maps.push_back(last == 0 ? b().selectDims(2, {1}) : b().identityMap(2));
    return inputs.size() - 1;
  }
  size_t addState(Value x) {
    inputs.push_back(x);
    maps.push_back(b().identityMap(2));
    return inputs.size() - 1;
  }
  /// Overwrites a state.
  Value build(Value state, Formula formula) { return b().mapInto(state, inputs, maps, formula); }

private:
  Build &b() const { return direction.b(); }
  Direction const &direction;
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<AffineMap> maps;
};
} // namespace

static Value clipped(Scalars &s, Value x, double bound) {
  return bound == 0 ? x : s.min(s.max(x, s.constantLike(x, -bound)), s.constantLike(x, bound));
}

/// Gate `gate` before its activation: projection + state * R' (+ bias).
static Value preActivation(Scalars &s, ValueRange v, size_t first, bool hasBias) {
  Value const sum = s.add(v[first], v[first + 1]);
  return hasBias ? s.add(sum, v[first + 2]) : sum;
}

static size_t addGate(Gates &gates, Direction const &direction, Value projected, Value product, int64_t gate) {
  size_t const first = gates.add(projected, gate);
  gates.add(product, gate);
  if (direction.bias)
    gates.add(direction.bias, gate);
  return first;
}

/// Gates i, o, f, c; states h, c. Peepholes p [i, o, f].
static llvm::SmallVector<Value> stepLSTM(Direction const &direction, Value projected, ValueRange states, Value peep) {
  Build &b = direction.b();
  bool const hasBias = direction.bias != nullptr;
  double const clip = direction.net.clip;
  Value const product = b.matmul(states[0], direction.weight);
  auto gate = [&](Scalars &s, ValueRange v, size_t first, int64_t activation, Value peeked, Value state) {
    Value x = preActivation(s, v, first, hasBias);
    if (peeked)
      x = s.add(x, s.mul(peeked, state));
    return direction.activation(activation)(s, clipped(s, x, clip));
  };
  Gates forCell(direction);
  size_t const i = addGate(forCell, direction, projected, product, 0);
  size_t const f = addGate(forCell, direction, projected, product, 2);
  size_t const c = addGate(forCell, direction, projected, product, 3);
  size_t const before = forCell.addState(states[1]);
  size_t const peepI = peep ? forCell.add(peep, 0) : 0, peepF = peep ? forCell.add(peep, 2) : 0;
  Value const cell = forCell.build(states[1], [&](Scalars &s, ValueRange v) {
    Value const input = gate(s, v, i, 0, peep ? v[peepI] : Value(), v[before]);
    Value const forget = gate(s, v, f, 0, peep ? v[peepF] : Value(), v[before]);
    Value const candidate = gate(s, v, c, 1, Value(), Value());
    return s.add(s.mul(forget, v[before]), s.mul(input, candidate));
  });
  Gates forOutput(direction);
  size_t const o = addGate(forOutput, direction, projected, product, 1);
  size_t const now = forOutput.addState(cell);
  size_t const peepO = peep ? forOutput.add(peep, 1) : 0;
  Value const output = forOutput.build(states[0], [&](Scalars &s, ValueRange v) {
    Value const open = gate(s, v, o, 0, peep ? v[peepO] : Value(), v[now]);
    return s.mul(open, direction.activation(2)(s, v[now]));
  });
  return {output, cell};
}

static void importLSTM(Node &node) {
  if (node.intAttr("input_forget", 0))
    node.refuse("input_forget is not supported");
  Recurrent const net = describe(node, 4, {"Sigmoid", "Tanh", "Tanh"});
  run(net, {5, 6}, [&](Direction const &direction, Value projected, ValueRange states) {
    Value const peep = node.has(7) ? rowOf(node.b, node.in(7), direction.index) : Value();
    return stepLSTM(direction, projected, states, peep);
  });
}

static void importRNN(Node &node) {
  Recurrent const net = describe(node, 1, {"Tanh"});
  run(net, {5}, [&](Direction const &direction, Value projected, ValueRange states) {
    Value const product = node.b.matmul(states[0], direction.weight);
    Gates gates(direction);
    addGate(gates, direction, projected, product, 0);
    return llvm::SmallVector<Value>{gates.build(states[0], [&](Scalars &s, ValueRange v) {
      Value const x = preActivation(s, v, 0, direction.bias != nullptr);
      return direction.activation(0)(s, clipped(s, x, net.clip));
    })};
  });
}

/// The columns of one gate of [hidden, gates * hidden] or [gates * hidden].
static Value columns(Build &b, Value x, int64_t gate, int64_t count, int64_t hidden) {
  return b.slice(x, Build::rankOf(x) - 1, gate * hidden, count * hidden);
}

/// Gates z, r, h. Without linear_before_reset the state is reset before its product with Rh.
static llvm::SmallVector<Value> stepGRU(Direction const &direction, Value projected, ValueRange states, bool isLinear) {
  Build &b = direction.b();
  int64_t const hidden = direction.net.hidden;
  bool const hasBias = direction.bias != nullptr;
  double const clip = direction.net.clip;
  auto gate = [&](Scalars &s, ValueRange v, size_t first) {
    return direction.activation(0)(s, clipped(s, preActivation(s, v, first, hasBias), clip));
  };
  Value const product = b.matmul(states[0], isLinear ? direction.weight : columns(b, direction.weight, 0, 2, hidden));
  Value candidateProduct;
  if (!isLinear) {
    Gates forReset(direction);
    size_t const r = addGate(forReset, direction, projected, product, 1), h = forReset.addState(states[0]);
    Value const reset = forReset.build(b.empty(b.sizesOf(states[0]), Build::elementOf(states[0])),
                                       [&](Scalars &s, ValueRange v) { return s.mul(gate(s, v, r), v[h]); });
    candidateProduct = b.matmul(reset, columns(b, direction.weight, 2, 1, hidden));
  }
  Gates gates(direction);
  size_t const z = addGate(gates, direction, projected, product, 0);
  size_t const r = isLinear ? addGate(gates, direction, projected, product, 1) : 0;
  size_t const x = gates.add(projected, 2);
  size_t const y = isLinear ? gates.add(product, 2) : gates.addState(candidateProduct);
  size_t const bias = hasBias ? gates.add(direction.bias, 2) : 0;
  size_t const h = gates.addState(states[0]);
  return {gates.build(states[0], [&](Scalars &s, ValueRange v) {
    Value recurrent = hasBias ? s.add(v[y], v[bias]) : v[y];
    if (isLinear)
      recurrent = s.mul(gate(s, v, r), recurrent);
    Value const candidate = direction.activation(1)(s, clipped(s, s.add(v[x], recurrent), clip));
    Value const update = gate(s, v, z);
    Value const fresh = s.mul(s.sub(s.constantLike(update, 1), update), candidate);
    return s.add(fresh, s.mul(update, v[h]));
  })};
}

static void importGRU(Node &node) {
  Recurrent const net = describe(node, 3, {"Sigmoid", "Tanh"});
  bool const isLinear = node.intAttr("linear_before_reset", 0);
  run(net, {5}, [&](Direction const &direction, Value projected, ValueRange states) {
    return stepGRU(direction, projected, states, isLinear);
  });
}

void registerRecurrent(Registry &table) {
  table.add("LSTM", {7, 14, 22}, importLSTM);
  table.add("GRU", {7, 14, 22}, importGRU);
  table.add("RNN", {7, 14, 22}, importRNN);
  table.addUnsupported("LSTM", {1});
  table.addUnsupported("GRU", {1, 3});
  table.addUnsupported("RNN", {1});
}

} // namespace ml2k::frontend
