//===- Layouts.cpp - views of any layout, of const and mutable elements, as arguments of forward() ----------------===//
//
// A convolutional network, a perceptron and a transformer: every combination computes what row-major views do, bit for
// bit; views that are row-major in memory are used where they lie.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "digits_cnn.hpp"
#include "digits_mlp.hpp"
#include "transformer.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static constexpr int batch = 5;
static int cases = 0, failures = 0;

static void expect(std::string const &what, bool holds) {
  ++cases;
  failures += !holds;
  if (!holds)
    std::printf("FAILED %s\n", what.c_str());
}

// Kernels that Kokkos starts
static int launches = 0;
static void countLaunch(char const *, std::uint32_t, std::uint64_t *) { ++launches; }

//===--- Views ----------------------------------------------------------------------------------------------------===//

template <class View, class Function> static void forAll(View const &view, Function const &function) {
  if constexpr (View::rank() == 2) {
    for (int i = 0; i < int(view.extent(0)); ++i)
      for (int j = 0; j < int(view.extent(1)); ++j)
        function(view(i, j), i * 31 + j * 7);
  } else if constexpr (View::rank() == 3) {
    for (int i = 0; i < int(view.extent(0)); ++i)
      for (int j = 0; j < int(view.extent(1)); ++j)
        for (int k = 0; k < int(view.extent(2)); ++k)
          function(view(i, j, k), i * 31 + j * 7 + k);
  } else {
    for (int i = 0; i < int(view.extent(0)); ++i)
      for (int j = 0; j < int(view.extent(2)); ++j)
        for (int k = 0; k < int(view.extent(3)); ++k)
          function(view(i, 0, j, k), i * 31 + j * 7 + k);
  }
}

template <class View> static View filled(View const &view) {
  forAll(view, [](float &element, int seed) { element = float(seed % 17) / 16; });
  return view;
}

template <class View> static std::vector<float> valuesOf(View const &view) {
  std::vector<float> values;
  forAll(view, [&](float element, int) { values.push_back(element); });
  return values;
}

// The views of one argument, whose row-major type is Rows; the last dimension lies apart in the strided ones.
template <class Rows> struct Views {
  using Data = typename Rows::non_const_data_type;
  static constexpr int rank = int(Rows::rank());

  static Kokkos::LayoutStride strided() {
    Kokkos::LayoutStride layout;
    std::size_t step = 3;
    for (int d = rank - 1; d >= 0; --d) {
      layout.dimension[d] = d == 0 ? batch : Rows::static_extent(d);
      layout.stride[d] = step;
      step *= layout.dimension[d] + 1;
    }
    return layout;
  }
  // As LayoutStride, but in order
  static Kokkos::LayoutStride dense() {
    Kokkos::LayoutStride layout;
    std::size_t step = 1;
    for (int d = rank - 1; d >= 0; --d) {
      layout.dimension[d] = d == 0 ? batch : Rows::static_extent(d);
      layout.stride[d] = step;
      step *= layout.dimension[d];
    }
    return layout;
  }

  Kokkos::View<Data, Kokkos::LayoutRight> right{"right", batch};
  Kokkos::View<Data, Kokkos::LayoutLeft> left{"left", batch};
  Kokkos::View<Data, Kokkos::LayoutStride> stride{"stride", strided()};
  Kokkos::View<Data, Kokkos::LayoutStride> in_order{"in_order", dense()};

  template <class Function> void each(Function const &function) const {
    function("right", right, 0);
    function("left", left, 1);
    function("stride", stride, 1);
    function("in order", in_order, 0);
  }
};

//===--- One network ----------------------------------------------------------------------------------------------===//

template <class Input, class Output, class Packed, class Forward>
static void check(std::string const &name, Packed const &packed, Forward const &forward) {
  Kokkos::DefaultExecutionSpace const space;
  Views<Input> const inputs;
  Views<Output> const outputs;
  inputs.each([](char const *, auto const &view, int) { filled(view); });
  forward(space, packed, inputs.right, outputs.right);
  space.fence("layouts: reference");
  std::vector<float> const expected = valuesOf(outputs.right);
  launches = 0;
  forward(space, packed, inputs.right, outputs.right);
  int const kernels = launches;
  inputs.each([&](std::string const &in, auto const &input, int inCopies) {
    outputs.each([&](std::string const &out, auto const &output, int outCopies) {
      auto const run = [&](std::string const &kind, auto const &from) {
        Kokkos::deep_copy(output, -1.f);
        launches = 0;
        forward(space, packed, from, output);
        space.fence("layouts: results");
        expect(name + ": " + kind + " " + in + " to " + out, valuesOf(output) == expected);
        expect(name + ": kernels of " + in + " to " + out, launches == kernels + inCopies + outCopies);
      };
      run("mutable", input);
      run("const", typename std::decay_t<decltype(input)>::const_type(input));
    });
  });
}

template <class Function> static bool refuses(Function const &function) {
  try {
    function();
  } catch (std::invalid_argument const &error) {
    return std::string(error.what()).find("digits_mlp") == 0;
  }
  return false;
}

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(countLaunch);
  Kokkos::DefaultExecutionSpace const space;
  std::string const digits = argv[1], made = argv[2];

  auto const cnn = digits_cnn::load_weights(space, digits + "/digits_cnn.safetensors");
  digits_cnn::Workspace const cnn_work(space, batch);
  check<digits_cnn::Image, digits_cnn::Logits>("cnn", digits_cnn::Packed(space, batch), [&](auto const &...arguments) {
    auto const run = [&](auto const &space, auto const &packed, auto const &in, auto const &out) {
      digits_cnn::forward(space, cnn, cnn_work, packed, in, out);
    };
    run(arguments...);
  });

  auto const mlp = digits_mlp::load_weights(space, digits + "/digits_mlp.safetensors");
  digits_mlp::Workspace const mlp_work(space, batch);
  check<digits_mlp::Image, digits_mlp::Logits>(
      "mlp", digits_mlp::Packed(space, batch + 2),
      [&](auto const &space, auto const &packed, auto const &in, auto const &out) {
        digits_mlp::forward(space, mlp, mlp_work, packed, in, out);
      });

  auto const weights = transformer::load_weights(space, made + "/transformer.safetensors");
  transformer::Workspace const work(space, batch);
  check<transformer::X, transformer::Y>("transformer", transformer::Packed(space, batch),
                                        [&](auto const &space, auto const &packed, auto const &in, auto const &out) {
                                          transformer::forward(space, weights, work, packed, in, out);
                                        });

  expect("a Workspace of negative size", refuses([&] { digits_mlp::Workspace(space, -1); }));
  digits_mlp::Packed const packed(space, batch);
  digits_mlp::Logits const logits("logits", batch), many("many", batch + 1);
  Kokkos::View<float **, Kokkos::LayoutLeft> const narrow("narrow", batch, 63), large("large", batch + 1, 64);
  expect("another width", refuses([&] { digits_mlp::forward(space, mlp, mlp_work, packed, narrow, logits); }));
  expect("more rows than Packed has", refuses([&] { digits_mlp::forward(space, mlp, mlp_work, packed, large, many); }));
  std::printf("%d cases, %d failures\n", cases, failures);
  return failures != 0;
}
