//===- OnnxImport.cpp - files to messages -------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/OnnxImport.h"
#include "translator/frontend/onnx/importer/ExternalData.h"
#include "translator/frontend/onnx/importer/Importer.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <climits>

using namespace mlir;
using llvm::StringRef;

namespace ml2k {

static InFlightDiagnostic fileError(MLIRContext &context, StringRef name) {
  return emitError(NameLoc::get(StringAttr::get(&context, name)));
}

static void loadDialects(MLIRContext &context) {
  context.loadDialect<affine::AffineDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                      math::MathDialect, nest::NestDialect, scf::SCFDialect, tensor::TensorDialect>();
}

static bool parse(StringRef bytes, frontend::pb::ModelProto &model) {
  google::protobuf::LogSilencer const silencer; // its messages do not name the file
  google::protobuf::io::CodedInputStream stream(bytes.bytes_begin(), static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(INT_MAX);
  return model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

OwningOpRef<ModuleOp> importOnnxBuffer(MLIRContext &context, StringRef bytes, StringRef name, StringRef directory,
                                       ImportOptions const &options, std::vector<std::string> *externalFiles) {
  frontend::pb::ModelProto model;
  if (bytes.empty())
    return fileError(context, name) << "the file is empty", nullptr;
  if (bytes.size() > INT_MAX)
    return fileError(context, name) << "more than 2 GiB in one file: keep the weights as external data", nullptr;
  if (!parse(bytes, model))
    return fileError(context, name) << "not an ONNX model, or a truncated one", nullptr;
  if (externalFiles)
    *externalFiles = frontend::externalFiles(model, directory);
  loadDialects(context);
  return frontend::Importer(context, model, name, directory, options).run();
}

OwningOpRef<ModuleOp> importOnnx(MLIRContext &context, StringRef path, ImportOptions const &options) {
  auto const file = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return fileError(context, path) << "cannot read it: " << file.getError().message(), nullptr;
  StringRef const name = path == "-" ? "<stdin>" : path;
  return importOnnxBuffer(context, (*file)->getBuffer(), name, llvm::sys::path::parent_path(path), options);
}

} // namespace ml2k
