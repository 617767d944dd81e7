// Kernels of bench/python_kernels.py as one writes them by hand with OpenMP.
extern "C" {

void heat(double const *u, double *out, long n, long m, double alpha) {
#pragma omp parallel for
  for (long i = 1; i < n - 1; ++i)
#pragma omp simd
    for (long j = 1; j < m - 1; ++j)
      out[i * m + j] = u[i * m + j] + alpha * (u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] + u[i * m + j + 1] -
                                               4.0 * u[i * m + j]);
}

void nbody(double const *x, double const *mass, double *a, long n, double) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    double ax = 0, ay = 0, az = 0;
    for (long j = 0; j < n; ++j) {
      double const dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1], dz = x[3 * j + 2] - x[3 * i + 2];
      double const square = dx * dx + dy * dy + dz * dz + 0.01;
      double const pull = mass[j] / (square * __builtin_sqrt(square));
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    a[3 * i] = ax;
    a[3 * i + 1] = ay;
    a[3 * i + 2] = az;
  }
}
}
