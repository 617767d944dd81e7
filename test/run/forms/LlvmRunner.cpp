// A printed runner as the compiled model of LLVM's ReleaseModeModelRunner, and its server at the other end of LLVM's
// InteractiveModelRunner: their decisions are those of onnxruntime.
//   run_llvm_runner MANY SPEC.json SERVER     MANY as make_models.py wrote it

#include "gated_policy.hpp"

#include "llvm/Analysis/InteractiveModelRunner.h"
#include "llvm/Analysis/ReleaseModeModelRunner.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

constexpr std::size_t queries = 10000;
static std::vector<double> values(queries * (16 + 8 + 1));

/// What is wrong in the first `count` decisions.
static int decide(char const *name, llvm::MLModelRunner &runner, std::size_t count) {
  int wrong = 0;
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t k = 0; k < 16; ++k)
      runner.getTensor<float>(0)[k] = float(values[n * 16 + k]);
    for (std::size_t k = 0; k < 8; ++k)
      runner.getTensor<float>(1)[k] = float(values[queries * 16 + n * 8 + k]);
    wrong += runner.evaluate<std::int64_t>() != std::int64_t(values[queries * 24 + n]);
  }
  std::printf("%s: %zu decisions, %d wrong\n", name, count, wrong);
  return wrong;
}

/// The list that is printed beside the runner, as LLVM reads it.
static std::vector<llvm::TensorSpec> specsOf(llvm::LLVMContext &context, char const *path, char const *key) {
  auto const file = llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)));
  llvm::json::Value const all = llvm::cantFail(llvm::json::parse(file->getBuffer()));
  std::vector<llvm::TensorSpec> specs;
  for (llvm::json::Value const &value : *all.getAsObject()->getArray(key))
    specs.push_back(*llvm::getTensorSpecFromJSON(context, value));
  return specs;
}

static int decideByServer(llvm::LLVMContext &context, std::vector<llvm::TensorSpec> const &features,
                          llvm::TensorSpec const &advice, char *server) {
  char folder[] = "/tmp/ml2k-server-XXXXXX";
  std::string base = std::string(mkdtemp(folder)) + "/pipe";
  for (char const *end : {".in", ".out"})
    mkfifo((base + end).c_str(), 0600);
  pid_t child = 0;
  char *const arguments[] = {server, base.data(), nullptr};
  if (posix_spawn(&child, server, nullptr, nullptr, arguments, environ) != 0)
    return 1;
  int wrong = 0;
  {
    llvm::InteractiveModelRunner runner(context, features, advice, base + ".out", base + ".in");
    runner.switchContext("first");
    wrong = decide("server", runner, 100);
    runner.switchContext("second");
    wrong += decide("server", runner, 100);
  }
  int status = 1;
  waitpid(child, &status, 0);
  for (char const *end : {".in", ".out"})
    std::remove((base + end).c_str());
  std::remove(folder);
  return wrong + (status != 0);
}

int main(int, char **argv) {
  std::ifstream(argv[1], std::ios::binary)
      .read(reinterpret_cast<char *>(values.data()), std::streamsize(values.size() * sizeof(double)));
  llvm::LLVMContext context;
  auto const features = specsOf(context, argv[2], "features"), results = specsOf(context, argv[2], "results");
  llvm::ReleaseModeModelRunner<gated_policy::Runner> runner(context, features, "place");
  int const wrong = decide("runner", runner, queries);
  llvm::TensorSpec const *advice = nullptr;
  for (llvm::TensorSpec const &result : results)
    if (result.name() == "place")
      advice = &result;
  return wrong + !advice + decideByServer(context, features, *advice, argv[3]) != 0;
}
