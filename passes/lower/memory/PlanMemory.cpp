//===- PlanMemory.cpp - when every buffer is in use, and one arena for those of fixed size ------------------------===//
//
// A buffer is alive from its first to its last access in the body of the function; a loop counts as one moment. The
// printed Workspace places the buffers by the same rule with the sizes of the run: offsets here serve the report and
// the tests.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/Nest.h"

#include "llvm/Support/MathExtras.h"

#include <map>
#include <vector>

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t alignment = 64;

struct Lifetime {
  nest::BufferOp buffer;
  int64_t bytes = 0;
  unsigned begin = 0, end = 0; // first and last access, as positions in the body
  int64_t offset = 0;
};

using Lifetimes = SmallVector<Lifetime>;

int64_t bytesOf(nest::BufferOp buffer) {
  auto const type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> extents(type.getShape());
  if (auto const border = buffer.getBorder()) {
    for (int d : {0, 1})
      extents[1 + d] += 2 * (*border)[d];
    if (border->size() == 4)
      extents[0] = extents[0] / (*border)[3] * ((*border)[3] + 2 * (*border)[2]);
  }
  int64_t bytes = type.getElementType().isIndex() ? 8 : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t extent : extents)
    bytes *= extent;
  return bytes;
}

Lifetimes findLifetimes(func::FuncOp function) {
  Block &body = function.getBody().front();
  DenseMap<Operation *, unsigned> position;
  for (auto [i, op] : llvm::enumerate(body))
    position[&op] = i;
  Lifetimes lifetimes;
  for (auto buffer : body.getOps<nest::BufferOp>()) {
    bool const fixed = cast<MemRefType>(buffer.getType()).hasStaticShape();
    Lifetime life{buffer, fixed ? bytesOf(buffer) : 0, position[buffer], position[buffer], 0};
    SmallVector<Access> const accesses = accessesOf(buffer.getResult());
    if (!accesses.empty()) {
      life.begin = position[body.findAncestorOpInBlock(*accesses.front().op)];
      life.end = position[body.findAncestorOpInBlock(*accesses.back().op)];
    }
    lifetimes.push_back(life);
  }
  return lifetimes;
}

//===--- Placement ---===//

/// Buffers by when they are alive; to find those that are alive with another one takes time in their number.
class Timeline {
public:
  explicit Timeline(unsigned moments) : leaves(llvm::PowerOf2Ceil(moments)), spans(2 * leaves) {}

  void add(Lifetime const &life) {
    begins.insert({life.begin, &life});
    for (unsigned low = life.begin + leaves, high = life.end + leaves + 1; low < high; low /= 2, high /= 2) {
      if (low % 2)
        spans[low++].push_back(&life);
      if (high % 2)
        spans[--high].push_back(&life);
    }
  }

  /// Calls `visit` with each buffer that is alive with `life`: at its begin, or from a later moment on.
  void visitAliveWith(Lifetime const &life, function_ref<void(Lifetime const &)> visit) const {
    for (unsigned node = life.begin + leaves; node > 0; node /= 2)
      for (Lifetime const *other : spans[node])
        visit(*other);
    for (auto it = begins.upper_bound(life.begin); it != begins.end() && it->first <= life.end; ++it)
      visit(*it->second);
  }

private:
  unsigned leaves;
  std::vector<std::vector<Lifetime const *>> spans; ///< a binary tree over moments: those alive in all of a node's
  std::multimap<unsigned, Lifetime const *> begins;
};

/// The lowest offset at which `life` meets nobody in `placed` that is alive with it.
int64_t firstFit(Lifetime const &life, Timeline const &placed) {
  SmallVector<std::pair<int64_t, int64_t>> occupied;
  placed.visitAliveWith(life,
                        [&](Lifetime const &other) { occupied.push_back({other.offset, other.offset + other.bytes}); });
  llvm::sort(occupied);
  int64_t offset = 0;
  for (auto [begin, end] : occupied) {
    if (offset + life.bytes <= begin)
      break;
    offset = std::max(offset, int64_t(llvm::alignTo(end, alignment)));
  }
  return offset;
}

/// Places the largest first. Returns the size of the arena.
int64_t placeAll(Lifetimes &lifetimes) {
  llvm::stable_sort(lifetimes, [](Lifetime const &a, Lifetime const &b) {
    return std::pair(-a.bytes, a.begin) < std::pair(-b.bytes, b.begin);
  });
  unsigned last = 0;
  for (Lifetime const &life : lifetimes)
    last = std::max(last, life.end);
  Timeline placed(last + 1);
  int64_t size = 0;
  for (Lifetime &life : lifetimes) {
    life.offset = firstFit(life, placed);
    placed.add(life);
    size = std::max(size, life.offset + life.bytes);
  }
  return llvm::alignTo(size, alignment);
}

/// The largest number of bytes alive at any moment: no plan can do with less.
int64_t liveBytes(ArrayRef<Lifetime> lifetimes) {
  std::map<unsigned, int64_t> changes; // by position: bytes that come minus those that went before
  for (Lifetime const &life : lifetimes) {
    changes[life.begin] += life.bytes;
    changes[life.end + 1] -= life.bytes;
  }
  int64_t most = 0, sum = 0;
  for (auto const &[position, bytes] : changes)
    most = std::max(most, sum += bytes);
  return most;
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Lifetimes lifetimes = findLifetimes(getOperation());
    int64_t const size = placeAll(lifetimes);
    Builder builder(&getContext());
    for (Lifetime &life : lifetimes) {
      life.buffer->setAttr("nest.alive", builder.getDenseI64ArrayAttr({life.begin, life.end}));
      if (cast<MemRefType>(life.buffer.getType()).hasStaticShape())
        life.buffer.setOffsetAttr(builder.getI64IntegerAttr(life.offset));
    }
    getOperation()->setAttr("nest.arena_bytes", builder.getI64IntegerAttr(size));
    getOperation()->setAttr("nest.live_bytes", builder.getI64IntegerAttr(liveBytes(lifetimes)));
  }
};

} // namespace
} // namespace ml2k
