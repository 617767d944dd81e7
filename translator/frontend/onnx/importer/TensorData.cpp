//===- TensorData.cpp - ONNX element types and tensors in MLIR's terms --------------------------------------------===//

#include "translator/frontend/onnx/importer/TensorData.h"
#include "translator/frontend/onnx/importer/ExternalData.h"
#include "translator/frontend/onnx/importer/Refusal.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

namespace ml2k::frontend {

using pb::TensorProto;

namespace {
struct TypeRow {
  TensorProto::DataType dataType;
  StringRef name;
  bool isUnsigned;
  Type (*get)(Builder);
};
} // namespace

template <int width> static Type integer(Builder builder) { return builder.getIntegerType(width); }

static TypeRow const typeRows[] = {
    {TensorProto::FLOAT, "float32", false, [](Builder b) -> Type { return b.getF32Type(); }},
    {TensorProto::DOUBLE, "float64", false, [](Builder b) -> Type { return b.getF64Type(); }},
    {TensorProto::FLOAT16, "float16", false, [](Builder b) -> Type { return b.getF16Type(); }},
    {TensorProto::BFLOAT16, "bfloat16", false, [](Builder b) -> Type { return b.getBF16Type(); }},
    {TensorProto::INT8, "int8", false, integer<8>},
    {TensorProto::INT16, "int16", false, integer<16>},
    {TensorProto::INT32, "int32", false, integer<32>},
    {TensorProto::INT64, "int64", false, integer<64>},
    {TensorProto::UINT8, "uint8", true, integer<8>},
    {TensorProto::UINT16, "uint16", true, integer<16>},
    {TensorProto::UINT32, "uint32", true, integer<32>},
    {TensorProto::UINT64, "uint64", true, integer<64>},
    {TensorProto::BOOL, "bool", true, integer<1>},
};

static TypeRow const *rowOf(int32_t dataType) {
  auto const *row = llvm::find_if(typeRows, [&](TypeRow const &row) { return row.dataType == dataType; });
  return row == std::end(typeRows) ? nullptr : row;
}

Type elementType(MLIRContext &context, int32_t dataType) {
  TypeRow const *row = rowOf(dataType);
  return row ? row->get(Builder(&context)) : Type();
}

int32_t dataTypeOf(Type element) {
  for (TypeRow const &row : typeRows)
    if (row.get(Builder(element.getContext())) == element)
      return row.dataType;
  return TensorProto::UNDEFINED;
}

bool isUnsignedType(int32_t dataType) {
  TypeRow const *row = rowOf(dataType);
  return row && row->isUnsigned;
}

StringRef dataTypeName(int32_t dataType) {
  if (TypeRow const *row = rowOf(dataType))
    return row->name;
  return dataType == TensorProto::STRING ? "string" : "an unknown type";
}

RankedTensorType tensorType(ArrayRef<int64_t> shape, Type element) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0 && extent != ShapedType::kDynamic)
      throw Refusal("negative extent " + Twine(extent));
    int64_t const factor = extent == ShapedType::kDynamic ? 1 : std::max<int64_t>(extent, 1);
    if (llvm::MulOverflow(count, factor, count) || count > maxElements)
      throw Refusal("more than 2^31 elements in one tensor");
  }
  return RankedTensorType::get(shape, element);
}

//===--- The bytes of a tensor ------------------------------------------------------------------------------------===//

/// Narrow types are stored one to an int32.
template <typename T, typename Field> static std::string packed(Field const &field) {
  std::string bytes(field.size() * sizeof(T), '\0');
  for (int i = 0; i < field.size(); ++i) {
    T const element = static_cast<T>(field.Get(i));
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

static std::string typedBytes(TensorProto const &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return packed<float>(tensor.float_data());
  case TensorProto::DOUBLE:
    return packed<double>(tensor.double_data());
  case TensorProto::INT64:
    return packed<int64_t>(tensor.int64_data());
  case TensorProto::UINT64:
    return packed<uint64_t>(tensor.uint64_data());
  case TensorProto::UINT32:
    return packed<uint32_t>(tensor.uint64_data());
  case TensorProto::INT32:
    return packed<int32_t>(tensor.int32_data());
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return packed<uint16_t>(tensor.int32_data());
  default:
    return packed<uint8_t>(tensor.int32_data());
  }
}

static std::string_view bytesOf(TensorProto const &tensor, StringRef directory, size_t bytes, std::string &storage) {
  if (tensor.has_raw_data())
    return tensor.raw_data();
  storage =
      tensor.data_location() == TensorProto::EXTERNAL ? externalBytes(tensor, directory, bytes) : typedBytes(tensor);
  return storage;
}

DenseElementsAttr tensorValue(MLIRContext &context, TensorProto const &tensor, StringRef directory) {
  Type const element = elementType(context, tensor.data_type());
  if (!element)
    throw Refusal("elements of " + dataTypeName(tensor.data_type()) + " are not supported");
  llvm::SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    throw Refusal("negative extent");
  RankedTensorType const type = tensorType(shape, element);
  size_t const width = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  size_t const expected = type.getNumElements() * width;
  std::string storage;
  std::string_view const bytes = bytesOf(tensor, directory, expected, storage);
  if (bytes.size() != expected)
    throw Refusal("it has " + Twine(bytes.size()) + " bytes of data where its shape needs " + Twine(expected));
  if (expected == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (element.isInteger(1)) {
    llvm::SmallVector<bool> bits(bytes.begin(), bytes.end());
    return DenseElementsAttr::get(type, bits);
  }
  return DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(bytes.data(), bytes.size()));
}

llvm::SmallVector<int64_t> integersOf(DenseElementsAttr constant) {
  constexpr int64_t most = 1 << 24;
  if (constant.getNumElements() > most)
    throw Refusal("a list of " + Twine(constant.getNumElements()) + " numbers is too long to be known at translation");
  bool const isBool = constant.getElementType().isInteger(1);
  llvm::SmallVector<int64_t> values;
  for (APInt const &value : constant.getValues<APInt>())
    values.push_back(isBool ? value.getZExtValue() : value.getSExtValue());
  return values;
}

DenseElementsAttr integersAttr(MLIRContext &context, ArrayRef<int64_t> values) {
  auto const type = RankedTensorType::get(values.size(), IntegerType::get(&context, 64));
  return DenseElementsAttr::get(type, values);
}

} // namespace ml2k::frontend
