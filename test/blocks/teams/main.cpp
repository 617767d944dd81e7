//===- main.cpp - runs the devices' bodies of the building blocks by teams of fibers ------------------------------===//

#include "../../../translator/tool/DeviceTiles.h"
#include "../Check.h"

namespace {
/// --report shows what the blocks choose.
template <class Large> void comparePlans(char const *name, ml2k::device::Tile const &tile) {
  int different = 0;
  for (int rows = 1; rows < 20000; rows += rows / 2 + 3)
    for (int const columns : {64, 192, 768, 4096})
      for (int depth = 16; depth < 5000; depth = depth * 3 / 2)
        for (int const processors : {80, 132, 304}) {
          auto const printed =
              blocks::plan_tiles<Large, blocks::Untuned>(rows, columns, depth, processors, tile.first, tile.slab);
          auto const reported = ml2k::device::planTiles(tile, rows, columns, depth, processors);
          different += printed.splits != reported.splits || std::abs(printed.time - reported.time) > 1e-9;
          int const tiles = (rows + 31) / 32 * columns / 64, slabs = (depth + 15) / 16;
          different +=
              blocks::choose_splits(tiles, slabs, processors) != ml2k::device::chooseSplits(tiles, slabs, processors);
        }
  check::report(name, different == 0, std::to_string(different) + " plans differ");
}

void testPlans() {
  using namespace ml2k::device;
  comparePlans<blocks::LargeTile<32, 64, 32, 4, 8, 4, 3>>("low tiles", lowTile);
  comparePlans<blocks::LargeTile<64, 64, 16, 8, 8, 3, 4>>("square tiles", squareTile);
  comparePlans<blocks::LargeTile<128, 128, 16, 16, 8, 2, 2>>("broad tiles", broadTile);
  comparePlans<blocks::LargeTile<128, 64, 16, 8, 8, 3, 3>>("tall tiles", tallTile);
}
} // namespace

int main(int argc, char *argv[]) {
  Kokkos::ScopeGuard const guard(argc, argv);
  testPlans();
  testRecurrent();
  testRows();
  testGrids();
  testScans();
  testSorts();
  testTrees();
  testContractions();
  testConvolutions();
  std::printf("teams: %d checks, %d failed\n", check::cases, check::failures);
  return check::failures != 0;
}
