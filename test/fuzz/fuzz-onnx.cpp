//===- fuzz-onnx.cpp - libFuzzer on the ONNX front end ------------------------------------------------------------===//
//
// Whatever the bytes are, the front end returns a module that verifies, or nothing after at least one error.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "test/fuzz/Imports.h"

#include "translator/frontend/onnx/importer/OnnxImport.h"

extern "C" int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
  ml2k::fuzz::checkImport([&](mlir::MLIRContext &context) {
    return ml2k::importOnnxBuffer(context, {reinterpret_cast<char const *>(data), size}, "fuzz.onnx", "/nonexistent",
                                  {});
  });
  return 0;
}
