//===- DeviceTiles.h - which tiles a printed file takes on a device -------------------------------------*- C++ -*-===//
//
// The rules of the blocks product, large_tiles, large_product and large_conv, which choose when the printed code runs,
// for
// --report. A test of the blocks compares both.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_TOOL_DEVICETILES_H
#define ML2K_TOOL_DEVICETILES_H

#include <algorithm>
#include <cstdint>

namespace ml2k::device {

/// Results of a team, k of a slab, fours of a result that a thread keeps; microseconds of an H200
struct Tile {
  int64_t rows, columns, depth, kept;
  double first, slab;
};

inline constexpr Tile lowTile{32, 64, 32, 4, 3.5, .49}, squareTile{64, 64, 16, 8, 4.7, .43},
    broadTile{128, 128, 16, 32, 6, 1.5}, tallTile{128, 64, 16, 16, 6.3, .8};

struct Plan {
  double time;
  int64_t tiles, splits;
};

inline int64_t upTo(int64_t count, int64_t size) { return (count + size - 1) / size; }

inline Plan planTiles(Tile const &tile, int64_t rows, int64_t columns, int64_t depth, int64_t processors) {
  int64_t const tiles = upTo(rows, tile.rows) * upTo(columns, tile.columns), slabs = upTo(depth, tile.depth);
  int64_t const most = std::min<int64_t>(3, 12 / upTo(tile.kept, 4)) * processors;
  auto const time = [&](int64_t s) {
    return tile.first + double(upTo(tiles * s, processors) * upTo(slabs, s)) * tile.slab +
           (s > 1 ? 1.6 + .25 * double(s) : 0);
  };
  Plan best{time(1), tiles, 1};
  for (int64_t s = 2; slabs / s >= 4 && tiles * s <= most; ++s)
    if (time(s) < best.time)
      best = {time(s), tiles, s};
  return best;
}

/// Of the tiles with 4 x 4 results a thread
inline int64_t chooseSplits(int64_t tiles, int64_t slabs, int64_t processors) {
  auto const cost = [&](int64_t s) {
    return double(upTo(tiles * s, processors) * upTo(slabs, s)) + (s > 1 ? 3.2 + .65 * double(s) : 0);
  };
  int64_t best = 1;
  for (int64_t s = 2; slabs / s >= 4 && tiles * s <= 4 * processors; ++s)
    if (cost(s) < cost(best))
      best = s;
  return best;
}

/// Whether one team or two of the largest tiles fall to every processor
inline bool fillsBroad(Plan const &broad, int64_t processors) { return broad.tiles * 10 >= 18 * processors; }

} // namespace ml2k::device

#endif
