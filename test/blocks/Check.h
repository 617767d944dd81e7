//===- Check.h - values for the tests of the building blocks --------------------------------------------*- C++ -*-===//
//
// The blocks run on the default execution space, host or device; references are plain loops in double on the host.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_TEST_BLOCKS_CHECK_H
#define ML2K_TEST_BLOCKS_CHECK_H

#include "blocks.hpp" // rendered from the templates

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace check {
inline int cases = 0;
inline int failures = 0;

inline void report(std::string const &name, bool passed, std::string const &detail = "") {
  ++cases;
  failures += !passed;
  if (!passed)
    std::printf("FAILED %s %s\n", name.c_str(), detail.c_str());
}

/// Compares with a reference, relative to its largest element; NaN equals NaN only.
template <class T>
void compare(std::string const &name, std::vector<T> const &actual, std::vector<double> const &expected) {
  double const tolerance = sizeof(T) == 8 ? 1e-13 : 2e-5;
  double largest = 1e-30;
  double error = actual.size() == expected.size() ? 0 : INFINITY;
  std::size_t worst = 0;
  for (double const e : expected)
    if (std::isfinite(e))
      largest = std::max(largest, std::abs(e));
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    double const a = double(actual[i]);
    bool const same = a == expected[i] || (std::isnan(a) && std::isnan(expected[i]));
    double const e = same ? 0 : std::isnan(a - expected[i]) ? INFINITY : std::abs(a - expected[i]) / largest;
    if (e > error) {
      error = e;
      worst = i;
    }
  }
  report(name, error <= tolerance, "error " + std::to_string(error) + " at " + std::to_string(worst));
}

/// The nearest numbers of bfloat16
inline void makeBfloats(std::vector<float> &values) {
  for (float &value : values)
    value = blocks::round_to_bfloat(value);
}

/// Deterministic values in [-1, 1)
template <class T = float> std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::vector<T> values(count);
  unsigned state = seed * 2654435761u + 12345;
  for (T &value : values) {
    state = state * 1664525u + 1013904223u;
    value = T(int(state >> 8 & 0xffff) - 0x8000) / T(0x8000);
  }
  return values;
}

/// To and from views of any memory, in row-major order
template <class View> void put(View const &view, std::vector<typename View::non_const_value_type> const &values) {
  auto const host = Kokkos::create_mirror_view(view);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(view, host);
}
template <class View> std::vector<typename View::non_const_value_type> get(View const &view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  return {host.data(), host.data() + host.size()};
}

/// An activation whose pixels hold `values` (n h w c) and whose border is zero
template <class A> A activation(int images, std::vector<typename A::value_type> const &values) {
  A result{{"activation", std::size_t(images)}};
  auto const host = Kokkos::create_mirror_view(result.rows);
  auto value = values.begin();
  A const mirror{{host.data(), std::size_t(images)}};
  for (int n = 0; n < images; ++n)
    for (int h = 0; h < A::height; ++h)
      for (int w = 0; w < A::width; ++w)
        for (int c = 0; c < A::channels; ++c)
          mirror(n, h, w, c) = *value++;
  Kokkos::deep_copy(result.rows, host);
  return result;
}
/// Its pixels; reports whether everything else is still zero
template <class A> std::vector<typename A::value_type> pixels(std::string const &name, A const &a) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a.rows);
  std::vector<typename A::value_type> values;
  A const mirror{{host.data(), std::size_t(a.images())}};
  for (int n = 0; n < a.images(); ++n)
    for (int h = 0; h < A::height; ++h)
      for (int w = 0; w < A::width; ++w)
        for (int c = 0; c < A::channels; ++c) {
          values.push_back(mirror(n, h, w, c));
          mirror(n, h, w, c) = 0;
        }
  report(name + ": writes inside only",
         std::all_of(host.data(), host.data() + host.size(), [](auto x) { return x == 0; }));
  return values;
}

/// A sidecar file without a header that means anything, holding these values
template <class T> std::string sidecar(std::vector<T> const &values, char const *name = "blocks_test.safetensors") {
  std::ofstream file(name, std::ios::binary);
  std::uint64_t const size = 8;
  file.write(reinterpret_cast<char const *>(&size), 8);
  file.write("{\"a\":1} ", 8);
  file.write(reinterpret_cast<char const *>(values.data()), std::streamsize(values.size() * sizeof(T)));
  return name;
}
inline std::uint64_t headerHash() {
  std::uint64_t hash = 14695981039346656037u;
  for (char const c : std::string("{\"a\":1} "))
    hash = (hash ^ std::uint8_t(c)) * 1099511628211u;
  return hash;
}
template <class T> blocks::Sidecar opened(std::vector<T> const &values) {
  blocks::Sidecar file{blocks::ExecutionSpace(), "test", sidecar(values)};
  file.check(8, headerHash(), values.size() * sizeof(T));
  return file;
}
} // namespace check

void testConvolutions();
void testTransposedConvolutions();
void testContractions();
void testRows();
void testGrids();
void testScans();
void testSorts();
void testTrees();
void testUpdates();
void testLoader();
void testRecurrent();
void testMath();

#endif
