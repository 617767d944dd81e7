//===- ConvolutionTest.cpp - conv and depthwise against plain loops -----------------------------------------------===//

#include "Check.h"

using namespace blocks;

namespace {
/// One convolution. In and Out are the activations, Window and Groups the geometry.
template <class Window, class In, class Out, int Groups> struct Case {
  using T = typename In::value_type;
  static constexpr int taps = Window::kernel_rows * Window::kernel_columns;
  static constexpr int channels = In::channels / Groups; // of a group
  static constexpr int outputs = Out::channels / Groups;
  int images;
  std::vector<T> image = check::numbers<T>(std::size_t(images) * In::height * In::width * In::channels, 1);
  std::vector<T> weight = check::numbers<T>(std::size_t(Out::channels) * channels * taps, 2); // o c r s
  std::vector<T> bias = check::numbers<T>(Out::channels, 3);

  std::vector<T> weightAndBias() const {
    std::vector<T> values = weight;
    values.insert(values.end(), bias.begin(), bias.end());
    return values;
  }
  double at(int n, int h, int w, int c) const {
    bool const inside = h >= 0 && w >= 0 && h < In::height && w < In::width;
    return inside ? image[((std::size_t(n) * In::height + h) * In::width + w) * In::channels + c] : 0;
  }
  double sum(int n, int p, int q, int o) const {
    double total = 0;
    for (int c = 0; c < channels; ++c)
      for (int tap = 0; tap < taps; ++tap)
        total += at(n, Window::row(p) + tap / Window::kernel_columns * Window::dilation_rows,
                    Window::column(q) + tap % Window::kernel_columns * Window::dilation_columns,
                    o / outputs * channels + c) *
                 weight[(std::size_t(o) * channels + c) * taps + tap];
    return total;
  }
  /// Sum + bias + position, ReLU: the epilogue of the tests
  std::vector<double> expected() const {
    std::vector<double> values;
    for (int n = 0; n < images; ++n)
      for (int p = 0; p < Out::height; ++p)
        for (int q = 0; q < Out::width; ++q)
          for (int o = 0; o < Out::channels; ++o)
            values.push_back(std::max(sum(n, p, q, o) + bias[o] + .01 * n + .02 * p + .03 * q, 0.));
    return values;
  }
};

/// The epilogue of the tests
struct Shifted {
  KOKKOS_FUNCTION float operator()(float sum, Pixel at, int) const {
    return Kokkos::max(sum + .01f * at.n + .02f * at.p + .03f * at.q, 0.f);
  }
};

template <class Window, class In, class Out, int Groups = 1, bool IsBfloat = false>
void convolution(std::string const &name, int images) {
  using T = typename In::value_type;
  using C = Case<Window, In, Out, Groups>;
  C test{images};
  if constexpr (IsBfloat) {
    check::makeBfloats(test.image);
    check::makeBfloats(test.weight);
  }
  ExecutionSpace const space;
  auto const in = check::activation<In>(images, test.image);
  Out const out{{"out", std::size_t(images)}};
  constexpr int depth = C::taps * C::channels;
  std::conditional_t<IsBfloat && on_host, BfloatPanels<Out::channels, depth, Groups>,
                     Panels<T, Out::channels, depth, Groups>>
      weight;
  auto file = check::opened(test.weightAndBias());
  read_panels<C::taps>(file, weight, weight.bias);
  SplitSums<T> const split("split", space);
  for (int repeat = 0; repeat < 2; ++repeat) // what a launch leaves behind must not disturb the next
    conv<Window>(
        "test::conv", space, in, weight, out, split, KOKKOS_LAMBDA(T sum, Pixel at, int) {
          return Kokkos::max(sum + T(.01) * at.n + T(.02) * at.p + T(.03) * at.q, T(0));
        });
  space.fence();
  check::compare("conv " + name, check::pixels("conv " + name, out), test.expected());
  if constexpr (!on_host && std::is_same_v<T, float> && Groups == 1 && PackingOf<decltype(weight)>::panel == 64) {
    Kokkos::deep_copy(out.rows, NAN);
    Convolution<Window, In, decltype(weight), Out, Shifted> const problem{in, weight, out, {}};
    for (int const splits : {1, 3})
      large_tiles<LargeTile<128, 64, 16, 8, 8, 3, 3>>("test::tall", space, problem, splits, split);
    large_tiles<LargeTile<32, 64, 32, 4, 8, 4, 3>>("test::low", space, problem, 2, split);
    space.fence();
    check::compare("conv " + name + " in tall tiles", check::pixels("conv " + name, out), test.expected());
  }
}

/// Integers of 16 bits, exactly
template <class Window, class In, class Out, class Stored, int Groups = 1>
void integers(std::string const &name, int images) {
  using C = Case<Window, In, Out, Groups>;
  C test{images};
  for (std::size_t i = 0; i < test.image.size(); ++i)
    test.image[i] = std::int16_t(int(i * 37 % 511) - 255);
  for (std::size_t i = 0; i < test.weight.size(); ++i)
    test.weight[i] = std::int16_t(int(i * 61 % 255) - 127);
  ExecutionSpace const space;
  auto const in = check::activation<In>(images, test.image);
  Out const out{{"out", std::size_t(images)}};
  ShortPanels<Stored, Out::channels, C::taps * C::channels, Groups> weight;
  auto file = check::opened(std::vector<Stored>(test.weight.begin(), test.weight.end()));
  read_panels<C::taps>(file, weight);
  SplitSums<int> const split("split", space);
  conv<Window>(
      "test::conv", space, in, weight, out, split, KOKKOS_LAMBDA(int sum, Pixel at, int o) { return sum + at.n - o; });
  space.fence();
  std::vector<double> expected;
  for (int n = 0; n < images; ++n)
    for (int p = 0; p < Out::height; ++p)
      for (int q = 0; q < Out::width; ++q)
        for (int o = 0; o < Out::channels; ++o)
          expected.push_back(test.sum(n, p, q, o) + n - o);
  check::compare("conv integers " + name, check::pixels("conv integers " + name, out), expected);
}

template <class Stored> void integerConvolutions() {
  integers<Square<3, 1, 1>, Activation<std::int16_t, 14, 13, 24, 1>, Activation<int, 14, 13, 40>, Stored>("3x3", 2);
  integers<Square<3, 2, 1>, Activation<std::int16_t, 14, 14, 3, 1>, Activation<int, 7, 7, 17>, Stored>("3x3 of 3", 2);
  integers<Square<3, 1, 1>, Activation<std::int16_t, 7, 7, 32, 1>, Activation<int, 7, 7, 64>, Stored, 4>("4 groups", 2);
  integers<Square<3, 1, 1>, Activation<std::int16_t, 7, 7, 15, 1>, Activation<int, 7, 7, 10>, Stored, 5>("5 groups", 2);
  integers<Square<1>, Activation<std::int16_t, 1, 1, 96>, Activation<int, 1, 1, 250>, Stored>("1x1", 4);
}

template <int Size, class In, class Out> void winograd(std::string const &name, int images) {
  using T = typename In::value_type;
  using C = Case<Square<3, 1, 1>, In, Out, 1>;
  C const test{images};
  ExecutionSpace const space;
  auto const in = check::activation<In>(images, test.image);
  Out const out{{"out", std::size_t(images)}};
  Panels<T, Out::channels, 9 * In::channels> weight;
  auto file = check::opened(test.weightAndBias());
  read_winograd<Size>(file, weight, weight.bias);
  SplitSums<T> const split("split", space);
  for (int const squares : {1, 5, 28}) {
    int const share = squares * (Size + 2) * (Size + 2) * (In::channels + Out::channels);
    Tensor<T *> const scratch("scratch", on_host ? share * space.concurrency() : 0);
    winograd<Size, Square<3, 1, 1>>(
        "test::winograd", space, in, weight, out, scratch, split, KOKKOS_LAMBDA(T sum, Pixel at, int) {
          return Kokkos::max(sum + T(.01) * at.n + T(.02) * at.p + T(.03) * at.q, T(0));
        });
    space.fence();
    std::string const label = "winograd " + name + ", squares at once: " + std::to_string(squares);
    check::compare(label, check::pixels(label, out), test.expected());
  }
}

void winogradCases() {
  winograd<4, Activation<float, 13, 18, 64, 1>, Activation<float, 13, 18, 64, 1>>("4, 64", 1);
  winograd<2, Activation<float, 7, 7, 64, 1>, Activation<float, 7, 7, 128>>("2, 64-128", 2);
  winograd<4, Activation<float, 14, 14, 48, 1>, Activation<float, 14, 14, 32, 1>>("4, 48-32", 2);
  winograd<2, Activation<float, 5, 4, 16, 1>, Activation<float, 5, 4, 80>>("2, 16-80", 1);
}

template <class Window, class In, class Out> void channelwise(std::string const &name, int images) {
  using T = typename In::value_type;
  using C = Case<Window, In, Out, In::channels>;
  C const test{images};
  ExecutionSpace const space;
  auto const in = check::activation<In>(images, test.image);
  Out const out{{"out", std::size_t(images)}};
  Tensor<T const[C::taps][Out::channels]> weight;
  auto file = check::opened(test.weight);
  read_taps(file, weight);
  Tensor<T[Out::channels]> const bias("bias");
  check::put(bias, test.bias);
  depthwise<Window>(
      "test::depthwise", space, in, weight, out, KOKKOS_LAMBDA(T sum, Pixel at, int c) {
        return Kokkos::max(sum + bias(c) + T(.01) * at.n + T(.02) * at.p + T(.03) * at.q, T(0));
      });
  space.fence();
  check::compare("depthwise " + name, check::pixels("depthwise " + name, out), test.expected());
}

/// Slices: reads the middle channels of a wide image, writes the middle channels of another
void slices() {
  using Wide = Activation<float, 9, 11, 40, 1>;
  using Test = Case<Square<3, 1, 1>, Activation<float, 9, 11, 24, 1>, Activation<float, 9, 11, 20>, 1>;
  Test const test{2};
  ExecutionSpace const space;
  Wide const wide{{"wide", 2}};
  auto const in = wide.slice<8, 24>();
  Kokkos::deep_copy(wide.rows, check::activation<std::decay_t<decltype(in)>>(2, test.image).rows);
  Activation<float, 9, 11, 50, 2> const results{{"out", 2}};
  auto const out = results.slice<10, 20>();
  Panels<float, 20, 9 * 24> weight;
  auto file = check::opened(test.weightAndBias());
  read_panels<9>(file, weight, weight.bias);
  SplitSums<float> const split("split", space);
  conv<Square<3, 1, 1>>(
      "test::slices", space, in, weight, out, split, KOKKOS_LAMBDA(float sum, Pixel at, int) {
        return Kokkos::max(sum + .01f * at.n + .02f * at.p + .03f * at.q, 0.f);
      });
  space.fence();
  check::compare("conv slices", check::pixels("conv slices", out), test.expected());
}

/// Every sum beside a channel of another image: channels 2 o and 2 o + 1
template <int Outputs, int Border> void interleavedChannels() {
  using Window = Square<3, 1, 1>;
  using In = Activation<float, 9, 7, 24, 1>;
  using Other = Activation<float, 9, 7, Outputs>;
  using Test = Case<Window, In, Other, 1>;
  std::string const name = "conv interleaved, " + std::to_string(Outputs);
  Test const test{2};
  std::vector<float> const passed = check::numbers<float>(test.expected().size(), 4);
  ExecutionSpace const space;
  auto const in = check::activation<In>(2, test.image);
  auto const other = check::activation<Other>(2, passed);
  Activation<float, 9, 7, 2 * Outputs, Border> const out{{"out", 2}};
  Panels<float, Outputs, 9 * 24> weight;
  auto file = check::opened(test.weightAndBias());
  read_panels<9>(file, weight, weight.bias);
  SplitSums<float> const split("split", space);
  conv<Window>(
      "test::interleaved", space, in, weight, interleaved<2>(out), split, KOKKOS_LAMBDA(float sum, Pixel at, int o) {
        return Kokkos::Array<float, 2>{other(at, o), Kokkos::max(sum + .01f * at.n + .02f * at.p + .03f * at.q, 0.f)};
      });
  space.fence();
  std::vector<double> expected;
  std::vector<double> const sums = test.expected();
  for (std::size_t i = 0; i < sums.size(); ++i)
    expected.insert(expected.end(), {passed[i], sums[i]});
  check::compare(name, check::pixels(name, out), expected);
}

/// Channel j of group i at j * Groups + i
template <int Outputs, int Groups, int Border> void shuffledChannels() {
  using Window = Square<1>;
  using In = Activation<float, 9, 7, 24>;
  using Out = Activation<float, 9, 7, Outputs, Border>;
  using Test = Case<Window, In, Out, Groups>;
  std::string const name = "conv shuffled, " + std::to_string(Outputs);
  Test const test{2};
  ExecutionSpace const space;
  auto const in = check::activation<In>(2, test.image);
  Out const out{{"out", 2}};
  Kokkos::deep_copy(out.rows, NAN);
  Panels<float, Outputs, 24 / Groups, Groups> weight;
  auto file = check::opened(test.weightAndBias());
  read_panels<1>(file, weight, weight.bias);
  SplitSums<float> const split("split", space);
  conv<Window>(
      "test::shuffled", space, in, weight, shuffled<Groups>(out), split, KOKKOS_LAMBDA(float sum, Pixel at, int) {
        return Kokkos::max(sum + .01f * at.n + .02f * at.p + .03f * at.q, 0.f);
      });
  space.fence();
  std::vector<double> const sums = test.expected();
  std::vector<double> expected(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::size_t const o = i % Outputs;
    expected[i - o + o % (Outputs / Groups) * Groups + o / (Outputs / Groups)] = sums[i];
  }
  check::compare(name, check::pixels(name, out), expected);
}
} // namespace

void testConvolutions() {
  winogradCases();
  convolution<Square<7, 2, 3>, Activation<float, 28, 28, 3, 3>, Activation<float, 14, 14, 64, 1>>("stem", 2);
  convolution<Square<3, 1, 1>, Activation<float, 56, 56, 24, 1>, Activation<float, 56, 56, 96>>("3x3 24-96 @56", 1);
  convolution<Square<3, 1, 1>, Activation<float, 7, 7, 96, 1>, Activation<float, 7, 7, 1000, 1>>("3x3 96-1000 @7", 3);
  convolution<Square<3, 1, 1>, Activation<float, 7, 7, 512, 1>, Activation<float, 7, 7, 64, 1>>("3x3 512-64 @7", 1);
  convolution<Square<3, 2, 1>, Activation<float, 14, 14, 64, 1>, Activation<float, 7, 7, 128>>("3x3s2", 2);
  convolution<Square<3, 1, 1>, Activation<float, 9, 9, 7, 1>, Activation<float, 9, 9, 40>, 1, true>("3x3 bfloat16", 2);
  convolution<Square<3, 1, 1>, Activation<float, 9, 9, 6, 1>, Activation<float, 9, 9, 80>, 2, true>("groups bfloat16",
                                                                                                    2);
  convolution<Square<1>, Activation<float, 13, 13, 5, 2>, Activation<float, 13, 13, 24>>("1x1 5-24 @13", 2);
  convolution<Square<1, 2>, Activation<float, 13, 13, 24>, Activation<float, 7, 7, 1>>("1x1s2 24-1", 2);
  convolution<Square<1>, Activation<float, 1, 1, 96>, Activation<float, 1, 1, 24>>("1x1 on one pixel", 1);
  convolution<Square<1>, Activation<float, 1, 1, 96>, Activation<float, 1, 1, 250>>("1x1 on few pixels", 4);
  convolution<Square<3, 1, 1>, Activation<float, 1, 1, 1, 1>, Activation<float, 1, 1, 1>>("3x3 1-1 @1", 7);
  convolution<Square<3, 1, 2, 2>, Activation<float, 14, 13, 24, 2>, Activation<float, 14, 13, 40>>("dilated", 2);
  convolution<Square<3, 1, 1>, Activation<float, 13, 13, 32, 1>, Activation<float, 13, 13, 64, 1>, 4>("4 groups", 2);
  convolution<Square<3, 1, 1>, Activation<float, 7, 7, 15, 1>, Activation<float, 7, 7, 10>, 5>("5 groups", 2);
  convolution<Window<1, 5, 1, 2, 0, 2>, Activation<float, 1, 56, 24, 0, 2>, Activation<float, 1, 28, 24>>("1-d", 3);
  convolution<Window<3, 5, 2, 1, 1, 2, 1, 1>, Activation<float, 14, 9, 3, 1, 2>, Activation<float, 7, 9, 17, 1, 0>>(
      "rectangular", 2);
  convolution<Window<2, 3, 1, 1, 0, 0, 3, 2>, Activation<float, 9, 9, 4>, Activation<float, 6, 5, 33>>(
      "rectangular dilation, no padding", 2);
  convolution<Square<3, 1, 1>, Activation<double, 7, 13, 24, 1>, Activation<double, 7, 13, 40, 1>>("double", 2);
  convolution<Square<7, 2, 3>, Activation<double, 14, 14, 3, 3>, Activation<double, 7, 7, 10>>("double stem", 2);
  convolution<Square<3, 1, 1>, Activation<float, 7, 7, 24, 1>, Activation<float, 7, 7, 24>>("no image", 0);
  integerConvolutions<std::int16_t>();
  integerConvolutions<std::int8_t>();
  slices();
  interleavedChannels<58, 0>();
  interleavedChannels<32, 1>();
  interleavedChannels<3, 0>();
  shuffledChannels<60, 3, 1>();
  shuffledChannels<80, 2, 0>();
  shuffledChannels<8, 4, 2>();
  channelwise<Square<3, 1, 1>, Activation<float, 14, 14, 96, 1>, Activation<float, 14, 14, 96, 2>>("3x3 96 @14", 2);
  channelwise<Square<3, 2, 1>, Activation<float, 14, 14, 24, 1>, Activation<float, 7, 7, 24>>("3x3s2 24", 2);
  channelwise<Square<5, 1, 2>, Activation<float, 7, 13, 5, 2>, Activation<float, 7, 13, 5>>("5x5 5 @7x13", 1);
  channelwise<Square<3, 1, 2, 2>, Activation<float, 7, 7, 17, 2>, Activation<float, 7, 7, 17>>("dilated", 1);
  channelwise<Window<1, 3, 1, 1, 0, 1>, Activation<double, 1, 1, 3, 0, 1>, Activation<double, 1, 1, 3>>("1-d", 7);
}
