//===- PlanMemory.cpp - one arena for all buffers of fixed size ----------------------------------------------*- C++
//-*-===//
//
// A buffer lives from its first to its last access in the body of the function; a loop counts as one moment. Buffers
// with a border share memory with equal ones only: their zeros are written once, when the workspace is made. All others
// are placed by first fit, in the best of three orders. Buffers whose size is known at run time only get no offset:
// each is an allocation of its own.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/Memory.h"
#include "translator/ir/Nest.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

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

  bool isAliveWith(Lifetime const &other) const { return begin <= other.end && other.begin <= end; }
};

using Lifetimes = SmallVector<Lifetime>;

int64_t bytesOf(nest::BufferOp buffer) {
  auto const type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> extents(type.getShape());
  if (auto const border = buffer.getBorder())
    for (int d : {0, 1})
      extents[1 + d] += 2 * (*border)[d];
  int64_t bytes = type.getElementType().isIndex() ? 8 : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t extent : extents)
    bytes *= extent;
  return bytes;
}

bool hasBorder(nest::BufferOp buffer) {
  return buffer.getBorder() && llvm::any_of(*buffer.getBorder(), [](int64_t b) { return b > 0; });
}

Lifetimes findLifetimes(func::FuncOp function) {
  Block &body = function.getBody().front();
  DenseMap<Operation *, unsigned> position;
  for (auto [i, op] : llvm::enumerate(body))
    position[&op] = i;
  Lifetimes lifetimes;
  for (auto buffer : body.getOps<nest::BufferOp>()) {
    if (!cast<MemRefType>(buffer.getType()).hasStaticShape())
      continue;
    Lifetime life{buffer, bytesOf(buffer), position[buffer], position[buffer], 0};
    SmallVector<Access> const accesses = accessesOf(buffer.getResult());
    if (!accesses.empty()) {
      life.begin = position[body.findAncestorOpInBlock(*accesses.front().op)];
      life.end = position[body.findAncestorOpInBlock(*accesses.back().op)];
    }
    lifetimes.push_back(life);
  }
  return lifetimes;
}

//===--- Placement
//---------------------------------------------------------------------------------------------------===//

/// The lowest offset at which `life` meets nobody in `placed` that is alive with it.
int64_t firstFit(Lifetime const &life, ArrayRef<Lifetime> placed) {
  SmallVector<std::pair<int64_t, int64_t>> occupied;
  for (Lifetime const &other : placed)
    if (life.isAliveWith(other))
      occupied.push_back({other.offset, other.offset + other.bytes});
  llvm::sort(occupied);
  int64_t offset = 0;
  for (auto [begin, end] : occupied) {
    if (offset + life.bytes <= begin)
      break;
    offset = std::max(offset, int64_t(llvm::alignTo(end, alignment)));
  }
  return offset;
}

int64_t place(Lifetimes &lifetimes) {
  int64_t end = 0;
  for (unsigned i = 0; i < lifetimes.size(); ++i) {
    lifetimes[i].offset = firstFit(lifetimes[i], ArrayRef<Lifetime>(lifetimes).take_front(i));
    end = std::max(end, lifetimes[i].offset + lifetimes[i].bytes);
  }
  return llvm::alignTo(end, alignment);
}

/// Places in the order of the program, by size and by size times time, and keeps the smallest arena.
int64_t placeBest(Lifetimes &lifetimes) {
  auto area = [](Lifetime const &life) { return life.bytes * (life.end - life.begin + 1); };
  auto bySize = [](Lifetime const &a, Lifetime const &b) { return a.bytes > b.bytes; };
  auto byArea = [&](Lifetime const &a, Lifetime const &b) { return area(a) > area(b); };
  Lifetimes trial = lifetimes, best = lifetimes;
  int64_t least = place(best);
  auto attempt = [&](auto order) {
    trial = lifetimes;
    llvm::stable_sort(trial, order);
    if (int64_t const size = place(trial); size < least) {
      least = size;
      best = trial;
    }
  };
  attempt(bySize);
  attempt(byArea);
  lifetimes = best;
  return least;
}

/// Equal bordered buffers share slots that nobody else uses. Returns the end of the slots.
int64_t placeBordered(Lifetimes &lifetimes) {
  llvm::MapVector<std::pair<Type, Attribute>, Lifetimes> kinds;
  for (Lifetime &life : lifetimes)
    kinds[{life.buffer.getType(), life.buffer.getBorderAttr()}].push_back(life);
  lifetimes.clear();
  int64_t end = 0;
  for (auto &[kind, members] : kinds) {
    int64_t const size = place(members); // equal sizes: first fit in the order of the program is exact
    for (Lifetime &life : members) {
      life.offset += end;
      lifetimes.push_back(life);
    }
    end += size;
  }
  return end;
}

/// The largest number of bytes alive at any moment: no plan can do with less.
int64_t liveBytes(ArrayRef<Lifetime> lifetimes) {
  int64_t most = 0;
  for (Lifetime const &moment : lifetimes) {
    int64_t sum = 0;
    for (Lifetime const &life : lifetimes)
      if (life.begin <= moment.begin && moment.begin <= life.end)
        sum += life.bytes;
    most = std::max(most, sum);
  }
  return most;
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Lifetimes const all = findLifetimes(getOperation());
    Lifetimes bordered, plain;
    for (Lifetime life : all)
      (hasBorder(life.buffer) ? bordered : plain).push_back(life);
    int64_t const start = placeBordered(bordered);
    llvm::stable_sort(plain, [](Lifetime const &a, Lifetime const &b) { return a.begin < b.begin; });
    int64_t const size = placeBest(plain);
    Builder builder(&getContext());
    for (Lifetime &life : bordered)
      life.buffer.setOffsetAttr(builder.getI64IntegerAttr(life.offset));
    for (Lifetime &life : plain)
      life.buffer.setOffsetAttr(builder.getI64IntegerAttr(start + life.offset));
    getOperation()->setAttr("nest.arena_bytes", builder.getI64IntegerAttr(start + size));
    getOperation()->setAttr("nest.live_bytes", builder.getI64IntegerAttr(liveBytes(all)));
  }
};

} // namespace
} // namespace ml2k
