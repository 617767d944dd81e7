//===- ConvKernel.cpp - nest.conv and nest.window: conv, depthwise, pool ------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/ir/StoredSums.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

/// `Square<3, 2, 1>`, or `Window<...>` where rows and columns differ; trailing defaults left out.
static Code windowType(ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                       ArrayRef<int64_t> dilations) {
  SmallVector<int64_t> all = {kernel[0], kernel[1], strides[0],   strides[1],
                              pads[0],   pads[1],   dilations[0], dilations[1]};
  SmallVector<int64_t> const rows = {all[0], all[2], all[4], all[6]}, columns = {all[1], all[3], all[5], all[7]};
  bool const square = rows == columns;
  SmallVector<int64_t> const defaults =
      square ? SmallVector<int64_t>{-1, 1, 0, 1} : SmallVector<int64_t>{-1, -1, -1, -1, -1, -1, 1, 1};
  if (square)
    all = rows;
  while (all.back() == defaults[all.size() - 1])
    all.pop_back();
  return (square ? Raw("Square<") : Raw("Window<")) + cpp::listOf(all) + Raw(">");
}

/// The space of the output's pixels and of the sums of one.
static IndexSpace outputSpace(Value output, unsigned perSum, Identifier const &pixel, Identifier const &channel) {
  IndexSpace space;
  space.extents.append(cast<MemRefType>(output.getType()).getShape().begin(),
                       cast<MemRefType>(output.getType()).getShape().end());
  space.extents.back() /= perSum;
  for (Raw index : {Raw("n"), Raw("p"), Raw("q")})
    space.dims.push_back(member(cpp::name(pixel), index));
  space.dims.push_back(cpp::name(channel));
  return space;
}

/// What the last lambda of a window does with the accumulator before the block of the kernel sees it.
enum class Mean { NoTaps, None, Inside, All };

/// The lambda of (accumulator, [taps,] pixel, channel) that ends a window.
static LogicalResult addEpilogue(Layer &layer, Block &block, ValueRange extras, ArrayAttr extraMaps, Value output,
                                 StringRef accumulator, StringRef channel, Mean mean, int64_t tapCount) {
  Identifier const pixel = layer.scope.fresh({"at", "pixel"});
  Identifier const index = layer.indexNames({channel}).front();
  Identifier const taps = layer.scope.fresh({"taps", "tap_count"});
  IndexSpace const space = outputSpace(output, block.back().getNumOperands(), pixel, index);
  ScalarPrinter printer = layer.scalars(space);
  Identifier const sum = layer.scope.fresh({accumulator.str(), "value"});
  Expression value = cpp::name(sum);
  if (mean == Mean::Inside)
    value = binary(value, "/", Rank::Multiply, cpp::name(taps));
  if (mean == Mean::All)
    value = binary(value, "/", Rank::Multiply, literal(tapCount));
  printer.bind(block.getArgument(0), value);
  if (Value const biased = nest::biasedSum(layer.kernel))
    printer.bind(biased, value);
  Body statements;
  if (failed(bindElements(layer, printer, block.getArguments().drop_front(), extras, mapsOf(extraMaps), space,
                          statements)) ||
      failed(returnValue(printer, block, statements)))
    return failure();
  std::vector<cpp::Parameter> parameters = {{computedType(block.getArgument(0).getType()).code, sum}};
  if (mean != Mean::NoTaps)
    parameters.push_back(cpp::intParameter(taps));
  parameters.push_back({Raw("Pixel"), pixel});
  parameters.push_back(cpp::intParameter(index));
  layer.addLambda({std::move(parameters), std::move(statements)});
  return success();
}

static Mean meanOf(nest::WindowOp window) {
  if (!window.getMean())
    return Mean::None;
  return *window.getMean() == nest::Mean::Inside ? Mean::Inside : Mean::All;
}

/// Rows and columns of the kernel.
static SmallVector<int64_t, 2> kernelOf(nest::ConvOp conv) {
  auto const taps = conv.getKernel();
  if (!conv.getTransposed())
    return {taps[0], taps[1]};
  return {taps[0] * conv.getStrides()[0], taps[1] * conv.getStrides()[1]};
}

/// For volumes `Volume<Square<3, 1, 1>, 32, 32, 3, 1, 1>`; trailing defaults left out.
static Code volumeType(Code const &window, std::optional<ArrayRef<int64_t>> planes) {
  if (!planes)
    return window;
  ArrayRef<int64_t> const all = *planes;
  SmallVector<int64_t> numbers{all[0], all[1], all[2], all[3], all[5], all[4]};
  int64_t const defaults[] = {1, 0, 1};
  while (numbers.size() > 3 && numbers.back() == defaults[numbers.size() - 4])
    numbers.pop_back();
  return Raw("Volume<") + cpp::listOf({window, cpp::listOf(numbers)}) + Raw(">");
}

FailureOr<std::string> printConv(Operation *op, Layer &layer) {
  auto conv = cast<nest::ConvOp>(op);
  Value const image = conv.getInputs()[0], weight = conv.getInputs()[1], output = conv.getOutputs()[0];
  Storage const *weights = layer.program.storageOf(weight);
  bool const depthwise = layer.schedule.getBlock() == nest::KernelBlock::Depthwise;
  FailureOr<Expression> in =
      conv.getChannelsFirst() ? layer.member(*layer.program.storageOf(image)) : layer.image(image);
  FailureOr<Expression> out = layer.image(output);
  if (failed(in) || failed(out))
    return failure();
  if (unsigned const count = nest::channelsPerSum(conv); count > 1)
    *out = cpp::call(Raw("interleaved<") + Code(int64_t(count)) + Raw(">"), {*out}, "interleaved");
  if (int64_t const parts = nest::shuffledParts(conv); parts > 1)
    *out = cpp::call(Raw("shuffled<") + Code(parts) + Raw(">"), {*out}, "shuffled");
  std::vector<Expression> arguments = {*in, layer.member(*weights), *out};
  if (weights->winograd)
    arguments.push_back(layer.winograd(layer.schedule.getScratch()));
  if (!depthwise)
    layer.addSplit(arguments, conv.getEpilogue().getArgument(0).getType());
  Code const window =
      volumeType(windowType(kernelOf(conv), conv.getStrides(), conv.getPads(), conv.getDilations()), conv.getPlanes());
  layer.needDevicePath();
  layer.setCall(weights->winograd ? Code(weights->winograd) + Raw(", ") + window : window, arguments);
  if (failed(addEpilogue(layer, conv.getEpilogue().front(), conv.getExtras(), conv.getExtraMaps(), output, "sum",
                         depthwise ? "c" : "o", Mean::NoTaps, 0)))
    return failure();
  layer.nameEpilogue(conv.getEpilogue().front());
  if (!depthwise)
    layer.nameUnchanged();
  layer.closesBorders = true;
  return describe(layer, conv.getInputs(), conv.getExtras(), conv.getOutputs(), " * ");
}

FailureOr<std::string> printWindow(Operation *op, Layer &layer) {
  auto window = cast<nest::WindowOp>(op);
  Value const output = window.getOutputs()[0];
  FailureOr<Expression> in = layer.image(window.getInputs()[0]), out = layer.image(output);
  if (failed(in) || failed(out))
    return failure();
  Raw const combiner = combinerName(window.getCombiner());
  std::string const noun = accumulatorNouns(window.getCombiner()).front();
  std::string const accumulator = noun == "total" ? "sum" : noun;
  if (failed(addEpilogue(layer, window.getFinish().front(), window.getExtras(), window.getExtraMaps(), output,
                         accumulator, "c", meanOf(window),
                         window.getPlaneTaps() * window.getKernel()[0] * window.getKernel()[1])))
    return failure();
  layer.closesBorders = true;
  Code const taps = volumeType(
      windowType(window.getKernel(), window.getStrides(), window.getPads(), window.getDilations()), window.getPlanes());
  layer.setCall(taps + Raw(", ") + combiner, {*in, *out});
  layer.needBlock(combiner);
  return describe(layer, window.getInputs(), window.getExtras(), window.getOutputs(), ", ");
}

} // namespace ml2k
