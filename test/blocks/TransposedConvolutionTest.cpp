//===- TransposedConvolutionTest.cpp - conv_transposed against the sum that every pixel spreads -------------------===//

#include "Check.h"

using namespace blocks;

namespace {
/// Window has the geometry of the results: pixel (h, w) adds to those from (row(h), column(w)) on.
template <class Window, class In, class Out> struct Case {
  using T = typename In::value_type;
  static constexpr int strideRows = Window::row(1) - Window::row(0);
  static constexpr int strideColumns = Window::column(1) - Window::column(0);
  static constexpr int phases = strideRows * strideColumns;
  static constexpr int taps = Window::kernel_rows * Window::kernel_columns / phases; // of a phase
  static constexpr int channels = In::channels, outputs = Out::channels;
  int images;
  std::vector<T> image = check::numbers<T>(std::size_t(images) * In::height * In::width * channels, 1);
  std::vector<T> weight = check::numbers<T>(std::size_t(phases) * taps * channels * outputs, 2);

  T &weightAt(int r, int s, int c, int o) {
    return weight[((std::size_t(r) * Window::kernel_columns + s) * channels + c) * outputs + o];
  }

  /// [phase][o][channel][tap], the taps in the order of the pixels that they meet
  std::vector<T> stored() {
    constexpr int down = Window::kernel_rows / strideRows, across = Window::kernel_columns / strideColumns;
    std::vector<T> values;
    for (int phase = 0; phase < phases; ++phase)
      for (int o = 0; o < outputs; ++o)
        for (int c = 0; c < channels; ++c)
          for (int tap = 0; tap < taps; ++tap) {
            int const r =
                (phase / strideColumns - Window::row(0)) % strideRows + (down - 1 - tap / across) * strideRows;
            int const s = (phase % strideColumns - Window::column(0)) % strideColumns +
                          (across - 1 - tap % across) * strideColumns;
            values.push_back(weightAt(r, s, c, o));
          }
    return values;
  }

  /// Sum + position, ReLU
  std::vector<double> expected() {
    std::vector<double> values(std::size_t(images) * Out::height * Out::width * outputs);
    auto const at = [&](int n, int p, int q, int o) -> double & {
      return values[((std::size_t(n) * Out::height + p) * Out::width + q) * outputs + o];
    };
    auto const *pixel = image.data();
    for (int n = 0; n < images; ++n)
      for (int h = 0; h < In::height; ++h)
        for (int w = 0; w < In::width; ++w, pixel += channels)
          for (int p = Window::row(h); p < Window::row(h) + Window::kernel_rows; ++p)
            for (int q = Window::column(w); q < Window::column(w) + Window::kernel_columns; ++q)
              for (int c = 0; p >= 0 && q >= 0 && p < Out::height && q < Out::width && c < channels; ++c)
                for (int o = 0; o < outputs; ++o)
                  at(n, p, q, o) += double(pixel[c]) * weightAt(p - Window::row(h), q - Window::column(w), c, o);
    for (int n = 0; n < images; ++n)
      for (int p = 0; p < Out::height; ++p)
        for (int q = 0; q < Out::width; ++q)
          for (int o = 0; o < outputs; ++o)
            at(n, p, q, o) = std::max(at(n, p, q, o) + .01 * n + .02 * p + .03 * q + .04 * o, 0.);
    return values;
  }
};

template <class Window, class In, class Out, bool IsBfloat = false>
void transposed(std::string const &name, int images) {
  using T = typename In::value_type;
  using C = Case<Window, In, Out>;
  C test{images};
  if constexpr (IsBfloat) {
    check::makeBfloats(test.image);
    check::makeBfloats(test.weight);
  }
  ExecutionSpace const space;
  auto const in = check::activation<In>(images, test.image);
  Out const out{{"out", std::size_t(images)}};
  constexpr int columns = C::phases * Out::channels, depth = C::taps * In::channels;
  std::conditional_t<IsBfloat && on_host, BfloatPanels<columns, depth, C::phases>, Panels<T, columns, depth, C::phases>>
      weight;
  auto file = check::opened(test.stored());
  read_panels<C::taps>(file, weight);
  SplitSums<T> const split("split", space);
  for (int repeat = 0; repeat < 2; ++repeat)
    conv_transposed<Window>(
        "test::transposed", space, in, weight, out, split, KOKKOS_LAMBDA(T sum, Pixel at, int o) {
          return Kokkos::max(sum + T(.01) * at.n + T(.02) * at.p + T(.03) * at.q + T(.04) * o, T(0));
        });
  space.fence();
  check::compare("transposed " + name, check::pixels("transposed " + name, out), test.expected());
}
} // namespace

void testTransposedConvolutions() {
  transposed<Square<2, 2>, Activation<float, 8, 8, 128>, Activation<float, 16, 16, 64, 1>>("2x2s2 128-64", 1);
  transposed<Square<2, 2>, Activation<float, 5, 7, 24, 2>, Activation<float, 10, 14, 1>>("2x2s2 24-1", 3);
  transposed<Square<4, 2, 1>, Activation<float, 7, 9, 20, 1>, Activation<float, 14, 18, 40, 1>>("4x4s2", 2);
  transposed<Square<4, 2>, Activation<float, 7, 9, 7, 1>, Activation<float, 16, 20, 17>>("4x4s2, no padding", 2);
  transposed<Square<6, 3, 3>, Activation<float, 5, 4, 16, 2>, Activation<float, 12, 9, 33, 2, 1>>("6x6s3", 2);
  transposed<Square<8, 4, 2>, Activation<float, 1, 1, 5, 1>, Activation<float, 4, 4, 130>>("8x8s4 of one pixel", 1);
  transposed<Window<1, 8, 1, 4, 0, 2>, Activation<float, 1, 23, 16, 0, 1>, Activation<float, 1, 92, 3>>("1-d", 2);
  transposed<Window<3, 4, 1, 2, 1, 1>, Activation<double, 6, 5, 24, 1>, Activation<double, 6, 10, 40, 1>>("double", 2);
  transposed<Square<4, 2, 1>, Activation<float, 7, 9, 21, 1>, Activation<float, 14, 18, 40>, true>("bfloat16", 2);
  transposed<Square<2, 2>, Activation<float, 8, 8, 8>, Activation<float, 16, 16, 8>>("no image", 0);
}
