//===- OpenBlas.cpp - OpenBLAS: matrix products and matrix-vector products ----------------------------------------===//

#include "Peer.h"

#include <cblas.h>

#include <memory>

namespace peers {
Kernel openBlas(std::string const &operation, Sizes const &s) {
  if (operation != "gemm")
    return {};
  struct Operands {
    std::vector<float> a, b, c;
  };
  int const m = int(s[0]), k = int(s[1]), n = int(s[2]);
  auto const data =
      std::make_shared<Operands>(Operands{numbers(s[0] * s[1]), numbers(s[1] * s[2]), numbers(s[0] * s[2])});
  if (m == 1)
    return [=] {
      cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1, data->b.data(), n, data->a.data(), 1, 0, data->c.data(), 1);
    };
  return [=] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, data->a.data(), k, data->b.data(), n, 0,
                data->c.data(), n);
  };
}
} // namespace peers
