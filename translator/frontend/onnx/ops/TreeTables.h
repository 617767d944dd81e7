//===- TreeTables.h - decision trees as the tables of nest.trees ----------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_OPS_TREETABLES_H
#define ML2K_FRONTEND_ONNX_OPS_TREETABLES_H

#include "translator/frontend/onnx/importer/Node.h"

namespace ml2k::frontend {

/// How a split compares x at its column with its threshold.
enum class Split { leq, lt, gte, gt, eq, neq, member, leaf };

/// A node as a model states it.
struct TreeNode {
  Split split = Split::leaf;
  int64_t column = 0;
  double threshold = 0;
  bool isMissingTrue = false;                           ///< a NaN counts as true
  int64_t whenTrue = 0, whenFalse = 0;                  ///< positions in the list of nodes
  std::vector<double> members = {};                     ///< of a split by membership
  std::vector<std::pair<int64_t, double>> weights = {}; ///< of a leaf: targets and what they get
};

/// Trees over one list of nodes.
struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 0;
};

enum class Aggregate { average, sum, min, max };

/// What the leaves that each row of x reaches are joined to, [rows, targets], of x's type; `base` is added at the end:
/// nothing, one number or one for each target.
mlir::Value walkTrees(Node &node, mlir::Value x, Trees trees, Aggregate aggregate, std::vector<double> base);

} // namespace ml2k::frontend

#endif
