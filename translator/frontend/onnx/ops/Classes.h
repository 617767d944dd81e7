//===- Classes.h - scores of classical models and the classes they stand for ----------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_OPS_CLASSES_H
#define ML2K_FRONTEND_ONNX_OPS_CLASSES_H

#include "translator/frontend/onnx/importer/Node.h"

namespace ml2k::frontend {

/// Scores [rows, classes] after a post_transform.
mlir::Value transformedScores(Node &node, mlir::Value scores, llvm::StringRef how);

/// [rows, 2]: -score or 1 - score, as `complement` says, and the score, of [rows, 1].
mlir::Value bothScores(Build &b, mlir::Value score, bool complement);

/// The labels of the node's classes; strings are refused where the node's first output is wanted.
struct Classes {
  Ints labels;
  explicit Classes(Node &node, llvm::StringRef integers);
  int64_t count() const { return static_cast<int64_t>(labels.size()); }
  /// The label of the highest score of each row; of equal ones the first.
  mlir::Value best(Node &node, mlir::Value scores) const;
  /// The second of two labels where the score of [rows, 1] is above the bound, or equal to it, else the first.
  mlir::Value above(Node &node, mlir::Value score, double bound, bool orEqual) const;
};

/// x [rows, columns] of floats: integers become f32, a vector is one row.
mlir::Value featureRows(Node &node);

} // namespace ml2k::frontend

#endif
