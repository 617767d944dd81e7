//===- Combiners.cpp - how a reduction joins two values in C++ ----------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/ir/Identities.h"

using namespace mlir;

namespace ml2k {

namespace {
struct Combiner {
  char const *block;    ///< for pool and fold
  char const *function; ///< of two values, or null
  char const *infix;    ///< operator, or null
  Rank rank;
  char const *helper; ///< the block that has `function`, or null
};
} // namespace

static Combiner const &lookUp(nest::Combiner combiner) {
  using C = nest::Combiner;
  static std::map<C, Combiner> const table = {
      {C::Sum, {"Sum", nullptr, "+", Rank::Add, nullptr}},
      {C::Prod, {"Prod", nullptr, "*", Rank::Multiply, nullptr}},
      {C::Max, {"Max", "maximum", nullptr, Rank::Primary, "maximum"}},
      {C::Min, {"Min", "minimum", nullptr, Rank::Primary, "maximum"}},
      {C::MaxNum, {"MaxNum", "Kokkos::fmax", nullptr, Rank::Primary, nullptr}},
      {C::MinNum, {"MinNum", "Kokkos::fmin", nullptr, Rank::Primary, nullptr}},
      {C::MaxSI, {"Max", "Kokkos::max", nullptr, Rank::Primary, nullptr}},
      {C::MinSI, {"Min", "Kokkos::min", nullptr, Rank::Primary, nullptr}},
      {C::MaxUI, {"MaxUnsigned", "MaxUnsigned::join", nullptr, Rank::Primary, "MaxUnsigned"}},
      {C::MinUI, {"MinUnsigned", "MinUnsigned::join", nullptr, Rank::Primary, "MinUnsigned"}},
      {C::And, {"And", nullptr, "&", Rank::BitAnd, nullptr}},
      {C::Or, {"Or", nullptr, "|", Rank::BitOr, nullptr}},
      {C::Xor, {"Xor", nullptr, "^", Rank::BitXor, nullptr}}};
  return table.at(combiner);
}

std::string combinerName(nest::Combiner combiner) { return lookUp(combiner).block; }

Expression joined(Program &program, nest::Combiner combiner, Expression const &a, Expression const &b) {
  Combiner const &entry = lookUp(combiner);
  if (entry.infix)
    return binary(a, entry.infix, entry.rank, b);
  if (entry.helper)
    program.useBlock(entry.helper);
  return call(entry.function, {a, b});
}

Expression joined(Program &program, nest::Combiner combiner, TypedAttr initial, Expression const &b) {
  return isIdentity(combiner, initial) ? b : joined(program, combiner, literal(initial), b);
}

} // namespace ml2k
