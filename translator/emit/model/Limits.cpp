//===- Limits.cpp - run-time sizes that indices of type int cannot count ------------------------------------------===//
//
// The printed code indexes by int, which tensors of sizes known at run time only may be too large for. forward()
// refuses those by the number of their elements; a tensor that is never the first to be too large needs no test of its
// own.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/model/Views.h"

#include <climits>

using namespace mlir;

namespace ml2k {

namespace {

/// A product of sizes by name, sorted; the empty one is 1.
using Product = std::vector<std::string>;

/// A sum of products with factors.
using Polynomial = std::map<Product, double>;

/// Between two polynomials: divisions of sizes round.
struct Bounds {
  Polynomial least, most;
};

/// The number of elements of a tensor.
struct Elements {
  Storage const *storage;
  Bounds count;
};

} // namespace

static Polynomial sum(Polynomial a, Polynomial const &b, double factor = 1) {
  for (auto const &[product, count] : b)
    a[product] += factor * count;
  return a;
}

static Polynomial times(Polynomial const &a, Polynomial const &b) {
  Polynomial result;
  for (auto const &[left, countLeft] : a)
    for (auto const &[right, countRight] : b) {
      Product product;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(product));
      result[product] += countLeft * countRight;
    }
  return result;
}

static Bounds exactly(Polynomial const &value) { return {value, value}; }

/// Of an extent, that is of something that is not negative.
static Bounds boundsOf(AffineExpr expr, ArrayRef<std::string> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return exactly({{{}, double(constant.getValue())}});
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return exactly({{{symbols[symbol.getPosition()]}, 1.}});
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Bounds const a = boundsOf(binary.getLHS(), symbols), b = boundsOf(binary.getRHS(), symbols);
  auto const constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  double const number = constant ? double(constant.getValue()) : 1;
  Polynomial const part = {{{}, 1 / number}};
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {sum(a.least, b.least), sum(a.most, b.most)};
  case AffineExprKind::Mul: // by what may be negative only where it is a constant
    return number < 0 ? Bounds{times(a.most, b.most), times(a.least, b.least)}
                      : Bounds{times(a.least, b.least), times(a.most, b.most)};
  case AffineExprKind::FloorDiv:
    return {sum(times(a.least, part), {{{}, -1.}}), times(a.most, part)};
  case AffineExprKind::CeilDiv:
    return {times(a.least, part), sum(times(a.most, part), {{{}, 1.}})};
  default: // a remainder
    return {{{{}, 0.}}, a.most};
  }
}

static Elements elementsOf(Program const &program, Storage const &storage) {
  Elements elements{&storage, exactly({{{}, 1.}})};
  for (unsigned dim = 0; dim < unsigned(storage.type.getRank()); ++dim) {
    Bounds extent;
    for (RuntimeSize const &size : program.sizes)
      if (size.argument == storage.value && size.dim == dim)
        extent = exactly({{{size.name}, 1.}});
    if (extent.most.empty()) {
      HostSymbols symbols;
      AffineExpr const expr = program.allocatedExtent(storage, dim, symbols);
      SmallVector<std::string> names;
      for (Value value : symbols.values())
        names.push_back(program.hostName(value));
      extent = boundsOf(expr, names);
    }
    elements.count = {times(elements.count.least, extent.least), times(elements.count.most, extent.most)};
  }
  return elements;
}

static std::set<std::string> sizesIn(Polynomial const &polynomial) {
  std::set<std::string> sizes;
  for (auto const &[product, count] : polynomial)
    sizes.insert(product.begin(), product.end());
  return sizes;
}

/// Whether `other` has too many elements as soon as this tensor has. All sizes are at least 1, so that a product is at
/// least as large as its parts.
static bool isCovered(Elements const &elements, Elements const &other) {
  Polynomial const &most = elements.count.most, more = sum(other.count.least, most, -1);
  Product const largest = std::max_element(more.begin(), more.end(), [](auto const &a, auto const &b) {
                            return a.first.size() < b.first.size();
                          })->first;
  auto const isPart = [&](auto const &term) {
    return std::includes(largest.begin(), largest.end(), term.first.begin(), term.first.end());
  };
  if (!llvm::all_of(more, isPart) || !llvm::all_of(most, isPart) || sizesIn(most) != sizesIn(other.count.least))
    return false;
  double lead = more.at(largest), missing = 0, total = 0;
  for (auto const &[product, count] : more)
    if (product != largest && count < 0)
      (product.empty() ? missing : lead) += count;
  for (auto const &[product, count] : most)
    total += std::max(count, 0.);
  // The largest product is at least INT_MAX / total where it matters
  return lead >= 0 && lead * (double(INT_MAX) / std::max(total, 1.)) + missing >= 0;
}

std::optional<Expression> tooManyElements(Program const &program) {
  std::vector<Elements> tested;
  for (auto const *storages : {&program.arguments, &program.buffers})
    for (Storage const &storage : *storages) {
      if (storage.type.hasStaticShape())
        continue;
      Elements const elements = elementsOf(program, storage);
      if (llvm::any_of(tested, [&](Elements const &other) { return isCovered(elements, other); }))
        continue;
      // The extents of arguments are those that somebody gave: they may be no int themselves
      llvm::erase_if(tested, [&](Elements const &other) {
        return other.storage->kind == storage.kind && isCovered(other, elements);
      });
      tested.push_back(elements);
    }
  std::vector<Expression> conditions;
  for (Elements const &elements : tested) {
    Expression const storage = program.reference(*elements.storage);
    Expression const view = elements.storage->isImage ? cpp::member(storage, Raw("rows")) : storage;
    Expression const size = call(cpp::member(view, Raw("size")), {});
    conditions.push_back(binary(size, ">", Rank::Relation, cpp::global(Raw("INT_MAX"), {}, "climits")));
  }
  return conditions.empty() ? std::nullopt : std::optional(cpp::joinAll(conditions, "||", Rank::Or));
}

} // namespace ml2k
