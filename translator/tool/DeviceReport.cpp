//===- DeviceReport.cpp - what the blocks of a printed file choose on a device ------------------------------------===//

#include "translator/tool/DeviceReport.h"
#include "translator/ir/InTurn.h"
#include "translator/ir/Nest.h"
#include "translator/text/Text.h"
#include "translator/tool/DeviceTiles.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <array>

using namespace mlir;
using namespace ml2k;
using device::Plan;

namespace {
struct Device {
  char const *name;
  int64_t processors; ///< streaming multiprocessors, compute units
};

constexpr Device devices[] = {{"a100", 108},   {"h100", 132},   {"h200", 132}, {"l40s", 142},
                              {"mi250x", 110}, {"mi300x", 304}, {"v100", 80}};

/// Rows, columns and terms of each sum of a product over packed weights.
struct Product {
  int64_t rows, columns, depth, groups;
  nest::DevicePath path;
  bool isConv, isFloat, byFours;
};

using Line = std::array<std::string, 4>;
} // namespace

//===--- Reading a kernel -----------------------------------------------------------------------------------------===//

/// Extents of a product; none where the batch is known at run time only or the weights are not packed in panels.
static std::optional<Product> productOf(Operation *op) {
  nest::ScheduleAttr const schedule = nest::scheduleOf(op);
  bool const isConv = isa<nest::ConvOp>(op);
  if (!schedule || (!isConv && schedule.getBlock() != nest::KernelBlock::Contract))
    return std::nullopt;
  auto weight = op->getOperand(1).getDefiningOp<nest::WeightOp>();
  if (!weight || !weight.getPacking() || !weight.getPacking()->isPanels())
    return std::nullopt;
  nest::PackingAttr const packing = *weight.getPacking();
  auto const results = cast<ShapedType>(op->getOperands().back().getType());
  if (!results.hasStaticShape())
    return std::nullopt;
  int64_t const columns = packing.getOutputs() * packing.getGroups();
  int64_t const depth = packing.getDepth() * packing.getRows() * packing.getColumns();
  return Product{results.getNumElements() / columns,
                 columns,
                 depth,
                 packing.getGroups(),
                 schedule.getDevice(),
                 isConv,
                 results.getElementType().isF32(),
                 packing.getDepth() % 4 == 0};
}

//===--- Choosing -------------------------------------------------------------------------------------------------===//

static std::string sizeOf(int64_t rows, int64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

static std::string microseconds(double time) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(time < 99.5 ? "%.1f us" : "%.0f us", time);
  return text;
}

static std::string teamsOf(int64_t tiles, int64_t splits) {
  return splits == 1 ? std::to_string(tiles) : std::to_string(tiles) + " x " + std::to_string(splits);
}

/// A device's panel, as the block `packing` has it.
static int64_t panelOf(int64_t outputs) {
  return (device::upTo(outputs, 64) * 64 - device::upTo(outputs, 32) * 32) * 8 > outputs ? 32 : 64;
}

/// Tile, teams and reason where a thread has 4 x 4 results.
static std::array<std::string, 3> chooseSmall(Product const &product, int64_t processors) {
  int64_t const panel = panelOf(product.columns / product.groups), height = 16 * 128 / panel;
  int64_t const panels = device::upTo(product.columns / product.groups, panel) * product.groups;
  int64_t const tiles = device::upTo(product.rows, height) * panels, slabs = device::upTo(product.depth, 16);
  int64_t const splits = device::chooseSplits(tiles, slabs, processors);
  std::string const why = splits > 1 ? "too few tiles for the processors: k in " + std::to_string(splits) + " parts"
                          : tiles >= processors ? "a tile for every processor"
                                                : "too few tiles, and sums too short to share";
  return {sizeOf(height, panel), teamsOf(tiles, splits), why};
}

static std::array<std::string, 3> chooseLarge(Product const &product, int64_t processors) {
  int64_t const columns = device::upTo(product.columns, 64) * 64;
  auto const plan = [&](device::Tile const &tile) {
    return device::planTiles(tile, product.rows, columns, product.depth, processors);
  };
  Plan const low = plan(device::lowTile), square = plan(device::squareTile), broad = plan(device::broadTile);
  bool const fills = device::fillsBroad(broad, processors);
  std::string const why = "32 x 64: " + microseconds(low.time) + ", 64 x 64: " + microseconds(square.time) +
                          ", 128 x 128: " + (fills ? microseconds(broad.time) : "too few teams");
  if (fills && broad.time < std::min(low.time, square.time))
    return {"128 x 128", teamsOf(broad.tiles, broad.splits), why};
  if (square.time < low.time)
    return {"64 x 64", teamsOf(square.tiles, square.splits), why};
  return {"32 x 64", teamsOf(low.tiles, low.splits), why};
}

static std::array<std::string, 3> chooseConv(Product const &product, int64_t processors) {
  int64_t const columns = device::upTo(product.columns, 64) * 64;
  Plan const low = device::planTiles(device::lowTile, product.rows, columns, product.depth, processors);
  Plan const tall = device::planTiles(device::tallTile, product.rows, columns, product.depth, processors);
  std::string const why = "32 x 64: " + microseconds(low.time) + ", 128 x 64: " + microseconds(tall.time);
  if (tall.time < low.time)
    return {"128 x 64", teamsOf(tall.tiles, tall.splits), why};
  return {"32 x 64", teamsOf(low.tiles, low.splits), why};
}

/// Of products that are one kernel: a team takes 32 rows through all of them.
static std::array<std::string, 3> chooseInTurn(Product const &product, ArrayRef<nest::ContractOp> products) {
  return {"32 rows", std::to_string(device::upTo(product.rows, 32)),
          "one kernel of " + std::to_string(products.size()) + " products"};
}

static std::array<std::string, 3> choose(Product const &product, int64_t processors) {
  using enum nest::DevicePath;
  bool const wide = panelOf(product.columns / product.groups) == 64;
  if (product.path == LargeProduct && product.isFloat && product.isConv && wide && product.depth >= 256 &&
      product.byFours)
    return chooseConv(product, processors);
  if (!product.isConv && product.path != Plain && product.rows <= 4)
    return {"few rows", "", "weights are read once, k is split among threads and teams"};
  if (product.path == LargeProduct && product.isFloat && !product.isConv && wide &&
      (product.byFours || product.depth >= 256))
    return chooseLarge(product, processors);
  return chooseSmall(product, processors);
}

//===--- Printing -------------------------------------------------------------------------------------------------===//

std::vector<std::string> ml2k::deviceNames() {
  std::vector<std::string> names;
  for (Device const &known : devices)
    names.push_back(known.name);
  return names;
}

void ml2k::printDeviceReport(ModuleOp module, std::string const &device, llvm::raw_ostream &out) {
  auto const *found = llvm::find_if(devices, [&](Device const &known) { return device == known.name; });
  std::vector<Line> lines = {{"kernel", "tile", "teams", "why"}};
  SmallVector<nest::ContractOp> inTurn;
  module.walk([&](nest::Kernel kernel) {
    if (SmallVector<nest::ContractOp> const products = nest::productsInTurn(kernel.getOperation()); !products.empty())
      inTurn = products;
    if (std::optional<Product> const product = productOf(kernel.getOperation())) {
      auto const [tile, teams, why] = llvm::is_contained(inTurn, kernel.getOperation())
                                          ? chooseInTurn(*product, inTurn)
                                          : choose(*product, found->processors);
      lines.push_back({terminalText(kernel.getLabel(), longestName), tile, teams, why});
    }
  });
  out << "\nProducts on " << device << ", " << found->processors << " processors; microseconds are an H200's:\n";
  std::array<size_t, 3> widths = {};
  for (Line const &line : lines)
    for (size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  for (Line const &line : lines)
    out << llvm::left_justify(line[0], widths[0]) << "  " << llvm::left_justify(line[1], widths[1]) << "  "
        << llvm::left_justify(line[2], widths[2]) << "  " << line[3] << "\n";
}
