//===- OpenBlas.cpp - OpenBLAS: matrix products and matrix-vector products ----------------------------------------===//

#include "Peer.h"

#include <cblas.h>

#include <memory>

namespace peers {
static void gemv(CBLAS_TRANSPOSE form, int m, int n, float const *a, float const *x, float *y) {
  cblas_sgemv(CblasRowMajor, form, m, n, 1, a, n, x, 1, 0, y, 1);
}
static void gemv(CBLAS_TRANSPOSE form, int m, int n, double const *a, double const *x, double *y) {
  cblas_dgemv(CblasRowMajor, form, m, n, 1, a, n, x, 1, 0, y, 1);
}
static void gemm(CBLAS_TRANSPOSE left, CBLAS_TRANSPOSE right, int m, int n, int k, float const *a, int ofA,
                 float const *b, int ofB, float *c) {
  cblas_sgemm(CblasRowMajor, left, right, m, n, k, 1, a, ofA, b, ofB, 0, c, n);
}
static void gemm(CBLAS_TRANSPOSE left, CBLAS_TRANSPOSE right, int m, int n, int k, double const *a, int ofA,
                 double const *b, int ofB, double *c) {
  cblas_dgemm(CblasRowMajor, left, right, m, n, k, 1, a, ofA, b, ofB, 0, c, n);
}

/// m, k, n, and whether the first and the second operand are transposed.
template <class Real> static Kernel productOf(Sizes const &s) {
  struct Operands {
    std::vector<Real> a, b, c;
  };
  auto const values = [](std::size_t count) {
    std::vector<float> const of = numbers(count);
    return std::vector<Real>(of.begin(), of.end());
  };
  int const m = int(s[0]), k = int(s[1]), n = int(s[2]);
  auto const data = std::make_shared<Operands>(
      Operands{values(s[0] * s[1]), values(s[1] * s[2]), std::vector<Real>(s[0] * s[2])});
  auto const form = [](long transposed) { return transposed ? CblasTrans : CblasNoTrans; };
  CBLAS_TRANSPOSE const left = form(s[3]), right = form(s[4]);
  if (n == 1)
    return [=] { gemv(left, s[3] ? k : m, s[3] ? m : k, data->a.data(), data->b.data(), data->c.data()); };
  return [=] {
    gemm(left, right, m, n, k, data->a.data(), s[3] ? m : k, data->b.data(), s[4] ? k : n, data->c.data());
  };
}

Kernel openBlas(std::string const &operation, Sizes const &s) {
  if (operation == "gemm_f32")
    return productOf<float>(s);
  if (operation == "gemm_f64")
    return productOf<double>(s);
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
