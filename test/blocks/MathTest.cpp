//===- MathTest.cpp - the elementary functions against those of double, over all of float -------------------------===//

#include "Check.h"

#include <cstring>

using namespace blocks;

namespace {
struct Deviation {
  double relative = 0; // of results that are normal numbers
  double absolute = 0; // of denormal ones, in units of the smallest
  bool special = true; // zero, infinity and NaN are right
};

float fromBits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Every `step`-th number of the 2^32, zeros, infinities and NaN of both signs, and the least and largest numbers
std::vector<float> samples(std::uint64_t step) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += step)
    values.push_back(fromBits(std::uint32_t(bits)));
  for (std::uint32_t const magnitude :
       {0u, 1u, 0x7fffffu, 0x800000u, 0x3f800000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u})
    for (std::uint32_t const sign : {0u, 0x80000000u})
      values.push_back(fromBits(magnitude | sign));
  return values;
}

void add(Deviation &deviation, float actual, double exact) {
  float const rounded = float(exact);
  if (std::isnan(rounded) || std::isinf(rounded) || rounded == 0)
    deviation.special &= std::isnan(rounded) ? std::isnan(actual) : actual == rounded;
  else if (std::abs(rounded) < 1.2e-38f)
    deviation.absolute = std::max(deviation.absolute, std::abs(actual - exact) / 1.401298464324817e-45);
  else
    deviation.relative = std::max(deviation.relative, std::abs(actual - exact) / std::abs(exact));
}

template <class Function>
std::vector<float> values(char const *name, Function const &function, std::vector<float> const &x) {
  Tensor<float *> const in("in", x.size()), out("out", x.size());
  check::put(in, x);
  for_each(name, ExecutionSpace(), 1, int(x.size()), KOKKOS_LAMBDA(int, int i) { out(i) = function(in(i)); });
  return check::get(out);
}

/// `bound` is the one that the comment above the function states
template <class Function>
void compare(char const *name, Function const &function, double (*exact)(double), double bound,
             std::vector<float> const &x = samples(499)) {
  std::vector<float> const y = values(name, function, x);
  Deviation deviation;
  for (std::size_t i = 0; i < x.size(); ++i)
    add(deviation, y[i], exact(x[i]));
  check::report(std::string(name) + ": zero, infinity, NaN", deviation.special);
  check::report(std::string(name) + ": denormal results", deviation.absolute <= 1, std::to_string(deviation.absolute));
  check::report(std::string(name) + ": relative error", deviation.relative <= bound,
                std::to_string(deviation.relative * 1e7) + "e-7");
}

/// The numbers on both sides of multiples of pi / 2, and the one that is nearest to such a multiple of all
std::vector<float> besideZeros() {
  std::vector<float> x{16367173 * 0x1p72f, -16367173 * 0x1p72f};
  for (double n = 1; n < 1e37; n = n < 1e5 ? n + 1 : std::floor(n * 1.01)) {
    float const near = float(n * 1.5707963267948966);
    for (float const value : {near, std::nextafter(near, 0.f), std::nextafter(near, 1e38f)})
      x.insert(x.end(), {value, -value});
  }
  return x;
}

/// Odd functions: zeros keep their signs
template <class Function> void compareZeros(char const *name, Function const &function) {
  std::vector<float> const y = values(name, function, {0.f, -0.f});
  check::report(std::string(name) + ": sign of zero",
                y[0] == 0 && y[1] == 0 && !std::signbit(y[0]) && std::signbit(y[1]));
}

/// Beyond `from` the function is 1 or -1 to the last bit: 1 + erf(x) must vanish however large what it is a factor of.
template <class Function> void compareBounds(char const *name, Function const &function, float from) {
  std::vector<float> x;
  for (float const magnitude : {from, from + .1f, from + .5f, 2 * from, 100.f, 1e10f, 3.4e38f, fromBits(0x7f800000u)})
    for (float const sign : {1.f, -1.f})
      x.push_back(sign * magnitude);
  std::vector<float> const y = values(name, function, x);
  bool exact = true;
  for (std::size_t i = 0; i < x.size(); ++i)
    exact &= y[i] == (x[i] < 0 ? -1.f : 1.f);
  check::report(std::string(name) + ": 1 and -1", exact);
}
void testTurns() {
  auto const sine = KOKKOS_LAMBDA(float x) { return fast_sin(x); };
  auto const cosine = KOKKOS_LAMBDA(float x) { return fast_cos(x); };
  auto const tangent = KOKKOS_LAMBDA(float x) { return fast_tan(x); };
  for (auto const &x : {samples(499), besideZeros()}) {
    compare("fast_sin", sine, std::sin, rounds_vectors() ? 1.3e-7 : 2e-7, x); // CUDA's own: 2 units in the last place
    compare("fast_cos", cosine, std::cos, 2e-7, x);
    compare("fast_tan", tangent, std::tan, 3e-7, x);
  }
  compareZeros("fast_sin", sine);
  compareZeros("fast_tan", tangent);
}

void testArcs() {
  compare("fast_acos", KOKKOS_LAMBDA(float x) { return fast_acos(x); }, std::acos, 2e-7);
  compare("fast_cosh", KOKKOS_LAMBDA(float x) { return fast_cosh(x); }, std::cosh, 3e-7);
  auto const odd = [](char const *name, auto const &function, double (*exact)(double), double bound) {
    compare(name, function, exact, bound);
    compareZeros(name, function);
  };
  odd("fast_asin", KOKKOS_LAMBDA(float x) { return fast_asin(x); }, std::asin, 3e-7);
  odd("fast_atan", KOKKOS_LAMBDA(float x) { return fast_atan(x); }, std::atan, 2e-7);
  odd("fast_sinh", KOKKOS_LAMBDA(float x) { return fast_sinh(x); }, std::sinh, 4e-7);
}
/// Of numbers with `digits` bits of which those below 2^`least` have fewer, all below 2^`bound`, the one nearest to x
double nearest(double x, int digits, int least, int bound) {
  if (x == 0 || !std::isfinite(x))
    return x;
  double const unit = std::ldexp(1., std::max(std::ilogb(x), least) - digits + 1);
  double const rounded = std::nearbyint(x / unit) * unit;
  return std::abs(rounded) < std::ldexp(1., bound) ? rounded : std::copysign(INFINITY, x);
}

void testRounding() {
  auto const half = KOKKOS_LAMBDA(float x) { return round_to_half(x); };
  auto const bfloat = KOKKOS_LAMBDA(float x) { return round_to_bfloat(x); };
  compare("round_to_half", half, [](double x) { return nearest(x, 11, -14, 16); }, 0);
  compare("round_to_bfloat", bfloat, [](double x) { return nearest(x, 8, -126, 128); }, 0);
  compareZeros("round_to_half", half);
  compareZeros("round_to_bfloat", bfloat);
  std::vector<float> ties; // between neighbouring halves, of all sizes, and what is beside them
  for (int i = 0; i < 0x7c00; ++i) {
    float const lower = float(std::ldexp(i % 1024 + (i < 1024 ? 0 : 1024), std::max(i / 1024, 1) - 25));
    float const tie = lower + float(std::ldexp(.5, std::max(i / 1024, 1) - 25));
    for (float const x : {tie, std::nextafter(tie, 0.f), std::nextafter(tie, 1e6f)})
      ties.insert(ties.end(), {x, -x});
  }
  compare("round_to_half, ties", half, [](double x) { return nearest(x, 11, -14, 16); }, 0, ties);
}

/// Doubles of all sizes and signs, many near 1 and many of a few digits, zeros, infinities, NaN, least and largest ones
std::vector<double> doubles() {
  std::vector<double> values;
  std::uint64_t state = 1;
  auto const next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  auto const add = [&](std::uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  };
  for (int i = 0; i < 300000; ++i) {
    add(next());
    values.push_back((double(next() >> 11) * 0x1p-53 - .5) * std::ldexp(1., i % 12)); // up to 1024
    values.push_back(1 + (double(next() >> 11) * 0x1p-53 - .5) * .6);
  }
  for (std::uint64_t const magnitude : {0x0ull, 0x1ull, 0xfffffffffffffull, 0x10000000000000ull, 0x3ff0000000000000ull,
                                        0x7fefffffffffffffull, 0x7ff0000000000000ull, 0x7ff0000000000001ull})
    for (std::uint64_t const sign : {0x0ull, 0x8000000000000000ull})
      add(magnitude | sign);
  for (double const end : {709.78, 709.79, -708.4, -745.1, -745.2})
    values.push_back(end);
  return values;
}

template <class Function>
void compareDoubles(char const *name, Function const &function, long double (*exact)(long double), double bound) {
  std::vector<double> const x = doubles();
  Tensor<double *> const in("in", x.size()), out("out", x.size());
  check::put(in, x);
  for_each(name, ExecutionSpace(), 1, int(x.size()), KOKKOS_LAMBDA(int, int i) { out(i) = function(in(i)); });
  std::vector<double> const y = check::get(out);
  double worst = 0, denormal = 0;
  bool special = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    long double const right = exact(x[i]);
    double const rounded = double(right);
    if (std::isnan(rounded) || std::isinf(rounded) || rounded == 0)
      special &= std::isnan(rounded) ? std::isnan(y[i]) : y[i] == rounded;
    else if (std::abs(rounded) < 2.3e-308)
      denormal = std::max(denormal, std::abs(y[i] - rounded) / 4.9e-324);
    else
      worst = std::max(worst, double(std::abs((y[i] - right) / right)));
  }
  check::report(std::string(name) + ": zero, infinity, NaN", special);
  check::report(std::string(name) + ": denormal results", denormal <= 1.1, std::to_string(denormal));
  check::report(std::string(name) + ": relative error", worst <= bound, std::to_string(worst * 1e16) + "e-16");
}

/// Functions of two numbers: of all sizes, near 1 with large and small ones, integers, and all pairs of special ones;
/// zeros have signs
template <class Scalar, class Function>
void comparePairs(char const *name, Function const &function, long double (*exact)(long double, long double),
                  double bound) {
  std::vector<Scalar> xs, ys;
  std::vector<double> const numbers = doubles();
  std::size_t const half = numbers.size() / 2;
  for (std::size_t i = 0; i + half < numbers.size(); ++i) {
    double const x = numbers[i], y = numbers[(i * 7919 + half) % numbers.size()];
    xs.push_back(Scalar(i % 3 == 0 ? x : std::fmod(x, 64)));
    ys.push_back(Scalar(i % 5 == 0 ? std::nearbyint(std::fmod(y, 32)) : i % 5 == 1 ? std::fmod(y, 600) : y));
  }
  Scalar const infinity = std::numeric_limits<Scalar>::infinity(), largest = std::numeric_limits<Scalar>::max();
  std::vector<Scalar> special{
      0, 1, 2, .5, 3, 1.5, 1 + std::numeric_limits<Scalar>::epsilon(), 1 - std::numeric_limits<Scalar>::epsilon() / 2};
  special.insert(special.end(), {infinity, largest, largest * Scalar(.9), std::numeric_limits<Scalar>::denorm_min(),
                                 std::numeric_limits<Scalar>::min(), std::numeric_limits<Scalar>::quiet_NaN(),
                                 Scalar(2 / std::numeric_limits<Scalar>::epsilon() - 1),
                                 Scalar(1 / std::numeric_limits<Scalar>::epsilon() - .5)});
  for (Scalar const x : special)
    for (Scalar const y : special)
      for (int const signs : {0, 1, 2, 3}) {
        xs.push_back(signs & 1 ? -x : x);
        ys.push_back(signs & 2 ? -y : y);
      }
  Tensor<Scalar *> const x("x", xs.size()), y("y", xs.size()), out("out", xs.size());
  check::put(x, xs);
  check::put(y, ys);
  for_each(name, ExecutionSpace(), 1, int(xs.size()), KOKKOS_LAMBDA(int, int i) { out(i) = function(x(i), y(i)); });
  std::vector<Scalar> const results = check::get(out);
  double worst = 0, denormal = 0;
  bool areRight = true;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    long double const right = exact(xs[i], ys[i]);
    Scalar const rounded = Scalar(right), result = results[i];
    if (std::isnan(rounded))
      areRight &= std::isnan(result);
    else if (std::isinf(rounded) || rounded == 0)
      areRight &= result == rounded && std::signbit(result) == std::signbit(rounded);
    else if (std::abs(rounded) < std::numeric_limits<Scalar>::min())
      denormal = std::max(denormal, double(std::abs(result - right) / std::numeric_limits<Scalar>::denorm_min()));
    else
      worst = std::max(worst, double(std::abs((result - right) / right)));
  }
  check::report(std::string(name) + ": zero, infinity, NaN", areRight);
  check::report(std::string(name) + ": denormal results", denormal <= 1.1, std::to_string(denormal));
  check::report(std::string(name) + ": relative error", worst <= bound, std::to_string(worst * 1e16) + "e-16");
}

/// The same bits as fmod's, of numbers of all sizes and signs
void testRemainder() {
  std::vector<float> const some = samples(0x4e4e4e1), numbers = samples(499979);
  Tensor<float *> const x("x", numbers.size()), out("out", numbers.size());
  check::put(x, numbers);
  bool same = true;
  for (float const y : some)
    for (bool const swapped : {false, true}) {
      for_each(
          "fast_fmod", ExecutionSpace(), 1, int(numbers.size()),
          KOKKOS_LAMBDA(int, int i) { out(i) = swapped ? fast_fmod(y, x(i)) : fast_fmod(x(i), y); });
      std::vector<float> const rests = check::get(out);
      for (std::size_t i = 0; i < rests.size(); ++i) {
        float const exact = swapped ? std::fmod(y, numbers[i]) : std::fmod(numbers[i], y);
        same &= std::isnan(exact) ? std::isnan(rests[i]) : std::memcmp(&rests[i], &exact, sizeof exact) == 0;
      }
    }
  check::report("fast_fmod", same);
}

/// What a clamp and a conversion give, of all sizes
template <class T> void testSaturated(char const *name) {
  std::vector<float> const numbers = samples(49999);
  std::vector<float> const results = values(name, KOKKOS_LAMBDA(float x) { return float(saturated<T>(x)); }, numbers);
  bool right = true;
  for (std::size_t i = 0; i < results.size(); ++i) {
    float const low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    right &= std::isnan(numbers[i]) || results[i] == float(T(std::min(std::max(numbers[i], low), high)));
  }
  check::report(name, right);
}
} // namespace

void testMath() {
  compare("fast_exp", KOKKOS_LAMBDA(float x) { return fast_exp(x); }, std::exp, 1e-7);
  compare(
      "exp_of_negative", KOKKOS_LAMBDA(float x) { return exp_of_negative(-Kokkos::abs(x)); },
      [](double x) { return std::abs(x) > 87 ? 0. : std::exp(-std::abs(x)); }, 1e-7);
  compareDoubles("fast_exp, double", KOKKOS_LAMBDA(double x) { return fast_exp(x); }, std::exp, 1.8e-16);
  compareDoubles("fast_log, double", KOKKOS_LAMBDA(double x) { return fast_log(x); }, std::log, 1.6e-16);
  compareDoubles("fast_tanh, double", KOKKOS_LAMBDA(double x) { return fast_tanh(x); }, std::tanh, 3.8e-16);
  compareDoubles("fast_atan, double", KOKKOS_LAMBDA(double x) { return fast_atan(x); }, std::atan, 3.2e-16);
  comparePairs<double>(
      "fast_pow, double", KOKKOS_LAMBDA(double x, double y) { return fast_pow(x, y); }, std::pow, 1.6e-16);
  comparePairs<float>("fast_pow", KOKKOS_LAMBDA(float x, float y) { return fast_pow(x, y); }, std::pow, 1.3e-7);
  comparePairs<double>(
      "fast_atan2, double", KOKKOS_LAMBDA(double y, double x) { return fast_atan2(y, x); }, std::atan2, 3.2e-16);
  comparePairs<float>("fast_atan2", KOKKOS_LAMBDA(float y, float x) { return fast_atan2(y, x); }, std::atan2, 2e-7);
  compare("fast_log", KOKKOS_LAMBDA(float x) { return fast_log(x); }, std::log, 8.5e-8);
  compare("fast_expm1", KOKKOS_LAMBDA(float x) { return fast_expm1(x); }, std::expm1, 2e-7);
  compare("fast_log1p", KOKKOS_LAMBDA(float x) { return fast_log1p(x); }, std::log1p, 1.8e-7);
  compare("fast_tanh", KOKKOS_LAMBDA(float x) { return fast_tanh(x); }, std::tanh, 4e-7);
  compareBounds("fast_tanh", KOKKOS_LAMBDA(float x) { return fast_tanh(x); }, 9.5f);
  compare("fast_erf", KOKKOS_LAMBDA(float x) { return fast_erf(x); }, std::erf, 4e-7);
  compareBounds("fast_erf", KOKKOS_LAMBDA(float x) { return fast_erf(x); }, 4.05f);
  testTurns();
  testArcs();
  testRounding();
  testRemainder();
  testSaturated<std::int8_t>("saturated, int8");
  testSaturated<std::uint8_t>("saturated, uint8");
  testSaturated<std::int16_t>("saturated, int16");
  testSaturated<std::uint16_t>("saturated, uint16");
}
