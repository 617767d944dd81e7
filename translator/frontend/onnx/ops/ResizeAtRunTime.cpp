//===- ResizeAtRunTime.cpp - Resize of axes whose extents are known at run time only ------------------------------===//
//
// As in Resize.cpp, but for formulas in place of tables: where an output lies in the input, which elements are around
// there, and how much each of them counts.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/ops/Resize.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {

/// The formulas for one output element, in double precision as the tables are.
class TapFormulas {
public:
  TapFormulas(Scalars &s, ResizeMode const &mode, Value from, Value to, std::optional<double> scale)
      : s(s), mode(mode), from(from), to(to), fromReal(real(from)), toReal(real(to)),
        scale(scale ? number(*scale) : s.div(toReal, fromReal)) {}

  Value coordinate(Value position);
  Value nearest(Value x);
  Value floor(Value x) { return s.create<math::FloorOp>(x); }
  Value number(double value) { return s.constant(s.b.getF64Type(), value); }
  Value weight(Value distance);
  Value isOutside(Value at);
  Value position(Value at);

private:
  Value real(Value index) {
    Value const integer = s.create<arith::IndexCastOp>(s.b.getI64Type(), index);
    return s.create<arith::SIToFPOp>(s.b.getF64Type(), integer);
  }
  Value centred(Value x) { return s.sub(s.div(s.add(x, number(0.5)), scale), number(0.5)); }
  Value last() { return s.create<arith::SubIOp>(from, s.index(1)); }
  Value cubic(Value x);

  Scalars &s;
  ResizeMode const &mode;
  Value from, to, fromReal, toReal, scale;
};

} // namespace

/// The place in the input of an output position.
Value TapFormulas::coordinate(Value position) {
  Value const x = real(position), isSingle = s.compare(Compare::eq, to, s.index(1));
  if (mode.coordinates == "half_pixel")
    return centred(x);
  if (mode.coordinates == "asymmetric")
    return s.div(x, scale);
  if (mode.coordinates == "pytorch_half_pixel")
    return s.select(isSingle, number(0), centred(x));
  if (mode.coordinates == "tf_half_pixel_for_nn")
    return s.div(s.add(x, number(0.5)), scale);
  Value const exact = s.mul(scale, fromReal); // may have a fraction, which the specification keeps
  if (mode.coordinates == "align_corners") {
    Value const pace = s.div(s.sub(fromReal, number(1)), s.sub(exact, number(1)));
    return s.select(isSingle, number(0), s.mul(x, pace));
  }
  Value const share = s.sub(number(1), s.div(toReal, exact)); // half_pixel_symmetric
  return s.add(s.mul(s.div(fromReal, number(2)), share), centred(x));
}

Value TapFormulas::nearest(Value x) {
  if (mode.nearest == "round_prefer_floor")
    return s.create<math::CeilOp>(s.sub(x, number(0.5)));
  if (mode.nearest == "round_prefer_ceil")
    return floor(s.add(x, number(0.5)));
  return mode.nearest == "floor" ? floor(x) : s.create<math::CeilOp>(x);
}

/// Keys' kernel at distance x.
Value TapFormulas::cubic(Value x) {
  double const a = mode.cubicCoefficient;
  auto const polynomial = [&](std::initializer_list<double> factors) {
    Value sum;
    for (double const factor : factors)
      sum = sum ? s.add(s.mul(sum, x), number(factor)) : number(factor);
    return sum;
  };
  Value const near = polynomial({a + 2, -(a + 3), 0, 1}), far = polynomial({a, -5 * a, 8 * a, -4 * a});
  Value const isNear = s.compare(Compare::le, x, number(1)), isFar = s.compare(Compare::lt, x, number(2));
  return s.select(isNear, near, s.select(isFar, far, number(0)));
}

Value TapFormulas::weight(Value distance) {
  Value const x = s.abs(distance);
  return mode.kind == "linear" ? s.max(s.sub(number(1), x), number(0)) : cubic(x);
}

Value TapFormulas::isOutside(Value at) {
  return s.create<arith::OrIOp>(s.compare(Compare::lt, at, number(0)), s.compare(Compare::ge, at, fromReal));
}

/// A place as an index; what lies outside is at the edge.
Value TapFormulas::position(Value at) {
  Value const integer = s.create<arith::FPToSIOp>(s.b.getI64Type(), at);
  Value const index = s.create<arith::IndexCastOp>(s.b.getIndexType(), integer);
  return s.create<arith::MinSIOp>(s.create<arith::MaxSIOp>(index, s.index(0)), last());
}

static void checkSupported(Node &node, ResizeMode const &mode) {
  StringRef const known[] = {"half_pixel",           "asymmetric",           "pytorch_half_pixel",
                             "tf_half_pixel_for_nn", "half_pixel_symmetric", "align_corners"};
  if (!llvm::is_contained(known, mode.coordinates))
    node.refuse("coordinate_transformation_mode \"" + mode.coordinates + "\" needs known extents; give them by --dim");
  if (mode.antialias)
    node.refuse("antialias needs known extents; give them by --dim");
}

Value resizeAtRunTime(Node &node, Value x, int64_t axis, ResizeMode const &mode, Extent const &to,
                      std::optional<double> scale) {
  checkSupported(node, mode);
  Build &b = node.b;
  Extent const from = b.extents.of(x, axis);
  b.extents.requireAtLeast(from, 1);
  b.extents.requireAtLeast(to, 0);
  std::vector<Extent> extents = b.extentsOf(x);
  extents[axis] = to;
  OpFoldResult const fromSize = b.extents.size(from), toSize = b.extents.size(to);
  Type const element = computeType(Build::elementOf(x));
  int64_t const taps = mode.kind == "nearest" ? 1 : mode.kind == "linear" ? 2 : 4;
  return b.map({}, {}, b.sizesFor(extents), Build::elementOf(x), [&](Scalars &s, ValueRange) -> Value {
    auto const index = [&s](OpFoldResult size) { return getValueOrCreateConstantIndexOp(s.b, s.b.getLoc(), size); };
    TapFormulas formulas(s, mode, index(fromSize), index(toSize), scale);
    llvm::SmallVector<Value> at;
    for (size_t dim = 0; dim < extents.size(); ++dim)
      at.push_back(s.create<linalg::IndexOp>(static_cast<int64_t>(dim)));
    Value const place = formulas.coordinate(at[axis]);
    auto const read = [&](Value where) {
      at[axis] = formulas.position(where);
      return s.convert(s.create<tensor::ExtractOp>(x, at), element);
    };
    if (taps == 1)
      return read(formulas.nearest(place));
    Value const below = formulas.floor(place);
    Value sum, total;
    for (int64_t tap = 0; tap < taps; ++tap) {
      Value const where = s.add(below, formulas.number(static_cast<double>(tap + 1 - taps / 2)));
      Value weight = formulas.weight(s.sub(where, place));
      if (mode.excludeOutside)
        weight = s.select(formulas.isOutside(where), formulas.number(0), weight);
      total = total ? s.add(total, weight) : weight;
      Value const term = s.mul(s.convert(weight, element), read(where));
      sum = sum ? s.add(sum, term) : term;
    }
    return mode.excludeOutside ? s.div(sum, s.convert(total, element)) : sum;
  });
}

} // namespace ml2k::frontend
