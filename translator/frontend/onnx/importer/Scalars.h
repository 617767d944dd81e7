//===- Scalars.h - scalar arithmetic in the bodies of linalg operations ---------------------------------*- C++ -*-===//
//
// One vocabulary for floats, signed and unsigned integers, so that an import function states its formula once.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_SCALARS_H
#define ML2K_FRONTEND_ONNX_IMPORTER_SCALARS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ml2k::frontend {

/// Numeric order; `ne` is true of NaN, the others are false of it.
enum class Compare { eq, ne, lt, le, gt, ge };

class Scalars {
public:
  Scalars(mlir::OpBuilder &builder, mlir::Location loc, bool isUnsigned) : b(loc, builder), isUnsigned(isUnsigned) {}

  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constantLike(mlir::Value like, double value) { return constant(like.getType(), value); }
  /// The lowest (highest) value of a type, an infinity for floats: the neutral element of max (min).
  mlir::Value lowest(mlir::Type type);
  mlir::Value highest(mlir::Type type);
  mlir::Value index(int64_t value) { return create<mlir::arith::ConstantIndexOp>(value); }

  mlir::Value add(mlir::Value l, mlir::Value r);
  mlir::Value sub(mlir::Value l, mlir::Value r);
  mlir::Value mul(mlir::Value l, mlir::Value r);
  /// Integers round towards zero.
  mlir::Value div(mlir::Value l, mlir::Value r);
  /// The remainder with the sign of the dividend.
  mlir::Value remainder(mlir::Value l, mlir::Value r);
  /// NaN propagates.
  mlir::Value max(mlir::Value l, mlir::Value r);
  mlir::Value min(mlir::Value l, mlir::Value r);
  mlir::Value neg(mlir::Value x);
  mlir::Value abs(mlir::Value x);
  mlir::Value logicalNot(mlir::Value x);
  mlir::Value compare(Compare how, mlir::Value l, mlir::Value r);
  mlir::Value select(mlir::Value condition, mlir::Value l, mlir::Value r);
  /// As ONNX's Cast: to integers by truncation, to bool by comparison with zero. `isUnsigned` of this object says how
  /// to read an integer `x`, `toUnsigned` how to write one.
  mlir::Value convert(mlir::Value x, mlir::Type to, bool toUnsigned = false);
  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  /// 1 / (1 + exp(-x))
  mlir::Value sigmoid(mlir::Value x);

  template <typename Op, typename... Args> mlir::Value create(Args &&...args) {
    return b.create<Op>(std::forward<Args>(args)...);
  }
  static bool isFloat(mlir::Value x) { return mlir::isa<mlir::FloatType>(x.getType()); }

  mlir::ImplicitLocOpBuilder b;
  bool isUnsigned;

private:
  mlir::Value convertToInteger(mlir::Value x, mlir::Type to, bool toUnsigned);
};

} // namespace ml2k::frontend

#endif
