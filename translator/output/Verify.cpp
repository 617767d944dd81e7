//===- Verify.cpp - -------------------------------------------------------------------------------------*- C++ -*-===//
//
// clang in process, syntax only, over the texts that are about to be written: they are mapped over the places where
// they will lie, so includes resolve as they will for the user.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/output/Verify.h"

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace llvm;
using namespace ml2k;

/// The folder of Kokkos_Core.hpp directly below one folder.
static std::string headersBelow(StringRef folder) {
  for (StringRef place : {"include", "include/kokkos", "."}) {
    SmallString<256> header(folder);
    sys::path::append(header, place, "Kokkos_Core.hpp");
    if (sys::fs::exists(header))
      return sys::path::parent_path(header).str();
  }
  return {};
}

std::string ml2k::findKokkosHeaders(std::string const &root) {
  // Kokkos_ROOT may name the installation or, as CMake allows, a folder of its package such as lib64/cmake/Kokkos.
  SmallString<256> folder(root);
  sys::fs::make_absolute(folder);
  for (int level = 0; level < 4 && !folder.empty(); ++level) {
    if (std::string const found = headersBelow(folder); !found.empty())
      return found;
    sys::path::remove_filename(folder);
  }
  return {};
}

static std::vector<std::string> compilerFlags(std::string const &headers, VerifyOptions const &options) {
  // -fopenmp: Kokkos' headers demand it where OpenMP is among its back ends, and serial ones do not mind.
  std::vector<std::string> flags = {
      "-std=c++17", "-fopenmp", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-resource-dir=" ML2K_CLANG_RESOURCE_DIR,
      "-isystem",   headers};
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  return flags;
}

std::string ml2k::verifyFiles(ArrayRef<OutputFile> files, std::string const &directory, VerifyOptions const &options) {
  char const *const fromEnvironment = std::getenv("Kokkos_ROOT");
  std::string const root = !options.kokkos.empty() ? options.kokkos : fromEnvironment ? fromEnvironment : "";
  std::string const headers = root.empty() ? std::string() : findKokkosHeaders(root);
  if (headers.empty())
    return root.empty() ? "error: --verify needs Kokkos: give its place with --kokkos DIR or Kokkos_ROOT\n"
                        : "error: --verify: no Kokkos_Core.hpp in '" + root + "'\n";
  std::vector<std::pair<std::string, StringRef>> texts;
  std::vector<std::string> sources;
  for (OutputFile const &file : files) {
    SmallString<256> path(directory);
    sys::path::append(path, file.name);
    sys::fs::make_absolute(path);
    texts.emplace_back(path.str().str(), file.contents);
    if (!is_contained({".hpp", ".h", ".f90", ".json"}, sys::path::extension(path)))
      sources.push_back(path.str().str());
  }
  std::string said;
  raw_string_ostream stream(said);
  IntrusiveRefCntPtr<clang::DiagnosticOptions> const format(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(stream, format.get());
  clang::tooling::FixedCompilationDatabase const commands(".", compilerFlags(headers, options));
  clang::tooling::ClangTool compiler(commands, sources);
  for (auto const &[path, text] : texts)
    compiler.mapVirtualFile(path, text);
  compiler.setDiagnosticConsumer(&printer);
  if (compiler.run(clang::tooling::newFrontendActionFactory<clang::SyntaxOnlyAction>().get()) != 0 && said.empty())
    said = "error: clang could not be run over the printed code\n";
  return said;
}
