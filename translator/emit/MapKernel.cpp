//===- MapKernel.cpp - nest.map: for_each -------------------------------------------------------------------------===//

#include "translator/emit/KernelParts.h"

using namespace mlir;

namespace ml2k {

/// The loop that runs along the contiguous dimension of the output.
static unsigned innerLoop(AffineMap out, Layer::Loops const &loops) {
  for (AffineExpr expr : llvm::reverse(out.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && loops.extents[dim.getPosition()] != 1)
      return dim.getPosition();
  return loops.extents.empty() ? 0 : loops.extents.size() - 1;
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

/// The image whose few channels the map writes pixel by pixel, null if it does anything else.
static Storage const *narrowImage(nest::MapOp map, AffineMap out, unsigned inner, Layer &layer) {
  constexpr int64_t few = 8;
  Storage const *image = layer.program.storageOf(map.getOutputs()[0]);
  auto const isIndex = [](AffineExpr e) { return isa<AffineDimExpr>(e) || e == 0; };
  bool const isWhole = image->isImage && image->value == map.getOutputs()[0] && llvm::all_of(out.getResults(), isIndex);
  bool const isBordered = image->border[0] || image->border[1];
  bool const isNarrow = isWhole && isBordered && image->type.getShape().back() <= few &&
                        out.getResults().back() == getAffineDimExpr(inner, out.getContext());
  return isNarrow && map.getOutputs().size() == 1 ? image : nullptr;
}

/// A plain kernel over pixels: for too few channels to vectorise or to coalesce.
static void printPixels(Layer &layer, Storage const &image, FusedLoops const &pixels, AffineMap out,
                        IndexSpace const &space, Json statements) {
  auto const index = [&](unsigned d) {
    auto const dim = dyn_cast<AffineDimExpr>(out.getResult(d));
    return dim ? space.dims[dim.getPosition()].text : "0";
  };
  std::string const channel = index(3), channels = std::to_string(image.type.getShape().back());
  std::string const at = index(0) + ", " + index(1) + ", " + index(2) + ", ";
  Json body = Json::array();
  body.push_back({{"template", statements.size() == 1 ? "statement/for_line" : "statement/for"},
                  {"index", channel},
                  {"begin", "0"},
                  {"end", channels},
                  {"advance", "++" + channel},
                  {"statements", std::move(statements)}});
  body.push_back({{"template", "statement/call"}, {"text", layer.closeBorder(image, at + "0, " + channels)}});
  pixels.recover(body);
  layer.setPolicyCall("Kokkos::parallel_for", "Kokkos::RangePolicy(space, 0, " + pixels.size().text + ")");
  std::string const parameter = indexParameters({pixels.name()}, body);
  layer.addLambda(parameter, std::move(body));
}

FailureOr<std::string> printMap(Operation *op, Layer &layer) {
  auto map = cast<nest::MapOp>(op);
  SmallVector<AffineMap> const maps = mapsOf(map.getIndexingMaps());
  SmallVector<Value> const operands(op->getOperands());
  unsigned const outputCount = map.getOutputs().size();
  Layer::Loops const loops = layer.loops(maps, operands);
  unsigned const inner = innerLoop(maps[maps.size() - outputCount], loops);

  IndexSpace space{SmallVector<Expression>(loops.extents.size(), Expression{"0"}), loops.extents, {}};
  SmallVector<unsigned> outer, all;
  for (unsigned loop = 0; loop < loops.extents.size(); ++loop)
    if (loops.extents[loop] != 1 || loop == inner) {
      all.push_back(loop);
      if (loop != inner)
        outer.push_back(loop);
    }
  SmallVector<StringRef> letters;
  if (layer.program.storageOf(map.getOutputs()[0])->isImage && maps.back().getNumResults() == 4)
    letters = imageLetters(maps[maps.size() - outputCount], all);
  std::vector<std::string> const names = letters.empty() ? loopNames(layer, all.size()) : layer.indexNames(letters);
  std::vector<std::string> outerNames;
  std::string along = "i";
  for (auto [loop, name] : llvm::zip(all, names)) {
    space.dims[loop] = {name};
    if (loop == inner)
      along = name;
    else
      outerNames.push_back(name);
  }
  FusedLoops const rows(layer, loops, outer, outerNames, "row", space);

  Block &body = map.getBody().front();
  Json statements = Json::array();
  ScalarPrinter printer = layer.scalars(space);
  if (failed(bindElements(layer, printer, body.getArguments(), ArrayRef(operands).drop_back(outputCount), maps, space,
                          statements)) ||
      failed(printer.print(body, statements)) ||
      failed(storeElements(layer, printer, body, map.getOutputs(), ArrayRef(maps).take_back(outputCount), space,
                           statements)))
    return failure();
  std::string const shapes = describe(layer, map.getInputs(), map.getExtras(), map.getOutputs(), ", ");
  if (Storage const *image = narrowImage(map, maps.back(), inner, layer)) {
    printPixels(layer, *image, rows, maps.back(), space, std::move(statements));
    return shapes;
  }
  rows.recover(statements);
  layer.program.useBlock("for_each");
  Expression const length = loops.sizes.empty() ? Expression{"1"} : loops.sizes[inner];
  layer.setCall("for_each", {rows.size().text, length.text});
  std::string const lambda = indexParameters({rows.name(), along}, statements);
  layer.addLambda(lambda, std::move(statements));
  return shapes;
}

} // namespace ml2k
