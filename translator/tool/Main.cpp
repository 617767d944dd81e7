//===- Main.cpp - ml2kokkos ---------------------------------------------------------------------------------------===//
//
// The edge of the tool: whatever goes wrong ends in a message and an exit code.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/text/Text.h"
#include "translator/tool/Message.h"
#include "translator/tool/Options.h"
#include "translator/tool/Translate.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <unistd.h>

using namespace ml2k;

static void reportDefect(void *, char const *reason, bool) {
  printMessage("ml2kokkos: error: internal: " + terminalText(reason));
  _exit(ExitInternal);
}

/// Only what is allowed in a signal handler: a message and the end.
static void reportCrash(int) {
  constexpr char message[] = "ml2kokkos: error: internal: crashed; please report this with the input\n";
  [[maybe_unused]] ssize_t const written = write(STDERR_FILENO, message, sizeof(message) - 1);
  _exit(ExitInternal);
}

/// On a stack of its own: an overflow of the other one is among the reasons.
static void catchCrashes() {
  static char stack[64 * 1024];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = reportCrash;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
}

/// A full disk or a closed pipe shows only when the last bytes are written.
static int flushOutput(int code) {
  std::cout.flush();
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return code;
  printMessage("ml2kokkos: error: standard output cannot be written: " + llvm::outs().error().message());
  llvm::outs().clear_error();
  return ExitOutput;
}

static int run(int argc, char **argv) {
  auto const parsed = parseCommandLine(argc, argv);
  if (auto const *code = std::get_if<int>(&parsed))
    return *code;
  return translate(std::get<ToolOptions>(parsed));
}

int main(int argc, char **argv) {
  llvm::install_fatal_error_handler(reportDefect);
  catchCrashes();
  try {
    int const code = flushOutput(run(argc, argv));
    // Without the destructors of libraries: ONNX's schemas alone take as long as a small model
    _exit(code);
  } catch (std::bad_alloc const &) {
    printMessage("ml2kokkos: error: not enough memory for this model");
    return ExitInput;
  } catch (std::exception const &error) {
    printMessage("ml2kokkos: error: internal: " + terminalText(error.what()));
    return ExitInternal;
  }
}
