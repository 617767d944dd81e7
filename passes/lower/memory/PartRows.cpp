//===- PartRows.cpp - rows of which only the ends are clamped or mirrored -----------------------------------------===//
//
// Pad by edges or mirroring reads x(.., min(max(j - 2, 0), last)) for every j: a gather. In the inside of a row the
// choices are always the same, and it is a copy: the kernel becomes one for each end and one for the inside, whose
// results are concatenated.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/Labels.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_PARTROWS
#include "passes/Passes.h.inc"

namespace {

/// Insides from so long on are kernels of their own, in rows up to so long, which are walked through here.
constexpr int64_t least = 16, most = 1 << 16;
/// Fewer elements take less time than more launches.
constexpr int64_t fewElements = 1 << 14;

/// A part of the rows: positions begin to end, and which operand each choice of the body takes there, if always one.
struct Part {
  int64_t begin = 0, end = 0;
  DenseMap<Operation *, unsigned> choices;

  Part(int64_t begin, int64_t end) : begin(begin), end(end) {}
};

/// The values of a body that follow from the position along the row and from constants.
struct Positions {
  DenseMap<Value, int64_t> values;
  DenseMap<Operation *, unsigned> choices; ///< of minima and maxima: the operand that they are

  Positions(Block &body, unsigned dim, int64_t position);
  std::optional<int64_t> of(Value value) const;
};

std::optional<int64_t> Positions::of(Value value) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  auto const found = values.find(value);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

Positions::Positions(Block &body, unsigned dim, int64_t position) {
  for (Operation &op : body) {
    if (auto index = dyn_cast<nest::IndexOp>(op); index && index.getDim() == dim)
      values[index] = position;
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp>(op))
      continue;
    std::optional<int64_t> const a = of(op.getOperand(0)), b = of(op.getOperand(1));
    if (!a || !b)
      continue;
    bool const isMax = isa<arith::MaxSIOp>(op);
    if (isMax || isa<arith::MinSIOp>(op)) {
      choices[&op] = isMax ? *a < *b : *b < *a;
      values[op.getResult(0)] = isMax ? std::max(*a, *b) : std::min(*a, *b);
    } else
      values[op.getResult(0)] = isa<arith::AddIOp>(op) ? *a + *b : *a - *b;
  }
}

/// The loop of the last dimension, if its positions need no input and are all of an output of known length.
std::optional<unsigned> rowLoop(nest::MapOp map) {
  if (!map.getInputs().empty() || map.getOutputs().size() != 1 || map.getNumResults() != 1)
    return std::nullopt;
  auto const type = cast<RankedTensorType>(map.getResult(0).getType());
  AffineMap const place = map.getMaps().back();
  if (type.getRank() == 0 || !place.isIdentity() || type.isDynamicDim(type.getRank() - 1))
    return std::nullopt;
  int64_t const length = type.getShape().back();
  int64_t elements = 1;
  for (int64_t const extent : type.getShape())
    elements *= ShapedType::isDynamic(extent) ? 1 : extent;
  return length < least || length > most || elements < fewElements ? std::nullopt
                                                                   : std::optional<unsigned>(type.getRank() - 1);
}

/// The longest run of positions with the same choices, and what is in front of it and behind it.
SmallVector<Part> partsOf(nest::MapOp map, unsigned dim) {
  int64_t const length = cast<RankedTensorType>(map.getResult(0).getType()).getShape().back();
  Part run(0, 0), longest(0, 0);
  for (int64_t position = 0; position < length; ++position) {
    Positions const here(map.getBody().front(), dim, position);
    if (position == 0 || here.choices != run.choices) {
      run = Part(position, position);
      run.choices = here.choices;
    }
    run.end = position + 1;
    if (run.end - run.begin > longest.end - longest.begin)
      longest = run;
  }
  SmallVector<Part> parts{Part(0, longest.begin), longest, Part(longest.end, length)};
  llvm::erase_if(parts, [](Part const &part) { return part.begin == part.end; });
  bool const isWorth = parts.size() > 1 && longest.end - longest.begin >= std::max(least, length / 2);
  return isWorth ? parts : SmallVector<Part>();
}

/// The body at positions that count from the begin of the part, with its choices made.
void cloneBody(OpBuilder &builder, nest::MapOp from, nest::MapOp to, unsigned dim, Part const &part) {
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&to.getBody());
  IRMapping mapping;
  for (Operation &op : from.getBody().front()) {
    if (auto const choice = part.choices.find(&op); choice != part.choices.end()) {
      mapping.map(op.getResult(0), mapping.lookupOrDefault(op.getOperand(choice->second)));
      continue;
    }
    Operation *const copy = builder.clone(op, mapping);
    auto index = dyn_cast<nest::IndexOp>(copy);
    if (!index || index.getDim() != dim || part.begin == 0)
      continue;
    Value const begin = builder.create<arith::ConstantIndexOp>(op.getLoc(), part.begin);
    mapping.map(op.getResult(0), builder.create<arith::AddIOp>(op.getLoc(), index, begin));
  }
}

Value makePart(OpBuilder &builder, nest::MapOp map, unsigned dim, Part const &part, StringRef label) {
  Location const location = map.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, location, map.getOutputs()[0]);
  sizes[dim] = builder.getIndexAttr(part.end - part.begin);
  auto const type = cast<RankedTensorType>(map.getResult(0).getType());
  Value const empty = builder.create<tensor::EmptyOp>(location, sizes, type.getElementType());
  auto copy = builder.create<nest::MapOp>(location, TypeRange(empty.getType()), label, ValueRange(), map.getExtras(),
                                          ValueRange(empty), map.getIndexingMaps());
  cloneBody(builder, map, copy, dim, part);
  return copy.getResult(0);
}

void partRows(nest::MapOp map, Labels &labels) {
  std::optional<unsigned> const dim = rowLoop(map);
  SmallVector<Part> const parts = dim ? partsOf(map, *dim) : SmallVector<Part>();
  if (parts.empty())
    return;
  OpBuilder builder(map);
  SmallVector<Value> results;
  for (Part const &part : parts) {
    std::string const name = map.getLabel().str();
    StringRef const end = part.begin == 0 ? ".front" : ".back";
    std::string const label = part.choices.empty() ? labels.unique(name + end.str(), "") : name;
    results.push_back(makePart(builder, map, *dim, part, label));
  }
  Value const whole = builder.create<tensor::ConcatOp>(map.getLoc(), map.getResult(0).getType(), *dim, results);
  map.getResult(0).replaceAllUsesWith(whole);
  map.erase();
}

struct PartRows : impl::PartRowsBase<PartRows> {
  void runOnOperation() override {
    Labels labels(getOperation());
    SmallVector<nest::MapOp> maps;
    getOperation().walk([&](nest::MapOp map) {
      if (map.getNumResults() != 0)
        maps.push_back(map);
    });
    for (nest::MapOp map : maps)
      partRows(map, labels);
  }
};

} // namespace
} // namespace ml2k
