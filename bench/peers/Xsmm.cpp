//===- Xsmm.cpp - libxsmm: batches of small products --------------------------------------------------------------===//

#include "Peer.h"

#include <libxsmm.h>

#include <memory>

namespace peers {
Kernel xsmm(std::string const &operation, Sizes const &s) {
  if (operation != "batched_gemm")
    return {};
  struct Operands {
    std::vector<float> a, b, c;
  };
  int const batch = int(s[0]), m = int(s[1]), k = int(s[2]), n = int(s[3]);
  // Column-major: the transposed product of the same memory
  float const one = 1, zero = 0;
  int const flags = LIBXSMM_GEMM_FLAG_NONE;
  libxsmm_smmfunction const product = libxsmm_smmdispatch(n, m, k, &n, &k, &n, &one, &zero, &flags, nullptr);
  if (!product)
    throw std::runtime_error("no kernel for these sizes");
  auto const data =
      std::make_shared<Operands>(Operands{numbers(s[0] * m * k), numbers(s[0] * k * n), numbers(s[0] * m * n)});
  return [=] {
    for (std::size_t i = 0; i < std::size_t(batch); ++i)
      product(&data->b[i * k * n], &data->a[i * m * k], &data->c[i * m * n]);
  };
}
} // namespace peers
