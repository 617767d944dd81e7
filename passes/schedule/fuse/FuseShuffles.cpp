//===- FuseShuffles.cpp - channel shuffles in the convolution in front of them ------------------------------------===//
//
// Part of FuseEpilogues. Channel j of part i of an image becomes channel j * parts + i.
// - Behind one convolution, as in ShuffleNetV1: the rows of its weight are shuffled instead, or, where groups forbid
//   that, its sums are stored at their new places.
// - Behind a concatenation of the parts, as in ShuffleNetV2, whose units join channels that pass as they are with those
//   that they compute: the last convolution of the parts has one of neighbouring channels in a register; its epilogue
//   reads the others, and all are stored side by side.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/fuse/FuseShuffles.h"
#include "passes/Constants.h"
#include "passes/Provenance.h"
#include "translator/ir/StoredSums.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
namespace {

/// The number of parts of a copy that shuffles channels, out[.., c] = in[.., c mod parts * channels + c / parts], as
/// ShuffleInPlace makes it; 0 for other operations.
int64_t shuffledParts(linalg::GenericOp generic) {
  if (generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 || generic.getNumLoops() != 4 ||
      generic.getNumReductionLoops() != 0 || !generic.hasPureTensorSemantics() ||
      generic.getBody()->getTerminator()->getOperand(0) != generic.getBody()->getArgument(0) ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity())
    return 0;
  int64_t const all = cast<ShapedType>(generic.getResult(0).getType()).getDimSize(3);
  AffineMap const in = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  AffineMap const pixel = AffineMap::getMultiDimIdentityMap(4, generic.getContext());
  if (ShapedType::isDynamic(all) || in.getResults().drop_back() != pixel.getResults().drop_back())
    return 0;
  for (int64_t parts = 2; parts < all; ++parts) // place c mod parts of channel c / parts: the inverse
    if (all % parts == 0 && in.getResult(3) == nest::shuffled(pixel.getResult(3), all / parts, parts))
      return parts;
  return 0;
}

/// True if somebody only asks for the number of images, rows or columns.
bool asksForExtent(Operation *user) {
  auto dim = dyn_cast<tensor::DimOp>(user);
  std::optional<int64_t> const number = dim ? dim.getConstantIndex() : std::nullopt;
  return number && *number < 3;
}

bool isReadByOne(Value image, Operation *reader) {
  return llvm::all_of(image.getUsers(), [&](Operation *user) { return user == reader || asksForExtent(user); });
}

/// Who asks for an extent of `image` gets it from `other`.
void askInstead(Value image, Value other) {
  image.replaceUsesWithIf(other, [](OpOperand &use) { return asksForExtent(use.getOwner()); });
}

/// Images of as many channels, joined along these for the shuffle alone.
tensor::ConcatOp partsBehind(linalg::GenericOp shuffle, int64_t count) {
  auto concat = shuffle.getInputs()[0].getDefiningOp<tensor::ConcatOp>();
  if (!concat || concat->getBlock() != shuffle->getBlock() || concat.getDim() != 3 || !isReadByOne(concat, shuffle) ||
      int64_t(concat.getInputs().size()) != count)
    return {};
  auto const channels = [](Value part) { return cast<ShapedType>(part.getType()).getDimSize(3); };
  bool const areEqual = llvm::all_of(concat.getInputs(), [&](Value part) {
    return !ShapedType::isDynamic(channels(part)) && channels(part) == channels(concat.getInputs().front());
  });
  return areEqual ? concat : tensor::ConcatOp();
}

/// A convolution whose sums nobody else reads, and that stores them in their order. A depthwise one has no sums of many
/// channels, whose kernel can store them anywhere.
bool canReorder(nest::ConvOp conv, Operation *reader) {
  return conv && conv->getBlock() == reader->getBlock() && isReadByOne(conv->getResult(0), reader) &&
         llvm::count(reader->getOperands(), conv->getResult(0)) == 1 && !conv.getTransposed() &&
         cast<ShapedType>(conv.getInputs()[1].getType()).getDimSize(0) != int64_t(conv.getGroups()) &&
         nest::channelsPerSum(conv) == 1 && nest::shuffledParts(conv) == 1;
}

/// True if the channels of other parts can be stored beside its own.
bool canInterleave(nest::ConvOp conv, tensor::ConcatOp concat) {
  if (!canReorder(conv, concat) || conv.getGroups() != 1)
    return false;
  Type const stored = cast<ShapedType>(conv->getResult(0).getType()).getElementType();
  return (stored.isF32() || stored.isF64()) && conv.getEpilogue().getArgument(0).getType() == stored;
}

/// The number of the part whose convolution comes last: the others are computed by then.
std::optional<unsigned> lastConvolution(tensor::ConcatOp concat) {
  std::optional<unsigned> last;
  for (auto [number, part] : llvm::enumerate(concat.getInputs())) {
    auto conv = part.getDefiningOp<nest::ConvOp>();
    if (canInterleave(conv, concat) && (!last || concat.getInputs()[*last].getDefiningOp()->isBeforeInBlock(conv)))
      last = number;
  }
  return last;
}

/// The convolution anew in the place of the shuffle; `behind` is all that it takes over.
nest::ConvOp movedInto(linalg::GenericOp shuffle, nest::ConvOp conv, ArrayRef<Location> behind) {
  OpBuilder builder(shuffle);
  auto moved = cast<nest::ConvOp>(builder.clone(*conv));
  moved.getOutputsMutable().assign(shuffle.getOutputs());
  moved->getResult(0).setType(shuffle.getResult(0).getType());
  SmallVector<Location> locations{conv.getLoc()};
  llvm::append_range(locations, behind);
  moved->setLoc(fusedLocation(builder.getContext(), locations));
  askInstead(conv->getResult(0), conv.getOutputs()[0]);
  shuffle.getResult(0).replaceAllUsesWith(moved->getResult(0));
  shuffle.erase();
  return moved;
}

void addMap(nest::ConvOp conv, AffineMap map) {
  SmallVector<Attribute> maps(conv.getExtraMaps().getValue());
  maps.push_back(AffineMapAttr::get(map));
  conv.setExtraMapsAttr(ArrayAttr::get(conv.getContext(), maps));
}

void interleave(linalg::GenericOp shuffle, tensor::ConcatOp concat, unsigned own) {
  auto conv = concat.getInputs()[own].getDefiningOp<nest::ConvOp>();
  askInstead(concat, conv.getOutputs()[0]);
  nest::ConvOp joined = movedInto(shuffle, conv, {concat.getLoc(), shuffle.getLoc()});
  Block &epilogue = joined.getEpilogue().front();
  Operation *yield = epilogue.getTerminator();
  SmallVector<Value> channels;
  for (auto [number, part] : llvm::enumerate(concat.getInputs())) {
    if (number == own) {
      channels.push_back(yield->getOperand(0));
      continue;
    }
    joined.getExtrasMutable().append(part);
    addMap(joined, AffineMap::getMultiDimIdentityMap(4, joined.getContext()));
    channels.push_back(epilogue.addArgument(cast<ShapedType>(part.getType()).getElementType(), joined.getLoc()));
  }
  yield->setOperands(channels);
  concat.erase();
  conv.erase();
}

/// The constants of a convolution that vary with its sums: its weight, and vectors that the epilogue reads. None where
/// the epilogue reads anything else that does.
std::optional<SmallVector<unsigned>> constantsOfSums(nest::ConvOp conv) {
  SmallVector<unsigned> numbers{1};
  for (auto [extra, map] : llvm::zip(conv.getExtrasMutable(), conv.getMaps())) {
    if (!map.isFunctionOfDim(3))
      continue;
    if (!weightBehind(extra.get()) || map.getNumResults() != 1 ||
        map.getResult(0) != getAffineDimExpr(3, conv.getContext()))
      return std::nullopt;
    numbers.push_back(extra.getOperandNumber());
  }
  bool const usesPosition = !conv.getEpilogue().getOps<nest::IndexOp>().empty();
  bool const areConstant = llvm::all_of(
      numbers, [&](unsigned number) { return bool(conv->getOperand(number).getDefiningOp<nest::WeightOp>()); });
  return areConstant && !usesPosition ? std::optional(numbers) : std::nullopt;
}

/// Row c of the constant is the one of the sum that the shuffle puts there.
Value withShuffledRows(nest::WeightOp weight, int64_t parts) {
  OpBuilder builder(weight);
  ArrayRef<int64_t> const shape = cast<ShapedType>(weight.getType()).getShape();
  int64_t const channels = shape[0] / parts;
  auto const place = [&](ArrayRef<int64_t> at) -> std::optional<int64_t> {
    int64_t linear = at[0] % parts * channels + at[0] / parts;
    for (auto [index, extent] : llvm::zip(at.drop_front(), shape.drop_front()))
      linear = linear * extent + index;
    return linear;
  };
  return replacementWeight(builder, weight, gathered(weight.getValue(), shape, place));
}

void shuffleBehind(linalg::GenericOp shuffle, nest::ConvOp conv, int64_t parts) {
  bool const isStored = conv.getGroups() % parts == 0; // by whole groups
  std::optional<SmallVector<unsigned>> const constants = constantsOfSums(conv);
  if (!isStored && (conv.getGroups() != 1 || !constants))
    return;
  nest::ConvOp moved = movedInto(shuffle, conv, {shuffle.getLoc()});
  conv.erase();
  if (isStored) {
    AffineMap const pixel = AffineMap::getMultiDimIdentityMap(4, moved.getContext());
    int64_t const channels = cast<ShapedType>(moved->getResult(0).getType()).getDimSize(3) / parts;
    SmallVector<AffineExpr> place(pixel.getResults());
    place[3] = nest::shuffled(place[3], parts, channels);
    addMap(moved, AffineMap::get(4, 0, place, moved.getContext()));
    return;
  }
  for (unsigned number : *constants)
    moved->setOperand(number, withShuffledRows(moved->getOperand(number).getDefiningOp<nest::WeightOp>(), parts));
}

} // namespace

void fuseShuffles(func::FuncOp function) {
  SmallVector<linalg::GenericOp> generics;
  function.walk([&](linalg::GenericOp generic) { generics.push_back(generic); });
  for (linalg::GenericOp generic : generics) {
    int64_t const parts = shuffledParts(generic);
    if (parts == 0)
      continue;
    if (tensor::ConcatOp concat = partsBehind(generic, parts)) {
      if (std::optional<unsigned> const own = lastConvolution(concat))
        interleave(generic, concat, *own);
    } else if (auto conv = generic.getInputs()[0].getDefiningOp<nest::ConvOp>(); canReorder(conv, generic)) {
      shuffleBehind(generic, conv, parts);
    }
  }
}

} // namespace ml2k
