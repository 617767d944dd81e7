//===- Emit.h - a module in nest form to C++ files ----------------------------------------------------------*- C++
//-*-===//

#ifndef ML2K_EMIT_EMIT_H
#define ML2K_EMIT_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace ml2k {

enum class WeightsPlace { Auto, Embed, File };    ///< Auto: a sidecar above 1 KiB
enum class TargetKind { Portable, Host, Device }; ///< which bodies of the blocks are printed
enum class LocationStyle { Names, None, Plain };  ///< provenance comments: model names, none, op types only

struct EmitOptions {
  std::string input;      ///< file name of the model, without folder (banner)
  std::string inputHash;  ///< hexadecimal hash of its bytes (banner)
  std::string command;    ///< how to print the file again, folders left out (banner)
  std::string stem;       ///< "resnet18" makes resnet18.hpp, resnet18.safetensors
  std::string sourceName; ///< "resnet18.cpp"
  std::string nameSpace;  ///< "resnet18", "app::nets::resnet18"; empty: from the stem
  std::string license;    ///< SPDX expression; empty: no SPDX line
  std::string toolVersion;
  WeightsPlace weights = WeightsPlace::Auto;
  TargetKind target = TargetKind::Portable;
  LocationStyle locations = LocationStyle::Names;
};

struct OutputFile {
  std::string name;     ///< without folder
  std::string contents; ///< not formatted yet if it is C++
};

/// Prints the one entry function of a module in nest form: header, source, and the sidecar where there is one, in this
/// order. Problems are reported on the context.
mlir::FailureOr<std::vector<OutputFile>> emit(mlir::ModuleOp module, const EmitOptions &options);

/// The view model that the templates lay out, as indented JSON (--emit=json).
mlir::FailureOr<std::string> emitView(mlir::ModuleOp module, const EmitOptions &options);

} // namespace ml2k

#endif
