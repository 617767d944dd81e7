//===- CheckIndexRange.cpp - run-time sizes that indices of type int cannot count ---------------------------------===//
//
// The printed code indexes by int, which tensors of sizes known at run time only may be too large for. forward()
// refuses those by the number of their elements; a tensor that is never the first to be too large needs no test of its
// own.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/Prepare.h"
#include "translator/ir/Sizes.h"

#include <climits>
#include <map>
#include <set>

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CHECKINDEXRANGE
#include "passes/prepare/Passes.h.inc"

namespace {

/// A product of sizes by name, sorted; the empty one is 1.
using Product = std::vector<std::string>;

/// A sum of products with factors.
using Polynomial = std::map<Product, double>;

/// Between two polynomials: divisions of sizes round.
struct Bounds {
  Polynomial least, most;
};

/// The number of elements of an argument or a buffer.
struct Elements {
  Value memory;
  Bounds count;
};

} // namespace

//===--- Polynomials ----------------------------------------------------------------------------------------------===//

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

//===--- Sizes by name --------------------------------------------------------------------------------------------===//

/// What the printed code calls it: extents of equal names are equal.
static std::string nameOf(func::FuncOp entry, BlockArgument argument, unsigned dim) {
  if (StringRef const name = nameOfExtent(entry, argument, dim); !name.empty())
    return name.str();
  return dim == 0 ? "batch" : "argument " + std::to_string(argument.getArgNumber()) + " size " + std::to_string(dim);
}

static BlockArgument argumentOf(func::FuncOp entry, Value value) {
  auto const argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &entry.getBody().front() ? argument : BlockArgument();
}

/// The name of an extent of an argument or of a scalar argument; empty for other values.
static std::string nameOf(func::FuncOp entry, Value value) {
  if (auto dim = value.getDefiningOp<memref::DimOp>(); dim && dim.getConstantIndex())
    if (BlockArgument const argument = argumentOf(entry, dim.getSource()))
      return nameOf(entry, argument, *dim.getConstantIndex());
  BlockArgument const argument = argumentOf(entry, value);
  auto const type = argument ? dyn_cast<MemRefType>(argument.getType()) : MemRefType();
  if (type && type.getNumDynamicDims() == 1) // stands for its only extent
    return nameOf(entry, argument, llvm::find_if(type.getShape(), ShapedType::isDynamic) - type.getShape().begin());
  return argument && !type ? "argument " + std::to_string(argument.getArgNumber()) : "";
}

/// A value of the same name as an extent that the function does not ask for.
static Value valueOf(func::FuncOp entry, BlockArgument argument, unsigned dim) {
  std::string const name = nameOf(entry, argument, dim);
  Value found = nameOf(entry, Value(argument)) == name ? Value(argument) : Value();
  entry.walk([&](memref::DimOp op) {
    if (nameOf(entry, op.getResult()) != name)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// As memory is allocated: an image whose height and width are no part of its type has its border in them.
static Bounds boundsOf(func::FuncOp entry, Value memory, unsigned dim) {
  if (BlockArgument const argument = argumentOf(entry, memory);
      argument && cast<MemRefType>(memory.getType()).isDynamicDim(dim))
    return exactly({{{nameOf(entry, argument, dim)}, 1.}});
  auto const isNamed = [&](Value value) { return !nameOf(entry, value).empty(); };
  auto const extentOf = [&](BlockArgument argument, unsigned d) { return valueOf(entry, argument, d); };
  HostSymbols symbols;
  AffineExpr extent = Sizes(isNamed, extentOf).extent(memory, dim, symbols);
  auto buffer = memory.getDefiningOp<nest::BufferOp>();
  auto const border = buffer && buffer.getForm() == nest::BufferForm::Image ? buffer.getBorder() : std::nullopt;
  if (border && border->size() == 4 && dim == 0)
    extent = extent.floorDiv((*border)[3]) * ((*border)[3] + 2 * (*border)[2]);
  bool const isPadded = buffer && buffer.getForm() == nest::BufferForm::Image && buffer.getBorder() &&
                        entry->hasAttr("nest.sized_images") && (dim == 1 || dim == 2);
  if (isPadded)
    extent = extent + 2 * (*buffer.getBorder())[dim - 1];
  SmallVector<std::string> names;
  for (Value value : symbols.values())
    names.push_back(nameOf(entry, value));
  return boundsOf(extent, names);
}

static Elements elementsOf(func::FuncOp entry, Value memory) {
  Elements elements{memory, exactly({{{}, 1.}})};
  for (unsigned dim = 0; dim < unsigned(cast<MemRefType>(memory.getType()).getRank()); ++dim) {
    Bounds const extent = boundsOf(entry, memory, dim);
    elements.count = {times(elements.count.least, extent.least), times(elements.count.most, extent.most)};
  }
  return elements;
}

//===--- Which tensors to test ------------------------------------------------------------------------------------===//

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

/// Arguments first, then buffers; of each kind no test that another one makes needless.
static std::vector<Elements> chooseTests(func::FuncOp entry) {
  SmallVector<Value> memories(llvm::make_filter_range(
      entry.getArguments(), [](Value argument) { return isa<MemRefType>(argument.getType()); }));
  entry.walk([&](nest::BufferOp buffer) { memories.push_back(buffer.getResult()); });
  std::vector<Elements> tested;
  for (Value memory : memories) {
    if (cast<MemRefType>(memory.getType()).hasStaticShape())
      continue;
    Elements const elements = elementsOf(entry, memory);
    if (llvm::any_of(tested, [&](Elements const &other) { return isCovered(elements, other); }))
      continue;
    // The extents of arguments are those that somebody gave: they may be no int themselves
    llvm::erase_if(tested, [&](Elements const &other) {
      return isa<BlockArgument>(other.memory) == isa<BlockArgument>(memory) && isCovered(other, elements);
    });
    tested.push_back(elements);
  }
  return tested;
}

namespace {
struct CheckIndexRange : impl::CheckIndexRangeBase<CheckIndexRange> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (entry.isExternal())
      return;
    auto const mark = UnitAttr::get(&getContext());
    for (Elements const &elements : chooseTests(entry))
      if (auto argument = dyn_cast<BlockArgument>(elements.memory))
        entry.setArgAttr(argument.getArgNumber(), "nest.counted", mark);
      else
        elements.memory.getDefiningOp()->setAttr("nest.counted", mark);
  }
};
} // namespace

} // namespace ml2k
