//===- ScalarTable.cpp - every arith and math operation as C++ ----------------------------------------------------===//
//
// Signedness comes from the operation: C++ values of signless integers are signed and are cast where an operation is
// unsigned. Integers wrap around: where C++ calls overflow undefined, the arithmetic is unsigned or a helper block does
// it.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/scalars/ScalarTable.h"

#include "translator/emit/scalars/Callees.h"
#include "translator/emit/scalars/ScalarClamp.h"
#include "translator/emit/scalars/UnsignedForms.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

static bool isConstantFloat(Value value, double wanted) {
  FloatAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.getValueAsDouble() == wanted;
}

//===--- Kinds of entries -----------------------------------------------------------------------------------------===//

/// C++ computes integers of 8 and 16 bits in int.
static Expression inOwnType(Operation *op, Expression const &value) {
  Type const type = op->getResult(0).getType();
  bool const isNarrow = type.isInteger() && !type.isInteger(1) && type.getIntOrFloatBitWidth() < 32;
  return isNarrow ? cpp::cast(resultType(op), value) : value;
}

static Print infix(Raw symbol, Rank rank) {
  return [=](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    return inOwnType(op, binary(a[0], symbol, rank, a[1]));
  };
}

/// What C++ computes in the type of the first operand: a literal is an int.
static Expression inTypeOf(Type type, Expression const &a) {
  bool const isInt = a.kind() == cpp::Kind::Literal && isa<IntegerType>(type) && !type.isInteger(32);
  return isInt ? cpp::cast(computedType(type).code, a) : a;
}

/// `x - 0.5`, not `x + -0.5`.
static Print sumOfReals(Raw symbol, Raw opposite) {
  return [=](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    FloatAttr constant;
    bool const isNegative = matchPattern(op->getOperand(1), m_Constant(&constant)) &&
                            constant.getValue().isNegative() && !constant.getValue().isNaN();
    if (!isNegative)
      return binary(a[0], symbol, Rank::Add, a[1]);
    return binary(a[0], opposite, Rank::Add, literal(FloatAttr::get(constant.getType(), -constant.getValue())));
  };
}

/// `0.25 * (a + b)` where loop programs are printed: a factor of one number stands in front.
static Print times() {
  return [](Operation *op, Operands a, ScalarPrinter &printer) -> FailureOr<Expression> {
    bool const isFactor =
        printer.constantsFirst && matchPattern(op->getOperand(1), m_Constant()) &&
        !matchPattern(op->getOperand(0), m_Constant()) &&
        (a[0].isSimple() || !isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op->getOperand(0).getDefiningOp()));
    return isFactor ? binary(a[1], "*", Rank::Multiply, a[0]) : binary(a[0], "*", Rank::Multiply, a[1]);
  };
}

static Print function(Raw name) {
  return [=](Operation *, Operands a, ScalarPrinter &) -> FailureOr<Expression> { return call(name, a); };
}

/// A function of the C library, which no compiler vectorises. Clang says so unless the block "scalar_loops" stands
/// above.
static Print libm(Raw name) {
  return
      [=](Operation *, Operands a, ScalarPrinter &) -> FailureOr<Expression> { return call(name, a, "scalar_loops"); };
}

/// A function with a block of its own for float, one for arguments that are not positive, and perhaps one for double.
static Print elementary(Raw name, Raw fast, Raw ofNegative, Raw ofDouble = {}) {
  return [=](Operation *op, Operands a, ScalarPrinter &printer) -> FailureOr<Expression> {
    if (printer.fastMath && !ofDouble.str().empty() && op->hasAttr(nest::inVectors))
      return call(fast, a, ofDouble);
    if (!printer.fastMath || !op->getResult(0).getType().isF32())
      return libm(name)(op, a, printer);
    Raw const helper = op->hasAttr("nest.not_positive") ? ofNegative : fast;
    return call(helper, a, helper);
  };
}

static Print division(Raw name) {
  return [=](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    return cpp::division(name, {inTypeOf(operandType(op), a[0]), a[1]});
  };
}

/// Casts the operands to unsigned and the result back.
static Print onUnsigned(std::function<Expression(Operands)> print) {
  return [=](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    Type const type = operandType(op);
    SmallVector<Expression> const casted =
        llvm::map_to_vector(a, [&](Expression const &e) { return asUnsigned(type, e); });
    return cpp::cast(resultType(op), print(casted));
  };
}

static Print onUnsignedInfix(Raw symbol, Rank rank) {
  return onUnsigned([=](Operands a) { return binary(a[0], symbol, rank, a[1]); });
}

/// `1 << s`: how far is a number of any type.
static FailureOr<Expression> shiftedUp(Operation *op, Operands a, ScalarPrinter &printer) {
  Operation *const cast = op->getOperand(1).getDefiningOp();
  bool const isWidened =
      isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(cast) && printer.isBound(cast->getOperand(0));
  FailureOr<Expression> const by = isWidened ? printer.use(cast->getOperand(0)) : FailureOr<Expression>(a[1]);
  if (failed(by))
    return failure();
  return cpp::cast(resultType(op), binary(asUnsigned(operandType(op), a[0]), "<<", Rank::Shift, *by));
}

/// Sums, differences and products of integers, which wrap around. Index arithmetic never comes near its bounds.
static Print wrapping(Raw symbol, Rank rank, Raw helper) {
  return [=](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    Type const type = operandType(op);
    Expression const plain = binary(a[0], symbol, rank, a[1]);
    auto const overflow = cast<arith::ArithIntegerOverflowFlagsInterface>(op).getOverflowAttr().getValue();
    if (type.isIndex() || bitEnumContainsAny(overflow, arith::IntegerOverflowFlags::nsw))
      return plain;
    if (type.isInteger(1))
      return symbol == Raw("*") ? binary(a[0], "&&", Rank::And, a[1]) : binary(a[0], "!=", Rank::Equality, a[1]);
    if (type.getIntOrFloatBitWidth() < 32)
      return inOwnType(op, plain);
    return call(helper, {inTypeOf(type, a[0]), a[1]}, "wrapping");
  };
}

/// Whether a condition is made of comparisons of floats and nothing branches upon it: a number that a kernel computes
/// for many elements at once.
static bool isNumberOfFloats(Operation *op, unsigned depth = 0) {
  constexpr unsigned deepest = 16;
  auto const isFloat = [](Value value) {
    Operation *part = value.getDefiningOp();
    while (part && isa<arith::AndIOp, arith::OrIOp>(part))
      part = part->getOperand(0).getDefiningOp();
    return isa_and_nonnull<arith::CmpFOp>(part);
  };
  return depth < deepest && llvm::any_of(op->getOperands(), isFloat) &&
         llvm::all_of(
             op->getUsers(),
             [&](Operation *user) {
               return isa<arith::AndIOp, arith::OrIOp>(user) ? isNumberOfFloats(user, depth + 1)
                                                             : isa<arith::SelectOp, arith::ExtUIOp, arith::UIToFPOp,
                                                                   arith::XOrIOp, memref::StoreOp, nest::YieldOp>(user);
             });
}

/// Two arguments of a call: `(a < b), (c > d)`, where clang-format would take `a<b, c>` for a template.
static SmallVector<Expression> notLikeTemplate(Operands a) {
  bool const isLike = a[0].rank() == Rank::Relation && a[1].rank() == Rank::Relation &&
                      (a[0]->code == Code(Raw("<")) || a[0]->code == Code(Raw("<="))) &&
                      (a[1]->code == Code(Raw(">")) || a[1]->code == Code(Raw(">=")));
  return isLike ? SmallVector<Expression>{parentheses(a[0]), parentheses(a[1])} : SmallVector<Expression>(a);
}

/// `&&` and the like on bool, `&` on integers.
static Print logical(Raw onBool, Rank boolRank, Raw onInt, Rank intRank) {
  return [=](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    bool const isBool = operandType(op).isInteger(1);
    APInt constant;
    if (isBool && onBool == Raw("!=") && a[1].is(1))
      return unary("!", a[0]);
    if (isBool && onBool != Raw("!=") && isNumberOfFloats(op))
      return call(onBool == Raw("&&") ? Raw("both") : Raw("either"), notLikeTemplate(a), "both");
    if (!isBool && onInt == Raw("^") && matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
        constant.isAllOnes())
      return inOwnType(op, unary("~", a[0]));
    return isBool ? binary(a[0], onBool, boolRank, a[1]) : inOwnType(op, binary(a[0], onInt, intRank, a[1]));
  };
}

/// A NaN must come through. Kokkos::max keeps one of its first operand, so a constant goes last.
static Print propagating(Raw forConstant, Raw helper) {
  return [=](Operation *op, Operands a, ScalarPrinter &printer) -> FailureOr<Expression> {
    if (isFirstOfClamp(op))
      return a[0]; // the second prints both
    if (Operation *first = firstOfClamp(op)) {
      Expression const bound = *printer.use(first->getOperand(1)), &own = a[1];
      bool const isLow = isa<arith::MaximumFOp>(op);
      return call(Raw("clamp"), {a[0], isLow ? own : bound, isLow ? bound : own}, "clamp");
    }
    if (isConstant(op->getOperand(1)))
      return call(forConstant, a);
    if (isConstant(op->getOperand(0)))
      return call(forConstant, {a[1], a[0]});
    return call(helper, a, "maximum");
  };
}

/// Both operands have the type of the result: literals are int.
static Print integerChoice(Raw name) {
  return [=](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    Code const type = resultType(op);
    if (type == Raw("int"))
      return call(name, a);
    SmallVector<Expression> typed;
    for (auto [operand, value] : llvm::zip(a, op->getOperands()))
      typed.push_back(isConstant(value) ? cpp::cast(type, operand) : operand);
    return call(name, typed);
  };
}

/// A literal is an int: one of two makes a number of 64 bits of both, narrow ones have to be narrow both.
static FailureOr<Expression> select(Operation *op, Operands a, ScalarPrinter &) {
  Type const type = op->getResult(0).getType();
  if (type.isInteger(1) && a[1] == cpp::boolLiteral(false))
    return binary(unary("!", a[0]), "&&", Rank::And, a[2]);
  if (type.isInteger(1) && a[2] == cpp::boolLiteral(true))
    return binary(unary("!", a[0]), "||", Rank::Or, a[1]);
  auto const isInt = [](Expression const &e) { return e.kind() == cpp::Kind::Literal; };
  bool const isOther = isa<IntegerType>(type) && !type.isInteger(1) && !type.isInteger(32);
  if (!isOther || (type.isInteger(64) && !(isInt(a[1]) && isInt(a[2]))))
    return conditional(a[0], a[1], a[2]);
  auto const typed = [&](Expression const &e) { return isInt(e) ? cpp::cast(resultType(op), e) : e; };
  return conditional(a[0], typed(a[1]), type.isInteger(64) ? a[2] : typed(a[2]));
}

//===--- Powers, roots, bits --------------------------------------------------------------------------------------===//

static FailureOr<Expression> power(Operation *op, Operands a, ScalarPrinter &printer) {
  if (isConstantFloat(op->getOperand(1), 1.0))
    return a[0];
  if (isConstantFloat(op->getOperand(1), 2.0)) {
    Expression const x = printer.repeatable(a[0], operandType(op));
    return binary(x, "*", Rank::Multiply, x);
  }
  if (printer.fastMath && op->hasAttr(nest::inVectors))
    return call(Raw("fast_pow"), a, operandType(op).isF64() ? Raw("fast_pow_double") : Raw("fast_pow"));
  return libm("Kokkos::pow")(op, a, printer);
}

static FailureOr<Expression> integerPower(Operation *op, Operands a, ScalarPrinter &printer) {
  APInt exponent;
  if (matchPattern(op->getOperand(1), m_ConstantInt(&exponent)) && exponent.getSExtValue() == 2 &&
      isa<FloatType>(operandType(op))) {
    Expression const x = printer.repeatable(a[0], operandType(op));
    return binary(x, "*", Rank::Multiply, x);
  }
  return call(Raw("power"), a, "power");
}

static FailureOr<Expression> inverseRoot(Operation *op, Operands a, ScalarPrinter &) {
  bool const isDouble = op->getResult(0).getType().isF64();
  Expression const one = isDouble ? cpp::doubleLiteral(1.0) : cpp::floatLiteral(1.f);
  return binary(one, "/", Rank::Multiply, call(Raw("Kokkos::sqrt"), a));
}

static Print bitFunction(Raw name) {
  return [=](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    return cpp::cast(resultType(op), call(name, {asUnsigned(operandType(op), a[0])}));
  };
}

/// A function that the user links, which no compiler vectorises.
static FailureOr<Expression> linked(Operation *op, Operands a, ScalarPrinter &) {
  return linkedCall(cast<nest::CallOp>(op).getCallee(), a);
}

//===--- The table ------------------------------------------------------------------------------------------------===//

static void addArithmetic(Table &table) {
  table["arith.addf"] = {{"total", "shifted"}, sumOfReals("+", "-")};
  table["arith.subf"] = {{"difference", "rest"}, sumOfReals("-", "+")};
  table["arith.mulf"] = {{"product", "scaled"}, times()};
  table["arith.divf"] = {{"ratio", "quotient"}, infix("/", Rank::Multiply)};
  table["arith.remf"] = {{"remainder"}, elementary("Kokkos::fmod", "fast_fmod", "fast_fmod")};
  table["arith.negf"] = {
      {"negated"}, [](Operation *, Operands a, ScalarPrinter &) -> FailureOr<Expression> { return unary("-", a[0]); }};
  table["arith.addi"] = {{"total", "shifted"}, wrapping("+", Rank::Add, "wrapping_add")};
  table["arith.subi"] = {{"difference", "rest"}, wrapping("-", Rank::Add, "wrapping_subtract")};
  table["arith.muli"] = {{"product", "scaled"}, wrapping("*", Rank::Multiply, "wrapping_multiply")};
  table["arith.divsi"] = {{"quotient"}, infix("/", Rank::Multiply)};
  table["arith.remsi"] = {{"remainder"}, infix("%", Rank::Multiply)};
  table["arith.divui"] = {{"quotient"}, onUnsignedInfix("/", Rank::Multiply)};
  table["arith.remui"] = {{"remainder"}, onUnsignedInfix("%", Rank::Multiply)};
  table["arith.floordivsi"] = {{"quotient"}, division("floor_div")};
  table["nest.floor_mod"] = {{"remainder"}, division("floor_mod")};
  table["arith.ceildivsi"] = {{"quotient"}, division("ceil_div")};
  table["arith.ceildivui"] = {{"quotient"}, [](Operation *op, Operands a, ScalarPrinter &p) -> FailureOr<Expression> {
                                return onUnsigned([](Operands u) { return cpp::division("ceil_div", u); })(op, a, p);
                              }};
}

static void addBits(Table &table) {
  table["arith.andi"] = {{"common", "both"}, logical("&&", Rank::And, "&", Rank::BitAnd)};
  table["arith.ori"] = {{"joined", "either"}, logical("||", Rank::Or, "|", Rank::BitOr)};
  table["arith.xori"] = {{"changed", "other"}, logical("!=", Rank::Equality, "^", Rank::BitXor)};
  table["arith.shli"] = {{"raised"}, shiftedUp};
  table["arith.shrui"] = {{"lowered"}, onUnsignedInfix(">>", Rank::Shift)};
  table["arith.shrsi"] = {{"lowered"}, [](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
                            Expression const left = inTypeOf(operandType(op), a[0]);
                            return inOwnType(op, binary(left, ">>", Rank::Shift, a[1]));
                          }};
  table["math.ctpop"] = {{"ones"}, bitFunction("Kokkos::popcount")};
  table["math.ctlz"] = {{"zeros"}, bitFunction("Kokkos::countl_zero")};
  table["math.cttz"] = {{"zeros"}, bitFunction("Kokkos::countr_zero")};
}

static void addChoices(Table &table) {
  table["arith.maximumf"] = {{"larger", "clipped"}, propagating("Kokkos::max", "maximum")};
  table["arith.minimumf"] = {{"smaller", "clipped"}, propagating("Kokkos::min", "minimum")};
  table["arith.maxnumf"] = {{"larger", "clipped"}, function("Kokkos::fmax")};
  table["arith.minnumf"] = {{"smaller", "clipped"}, function("Kokkos::fmin")};
  table["arith.maxsi"] = {{"larger", "clipped"}, integerChoice("Kokkos::max")};
  table["arith.minsi"] = {{"smaller", "clipped"}, integerChoice("Kokkos::min")};
  table["arith.maxui"] = {{"larger"}, onUnsigned([](Operands a) { return call(Raw("Kokkos::max"), a); })};
  table["arith.minui"] = {{"smaller"}, onUnsigned([](Operands a) { return call(Raw("Kokkos::min"), a); })};
  table["arith.cmpi"] = {{"condition", "test"}, compareIntegers};
  table["arith.cmpf"] = {{"condition", "test"}, compareFloats};
  table["nest.larger"] = {{"larger", "clipped"}, function("Kokkos::max")};
  table["nest.smaller"] = {{"smaller", "clipped"}, function("Kokkos::min")};
  table["arith.select"] = {{"chosen"}, select};
}

static void addFunctions(Table &table) {
  struct Name {
    char const *operation;
    Raw function;
    char const *noun;
    Print (*print)(Raw);
  };
  static constexpr Name names[] = {{"absf", "Kokkos::abs", "magnitude", function},
                                   {"absi", "Kokkos::abs", "magnitude", function},
                                   {"acosh", "Kokkos::acosh", "area", libm},
                                   {"asinh", "Kokkos::asinh", "area", libm},
                                   {"atanh", "Kokkos::atanh", "area", libm},
                                   {"cbrt", "Kokkos::cbrt", "root", libm},
                                   {"ceil", "Kokkos::ceil", "above", function},
                                   {"copysign", "Kokkos::copysign", "directed", function},
                                   {"exp2", "Kokkos::exp2", "exponential", libm},
                                   {"floor", "Kokkos::floor", "below", function},
                                   {"fma", "Kokkos::fma", "total", function},
                                   {"log10", "Kokkos::log10", "logarithm", libm},
                                   {"log2", "Kokkos::log2", "logarithm", libm},
                                   {"round", "Kokkos::round", "rounded", libm},
                                   {"sqrt", "Kokkos::sqrt", "root", function},
                                   {"trunc", "Kokkos::trunc", "whole", function},
                                   {"roundeven", "Kokkos::nearbyint", "rounded", function}};
  for (auto const &[operation, name, noun, print] : names)
    table[std::string("math.") + operation] = {{noun}, print(name)};
  struct Fast {
    char const *operation;
    Raw function, fast;
    char const *noun;
  };
  static constexpr Fast fast[] = {
      {"acos", "Kokkos::acos", "fast_acos", "angle"},        {"asin", "Kokkos::asin", "fast_asin", "angle"},
      {"cos", "Kokkos::cos", "fast_cos", "cosine"},          {"cosh", "Kokkos::cosh", "fast_cosh", "cosine"},
      {"erf", "Kokkos::erf", "fast_erf", "error"},           {"expm1", "Kokkos::expm1", "fast_expm1", "exponential"},
      {"log1p", "Kokkos::log1p", "fast_log1p", "logarithm"}, {"sin", "Kokkos::sin", "fast_sin", "sine"},
      {"sinh", "Kokkos::sinh", "fast_sinh", "sine"},         {"tan", "Kokkos::tan", "fast_tan", "tangent"}};
  for (auto const &[operation, name, block, noun] : fast)
    table[std::string("math.") + operation] = {{noun}, elementary(name, block, block)};
  table["math.atan"] = {{"angle"}, elementary("Kokkos::atan", "fast_atan", "fast_atan", "fast_atan_double")};
  table["math.atan2"] = {{"angle"}, elementary("Kokkos::atan2", "fast_atan2", "fast_atan2", "fast_atan2_double")};
  table["math.exp"] = {{"exponential"}, elementary("Kokkos::exp", "fast_exp", "exp_of_negative", "fast_exp_double")};
  table["math.tanh"] = {{"tangent"}, elementary("Kokkos::tanh", "fast_tanh", "fast_tanh", "fast_tanh_double")};
  table["math.log"] = {{"logarithm"}, elementary("Kokkos::log", "fast_log", "fast_log", "fast_log_double")};
  table["math.powf"] = {{"raised"}, power};
  table["math.fpowi"] = {{"raised"}, integerPower};
  table["math.ipowi"] = {{"raised"}, integerPower};
  table["nest.call"] = {{"result"}, linked};
  table["math.rsqrt"] = {{"inverse_root", "scale"}, inverseRoot};
}

ScalarEntry const *lookUpScalar(StringRef operation) {
  static Table const table = [] {
    Table all;
    addArithmetic(all);
    addBits(all);
    addChoices(all);
    addConversions(all);
    addFunctions(all);
    addUnsignedForms(all);
    return all;
  }();
  auto found = table.find(operation.str());
  return found == table.end() ? nullptr : &found->second;
}

} // namespace ml2k
