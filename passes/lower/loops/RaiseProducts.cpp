//===- RaiseProducts.cpp - kernels whose loops are a matrix product become nest.contract --------------------------===//
//
// A kernel that adds products of elements of two operands in an inner loop, in any order (linalg's reductions, sums
// whose terms may be reassociated), and stores one element: the loops get roles, what stands behind the sum is the
// epilogue. A sum that keeps its order stays a loop, as do products too small for a tile.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/SumKernel.h"
#include "translator/ir/LoopNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

using nest::Role;

namespace {

/// A product of fewer rows, columns or terms is better off as it stands.
constexpr int64_t leastTileRows = 2, leastTileColumns = 2, leastTileTerms = 8;
constexpr int64_t leastTermsOfMany = 2; ///< of many products of known extents, which lie in registers

class Product : SumKernel {
public:
  using SumKernel::SumKernel;

  bool read() {
    return readFrame() && block.getNumArguments() > 1 && readSum() && readRest({left, right}) && sortLoops() &&
           atLeast(Role::M, leastTileRows) && atLeast(Role::N, leastTileColumns) &&
           atLeast(Role::K, isOfMany() ? leastTermsOfMany : leastTileTerms);
  }
  void raise(RewriterBase &rewriter);

private:
  bool readSum();
  bool sortLoops();
  bool atLeast(Role role, int64_t least);
  bool isOfMany();
  memref::LoadOp factor(Value value);
  AffineMap sorted(AffineMap map) const;

  memref::LoadOp left, right;
  AffineMap mapOfLeft, mapOfRight;
  SmallVector<Role> roles;      ///< of all loops
  SmallVector<unsigned> places; ///< of those in the contraction
};

/// The load of a factor, perhaps a narrow one.
memref::LoadOp Product::factor(Value value) {
  if (auto wide = value.getDefiningOp<arith::ExtFOp>(); wide && wide->getBlock() == sum.getBody())
    value = wide.getIn();
  auto load = value.getDefiningOp<memref::LoadOp>();
  return load && load->getBlock() == sum.getBody() ? load : memref::LoadOp();
}

/// `carried + a[...] * b[...]` and nothing else.
bool Product::readSum() {
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
  if (!left || !right || left == right ||
      left.getMemRefType().getElementType() != right.getMemRefType().getElementType())
    return false;
  mapOfLeft = mapOf(left.getIndices());
  mapOfRight = mapOf(right.getIndices());
  unsigned const casts = (multiply.getLhs() != left.getResult()) + (multiply.getRhs() != right.getResult());
  return unsigned(llvm::range_size(*sum.getBody())) == 5 + casts && mapOfLeft && mapOfRight &&
         mapOfLeft.isProjectedPermutation() && mapOfRight.isProjectedPermutation();
}

/// Roles; `right` is the operand with the columns of the result. A contraction has the extents of its result, and that
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
  if (roleOf(cast<AffineDimExpr>(mapOfStore.getResults().back()).getPosition()) == Role::M) {
    std::swap(left, right);
    std::swap(mapOfLeft, mapOfRight);
  }
  for (unsigned loop = 0; loop <= sumLoop(); ++loop) {
    std::optional<Role> const role = roleOf(loop);
    if (!role || !(loop == sumLoop() ? isWhole(right.getMemref(), mapOfRight, loop)
                                     : isWhole(store.getMemref(), mapOfStore, loop)))
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

/// Whether the loops of a role, of which there are some, run so often. One whose extent is not known does.
bool Product::atLeast(Role role, int64_t least) {
  int64_t size = llvm::is_contained(roles, role);
  for (unsigned loop = 0; loop < roles.size(); ++loop)
    if (roles[loop] == role)
      size *= std::min(getConstantIntValue(upper(loop)).value_or(least), least);
  return size >= least;
}

/// Whether the products are many, and their extents known.
bool Product::isOfMany() {
  bool isOfMany = false, isKnown = true;
  for (auto [loop, role] : llvm::enumerate(roles)) {
    isOfMany |= role == Role::Batch;
    isKnown &= role == Role::Batch || getConstantIntValue(upper(loop)).has_value();
  }
  return isOfMany && isKnown;
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
  rewriter.setInsertionPoint(kernel);
  auto contract = rewriter.create<nest::ContractOp>(
      kernel.getLoc(), TypeRange(), kernel.getLabel(), ValueRange{left.getMemref(), right.getMemref()}, read,
      ValueRange{store.getMemref()}, rewriter.getAffineMapArrayAttr(maps),
      nest::rolesAttr(rewriter.getContext(), iterators), /*bias=*/IntegerAttr());
  contract->setAttr(nest::loopNames, namesOf(places));
  writeEpilogue(rewriter, contract.getEpilogue(), [&](Value initial, Value total) -> Value {
    return matchPattern(initial, m_AnyZeroFloat()) ? total
                                                   : rewriter.create<arith::AddFOp>(sum.getLoc(), initial, total);
  });
  rewriter.eraseOp(kernel);
}

} // namespace

void raiseProducts(func::FuncOp entry) { raiseKernels<Product>(entry); }

} // namespace ml2k
