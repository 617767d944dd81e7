//===- Report.cpp - -------------------------------------------------------------------------------------*- C++ -*-===//

#include "translator/tool/Report.h"

#include "passes/lower/memory/Memory.h"
#include "translator/ir/Tuning.h"
#include "translator/ir/Work.h"
#include "translator/output/Ownership.h"
#include "translator/text/Text.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <array>
#include <vector>

using namespace mlir;
using namespace ml2k;

namespace {
using Row = std::array<std::string, 5>;

struct Table {
  std::vector<Row> lines = {{"kernel", "pattern", "shapes", "flops", "bytes"}};
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
  for (Row const &line : table.lines)
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  for (Row const &line : table.lines)
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

/// With --calls: the products that are none, and why.
static void printKept(ModuleOp module, llvm::raw_ostream &out) {
  module.walk([&](nest::Kernel kernel) {
    if (auto const why = kernel->getAttrOfType<StringAttr>("nest.kept"))
      out << terminalText(kernel.getLabel(), longestName) << " is no call of KokkosKernels: " << why.getValue() << "\n";
  });
}

void ml2k::printReport(ModuleOp module, llvm::raw_ostream &out) {
  Table table;
  Storage storage;
  collect(module, table, storage);
  size_t const kernels = table.lines.size() - 1;
  printTable(table, out);
  out << "\n"
      << kernels << " kernels, " << scaled(table.flops, "flop") << ", " << scaled(table.bytes, "B") << " moved\n";
  printKept(module, out);
  if (isSmall(module))
    out << "So little work that a host's calling thread does it alone, without launches.\n";
  out << storage.weights << " weights, " << scaled(storage.weightBytes, "B") << "\n";
  out << storage.buffers << " buffers, " << scaled(storage.bufferBytes, "B") << " in all, "
      << scaled(storage.peakBytes, "B") << " at the peak\n";
  if (hasRunTimeExtents(module))
    out << "Extents that are known at run time only (?) count as 1.\n";
}

//===--- JSON -----------------------------------------------------------------------------------------------------===//

/// What runs one after the other in forward(): kernels, and host loops with those inside them.
static DenseMap<Operation *, int64_t> numberKernels(ModuleOp module, std::vector<nest::Kernel> &kernels) {
  DenseMap<Operation *, int64_t> numbers;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto const kernel = dyn_cast<nest::Kernel>(op);
    if (!kernel)
      return WalkResult::advance();
    numbers[op] = static_cast<int64_t>(kernels.size());
    kernels.push_back(kernel);
    return WalkResult::skip();
  });
  return numbers;
}

/// The numbers of the first and the last kernel that touch a buffer; -1 where none does.
static std::pair<int64_t, int64_t> aliveIn(nest::BufferOp buffer, DenseMap<Operation *, int64_t> const &numbers) {
  int64_t first = -1, last = -1;
  for (Access const &access : accessesOf(buffer.getResult()))
    for (Operation *op = access.op; op; op = op->getParentOp())
      if (auto const found = numbers.find(op); found != numbers.end()) {
        first = first < 0 ? found->second : std::min(first, found->second);
        last = std::max(last, found->second);
      }
  return {first, last};
}

/// Whether the rule of the model says the same: it launches all kernels, or none.
static bool isRule(nest::Kernel op, StringRef name, int64_t value) {
  auto const launches = op->getParentOfType<func::FuncOp>()->getAttrOfType<nest::LaunchesAttr>("nest.launches");
  if (name == "square")
    return winogradSquare(op) == value;
  return name == "launch" && launches &&
         launches.getValue() == (value == 1 ? nest::Launches::Never : nest::Launches::Always);
}

/// What ml2kokkos-tune may choose for it.
static void writeTunables(llvm::json::OStream &json, nest::Kernel op) {
  nest::ScheduleAttr const schedule = nest::scheduleOf(op);
  if (!schedule)
    return;
  json.attribute("class", shapeClassOf(op));
  auto const write = [&](StringRef name, ArrayRef<Tunable> tunables) {
    json.attributeObject(name, [&] {
      for (Tunable const &tunable : tunables)
        json.attributeArray(tunable.name, [&] {
          for (int64_t value : tunable.values)
            if (!isRule(op, tunable.name, value))
              json.value(value);
        });
    });
  };
  write("choices", hostTunablesOf(schedule));
  write("device_choices", deviceTunablesOf(schedule));
}

static void writeKernel(llvm::json::OStream &json, nest::Kernel op) {
  auto kernel = dyn_cast<DestinationStyleOpInterface>(*op);
  json.object([&] {
    json.attribute("label", terminalText(op.getLabel(), longestName));
    json.attribute("pattern", patternOf(op));
    json.attribute("shapes", kernel ? shapesOf(kernel) : "");
    if (auto const flops = op.getFlops())
      json.attribute("flops", *flops);
    json.attribute("bytes", op.getBytes());
    writeTunables(json, op);
  });
}

/// With the halo around an image.
static int64_t storedBytes(nest::BufferOp buffer) {
  auto const type = cast<MemRefType>(buffer.getType());
  auto const border = buffer.getBorder();
  if (!border)
    return bytesOf(Type(type));
  SmallVector<int64_t> extents(type.getShape());
  for (int d : {0, 1})
    if (!ShapedType::isDynamic(extents[1 + d]))
      extents[1 + d] += 2 * (*border)[d];
  if (border->size() == 4 && !ShapedType::isDynamic(extents[0]))
    extents[0] = extents[0] / (*border)[3] * ((*border)[3] + 2 * (*border)[2]);
  return bytesOf(Type(MemRefType::get(extents, type.getElementType())));
}

static void writeBuffer(llvm::json::OStream &json, nest::BufferOp buffer,
                        DenseMap<Operation *, int64_t> const &numbers) {
  auto const [first, last] = aliveIn(buffer, numbers);
  json.object([&] {
    json.attribute("name", terminalText(buffer.getName(), longestName));
    if (auto const offset = buffer.getOffset())
      json.attribute("offset", static_cast<int64_t>(*offset));
    json.attribute("bytes", storedBytes(buffer));
    json.attributeArray("alive", [&] {
      json.value(first);
      json.value(last);
    });
  });
}

std::string ml2k::reportJson(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::json::OStream json(out, 1);
  Table table;
  Storage storage;
  collect(module, table, storage);
  std::vector<nest::Kernel> kernels;
  auto const numbers = numberKernels(module, kernels);
  json.object([&] {
    json.attribute(generatorKey, generatorName);
    json.attributeArray("kernels", [&] {
      for (nest::Kernel kernel : kernels)
        writeKernel(json, kernel);
    });
    json.attributeArray("buffers",
                        [&] { module.walk([&](nest::BufferOp buffer) { writeBuffer(json, buffer, numbers); }); });
    json.attribute("weights", storage.weights);
    json.attribute("weight_bytes", storage.weightBytes);
    json.attribute("peak_bytes", storage.peakBytes);
    json.attribute("small", isSmall(module));
    json.attribute("run_time_extents", hasRunTimeExtents(module));
  });
  return text + "\n";
}
