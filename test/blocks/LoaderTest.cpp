//===- LoaderTest.cpp - the sidecar's checks and element types ----------------------------------------------------===//

#include "Check.h"

#include <limits>

using namespace blocks;

namespace {
bool refused(std::string const &path, std::uint64_t header_size, std::uint64_t hash, std::uint64_t data_size) {
  try {
    Sidecar{ExecutionSpace(), "some_model", path}.check(header_size, hash, data_size);
  } catch (std::runtime_error const &error) {
    std::string const what = error.what();
    return what.find("some_model") != what.npos && what.find(path) != what.npos;
  }
  return false;
}

void refusals() {
  std::vector<float> const values(10, 1.5f);
  std::string const path = check::sidecar(values);
  std::uint64_t const hash = check::headerHash();
  check::report("sidecar accepted", !refused(path, 8, hash, 40));
  check::report("sidecar: other hash", refused(path, 8, hash + 1, 40));
  check::report("sidecar: short", refused(path, 8, hash, 44));
  check::report("sidecar: long", refused(path, 8, hash, 36));
  check::report("sidecar: other header size", refused(path, 16, hash, 32));
  check::report("sidecar: missing", refused("there_is_no_such_file", 8, hash, 40));
  std::ofstream("blocks_test_empty.safetensors", std::ios::binary).flush();
  check::report("sidecar: empty", refused("blocks_test_empty.safetensors", 8, hash, 40));
}

template <class T> void plain(std::string const &name, std::vector<T> const &values) {
  ExecutionSpace const space;
  Tensor<T const[2][3]> tensor;
  auto file = check::opened(values);
  read_plain(file, tensor);
  check::report("read_plain " + name, check::get(tensor) == values);
}

void halves() {
  ExecutionSpace const space;
  Tensor<float const[8]> tensor;
  double const infinity = std::numeric_limits<double>::infinity();
  auto file = check::opened(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x0001, 0x7bff, 0x8000, 0x3555, 0x7c00, 0x7e01});
  read_plain(Halves<5, Sidecar>{file}, tensor);
  check::compare("read_half", check::get(tensor),
                 {1, -2, 5.960464477539063e-08, 65504, -0., 0.333251953125, infinity, NAN});
  auto other =
      check::opened(std::vector<std::uint16_t>{0x3f80, 0xc000, 0x0001, 0x7f7f, 0x8000, 0x3eab, 0xff80, 0x7fc0});
  read_plain(Halves<8, Sidecar>{other}, tensor);
  auto const values = check::get(tensor);
  check::report("read_half bfloat16", values[0] == 1 && values[1] == -2 && values[2] == 9.18354961579912e-41f &&
                                          values[3] == 3.3895313892515355e38f && values[5] == 0.333984375f &&
                                          values[6] == -INFINITY && std::isnan(values[7]));
}
} // namespace

void testLoader() {
  refusals();
  plain<float>("float", {1, 2, 3, 4, 5, -6.5f});
  plain<double>("double", {1, 2, 3, 4, 5, -6.5});
  plain<std::int64_t>("int64", {1, 2, 3, 4, 5, -6});
  plain<std::int32_t>("int32", {1, 2, 3, 4, 5, -6});
  plain<std::uint8_t>("uint8", {1, 2, 3, 4, 5, 255});
  halves();
}
