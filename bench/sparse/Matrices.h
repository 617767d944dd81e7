// Seeded matrices in CSR, and the clock, of both programs of the sparse suite.
#ifndef ML2K_BENCH_SPARSE_MATRICES_H
#define ML2K_BENCH_SPARSE_MATRICES_H

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

struct Matrix {
  int width = 0;
  std::vector<int> positions{0}, columns;
  std::vector<double> values;

  int rows() const { return int(positions.size()) - 1; }
  void addRow(std::vector<int> &row) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    columns.insert(columns.end(), row.begin(), row.end());
    positions.push_back(int(columns.size()));
  }
};

/// `banded`, `stencil2d`, `stencil3d`, `power`, `sorted`, `random`, `block`; about 5 million entries at scale 1.
inline Matrix makeMatrix(std::string const &kind, double scale, unsigned seed = 1) {
  Matrix matrix;
  std::mt19937 generator(seed);
  auto const below = [&](int n) { return int((std::uint64_t(generator()) * n) >> 32); };
  std::map<std::string, double> const sizes = {{"banded", 2e5}, {"power", 3e5},  {"sorted", 3e5},
                                               {"random", 3e5}, {"block", 1.8e5}};
  int const edge2 = int(1000 * std::sqrt(scale)), edge3 = int(90 * std::cbrt(scale));
  int const n = kind == "stencil2d"   ? edge2 * edge2
                : kind == "stencil3d" ? edge3 * edge3 * edge3
                                      : int(sizes.at(kind) * scale) / 6 * 6;
  matrix.width = n;
  std::vector<int> row, block;
  for (int i = 0; i < n; ++i) {
    row.clear();
    auto const add = [&](bool isInside, int column) {
      if (isInside)
        row.push_back(column);
    };
    if (kind == "banded") {
      for (int d = -13; d <= 13; ++d)
        add(i + d >= 0 && i + d < n, i + d);
    } else if (kind == "stencil2d" || kind == "stencil3d") {
      int const edge = kind == "stencil2d" ? edge2 : edge3, plane = edge * edge;
      add(true, i);
      add(i % edge != 0, i - 1);
      add(i % edge != edge - 1, i + 1);
      add(i / edge % edge != 0, i - edge);
      add(i / edge % edge != edge - 1, i + edge);
      add(kind == "stencil3d" && i >= plane, i - plane);
      add(kind == "stencil3d" && i < n - plane, i + plane);
    } else if (kind == "block") {
      if (i % 6 == 0) {
        block.assign(1, i / 6);
        for (int k = 0; k < 5; ++k)
          block.push_back(below(n / 6));
      }
      for (int b : block)
        for (int q = 0; q < 6; ++q)
          row.push_back(b * 6 + q);
    } else {
      double const uniform = kind == "sorted" ? (i + 1.) / n : (generator() >> 8) / 16777216. + 1e-7;
      int const length = kind == "random" ? 8 + below(17) : std::min(n / 8, int(5.5 * std::pow(uniform, -.7)));
      for (int k = 0; k < length; ++k)
        row.push_back(below(n));
    }
    matrix.addRow(row);
  }
  matrix.values.resize(matrix.columns.size());
  for (double &value : matrix.values)
    value = (generator() >> 8) * (2. / 16777216.) - 1.;
  return matrix;
}

/// The 5-point operator, made definite.
inline Matrix makeOperator(int edge) {
  Matrix matrix = makeMatrix("stencil2d", edge * double(edge) / 1e6);
  for (int i = 0; i < matrix.rows(); ++i)
    for (int e = matrix.positions[i]; e < matrix.positions[i + 1]; ++e)
      matrix.values[e] = matrix.columns[e] == i ? 4 + (i % 17) / 17. : -1;
  return matrix;
}

inline std::vector<double> makeVector(size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> values(size);
  for (double &value : values)
    value = (generator() >> 8) * (2. / 16777216.) - 1.;
  return values;
}

/// Prints the best time of `run` in `seconds`, and a number that both programs have to agree on.
inline void time(std::string const &name, double seconds, std::function<void()> const &run,
                 std::function<double()> const &check) {
  using Clock = std::chrono::steady_clock;
  auto const since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  run();
  double best = 1e30;
  Clock::time_point const start = Clock::now();
  for (int round = 0; round < 5 || since(start) < seconds; ++round) {
    Clock::time_point const begin = Clock::now();
    run();
    best = std::min(best, since(begin));
  }
  std::printf("%s %.9g %.12g\n", name.c_str(), best, check());
  std::fflush(stdout);
}

inline double sumOf(double const *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += values[i] * (1 + i % 7);
  return sum;
}

/// Both programs: [seconds a case] [scale] [part of names]
struct Arguments {
  double seconds, scale;
  std::string filter;
  Arguments(int count, char **values)
      : seconds(count > 1 ? std::atof(values[1]) : .3), scale(count > 2 ? std::atof(values[2]) : 1),
        filter(count > 3 ? values[3] : "") {}
  bool wants(std::string const &name) const { return name.find(filter) != name.npos; }
};

inline std::vector<std::string> const allKinds = {"banded", "stencil2d", "stencil3d", "power", "sorted", "random", "block"};
inline std::vector<std::string> const fewKinds = {"banded", "stencil2d", "random"};

#endif
