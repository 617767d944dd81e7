// A x, A X of 8 and 64 columns, A^T x, and b - A x with a dot product by printed code on a device: values against loops
// of the host, times beside cuSPARSE and a copy.
#include <Kokkos_Core.hpp>

#include "../Matrices.h"

#include "chebyshev.hpp"
#include "spmm64.hpp"
#include "spmm8.hpp"
#include "spmv.hpp"
#include "spmvt.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cusparse.h>
#endif

using Space = Kokkos::DefaultExecutionSpace;
template <class T> using View = Kokkos::View<T, Kokkos::LayoutRight, Space>;

template <class T> static View<T *> viewOf(std::vector<T> const &values) {
  View<T *> view("v", values.size());
  Kokkos::deep_copy(view, Kokkos::View<T const *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()));
  return view;
}

struct Csr {
  View<int *> positions, columns;
  View<double *> values;
  explicit Csr(Matrix const &m) : positions(viewOf(m.positions)), columns(viewOf(m.columns)), values(viewOf(m.values)) {}
};

/// The least time of `run` in microseconds, of five times ten launches.
static double microseconds(Space const &space, std::function<void()> const &run) {
  constexpr int launches = 10;
  double best = 1e30;
  run();
  space.fence();
  for (int round = 0; round < 5; ++round) {
    Kokkos::Timer const timer;
    for (int launch = 0; launch < launches; ++launch)
      run();
    space.fence();
    best = std::min(best, timer.seconds() * 1e6 / launches);
  }
  return best;
}

static bool report(std::string const &name, double ours, double peer, View<double *> const &result, std::vector<double> const &wanted) {
  std::vector<double> values(wanted.size());
  Kokkos::deep_copy(Kokkos::View<double *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()), result);
  double largest = 0, error = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    error = std::max(error, std::abs(values[i] - wanted[i]));
  }
  bool const isRight = error <= 1e-12 * largest * 100;
  std::printf("%-18s %10.1f us %10.1f us of cuSPARSE, error %.1e %s\n", name.c_str(), ours, peer, error / largest, isRight ? "" : "WRONG");
  return isRight;
}

/// A X or A^T X by cuSPARSE; 0 where there is none.
static double peerTime([[maybe_unused]] Space const &space, [[maybe_unused]] Csr const &a, [[maybe_unused]] Matrix const &matrix,
                       [[maybe_unused]] bool isTransposed, [[maybe_unused]] int width, [[maybe_unused]] View<double *> const &x,
                       [[maybe_unused]] View<double *> const &y) {
#if defined(KOKKOS_ENABLE_CUDA)
  cusparseHandle_t handle;
  cusparseSpMatDescr_t sparse;
  cusparseCreate(&handle);
  cusparseSetStream(handle, space.cuda_stream());
  cusparseCreateCsr(&sparse, matrix.rows(), matrix.width, matrix.values.size(), a.positions.data(), a.columns.data(), a.values.data(),
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  double const one = 1, zero = 0;
  size_t bytes = 0;
  auto const plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (width > 1) {
    cusparseDnMatDescr_t dense, result;
    cusparseCreateDnMat(&dense, matrix.width, width, width, x.data(), CUDA_R_64F, CUSPARSE_ORDER_ROW);
    cusparseCreateDnMat(&result, matrix.rows(), width, width, y.data(), CUDA_R_64F, CUSPARSE_ORDER_ROW);
    cusparseSpMM_bufferSize(handle, plain, plain, &one, sparse, dense, &zero, result, CUDA_R_64F, CUSPARSE_SPMM_CSR_ALG2, &bytes);
    View<char *> const buffer("buffer", bytes);
    return microseconds(space, [&] {
      cusparseSpMM(handle, plain, plain, &one, sparse, dense, &zero, result, CUDA_R_64F, CUSPARSE_SPMM_CSR_ALG2, buffer.data());
    });
  }
  auto const form = isTransposed ? CUSPARSE_OPERATION_TRANSPOSE : plain;
  cusparseDnVecDescr_t dense, result;
  cusparseCreateDnVec(&dense, x.size(), x.data(), CUDA_R_64F);
  cusparseCreateDnVec(&result, y.size(), y.data(), CUDA_R_64F);
  cusparseSpMV_bufferSize(handle, form, &one, sparse, dense, &zero, result, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
  View<char *> const buffer("buffer", bytes);
  cusparseSpMV_preprocess(handle, form, &one, sparse, dense, &zero, result, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, buffer.data());
  return microseconds(space, [&] {
    cusparseSpMV(handle, form, &one, sparse, dense, &zero, result, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, buffer.data());
  });
#else
  return 0;
#endif
}

template <int Width, class Forward> static bool timeColumns(std::string const &kind, double scale, Forward const &forward) {
  Space const space;
  Matrix const matrix = makeMatrix(kind, scale);
  Csr const a(matrix);
  std::vector<double> const flat = makeVector(size_t(matrix.width) * Width, 3);
  std::vector<double> wanted(size_t(matrix.rows()) * Width, 0.);
  for (int row = 0; row < matrix.rows(); ++row)
    for (int e = matrix.positions[row]; e < matrix.positions[row + 1]; ++e)
      for (int j = 0; j < Width; ++j)
        wanted[size_t(row) * Width + j] += matrix.values[e] * flat[size_t(matrix.columns[e]) * Width + j];
  View<double *> const flatX = viewOf(flat), flatY("y", wanted.size());
  View<double *[Width]> const x(flatX.data(), matrix.width), y(flatY.data(), matrix.rows());
  double const peer = peerTime(space, a, matrix, false, Width, flatX, flatY);
  double const ours = microseconds(space, [&] { forward(space, a, x, y); });
  return report("A X, " + std::to_string(Width) + ", " + kind, ours, peer, flatY, wanted);
}

/// Bytes that a copy moves in a microsecond.
static double copyRate(Space const &space) {
  View<double *> const from("from", 1 << 27), to("to", 1 << 27);
  return 16. * from.size() / microseconds(space, [&] { Kokkos::deep_copy(space, to, from); });
}

static std::vector<double> product(Matrix const &matrix, std::vector<double> const &x) {
  std::vector<double> y(matrix.rows(), 0.);
  for (int row = 0; row < matrix.rows(); ++row)
    for (int e = matrix.positions[row]; e < matrix.positions[row + 1]; ++e)
      y[row] += matrix.values[e] * x[matrix.columns[e]];
  return y;
}

/// A x, and the step of a solver with a product and a dot product in one kernel.
static bool timeProduct(std::string const &kind, double scale, double rate) {
  Space const space;
  Matrix const matrix = makeMatrix(kind, scale);
  Csr const a(matrix);
  std::vector<double> const values = makeVector(matrix.width, 7), right = makeVector(matrix.rows(), 9);
  std::vector<double> const wanted = product(matrix, values);
  View<double *> const x = viewOf(values), b = viewOf(right), y("y", wanted.size()), d("d", wanted.size());
  double const peer = peerTime(space, a, matrix, false, 1, x, y);
  Kokkos::deep_copy(space, y, -7.);
  double const ours = microseconds(space, [&] { spmv::forward(space, a.positions, a.columns, a.values, x, y); });
  double const bytes = 12. * matrix.values.size() + 20. * matrix.rows(); // entries; positions, x and y
  std::printf("%.2f of cuSPARSE, %.2f of copy: ", peer / ours, bytes / ours / rate);
  bool isRight = report("A x, " + kind, ours, peer, y, wanted);

  std::vector<double> step(wanted.size());
  double sum = 0;
  for (size_t row = 0; row < step.size(); ++row) {
    double const t = right[row] - wanted[row];
    step[row] = .5 * values[row] + .25 * t;
    sum += t * t;
  }
  View<double> const norm("norm");
  auto const run = [&] { chebyshev::forward(space, a.positions, a.columns, a.values, x, b, d, norm); };
  double const time = microseconds(space, run);
  isRight &= report("step, " + kind, time, 0, d, step);
  double first = 0, second = 0;
  Kokkos::deep_copy(first, norm);
  run();
  Kokkos::deep_copy(second, norm);
  bool const isSame = first == second && std::abs(first - sum) <= 1e-10 * sum;
  if (!isSame)
    std::printf("WRONG dot product: %.17g and %.17g, not %.17g\n", first, second, sum);
  return isRight && isSame;
}

static bool timeTransposed(std::string const &kind, double scale) {
  Space const space;
  Matrix const matrix = makeMatrix(kind, scale);
  Csr const a(matrix);
  std::vector<double> const values = makeVector(matrix.rows(), 5);
  std::vector<double> wanted(matrix.width, 0.);
  for (int row = 0; row < matrix.rows(); ++row)
    for (int e = matrix.positions[row]; e < matrix.positions[row + 1]; ++e)
      wanted[matrix.columns[e]] += matrix.values[e] * values[row];
  View<double *> const x = viewOf(values), y("y", wanted.size()), other("other", wanted.size());
  double const peer = peerTime(space, a, matrix, true, 1, x, other);
  double const ours = microseconds(space, [&] { spmvt::forward(space, a.positions, a.columns, a.values, x, y); });
  Kokkos::deep_copy(space, y, 0.);
  spmvt::forward(space, a.positions, a.columns, a.values, x, y);
  space.fence();
  return report("A^T x, " + kind, ours, peer, y, wanted);
}

int main(int count, char **values) {
  Kokkos::ScopeGuard const guard(count, values);
  double const scale = count > 1 ? std::atof(values[1]) : 2;
  bool isRight = true;
  double const rate = copyRate(Space());
  std::printf("copy: %.0f GB/s\n", rate / 1e3);
  for (std::string const kind : {"banded", "stencil2d", "stencil3d", "random", "block", "power", "sorted"})
    isRight &= timeProduct(kind, 2 * scale, rate);
  for (std::string const kind : {"banded", "stencil2d", "random", "power", "sorted"}) {
    isRight &= timeColumns<8>(kind, scale, [](auto const &space, Csr const &a, auto const &x, auto const &y) {
      spmm8::forward(space, a.positions, a.columns, a.values, x, y);
    });
    isRight &= timeColumns<64>(kind, scale / 4, [](auto const &space, Csr const &a, auto const &x, auto const &y) {
      spmm64::forward(space, a.positions, a.columns, a.values, x, y);
    });
    isRight &= timeTransposed(kind, scale);
  }
  return !isRight;
}
