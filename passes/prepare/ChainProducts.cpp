//===- ChainProducts.cpp - small matrix products, each of the results of the one before ---------------------------===//
//
// On a device a small network is little more than its launches: a team can take some rows through several products
// where what lies between these fits its scratch.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/memory/Memory.h"
#include "passes/prepare/Prepare.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CHAINPRODUCTS
#include "passes/prepare/Passes.h.inc"

/// What every device gives a team, and what the block `contract_in_turn` takes of it: so many rows, padded by four.
static constexpr int64_t scratchBytes = 48 << 10, rowsOfTeam = 32, padding = 4;

/// What one kernel takes as its arguments, and time that grows like the program.
static constexpr size_t mostProducts = 8;

static nest::PackingAttr packingOf(nest::ContractOp product) {
  return *product.getInputs()[1].getDefiningOp<nest::WeightOp>().getPacking();
}

/// A product of packed weights, all of f32, whose epilogue reads nothing that kernels write.
static bool canTakeTurns(nest::ContractOp product) {
  nest::ScheduleAttr const schedule = nest::scheduleOf(product);
  if (schedule.getBlock() != nest::KernelBlock::Contract || product->hasAttr("nest.tuned") ||
      product->hasAttr("nest.in_turn") || packingOf(product).getGroups() != 1)
    return false;
  auto const isFloat = [](Value value) { return cast<MemRefType>(value.getType()).getElementType().isF32(); };
  auto const isConstant = [](Value extra) {
    Value const root = rootOf(extra);
    auto const argument = dyn_cast<BlockArgument>(root);
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    return root.getDefiningOp<nest::WeightOp>() ||
           (function && !function.getArgAttr(argument.getArgNumber(), "nest.output"));
  };
  bool hasGather = false;
  product.getEpilogue().walk([&](memref::LoadOp) { hasGather = true; });
  return llvm::all_of(product.getInputs(), isFloat) && llvm::all_of(product.getOutputs(), isFloat) &&
         llvm::all_of(product.getExtras(), isConstant) && !hasGather;
}

/// Whether the second product takes what the first one makes, and nobody else does.
static bool isNext(nest::ContractOp first, nest::ContractOp second) {
  Value const between = first.getOutputs()[0];
  if (second.getInputs()[0] != between || !between.getDefiningOp<nest::BufferOp>())
    return false;
  return llvm::all_of(accessesOf(between),
                      [&](Access const &access) { return access.op == first || access.op == second; });
}

/// As `rows_of_turns` of the block: two places that products read and write in turn.
static int64_t scratchOf(ArrayRef<nest::ContractOp> products) {
  int64_t places[2] = {0, 0};
  for (auto [i, product] : llvm::enumerate(products)) {
    int64_t const outputs = llvm::alignTo(packingOf(product).getOutputs(), 16);
    int64_t &in = places[i % 2], &out = places[(i + 1) % 2];
    in = std::max({in, packingOf(product).getDepth() * (rowsOfTeam + padding), outputs * rowsOfTeam});
    if (product != products.back())
      out = std::max(out, outputs * (rowsOfTeam + padding));
  }
  return int64_t(sizeof(float)) * (places[0] + places[1]);
}

/// Buffers may share memory: rows of one that others still read must not be those that are written.
static bool touchesArgument(ArrayRef<nest::ContractOp> products) {
  nest::ContractOp first = products.front(), last = products.back();
  Value const in = rootOf(first.getInputs()[0]), out = rootOf(last.getOutputs()[0]);
  return in != out && (isa<BlockArgument>(in) || isa<BlockArgument>(out));
}

/// From so many multiplications on, launches aside, a kernel for all of them pays; fewer stay layer by layer, which
/// reads better. What a number of rows that is known at run time only counts as.
static constexpr int64_t leastWork = int64_t(1) << 21, likelyRows = 256;

static int64_t workOf(ArrayRef<nest::ContractOp> products) {
  int64_t work = 0;
  for (nest::ContractOp product : products) {
    auto const results = cast<MemRefType>(product.getOutputs()[0].getType());
    int64_t const columns = packingOf(product).getOutputs();
    int64_t const rows = results.hasStaticShape() ? results.getNumElements() / columns : likelyRows;
    work += rows * columns * packingOf(product).getDepth();
  }
  return work;
}

static void mark(SmallVectorImpl<nest::ContractOp> &products) {
  while (products.size() > 1 && !touchesArgument(products))
    products.pop_back();
  if (products.size() > 1 && workOf(products) >= leastWork)
    products.front()->setAttr("nest.in_turn",
                              IntegerAttr::get(IntegerType::get(products[0].getContext(), 64), products.size()));
  products.clear();
}

static void chain(Block &block) {
  SmallVector<nest::ContractOp> products;
  for (Operation &op : block) {
    for (Region &region : op.getRegions())
      if (!isa<nest::Kernel>(op))
        for (Block &inner : region)
          chain(inner);
    auto product = dyn_cast<nest::ContractOp>(op);
    if (!product && !isa<nest::Kernel>(op) && op.getNumRegions() == 0)
      continue;
    bool const fits = product && canTakeTurns(product);
    if (!fits || products.empty() || !isNext(products.back(), product))
      mark(products);
    if (!fits)
      continue;
    products.push_back(product);
    if (products.size() > mostProducts || scratchOf(products) > scratchBytes) {
      products.pop_back();
      mark(products);
      products.push_back(product);
    }
  }
  mark(products);
}

namespace {
struct ChainProducts : impl::ChainProductsBase<ChainProducts> {
  using Base::Base;
  void runOnOperation() override {
    IntegerAttr const alone = IntegerAttr::get(IntegerType::get(&getContext(), 64), 1);
    getOperation().walk([&](nest::ContractOp product) { // what stands already is kept where it says that one is alone
      if (product->getAttr("nest.in_turn") != alone)
        product->removeAttr("nest.in_turn");
    });
    if (target != "host")
      for (Block &block : getOperation().getBody())
        chain(block);
  }
};
} // namespace

} // namespace ml2k
