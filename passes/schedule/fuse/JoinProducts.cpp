//===- JoinProducts.cpp - products of one input as one product ----------------------------------------------------===//
//
// Queries, keys and values are products of the same rows with three weights. With these one below the other, as [3 * n,
// k], they are one product of as many rows and three times the columns: one launch, which reads the input once and
// fills a device better. Whoever reads one of them reads a part of [m, 3, n] at a constant index, so that nothing is
// copied. At the end of the schedule: what could take work into an epilogue has done so.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/schedule/fuse/ReadParts.h"
#include "translator/ir/UniqueNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"

#include <limits>

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_JOINPRODUCTS
#include "passes/Passes.h.inc"

namespace {

constexpr size_t mostProducts = 8; ///< of a product
constexpr size_t mostForms = 4;  ///< of products of one input that are looked at: time must not grow with their square
constexpr unsigned farthest = 8; ///< kernels between two of them: all results are alive from the first one on

/// Elements that can be put one below the other.
bool hasBytes(ElementsAttr value) {
  Type const type = value.getElementType();
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0 && value.getNumElements() > 0 &&
         (resource ? resource.getRawHandle().getBlob() != nullptr : isa<DenseElementsAttr>(value));
}

/// A weight that only this kernel reads.
nest::WeightOp ownWeight(Value value) {
  auto weight = value.getDefiningOp<nest::WeightOp>();
  return weight && weight->hasOneUse() && hasBytes(weight.getValue()) ? weight : nest::WeightOp();
}

/// Work on the sum and on what the extras hold for its column, which does not ask for the column itself.
bool isOfColumns(Block &epilogue) {
  return llvm::all_of(epilogue, [](Operation &op) {
    return isa<nest::YieldOp>(op) || (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
                                      llvm::none_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>));
  });
}

/// Rows [m, k] times a constant [n, k], with constants of each column in the epilogue.
bool isJoinable(nest::ContractOp product) {
  Builder builder(product.getContext());
  AffineExpr const m = builder.getAffineDimExpr(0), n = builder.getAffineDimExpr(1), k = builder.getAffineDimExpr(2);
  auto const map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(3, 0, exprs, product.getContext()); };
  SmallVector<AffineMap> maps = {map({m, k}), map({n, k})};
  maps.append(product.getExtras().size(), map({n}));
  maps.push_back(map({m, n}));
  return llvm::equal(product.getRoles(), ArrayRef({nest::Role::M, nest::Role::N, nest::Role::K})) &&
         product->getNumResults() == 1 && product.getMaps() == maps && ownWeight(product.getInputs()[1]) &&
         llvm::all_of(product.getExtras(), ownWeight) && product.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() &&
         isOfColumns(product.getEpilogue().front());
}

bool areAlike(nest::ContractOp a, nest::ContractOp b) {
  auto const packing = [](Value weight) { return weight.getDefiningOp<nest::WeightOp>().getPackingAttr(); };
  return a->getOperandTypes() == b->getOperandTypes() && a->getResultTypes() == b->getResultTypes() &&
         a.getBiasAttr() == b.getBiasAttr() && a->getDiscardableAttrDictionary() == b->getDiscardableAttrDictionary() &&
         llvm::all_of_zip(a.getInputs().drop_front(), b.getInputs().drop_front(),
                          [&](Value x, Value y) { return packing(x) == packing(y); }) &&
         OperationEquivalence::isRegionEquivalentTo(&a.getEpilogue(), &b.getEpilogue(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Products of one input, in order.
struct Group {
  SmallVector<nest::ContractOp> products;
  unsigned last; ///< the number of the last one among all kernels

  /// Whether an int can still count the elements of the result.
  bool canCountOneMore() const {
    auto const type = cast<RankedTensorType>(products.front()->getResult(0).getType());
    int64_t const rows = type.isDynamicDim(0) ? 1 : type.getDimSize(0);
    return int64_t(products.size() + 1) <=
           std::numeric_limits<int>::max() / std::max<int64_t>(rows, 1) / std::max<int64_t>(type.getDimSize(1), 1);
  }
};

/// a.q.weight, a.k.weight and a.v.weight are a.q_k_v.weight; of many parts the first and the last are named.
std::string nameOfAll(ArrayRef<StringRef> names) {
  constexpr size_t mostNames = 4;
  auto const isSeparator = [](char c) { return c == '.' || c == '/'; };
  StringRef const first = names.front();
  size_t front = 0, back = 0, shortest = first.size();
  for (StringRef name : names)
    shortest = std::min(shortest, name.size());
  for (size_t i = 0; i < shortest && llvm::all_of(names, [&](StringRef n) { return n[i] == first[i]; }); ++i)
    if (isSeparator(first[i]))
      front = i + 1;
  for (size_t i = 1;
       i + front < shortest && llvm::all_of(
                                   names, [&](StringRef n) { return n[n.size() - i] == first[first.size() - i]; });
       ++i)
    if (isSeparator(first[first.size() - i]))
      back = i;
  auto const own = [&](StringRef name) { return name.drop_front(front).drop_back(back); };
  std::string middle = own(first).str();
  if (names.size() > mostNames)
    middle += ("_to_" + own(names.back())).str();
  else
    for (StringRef name : names.drop_front())
      middle += ("_" + own(name)).str();
  return (first.take_front(front) + middle + first.take_back(back)).str();
}

struct JoinProducts : impl::JoinProductsBase<JoinProducts> {
  void runOnOperation() override {
    llvm::MapVector<std::pair<Block *, Value>, SmallVector<Group>> groups;
    unsigned number = 0;
    getOperation().walk([&](Operation *op) {
      if (auto weight = dyn_cast<nest::WeightOp>(op))
        names.take(weight.getName());
      if (!isa<nest::Kernel>(op))
        return;
      labels.take(nest::labelOf(op));
      ++number;
      auto product = dyn_cast<nest::ContractOp>(op);
      if (product && isJoinable(product) && canReadPart(product->getResult(0)))
        add(groups[{product->getBlock(), product.getInputs()[0]}], product, number);
    });
    for (auto &[input, forms] : groups)
      for (Group &group : forms)
        if (group.products.size() > 1)
          join(group.products);
    names = labels = {};
  }

private:
  static void add(SmallVector<Group> &groups, nest::ContractOp product, unsigned number) {
    for (Group &group : llvm::reverse(MutableArrayRef(groups).take_back(mostForms)))
      if (number - group.last <= farthest && group.products.size() < mostProducts && group.canCountOneMore() &&
          areAlike(group.products.front(), product)) {
        group.products.push_back(product);
        group.last = number;
        return;
      }
    groups.push_back({{product}, number});
  }

  void join(ArrayRef<nest::ContractOp> products) {
    nest::ContractOp first = products.front();
    OpBuilder builder(first);
    SmallVector<Value> inputs = {first.getInputs()[0]}, extras;
    unsigned const constants = first.getInputs().size() + first.getExtras().size();
    for (unsigned operand = 1; operand < constants; ++operand)
      (operand == 1 ? inputs : extras).push_back(weightOfAll(products, operand));
    auto empty = first.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    auto const type = cast<RankedTensorType>(first->getResult(0).getType());
    int64_t const parts = products.size(), columns = type.getDimSize(1);
    Value const init =
        builder.create<tensor::EmptyOp>(first.getLoc(), ArrayRef<int64_t>{type.getDimSize(0), parts * columns},
                                        type.getElementType(), empty.getDynamicSizes());
    SmallVector<StringRef> const labelsOfAll =
        llvm::map_to_vector(products, [](nest::ContractOp product) { return product.getLabel(); });
    SmallVector<Location> const locations =
        llvm::map_to_vector(products, [](nest::ContractOp product) { return product.getLoc(); });
    std::string const all = nameOfAll(labelsOfAll);
    auto joined = builder.create<nest::ContractOp>(
        fusedLocation(builder.getContext(), locations), TypeRange{init.getType()}, labels.unique(all, all), inputs,
        extras, init, first.getIndexingMapsAttr(), first.getIteratorsAttr(), first.getBiasAttr());
    joined->setDiscardableAttrs(first->getDiscardableAttrDictionary());
    joined.getEpilogue().takeBody(first.getEpilogue());
    for (auto const &[part, product] : llvm::enumerate(products)) {
      readPart(product->getResult(0), joined->getResult(0), parts, part);
      erase(product);
    }
  }

  /// The constants of all products at an operand, one below the other.
  Value weightOfAll(ArrayRef<nest::ContractOp> products, unsigned operand) {
    std::vector<char> bytes;
    SmallVector<std::string> held;
    SmallVector<Location> locations;
    for (nest::ContractOp product : products) {
      auto weight = product->getOperand(operand).getDefiningOp<nest::WeightOp>();
      llvm::append_range(bytes, constantBytes(weight.getValue()));
      held.push_back(weight.getName().str());
      locations.push_back(weight.getLoc());
    }
    auto first = products.front()->getOperand(operand).getDefiningOp<nest::WeightOp>();
    auto const part = cast<RankedTensorType>(first.getType());
    SmallVector<int64_t> shape(part.getShape());
    shape[0] *= int64_t(products.size());
    std::string const all = nameOfAll(SmallVector<StringRef>(held.begin(), held.end()));
    OpBuilder builder(first);
    auto const type = RankedTensorType::get(shape, part.getElementType());
    return builder.create<nest::WeightOp>(fusedLocation(builder.getContext(), locations), type,
                                          builder.getStringAttr(names.unique(all, all)),
                                          DenseElementsAttr::getFromRawBuffer(type, bytes), first.getPackingAttr());
  }

  /// A product that nobody reads any more, and its constants.
  static void erase(nest::ContractOp product) {
    SmallVector<Value> const operands(product->getOperands());
    product->erase();
    for (Value operand : operands)
      if (Operation *op = operand.getDefiningOp(); op && isa<nest::WeightOp, tensor::EmptyOp>(op) && op->use_empty())
        op->erase();
  }

  UniqueNames names, labels;
};

} // namespace
} // namespace ml2k
