//===- StoredSums.cpp - where convolutions and products store their sums ------------------------------------------===//

#include "translator/ir/StoredSums.h"

using namespace mlir;
using namespace ml2k;

unsigned nest::channelsPerSum(ConvOp conv) { return conv.getEpilogue().front().back().getNumOperands(); }

AffineExpr nest::shuffled(AffineExpr channel, int64_t parts, int64_t channels) {
  return channel % channels * parts + channel.floorDiv(channels);
}

int64_t nest::shuffledParts(ConvOp conv) {
  SmallVector<AffineMap> const maps = conv.getMaps();
  if (maps.size() == conv.getExtras().size())
    return 1;
  AffineMap const pixel = AffineMap::getMultiDimIdentityMap(4, conv.getContext());
  if (maps.back().getResults().drop_back() != pixel.getResults().drop_back())
    return 0;
  int64_t const channels = cast<ShapedType>(conv.getOutputs()[0].getType()).getDimSize(3);
  for (int64_t parts = 2; parts < channels; ++parts)
    if (channels % parts == 0 && maps.back().getResult(3) == shuffled(pixel.getResult(3), parts, channels / parts))
      return parts;
  return 0;
}

std::optional<int64_t> nest::columnsOfPart(ContractOp contract) {
  return columnsOfPart(contract.getMaps().back(), contract.getRoles());
}

std::optional<int64_t> nest::columnsOfPart(AffineMap map, ArrayRef<Role> roles) {
  if (map.getNumResults() == 0 || map.getResults().back().getKind() != AffineExprKind::Mod)
    return std::nullopt;
  auto const last = cast<AffineBinaryOpExpr>(map.getResults().back());
  auto const loop = dyn_cast<AffineDimExpr>(last.getLHS());
  auto const columns = dyn_cast<AffineConstantExpr>(last.getRHS());
  if (!loop || !columns || roles[loop.getPosition()] != Role::N)
    return std::nullopt;
  unsigned parts = 0;
  for (AffineExpr expr : map.getResults().drop_back()) {
    if (!expr.isFunctionOfDim(loop.getPosition()))
      continue;
    if (expr != loop.floorDiv(columns.getValue()))
      return std::nullopt;
    ++parts;
  }
  return parts == 1 ? std::optional(columns.getValue()) : std::nullopt;
}
