#pragma once

#include <cstddef>

// Floating-point operations of a call: 2 * depth * rows * columns of a tile whose operands lie in L1
double registerTile(int depth, float const *left, float const *right);

// Reads this many bytes.
void readAll(float const *data, std::size_t bytes);
