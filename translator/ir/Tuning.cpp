//===- Tuning.cpp - numbers of building blocks that measurements may choose ---------------------------------------===//

#include "translator/ir/Tuning.h"

#include "translator/ir/LibraryCalls.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ml2k;

//===--- What may be chosen ---------------------------------------------------------------------------------------===//

/// The members of `Untuned` (templates/block/loops/tuning.mustache), which says what they mean.
ArrayRef<Tunable> ml2k::hostTunablesOf(nest::ScheduleAttr schedule) {
  static Tunable const launch = {"launch", {1, 2}}, piece = {"piece", {256, 1024, 16384}};
  static Tunable const rows = {"rows", {6, 12, 10, 4}}, ahead = {"ahead", {-1, 1024, 8192}};
  static std::vector<Tunable> const product = {
      launch, rows, {"panels", {1, 2}}, {"strip", {8, 1, 2, 4}}, {"chunk", {96, 6, 1}}, ahead};
  static std::vector<Tunable> const ofRows = {launch, rows, ahead};
  static std::vector<Tunable> const line = {launch, piece}, whole = {launch}, winograd = {{"square", {4, 2, 1}}};
  switch (schedule.getBlock()) {
  case nest::KernelBlock::Contract:
  case nest::KernelBlock::Conv:
  case nest::KernelBlock::ConvTransposed:
    return product;
  case nest::KernelBlock::ConvChannelsFirst:
    return ofRows;
  case nest::KernelBlock::Winograd:
    return winograd;
  case nest::KernelBlock::ForEach:
  case nest::KernelBlock::ForSpans:
  case nest::KernelBlock::ForGrid:
    return line;
  case nest::KernelBlock::ForRows:
  case nest::KernelBlock::FoldRows:
  case nest::KernelBlock::FoldColumns:
  case nest::KernelBlock::BatchedContract:
    return whole;
  default:
    return {};
  }
}

ArrayRef<Tunable> ml2k::deviceTunablesOf(nest::ScheduleAttr schedule) {
  static Tunable const splits = {"splits", {1, 2, 3, 4, 6, 8, 12, 16}}, threads = {"threads", {64, 128, 256, 512}},
                       ofRow = {"threads", {32, 64, 128, 256}};
  static std::vector<Tunable> const large = {{"tile", {1, 2, 3, 4}}, splits}, product = {splits}, line = {threads},
                                    row = {ofRow};
  switch (schedule.getBlock()) {
  case nest::KernelBlock::Contract:
  case nest::KernelBlock::Conv:
    return schedule.getDevice() == nest::DevicePath::LargeProduct ? large : product;
  case nest::KernelBlock::ConvTransposed:
  case nest::KernelBlock::ConvChannelsFirst:
    return product;
  case nest::KernelBlock::ForEach:
  case nest::KernelBlock::ForSpans:
  case nest::KernelBlock::ForGrid:
  case nest::KernelBlock::FoldColumns:
    return line;
  case nest::KernelBlock::ForRows:
  case nest::KernelBlock::FoldRows:
    return row;
  default:
    return {};
  }
}

ArrayRef<Family> ml2k::families() {
  static constexpr Family all[] = {{"hopper", "KOKKOS_ARCH_HOPPER90", true},
                                   {"ampere", "KOKKOS_ARCH_AMPERE80", true},
                                   {"volta", "KOKKOS_ARCH_VOLTA70", true},
                                   {"cdna3", "KOKKOS_ARCH_AMD_GFX942", true},
                                   {"cdna2", "KOKKOS_ARCH_AMD_GFX90A", true},
                                   {"avx512", "__AVX512F__", false},
                                   {"avx2", "__AVX2__", false},
                                   {"neon", "__aarch64__", false}};
  return all;
}

//===--- What was measured ----------------------------------------------------------------------------------------===//

std::optional<Tuned> Tuned::read(Attribute attribute) {
  auto const parts = dyn_cast<DictionaryAttr>(attribute);
  if (!parts)
    return std::nullopt;
  auto const family = parts.getAs<StringAttr>("family");
  auto const choices = parts.getAs<DictionaryAttr>("choices");
  SmallVector<IntegerAttr, 3> counts;
  for (StringRef name : {"threads", "nanoseconds", "default_nanoseconds"})
    counts.push_back(parts.getAs<IntegerAttr>(name));
  auto const isNumber = [](Attribute value) {
    auto const number = dyn_cast<IntegerAttr>(value);
    return number && number.getType().isInteger(64);
  };
  if (!family || !choices ||
      !llvm::all_of(counts, [&](IntegerAttr count) { return count && isNumber(count) && count.getInt() >= 0; }) ||
      !llvm::all_of(choices, [&](NamedAttribute choice) { return isNumber(choice.getValue()); }))
    return std::nullopt;
  Tuned tuned{family.getValue(), counts[0].getInt(), counts[1].getInt(), counts[2].getInt(), {}};
  for (NamedAttribute choice : choices)
    tuned.choices.emplace_back(choice.getName().getValue(), cast<IntegerAttr>(choice.getValue()).getInt());
  return tuned;
}

SmallVector<Tuned> ml2k::tunedOf(Operation *kernel) {
  SmallVector<Tuned> ordered;
  auto const all = kernel->getAttrOfType<ArrayAttr>("nest.tuned");
  for (Family const &family : families())
    for (Attribute attribute : all ? all.getValue() : ArrayRef<Attribute>())
      if (std::optional<Tuned> const tuned = Tuned::read(attribute); tuned && tuned->family == family.name)
        ordered.push_back(*tuned);
  return ordered;
}

SmallVector<nest::Kernel> ml2k::tunedKernels(Operation *program) {
  SmallVector<nest::Kernel> kernels;
  program->walk([&](nest::Kernel kernel) {
    if (kernel->hasAttr("nest.tuned"))
      kernels.push_back(kernel);
  });
  return kernels;
}

//===--- What a kernel is -----------------------------------------------------------------------------------------===//

static std::string extentText(std::optional<int64_t> extent) {
  return extent && !ShapedType::isDynamic(*extent) ? std::to_string(*extent) : "?";
}

static std::string shapeOf(Type type) {
  auto const shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return "scalar";
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(shaped.getShape()))
    text += (i ? "," : "") + extentText(size);
  return text + "]";
}

std::string ml2k::shapesOf(DestinationStyleOpInterface kernel) {
  std::string inputs;
  for (OpOperand *operand : kernel.getDpsInputOperands())
    inputs += (inputs.empty() ? "" : " ") + shapeOf(operand->get().getType());
  std::string outputs;
  for (Value output : kernel.getDpsInits())
    outputs += " " + shapeOf(output.getType());
  return inputs + (inputs.empty() ? "->" : " ->") + outputs;
}

int64_t ml2k::winogradSquare(Operation *op) {
  auto conv = dyn_cast<nest::ConvOp>(op);
  auto weight = conv ? conv.getInputs()[1].getDefiningOp<nest::WeightOp>() : nest::WeightOp();
  return weight && weight.getPacking() ? weight.getPacking()->getWinograd() : 0;
}

std::string ml2k::patternOf(Operation *op) {
  std::string const name = op->getName().stripDialect().str();
  if (nest::ScheduleAttr const schedule = nest::scheduleOf(op); schedule && nest::isLibraryCall(schedule.getBlock()))
    return nest::libraryFunction(schedule.getBlock()).str();
  int64_t const size = winogradSquare(op);
  return size ? name + " F(" + std::to_string(size) + ",3)" : name;
}

/// `[4094,?]` of explicit loops.
static std::string loopsOf(nest::LoopKernelOp kernel) {
  std::string text = "[";
  for (auto [lower, upper] : llvm::zip(kernel.getLowers(), kernel.getUppers())) {
    std::optional<int64_t> const from = getConstantIntValue(lower), to = getConstantIntValue(upper);
    text += (text.size() > 1 ? "," : "") + (from && to ? std::to_string(*to - *from) : "?");
  }
  return text + "]";
}

static std::string elementText(Operation *kernel) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (Value operand : kernel->getOperands())
    if (auto const type = dyn_cast<MemRefType>(operand.getType())) {
      out << type.getElementType();
      break;
    }
  return text;
}

std::string ml2k::shapeClassOf(nest::Kernel kernel) {
  nest::ScheduleAttr const schedule = nest::scheduleOf(kernel);
  std::string text = patternOf(kernel);
  if (schedule)
    text += " by " + nest::stringifyKernelBlock(schedule.getBlock()).str();
  if (std::string const element = elementText(kernel); !element.empty())
    text += " " + element;
  if (auto loops = dyn_cast<nest::LoopKernelOp>(*kernel))
    return text + " " + loopsOf(loops);
  auto shaped = dyn_cast<DestinationStyleOpInterface>(*kernel);
  return shaped ? text + " " + shapesOf(shaped) : text;
}
