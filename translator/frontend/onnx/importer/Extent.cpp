//===- Extent.cpp - sizes that are known at run time only ---------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Extent.h"

#include "translator/frontend/onnx/importer/Refusal.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

//===--- Polynomials ----------------------------------------------------------------------------------------------===//

Extent::Extent(int64_t number) {
  if (number != 0)
    terms[{}] = number;
}

Extent Extent::ofAtom(unsigned atom) {
  Extent extent;
  extent.terms[{atom}] = 1;
  return extent;
}

std::optional<int64_t> Extent::number() const {
  if (terms.empty())
    return 0;
  return terms.size() == 1 && terms.begin()->first.empty() ? std::optional(terms.begin()->second) : std::nullopt;
}

std::optional<unsigned> Extent::atom() const {
  bool const isAtom = terms.size() == 1 && terms.begin()->first.size() == 1 && terms.begin()->second == 1;
  return isAtom ? std::optional(terms.begin()->first[0]) : std::nullopt;
}

std::pair<std::optional<unsigned>, int64_t> Extent::shiftedAtom() const {
  auto const constant = terms.find({});
  int64_t const number = constant == terms.end() ? 0 : constant->second;
  return {(*this - Extent(number)).atom(), number};
}

bool Extent::isNatural() const {
  return llvm::all_of(terms, [](auto const &term) { return term.second >= 0; });
}

std::optional<Extent> Extent::dividedBy(Extent const &divisor) const {
  if (divisor.terms.size() != 1)
    return *this == divisor && !terms.empty() ? std::optional(Extent(1)) : std::nullopt;
  auto const &[factors, number] = *divisor.terms.begin();
  Extent result;
  for (auto const &[product, count] : terms) {
    if (number == -1 && count == std::numeric_limits<int64_t>::min())
      return std::nullopt;
    if (count % number != 0 || !std::includes(product.begin(), product.end(), factors.begin(), factors.end()))
      return std::nullopt;
    std::vector<unsigned> rest;
    std::set_difference(product.begin(), product.end(), factors.begin(), factors.end(), std::back_inserter(rest));
    result.terms[rest] = count / number;
  }
  return result;
}

/// Forty nodes that square the size before are one of 2^40 factors.
static constexpr size_t mostFactors = 64, mostTerms = 4096;

Extent operator+(Extent a, Extent const &b) {
  for (auto const &[product, count] : b.terms) {
    int64_t &sum = a.terms[product];
    llvm::AddOverflow(sum, count, sum); // as ONNX' integers do, they wrap
    if (sum == 0)
      a.terms.erase(product);
  }
  return a;
}

Extent operator-(Extent a, Extent const &b) { return std::move(a) + b * Extent(-1); }

Extent operator*(Extent const &a, Extent const &b) {
  Extent result;
  for (auto const &[left, countLeft] : a.terms)
    for (auto const &[right, countRight] : b.terms) {
      Extent term;
      std::vector<unsigned> product;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(product));
      llvm::MulOverflow(countLeft, countRight, term.terms[product]);
      result = std::move(result) + term;
      if (product.size() > mostFactors || result.terms.size() > mostTerms)
        throw Refusal("a size that is computed of too many sizes");
    }
  return result;
}

//===--- Where sizes come from ------------------------------------------------------------------------------------===//

void Extents::name(Value argument, int64_t dim, std::string const &name) {
  auto const found = named.find(name);
  if (found != named.end()) {
    known[{argument, dim}] = found->second;
    return;
  }
  atoms.push_back({name, argument, dim, {}});
  argumentNames.push_back(name);
  known[{argument, dim}] = named[name] = Extent::ofAtom(atoms.size() - 1);
}

Extent Extents::note(Value tensor, int64_t dim, Extent const &extent) {
  if (tensor.getParentBlock() == home) // operations elsewhere may be gone soon
    known.try_emplace({tensor, dim}, extent);
  return extent;
}

Extent Extents::atomOf(Value source, int64_t dim) {
  atoms.push_back({"", source, dim, {}});
  return Extent::ofAtom(atoms.size() - 1);
}

Extent Extents::of(OpFoldResult size) {
  if (auto const number = getConstantIntValue(size))
    return *number;
  auto const value = cast<Value>(size);
  if (auto dim = value.getDefiningOp<tensor::DimOp>(); dim && dim.getConstantIndex())
    return of(dim.getSource(), *dim.getConstantIndex());
  auto const found = known.find({value, -1});
  return found != known.end() ? found->second : note(value, -1, atomOf(value, -1));
}

Extent Extents::of(Value tensor, int64_t dim) {
  auto const type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (auto const found = known.find({tensor, dim}); found != known.end())
    return found->second;
  if (auto const carried = dyn_cast<BlockArgument>(tensor))
    if (auto loop = dyn_cast_or_null<scf::ForOp>(carried.getOwner()->getParentOp()))
      return of(loop.getInitArgs()[carried.getArgNumber() - loop.getNumInductionVars()], dim);
  auto const result = dyn_cast<OpResult>(tensor);
  return note(tensor, dim, result ? ofResult(result, dim) : atomOf(tensor, dim));
}

Extent Extents::ofResult(OpResult tensor, int64_t dim) {
  using Result = Extent;
  return llvm::TypeSwitch<Operation *, Result>(tensor.getOwner())
      .Case([&](tensor::EmptyOp op) -> Result { return of(op.getMixedSizes()[dim]); })
      .Case([&](tensor::CastOp op) -> Result { return of(op.getSource(), dim); })
      .Case([&](tensor::InsertSliceOp op) -> Result { return of(op.getDest(), dim); })
      .Case([&](scf::ForOp op) -> Result { return of(op.getInitArgs()[tensor.getResultNumber()], dim); })
      .Case([&](DestinationStyleOpInterface op) -> Result { return of(op.getTiedOpOperand(tensor)->get(), dim); })
      .Case([&](tensor::CollapseShapeOp op) -> Result {
        Extent product = 1;
        for (int64_t source : op.getReassociationIndices()[dim])
          product = product * of(op.getSrc(), source);
        return product;
      })
      .Case([&](tensor::ExpandShapeOp op) -> Result {
        return of(getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), builder)[dim]);
      })
      .Case([&](tensor::ExtractSliceOp op) -> Result {
        llvm::SmallBitVector const dropped = op.getDroppedDims();
        for (auto [at, size] : llvm::enumerate(op.getMixedSizes()))
          if (!dropped.test(at) && dim-- == 0)
            return of(size);
        llvm_unreachable("a slice has the dimensions that it does not drop");
      })
      .Case([&](tensor::ConcatOp op) -> Result {
        Extent sum;
        for (Value input : op.getInputs())
          sum = static_cast<int64_t>(op.getDim()) == dim ? std::move(sum) + of(input, dim) : of(op.getInputs()[0], dim);
        return sum;
      })
      .Case([&](tensor::PadOp op) -> Result {
        return of(op.getMixedLowPad()[dim]) + of(op.getSource(), dim) + of(op.getMixedHighPad()[dim]);
      })
      .Default([&](Operation *) { return atomOf(tensor, dim); });
}

bool Extents::isNatural(Extent const &extent) const {
  if (extent.isNatural())
    return true;
  for (auto const &[product, count] : extent.terms) {
    auto const [dividend, divisor] = product.size() == 1 ? atoms[product[0]].division : std::pair<Extent, Extent>();
    int64_t const by = divisor.number().value_or(0);
    if (by <= 0 || atoms[product[0]].source || count % by != 0)
      continue;
    // A remainder, n - by * (n / by), is at least 0 and at most by - 1
    Extent const quotient = Extent::ofAtom(product[0]), remainder = dividend - quotient * by;
    int64_t const times = -count / by;
    Extent const rest = extent - remainder * times;
    if ((times > 0 ? rest : rest + times * (by - 1)).isNatural())
      return true;
  }
  return false;
}

Extent Extents::quotient(Extent const &dividend, Extent const &divisor) {
  if (auto const exact = dividend.dividedBy(divisor))
    return *exact;
  auto const number = dividend.number(), by = divisor.number();
  if (number && by && *by > 0)
    return *number >= 0 ? *number / *by : -((-*number + *by - 1) / *by);
  // Terms that are multiples leave the division
  Extent whole, rest;
  for (auto const &[product, count] : dividend.terms) {
    Extent term;
    term.terms[product] = count;
    auto const exact = term.dividedBy(divisor);
    (exact ? whole : rest) = (exact ? whole : rest) + exact.value_or(term);
  }
  if (rest.number() && by.value_or(0) > 0) // (5 * n + 4) / 5 = n
    return whole + quotient(rest, divisor);
  // Divisions of sizes as operations are of what is not negative: -n / 32 = -((n + 31) / 32)
  if (Extent const opposite = Extent() - rest; by.value_or(0) > 0 && opposite.isNatural())
    return whole - quotient(opposite + (*by - 1), divisor);
  auto const isTaken = [](auto const &term) { return !term.first.empty() && term.second < 0; };
  if (llvm::any_of(rest.terms, isTaken)) {
    whole = Extent();
    rest = dividend;
  }
  // (n / 2 + 1) / 3 = (n + 2) / 6
  auto const [inner, more] = rest.shiftedAtom();
  if (inner && by.value_or(0) > 0 && !atoms[*inner].source)
    if (auto const [first, second] = atoms[*inner].division; second.number().value_or(0) > 0)
      return whole + quotient(first + second * more, second * divisor);
  auto const [found, isNew] = quotients.try_emplace({rest, divisor});
  if (isNew) {
    atoms.push_back({"", {}, -1, {rest, divisor}, weightOf(rest) + weightOf(divisor)});
    found->second = Extent::ofAtom(atoms.size() - 1);
  }
  return whole + found->second;
}

/// Quotients of sums of quotients are longer than their number says.
size_t Extents::weightOf(Extent const &extent) const {
  constexpr size_t most = 1 << 14;
  size_t weight = 1;
  for (auto const &[product, count] : extent.terms)
    for (unsigned const atom : product)
      if ((weight += atoms[atom].weight) > most)
        throw Refusal("a size that is computed of too many sizes");
  return weight;
}

//===--- Sizes as operations --------------------------------------------------------------------------------------===//

Value Extents::compute(Atom const &atom) {
  if (atom.source && atom.dim < 0)
    return atom.source;
  if (atom.source)
    return builder.create<tensor::DimOp>(atom.source, atom.dim);
  AffineExpr const a = builder.getAffineSymbolExpr(0), b = builder.getAffineSymbolExpr(1);
  auto const [dividend, divisor] = atom.division;
  if (auto const number = divisor.number())
    return builder.create<affine::AffineApplyOp>(AffineMap::get(0, 1, a.floorDiv(*number)),
                                                 ValueRange{value(dividend)});
  return builder.create<affine::AffineApplyOp>(AffineMap::get(0, 2, a.floorDiv(b)),
                                               ValueRange{value(dividend), value(divisor)});
}

Value Extents::product(std::vector<unsigned> const &atoms, int64_t factor) {
  Value result;
  for (unsigned const atom : atoms) {
    Value const next = value(Extent::ofAtom(atom));
    result = result ? builder.create<arith::MulIOp>(result, next).getResult() : next;
  }
  if (result && factor == 1)
    return result;
  Value const number = builder.create<arith::ConstantIndexOp>(factor);
  return result ? builder.create<arith::MulIOp>(result, number).getResult() : number;
}

bool Extents::isOfHome(Extent const &extent) const {
  return llvm::all_of(extent.terms, [&](auto const &term) {
    return llvm::all_of(term.first, [&](unsigned number) {
      auto const &[dividend, divisor] = atoms[number].division;
      Value source = atoms[number].source;
      return source ? source.getParentBlock() == home : isOfHome(dividend) && isOfHome(divisor);
    });
  });
}

/// The operation of the home block that the next one will be in; null if it will stand in that block itself, or if
/// nothing is known of the place.
static Operation *outermost(Block *home, Block *place) {
  return home && place != home && place->getParentOp() ? home->findAncestorOpInBlock(*place->getParentOp()) : nullptr;
}

Value Extents::value(Extent const &extent) {
  if (auto const number = extent.number())
    return builder.create<arith::ConstantIndexOp>(*number);
  if (auto const found = made.find(extent); found != made.end())
    return found->second;
  if (Operation *outer = outermost(home, builder.getInsertionBlock()); outer && isOfHome(extent)) {
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPoint(outer);
    return value(extent);
  }
  Value sum;
  if (auto const atom = extent.atom())
    sum = compute(Atom(atoms[*atom]));
  else // products first: batch * seq + 1
    for (auto const &[factors, count] : llvm::reverse(extent.terms)) {
      bool const isLess = sum && count < 0;
      Value const term = product(factors, isLess ? -count : count);
      sum = isLess ? builder.create<arith::SubIOp>(sum, term).getResult()
            : sum  ? builder.create<arith::AddIOp>(sum, term).getResult()
                   : term;
    }
  if (builder.getInsertionBlock() == home) {
    made[extent] = sum;
    note(sum, -1, extent);
  }
  return sum;
}

OpFoldResult Extents::size(Extent const &extent) {
  if (auto const number = extent.number())
    return builder.getIndexAttr(*number);
  return value(extent);
}

//===--- Checks ---------------------------------------------------------------------------------------------------===//

void Extents::check(arith::CmpIPredicate predicate, Extent const &a, Extent const &b, StringRef relation) {
  bool const isHome = builder.getInsertionBlock() == home;
  if (isHome && !checked.try_emplace({a, b}, true).second)
    return;
  Value const condition = builder.create<arith::CmpIOp>(predicate, value(a), value(b));
  builder.create<cf::AssertOp>(condition, text(a) + relation.str() + text(b));
}

void Extents::requireEqual(Extent const &a, Extent const &b) {
  if (a == b)
    return;
  if ((a - b).number())
    throw Refusal("extents " + Twine(text(a)) + " and " + text(b) + " differ");
  bool const isNumber = a.number().has_value(); // "batch has to be 1"
  check(arith::CmpIPredicate::eq, isNumber ? b : a, isNumber ? a : b, " has to be ");
}

/// An atom that has to be at least a number: the strongest of such checks is enough.
void Extents::requireAtom(unsigned atom, int64_t least) {
  if (auto const [dividend, divisor] = atoms[atom].division; !atoms[atom].source && divisor.number().value_or(0) > 0)
    return requireAtLeast(dividend, least * *divisor.number());
  Value const size = value(Extent::ofAtom(atom));
  if (builder.getInsertionBlock() == home)
    for (auto assertion : llvm::make_early_inc_range(home->getOps<cf::AssertOp>())) {
      auto compare = assertion.getArg().getDefiningOp<arith::CmpIOp>();
      if (!compare || compare.getPredicate() != arith::CmpIPredicate::sge || compare.getLhs() != size)
        continue;
      if (auto const known = getConstantIntValue(compare.getRhs()); known && *known >= least)
        return;
      else if (known)
        assertion.erase();
    }
  check(arith::CmpIPredicate::sge, Extent::ofAtom(atom), least, " has to be at least ");
}

void Extents::requireAtLeast(Extent const &extent, int64_t least) {
  Extent const more = extent - least;
  if (isNatural(more))
    return;
  if (more.number())
    throw Refusal("an extent of " + Twine(text(extent)) + " where " + Twine(least) + " is needed");
  auto const [atom, shift] = more.shiftedAtom();
  if (atom)
    return requireAtom(*atom, -shift);
  // 2 * rows >= 3 reads as rows >= 2
  if (Extent const multiple = more - shift; multiple.terms.size() == 1)
    if (int64_t const count = multiple.terms.begin()->second; count > 0)
      if (auto const single = multiple.dividedBy(count)->atom())
        return requireAtom(*single, llvm::divideCeil(-shift, count));
  // batch * seq - 3 >= 0 reads as batch * seq >= 3
  Extent positive, negative;
  for (auto const &[product, count] : more.terms) {
    Extent term;
    term.terms[product] = std::abs(count);
    (count > 0 ? positive : negative) = (count > 0 ? positive : negative) + term;
  }
  if (positive.number())
    check(arith::CmpIPredicate::sle, negative, positive, " has to be at most ");
  else
    check(arith::CmpIPredicate::sge, positive, negative, " has to be at least ");
}

//===--- Codes ----------------------------------------------------------------------------------------------------===//

/// They survive a Cast to int32, and are no number that shapes, axes or bounds of slices have.
constexpr int64_t firstCode = -2113929216, mostCodes = 1 << 20;

bool Extents::isCode(int64_t number) { return number >= firstCode && number < firstCode + mostCodes; }

int64_t Extents::encode(Extent const &extent) {
  if (auto const number = extent.number())
    return *number;
  weightOf(extent);
  auto const [found, isNew] = codeOf.try_emplace(extent, codes.size());
  if (isNew)
    codes.push_back(extent);
  if (found->second >= mostCodes)
    throw Refusal("more than " + Twine(mostCodes) + " sizes that are known at run time only");
  return firstCode + found->second;
}

Extent Extents::decode(int64_t number) const {
  bool const isKnown = isCode(number) && number - firstCode < static_cast<int64_t>(codes.size());
  return isKnown ? codes[number - firstCode] : Extent(number);
}

int64_t Extents::shaped(int64_t number) { return isCode(number) ? ShapedType::kDynamic : number; }

int64_t Extents::shaped(Extent const &extent) { return extent.number().value_or(ShapedType::kDynamic); }

//===--- For people -----------------------------------------------------------------------------------------------===//

std::string Extents::text(Extent const &extent) const {
  auto const part = [this](Extent const &part) { return part.terms.size() < 2 ? text(part) : "(" + text(part) + ")"; };
  auto const factor = [&](Atom const &atom) {
    if (!atom.name.empty() || atom.source)
      return atom.name.empty() ? std::string("?") : atom.name;
    return part(atom.division.first) + " / " + part(atom.division.second);
  };
  std::string sum;
  for (auto const &[product, count] : llvm::reverse(extent.terms)) {
    std::string term = count == 1 && !product.empty() ? "" : std::to_string(std::abs(count));
    for (unsigned const atom : product) {
      bool const isQuotient = !atoms[atom].source && (!term.empty() || product.size() > 1);
      term += (term.empty() ? "" : " * ") + (isQuotient ? "(" + factor(atoms[atom]) + ")" : factor(atoms[atom]));
    }
    sum += (sum.empty() ? (count < 0 ? "-" : "") : count < 0 ? " - " : " + ") + term;
  }
  return sum.empty() ? "0" : sum;
}

AffineExpr Extents::affine(Extent const &extent) const {
  AffineExpr sum = builder.getAffineConstantExpr(0);
  for (auto const &[product, count] : llvm::reverse(extent.terms)) {
    AffineExpr term = builder.getAffineConstantExpr(1);
    for (unsigned const number : product) {
      Atom const &atom = atoms[number];
      AffineExpr factor;
      if (auto const found = llvm::find(argumentNames, atom.name); !atom.name.empty())
        factor = builder.getAffineSymbolExpr(found - argumentNames.begin());
      else if (!atom.source)
        if (AffineExpr const dividend = affine(atom.division.first), divisor = affine(atom.division.second);
            dividend && divisor)
          factor = dividend.floorDiv(divisor);
      if (!factor)
        return {};
      term = factor * term;
    }
    sum = sum + term * count;
  }
  return sum;
}

} // namespace ml2k::frontend
