//===- main.cpp - runs the tests of the building blocks on the default execution space ----------------------------===//

#include "Check.h"

int main(int argc, char *argv[]) {
  Kokkos::ScopeGuard const guard(argc, argv);
  testLoader();
  testRecurrent();
  testMath();
  testRows();
  testGrids();
  testScans();
  testSorts();
  testTrees();
  testUpdates();
  testContractions();
  testConvolutions();
  testTransposedConvolutions();
  std::printf("%s: %d checks, %d failed\n", blocks::ExecutionSpace::name(), check::cases, check::failures);
  return check::failures != 0;
}
