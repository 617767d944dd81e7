//===- Memory.cpp - what the memory gives: a plain triad ----------------------------------------------------------===//

#include "Peer.h"

#include <memory>

namespace peers {
/// rows columns: c = a + 3 b
Kernel memory(std::string const &operation, Sizes const &s) {
  if (operation != "triad")
    return {};
  std::size_t const count = s[0] * s[1];
  struct Operands {
    std::vector<float> a, b, c;
  };
  auto const data = std::make_shared<Operands>(Operands{numbers(count), numbers(count), numbers(count)});
  return [=] {
    float const *const a = data->a.data(), *const b = data->b.data();
    float *const c = data->c.data();
#pragma omp parallel for simd
    for (std::size_t i = 0; i < count; ++i)
      c[i] = a[i] + 3 * b[i];
  };
}
} // namespace peers
