//===- Safetensors.cpp - the weights sidecar ----------------------------------------------------------------------===//

#include "translator/output/Safetensors.h"

#include "translator/output/Ownership.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SHA256.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace mlir;

namespace ml2k {

/// The format's name of an element type, empty if it has none.
static StringRef dtypeName(Type type) {
  return TypeSwitch<Type, StringRef>(type)
      .Case<Float64Type>([](auto) { return "F64"; })
      .Case<Float32Type>([](auto) { return "F32"; })
      .Case<Float16Type>([](auto) { return "F16"; })
      .Case<BFloat16Type>([](auto) { return "BF16"; })
      .Case<IndexType>([](auto) { return "I64"; })
      .Case<IntegerType>([](IntegerType integer) -> StringRef {
        bool const isUnsigned = integer.isUnsigned();
        switch (integer.getWidth()) {
        case 1:
          return "BOOL";
        case 8:
          return isUnsigned ? "U8" : "I8";
        case 16:
          return isUnsigned ? "U16" : "I16";
        case 32:
          return isUnsigned ? "U32" : "I32";
        case 64:
          return isUnsigned ? "U64" : "I64";
        default:
          return "";
        }
      })
      .Default([](Type) { return ""; });
}

bool isSidecarType(Type type) { return !dtypeName(type).empty(); }

int64_t sidecarBytes(Type type) {
  if (type.isIndex())
    return 8;
  return std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
}

static uint64_t byteCount(ElementsAttr value) {
  return uint64_t(value.getNumElements()) * sidecarBytes(value.getElementType());
}

/// One byte per element of a tensor of i1, which MLIR packs into bits.
static void unpackBooleans(DenseElementsAttr value, std::vector<char> &storage) {
  for (bool element : value.getValues<bool>())
    storage.push_back(element);
}

ArrayRef<char> rawBytes(ElementsAttr value, std::vector<char> &storage) {
  storage.clear();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  auto dense = cast<DenseElementsAttr>(value);
  if (dense.getElementType().isInteger(1)) {
    unpackBooleans(dense, storage);
    return storage;
  }
  if (!dense.isSplat())
    return dense.getRawData();
  for (int64_t i = 0; i < dense.getNumElements(); ++i)
    storage.insert(storage.end(), dense.getRawData().begin(), dense.getRawData().end());
  return storage;
}

/// The names as JSON can hold them: what is no UTF-8 is spelled out, no name is there twice, and none is the format's
/// own.
static std::string keyOf(SidecarTensor const &tensor, std::set<std::string> &taken) {
  std::string key = validUtf8(tensor.name);
  while (key == "__metadata__" || !taken.insert(key).second)
    key += "_";
  return key;
}

std::string sidecarHeader(ArrayRef<SidecarTensor> tensors) {
  nlohmann::ordered_json::object_t header;
  nlohmann::ordered_json metadata;
  metadata[generatorKey.str()] = generatorName.str();
  header.emplace_back("__metadata__", std::move(metadata)); // by this the file may be replaced
  std::set<std::string> taken;
  uint64_t begin = 0;
  for (SidecarTensor const &tensor : tensors) {
    uint64_t const end = begin + byteCount(tensor.value);
    nlohmann::ordered_json entry;
    entry["dtype"] = dtypeName(tensor.value.getElementType()).str();
    entry["shape"] = std::vector<int64_t>(tensor.value.getShapedType().getShape());
    entry["data_offsets"] = {begin, end};
    header.emplace_back(keyOf(tensor, taken), std::move(entry)); // a look-up by name would go through all of them
    begin = end;
  }
  std::string text = nlohmann::ordered_json(std::move(header)).dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

void writeSidecar(raw_ostream &out, ArrayRef<SidecarTensor> tensors) {
  std::string const header = sidecarHeader(tensors);
  for (int byte = 0; byte < 8; ++byte)
    out << char(uint64_t(header.size()) >> (8 * byte));
  out << header;
  std::vector<char> storage;
  for (SidecarTensor const &tensor : tensors) {
    ArrayRef<char> const bytes = rawBytes(tensor.value, storage);
    out.write(bytes.data(), bytes.size());
  }
}

uint64_t fnv1a(StringRef text) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211u;
  return hash;
}

uint64_t sidecarSize(ArrayRef<SidecarTensor> tensors) {
  uint64_t size = 8 + sidecarHeader(tensors).size();
  for (SidecarTensor const &tensor : tensors)
    size += byteCount(tensor.value);
  return size;
}

std::string sidecarDigest(ArrayRef<SidecarTensor> tensors) {
  llvm::SHA256 hash;
  std::vector<char> storage;
  for (SidecarTensor const &tensor : tensors) {
    ArrayRef<char> const bytes = rawBytes(tensor.value, storage);
    hash.update(ArrayRef(reinterpret_cast<uint8_t const *>(bytes.data()), bytes.size()));
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

} // namespace ml2k
