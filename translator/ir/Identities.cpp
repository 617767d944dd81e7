//===- Identities.cpp - the values that change nothing when a reduction joins them --------------------------------===//

#include "translator/ir/Identities.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using ml2k::nest::Combiner;

namespace ml2k {

static TypedAttr floatIdentity(Combiner combiner, FloatType type) {
  llvm::fltSemantics const &semantics = type.getFloatSemantics();
  switch (combiner) {
  case Combiner::Prod:
    return FloatAttr::get(type, 1.0);
  case Combiner::Max:
  case Combiner::MaxNum:
    return FloatAttr::get(type, APFloat::getInf(semantics, /*Negative=*/true));
  case Combiner::Min:
  case Combiner::MinNum:
    return FloatAttr::get(type, APFloat::getInf(semantics));
  default:
    return FloatAttr::get(type, 0.0);
  }
}

static APInt integerIdentity(Combiner combiner, unsigned width) {
  switch (combiner) {
  case Combiner::Prod:
    return APInt(width, 1);
  case Combiner::MaxSI:
    return APInt::getSignedMinValue(width);
  case Combiner::MinSI:
    return APInt::getSignedMaxValue(width);
  case Combiner::MinUI:
  case Combiner::And:
    return APInt::getAllOnes(width);
  default:
    return APInt(width, 0);
  }
}

TypedAttr neutralOf(Combiner combiner, Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return floatIdentity(combiner, real);
  if (type.isIndex()) // printed as int
    return IntegerAttr::get(type, integerIdentity(combiner, 32).sext(64));
  return IntegerAttr::get(type, integerIdentity(combiner, type.getIntOrFloatBitWidth()));
}

bool isIdempotent(Combiner combiner) {
  return combiner != Combiner::Sum && combiner != Combiner::Prod && combiner != Combiner::Xor;
}

/// Combiners of floating point alone: integers have no identity of them here.
static bool joinsOnlyFloats(Combiner combiner) {
  return combiner == Combiner::Max || combiner == Combiner::Min || combiner == Combiner::MaxNum ||
         combiner == Combiner::MinNum;
}

bool isIdentity(Combiner combiner, TypedAttr constant) {
  auto const real = dyn_cast<FloatAttr>(constant);
  if (!real && joinsOnlyFloats(combiner))
    return false;
  return constant == neutralOf(combiner, constant.getType()) ||
         (real && combiner == Combiner::Sum && real.getValue().isZero());
}

bool isIdentity(Combiner combiner, Value value) {
  TypedAttr constant;
  return matchPattern(value, m_Constant(&constant)) && isIdentity(combiner, constant);
}

} // namespace ml2k
