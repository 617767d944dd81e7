//===- Combiners.cpp - how a reduction joins two values in C++ ----------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/ir/Identities.h"

using namespace mlir;

namespace ml2k {

namespace {
struct Combiner {
  Raw block;    ///< for pool and fold
  Raw function; ///< of two values, or empty
  Raw infix;    ///< operator, or empty
  Rank rank;
  Raw helper; ///< the block that has `function`, or empty
};
} // namespace

static Combiner const &lookUp(nest::Combiner combiner) {
  using C = nest::Combiner;
  static std::map<C, Combiner> const table = {
      {C::Sum, {"Sum", Raw(), "+", Rank::Add, Raw()}},
      {C::Prod, {"Prod", Raw(), "*", Rank::Multiply, Raw()}},
      {C::Max, {"Max", "maximum", Raw(), Rank::Primary, "maximum"}},
      {C::Min, {"Min", "minimum", Raw(), Rank::Primary, "maximum"}},
      {C::MaxNum, {"MaxNum", "Kokkos::fmax", Raw(), Rank::Primary, Raw()}},
      {C::MinNum, {"MinNum", "Kokkos::fmin", Raw(), Rank::Primary, Raw()}},
      {C::MaxSI, {"Max", "Kokkos::max", Raw(), Rank::Primary, Raw()}},
      {C::MinSI, {"Min", "Kokkos::min", Raw(), Rank::Primary, Raw()}},
      {C::MaxUI, {"MaxUnsigned", "MaxUnsigned::join", Raw(), Rank::Primary, "MaxUnsigned"}},
      {C::MinUI, {"MinUnsigned", "MinUnsigned::join", Raw(), Rank::Primary, "MinUnsigned"}},
      {C::And, {"And", Raw(), "&", Rank::BitAnd, Raw()}},
      {C::Or, {"Or", Raw(), "|", Rank::BitOr, Raw()}},
      {C::Xor, {"Xor", Raw(), "^", Rank::BitXor, Raw()}}};
  return table.at(combiner);
}

Raw combinerName(nest::Combiner combiner) { return lookUp(combiner).block; }

Expression joined(nest::Combiner combiner, Expression const &a, Expression const &b) {
  Combiner const &entry = lookUp(combiner);
  return entry.infix.empty() ? call(entry.function, {a, b}, entry.helper) : binary(a, entry.infix, entry.rank, b);
}

Expression joined(nest::Combiner combiner, TypedAttr initial, Expression const &b) {
  return isIdentity(combiner, initial) ? b : joined(combiner, literal(initial), b);
}

cpp::Statement joinInto(nest::Combiner combiner, Expression const &target, Expression const &value) {
  if (combiner == nest::Combiner::Sum)
    return cpp::Add{target, operand(value, Rank::Multiply)};
  return cpp::Assign{target, joined(combiner, target, value)};
}

ScalarPrinter::Nouns accumulatorNouns(nest::Combiner combiner) {
  using C = nest::Combiner;
  switch (combiner) {
  case C::Max:
  case C::MaxNum:
  case C::MaxSI:
  case C::MaxUI:
    return {"largest"};
  case C::Min:
  case C::MinNum:
  case C::MinSI:
  case C::MinUI:
    return {"smallest"};
  default:
    return {"total"};
  }
}

} // namespace ml2k
