// What this core can do: multiplications and additions of float in a register tile, and reads of so many bytes. Always
// compiled for this machine, whatever the flags of the printed code are.
#include "Bounds.h"

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
using Vector [[gnu::vector_size(4 * lanes), gnu::aligned(4), gnu::may_alias]] = float;

// sum += left * right for 20 vectors of sums: more than the units have in flight, fewer than there are registers
double registerTile(int depth, float const *left, float const *right) {
  constexpr int rows = 5, across = lanes == 16 ? 4 : 2;
  Vector sums[rows * across] = {};
  for (int k = 0; k < depth; ++k, left += rows, right += across * lanes)
#pragma GCC unroll 32
    for (int v = 0; v < rows * across; ++v)
      sums[v] += left[v / across] * reinterpret_cast<Vector const &>(right[v % across * lanes]);
  float total = 0;
  for (Vector const &sum : sums)
    total += sum[0];
  asm volatile("" : : "m"(total));
  return 2. * depth * rows * across * lanes;
}

void readAll(float const *data, std::size_t bytes) {
  Vector sums[8] = {};
  for (std::size_t i = 0; i + 8 * lanes <= bytes / sizeof(float); i += 8 * lanes)
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v)
      sums[v] += reinterpret_cast<Vector const &>(data[i + std::size_t(v * lanes)]);
  float total = 0;
  for (Vector const &sum : sums)
    total += sum[0];
  asm volatile("" : : "m"(total));
}
