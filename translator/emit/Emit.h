//===- Emit.h - from nest to the text of the generated files --------------------------------------------*- C++ -*-===//
//
// The last stage before formatting: a verified nest module becomes a JSON view model, in which every string that will
// be printed is final, and strict Mustache templates lay it out. Nothing is written here; translator/tool formats the
// texts, checks them and writes the files.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_EMIT_H
#define ML2K_EMIT_EMIT_H

#include "translator/emit/render/Render.h"
#include "translator/output/Safetensors.h"

#include "mlir/IR/BuiltinOps.h"

#include <set>
#include <string>
#include <vector>

namespace ml2k {

/// Which back ends the printed file serves.
enum class Target { Portable, Host, Device };

/// Where weights of a network by column go (forms/): Auto embeds models of at most 1 KiB.
enum class WeightStorage { Auto, Embed, File };

/// Who computes exp, log, tanh and erf of float: blocks that loops vectorise with, or the C library.
enum class MathLibrary { Fast, Std };

/// Which of the model's names the provenance comments quote.
enum class LocationStyle { Names, Plain, None };

struct EmitOptions {
  std::string nameSpace;  ///< of the generated code; empty: the model's name
  std::string stem;       ///< FILE of FILE.cpp, FILE.hpp and FILE.safetensors
  std::string modelFile;  ///< name of the input without its folder, for the banner
  std::string regenerate; ///< how to make this file again; empty: a command derived from modelFile and stem
  std::string tuneFile;   ///< name of the file that tunings come from
  std::string license;    ///< SPDX expression; empty: no SPDX line
  Target target = Target::Portable;
  WeightStorage weights = WeightStorage::Auto;
  LocationStyle locations = LocationStyle::Names;
  MathLibrary math = MathLibrary::Fast;
  bool ordered = false; ///< devices make updates in order, too
  bool graph = false;   ///< the header has forward() as one launch
};

/// A file beside header and source.
struct EmittedExtra {
  std::string suffix; ///< of FILE, such as ".f90"
  std::string text;
  bool isCpp; ///< not yet formatted
};

struct EmittedFiles {
  std::string header;                 ///< FILE.hpp, not yet formatted
  std::string source;                 ///< FILE.cpp, not yet formatted
  std::string json;                   ///< the view model, for --emit=json
  std::vector<EmittedExtra> extras;   ///< in a fixed order
  std::vector<SidecarTensor> sidecar; ///< tensors of FILE.safetensors in file order; empty: no such file
};

/// A file beside header and source from the same view.
struct ExtraView {
  std::string suffix, name; ///< of the file, of its template
  bool isCpp;
};

/// A model with every string final, before the templates lay it out.
struct ModelView {
  std::string layout = "file";        ///< the folder of its templates; `form` for networks by columns
  Json view;                          ///< of a file that holds its own blocks
  Json flags;                         ///< what its blocks must be able to do
  std::set<std::string> blocks;       ///< parts and blocks in use, without what they need
  std::set<std::string> headers;      ///< of its own statements
  std::vector<SidecarTensor> sidecar; ///< in file order, also of weights that stand in the source
  bool embedded = false;              ///< weights stand in the source
  std::vector<ExtraView> extras;      ///< in a fixed order

  EmittedFiles render() const; ///< throws std::runtime_error for a template without its value
};

/// The include guard of FILE.hpp.
std::string includeGuard(std::string const &stem);

/// The view of the entry function of a prepared `module` (passes/prepare). Refuses with a located diagnostic what
/// cannot be printed.
mlir::FailureOr<ModelView> viewModel(mlir::ModuleOp module, EmitOptions const &options);

/// Prints the entry function of a prepared `module` (passes/prepare). Refuses with a located diagnostic what cannot be
/// printed. The sidecar refers to memory of the module's attributes.
mlir::FailureOr<EmittedFiles> emit(mlir::ModuleOp module, EmitOptions const &options);

} // namespace ml2k

#endif
