//===- RowFusionPlan.cpp - what a row kernel stores between its passes --------------------------------------------===//
//
// Every fold is a pass over the row, and so is the writing of the outputs. A value needed in several passes is computed
// again in each; an expensive one is kept in the row of an output that is written later anyway.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/rows/RowFusion.h"

using namespace mlir;
using namespace ml2k;

namespace {
class Planner {
public:
  explicit Planner(RowGroup const &group) : group(group), members(group.ordered()) {}

  RowPlan plan();

private:
  std::set<int> passesOf(Value value, bool output);
  bool keep(Value value, bool output);
  static Type elementOf(Value value) { return cast<ShapedType>(value.getType()).getElementType(); }
  bool isLeaf(RowMember const &member) const;

  RowGroup const &group;
  std::vector<RowMember> const members;
  RowPlan result;
  DenseMap<Value, std::set<int>> passes;
  DenseMap<Operation *, int> foldPass;
  llvm::DenseSet<Value> claimed;
  int next = 1; // 0 is the pass that writes the outputs
};
} // namespace

/// The passes that compute an element of a value.
std::set<int> Planner::passesOf(Value value, bool output) {
  std::set<int> needed;
  if (output)
    needed.insert(0);
  for (OpOperand *use : group.innerUses(value)) {
    RowMember const &user = *group.find(use->getOwner()->getResult(0));
    if (user.folds)
      needed.insert(foldPass[user.op]);
    else
      for (Value made : use->getOwner()->getResults())
        needed.insert(passes[made].begin(), passes[made].end());
  }
  return needed;
}

/// Finds a row to keep a value in; an output keeps its own.
bool Planner::keep(Value value, bool output) {
  if (output && !claimed.contains(value)) {
    result.keptIn[value] = value;
    claimed.insert(value);
    return true;
  }
  for (Value row : result.outputs) {
    RowMember const &member = *group.find(row);
    if (member.folds || !member.varies || claimed.contains(row) || elementOf(row) != elementOf(value))
      continue;
    result.keptIn[value] = row;
    claimed.insert(row);
    return true;
  }
  return false;
}

/// True for a member that reads nothing of the group.
bool Planner::isLeaf(RowMember const &member) const {
  auto op = member.op;
  return llvm::none_of(op->getOpOperands(),
                       [&](OpOperand &operand) { return group.find(group.access(member, operand).root); });
}

RowPlan Planner::plan() {
  for (RowMember const &member : members) {
    auto op = member.op;
    if (member.folds)
      foldPass[op] = next++;
    for (Value value : op->getResults())
      if (group.usedOutside(value))
        result.outputs.push_back(value);
  }
  for (RowMember const &member : llvm::reverse(members)) {
    auto op = member.op;
    for (Value value : op->getResults()) {
      if (member.folds || !member.varies)
        continue;
      bool const output = group.usedOutside(value);
      passes[value] = passesOf(value, output);
      if (passes[value].size() < 2 || !isExpensive(op))
        continue;
      if (keep(value, output))
        passes[value] = {next++};
      else if (isLeaf(member))
        result.tooExpensive = op;
    }
  }
  return result;
}

RowPlan RowPlan::of(RowGroup const &group) { return Planner(group).plan(); }
