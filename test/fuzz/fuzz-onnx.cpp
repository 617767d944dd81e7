//===- fuzz-onnx.cpp - libFuzzer on the translation of ONNX models ------------------------------------------------===//

#include "test/fuzz/Translations.h"

#include "translator/frontend/onnx/importer/OnnxImport.h"

extern "C" int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
  ml2k::fuzz::checkTranslation([&](mlir::MLIRContext &context) {
    return ml2k::importOnnxBuffer(context, {reinterpret_cast<char const *>(data), size}, "fuzz.onnx", "/nonexistent",
                                  {});
  });
  return 0;
}
