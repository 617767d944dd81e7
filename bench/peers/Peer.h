//===- Peer.h - a kernel of a library, to be timed beside printed code ----------------------------------*- C++ -*-===//

#ifndef ML2K_BENCH_PEER_H
#define ML2K_BENCH_PEER_H

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {
using Kernel = std::function<void()>; ///< one call; what it works on is its own
using Sizes = std::vector<long>;

/// The kernels by operation. Sizes are in the order that bench/kernels.py writes them; an unknown operation gives an
/// empty function.
Kernel oneDnn(std::string const &operation, Sizes const &sizes);
Kernel openBlas(std::string const &operation, Sizes const &sizes);
Kernel xsmm(std::string const &operation, Sizes const &sizes);
Kernel memory(std::string const &operation, Sizes const &sizes);  ///< triad: what the memory gives
Kernel machine(std::string const &operation, Sizes const &sizes); ///< multiply_add: what the processor gives

/// Numbers in [-1, 1), always the same.
inline std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  unsigned state = 12345;
  for (float &value : values) {
    state = state * 1664525u + 1013904223u;
    value = float(int(state >> 8 & 0xffff) - 0x8000) / 0x8000;
  }
  return values;
}
} // namespace peers

#endif
