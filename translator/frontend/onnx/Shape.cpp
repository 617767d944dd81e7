//===- Shape.cpp - operators about shapes and constants -----------------------------------------------------------===//

#include "translator/frontend/onnx/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

//===--- Other shapes for the same elements
//-------------------------------------------------------------------------===//

static int64_t knownProduct(IntsRef shape) {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= ShapedType::isDynamic(extent) ? 1 : extent;
  return product;
}

/// 0 keeps an extent, -1 stands for what is left.
static Ints reshapedShape(Node &node, Ints shape) {
  IntsRef const from = node.shape(0);
  bool const keepsZero = node.intAttr("allowzero", 0);
  int64_t rest = -1;
  for (auto [i, extent] : llvm::enumerate(shape)) {
    if (extent == 0 && !keepsZero) {
      if (i >= from.size())
        node.refuse("shape " + shapeText(shape) + " keeps a dimension that the input does not have");
      extent = from[i];
    } else if (extent == -1) {
      if (rest >= 0)
        node.refuse("shape " + shapeText(shape) + " leaves two dimensions open");
      rest = i;
    } else if (extent < 0 && !ShapedType::isDynamic(extent)) {
      node.refuse("shape holds " + Twine(extent));
    }
  }
  if (llvm::is_contained(shape, ShapedType::kDynamic) && !llvm::is_contained(from, ShapedType::kDynamic))
    node.refuse("shape depends on a symbolic dimension; give it by --dim");
  if (rest < 0)
    return shape;
  shape[rest] = 1;
  bool const isUnknown = llvm::count(from, ShapedType::kDynamic) > llvm::count(shape, ShapedType::kDynamic);
  if (isUnknown) {
    shape[rest] = ShapedType::kDynamic;
    return shape;
  }
  int64_t const known = knownProduct(shape), all = knownProduct(from);
  if (known == 0 || all % known != 0) {
    shape[rest] = -1;
    node.refuse("a tensor of shape " + shapeText(from) + " cannot be reshaped to " + shapeText(shape));
  }
  shape[rest] = all / known;
  return shape;
}

static void importReshape(Node &node) {
  auto const shape = node.opset < 5 ? node.intsAttr("shape") : node.shapeInput(1, "shape");
  if (!shape)
    node.refuse("attribute shape is missing");
  node.outReshaped(0, reshapedShape(node, *shape));
}

static void importFlatten(Node &node) {
  int64_t const rank = node.rank(0), given = node.intAttr("axis", 1);
  int64_t const axis = given == rank ? rank : node.axis(given, std::max<int64_t>(rank, 1)); // rank itself is allowed
  Ints shape;
  for (IntsRef const part : {node.shape(0).take_front(axis), node.shape(0).drop_front(axis)}) {
    bool const isUnknown = llvm::is_contained(part, ShapedType::kDynamic);
    shape.push_back(isUnknown ? ShapedType::kDynamic : knownProduct(part));
  }
  node.outReshaped(0, shape);
}

static void importSqueeze(Node &node) {
  auto given = node.intsAttrOrInput("axes", 1);
  Ints axes = given ? node.axes(*given, node.rank(0)) : Ints();
  Ints shape;
  for (auto [dim, extent] : llvm::enumerate(node.shape(0))) {
    bool const isSqueezed = given ? llvm::is_contained(axes, static_cast<int64_t>(dim)) : extent == 1;
    if (!isSqueezed)
      shape.push_back(extent);
    else if (extent != 1)
      node.refuse("axis " + Twine(dim) + " of input " + shapeText(node.shape(0)) + " cannot be squeezed");
  }
  node.outReshaped(0, shape);
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

//===--- Constants
//--------------------------------------------------------------------------------------------------===//

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
  Ints const shape = node.ints(0, "shape");
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    node.refuse("shape " + shapeText(shape) + " is negative");
  auto const *value = node.attribute("value");
  if (!value) {
    auto const type = tensorType(shape, node.b.getF32Type());
    return node.outConstant(0, DenseElementsAttr::get(type, 0.0f), pb::TensorProto::FLOAT);
  }
  DenseElementsAttr const element = node.tensorAttr(value->t());
  if (element.getNumElements() != 1)
    node.refuse("attribute value has " + Twine(element.getNumElements()) + " elements, 1 is needed");
  auto const type = tensorType(shape, element.getElementType());
  node.outConstant(0, DenseElementsAttr::get(type, *element.getValues<Attribute>().begin()), value->t().data_type());
}

static void importShape(Node &node) {
  int64_t const rank = node.rank(0);
  auto clamped = [&](int64_t value) { return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank); };
  int64_t const start = clamped(node.intAttr("start", 0)), end = clamped(node.intAttr("end", rank));
  IntsRef const extents = node.shape(0).slice(start, std::max<int64_t>(end - start, 0));
  node.outShape(0, extents);
}

static void importSize(Node &node) {
  node.needStatic(0);
  auto const type = RankedTensorType::get({}, node.b.getI64Type());
  node.outConstant(0, DenseElementsAttr::get(type, node.type(0).getNumElements()), pb::TensorProto::INT64);
}

static void importRange(Node &node) {
  Build &b = node.b;
  double const start = node.scalar(0, "start"), limit = node.scalar(1, "limit"), delta = node.scalar(2, "delta");
  if (delta == 0)
    node.refuse("delta is 0");
  auto const count = static_cast<int64_t>(std::max(std::ceil((limit - start) / delta), 0.0));
  tensorType({count}, node.element(0));
  Type const element = node.element(0);
  node.out(0, b.map({}, {}, b.sizes({count}), element, [&](Scalars &s, ValueRange) {
    Value const position = s.create<arith::IndexCastOp>(s.b.getI64Type(), s.create<linalg::IndexOp>(0));
    Type const type = computeType(element);
    return s.add(s.constant(type, start), s.mul(s.convert(position, type), s.constant(type, delta)));
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
  table.add("Range", {11}, importRange);
  table.add("EyeLike", {9, 22}, importEyeLike);
}

} // namespace ml2k::frontend
