// A printed runner as the compiled model of LLVM's ReleaseModeModelRunner: its decisions are those of onnxruntime.
//   run_llvm_runner VALUES     as make_models.py wrote them

#include "gated_policy.hpp"

#include "llvm/Analysis/ReleaseModeModelRunner.h"
#include "llvm/IR/LLVMContext.h"

#include <cstdio>
#include <fstream>
#include <vector>

int main(int, char **argv) {
  constexpr std::size_t columns = 37;
  std::vector<double> values(columns * (16 + 8 + 5 + 1 + 16));
  std::ifstream(argv[1], std::ios::binary)
      .read(reinterpret_cast<char *>(values.data()), std::streamsize(values.size() * sizeof(double)));

  llvm::LLVMContext context;
  std::vector<llvm::TensorSpec> const features = {llvm::TensorSpec::createSpec<float>("a", {1, 16}),
                                                  llvm::TensorSpec::createSpec<float>("b", {1, 8})};
  llvm::ReleaseModeModelRunner<gated_policy::Runner> runner(context, features, "place");
  int wrong = 0;
  for (std::size_t n = 0; n < columns; ++n) {
    for (std::size_t k = 0; k < 16; ++k)
      runner.getTensor<float>(0)[k] = float(values[n * 16 + k]);
    for (std::size_t k = 0; k < 8; ++k)
      runner.getTensor<float>(1)[k] = float(values[columns * 16 + n * 8 + k]);
    wrong += runner.evaluate<std::int64_t>() != std::int64_t(values[columns * 29 + n]);
  }
  std::printf("%zu decisions, %d wrong\n", columns, wrong);
  return wrong != 0;
}
