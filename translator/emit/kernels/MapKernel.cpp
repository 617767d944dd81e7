//===- MapKernel.cpp - nest.map: for_each, for_squares, transposed_copy, channels_last ----------------------------===//

#include "translator/emit/kernels/KernelParts.h"

using namespace mlir;

namespace ml2k {

/// The loop that runs along the contiguous dimension of the output.
static unsigned innerLoop(AffineMap out, Layer::Loops const &loops) {
  for (AffineExpr expr : llvm::reverse(out.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && loops.extents[dim.getPosition()] != 1)
      return dim.getPosition();
  return loops.extents.empty() ? 0 : loops.extents.size() - 1;
}

/// Images of up to so many channels are written pixel by pixel: too few to vectorise or to coalesce along them.
constexpr int64_t fewChannels = 8;

/// True if the output holds the elements of the only input as they are.
static bool copiesElements(nest::MapOp map) {
  Block &body = map.getBody().front();
  return map.getInputs().size() == 1 && map.getExtras().empty() && map.getOutputs().size() == 1 &&
         body.getOperations().size() == 1 && body.front().getOperand(0) == body.getArgument(0) &&
         body.getArgument(0).getType() == cast<MemRefType>(map.getOutputs()[0].getType()).getElementType();
}

/// An image of few channels that is its input with another order of dimensions: the input of channels_last, or null.
static Storage const *planesOf(nest::MapOp map, ArrayRef<AffineMap> maps, Layer &layer) {
  if (maps.size() != 2 || map.getInputs().size() != 1 || maps[0].getNumResults() != 4 || maps[1].getNumResults() != 4)
    return nullptr;
  Value const input = map.getInputs()[0], output = map.getOutputs()[0];
  Storage const *planes = layer.program.storageOf(input), *image = layer.program.storageOf(output);
  if (!copiesElements(map) || !planes || planes->value != input || planes->isImage || planes->isFlat ||
      !image->isImage || image->value != output || image->type.getShape().back() > fewChannels)
    return nullptr;
  for (auto [to, from] : {std::pair(0, 0), {1, 3}, {2, 1}, {3, 2}})
    if (AffineExpr const index = maps[0].getResult(to);
        index != maps[1].getResult(from) || !(isa<AffineDimExpr>(index) || index == 0))
      return nullptr;
  return planes;
}

/// The letters of an image's dimensions for the loops that walk through them; none if a loop does not.
static SmallVector<StringRef> imageLetters(AffineMap out, ArrayRef<unsigned> loops) {
  constexpr StringRef letters[] = {"n", "h", "w", "c"};
  SmallVector<StringRef> names;
  for (unsigned loop : loops)
    for (auto [position, expr] : llvm::enumerate(out.getResults()))
      if (expr.isFunctionOfDim(loop))
        names.push_back(letters[position]);
  return names.size() == loops.size() ? names : SmallVector<StringRef>();
}

/// The loop along the lines of an image of few channels; none if the output is anything else.
static std::optional<unsigned> pixelLoop(nest::MapOp map, AffineMap out, unsigned inner, Layer::Loops const &loops,
                                         Layer &layer) {
  Storage const *image = layer.program.storageOf(map.getOutputs()[0]);
  auto const isIndex = [](AffineExpr e) { return isa<AffineDimExpr>(e) || e == 0; };
  if (map.getOutputs().size() != 1 || !image->isImage || image->value != map.getOutputs()[0] ||
      out.getNumResults() != 4 || !llvm::all_of(out.getResults(), isIndex) ||
      image->type.getShape().back() > fewChannels || out.getResult(3) != getAffineDimExpr(inner, out.getContext()))
    return std::nullopt;
  for (unsigned d : {2, 1})
    if (auto dim = dyn_cast<AffineDimExpr>(out.getResult(d)); dim && loops.extents[dim.getPosition()] != 1)
      return dim.getPosition();
  return std::nullopt;
}

/// The loop along which an input lies in memory, while the output lies along `inner`; none if they agree or are short.
static std::optional<unsigned> crossingLoop(ArrayRef<AffineMap> inputs, unsigned inner, Layer::Loops const &loops) {
  constexpr int64_t least = 8;
  auto const isLong = [&](unsigned loop) {
    return ShapedType::isDynamic(loops.extents[loop]) || loops.extents[loop] >= least;
  };
  for (AffineMap map : inputs)
    if (unsigned const last = map.getNumResults() ? innerLoop(map, loops) : inner; last != inner)
      if (map.getResults().back() == getAffineDimExpr(last, map.getContext()) && map.isFunctionOfDim(inner) &&
          isLong(last) && isLong(inner))
        return last;
  return std::nullopt;
}

/// True if the map copies numbers of one type of 4 or 8 bytes that lie along `crossing`, at equal distances, to where
/// they lie along `inner`.
static bool transposes(nest::MapOp map, ArrayRef<AffineMap> maps, unsigned crossing, unsigned inner,
                       Program const &program) {
  if (!copiesElements(map))
    return false;
  Storage const *from = program.storageOf(map.getInputs()[0]), *to = program.storageOf(map.getOutputs()[0]);
  if (!from || from->isUnsigned != to->isUnsigned)
    return false;
  Type const type = cast<MemRefType>(map.getOutputs()[0].getType()).getElementType();
  unsigned const bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  auto const isEven = [](AffineMap map) {
    return llvm::all_of(map.getResults(), [](AffineExpr e) { return isa<AffineDimExpr, AffineConstantExpr>(e); });
  };
  return (bits == 32 || bits == 64) && isEven(maps[0]) && isEven(maps[1]) &&
         liesAlong(map.getInputs()[0], maps[0], crossing) && liesAlong(map.getOutputs()[0], maps[1], inner);
}

/// A loop over the channels of a pixel around the statements.
static Json channelLoop(std::string const &channel, int64_t channels, Json statements) {
  return Json::array({{{"template", statements.size() == 1 ? "statement/for_line" : "statement/for"},
                       {"index", channel},
                       {"begin", "0"},
                       {"end", std::to_string(channels)},
                       {"advance", "++" + channel},
                       {"statements", std::move(statements)}}});
}

/// A lambda that returns an element by reference.
static void addReference(std::string const &element, std::string const &type, std::vector<std::string> const &indices,
                         FusedLoops const &rows, Layer &layer) {
  Json statements = Json::array({{{"template", "statement/return"}, {"value", element}}});
  rows.recover(statements);
  std::string const lambda = indexParameters(indices, statements);
  layer.addLambda(lambda, std::move(statements), type);
}

FailureOr<std::string> printMap(Operation *op, Layer &layer) {
  auto map = cast<nest::MapOp>(op);
  SmallVector<AffineMap> const maps = mapsOf(map.getIndexingMaps());
  SmallVector<Value> const operands(op->getOperands());
  unsigned const outputCount = map.getOutputs().size();
  if (Storage const *planes = planesOf(map, maps, layer)) {
    layer.program.useBlock("channels_last");
    layer.closesBorders = true;
    layer.setCall("channels_last",
                  {layer.member(*planes), layer.member(*layer.program.storageOf(map.getOutputs()[0]))});
    return describe(layer, map.getInputs(), map.getExtras(), map.getOutputs(), ", ");
  }
  Layer::Loops const loops = layer.loops(maps, operands);
  unsigned inner = innerLoop(maps[maps.size() - outputCount], loops);

  IndexSpace space{SmallVector<Expression>(loops.extents.size(), Expression{"0"}), loops.extents, {}};
  std::optional<unsigned> crossing, channel;
  if (std::optional<unsigned> const pixels = pixelLoop(map, maps.back(), inner, loops, layer)) {
    channel = inner;
    inner = *pixels;
  } else {
    crossing = crossingLoop(ArrayRef(maps).take_front(map.getInputs().size()), inner, loops);
  }
  SmallVector<unsigned> outer, all;
  for (unsigned loop = 0; loop < loops.extents.size(); ++loop)
    if (loops.extents[loop] != 1 || loop == inner) {
      all.push_back(loop);
      if (loop != inner && loop != crossing && loop != channel)
        outer.push_back(loop);
    }
  SmallVector<StringRef> letters;
  if (layer.program.storageOf(map.getOutputs()[0])->isImage && maps.back().getNumResults() == 4)
    letters = imageLetters(maps[maps.size() - outputCount], all);
  std::vector<std::string> const names = letters.empty() ? loopNames(layer, all.size()) : layer.indexNames(letters);
  std::vector<std::string> outerNames;
  std::string along = "i", across;
  for (auto [loop, name] : llvm::zip(all, names)) {
    space.dims[loop] = {name};
    if (loop == inner)
      along = name;
    else if (loop == crossing)
      across = name;
    else if (loop != channel)
      outerNames.push_back(name);
  }
  FusedLoops const rows(layer, loops, outer, outerNames, crossing ? "outer" : "row", space);

  Block &body = map.getBody().front();
  Json statements = Json::array();
  ScalarPrinter printer = layer.scalars(space);
  namePositions(printer, [&](Value value) {
    auto const argument = dyn_cast<BlockArgument>(value);
    auto index = value.getDefiningOp<nest::IndexOp>();
    bool const isElement = argument && argument.getOwner() == &body;
    return (index && index.getDim() == inner) || (isElement && maps[argument.getArgNumber()].isFunctionOfDim(inner));
  });
  if (failed(bindElements(layer, printer, body.getArguments(), ArrayRef(operands).drop_back(outputCount), maps, space,
                          statements)) ||
      failed(printer.print(body, statements)) ||
      failed(storeElements(layer, printer, body, map.getOutputs(), ArrayRef(maps).take_back(outputCount), space,
                           statements)))
    return failure();
  std::string const shapes = describe(layer, map.getInputs(), map.getExtras(), map.getOutputs(), ", ");
  if (channel)
    statements = channelLoop(space.dims[*channel].text, loops.extents[*channel], std::move(statements));
  Expression const length = loops.sizes.empty() ? Expression{"1"} : loops.sizes[inner];
  std::vector<std::string> indices = {rows.name()}, sizes = {rows.size().text};
  if (crossing) {
    indices.push_back(across);
    sizes.push_back(loops.sizes[*crossing].text);
  }
  indices.push_back(along);
  sizes.push_back(length.text);
  bool const isCopy = crossing && statements.size() == 1 && transposes(map, maps, *crossing, inner, layer.program);
  bool const hasSpan = !crossing && checksOutside(statements, along);
  char const *const block = isCopy ? "transposed_copy" : crossing ? "for_squares" : hasSpan ? "for_spans" : "for_each";
  layer.program.useBlock(block);
  layer.setCall(block, sizes);
  if (isCopy) {
    std::string const type = layer.program.storageOf(map.getOutputs()[0])->scalar();
    addReference(statements[0]["value"], type + " const &", indices, rows, layer);
    addReference(statements[0]["target"], type + " &", indices, rows, layer);
    return shapes;
  }
  std::string const span = hasSpan ? printer.names.fresh({"columns", "span"}) : "";
  if (hasSpan)
    statements = alongSpan(std::move(statements), along, span);
  rows.recover(statements);
  if (hasSpan)
    indices.pop_back();
  std::string const lambda = indexParameters(indices, statements) + (hasSpan ? ", Span " + span : "");
  layer.addLambda(lambda, std::move(statements));
  return shapes;
}

} // namespace ml2k
