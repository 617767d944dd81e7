//===- Shape.cpp - operators about shapes and constants -----------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

//===--- Other shapes for the same elements -----------------------------------------------------------------------===//

static Extent productOf(ArrayRef<Extent> extents) {
  Extent product = 1;
  for (Extent const &extent : extents)
    product = product * extent;
  return product;
}

static std::string textOf(Build &b, ArrayRef<Extent> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [&](Extent const &e) { return b.extents.text(e); }), ",") + "]";
}

/// 0 keeps an extent, -1 stands for what is left.
static std::vector<Extent> reshapedShape(Node &node, std::vector<Extent> shape) {
  Build &b = node.b;
  std::vector<Extent> const from = node.extents(0);
  bool const keepsZero = node.intAttr("allowzero", 0);
  std::optional<size_t> rest;
  for (auto [i, extent] : llvm::enumerate(shape)) {
    if (extent == Extent(0) && !keepsZero) {
      if (i >= from.size())
        node.refuse("shape " + textOf(b, shape) + " keeps a dimension that the input does not have");
      extent = from[i];
    } else if (extent == Extent(-1)) {
      if (rest)
        node.refuse("shape " + textOf(b, shape) + " leaves two dimensions open");
      rest = i;
    } else if (extent.number().value_or(0) < 0) {
      node.refuse("shape holds " + Twine(*extent.number()));
    }
  }
  if (!rest)
    return shape;
  shape[*rest] = 1;
  Extent const known = productOf(shape), all = productOf(from);
  bool const fits = !all.number() || !known.number() || (*known.number() != 0 && *all.number() % *known.number() == 0);
  if (!fits || known == Extent(0)) {
    shape[*rest] = -1;
    node.refuse("a tensor of shape " + shapeText(node.shape(0)) + " cannot be reshaped to " + textOf(b, shape));
  }
  shape[*rest] = b.extents.quotient(all, known);
  return shape;
}

static void importReshape(Node &node) {
  if (node.opset >= 5)
    return node.outReshapedTo(0, reshapedShape(node, node.shapeInput(1, "shape")));
  auto const shape = node.intsAttr("shape");
  if (!shape)
    node.refuse("attribute shape is missing");
  node.outReshapedTo(0, reshapedShape(node, {shape->begin(), shape->end()}));
}

static void importFlatten(Node &node) {
  int64_t const rank = node.rank(0), given = node.intAttr("axis", 1);
  int64_t const axis = given == rank ? rank : node.axis(given, std::max<int64_t>(rank, 1)); // rank itself is allowed
  std::vector<Extent> const from = node.extents(0);
  node.outReshapedTo(0, {productOf(ArrayRef(from).take_front(axis)), productOf(ArrayRef(from).drop_front(axis))});
}

static void importSqueeze(Node &node) {
  auto given = node.intsAttrOrInput("axes", 1);
  Ints axes = given ? node.axes(*given, node.rank(0)) : Ints();
  std::vector<Extent> shape;
  Ints from(node.shape(0));
  for (auto [dim, extent] : llvm::enumerate(node.extents(0))) {
    bool const isSqueezed = given ? llvm::is_contained(axes, static_cast<int64_t>(dim)) : extent == 1;
    if (!isSqueezed) {
      if (!given && !extent.number())
        emitWarning(node.b.getLoc()) << "axis " << dim << " stays, though its extent " << node.b.extents.text(extent)
                                     << " may be 1; give it by --dim";
      shape.push_back(extent);
      continue;
    }
    if (extent.number().value_or(1) != 1)
      node.refuse("axis " + Twine(dim) + " of input " + shapeText(node.shape(0)) + " cannot be squeezed");
    node.b.extents.requireEqual(extent, 1);
    from[dim] = 1;
  }
  if (node.shape(0) == IntsRef(from))
    return node.outReshapedTo(0, shape);
  node.out(0, node.b.reshapeTo(node.b.casted(node.in(0), tensorType(from, node.element(0))), shape));
}

static void importUnsqueeze(Node &node) {
  auto const given = node.intsAttrOrInput("axes", 1);
  if (!given)
    node.refuse("axes are missing");
  int64_t const rank = node.rank(0) + given->size();
  Ints const axes = node.axes(*given, rank);
  Ints shape;
  auto extents = node.shape(0).begin();
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.push_back(llvm::is_contained(axes, dim) ? 1 : *extents++);
  node.outReshaped(0, shape);
}

/// Exporters give equal parameters one initializer and the others an Identity of it, with the parameter's name.
static void importIdentity(Node &node) {
  node.outReshaped(0, node.shape(0));
  if (node.outputs[0] && node.outputs[0]->constant)
    node.outputs[0]->name = node.proto.output(0);
}

/// At inference the input; the mask, where somebody wants it, keeps everything.
static void importDropout(Node &node) {
  if (node.opset < 7 && !node.intAttr("is_test", 0))
    node.refuse("training mode is not supported");
  if (node.has(2) && node.scalar(2, "training_mode") != 0 && (!node.has(1) || node.scalar(1, "ratio") != 0))
    node.refuse("training mode is not supported");
  node.outReshaped(0, node.shape(0));
  if (!node.wants(1))
    return;
  bool const isBool = node.opset >= 10;
  Type const element = isBool ? Type(node.b.getI1Type()) : node.element(0);
  node.out(1, node.b.fill(node.b.sizesOf(node.in(0)), node.b.scalar(element, 1)));
}

//===--- Constants ------------------------------------------------------------------------------------------------===//

template <typename T, typename Field>
static DenseElementsAttr listAttr(Field const &field, Type element, bool isScalar) {
  llvm::SmallVector<T> const values(field.begin(), field.end());
  Ints const shape = isScalar ? Ints() : Ints{static_cast<int64_t>(values.size())};
  return DenseElementsAttr::get(RankedTensorType::get(shape, element), ArrayRef<T>(values));
}

static void importConstant(Node &node) {
  Build &b = node.b;
  using pb::TensorProto;
  for (pb::AttributeProto const &attribute : node.proto.attribute()) {
    std::string const &name = attribute.name();
    if (name == "value")
      return node.outConstant(0, node.tensorAttr(attribute.t()), attribute.t().data_type());
    if (name == "value_float")
      return node.outConstant(0, listAttr<float>(ArrayRef<float>(attribute.f()), b.getF32Type(), true),
                              TensorProto::FLOAT);
    if (name == "value_floats")
      return node.outConstant(0, listAttr<float>(attribute.floats(), b.getF32Type(), false), TensorProto::FLOAT);
    if (name == "value_int")
      return node.outConstant(0, listAttr<int64_t>(ArrayRef<int64_t>(attribute.i()), b.getI64Type(), true),
                              TensorProto::INT64);
    if (name == "value_ints")
      return node.outConstant(0, listAttr<int64_t>(attribute.ints(), b.getI64Type(), false), TensorProto::INT64);
  }
  node.refuse("only constants of dense numbers are supported");
}

static void importConstantOfShape(Node &node) {
  Build &b = node.b;
  std::vector<Extent> const shape = node.shapeInput(0, "shape");
  Ints extents;
  for (Extent const &extent : shape) {
    if (extent.number().value_or(0) < 0)
      node.refuse("shape " + textOf(b, shape) + " is negative");
    b.extents.requireAtLeast(extent, 0);
    extents.push_back(Extents::shaped(extent));
  }
  auto const *value = node.attribute("value");
  DenseElementsAttr const element =
      value ? node.tensorAttr(value->t()) : DenseElementsAttr::get(tensorType({1}, b.getF32Type()), 0.0f);
  int32_t const dataType = value ? value->t().data_type() : int32_t(pb::TensorProto::FLOAT);
  if (element.getNumElements() != 1)
    node.refuse("attribute value has " + Twine(element.getNumElements()) + " elements, 1 is needed");
  Attribute const fill = *element.getValues<Attribute>().begin();
  auto const type = tensorType(extents, element.getElementType());
  if (type.hasStaticShape())
    return node.outFill(0, type, fill, dataType);
  node.out(0, b.fill(b.sizesFor(shape), b.create<arith::ConstantOp>(cast<TypedAttr>(fill))), dataType);
}

static void importShape(Node &node) {
  int64_t const rank = node.rank(0);
  auto clamped = [&](int64_t value) { return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank); };
  int64_t const start = clamped(node.intAttr("start", 0)), end = clamped(node.intAttr("end", rank));
  std::vector<Extent> const extents = node.extents(0);
  node.outShape(0, ArrayRef(extents).slice(start, std::max<int64_t>(end - start, 0)));
}

static void importSize(Node &node) {
  Extent const count = productOf(node.extents(0));
  auto const type = RankedTensorType::get({}, node.b.getI64Type());
  node.outConstant(0, DenseElementsAttr::get(type, node.b.extents.encode(count)), pb::TensorProto::INT64);
  if (node.outputs[0])
    node.outputs[0]->hasUnknown = !count.number();
}

/// How many numbers there are from `start` to `limit`; sizes that are known at run time only may be among them.
static Extent rangeCount(Node &node) {
  auto const start = node.sizeInput(0), limit = node.sizeInput(1), delta = node.sizeInput(2);
  auto const step = delta ? delta->number() : std::nullopt;
  if (!start || !limit || !step || *step == 0) {
    double const first = node.scalar(0, "start"), last = node.scalar(1, "limit"), by = node.scalar(2, "delta");
    if (by == 0)
      node.refuse("delta is 0");
    return static_cast<int64_t>(std::max(std::ceil((last - first) / by), 0.0));
  }
  Extent const length = *step > 0 ? *limit - *start : *start - *limit;
  if (auto const number = length.number())
    return std::max<int64_t>(llvm::divideCeilSigned(*number, std::abs(*step)), 0);
  node.b.extents.requireAtLeast(length, 0);
  return node.b.extents.quotient(length + (std::abs(*step) - 1), std::abs(*step));
}

static void importRange(Node &node) {
  Build &b = node.b;
  Extent const count = rangeCount(node);
  tensorType({Extents::shaped(count)}, node.element(0));
  Type const element = node.element(0), type = computeType(element);
  auto const start = node.sizeInput(0);
  Value const size = start && !start->number() ? b.extents.value(*start) : Value();
  double const first = size ? 0 : node.scalar(0, "start"), delta = node.scalar(2, "delta");
  node.out(0, b.map({}, {}, b.sizesFor(count), element, [&](Scalars &s, ValueRange) {
    Value const position = s.create<arith::IndexCastOp>(s.b.getI64Type(), s.create<linalg::IndexOp>(0));
    Value const begin =
        size ? s.convert(s.create<arith::IndexCastOp>(s.b.getI64Type(), size), type) : s.constant(type, first);
    return s.add(begin, s.mul(s.convert(position, type), s.constant(type, delta)));
  }));
}

static void importEyeLike(Node &node) {
  node.needRank(0, 2, 2);
  int64_t const shift = node.intAttr("k", 0);
  auto const dataType = static_cast<int32_t>(node.intAttr("dtype", node.dataType(0)));
  Type const element = elementType(*node.b.getContext(), dataType);
  if (!element)
    node.refuse(dataTypeName(dataType) + " is not supported");
  Value const eye = node.b.map({}, {}, node.b.sizesOf(node.in(0)), element, [&](Scalars &s, ValueRange) {
    Value const row = s.create<linalg::IndexOp>(0), column = s.create<linalg::IndexOp>(1);
    Value const onDiagonal = s.compare(Compare::eq, column, s.create<arith::AddIOp>(row, s.index(shift)));
    return s.select(onDiagonal, s.constant(computeType(element), 1), s.constant(computeType(element), 0));
  });
  node.out(0, eye, dataType);
}

void registerShape(Registry &table) {
  table.add("Reshape", {1, 5, 13, 14, 19, 21, 23, 24, 25}, importReshape);
  table.add("Flatten", {1, 9, 11, 13, 21, 23, 24, 25}, importFlatten);
  table.add("Squeeze", {1, 11, 13, 21, 23, 24, 25}, importSqueeze);
  table.add("Unsqueeze", {1, 11, 13, 21, 23, 24, 25}, importUnsqueeze);
  table.add("Identity", {1, 13, 14, 16, 19, 21, 23, 24, 25}, importIdentity);
  table.add("Dropout", {1, 6, 7, 10, 12, 13, 22}, importDropout);
  table.add("Constant", {1, 9, 11, 12, 13, 19, 21, 23, 24, 25}, importConstant);
  table.add("ConstantOfShape", {9, 20, 21, 23, 24, 25}, importConstantOfShape);
  table.add("Shape", {1, 13, 15, 19, 21, 23, 24, 25}, importShape);
  table.add("Size", {1, 13, 19, 21, 23, 24, 25}, importSize);
  table.add("Range", {11, 27}, importRange);
  table.add("EyeLike", {9, 22}, importEyeLike);
}

} // namespace ml2k::frontend
