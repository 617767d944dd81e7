//===- AccessIndex.cpp - the accesses to every buffer while copies go away ----------------------------------------===//

#include "passes/lower/memory/AccessIndex.h"

using namespace mlir;
using namespace ml2k;

AccessIndex::AccessIndex(Operation *function) {
  unsigned next = 0;
  function->walk([&](Operation *op, WalkStage const &stage) {
    if (stage.isBeforeAllRegions())
      places[op].begin = next++;
    if (stage.isAfterAllRegions())
      places[op].end = next - 1;
  });
}

AccessIndex::Uses &AccessIndex::usesOf(Value root) {
  auto const [entry, isNew] = roots.insert({root, Uses()});
  if (isNew) {
    SmallVector<OpOperand *> uses;
    collectAccesses(root, uses);
    for (OpOperand *use : uses)
      entry->second.insert({places.lookup(use->getOwner()).begin, use});
  }
  return entry->second;
}

SmallVector<Access> AccessIndex::all(Value root) {
  SmallVector<Access> accesses;
  for (auto const &[place, use] : usesOf(root))
    accesses.push_back(accessOf(*use));
  return accesses;
}

SmallVector<Access> AccessIndex::between(Value root, Operation *first, Operation *last) {
  Uses &uses = usesOf(root);
  SmallVector<Access> accesses;
  auto const end = uses.upper_bound(places.lookup(last).end);
  for (auto it = uses.lower_bound(places.lookup(first).begin); it != end; ++it)
    accesses.push_back(accessOf(*it->second));
  return accesses;
}

void AccessIndex::forget(Value root, Operation *access) { usesOf(root).erase(places.lookup(access).begin); }

void AccessIndex::join(Value part, Value whole) {
  Uses moved = std::move(usesOf(part));
  roots.erase(part);
  Uses &uses = usesOf(whole);
  if (uses.size() < moved.size()) // so that no access moves often
    std::swap(uses, moved);
  uses.merge(moved);
}
