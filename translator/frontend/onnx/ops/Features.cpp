//===- Features.cpp - what pipelines do to features before a classical model --------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Classes.h"

#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// A vector for the columns of rows, of their type.
static DenseElementsAttr columnNumbers(Type element, ArrayRef<double> values) {
  auto const type = RankedTensorType::get({int64_t(values.size())}, element);
  llvm::SmallVector<Attribute> numbers;
  for (double value : values)
    numbers.push_back(FloatAttr::get(element, value));
  return DenseElementsAttr::get(type, numbers);
}

/// One number for all columns, or one each.
static std::vector<double> perColumn(Node &node, llvm::StringRef name, int64_t columns, double otherwise) {
  auto given = node.numbersAttr(name).value_or(std::vector<double>{otherwise});
  if (given.empty())
    given = {otherwise};
  if (given.size() != 1 && static_cast<int64_t>(given.size()) != columns)
    node.refuse("attribute " + name + " has " + Twine(given.size()) + " elements for " + Twine(columns) + " columns");
  return given;
}

/// A scalar of the formula, or a weight along the columns.
static Value operandFor(Node &node, llvm::StringRef name, Type element, ArrayRef<double> values) {
  Build &b = node.b;
  return values.size() == 1 ? b.scalar(element, values[0]) : node.table(name, columnNumbers(element, values));
}

/// formula(x, numbers of the column...) for numbers that are scalars or vectors.
static Value byColumn(Build &b, Value x, ArrayRef<Value> numbers, Formula formula) {
  llvm::SmallVector<Value> vectors;
  for (Value number : numbers)
    if (isa<ShapedType>(number.getType()))
      vectors.push_back(number);
  return b.alongAxis(x, vectors, 1, [&](Scalars &s, ValueRange v) {
    llvm::SmallVector<Value> all = {v[0]};
    size_t next = 1;
    for (Value number : numbers)
      all.push_back(isa<ShapedType>(number.getType()) ? v[next++] : number);
    return formula(s, all);
  });
}

static void importScaler(Node &node) {
  Value const x = featureRows(node);
  Type const element = Build::elementOf(x);
  int64_t const columns = Build::shapeOf(x)[1];
  Value const offset = operandFor(node, "offset", element, perColumn(node, "offset", columns, 0)),
              scale = operandFor(node, "scale", element, perColumn(node, "scale", columns, 1));
  Value const y =
      byColumn(node.b, x, {offset, scale}, [](Scalars &s, ValueRange v) { return s.mul(s.sub(v[0], v[1]), v[2]); });
  node.out(0, node.b.elementwiseCast(y, node.b.getF32Type()), pb::TensorProto::FLOAT);
}

static void importNormalizer(Node &node) {
  Build &b = node.b;
  Value const x = featureRows(node);
  std::string const norm = node.stringAttr("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    node.refuse("norm \"" + norm + "\" is unknown");
  bool const isMax = norm == "MAX", isEuclidean = norm == "L2";
  Value const size = b.reduce(x, {1}, /*keepDims=*/true, isMax ? Build::Fold::max : Build::Fold::sum, false,
                              [&](Scalars &s, ValueRange v) {
                                return isMax ? v[0] : isEuclidean ? s.mul(v[0], v[0]) : s.abs(v[0]);
                              });
  Value const y = b.elementwise({x, size}, [&](Scalars &s, ValueRange v) {
    Value const divisor = isEuclidean ? s.sqrt(v[1]) : v[1];
    Value const isZero = s.compare(Compare::eq, divisor, s.constantLike(divisor, 0));
    return s.select(isZero, v[0], s.div(v[0], divisor));
  });
  node.out(0, b.elementwiseCast(y, b.getF32Type()), pb::TensorProto::FLOAT);
}

static void importBinarizer(Node &node) {
  double const threshold = node.floatAttr("threshold", 0);
  node.out(0,
           node.b.elementwise({node.in(0)},
                              [&](Scalars &s, ValueRange v) {
                                Value const isAbove = s.compare(Compare::gt, v[0], s.constantLike(v[0], threshold));
                                return s.select(isAbove, s.constantLike(v[0], 1), s.constantLike(v[0], 0));
                              }),
           node.dataType(0));
}

static void importImputer(Node &node) {
  Build &b = node.b;
  Type const element = node.element(0);
  bool const isFloat = isa<FloatType>(element);
  node.needRank(0, 1, 2);
  int64_t const columns = node.shape(0).back();
  if (ShapedType::isDynamic(columns))
    node.refuse("the number of columns of its input is not known; give it by --dim");
  Value const x = node.rank(0) == 1 ? b.unsqueeze(node.in(0), {0}) : node.in(0);
  double missing;
  std::vector<double> replaced;
  if (isFloat) {
    missing = node.floatAttr("replaced_value_float", 0);
    replaced = node.numbersAttr("imputed_value_floats").value_or(std::vector<double>());
  } else {
    missing = static_cast<double>(node.intAttr("replaced_value_int64", 0));
    for (int64_t value : node.intsAttr("imputed_value_int64s").value_or(Ints()))
      replaced.push_back(static_cast<double>(value));
  }
  if (replaced.size() != 1 && static_cast<int64_t>(replaced.size()) != columns)
    node.refuse(Twine(replaced.size()) + " values for " + Twine(columns) + " columns");
  Value numbers;
  if (replaced.size() == 1)
    numbers = b.scalar(element, replaced[0]);
  else if (isFloat)
    numbers = node.table("imputed", columnNumbers(element, replaced));
  else {
    Ints const integers = node.intsAttr("imputed_value_int64s").value_or(Ints());
    numbers = b.elementwise({node.table("imputed", integersAttr(*b.getContext(), integers))}, element,
                            [&](Scalars &s, ValueRange v) { return s.convert(v[0], element); });
  }
  Value const y = byColumn(b, x, {numbers}, [&](Scalars &s, ValueRange v) {
    bool const isNan = isFloat && std::isnan(missing);
    Value const isMissing =
        isNan ? s.compare(Compare::ne, v[0], v[0]) : s.compare(Compare::eq, v[0], s.constantLike(v[0], missing));
    return s.select(isMissing, v[1], v[0]);
  });
  node.out(0, node.rank(0) == 1 ? b.squeeze(y, {0}) : y, node.dataType(0));
}

/// Columns of the last dimension, by their numbers; labels by positions at run time, for one.
static void importExtractor(Node &node) {
  Build &b = node.b;
  int64_t const axis = node.rank(0) - 1, width = axis < 0 ? 0 : node.shape(0)[axis];
  if (axis < 0 || ShapedType::isDynamic(width))
    node.refuse("the number of columns of its input is not known; give it by --dim");
  Extent count = 1;
  for (Extent const &extent : node.extents(1))
    count = count * extent;
  Value const x = axis == 0 ? b.unsqueeze(node.in(0), {0}) : node.in(0);
  int64_t const last = Build::rankOf(x) - 1;
  bool const isKnown = bool(node.numbers(1));
  Ints const columns = isKnown ? node.ints(1, "the columns") : Ints();
  for (int64_t column : columns)
    if (column < 0 || column >= width)
      node.refuse("column " + Twine(column) + " of " + Twine(width));
  bool const isRun = !columns.empty() && llvm::all_of(llvm::enumerate(columns), [&](auto const &column) {
    return column.value() == columns[0] + static_cast<int64_t>(column.index());
  });
  if (isRun)
    return node.out(0, b.slice(x, last, columns[0], static_cast<int64_t>(columns.size())), node.dataType(0));
  Value const positions =
      isKnown ? node.table("columns", integersAttr(*b.getContext(), columns)) : b.reshapeTo(node.in(1), {count});
  Sizes sizes = b.sizesOf(x);
  sizes[last] = b.extents.size(count);
  auto const taken = [&](Scalars &s, ValueRange v) -> Value {
    llvm::SmallVector<Value> at;
    for (int64_t dim = 0; dim < last; ++dim)
      at.push_back(s.create<linalg::IndexOp>(dim));
    Type const index = s.b.getIndexType();
    at.push_back(isKnown ? s.create<arith::IndexCastOp>(index, v[0])
                         : s.create<nest::PositionOp>(index, v[0], s.index(width)));
    return s.convert(s.create<tensor::ExtractOp>(x, at), computeType(node.element(0)));
  };
  node.out(0, b.map({positions}, {b.selectDims(last + 1, {last})}, sizes, node.element(0), taken), node.dataType(0));
}

/// The columns of all inputs side by side, as floats.
static void importVectorizer(Node &node) {
  Build &b = node.b;
  auto const widths = node.intsAttr("inputdimensions");
  llvm::SmallVector<Value> parts;
  for (size_t at = 0; at < node.inputCount(); ++at) {
    node.needRank(at, 1, 2);
    Value x = node.rank(at) == 1 ? b.unsqueeze(node.in(at), {1}) : node.in(at);
    int64_t const width = Build::shapeOf(x)[1];
    if (widths && (at >= widths->size() || (*widths)[at] != width))
      node.refuse("input " + Twine(at) + " has " + Twine(width) + " columns, inputdimensions says otherwise");
    parts.push_back(b.elementwise(
        {x}, b.getF32Type(), [&](Scalars &s, ValueRange v) { return s.convert(v[0], b.getF32Type()); },
        node.isUnsigned(at)));
  }
  if (parts.empty())
    node.refuse("it has no inputs");
  node.out(0, b.concat(parts, 1), pb::TensorProto::FLOAT);
}

/// 1 at the category that an integer is, 0 elsewhere. With zeros = 0 one that is none of them would be an error.
static void importOneHotEncoder(Node &node) {
  Build &b = node.b;
  auto const categories = node.wideIntsAttr("cats_int64s");
  if (!categories || categories->empty())
    node.refuse("its categories are strings; only integers are supported");
  if (node.intAttr("zeros", 1) == 0)
    node.refuse("zeros = 0, an error for what is none of the categories, is not supported");
  Value const table = node.table("categories", integersAttr(*b.getContext(), *categories));
  int64_t const rank = node.rank(0);
  Sizes sizes = b.sizesOf(node.in(0));
  sizes.push_back(b.getIndexAttr(static_cast<int64_t>(categories->size())));
  Ints const outer = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  node.out(0,
           b.map({node.in(0), table}, {b.selectDims(rank + 1, outer), b.selectDims(rank + 1, {rank})}, sizes,
                 b.getF32Type(),
                 [&](Scalars &s, ValueRange v) {
                   Value const own = s.convert(v[0], s.b.getI64Type());
                   return s.convert(s.compare(Compare::eq, own, v[1]), s.b.getF32Type(), /*toUnsigned=*/true);
                 }),
           pb::TensorProto::FLOAT);
}

/// Numbers for numbers, by looking through the keys; of equal keys the first one counts.
static void importLabelEncoder(Node &node) {
  Build &b = node.b;
  auto const integers = [&](llvm::StringRef name) { return node.wideIntsAttr(name); };
  bool const fromFloats = bool(node.numbersAttr("keys_floats")), toFloats = bool(node.numbersAttr("values_floats"));
  if ((!fromFloats && !integers("keys_int64s")) || (!toFloats && !integers("values_int64s")))
    node.refuse("it needs lists of numbers: keys_int64s or keys_floats, values_int64s or values_floats");
  auto const listed = [&](llvm::StringRef name, llvm::StringRef list, bool isFloat) {
    if (!isFloat)
      return node.table(name, integersAttr(*b.getContext(), *integers(list)));
    return node.table(name, columnNumbers(b.getF32Type(), *node.numbersAttr(list)));
  };
  Value const keys = listed("keys", fromFloats ? "keys_floats" : "keys_int64s", fromFloats),
              values = listed("values", toFloats ? "values_floats" : "values_int64s", toFloats);
  if (Build::shapeOf(keys) != Build::shapeOf(values) || Build::shapeOf(keys)[0] == 0)
    node.refuse(Twine(Build::shapeOf(values)[0]) + " values for " + Twine(Build::shapeOf(keys)[0]) + " keys");
  if (node.element(0) != Build::elementOf(keys))
    node.refuse(Twine("its input holds ") + dataTypeName(node.dataType(0)) + ", its keys are of another type");
  int64_t const rank = node.rank(0);
  auto const count = static_cast<double>(Build::shapeOf(keys)[0]);
  Ints const outer = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Type const i64 = b.getI64Type(), result = Build::elementOf(values);
  Value const found = b.foldOver({node.in(0), keys}, {b.selectDims(rank + 1, outer), b.selectDims(rank + 1, {rank})},
                                 b.sizesOf(node.in(0)), i64, Build::Fold::min, [&](Scalars &s, ValueRange v) {
                                   Value isSame = s.compare(Compare::eq, v[0], v[1]);
                                   if (fromFloats) { // a NaN is a key, too
                                     Value const own = s.compare(Compare::ne, v[0], v[0]),
                                                 other = s.compare(Compare::ne, v[1], v[1]);
                                     isSame = s.create<arith::OrIOp>(isSame, s.create<arith::AndIOp>(own, other));
                                   }
                                   Value const at = s.create<arith::IndexCastOp>(i64, s.create<linalg::IndexOp>(rank));
                                   return s.select(isSame, at, s.constant(i64, count));
                                 });
  auto const otherwise = [&](Scalars &s) -> Value {
    if (toFloats)
      return s.constant(result, node.floatAttr("default_float", 0));
    auto const *given = node.attribute("default_int64");
    return s.create<arith::ConstantOp>(s.b.getI64IntegerAttr(given ? given->i() : -1));
  };
  Value const y = b.map({found}, {b.identityMap(rank)}, b.sizesOf(node.in(0)), result, [&](Scalars &s, ValueRange v) {
    Value const isKnown = s.compare(Compare::lt, v[0], s.constant(i64, count));
    Value const at = s.create<arith::IndexCastOp>(s.b.getIndexType(), s.min(v[0], s.constant(i64, count - 1)));
    return s.select(isKnown, s.create<tensor::ExtractOp>(values, ValueRange(at)), otherwise(s));
  });
  node.out(0, y, toFloats ? pb::TensorProto::FLOAT : pb::TensorProto::INT64);
}

static void refuseZipMap(Node &node) {
  node.refuse("a list of maps is no tensor; convert the model with zipmap=False");
}

void registerFeatures(Registry &table) {
  table.add("ArrayFeatureExtractor", {1}, importExtractor, classicalDomain);
  table.add("Binarizer", {1}, importBinarizer, classicalDomain);
  table.add("FeatureVectorizer", {1}, importVectorizer, classicalDomain);
  table.add("Imputer", {1}, importImputer, classicalDomain);
  table.add("LabelEncoder", {2, 4}, importLabelEncoder, classicalDomain);
  table.add("Normalizer", {1}, importNormalizer, classicalDomain);
  table.add("OneHotEncoder", {1}, importOneHotEncoder, classicalDomain);
  table.add("Scaler", {1}, importScaler, classicalDomain);
  table.add("ZipMap", {1}, refuseZipMap, classicalDomain);
}

} // namespace ml2k::frontend
