//===- MapKernel.cpp - nest.map: for_each, for_squares, transposed_copy, channels_last ----------------------------===//

#include "translator/emit/kernels/KernelParts.h"

using namespace mlir;

namespace ml2k {

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

/// A loop over the channels of a pixel around the statements.
static Body channelLoop(Identifier const &channel, int64_t channels, Body statements) {
  bool const isLine = statements.size() == 1;
  return {cpp::For{channel, literal(0), literal(channels), literal(1), std::move(statements), isLine}};
}

namespace {

/// A map of loops: which of them run as what, and what they are called.
class MapPrinter {
public:
  MapPrinter(nest::MapOp map, Layer &layer);
  LogicalResult print();

private:
  void nameLoops();
  LogicalResult printBody(ScalarPrinter &printer);
  void addReference(Expression const &element, Code const &type, std::vector<Identifier> const &indices);
  void printCopy(cpp::Assign const &copy, std::vector<Identifier> const &indices);
  void printStore(cpp::Assign const &store, std::vector<Identifier> const &indices);
  void printCall(ScalarPrinter &printer);
  unsigned outputCount() { return map.getOutputs().size(); }
  ArrayRef<AffineMap> outputMaps() { return ArrayRef(maps).take_back(outputCount()); }

  nest::MapOp map;
  Layer &layer;
  SmallVector<AffineMap> maps;
  SmallVector<Value> operands;
  Layer::Loops loops;
  IndexSpace space;
  unsigned const inner;                            ///< runs along the contiguous dimension
  std::optional<unsigned> const crossing, channel; ///< along an input that lies across; the channels of a pixel
  Identifier along = Raw("i"), across = Raw("i"), ofChannel = Raw("c");
  std::optional<FusedLoops> rows; ///< the other loops
  Body statements;
};

MapPrinter::MapPrinter(nest::MapOp map, Layer &layer)
    : map(map), layer(layer), maps(mapsOf(map.getIndexingMaps())), operands(map->getOperands()),
      loops(layer.loops(maps, operands)),
      space{SmallVector<Expression>(loops.extents.size(), literal(0)), loops.extents, {}},
      inner(layer.schedule.getInner()), crossing(layer.schedule.crossingLoop()), channel(layer.schedule.channelLoop()) {
}

void MapPrinter::nameLoops() {
  SmallVector<unsigned> outer, all;
  for (unsigned loop = 0; loop < loops.extents.size(); ++loop)
    if (loops.extents[loop] != 1 || loop == inner) {
      all.push_back(loop);
      if (loop != inner && loop != crossing && loop != channel)
        outer.push_back(loop);
    }
  SmallVector<StringRef> letters;
  if (layer.program.storageOf(map.getOutputs()[0])->isImage && maps.back().getNumResults() == 4)
    letters = imageLetters(outputMaps().front(), all);
  std::vector<Identifier> const names = letters.empty() ? loopNames(layer, all.size()) : layer.indexNames(letters);
  std::vector<Identifier> outerNames;
  if (names.empty())
    along = layer.indexNames({"i"}).front();
  for (auto [loop, name] : llvm::zip(all, names)) {
    space.dims[loop] = cpp::name(name);
    if (loop == inner)
      along = name;
    else if (loop == crossing)
      across = name;
    else if (loop == channel)
      ofChannel = name;
    else
      outerNames.push_back(name);
  }
  rows.emplace(layer, loops, outer, outerNames, crossing ? "outer" : "row", space);
}

LogicalResult MapPrinter::printBody(ScalarPrinter &printer) {
  Block &body = map.getBody().front();
  namePositions(printer, [&](Value value) {
    auto const argument = dyn_cast<BlockArgument>(value);
    auto index = value.getDefiningOp<nest::IndexOp>();
    bool const isElement = argument && argument.getOwner() == &body;
    return (index && index.getDim() == inner) || (isElement && maps[argument.getArgNumber()].isFunctionOfDim(inner));
  });
  return failure(failed(bindElements(layer, printer, body.getArguments(), ArrayRef(operands).drop_back(outputCount()),
                                     maps, space, statements)) ||
                 failed(printer.print(body, statements)) ||
                 failed(storeElements(layer, printer, body, map.getOutputs(), outputMaps(), space, statements)));
}

/// A lambda that returns an element by reference.
void MapPrinter::addReference(Expression const &element, Code const &type, std::vector<Identifier> const &indices) {
  Body returns = {cpp::Return{element}};
  rows->recover(returns);
  layer.addLambda({cpp::intParameters(indices), std::move(returns), type});
}

void MapPrinter::printCopy(cpp::Assign const &copy, std::vector<Identifier> const &indices) {
  Code const type = layer.program.storageOf(map.getOutputs()[0])->scalarType().code;
  addReference(copy.value, type + Raw(" const &"), indices);
  addReference(copy.target, type + Raw(" &"), indices);
}

/// The value and its place, each as a lambda
void MapPrinter::printStore(cpp::Assign const &store, std::vector<Identifier> const &indices) {
  Body value(statements.begin(), statements.end() - 1);
  value.push_back(cpp::Return{store.value});
  rows->recover(value);
  layer.addLambda({cpp::intParameters(indices), std::move(value)});
  addReference(store.target, layer.program.storageOf(map.getOutputs()[0])->scalarType().code + Raw(" &"), indices);
}

void MapPrinter::printCall(ScalarPrinter &printer) {
  std::vector<Identifier> indices = {rows->name()};
  std::vector<Expression> sizes = {rows->size()};
  if (crossing) {
    indices.push_back(across);
    sizes.push_back(loops.sizes[*crossing]);
  }
  indices.push_back(along);
  sizes.push_back(loops.sizes.empty() ? literal(1) : loops.sizes[inner]);
  layer.setCall(sizes);
  if (layer.schedule.getBlock() == nest::KernelBlock::TransposedCopy)
    return printCopy(*statements.back().as<cpp::Assign>(), indices);
  std::vector<cpp::Parameter> parameters = cpp::intParameters(indices);
  if (layer.schedule.getBlock() == nest::KernelBlock::ForSpans) {
    Identifier const span = printer.names.fresh({"columns", "span"});
    statements = alongSpan(statements, along, span);
    parameters.back() = {Raw("Span"), span};
  } else if (layer.schedule.getBlock() == nest::KernelBlock::AssignEach) {
    return printStore(*statements.back().as<cpp::Assign>(), indices);
  }
  rows->recover(statements);
  layer.addLambda({std::move(parameters), std::move(statements)});
}

LogicalResult MapPrinter::print() {
  nameLoops();
  ScalarPrinter printer = layer.scalars(space);
  if (failed(printBody(printer)))
    return failure();
  if (channel)
    statements = channelLoop(ofChannel, loops.extents[*channel], std::move(statements));
  printCall(printer);
  return success();
}

} // namespace

FailureOr<std::string> printMap(Operation *op, Layer &layer) {
  auto map = cast<nest::MapOp>(op);
  if (layer.schedule.getBlock() == nest::KernelBlock::ChannelsLast) {
    layer.closesBorders = true;
    layer.setCall({layer.member(*layer.program.storageOf(map.getInputs()[0])),
                   layer.member(*layer.program.storageOf(map.getOutputs()[0]))});
  } else if (failed(MapPrinter(map, layer).print())) {
    return failure();
  }
  return describe(layer, map.getInputs(), map.getExtras(), map.getOutputs(), ", ");
}

} // namespace ml2k
