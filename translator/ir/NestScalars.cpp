//===- NestScalars.cpp - scalar operations of the front ends ------------------------------------------------------===//

#include "translator/ir/NestScalars.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ml2k::nest;

#define GET_OP_CLASSES
#include "translator/ir/NestScalars.cpp.inc"

/// An index out of range stays: the program that computes it ends.
OpFoldResult PositionOp::fold(FoldAdaptor adaptor) {
  auto const index = dyn_cast_or_null<IntegerAttr>(adaptor.getIndex());
  auto const extent = dyn_cast_or_null<IntegerAttr>(adaptor.getExtent());
  if (!index || !extent)
    return {};
  int64_t const at = index.getInt() < 0 ? index.getInt() + extent.getInt() : index.getInt();
  return at < 0 || at >= extent.getInt() ? OpFoldResult() : IntegerAttr::get(getType(), at);
}
