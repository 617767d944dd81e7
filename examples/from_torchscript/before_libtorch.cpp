// Before: TorchScript through libtorch. before_libtorch net.pt
#include <torch/script.h>

#include <cmath>
#include <cstdio>

int main(int, char **argv) {
  torch::jit::Module model = torch::jit::load(argv[1]);
  constexpr int cells = 5;
  float state[cells][4];
  for (int i = 0; i < cells; ++i)
    for (int k = 0; k < 4; ++k)
      state[i][k] = std::sin(float(4 * i + k));
  torch::NoGradGuard const noGradients;
  torch::Tensor const tendency = model.forward({torch::from_blob(state, {cells, 4})}).toTensor().contiguous();
  for (int i = 0; i < cells; ++i)
    std::printf("%.5f %.5f\n", tendency.data_ptr<float>()[2 * i], tendency.data_ptr<float>()[2 * i + 1]);
}
