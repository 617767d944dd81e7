//===- RaiseProducts.cpp - kernels whose loops are a matrix product become nest.contract --------------------------===//
//
// A kernel that adds products of elements of two operands in an inner loop, in any order (linalg's reductions, sums whose
// terms may be reassociated), and stores one element: the loops get roles, what stands behind the sum is the epilogue. A
// sum that keeps its order stays a loop, as do products too small for a tile.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/LoopNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

using nest::Role;

namespace {

/// A product of fewer columns or terms is better off as it stands.
constexpr int64_t leastColumns = 8, leastTerms = 8;

/// Of a loop in the source, perhaps none.
StringRef nameOf(Value index) {
  auto const location = dyn_cast<NameLoc>(index.getLoc());
  StringRef name = location ? location.getName().getValue() : "";
  return name.consume_front("argument \"") ? name.drop_back() : "";
}

/// Reads a kernel, writes the contraction.
class Product {
public:
  explicit Product(nest::LoopKernelOp kernel) : kernel(kernel), block(kernel.getBody().front()) {}

  bool read() { return readFrame() && readSum() && readRest() && sortLoops() && isWorthIt(); }
  void raise(RewriterBase &rewriter);

private:
  bool readFrame();
  bool readSum();
  bool readRest();
  bool sortLoops();
  bool isWorthIt();
  bool isWhole(Value memref, AffineMap map, unsigned loop);
  memref::LoadOp factor(Value value);
  AffineMap mapOf(ValueRange positions);
  AffineMap sorted(AffineMap map) const;
  Value upper(unsigned loop) { return loop == sumLoop() ? sum.getUpperBound() : kernel.getUppers()[loop]; }
  unsigned sumLoop() { return block.getNumArguments(); }

  nest::LoopKernelOp kernel;
  Block &block;
  scf::ForOp sum;
  memref::StoreOp store;
  memref::LoadOp left, right;
  AffineMap mapOfLeft, mapOfRight, mapOfStore;
  SmallVector<memref::LoadOp> extras;
  SmallVector<Role> roles;      ///< of the kernel's loops and the sum's
  SmallVector<unsigned> places; ///< of those loops in the contraction
};

/// Independent loops from 0 on around one inner loop and one store; the rest is scalar.
bool Product::readFrame() {
  if (kernel.getPolicy() == nest::Policy::Team || kernel.getOrdered() || !kernel.getInto().empty() ||
      block.getNumArguments() < 2 ||
      llvm::any_of(kernel.getLowers(), [](Value lower) { return !isConstantIntValue(lower, 0); }))
    return false;
  for (Operation &op : block.without_terminator())
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !sum)
      sum = loop;
    else if (auto other = dyn_cast<memref::StoreOp>(op); other && !store)
      store = other;
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      extras.push_back(load);
    else if (!isPure(&op) || op.getNumRegions() != 0)
      return false;
  return sum && store;
}

/// Of positions that are loop indices or numbers; none for others.
AffineMap Product::mapOf(ValueRange positions) {
  MLIRContext *context = kernel->getContext();
  SmallVector<AffineExpr> exprs;
  for (Value position : positions) {
    auto const argument = dyn_cast<BlockArgument>(position);
    if (std::optional<int64_t> const number = getConstantIntValue(position))
      exprs.push_back(getAffineConstantExpr(*number, context));
    else if (argument && argument.getOwner() == &block)
      exprs.push_back(getAffineDimExpr(argument.getArgNumber(), context));
    else if (argument && argument == sum.getInductionVar())
      exprs.push_back(getAffineDimExpr(sumLoop(), context));
    else
      return {};
  }
  return AffineMap::get(sumLoop() + 1, 0, exprs, context);
}

/// The load of a factor, perhaps a narrow one.
memref::LoadOp Product::factor(Value value) {
  if (auto wide = value.getDefiningOp<arith::ExtFOp>(); wide && wide->getBlock() == sum.getBody())
    value = wide.getIn();
  auto load = value.getDefiningOp<memref::LoadOp>();
  return load && load->getBlock() == sum.getBody() ? load : memref::LoadOp();
}

/// `carried + a[...] * b[...]` and nothing else.
bool Product::readSum() {
  if (sum.getNumResults() != 1 || !isConstantIntValue(sum.getLowerBound(), 0) || !isConstantIntValue(sum.getStep(), 1))
    return false;
  auto add = sum.getYieldedValues()[0].getDefiningOp<arith::AddFOp>();
  BlockArgument const carried = sum.getRegionIterArg(0);
  if (!add || !nest::mayReassociate(add) || !(add.getType().isF32() || add.getType().isF64()) || !carried.hasOneUse())
    return false;
  bool const isFirst = add.getLhs() == carried;
  auto multiply = (isFirst ? add.getRhs() : add.getLhs()).getDefiningOp<arith::MulFOp>();
  if (!(isFirst || add.getRhs() == carried) || !multiply || multiply->getBlock() != sum.getBody())
    return false;
  left = factor(multiply.getLhs());
  right = factor(multiply.getRhs());
  if (!left || !right || left == right || left.getMemRefType().getElementType() != right.getMemRefType().getElementType())
    return false;
  unsigned const casts = (multiply.getLhs() != left.getResult()) + (multiply.getRhs() != right.getResult());
  return unsigned(llvm::range_size(*sum.getBody())) == 5 + casts;
}

/// The operands of the other operations: loop indices are positions only, and of the result an element is read, at most,
/// where it is written.
bool Product::readRest() {
  mapOfLeft = mapOf(left.getIndices());
  mapOfRight = mapOf(right.getIndices());
  mapOfStore = mapOf(store.getIndices());
  if (!mapOfLeft || !mapOfRight || !mapOfStore || !mapOfStore.isProjectedPermutation() ||
      mapOfStore.getNumResults() != block.getNumArguments() || !mapOfLeft.isProjectedPermutation() ||
      !mapOfRight.isProjectedPermutation())
    return false;
  Value const result = store.getMemref();
  if (!isInjective(result) || mayAlias(result, left.getMemref()) || mayAlias(result, right.getMemref()))
    return false;
  for (memref::LoadOp load : extras) {
    AffineMap const map = mapOf(load.getIndices());
    bool const isOwn = load.getMemref() == result && map == mapOfStore;
    if (!map || (mayAlias(load.getMemref(), result) && !isOwn))
      return false;
  }
  for (Operation &op : block.without_terminator())
    if (!isa<memref::LoadOp, memref::StoreOp>(op) &&
        llvm::any_of(op.getOperands(), [&](Value v) { return llvm::is_contained(block.getArguments(), v); }))
      return false;
  return !llvm::is_contained(block.getArguments(), store.getValue());
}

/// Whether a loop runs over all of a dimension of `memref`, whose extent it gets.
bool Product::isWhole(Value memref, AffineMap map, unsigned loop) {
  unsigned const dim = *map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  Value const end = upper(loop);
  auto const type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return isConstantIntValue(end, type.getDimSize(dim));
  if (auto buffer = memref.getDefiningOp<nest::BufferOp>())
    return buffer.getSizes()[type.getDynamicDimIndex(dim)] == end;
  auto size = end.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> const other = size ? size.getConstantIndex() : std::nullopt;
  if (!other)
    return false;
  if (size.getSource() == memref)
    return *other == dim;
  auto const name = [&](Value of, unsigned place) -> Attribute {
    auto const argument = dyn_cast<BlockArgument>(of);
    auto entry = kernel->getParentOfType<func::FuncOp>();
    if (!argument || argument.getOwner() != &entry.getBody().front())
      return {};
    auto const names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
    return names ? names[place] : Attribute();
  };
  Attribute const own = name(memref, dim);
  return own && own == name(size.getSource(), *other);
}

/// Roles; `left` is the operand without the columns of the result. A contraction has the extents of its result, and that
/// of the sum from its right operand.
bool Product::sortLoops() {
  auto const roleOf = [&](unsigned loop) -> std::optional<Role> {
    bool const inLeft = mapOfLeft.isFunctionOfDim(loop), inRight = mapOfRight.isFunctionOfDim(loop);
    if (loop == sumLoop())
      return inLeft && inRight ? std::optional(Role::K) : std::nullopt;
    return inLeft && inRight ? std::optional(Role::Batch)
           : inLeft          ? std::optional(Role::M)
           : inRight         ? std::optional(Role::N)
                             : std::nullopt;
  };
  unsigned const last = cast<AffineDimExpr>(mapOfStore.getResults().back()).getPosition();
  if (roleOf(last) == Role::M) {
    std::swap(left, right);
    std::swap(mapOfLeft, mapOfRight);
  }
  for (unsigned loop = 0; loop <= sumLoop(); ++loop) {
    std::optional<Role> const role = roleOf(loop);
    if (!role || !isWhole(loop == sumLoop() ? right.getMemref() : store.getMemref(),
                          loop == sumLoop() ? mapOfRight : mapOfStore, loop))
      return false;
    roles.push_back(*role);
  }
  unsigned next = 0;
  places.assign(roles.size(), 0);
  for (Role role : {Role::Batch, Role::M, Role::N, Role::K})
    for (unsigned loop = 0; loop < roles.size(); ++loop)
      if (roles[loop] == role)
        places[loop] = next++;
  return true;
}

bool Product::isWorthIt() {
  auto const atLeast = [&](Role role, int64_t least) {
    int64_t size = 0;
    for (unsigned loop = 0; loop < roles.size(); ++loop)
      if (roles[loop] == role) {
        std::optional<int64_t> const extent = getConstantIntValue(upper(loop));
        size = extent ? std::max<int64_t>(size, 1) * *extent : least;
      }
    return size >= least;
  };
  return atLeast(Role::M, 2) && atLeast(Role::N, leastColumns) && atLeast(Role::K, leastTerms);
}

AffineMap Product::sorted(AffineMap map) const {
  SmallVector<AffineExpr> dims;
  for (unsigned place : places)
    dims.push_back(getAffineDimExpr(place, map.getContext()));
  return map.replaceDimsAndSymbols(dims, {}, dims.size(), 0);
}

void Product::raise(RewriterBase &rewriter) {
  SmallVector<Role> iterators(roles.size());
  for (auto [role, place] : llvm::zip(roles, places))
    iterators[place] = role;
  SmallVector<AffineMap> maps = {sorted(mapOfLeft), sorted(mapOfRight)};
  SmallVector<Value> read;
  for (memref::LoadOp load : extras) {
    maps.push_back(sorted(mapOf(load.getIndices())));
    read.push_back(load.getMemref());
  }
  maps.push_back(sorted(mapOfStore));
  Location const location = kernel.getLoc();
  rewriter.setInsertionPoint(kernel);
  auto contract = rewriter.create<nest::ContractOp>(
      location, TypeRange(), kernel.getLabel(), ValueRange{left.getMemref(), right.getMemref()}, read,
      ValueRange{store.getMemref()}, rewriter.getAffineMapArrayAttr(maps),
      nest::rolesAttr(rewriter.getContext(), iterators), /*bias=*/IntegerAttr());
  SmallVector<Attribute> names(roles.size());
  for (auto [loop, place] : llvm::enumerate(places))
    names[place] = rewriter.getStringAttr(nameOf(loop == sumLoop() ? sum.getInductionVar() : block.getArgument(loop)));
  contract->setAttr(nest::loopNames, rewriter.getArrayAttr(names));
  Block *epilogue = rewriter.createBlock(&contract.getEpilogue(), {}, sum.getResult(0).getType(), sum.getLoc());
  IRMapping values;
  for (memref::LoadOp load : extras)
    values.map(load.getResult(), epilogue->addArgument(load.getType(), load.getLoc()));
  for (Operation &op : block.without_terminator())
    if (&op == sum) {
      Value total = epilogue->getArgument(0);
      if (Value const initial = sum.getInitArgs()[0]; !matchPattern(initial, m_AnyZeroFloat()))
        total = rewriter.create<arith::AddFOp>(sum.getLoc(), values.lookupOrDefault(initial), total);
      values.map(sum.getResult(0), total);
    } else if (!isa<memref::LoadOp, memref::StoreOp>(op)) {
      rewriter.clone(op, values);
    }
  rewriter.create<nest::YieldOp>(location, values.lookupOrDefault(store.getValue()));
  rewriter.eraseOp(kernel);
}

} // namespace

void raiseProducts(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<nest::LoopKernelOp> kernels;
  entry.walk([&](nest::LoopKernelOp kernel) { kernels.push_back(kernel); });
  for (nest::LoopKernelOp kernel : kernels)
    if (Product product(kernel); product.read())
      product.raise(rewriter);
}

} // namespace ml2k
