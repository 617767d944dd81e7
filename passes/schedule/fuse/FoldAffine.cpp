//===- FoldAffine.cpp - batch normalisation and its like go into the weights --------------------------------------===//
//
// After a convolution or contraction with a constant, elementwise work that is a * x + b for per-channel constants a, b
// is the same kernel with other weights: scale row o of the weight by a(o), add b(o) after. a and b are computed in
// double and rounded once, by following the scalar code.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FOLDAFFINE
#include "passes/Passes.h.inc"

namespace {

/// scale * x + offset for every channel, x the kernel's result.
struct Line {
  std::vector<double> scale, offset;
  bool isConstant() const {
    return llvm::all_of(scale, [](double s) { return s == 0; });
  }
};

using Lines = std::optional<Line>;

Line constantLine(double value, size_t channels) {
  return {std::vector<double>(channels), std::vector<double>(channels, value)};
}

template <class F> Line combine(Line const &l, Line const &r, F const &f) {
  Line result = l;
  for (size_t c = 0; c < l.scale.size(); ++c) {
    result.scale[c] = f(l.scale[c], r.scale[c]);
    result.offset[c] = f(l.offset[c], r.offset[c]);
  }
  return result;
}

/// l * r where r does not depend on x.
Line scaledBy(Line const &l, Line const &r) {
  Line result = l;
  for (size_t c = 0; c < l.scale.size(); ++c) {
    result.scale[c] *= r.offset[c];
    result.offset[c] *= r.offset[c];
  }
  return result;
}

Line applied(Line line, double (*f)(double)) {
  for (double &value : line.offset)
    value = f(value);
  return line;
}

/// The line that an operation computes from those of its operands; none if it computes no line.
Lines lineOf(Operation &op, ArrayRef<Line> in) {
  return llvm::TypeSwitch<Operation *, Lines>(&op)
      .Case<arith::AddFOp>([&](auto) { return combine(in[0], in[1], std::plus<>()); })
      .Case<arith::SubFOp>([&](auto) { return combine(in[0], in[1], std::minus<>()); })
      .Case<arith::MulFOp>([&](auto) -> Lines {
        if (in[1].isConstant())
          return scaledBy(in[0], in[1]);
        return in[0].isConstant() ? Lines(scaledBy(in[1], in[0])) : std::nullopt;
      })
      .Case<arith::DivFOp>([&](auto) -> Lines {
        if (!in[1].isConstant())
          return std::nullopt;
        return scaledBy(in[0], applied(in[1], [](double x) { return 1 / x; }));
      })
      .Case<math::SqrtOp>([&](auto) -> Lines {
        return in[0].isConstant() ? Lines(applied(in[0], [](double x) { return std::sqrt(x); })) : std::nullopt;
      })
      .Case<math::RsqrtOp>([&](auto) -> Lines {
        return in[0].isConstant() ? Lines(applied(in[0], [](double x) { return 1 / std::sqrt(x); })) : std::nullopt;
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return in[0]; })
      .Default([](auto) { return std::nullopt; });
}

/// Follows the body of `generic` with `start` as the line of its operand `x`; all others are constants along the last
/// loop.
Lines lineOf(linalg::GenericOp generic, OpOperand *x, Line const &start) {
  size_t const channels = start.scale.size();
  DenseMap<Value, Line> lines;
  unsigned const last = generic.getNumLoops() - 1;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    Value const argument = generic.getRegion().front().getArgument(operand->getOperandNumber());
    if (operand == x) {
      lines[argument] = start;
      continue;
    }
    auto weight = weightBehind(operand->get());
    AffineMap const map = generic.getMatchingIndexingMap(operand);
    if (!weight || !isa<FloatType>(getElementTypeOrSelf(operand->get().getType())) ||
        size_t(weight.getValue().getNumElements()) != channels)
      return std::nullopt;
    for (AffineExpr expr : map.getResults())
      if (expr != getAffineDimExpr(last, map.getContext()) && !isa<AffineConstantExpr>(expr))
        return std::nullopt;
    lines[argument] = {std::vector<double>(channels), constantDoubles(weight.getValue())};
  }
  for (Operation &op : generic.getRegion().front().without_terminator()) {
    SmallVector<Line> in;
    for (Value operand : op.getOperands()) {
      APFloat number(0.);
      if (auto found = lines.find(operand); found != lines.end())
        in.push_back(found->second);
      else if (matchPattern(operand, m_ConstantFloat(&number)))
        in.push_back(constantLine(number.convertToDouble(), channels));
      else
        return std::nullopt;
    }
    Lines const line = op.getNumResults() == 1 ? lineOf(op, in) : std::nullopt;
    if (!line)
      return std::nullopt;
    lines[op.getResult(0)] = *line;
  }
  auto const found = lines.find(generic.getRegion().front().getTerminator()->getOperand(0));
  return found == lines.end() ? std::nullopt : Lines(found->second);
}

/// True if the last dimension of the result runs along the rows of the weight: a product with a vector has none.
bool hasRowsAlongResult(Operation *kernel) {
  auto contract = dyn_cast<nest::ContractOp>(kernel);
  if (!contract)
    return true;
  ArrayRef<Attribute> const maps = contract.getIndexingMaps().getValue();
  auto const resultsOf = [](Attribute map) { return cast<AffineMapAttr>(map).getValue().getResults(); };
  ArrayRef<AffineExpr> const weight = resultsOf(maps[1]), out = resultsOf(maps.back());
  return !weight.empty() && !out.empty() && isa<AffineDimExpr>(out.back()) && weight.front() == out.back();
}

/// A kernel whose epilogue is still empty, with a constant as its second input.
bool isBareKernel(Operation *op) {
  if (!isa_and_nonnull<nest::ConvOp, nest::ContractOp>(op) || !op->hasOneUse() || !hasRowsAlongResult(op))
    return false;
  Block &epilogue = op->getRegion(0).front();
  return &epilogue.front() == &epilogue.back() && weightBehind(op->getOperand(1)) &&
         isa<FloatType>(getElementTypeOrSelf(op->getOperand(1).getType()));
}

/// The weight with row o times scale[o], in every phase of a transposed convolution.
Value scaledWeight(OpBuilder &builder, Value weight, ArrayRef<double> scale) {
  auto source = weightBehind(weight);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(source);
  std::vector<double> values = constantDoubles(source.getValue());
  size_t const perRow = values.size() / cast<ShapedType>(weight.getType()).getDimSize(0);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] *= scale[i / perRow % scale.size()];
  return replacementWeight(builder, source, constantOf(cast<RankedTensorType>(weight.getType()), values));
}

/// Name of the bias of a layer: that of its weight with the last part replaced, where it has one.
std::string biasName(nest::WeightOp weight) {
  StringRef const name = weight.getName();
  if (name == unnamedWeight)
    return name.str();
  return (name.ends_with("weight") ? name.drop_back(6).str() : name.str() + ".") + "bias";
}

/// A value that is a line of a kernel's result, nobody else reading what lies between.
struct Chain {
  Operation *kernel;
  Line line;
  SmallVector<Location> locations;
};

void fold(linalg::GenericOp last, Chain const &chain) {
  OpBuilder builder(last);
  Operation *kernel = chain.kernel;
  auto weight = weightBehind(kernel->getOperand(1));
  kernel->setOperand(1, scaledWeight(builder, kernel->getOperand(1), chain.line.scale));
  auto const biasType =
      RankedTensorType::get({int64_t(chain.line.scale.size())}, getElementTypeOrSelf(last.getResult(0)));
  builder.setInsertionPoint(weight);
  Value const bias = builder.create<nest::WeightOp>(weight.getLoc(), biasType, biasName(weight),
                                                    constantOf(biasType, chain.line.offset), nullptr);
  builder.setInsertionPoint(last);
  Location const loc = fusedLocation(builder.getContext(), chain.locations);
  unsigned const loops = last.getNumLoops();
  AffineMap const channel = AffineMap::get(loops, 0, builder.getAffineDimExpr(loops - 1));
  Value const sum =
      elementwise(builder, loc, kernel->getResult(0), bias, channel, [&](OpBuilder &inside, Value a, Value b) {
        return inside.create<arith::AddFOp>(loc, a, b).getResult();
      });
  last.getResult(0).replaceAllUsesWith(sum);
}

struct FoldAffine : impl::FoldAffineBase<FoldAffine> {
  void runOnOperation() override {
    DenseMap<Value, Chain> chains;
    SmallVector<linalg::GenericOp> lasts;
    getOperation().walk([&](linalg::GenericOp generic) {
      if (auto chain = extended(generic, chains)) {
        chains[generic.getResult(0)] = *chain;
        lasts.push_back(generic);
      }
    });
    for (linalg::GenericOp generic : lasts) {
      Chain const &chain = chains[generic.getResult(0)];
      // A plain bias stays what it is: the epilogue takes it under the model's own name
      if (!isContinued(generic, chains) && llvm::any_of(chain.line.scale, [](double s) { return s != 1; }))
        fold(generic, chain);
    }
  }

  static bool isContinued(linalg::GenericOp generic, DenseMap<Value, Chain> const &chains) {
    if (!generic->hasOneUse())
      return false;
    Operation *user = *generic->getUsers().begin();
    return user->getNumResults() == 1 && chains.contains(user->getResult(0));
  }

  /// The chain that ends in `generic`, if it is a line of one of its operands.
  static std::optional<Chain> extended(linalg::GenericOp generic, DenseMap<Value, Chain> const &chains) {
    if (generic.getNumDpsInits() != 1 || generic.getNumReductionLoops() != 0 || !generic.hasPureTensorSemantics() ||
        generic.getNumLoops() == 0 || !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity())
      return std::nullopt;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      Value const value = operand->get();
      if (!value.hasOneUse() || !generic.getMatchingIndexingMap(operand).isIdentity() ||
          value.getType() != generic.getResult(0).getType())
        continue;
      Chain chain;
      if (auto const found = chains.find(value); found != chains.end()) {
        chain = found->second;
      } else if (isBareKernel(value.getDefiningOp())) {
        size_t const channels = cast<ShapedType>(value.getType()).getShape().back();
        chain = {value.getDefiningOp(), {std::vector<double>(channels, 1), std::vector<double>(channels)}, {}};
      } else {
        continue;
      }
      if (auto const line = lineOf(generic, operand, chain.line)) {
        chain.line = *line;
        chain.locations.push_back(generic.getLoc());
        return chain;
      }
    }
    return std::nullopt;
  }
};

} // namespace
} // namespace ml2k
