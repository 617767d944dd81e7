//===- ConvKernel.cpp - nest.conv and nest.window: conv, depthwise, pool ------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ml2k {

/// `Square<3, 2, 1>`, or `Window<...>` where rows and columns differ; trailing defaults left out.
static std::string windowType(ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
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
  std::string const list = llvm::join(llvm::map_range(all, [](int64_t i) { return std::to_string(i); }), ", ");
  return (square ? "Square<" : "Window<") + list + ">";
}

/// The space of the output's pixels and channels.
static IndexSpace outputSpace(Value output, std::string const &pixel, std::string const &channel) {
  IndexSpace space;
  space.extents.append(cast<MemRefType>(output.getType()).getShape().begin(),
                       cast<MemRefType>(output.getType()).getShape().end());
  for (StringRef index : {".n", ".p", ".q"})
    space.dims.push_back({pixel + index.str()});
  space.dims.push_back({channel});
  return space;
}

/// What the last lambda of a window does with the accumulator before the block of the kernel sees it.
enum class Mean { NoTaps, None, Inside, All };

/// The lambda of (accumulator, [taps,] pixel, channel) that ends a window.
static LogicalResult addEpilogue(Layer &layer, Block &block, ValueRange extras, ArrayAttr extraMaps, Value output,
                                 StringRef accumulator, StringRef channel, Mean mean, int64_t tapCount) {
  std::string const pixel = layer.scope.fresh({"at", "pixel"});
  std::string const index = layer.indexNames({channel}).front();
  std::string const taps = layer.scope.fresh({"taps", "tap_count"});
  IndexSpace const space = outputSpace(output, pixel, index);
  ScalarPrinter printer = layer.scalars(space);
  Expression value{layer.scope.fresh({accumulator.str(), "value"})};
  std::string parameters = computeType(block.getArgument(0).getType()) + " " + value.text;
  if (mean == Mean::Inside)
    value = binary(value, "/", Rank::Multiply, {taps});
  if (mean == Mean::All)
    value = binary(value, "/", Rank::Multiply, {std::to_string(tapCount)});
  printer.bind(block.getArgument(0), value);
  if (Value const biased = layer.program.biasedSum(layer.kernel))
    printer.bind(biased, value);
  Json statements = Json::array();
  if (failed(bindElements(layer, printer, block.getArguments().drop_front(), extras, mapsOf(extraMaps), space,
                          statements)) ||
      failed(returnValue(printer, block, statements)))
    return failure();
  if (mean != Mean::NoTaps)
    parameters += ", " + indexParameters({taps}, statements);
  parameters += mentions(statements, pixel) ? ", Pixel " + pixel : ", Pixel";
  parameters += ", " + indexParameters({index}, statements);
  layer.addLambda(parameters, std::move(statements));
  return success();
}

static Mean meanOf(nest::WindowOp window) {
  if (!window.getMean())
    return Mean::None;
  return *window.getMean() == nest::Mean::Inside ? Mean::Inside : Mean::All;
}

/// Room for transformed squares that a thread works on together: enough rows for full register tiles, still in its
/// cache.
static int64_t winogradShare(int64_t size, int64_t channels) { return 28 * (size + 2) * (size + 2) * channels; }

/// Rows and columns of the kernel.
static SmallVector<int64_t, 2> kernelOf(nest::ConvOp conv) {
  ArrayRef<int64_t> const taps = cast<MemRefType>(conv.getInputs()[1].getType()).getShape().drop_front(2);
  if (!conv.getTransposed())
    return {taps[0], taps[1]};
  return {taps[0] * conv.getStrides()[0], taps[1] * conv.getStrides()[1]};
}

FailureOr<std::string> printConv(Operation *op, Layer &layer) {
  auto conv = cast<nest::ConvOp>(op);
  Value const image = conv.getInputs()[0], weight = conv.getInputs()[1], output = conv.getOutputs()[0];
  Storage const *weights = layer.program.storageOf(weight);
  auto const shape = cast<MemRefType>(weight.getType()).getShape();
  bool const depthwise = weights && weights->packing == nest::PackingKind::Taps;
  if (!weights || weights->value != weight || (!depthwise && weights->packing != nest::PackingKind::Panels))
    return op->emitError("the weight of a convolution must be packed in panels or taps");
  FailureOr<std::string> in = layer.image(image), out = layer.image(output);
  if (failed(in) || failed(out))
    return failure();
  std::string const block = depthwise              ? "depthwise"
                            : conv.getTransposed() ? "conv_transposed"
                            : weights->winograd    ? "winograd"
                                                   : "conv";
  std::string const parameters = weights->winograd ? std::to_string(weights->winograd) + ", " : "";
  std::vector<std::string> arguments = {*in, layer.member(*weights), *out};
  if (weights->winograd)
    arguments.push_back(layer.winograd(winogradShare(weights->winograd, shape[0] + shape[1])));
  if (!depthwise)
    layer.addSplit(arguments, cast<MemRefType>(weight.getType()).getElementType());
  if (failed(addEpilogue(layer, conv.getEpilogue().front(), conv.getExtras(), conv.getExtraMaps(), output, "sum",
                         depthwise ? "c" : "o", Mean::NoTaps, 0)))
    return failure();
  layer.nameEpilogue(conv.getEpilogue().front());
  if (!depthwise)
    layer.nameUnchanged(arguments);
  layer.program.useBlock(block);
  layer.closesBorders = true;
  layer.setCall(block + "<" + parameters +
                    windowType(kernelOf(conv), conv.getStrides(), conv.getPads(), conv.getDilations()) + ">",
                arguments);
  return describe(layer, conv.getInputs(), conv.getExtras(), conv.getOutputs(), " * ");
}

FailureOr<std::string> printWindow(Operation *op, Layer &layer) {
  auto window = cast<nest::WindowOp>(op);
  Value const output = window.getOutputs()[0];
  FailureOr<std::string> in = layer.image(window.getInputs()[0]), out = layer.image(output);
  if (failed(in) || failed(out))
    return failure();
  std::string const combiner = combinerName(window.getCombiner());
  StringRef const accumulator = llvm::StringSwitch<StringRef>(combiner)
                                    .Cases("Max", "MaxNum", "largest")
                                    .Cases("Min", "MinNum", "smallest")
                                    .Default("sum");
  if (failed(addEpilogue(layer, window.getFinish().front(), window.getExtras(), window.getExtraMaps(), output,
                         accumulator, "c", meanOf(window), window.getKernel()[0] * window.getKernel()[1])))
    return failure();
  layer.program.useBlock("pool");
  layer.closesBorders = true;
  layer.program.useBlock(combiner);
  layer.setCall("pool<" + windowType(window.getKernel(), window.getStrides(), window.getPads(), window.getDilations()) +
                    ", " + combiner + ">",
                {*in, *out});
  return describe(layer, window.getInputs(), window.getExtras(), window.getOutputs(), ", ");
}

} // namespace ml2k
