//===- Shared.cpp - models that share a header of blocks, and others that have their own, in one program ----------===//
//
// They are compiled with the address sanitizer. The models in the header compute what their self-contained files do,
// bit for bit.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "cnn.hpp"
#include "digits_cnn.hpp"
#include "digits_mlp.hpp"
#include "linear.hpp"
#include "mlp.hpp"

#include <cstdio>
#include <string>
#include <vector>

static constexpr int batch = 5;
static int failures = 0;

template <class View> static std::vector<float> valuesOf(View const &view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<float>(host.data(), host.data() + host.size());
}

template <class View> static View filled(View const &view) {
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] = float(i * 7 % 17) / 16;
  Kokkos::deep_copy(view, host);
  return view;
}

static void expect(char const *what, std::vector<float> const &actual, std::vector<float> const &expected) {
  bool const isEqual = actual == expected && !actual.empty();
  std::printf("%s: %s\n", what, isEqual ? "equal" : "DIFFERENT");
  failures += !isEqual;
}

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const space;
  std::string const shared = argv[1], own = argv[2];
  auto const images = filled(Kokkos::View<float *[1][8][8], Kokkos::LayoutRight>("images", batch));
  auto const pixels = filled(Kokkos::View<float *[64], Kokkos::LayoutRight>("pixels", batch));

  cnn::Logits const cnn_logits("cnn", batch), digits_cnn_logits("digits_cnn", batch);
  cnn::forward(space, cnn::load_weights(space, shared + "/cnn.safetensors"), cnn::Workspace(space, batch), images,
               cnn_logits);
  digits_cnn::forward(space, digits_cnn::load_weights(space, own + "/digits_cnn.safetensors"),
                      digits_cnn::Workspace(space, batch), images, digits_cnn_logits);
  space.fence("run_shared: cnn");
  expect("cnn", valuesOf(cnn_logits), valuesOf(digits_cnn_logits));

  mlp::Logits const mlp_logits("mlp", batch), digits_mlp_logits("digits_mlp", batch);
  mlp::forward(space, mlp::load_weights(space, shared + "/mlp.safetensors"), mlp::Workspace(space, batch), pixels,
               mlp_logits);
  digits_mlp::forward(space, digits_mlp::load_weights(space, own + "/digits_mlp.safetensors"),
                      digits_mlp::Workspace(space, batch), pixels, digits_mlp_logits);
  space.fence("run_shared: mlp");
  expect("mlp", valuesOf(mlp_logits), valuesOf(digits_mlp_logits));

  Kokkos::View<float[2][4], Kokkos::LayoutRight> const x("x");
  auto const host = Kokkos::create_mirror_view(x);
  for (int i = 0; i < 8; ++i)
    host.data()[i] = float(i);
  Kokkos::deep_copy(x, host);
  Kokkos::View<float[2][3], Kokkos::LayoutRight> const y("y");
  linear::forward(space, linear::load_weights(space), linear::Workspace(space), x, y);
  space.fence("run_shared: linear");
  expect("linear", valuesOf(y), {48, 54, 60, 136, 158, 180});
  return failures;
}
