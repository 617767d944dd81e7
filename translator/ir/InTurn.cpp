//===- InTurn.cpp - matrix products that a device makes one after the other in one kernel -------------------------===//

#include "translator/ir/InTurn.h"

using namespace mlir;

SmallVector<ml2k::nest::ContractOp> ml2k::nest::productsInTurn(Operation *kernel) {
  auto const count = kernel->getAttrOfType<IntegerAttr>("nest.in_turn");
  SmallVector<ContractOp> products;
  for (Operation *op = kernel; count && op && int64_t(products.size()) < count.getInt(); op = op->getNextNode())
    if (auto product = dyn_cast<ContractOp>(op))
      products.push_back(product);
  return products.size() > 1 ? products : SmallVector<ContractOp>();
}
