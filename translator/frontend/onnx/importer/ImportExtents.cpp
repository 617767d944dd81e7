//===- ImportExtents.cpp - names of sizes, sizes as data ----------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Importer.h"

using namespace mlir;

namespace ml2k::frontend {

static bool isGivenName(pb::GraphProto const &graph, llvm::StringRef name) {
  return llvm::any_of(graph.input(), [&](pb::ValueInfoProto const &input) {
    return llvm::any_of(input.type().tensor_type().shape().dim(),
                        [&](auto const &dim) { return dim.dim_param() == name; });
  });
}

/// The model's; an extent without one, or with one that says as little as "?", gets one of its own, the first of all is
/// the batch.
std::string Importer::extentName(pb::ValueInfoProto const &input, int dim) {
  std::string const &given = input.type().tensor_type().shape().dim(dim).dim_param();
  if (llvm::any_of(given, llvm::isAlnum))
    return given;
  if (dim == 0 && batched.empty() && build.extents.names().empty() && !isGivenName(model.graph(), "batch"))
    batched = input.name();
  std::string own = dim == 0 && batched == input.name() ? "batch" : input.name() + "_size_" + std::to_string(dim);
  while (isGivenName(model.graph(), own))
    own += "_";
  return own;
}

void Importer::nameExtents(pb::ValueInfoProto const &input) {
  BlockArgument const argument = function.getArguments().back();
  auto const type = cast<RankedTensorType>(argument.getType());
  if (type.hasStaticShape())
    return;
  llvm::SmallVector<Attribute> names;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    std::string const name = type.isDynamicDim(dim) ? extentName(input, dim) : "";
    names.push_back(build.getStringAttr(name));
    if (!name.empty())
      build.extents.name(argument, dim, name);
  }
  function.setArgAttr(argument.getArgNumber(), "nest.dims", build.getArrayAttr(names));
}

/// The extents of a result: names of inputs' extents, and how others are computed from them.
void Importer::describeExtents(Value result, std::string const &name, NamedAttrList &attributes) {
  if (Build::typeOf(result).hasStaticShape())
    return;
  llvm::SmallVector<Attribute> names, computed;
  for (auto [dim, extent] : llvm::enumerate(build.extentsOf(result))) {
    bool const isKnown = extent.number().has_value();
    AffineExpr const expr = build.extents.affine(extent);
    auto const symbol = dyn_cast_or_null<AffineSymbolExpr>(expr);
    names.push_back(build.getStringAttr(isKnown  ? ""
                                        : symbol ? build.extents.names()[symbol.getPosition()]
                                                 : name + "_size_" + std::to_string(dim)));
    computed.push_back(isKnown || symbol || !expr
                           ? Attribute(build.getUnitAttr())
                           : AffineMapAttr::get(AffineMap::get(0, build.extents.names().size(), expr)));
  }
  attributes.append("nest.dims", build.getArrayAttr(names));
  if (llvm::any_of(computed, llvm::IsaPred<AffineMapAttr>))
    attributes.append("nest.extents", build.getArrayAttr(computed));
}

/// Elements that are sizes which are known at run time only: a tensor that is computed from them.
Value Importer::computeSizes(GraphValue const &value) {
  Ints const numbers = integersOf(value.constant);
  llvm::SmallVector<Value> elements;
  for (int64_t number : numbers)
    elements.push_back(build.extents.value(build.extents.decode(number)));
  IntsRef const shape = value.type().getShape();
  Type const element = value.type().getElementType();
  return build.map({}, {}, build.sizes(shape), element, [&](Scalars &s, ValueRange) -> Value {
    Value place = s.index(0);
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      Value const row = s.create<arith::MulIOp>(place, s.index(extent));
      place = s.create<arith::AddIOp>(row, s.create<linalg::IndexOp>(static_cast<int64_t>(dim)));
    }
    Value chosen = elements[0];
    for (size_t at = 1; at < elements.size(); ++at) {
      Value const isHere = s.create<arith::CmpIOp>(arith::CmpIPredicate::eq, place, s.index(static_cast<int64_t>(at)));
      chosen = s.select(isHere, elements[at], chosen);
    }
    return s.create<arith::IndexCastOp>(element, chosen);
  });
}

} // namespace ml2k::frontend
