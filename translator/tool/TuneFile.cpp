//===- TuneFile.cpp - what ml2kokkos-tune measured ----------------------------------------------------------------===//
//
// A file of JSON that is committed beside the model:
//
//   {"ml2kokkos-tune": 1,
//    "entries": [{"kernel": "fc", "class": "contract by contract f32 [8,512] [512,1000] -> [8,1000]",
//                 "family": "avx512", "threads": 2, "choices": {"strip": 4},
//                 "nanoseconds": 12300, "default_nanoseconds": 14000}]}
//
// Whether an entry fits a kernel, the pass ml2k-apply-tuning says.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/tool/TuneFile.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MemoryBuffer.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace ml2k;
using JsonValue = nlohmann::json;

static constexpr size_t mostBytes = 1 << 20, mostText = 1 << 12;

static std::string textOf(JsonValue const &entry, char const *key) {
  std::string const text = entry.at(key).get<std::string>();
  if (text.size() > mostText)
    throw std::runtime_error(std::string(key) + " has more than 4096 bytes");
  return text;
}

static int64_t countOf(JsonValue const &entry, char const *key) {
  JsonValue const &value = entry.at(key);
  if (!value.is_number_integer() || value.get<int64_t>() < 0 || value.get<int64_t>() > int64_t(1) << 53)
    throw std::runtime_error(std::string(key) + " is no count");
  return value.get<int64_t>();
}

static Attribute attributeOf(JsonValue const &entry, Builder &builder) {
  NamedAttrList choices, parts;
  for (auto const &[name, value] : entry.at("choices").items()) {
    if (name.empty() || name.size() > mostText || !value.is_number_integer())
      throw std::runtime_error("choices are whole numbers by name");
    choices.append(name, builder.getI64IntegerAttr(value.get<int64_t>()));
  }
  for (char const *key : {"kernel", "class", "family"})
    parts.append(key, builder.getStringAttr(textOf(entry, key)));
  for (char const *key : {"threads", "nanoseconds", "default_nanoseconds"})
    parts.append(key, builder.getI64IntegerAttr(countOf(entry, key)));
  parts.append("choices", choices.getDictionary(builder.getContext()));
  return parts.getDictionary(builder.getContext());
}

llvm::Expected<ArrayAttr> ml2k::readTuneFile(std::string const &path, MLIRContext &context) {
  auto const file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return llvm::createStringError(file.getError(), "%s: %s", path.c_str(), file.getError().message().c_str());
  auto const refuse = [&](std::string const &what) {
    return llvm::createStringError(std::errc::invalid_argument, "%s: %s", path.c_str(), what.c_str());
  };
  if ((*file)->getBufferSize() > mostBytes)
    return refuse("has more than 1 MiB");
  Builder builder(&context);
  SmallVector<Attribute> entries;
  size_t number = 0;
  try {
    JsonValue const root = JsonValue::parse((*file)->getBuffer().begin(), (*file)->getBuffer().end());
    if (root.value("ml2kokkos-tune", 0) != 1)
      return refuse("is no tune file of this version of ml2kokkos");
    for (JsonValue const &entry : root.at("entries")) {
      ++number;
      entries.push_back(attributeOf(entry, builder));
    }
  } catch (std::exception const &error) {
    return refuse((number ? "entry " + std::to_string(number) + ": " : std::string()) + error.what());
  }
  return builder.getArrayAttr(entries);
}
