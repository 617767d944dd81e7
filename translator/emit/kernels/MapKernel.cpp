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
static Body channelLoop(Identifier const &channel, int64_t channels, Body statements) {
  bool const isLine = statements.size() == 1;
  return {cpp::For{channel, literal(0), literal(channels), literal(1), std::move(statements), isLine}};
}

/// From so many elements on, values come apart from their places: devices then have more loads on their way.
constexpr int64_t manyElements = int64_t(1) << 20;

static bool areMany(Layer::Loops const &loops) {
  int64_t elements = 1;
  for (int64_t const extent : loops.extents)
    elements *= ShapedType::isDynamic(extent) ? 1 : extent;
  return elements >= manyElements;
}

/// The store that ends the statements, if nothing but declarations precedes it and it writes where none of them
/// matters.
static cpp::Assign const *onlyStore(Body const &statements) {
  cpp::Assign const *store = statements.empty() ? nullptr : statements.back().as<cpp::Assign>();
  if (!store || !store->others.empty())
    return nullptr;
  for (cpp::Statement const &statement : llvm::ArrayRef(statements).drop_back()) {
    auto const *declaration = statement.as<cpp::Let>();
    if (!declaration || cpp::uses(store->target, declaration->name))
      return nullptr;
  }
  return store;
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
  unsigned inner;                            ///< runs along the contiguous dimension
  std::optional<unsigned> crossing, channel; ///< along an input that lies across; the channels of a pixel
  Identifier along = Raw("i"), across = Raw("i"), ofChannel = Raw("c");
  std::optional<FusedLoops> rows; ///< the other loops
  Body statements;
};

MapPrinter::MapPrinter(nest::MapOp map, Layer &layer)
    : map(map), layer(layer), maps(mapsOf(map.getIndexingMaps())), operands(map->getOperands()),
      loops(layer.loops(maps, operands)),
      space{SmallVector<Expression>(loops.extents.size(), literal(0)), loops.extents, {}},
      inner(innerLoop(outputMaps().front(), loops)) {
  if (std::optional<unsigned> const pixels = pixelLoop(map, maps.back(), inner, loops, layer)) {
    channel = inner;
    inner = *pixels;
  } else {
    crossing = crossingLoop(ArrayRef(maps).take_front(map.getInputs().size()), inner, loops);
  }
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
  cpp::Assign const *copy = statements.size() == 1 ? statements.front().as<cpp::Assign>() : nullptr;
  if (crossing && copy && transposes(map, maps, *crossing, inner, layer.program)) {
    layer.setCall("transposed_copy", sizes);
    return printCopy(*copy, indices);
  }
  std::vector<cpp::Parameter> parameters = cpp::intParameters(indices);
  if (!crossing && checksOutside(statements, along)) {
    layer.setCall("for_spans", sizes);
    Identifier const span = printer.names.fresh({"columns", "span"});
    statements = alongSpan(statements, along, span);
    parameters.back() = {Raw("Span"), span};
  } else if (cpp::Assign const *store = onlyStore(statements);
             store && !crossing && !channel && areMany(loops) && layer.program.options.target != Target::Host) {
    layer.setCall("assign_each", sizes);
    return printStore(*store, indices);
  } else {
    layer.setCall(crossing ? Raw("for_squares") : Raw("for_each"), sizes);
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
  if (Storage const *planes = planesOf(map, mapsOf(map.getIndexingMaps()), layer)) {
    layer.closesBorders = true;
    layer.setCall("channels_last",
                  {layer.member(*planes), layer.member(*layer.program.storageOf(map.getOutputs()[0]))});
  } else if (failed(MapPrinter(map, layer).print())) {
    return failure();
  }
  return describe(layer, map.getInputs(), map.getExtras(), map.getOutputs(), ", ");
}

} // namespace ml2k
