//===- ChooseMapBlocks.cpp - maps: by how their operands lie in memory and by size --------------------------------===//

#include "passes/prepare/ChooseBlocks.h"

#include "passes/lower/memory/Memory.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {

using nest::KernelBlock;

/// Images of up to so many channels are written pixel by pixel: too few to vectorise or to coalesce along them.
static constexpr int64_t fewChannels = 8;

namespace {
/// A map with one or more outputs, which lie in memory as the first one does.
struct Map {
  nest::MapOp op;
  SmallVector<AffineMap> maps = op.getMaps();
  SmallVector<int64_t> extents = extentsOf(op);
  Value output = op.getOutputs()[0];

  AffineMap outputMap() const { return maps[op->getNumOperands() - nest::MapOp(op).getOutputs().size()]; }
  bool hasOneOutput() const { return nest::MapOp(op).getOutputs().size() == 1; }

  /// The loop that runs along the contiguous dimension of the output.
  unsigned inner() const { return innermost(outputMap(), extents).value_or(extents.empty() ? 0 : extents.size() - 1); }

  bool copiesElements() const;
  bool isChannelsLast() const;
  std::optional<unsigned> pixelLoop(unsigned inner) const;
  std::optional<unsigned> lineLoop(unsigned inner) const;
  std::optional<unsigned> repeatingLoop(unsigned inner) const;
  std::optional<unsigned> crossingLoop(unsigned inner) const;
  bool transposes(unsigned crossing, unsigned inner) const;
  bool checksPerRow(unsigned inner) const;
  bool isLarge() const;
  bool isOneStore() const;
};
} // namespace

/// True if the output holds the elements of the only input as they are.
bool Map::copiesElements() const {
  nest::MapOp map = op;
  Block &body = map.getBody().front();
  return map.getInputs().size() == 1 && map.getExtras().empty() && hasOneOutput() && body.getOperations().size() == 1 &&
         body.front().getOperand(0) == body.getArgument(0) &&
         body.getArgument(0).getType() == cast<MemRefType>(output.getType()).getElementType();
}

static bool isIndex(AffineExpr expr) { return isa<AffineDimExpr>(expr) || expr == 0; }

static int64_t channelsOf(Value image) { return cast<MemRefType>(image.getType()).getShape().back(); }

/// True for an image of few channels that is its whole input N C H W.
bool Map::isChannelsLast() const {
  if (maps.size() != 2 || maps[0].getNumResults() != 4 || maps[1].getNumResults() != 4 || !copiesElements())
    return false;
  Value const input = op->getOperand(0);
  if (rootOf(input) != input || isImage(input) || !isImage(output) || channelsOf(output) > fewChannels)
    return false;
  return llvm::all_of(std::initializer_list<std::pair<int, int>>{{0, 0}, {1, 3}, {2, 1}, {3, 2}}, [&](auto pair) {
    AffineExpr const index = maps[0].getResult(pair.first);
    return index == maps[1].getResult(pair.second) && isIndex(index);
  });
}

/// The loop along the lines of an image of few channels; none if the output is anything else.
std::optional<unsigned> Map::pixelLoop(unsigned inner) const {
  AffineMap const out = outputMap();
  if (!hasOneOutput() || !isImage(output) || out.getNumResults() != 4 || !llvm::all_of(out.getResults(), isIndex) ||
      channelsOf(output) > fewChannels || out.getResult(3) != getAffineDimExpr(inner, out.getContext()))
    return std::nullopt;
  for (unsigned d : {2, 1})
    if (auto dim = dyn_cast<AffineDimExpr>(out.getResult(d)); dim && extents[dim.getPosition()] != 1)
      return dim.getPosition();
  return std::nullopt;
}

/// The loop of the dimension in front of one that is contiguous but too short for vectors, and that an iteration may
/// walk through; none where that is short, too.
std::optional<unsigned> Map::lineLoop(unsigned inner) const {
  AffineMap const out = outputMap();
  if (extents.empty() || extents[inner] < 2 || extents[inner] > fewChannels ||
      out.getResults().back() != getAffineDimExpr(inner, out.getContext()))
    return std::nullopt;
  int64_t const least = 2 * extents[inner]; // 16 for 8, a vector itself
  for (AffineExpr expr : llvm::reverse(out.getResults().drop_back())) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    int64_t const extent = extents[dim.getPosition()];
    if (extent != 1)
      return ShapedType::isDynamic(extent) || extent >= least ? std::optional(dim.getPosition()) : std::nullopt;
  }
  return std::nullopt;
}

/// A short loop along which the inputs repeat themselves, around short rows, of which there are many: one iteration
/// stores all repetitions of an element, and the place of a row is found once for them.
std::optional<unsigned> Map::repeatingLoop(unsigned inner) const {
  constexpr int64_t leastRows = 1024, manyRows = leastRows * fewChannels, shortest = 16, longest = 512;
  nest::MapOp map = op;
  if (extents.empty() || map.getInputs().empty() || !hasOneOutput() || extents[inner] < shortest ||
      extents[inner] > longest)
    return std::nullopt;
  int64_t rows = 1;
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (loop != inner && rows < manyRows)
      rows *= ShapedType::isDynamic(extent) ? manyRows : extent;
  for (AffineExpr expr : llvm::reverse(outputMap().getResults())) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    unsigned const loop = dim ? dim.getPosition() : inner;
    bool const isRead =
        llvm::any_of(ArrayRef(maps).drop_back(), [&](AffineMap each) { return each.isFunctionOfDim(loop); });
    bool const isIndex = llvm::any_of(map.getBody().front().getOps<nest::IndexOp>(),
                                      [&](nest::IndexOp index) { return index.getDim() == loop; });
    if (loop != inner && extents[loop] > 1 && extents[loop] <= fewChannels && !isRead && !isIndex)
      return rows / extents[loop] >= leastRows ? std::optional(loop) : std::nullopt;
  }
  return std::nullopt;
}

/// The loop along which an input lies in memory, while the output lies along `inner`; none if they agree or are short.
std::optional<unsigned> Map::crossingLoop(unsigned inner) const {
  constexpr int64_t least = 8;
  auto const isLong = [&](unsigned loop) { return ShapedType::isDynamic(extents[loop]) || extents[loop] >= least; };
  for (AffineMap map : ArrayRef(maps).take_front(nest::MapOp(op).getInputs().size())) {
    if (map.getNumResults() == 0)
      continue;
    unsigned const last = innermost(map, extents).value_or(extents.empty() ? 0 : extents.size() - 1);
    if (last != inner && map.getResults().back() == getAffineDimExpr(last, map.getContext()) &&
        map.isFunctionOfDim(inner) && isLong(last) && isLong(inner))
      return last;
  }
  return std::nullopt;
}

/// True if the map copies numbers of one type of 4 or 8 bytes that lie along `crossing`, at equal distances, to where
/// they lie along `inner`.
bool Map::transposes(unsigned crossing, unsigned inner) const {
  if (!copiesElements() || isUnsigned(op->getOperand(0)) != isUnsigned(output))
    return false;
  Type const type = cast<MemRefType>(output.getType()).getElementType();
  unsigned const bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  auto const isEven = [](Value memref, AffineMap map) {
    return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto each) {
      return isa<AffineDimExpr, AffineConstantExpr>(each.value()) && !crossesBorder(memref, each.index());
    });
  };
  return (bits == 32 || bits == 64) && isEven(op->getOperand(0), maps[0]) && isEven(output, maps[1]) &&
         liesAlong(op->getOperand(0), maps[0], crossing) && liesAlong(output, maps[1], inner);
}

/// Whether a data-dependent index is the same along `inner`: its check stands in front of the vector loop.
bool Map::checksPerRow(unsigned inner) const {
  Block &body = nest::MapOp(op).getBody().front();
  DenseSet<Value> varying;
  for (BlockArgument argument : body.getArguments())
    if (maps[argument.getArgNumber()].isFunctionOfDim(inner))
      varying.insert(argument);
  bool found = false;
  for (Operation &each : body) {
    auto index = dyn_cast<nest::IndexOp>(each);
    // What control flow makes is a variable, which the loop declares
    bool const varies = (index && index.getDim() == inner) || each.getNumRegions() != 0 ||
                        llvm::any_of(each.getOperands(), [&](Value v) { return varying.contains(v); });
    if (varies)
      varying.insert(each.result_begin(), each.result_end());
    found |= isa<nest::PositionOp>(each) && !varies;
  }
  return found;
}

/// From so many elements on, values come apart from their places: devices then have more loads in flight.
static constexpr int64_t manyElements = int64_t(1) << 20;

bool Map::isLarge() const {
  int64_t elements = 1;
  for (int64_t const extent : extents)
    elements *= ShapedType::isDynamic(extent) ? 1 : extent;
  return elements >= manyElements;
}

/// Whether an operation is a value and no statement: a branch that only chooses between two is one.
static bool isValue(Operation &op) {
  auto const isPlain = [](Operation &inner) { return inner.getNumRegions() == 0 && inner.getNumResults() == 1; };
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch)
    return isPlain(op);
  return branch.getNumResults() == 1 && llvm::all_of(branch->getRegions(), [&](Region &region) {
           return llvm::all_of(region.front().without_terminator(),
                               [&](Operation &inner) { return isPlain(inner) && inner.hasOneUse(); });
         });
}

/// Whether the body computes one value and does nothing else.
bool Map::isOneStore() const {
  return hasOneOutput() && llvm::all_of(nest::MapOp(op).getBody().front().without_terminator(), isValue);
}

static std::pair<KernelBlock, nest::ScheduleParts> chosen(Map const &map, Devices devices) {
  if (map.isChannelsLast())
    return {KernelBlock::ChannelsLast, {}};
  unsigned const inner = map.inner();
  if (std::optional<unsigned> const pixels = map.pixelLoop(inner))
    return {KernelBlock::ForEach, {.inner = *pixels, .channel = inner}};
  if (std::optional<unsigned> const crossing = map.crossingLoop(inner))
    return {map.transposes(*crossing, inner) ? KernelBlock::TransposedCopy : KernelBlock::ForSquares,
            {.inner = inner, .crossing = *crossing}};
  if (map.checksPerRow(inner))
    return {KernelBlock::ForSpans, {.inner = inner}};
  if (std::optional<unsigned> const line = map.lineLoop(inner))
    return {KernelBlock::ForEach, {.inner = *line, .channel = inner}};
  if (std::optional<unsigned> const repeating = map.repeatingLoop(inner))
    return {KernelBlock::ForEach, {.inner = inner, .channel = *repeating}};
  bool const isApart = devices == Devices::Some && map.isLarge() && map.isOneStore();
  return {isApart ? KernelBlock::AssignEach : KernelBlock::ForEach, {.inner = inner}};
}

bool isChannelsLast(nest::MapOp op) { return Map{op}.isChannelsLast(); }

void chooseBlock(nest::MapOp op, Devices devices) {
  auto const [block, parts] = chosen(Map{op}, devices);
  nest::setSchedule(op, block, parts);
}

} // namespace ml2k
