//===- Report.cpp - -------------------------------------------------------------------------------------*- C++ -*-===//

#include "translator/tool/Report.h"

#include "translator/ir/Nest.h"
#include "translator/ir/Work.h"
#include "translator/text/Text.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <array>
#include <vector>

using namespace mlir;
using namespace ml2k;

namespace {
using Line = std::array<std::string, 5>;

struct Table {
  std::vector<Line> lines = {{"kernel", "pattern", "shapes", "flops", "bytes"}};
  int64_t flops = 0;
  int64_t bytes = 0;
};

struct Storage {
  int buffers = 0;
  int64_t bufferBytes = 0;
  int64_t peakBytes = 0;
  int weights = 0;
  int64_t weightBytes = 0;
};
} // namespace

//===--- Texts ----------------------------------------------------------------------------------------------------===//

static std::string shapeOf(Type type) {
  auto const shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return "scalar";
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(shaped.getShape()))
    text += (i ? "," : "") + (ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size));
  return text + "]";
}

static std::string shapesOf(DestinationStyleOpInterface kernel) {
  std::string inputs;
  for (OpOperand *operand : kernel.getDpsInputOperands())
    inputs += (inputs.empty() ? "" : " ") + shapeOf(operand->get().getType());
  std::string outputs;
  for (Value output : kernel.getDpsInits())
    outputs += " " + shapeOf(output.getType());
  return inputs + (inputs.empty() ? "->" : " ->") + outputs;
}

/// Three digits and a unit: 1.81 Gflop, 512 B.
static std::string scaled(int64_t value, StringRef unit = "") {
  constexpr char const *prefixes[] = {"", "k", "M", "G", "T", "P"};
  double shown = static_cast<double>(value);
  int prefix = 0;
  for (; shown >= 1000 && prefix < 5; ++prefix)
    shown /= 1000;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::format(prefix == 0 || shown >= 100 ? "%.0f"
                      : shown >= 10               ? "%.1f"
                                                  : "%.2f",
                      shown)
      << " " << prefixes[prefix] << unit;
  return StringRef(text).rtrim().str();
}

//===--- Collecting -----------------------------------------------------------------------------------------------===//

/// The operation, and how a convolution is computed if not directly.
static std::string patternOf(Operation *op) {
  std::string const name = op->getName().stripDialect().str();
  auto conv = dyn_cast<nest::ConvOp>(op);
  auto weight = conv ? conv.getInputs()[1].getDefiningOp<nest::WeightOp>() : nest::WeightOp();
  int64_t const size = weight && weight.getPacking() ? weight.getPacking()->getWinograd() : 0;
  return size ? name + " F(" + std::to_string(size) + ",3)" : name;
}

static void addKernel(Table &table, nest::Kernel op) {
  auto const flops = op.getFlops();
  int64_t const bytes = op.getBytes();
  auto kernel = dyn_cast<DestinationStyleOpInterface>(*op);
  table.flops += flops.value_or(0);
  table.bytes += bytes;
  table.lines.push_back({terminalText(op.getLabel(), longestName), patternOf(op), kernel ? shapesOf(kernel) : "",
                         flops ? scaled(*flops) : "-", scaled(bytes)});
}

static void addBuffer(Storage &storage, nest::BufferOp buffer) {
  int64_t const bytes = bytesOf(buffer.getResult().getType());
  ++storage.buffers;
  storage.bufferBytes += bytes;
  int64_t const start = buffer.getOffset().value_or(0);
  storage.peakBytes = std::max(storage.peakBytes, start + bytes);
}

static void collect(ModuleOp module, Table &table, Storage &storage) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto kernel = dyn_cast<nest::Kernel>(op)) {
      addKernel(table, kernel);
      return WalkResult::skip();
    }
    if (auto buffer = dyn_cast<nest::BufferOp>(op))
      addBuffer(storage, buffer);
    if (auto weight = dyn_cast<nest::WeightOp>(op)) {
      ++storage.weights;
      storage.weightBytes += bytesOf(weight.getResult().getType());
    }
    return WalkResult::advance();
  });
}

//===--- Printing -------------------------------------------------------------------------------------------------===//

static void printTable(Table const &table, llvm::raw_ostream &out) {
  std::array<size_t, 5> widths = {};
  for (Line const &line : table.lines)
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  for (Line const &line : table.lines)
    out << llvm::left_justify(line[0], widths[0]) << "  " << llvm::left_justify(line[1], widths[1]) << "  "
        << llvm::left_justify(line[2], widths[2]) << "  " << llvm::right_justify(line[3], widths[3]) << "  "
        << llvm::right_justify(line[4], widths[4]) << "\n";
}

static bool hasRunTimeExtents(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        bool const found = llvm::any_of(op->getOperandTypes(), [](Type type) {
          auto const shaped = dyn_cast<ShapedType>(type);
          return shaped && !shaped.hasStaticShape();
        });
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void ml2k::printReport(ModuleOp module, llvm::raw_ostream &out) {
  Table table;
  Storage storage;
  collect(module, table, storage);
  size_t const kernels = table.lines.size() - 1;
  printTable(table, out);
  out << "\n"
      << kernels << " kernels, " << scaled(table.flops, "flop") << ", " << scaled(table.bytes, "B") << " moved\n";
  if (isSmall(module))
    out << "So little work that a host's calling thread does it alone, without launches.\n";
  out << storage.weights << " weights, " << scaled(storage.weightBytes, "B") << "\n";
  out << storage.buffers << " buffers, " << scaled(storage.bufferBytes, "B") << " in all, "
      << scaled(storage.peakBytes, "B") << " at the peak\n";
  if (hasRunTimeExtents(module))
    out << "Extents that are known at run time only (?) count as 1.\n";
}
