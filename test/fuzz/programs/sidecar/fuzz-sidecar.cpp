//===- fuzz-sidecar.cpp - libFuzzer on the loader of a printed file -----------------------------------------------===//
//
// Whatever the sidecar holds, load_weights() returns or throws std::runtime_error.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "net.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  Kokkos::initialize();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
  static int const file = memfd_create("sidecar", 0);
  static std::string const path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    return -1;
  try {
    net::load_weights(net::ExecutionSpace(), path);
  } catch (std::runtime_error const &) {
  }
  return 0;
}
