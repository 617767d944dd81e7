//===- RaiseComplexProducts.cpp - matrix products of complex numbers become such of real ones ---------------------===//
//
// A complex number y multiplies the pair of real numbers x by a matrix of two by two. A matrix of complex numbers lies
// in memory as one of real numbers with twice as many columns: with each number of the right operand as its two by two,
// one real product makes both parts of all sums. A vector is a right operand of one column.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/Labels.h"
#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/SumKernel.h"
#include "translator/ir/AtomicUpdates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {

using nest::Role;

namespace {

constexpr unsigned parts = 2;       ///< real and imaginary
constexpr int64_t leastNumbers = 8; ///< rows, columns and terms of a product that is worth a tile

/// One of the two factors: elements of `memory` at `at`, the last position without the part.
struct Factor {
  Value memory;
  SmallVector<Value> at;
  AffineMap map; ///< of all loops
  bool operator==(Factor const &other) const { return memory == other.memory && at == other.at; }
};

class ComplexProduct : SumKernel {
public:
  using SumKernel::SumKernel;

  bool read() { return readLoops() && readTerms() && sortFactors() && readStores(); }
  void raise(RewriterBase &rewriter, Labels &labels);

private:
  bool readLoops();
  bool readTerms();
  bool readTerm(unsigned part, Value term);
  bool sortFactors();
  bool readStores();
  bool isLarge(unsigned loop) { return getConstantIntValue(upper(loop)).value_or(leastNumbers) >= leastNumbers; }
  Value indexOf(unsigned loop) { return loop == sumLoop() ? sum.getInductionVar() : Value(block.getArgument(loop)); }
  struct Read {
    Factor factor;
    unsigned part;
    bool isNegative;
  };
  std::optional<Read> factorOf(Value value);
  Value outside(RewriterBase &rewriter, Value value);
  Value twice(RewriterBase &rewriter, Value value);
  Value place(RewriterBase &rewriter, Value index, unsigned part);
  bool isAligned();
  void spread(RewriterBase &rewriter, Labels &labels, Value matrix);
  Value asReal(RewriterBase &rewriter, Value memory);
  void multiply(RewriterBase &rewriter, StringRef label, Value right, Value product);
  void readSums(RewriterBase &rewriter, Value product);

  /// What a part of the left factor contributes to a part of the sum: a part of the right one, with a sign.
  struct Coefficient {
    unsigned part = parts;
    bool isNegative = false;
  };
  Coefficient coefficients[parts][parts]; ///< by the part of the left factor, then of the sum
  std::optional<Factor> factors[2];       ///< left, with the row of the result, and right
  unsigned row = 0;                       ///< loops
  std::optional<unsigned> column;         ///< none for a vector
  SmallVector<memref::StoreOp> stores;
  Value result; ///< the memory that the sums are stored to, if the kernel does nothing else
  bool adds = false;
};

} // namespace

/// One or two independent loops around one that carries two sums.
bool ComplexProduct::readLoops() {
  if (kernel.getPolicy() == nest::Policy::Team || kernel.getOrdered() || !kernel.getInto().empty() ||
      nest::hasAtomicUpdates(kernel) || block.getNumArguments() == 0 || block.getNumArguments() > 2 ||
      llvm::any_of(kernel.getLowers(), [](Value lower) { return !isConstantIntValue(lower, 0); }))
    return false;
  for (Operation &op : block.without_terminator())
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !sum)
      sum = loop;
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      stores.push_back(store);
    else if (!isa<memref::LoadOp>(op) && (!isPure(&op) || op.getNumRegions() != 0))
      return false;
  return sum && sum.getNumResults() == parts && isConstantIntValue(sum.getLowerBound(), 0) &&
         isConstantIntValue(sum.getStep(), 1) && standsAlone() &&
         llvm::all_of(llvm::seq(0u, sumLoop() + 1), [&](unsigned loop) { return isLarge(loop); });
}

/// A part of a factor, perhaps of its conjugate.
std::optional<ComplexProduct::Read> ComplexProduct::factorOf(Value value) {
  auto negated = value.getDefiningOp<arith::NegFOp>();
  auto load = (negated ? negated.getOperand() : value).getDefiningOp<memref::LoadOp>();
  if (!load || load->getBlock() != sum.getBody() || load.getIndices().empty())
    return std::nullopt;
  std::optional<int64_t> const part = getConstantIntValue(load.getIndices().back());
  Factor const factor{load.getMemref(), SmallVector<Value>(load.getIndices().drop_back()),
                      mapOf(load.getIndices().drop_back())};
  if (!part || *part < 0 || *part >= parts || load.getMemRefType().getShape().back() != parts || !factor.map ||
      !factor.map.isProjectedPermutation())
    return std::nullopt;
  return Read{factor, unsigned(*part), bool(negated)};
}

/// `x_re * y_re - x_im * y_im`, or other signs and parts.
bool ComplexProduct::readTerm(unsigned part, Value term) {
  Operation *const both = term.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(both) || both->getBlock() != sum.getBody())
    return false;
  for (unsigned i = 0; i < 2; ++i) {
    auto product = both->getOperand(i).getDefiningOp<arith::MulFOp>();
    if (!product || product->getBlock() != sum.getBody())
      return false;
    std::optional<Read> left = factorOf(product.getLhs()), right = factorOf(product.getRhs());
    if (!left || !right)
      return false;
    if (!factors[0])
      std::tie(factors[0], factors[1]) = std::tuple(left->factor, right->factor);
    if (!(left->factor == *factors[0]))
      std::swap(left, right);
    if (!(left->factor == *factors[0]) || !(right->factor == *factors[1]) || *factors[0] == *factors[1])
      return false;
    Coefficient &coefficient = coefficients[left->part][part];
    if (coefficient.part != parts)
      return false;
    bool const isTaken = i == 1 && isa<arith::SubFOp>(both);
    coefficient = {right->part, (isTaken + left->isNegative + right->isNegative) % 2 == 1};
  }
  return true;
}

/// Both sums, whose terms may be joined in any order, and nothing else.
bool ComplexProduct::readTerms() {
  constexpr unsigned operations = 13; // four loads, four products, two terms, two sums and the yield
  unsigned const signs = llvm::count_if(*sum.getBody(), llvm::IsaPred<arith::NegFOp>);
  if (llvm::range_size(*sum.getBody()) != operations + signs)
    return false;
  for (unsigned part = 0; part < parts; ++part) {
    auto add = sum.getYieldedValues()[part].getDefiningOp<arith::AddFOp>();
    BlockArgument const carried = sum.getRegionIterArg(part);
    bool const isSum = add && nest::mayReassociate(add) && (add.getType().isF32() || add.getType().isF64()) &&
                       carried.hasOneUse() && (add.getLhs() == carried || add.getRhs() == carried);
    if (!isSum || !readTerm(part, add.getLhs() == carried ? add.getRhs() : add.getLhs()))
      return false;
  }
  return true;
}

/// The left one depends on the row of the result, the first loop, the right one on its column, if there are some.
bool ComplexProduct::sortFactors() {
  auto const isOf = [&](Factor const &factor, std::optional<unsigned> loop) {
    return factor.map.getNumResults() == (loop ? 2u : 1u) && factor.map.isFunctionOfDim(sumLoop()) &&
           (!loop || factor.map.isFunctionOfDim(*loop));
  };
  if (block.getNumArguments() == 2)
    column = 1;
  if (isOf(*factors[0], column) && isOf(*factors[1], row)) {
    std::swap(factors[0], factors[1]);
    Coefficient turned[parts][parts];
    for (unsigned part = 0; part < parts; ++part)
      for (unsigned own = 0; own < parts; ++own)
        turned[coefficients[own][part].part][part] = {own, coefficients[own][part].isNegative};
    std::swap(coefficients, turned);
  }
  auto const isWhole = [](Coefficient const &coefficient) { return coefficient.part != parts; };
  auto const typeOf = [](Factor const &factor) { return cast<MemRefType>(factor.memory.getType()).getElementType(); };
  Type const type = sum.getResult(0).getType();
  return isOf(*factors[0], row) && isOf(*factors[1], column) && typeOf(*factors[0]) == type &&
         typeOf(*factors[1]) == type &&
         llvm::all_of(coefficients, [&](Coefficient const(&of)[parts]) { return llvm::all_of(of, isWhole); });
}

/// What the kernel stores is apart from the factors; whether that is the sums, or what they are added to, alone.
bool ComplexProduct::readStores() {
  for (memref::StoreOp store : stores)
    if (mayAlias(store.getMemref(), factors[0]->memory) || mayAlias(store.getMemref(), factors[1]->memory))
      return false;
  if (stores.size() != parts || stores[0].getMemref() != stores[1].getMemref())
    return true;
  Value const memory = stores[0].getMemref();
  auto const type = cast<MemRefType>(memory.getType());
  if (type.getRank() != 2 + column.has_value() || !type.getLayout().isIdentity() || type.getShape().back() != parts)
    return true;
  unsigned others = 0;
  for (auto [part, store] : llvm::enumerate(stores)) {
    auto const isHere = [&, part = part](ValueRange at) {
      return at[0] == block.getArgument(row) && (!column || at[1] == block.getArgument(*column)) &&
             isConstantIntValue(at.back(), part);
    };
    Value const total = sum.getResult(part), init = sum.getInitArgs()[part];
    auto add = store.getValue().getDefiningOp<arith::AddFOp>();
    bool const isFromZero = matchPattern(init, m_AnyZeroFloat()), isSum = store.getValue() == total,
               isAdded = isFromZero && add && (add.getLhs() == total || add.getRhs() == total);
    Value const added = isAdded ? (add.getLhs() == total ? add.getRhs() : add.getLhs()) : isSum ? init : Value();
    auto before = added ? added.getDefiningOp<memref::LoadOp>() : memref::LoadOp();
    bool const isChange = before && before.getMemref() == memory && isHere(before.getIndices()) && before->hasOneUse();
    if (!isHere(store.getIndices()) || !(isChange || (isSum && isFromZero)) || (part == 1 && isChange != adds))
      return true;
    adds = isChange;
    others += isChange + isAdded;
  }
  unsigned constants = llvm::count_if(block, [](Operation &op) { return op.hasTrait<OpTrait::ConstantLike>(); });
  AffineMap const map = mapOf(stores[0].getIndices().drop_back());
  bool const isAlone = llvm::range_size(block) == 1 + parts + others + constants + 1; // the loop, stores, the yield
  if (isAlone && isWhole(memory, map, row) && (!column || isWhole(memory, map, *column)))
    result = memory;
  return true;
}

//===--- The real product -----------------------------------------------------------------------------------------===//

/// A bound in front of the kernel; null if it is computed inside.
Value ComplexProduct::outside(RewriterBase &rewriter, Value value) {
  if (std::optional<int64_t> const number = getConstantIntValue(value))
    return rewriter.create<arith::ConstantIndexOp>(kernel.getLoc(), *number);
  return kernel.getBody().isAncestor(value.getParentRegion()) ? Value() : value;
}

Value ComplexProduct::twice(RewriterBase &rewriter, Value value) {
  if (std::optional<int64_t> const number = getConstantIntValue(value))
    return rewriter.create<arith::ConstantIndexOp>(kernel.getLoc(), *number * parts);
  Value const two = rewriter.create<arith::ConstantIndexOp>(kernel.getLoc(), parts);
  return rewriter.create<arith::MulIOp>(kernel.getLoc(), value, two);
}

/// Where a part of a number lies along a dimension of real ones.
Value ComplexProduct::place(RewriterBase &rewriter, Value index, unsigned part) {
  Value const first = twice(rewriter, index);
  if (part == 0)
    return first;
  Value const one = rewriter.create<arith::ConstantIndexOp>(kernel.getLoc(), part);
  return rewriter.create<arith::AddIOp>(kernel.getLoc(), first, one);
}

/// Whether the terms of a row follow each other.
bool ComplexProduct::isAligned() {
  Factor const &left = *factors[0];
  return cast<MemRefType>(left.memory.getType()).getLayout().isIdentity() && left.at[1] == sum.getInductionVar() &&
         isWhole(left.memory, left.map, sumLoop());
}

/// A kernel over the numbers of the right factor stores two rows and two columns for each.
void ComplexProduct::spread(RewriterBase &rewriter, Labels &labels, Value matrix) {
  Location const location = kernel.getLoc();
  Value const zero = rewriter.create<arith::ConstantIndexOp>(location, 0),
              one = rewriter.create<arith::ConstantIndexOp>(location, 1);
  SmallVector<Value> ends = {outside(rewriter, sum.getUpperBound())}, sources = {sum.getInductionVar()};
  if (column) {
    ends.push_back(outside(rewriter, upper(*column)));
    sources.push_back(block.getArgument(*column));
  }
  auto loop = rewriter.create<scf::ParallelOp>(location, SmallVector<Value>(ends.size(), zero), ends,
                                               SmallVector<Value>(ends.size(), one));
  OpBuilder::InsertionGuard const guard(rewriter);
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  for (auto [index, source] : llvm::zip(loop.getInductionVars(), sources))
    index.setLoc(source.getLoc()); // its name
  SmallVector<Value> values, numbers;
  for (unsigned part = 0; part < parts; ++part) {
    SmallVector<Value> at;
    for (Value position : factors[1]->at)
      at.push_back(loop.getInductionVars()[position == sources.back() && column]);
    numbers.push_back(rewriter.create<arith::ConstantIndexOp>(location, part));
    at.push_back(numbers.back());
    values.push_back(rewriter.create<memref::LoadOp>(location, factors[1]->memory, at));
  }
  Value const k = loop.getInductionVars()[0];
  for (unsigned own = 0; own < parts; ++own)
    for (unsigned part = 0; part < parts; ++part) {
      auto const [from, isNegative] = coefficients[own][part];
      Value value = values[from];
      if (isNegative)
        value = rewriter.create<arith::NegFOp>(location, value);
      SmallVector<Value> at =
          isAligned() ? SmallVector<Value>{place(rewriter, k, own)} : SmallVector<Value>{k, numbers[own]};
      at.push_back(column ? place(rewriter, loop.getInductionVars()[1], part) : numbers[part]);
      rewriter.create<memref::StoreOp>(location, value, matrix, at);
    }
  loop->setAttr("nest.note",
                rewriter.getStringAttr("parallel: each number as the 2 by 2 matrix that multiplies by it"));
  nest::LoopKernelOp made = makeKernel(rewriter, loop, {});
  rewriter.eraseOp(loop);
  made.setLabel(labelFor(made, labels));
}

/// The memory of complex numbers as a matrix of real ones.
Value ComplexProduct::asReal(RewriterBase &rewriter, Value memory) {
  if (cast<MemRefType>(memory.getType()).getRank() == 2)
    return memory;
  return rewriter.create<memref::CollapseShapeOp>(kernel.getLoc(), memory, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

/// Terms are those of a row side by side, or numbers and then their parts.
void ComplexProduct::multiply(RewriterBase &rewriter, StringRef label, Value right, Value product) {
  MLIRContext *context = rewriter.getContext();
  auto const dim = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  SmallVector<Role> roles = {Role::M, Role::N, Role::K};
  SmallVector<AffineExpr> ofLeft, terms = {dim(2)};
  Value left = factors[0]->memory;
  if (isAligned()) {
    left = asReal(rewriter, left);
    ofLeft = {dim(0), dim(2)};
  } else {
    roles.push_back(Role::K);
    terms.push_back(dim(3));
    for (Value position : factors[0]->at)
      ofLeft.push_back(position == sum.getInductionVar() ? dim(2) : dim(0));
    ofLeft.push_back(dim(3));
  }
  SmallVector<AffineExpr> ofRight = terms, ofResult = {dim(0), dim(1)};
  ofRight.push_back(dim(1));
  SmallVector<AffineMap> maps;
  SmallVector<Value> read;
  auto const add = [&](ArrayRef<AffineExpr> exprs) { maps.push_back(AffineMap::get(roles.size(), 0, exprs, context)); };
  add(ofLeft);
  add(ofRight);
  if (adds) {
    read.push_back(product);
    add(ofResult);
  }
  add(ofResult);
  auto contract = rewriter.create<nest::ContractOp>(kernel.getLoc(), TypeRange(), label, ValueRange{left, right}, read,
                                                    ValueRange{product}, rewriter.getAffineMapArrayAttr(maps),
                                                    nest::rolesAttr(context, roles), /*bias=*/IntegerAttr());
  OpBuilder::InsertionGuard const guard(rewriter);
  SmallVector<Location> const locations(1 + read.size(), kernel.getLoc());
  Block *const epilogue = rewriter.createBlock(
      &contract.getEpilogue(), {}, SmallVector<Type>(locations.size(), sum.getResult(0).getType()), locations);
  Value value = epilogue->getArgument(0);
  if (adds)
    value = rewriter.create<arith::AddFOp>(kernel.getLoc(), epilogue->getArgument(1), value);
  rewriter.create<nest::YieldOp>(kernel.getLoc(), value);
}

/// The kernel reads the sums.
void ComplexProduct::readSums(RewriterBase &rewriter, Value product) {
  rewriter.setInsertionPoint(sum);
  SmallVector<Value> totals;
  for (auto [part, init] : llvm::enumerate(sum.getInitArgs())) {
    Value const number = rewriter.create<arith::ConstantIndexOp>(sum.getLoc(), part);
    Value const at = column ? place(rewriter, block.getArgument(*column), part) : number;
    totals.push_back(rewriter.create<memref::LoadOp>(sum.getLoc(), product, ValueRange{block.getArgument(row), at}));
    if (!matchPattern(init, m_AnyZeroFloat()))
      totals.back() = rewriter.create<arith::AddFOp>(sum.getLoc(), init, totals.back());
  }
  rewriter.replaceOp(sum, totals);
}

void ComplexProduct::raise(RewriterBase &rewriter, Labels &labels) {
  rewriter.setInsertionPoint(kernel);
  auto entry = kernel->getParentOfType<func::FuncOp>();
  Location const location = kernel.getLoc();
  Value const two = rewriter.create<arith::ConstantIndexOp>(location, parts);
  Value const rows = outside(rewriter, upper(row)), terms = outside(rewriter, sum.getUpperBound()),
              numbers = column ? outside(rewriter, upper(*column)) : two;
  if (!rows || !terms || !numbers)
    return;
  Type const type = sum.getResult(0).getType();
  Value const columns = column ? twice(rewriter, numbers) : two;
  // Memory of the workspace first: there is none for extents that only a loop knows
  SmallVector<Value> const shape =
      isAligned() ? SmallVector<Value>{twice(rewriter, terms), columns} : SmallVector<Value>{terms, two, columns};
  Value const right = makeArray(entry, type, shape, "pairs");
  Value const product = result || !right ? Value() : makeArray(entry, type, {rows, columns}, "product");
  if (!right)
    return;
  if (!result && !product)
    return rewriter.eraseOp(right.getDefiningOp());
  spread(rewriter, labels, right);
  if (result) {
    multiply(rewriter, kernel.getLabel(), right, asReal(rewriter, result));
    return rewriter.eraseOp(kernel);
  }
  std::string const label = (kernel.getLabel() + "_product").str();
  adds = false;
  multiply(rewriter, labels.take(label) ? label : labels.unique(label, label), right, product);
  readSums(rewriter, product);
}

void raiseComplexProducts(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<nest::LoopKernelOp> kernels;
  entry.walk([&](nest::LoopKernelOp kernel) { kernels.push_back(kernel); });
  Labels labels(entry);
  for (nest::LoopKernelOp kernel : kernels)
    if (ComplexProduct product(kernel); product.read())
      product.raise(rewriter, labels);
}

} // namespace ml2k
