//===- CrashGuard.cpp - work of another library that may crash on some input --------------------------------------===//

#include "translator/frontend/mlir/CrashGuard.h"

#include "llvm/ADT/ScopeExit.h"

#include <csetjmp>
#include <csignal>
#include <memory>

static thread_local sigjmp_buf *wayOut;

static void leave(int) { siglongjmp(*wayOut, 1); }

bool ml2k::mlir_import::survives(llvm::function_ref<void()> work) {
  // On a stack of its own: the other one may be full. Whoever has one set up gets it back.
  constexpr size_t size = 64 * 1024;
  static thread_local std::unique_ptr<char[]> const stack(new char[size]);
  stack_t own = {}, oldStack = {};
  own.ss_sp = stack.get();
  own.ss_size = size;
  sigaltstack(&own, &oldStack);
  constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  struct sigaction action = {}, old[std::size(signals)];
  action.sa_handler = leave;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], &action, &old[i]);
  auto const restore = llvm::make_scope_exit([&] {
    for (size_t i = 0; i < std::size(signals); ++i)
      sigaction(signals[i], &old[i], nullptr);
    sigaltstack(&oldStack, nullptr);
    wayOut = nullptr;
  });
  sigjmp_buf here;
  wayOut = &here;
  if (sigsetjmp(here, /*savemask=*/1) != 0)
    return false;
  work();
  return true;
}
