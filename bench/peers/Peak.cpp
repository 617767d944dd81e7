//===- Peak.cpp - what the machine can multiply and add -----------------------------------------------------------===//

#include "Peer.h"

#include <omp.h>

#include <memory>

namespace peers {
/// operations: so many multiplications and additions, shared by the threads, on vectors that stay in registers
Kernel machine(std::string const &operation, Sizes const &s) {
  if (operation != "multiply_add")
    return {};
#if defined(__AVX512F__)
  constexpr int bytes = 64;
#elif defined(__AVX2__)
  constexpr int bytes = 32;
#else
  constexpr int bytes = 16;
#endif
  using Vector = float __attribute__((vector_size(bytes)));
  constexpr int chains = 12; // more than latency times units
  auto const last = std::make_shared<float>();
  return [=] {
    float total = 0;
#pragma omp parallel reduction(+ : total)
    {
      Vector sums[chains], factor, term;
      factor = term = Vector{} + 1e-3f;
      for (int i = 0; i < chains; ++i) // different ones: compilers compute equal chains only once
        sums[i] = Vector{} + float(i);
      long const steps = s[0] / omp_get_num_threads() / (2 * chains * (bytes / long(sizeof(float))));
      for (long i = 0; i < steps; ++i)
        for (Vector &sum : sums)
          sum = sum * factor + term;
      for (Vector const &sum : sums)
        total += sum[0];
    }
    *last = total;
  };
}
} // namespace peers
