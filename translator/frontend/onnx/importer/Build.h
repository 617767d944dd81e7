//===- Build.h - linalg and tensor operations from shapes and formulas ----------------------------------*- C++ -*-===//
//
// The vocabulary of the import functions. Nothing here knows ONNX's messages.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_BUILD_H
#define ML2K_FRONTEND_ONNX_IMPORTER_BUILD_H

#include "translator/frontend/onnx/importer/Extent.h"
#include "translator/frontend/onnx/importer/Scalars.h"
#include "translator/ir/Parts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ml2k::frontend {

using Ints = llvm::SmallVector<int64_t>;
using IntsRef = llvm::ArrayRef<int64_t>;
using Sizes = llvm::SmallVector<mlir::OpFoldResult>;
using SizesRef = llvm::ArrayRef<mlir::OpFoldResult>;
/// The formula of one element. f16 and bf16 elements come and go as f32.
using Formula = llvm::function_ref<mlir::Value(Scalars &, mlir::ValueRange)>;

class Build : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  Extents extents{*this};
  bool multipliesIntegers = true, loopsOverSteps = true; ///< as in ImportOptions

  /// Whether a constant of so many elements may be computed from others: a small file with many such nodes should not
  /// keep the translator busy.
  bool mayCompute(int64_t elements) {
    bool const may = elements <= computable;
    computable -= may ? elements : 0;
    return may;
  }

  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  static int64_t rankOf(mlir::Value value) { return typeOf(value).getRank(); }
  static mlir::Type elementOf(mlir::Value value) { return typeOf(value).getElementType(); }
  static IntsRef shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

  Sizes sizesOf(mlir::Value value);
  Sizes sizes(IntsRef shape);
  mlir::OpFoldResult sizeOf(mlir::Value value, int64_t dim);
  /// The same, to compute with or to compare.
  std::vector<Extent> extentsOf(mlir::Value value);
  Sizes sizesFor(llvm::ArrayRef<Extent> extents);
  mlir::Value scalar(mlir::Type type, double value);
  mlir::Value empty(SizesRef sizes, mlir::Type element);
  mlir::Value fill(SizesRef sizes, mlir::Value scalar);

  /// One loop per size, output at the loop positions. Integer formulas read `isUnsigned`.
  mlir::Value map(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::AffineMap> maps, SizesRef sizes,
                  mlir::Type element, Formula formula, bool isUnsigned = false);
  /// The same in place of `init`, whose elements are overwritten.
  mlir::Value mapInto(mlir::Value init, llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                      Formula formula, bool isUnsigned = false);
  /// Elementwise with numpy's broadcasting. One-element constants become scalars of the formula. Throws Refusal when
  /// the shapes do not fit.
  mlir::Value elementwise(llvm::ArrayRef<mlir::Value> inputs, mlir::Type element, Formula formula,
                          bool isUnsigned = false);
  /// The same, of the first input's element type.
  mlir::Value elementwise(llvm::ArrayRef<mlir::Value> inputs, Formula formula, bool isUnsigned = false) {
    return elementwise(inputs, elementOf(inputs[0]), formula, isUnsigned);
  }
  /// x with another float type.
  mlir::Value elementwiseCast(mlir::Value x, mlir::Type element);
  /// formula(x[..], v[position along axis]) for a vector over one axis of x.
  mlir::Value alongAxis(mlir::Value x, llvm::ArrayRef<mlir::Value> vectors, int64_t axis, Formula formula);

  enum class Fold { sum, product, max, min };
  /// Folds `term` (default: the element) over `axes`. f16 and bf16 accumulate in f32.
  mlir::Value reduce(mlir::Value x, IntsRef axes, bool keepDims, Fold fold, bool isUnsigned = false,
                     Formula term = nullptr);
  /// Folds `term` over the loops behind those of the result, whose sizes are given.
  mlir::Value foldOver(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::AffineMap> maps, SizesRef sizes,
                       mlir::Type element, Fold fold, Formula term, bool isUnsigned = false);
  /// The mean over `axes`, which are dropped. Integers round towards zero.
  mlir::Value mean(mlir::Value x, IntsRef axes, bool isUnsigned = false);
  /// y[.., i, ..] = the sum of x[.., i .. i + count - 1, ..] along `axis`; `sizes` are those of y.
  mlir::Value foldAlong(mlir::Value x, int64_t axis, int64_t count, SizesRef sizes);
  /// A tensor of the neutral element of a fold.
  mlir::Value initial(SizesRef sizes, mlir::Type element, Fold fold, bool isUnsigned = false);
  static mlir::Value combine(Scalars &s, Fold fold, mlir::Value l, mlir::Value r);

  /// Throws Refusal where the number of elements differs. Unknown extents keep their order, or are joined.
  mlir::Value reshape(mlir::Value x, IntsRef shape);
  /// The same to any sizes; where it is not known that the number of elements is the same, forward() checks that.
  mlir::Value reshapeTo(mlir::Value x, llvm::ArrayRef<Extent> shape);
  /// The same value as a tensor of a type that is known better, or less.
  mlir::Value casted(mlir::Value x, mlir::Type type);
  mlir::Value transpose(mlir::Value x, IntsRef permutation);
  /// Extents of 1 put in at `axes` (positions in the result).
  mlir::Value unsqueeze(mlir::Value x, IntsRef axes);
  mlir::Value squeeze(mlir::Value x, IntsRef axes);
  mlir::Value pad(mlir::Value x, IntsRef low, IntsRef high, mlir::Value scalar);
  mlir::Value slice(mlir::Value x, IntsRef offsets, IntsRef extents, IntsRef strides);
  mlir::Value sliceAt(mlir::Value x, llvm::ArrayRef<Extent> offsets, llvm::ArrayRef<Extent> counts, IntsRef strides);
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t offset, int64_t extent);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis);
  /// `x` repeated to a larger shape that it broadcasts to.
  mlir::Value broadcastTo(mlir::Value x, SizesRef sizes);
  /// a [m,k] times b [k,n] into zeros.
  mlir::Value matmul(mlir::Value a, mlir::Value b);
  /// The sum of products over all loops from `kept` on; the first `kept` loops are those of the result.
  mlir::Value contract(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::AffineMap> maps, SizesRef sizes,
                       int64_t kept);
  /// numpy's matmul for any ranks.
  mlir::Value matmulBroadcast(mlir::Value a, mlir::Value b);

  mlir::AffineMap identityMap(int64_t rank) { return getMultiDimIdentityMap(rank); }
  /// (d0, ..) -> (the named dimensions)
  mlir::AffineMap selectDims(int64_t rank, IntsRef dims);

private:
  int64_t computable = int64_t(1) << 21; ///< elements, in all

  mlir::Value generic(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::AffineMap> maps, mlir::Value init,
                      IntsRef reductionDims, bool isUnsigned,
                      llvm::function_ref<mlir::Value(Scalars &, mlir::ValueRange, mlir::Value)> body);
};

/// The extents that several shapes broadcast to. Throws Refusal.
Ints broadcastShape(llvm::ArrayRef<mlir::Value> values);

/// "[2,?,4]"
std::string shapeText(IntsRef shape);

/// f32 for f16 and bf16, else the type itself.
mlir::Type computeType(mlir::Type element);

/// What is built in its lifetime is a part of the node: `scores` of an attention.
class Part {
public:
  Part(Build &b, llvm::StringRef name) : b(b), whole(b.getLoc()) { b.setLoc(partOf(whole, name)); }
  Part(Part const &) = delete;
  ~Part() { b.setLoc(whole); }

private:
  Build &b;
  mlir::Location whole;
};

} // namespace ml2k::frontend

#endif
