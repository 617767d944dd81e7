//===- Gates.cpp - the gates on forward() catch what they are there for -------------------------------------------===//
//
// One deliberate breach after the other under the watch that run_models.py --gates uses, and code that keeps its
// promises.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "gates.hpp"
#include "runner.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

using Space = Kokkos::DefaultExecutionSpace;
using Values = Kokkos::View<float *, Space>;

static int failures = 0;

/// `breach` is what the watch must say of `forward`, nothing where it keeps its promises.
template <class Forward>
static void expect(char const *what, std::string const &breach, Space const &space, Forward const &forward) {
  space.fence();
  ml2k_run::Watch const watch(Kokkos::Tools::Experimental::device_id(space));
  forward();
  bool right = breach.empty() && watch.breaches().empty();
  for (std::string const &seen : watch.breaches()) // an allocation fences, too
    right = right || (!breach.empty() && seen.find(breach) == 0);
  std::printf("%-32s %s\n", what, right ? "ok" : "WRONG");
  for (std::string const &seen : watch.breaches())
    std::printf("  %s\n", seen.c_str());
  failures += !right;
}

static void testGates(Space const &space) {
  Values const x("x", 8), y("y", 8);
  auto const fill = KOKKOS_LAMBDA(int i) { x(i) = float(i); };
  expect("a labelled kernel", "", space,
         [&] { Kokkos::parallel_for("net::fill", Kokkos::RangePolicy(space, 0, 8), fill); });
  expect("a kernel without a label", "a kernel has no label", space,
         [&] { Kokkos::parallel_for(Kokkos::RangePolicy(space, 0, 8), fill); });
  expect("an allocation", "an allocation: net::buffer", space,
         [&] { Values const made(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "net::buffer"), 8); });
  expect("a fence", "a fence: net::wait", space, [&] { space.fence("net::wait"); });
  expect("a deep copy", "a ", space, [&] { Kokkos::deep_copy(space, y, x); });
  // OpenMP gives all its instances one number; there, policies.py reads the text instead
  if (Kokkos::Tools::Experimental::device_id(space) != Kokkos::Tools::Experimental::device_id(Space()))
    expect("a kernel on another instance", "not on the given instance: net::fill", space,
           [&] { Kokkos::parallel_for("net::fill", Kokkos::RangePolicy(Space(), 0, 8), fill); });
}

int main(int argc, char **argv) {
  setenv("ML2K_GATES", "1", 1); // an instance of our own
  Kokkos::ScopeGuard const guard(argc, argv);
  testGates(ml2k_run::ownInstance<Space>());
  return failures != 0;
}
