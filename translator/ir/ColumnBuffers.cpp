//===- ColumnBuffers.cpp - buffers of a column, their levels, and the barriers of a team --------------------------===//

#include "translator/ir/Column.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ml2k {

/// More of a team's buffers goes to level 1: what every back end has at level 0.
static constexpr int64_t level0Bytes = 32768;

namespace {

using Numbers = llvm::SmallDenseSet<unsigned, 4>;

Numbers readBy(ColumnLayer const &layer) {
  Numbers read;
  for (auto const &[number, operand] : llvm::enumerate(layer.operands))
    if (layer.kind != ColumnLayer::Kind::Copy || number == 0)
      for (ColumnPart const &part : operand)
        read.insert(part.tensor);
  return read;
}

Numbers writtenBy(ColumnLayer const &layer) {
  Numbers written;
  for (auto const &tensors : layer.results)
    written.insert(tensors.begin(), tensors.end());
  return written;
}

/// Layers from the first that writes a buffer to the last that uses it.
struct LiveRange {
  unsigned tensor, first, last;
};

std::vector<LiveRange> liveRanges(Column const &column) {
  llvm::MapVector<unsigned, LiveRange> ranges;
  for (auto const &[number, layer] : llvm::enumerate(column.layers))
    for (Numbers const &used : {writtenBy(layer), readBy(layer)})
      for (unsigned tensor : used)
        if (column.tensors[tensor].kind == ColumnTensor::Kind::Buffer)
          ranges.insert({tensor, {tensor, unsigned(number), 0}}).first->second.last = number;
  std::vector<LiveRange> list;
  for (auto const &[tensor, range] : ranges)
    list.push_back(range);
  llvm::stable_sort(list, [](LiveRange const &a, LiveRange const &b) {
    return std::pair(a.first, a.tensor) < std::pair(b.first, b.tensor);
  });
  return list;
}

} // namespace

/// A buffer of the same width whose values are no longer read is used again.
static void shareBuffers(Column &column) {
  struct Slot {
    unsigned owner, free; ///< the tensor that gives the name; the first layer that may write it again
  };
  std::vector<Slot> slots;
  for (LiveRange const &range : liveRanges(column)) {
    ColumnTensor &tensor = column.tensors[range.tensor];
    auto const fits = [&](Slot const &slot) {
      ColumnTensor const &owner = column.tensors[slot.owner];
      return slot.free <= range.first && owner.width == tensor.width && owner.type == tensor.type;
    };
    auto slot = llvm::find_if(slots, fits);
    if (slot == slots.end())
      slot = slots.insert(slots.end(), {range.tensor, 0});
    slot->free = range.last + 1;
    tensor.buffer = std::to_string(slot->owner);
  }
}

/// A layer waits for the others of its team if it reads or overwrites what was written, or overwrites what was read.
static void placeBarriers(Column &column) {
  auto const memoryOf = [&](Numbers const &tensors) {
    llvm::StringSet<> memory;
    for (unsigned tensor : tensors)
      if (column.tensors[tensor].kind == ColumnTensor::Kind::Buffer)
        memory.insert(column.tensors[tensor].buffer);
    return memory;
  };
  llvm::StringSet<> read, written;
  auto const touches = [](llvm::StringSet<> const &a, llvm::StringSet<> const &b) {
    return llvm::any_of(a, [&](auto const &entry) { return b.contains(entry.getKey()); });
  };
  for (ColumnLayer &layer : column.layers) {
    llvm::StringSet<> const reads = memoryOf(readBy(layer)), writes = memoryOf(writtenBy(layer));
    layer.needsBarrier = touches(reads, written) || touches(writes, written) || touches(writes, read);
    if (layer.needsBarrier)
      read.clear(), written.clear();
    for (auto const &entry : reads)
      read.insert(entry.getKey());
    for (auto const &entry : writes)
      written.insert(entry.getKey());
  }
}

static void placeLevels(Column &column) {
  int64_t used = 0;
  llvm::StringMap<unsigned> levels;
  for (ColumnTensor &tensor : column.tensors) {
    if (tensor.kind != ColumnTensor::Kind::Buffer || tensor.buffer.empty())
      continue;
    auto const [level, isNew] = levels.try_emplace(tensor.buffer, 0);
    if (isNew) {
      int64_t const bytes = tensor.width * (tensor.type.isInteger(1) ? 1 : tensor.type.getIntOrFloatBitWidth() / 8);
      level->second = used + bytes > level0Bytes ? 1 : 0;
      used += level->second ? 0 : bytes;
    }
    tensor.level = level->second;
  }
}

void planBuffers(Column &column) {
  shareBuffers(column);
  placeBarriers(column);
  placeLevels(column);
}

} // namespace ml2k
