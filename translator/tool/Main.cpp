//===- Main.cpp - ml2kokkos ---------------------------------------------------------------------------------*- C++
//-*-===//
//
// The edge of the tool: whatever goes wrong ends in a message and an exit code.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/tool/Options.h"
#include "translator/tool/Translate.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <exception>
#include <new>
#include <unistd.h>

using namespace ml2k;

static void reportDefect(void *, char const *reason, bool) {
  llvm::errs() << "ml2kokkos: error: internal: " << reason << "\n";
  _exit(ExitInternal);
}

static int run(int argc, char **argv) {
  auto const parsed = parseCommandLine(argc, argv);
  if (auto const *code = std::get_if<int>(&parsed))
    return *code;
  return translate(std::get<ToolOptions>(parsed));
}

int main(int argc, char **argv) {
  llvm::install_fatal_error_handler(reportDefect);
  try {
    return run(argc, argv);
  } catch (std::bad_alloc const &) {
    llvm::errs() << "ml2kokkos: error: not enough memory for this model\n";
    return ExitInput;
  } catch (std::exception const &error) {
    llvm::errs() << "ml2kokkos: error: internal: " << error.what() << "\n";
    return ExitInternal;
  }
}
