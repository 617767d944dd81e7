//===- ChooseProductBlocks.cpp - contractions and convolutions: by packing, layout and size -----------------------===//

#include "passes/prepare/ChooseBlocks.h"

#include "passes/lower/memory/Memory.h"
#include "translator/ir/StoredSums.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ml2k {

using nest::DevicePath;
using nest::KernelBlock;
using nest::Role;

//===--- Contractions ---------------------------------------------------------------------------------------------===//

namespace {
/// A contraction whose loops of extent 1 do not count.
struct Contraction {
  nest::ContractOp op;
  SmallVector<AffineMap> maps = op.getMaps();
  SmallVector<int64_t> extents = extentsOf(op);

  SmallVector<unsigned> loops(Role role) const {
    SmallVector<unsigned> found;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (extents[loop] != 1 && nest::ContractOp(op).getRole(loop) == role)
        found.push_back(loop);
    return found;
  }

  /// How often loops of a role run together.
  int64_t extentOf(Role role) const {
    int64_t extent = 1;
    for (unsigned loop : loops(role))
      extent = ShapedType::isDynamic(extents[loop]) || ShapedType::isDynamic(extent) ? ShapedType::kDynamic
                                                                                     : extent * extents[loop];
    return extent;
  }

  Value operand(unsigned number) const { return op->getOperand(number); }
  Type elementType(unsigned number) const { return getElementTypeOrSelf(operand(number)); }
  unsigned output() const { return op->getNumOperands() - 1; }

  /// Whether the operand is a row-major matrix of rows of the one role and columns of the other.
  bool isMatrix(unsigned number, Role rows, Role columns) const {
    SmallVector<unsigned> wanted = loops(rows), found;
    llvm::append_range(wanted, loops(columns));
    for (AffineExpr expr : maps[number].getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        if (extents[dim.getPosition()] != 1)
          found.push_back(dim.getPosition());
      } else if (expr != 0) {
        return false;
      }
    return wanted == found;
  }

  /// Whether columns lie side by side in memory and hold what is multiplied: neither cast on its way nor of another
  /// type than the other factor.
  bool columnsAdjoin(unsigned number, Role columns) const {
    SmallVector<unsigned> const along = loops(columns);
    return along.size() == 1 && liesAlong(operand(number), maps[number], along[0]) && !isUnsigned(operand(number)) &&
           elementType(number) == elementType(1 - number);
  }

  /// Whether the rows of the second operand, along k, lie at equal distances.
  bool rowsAreEven() const {
    SmallVector<unsigned> const k = loops(Role::K);
    return k.size() <= 1 && llvm::all_of(llvm::enumerate(maps[1].getResults()), [&](auto each) {
             return k.empty() || !each.value().isFunctionOfDim(k[0]) ||
                    (isa<AffineDimExpr>(each.value()) && !crossesBorder(operand(1), each.index()));
           });
  }

  /// Whether hosts make a product in registers of extents that the text says: not of larger ones, whose text would
  /// grow, and whose rows several threads would share.
  bool hasFixedExtents() const {
    constexpr int64_t most = 64;
    Type const type = elementType(1);
    return (type.isF32() || type.isF64()) &&
           nest::ContractOp(op).getEpilogue().front().getArgument(0).getType() == type &&
           llvm::all_of(std::initializer_list<Role>{Role::M, Role::N, Role::K}, [&](Role role) {
             int64_t const extent = extentOf(role);
             return extent >= 1 && extent <= most;
           });
  }

  /// Whether the sums are stored as they are, side by side along columns.
  bool storesInPlace() const {
    Block &epilogue = nest::ContractOp(op).getEpilogue().front();
    Value const sum = epilogue.getArgument(0);
    SmallVector<unsigned> const n = loops(Role::N);
    Type const type = elementType(output());
    return epilogue.back().getOperand(0) == sum && type == sum.getType() && elementType(0) == type &&
           elementType(1) == type && n.size() == 1 && liesAlong(operand(output()), maps.back(), n[0]);
  }
};
} // namespace

/// Batches of matrices up to so many rows, columns and k share a device's teams.
static constexpr int64_t smallEdge = 32;

/// From so many multiplications on, the text has the tiles that devices take for large products, and what they do with
/// up to `fewRows` rows of them or of smaller ones; what a number of rows that is known at run time only counts as.
static constexpr int64_t largeProduct = int64_t(1) << 24, productOfFew = int64_t(1) << 20, fewRows = 4, someRows = 256;

static DevicePath pathOfPacked(Contraction const &contraction) {
  int64_t const rows = contraction.extentOf(Role::M);
  int64_t const size =
      (ShapedType::isDynamic(rows) ? someRows : rows) * contraction.extentOf(Role::K) * contraction.extentOf(Role::N);
  if (rows > 0 && rows <= fewRows)
    return size >= productOfFew ? DevicePath::FewRows : DevicePath::Plain;
  return size >= largeProduct ? DevicePath::LargeProduct : DevicePath::Plain;
}

static DevicePath pathOfBatched(Contraction const &contraction) {
  bool const isSmall = llvm::all_of(std::initializer_list<Role>{Role::M, Role::N, Role::K}, [&](Role role) {
    int64_t const extent = contraction.extentOf(role);
    return ShapedType::isDynamic(extent) || extent <= smallEdge;
  });
  return isSmall ? DevicePath::SmallProducts : DevicePath::Plain;
}

LogicalResult chooseBlock(nest::ContractOp op) {
  Contraction const contraction{op};
  auto weight = rootOf(op.getInputs()[1]).getDefiningOp<nest::WeightOp>();
  if (!weight || !weight.getPacking() || !weight.getPacking()->isPanels()) {
    nest::setSchedule(op, KernelBlock::BatchedContract,
                      {.left = contraction.columnsAdjoin(0, Role::K),
                       .right = contraction.columnsAdjoin(1, Role::N) && contraction.rowsAreEven(),
                       .inPlace = contraction.storesInPlace(),
                       .device = pathOfBatched(contraction)});
    if (nest::scheduleOf(op).getRight() && contraction.hasFixedExtents())
      op->setAttr("nest.fixed_extents", UnitAttr::get(op.getContext()));
    return success();
  }
  bool const inParts = nest::columnsOfPart(op).has_value();
  if (!contraction.loops(Role::Batch).empty() || !contraction.isMatrix(0, Role::M, Role::K) ||
      (!inParts && !contraction.isMatrix(contraction.output(), Role::M, Role::N)))
    return op.emitError("packed, but its operands are not row-major matrices");
  nest::setSchedule(op, KernelBlock::Contract, {.device = inParts ? DevicePath::Plain : pathOfPacked(contraction)});
  return success();
}

//===--- Convolutions ---------------------------------------------------------------------------------------------===//

/// Elements for the transformed tiles (a multiple of (tile + 2)^2) that a thread works on together: enough rows for
/// full register tiles, still in its L2 cache.
static int64_t winogradScratch(int64_t tile, ArrayRef<int64_t> weight) {
  return 28 * (tile + 2) * (tile + 2) * (weight[0] + weight[1] * weight[2] / 3); // planes have 3 rows each
}

/// From so many multiplications on, of sums of at least so many terms, the text has larger tiles of a convolution, too;
/// what a number of images that is known at run time only counts as.
static constexpr int64_t largeConv = int64_t(1) << 30, longSum = 256, someImages = 16;

/// Whether all channels of a pixel are multiplied together, which devices move by fours.
static DevicePath pathOf(nest::ConvOp conv) {
  ArrayRef<int64_t> const weight = cast<ShapedType>(conv.getInputs()[1].getType()).getShape();
  auto const results = cast<ShapedType>(conv.getOutputs().front().getType());
  bool const suits = conv.getGroups() == 1 && nest::channelsPerSum(conv) == 1 && weight[1] % 4 == 0 &&
                     results.getElementType().isF32();
  int64_t const terms = weight[1] * weight[2] * weight[3];
  int64_t size = terms * (results.isDynamicDim(0) ? someImages : 1);
  for (int64_t extent : results.getShape())
    size *= ShapedType::isDynamic(extent) ? 1 : extent;
  return suits && terms >= longSum && size >= largeConv ? DevicePath::LargeProduct : DevicePath::Plain;
}

LogicalResult chooseBlock(nest::ConvOp conv) {
  auto weight = conv.getInputs()[1].getDefiningOp<nest::WeightOp>();
  if (!weight || !weight.getPacking() || weight.getPacking()->getKind() == nest::PackingKind::Gates)
    return conv.emitError("the weight of a convolution must be packed in panels or taps");
  int64_t const tile = weight.getPacking()->getWinograd();
  if (!weight.getPacking()->isPanels())
    nest::setSchedule(conv, KernelBlock::Depthwise);
  else if (conv.getChannelsFirst())
    nest::setSchedule(conv, KernelBlock::ConvChannelsFirst);
  else if (conv.getTransposed())
    nest::setSchedule(conv, KernelBlock::ConvTransposed);
  else if (tile)
    nest::setSchedule(
        conv, KernelBlock::Winograd,
        {.device = pathOf(conv), .scratch = winogradScratch(tile, cast<MemRefType>(weight.getType()).getShape())});
  else
    nest::setSchedule(conv, KernelBlock::Conv, {.device = pathOf(conv)});
  return success();
}

} // namespace ml2k
