//===- fuzz-mlir.cpp - libFuzzer on the MLIR front end ------------------------------------------------------------===//
//
// Whatever the text is, the front end returns a module that verifies, or nothing after at least one error. Bytecode is
// left out: upstream's reader of it asserts nothing about hostile files.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "test/fuzz/Imports.h"

#include "translator/frontend/mlir/MlirImport.h"

extern "C" int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
  std::string const text(reinterpret_cast<char const *>(data), size);
  if (text.find("ML\xefR") != std::string::npos)
    return -1;
  ml2k::fuzz::checkImport(
      [&](mlir::MLIRContext &context) { return ml2k::importMlir(text, {"fuzz.mlir", "", {}}, context); });
  return 0;
}
