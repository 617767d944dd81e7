// Are the values that Fortran got those of the C++ class, bit for bit?   mixing_check RECORD
#include "mixing.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

int main(int, char **argv) {
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> const bytes(std::istreambuf_iterator<char>(file), {});
  constexpr std::size_t query = sizeof(mixing::Runner::state) + sizeof(mixing::Runner::diffusivity);
  std::size_t const queries = bytes.size() / query;
  char const *states = bytes.data(), *results = states + queries * sizeof(mixing::Runner::state);
  mixing::Runner runner;
  std::size_t different = 0;
  for (std::size_t n = 0; n < queries; ++n) {
    std::memcpy(runner.state.data(), states + n * sizeof(runner.state), sizeof(runner.state));
    runner.Run();
    different += std::memcmp(runner.diffusivity.data(), results + n * sizeof(runner.diffusivity), sizeof(runner.diffusivity)) != 0;
  }
  std::printf("%zu queries, %zu with other bits\n", queries, different);
  return queries == 0 || different != 0;
}
