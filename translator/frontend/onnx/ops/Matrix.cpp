//===- Matrix.cpp - operators of linear algebra: Det --------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/LoopNest.h"
#include "translator/frontend/onnx/importer/Registry.h"

#include <map>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {
/// One matrix of a stack [matrices, size, size] that elimination works on.
class Elimination {
public:
  Elimination(Build &b, Value matrix, int64_t size)
      : b(b), matrix(matrix), size(b.create<arith::ConstantIndexOp>(size)) {}

  /// The row from `step` down whose element in this column is the largest.
  Value pivotRow(Value stack, Value step) {
    Value const first = b.create<arith::AddIOp>(step, b.create<arith::ConstantIndexOp>(1));
    return loop(b, first, size, {step}, [&](Value row, ValueRange best) {
      Scalars s(b, b.getLoc(), false);
      Value const own = s.abs(element(stack, row, step)), largest = s.abs(element(stack, best[0], step));
      return Values{s.select(s.compare(Compare::gt, own, largest), row, best[0])};
    })[0];
  }

  Value exchanged(Value stack, Value step, Value row) {
    return loop(b, step, size, {stack}, [&](Value column, ValueRange now) {
      Value const upper = element(now[0], step, column), lower = element(now[0], row, column);
      return Values{set(set(now[0], lower, step, column), upper, row, column)};
    })[0];
  }

  /// Subtracts multiples of row `step` from those below it.
  Value eliminated(Value stack, Value step) {
    Value const first = b.create<arith::AddIOp>(step, b.create<arith::ConstantIndexOp>(1));
    return loop(b, first, size, {stack}, [&](Value row, ValueRange outer) {
      Scalars s(b, b.getLoc(), false);
      Value const factor = s.div(element(outer[0], row, step), element(outer[0], step, step));
      return loop(b, first, size, outer, [&](Value column, ValueRange now) {
        Scalars inner(b, b.getLoc(), false);
        Value const above = element(now[0], step, column), own = element(now[0], row, column);
        return Values{set(now[0], inner.sub(own, inner.mul(factor, above)), row, column)};
      });
    })[0];
  }

  Value element(Value stack, Value row, Value column) {
    return b.create<tensor::ExtractOp>(stack, ValueRange{matrix, row, column});
  }

private:
  Value set(Value stack, Value value, Value row, Value column) {
    return b.create<tensor::InsertOp>(value, stack, ValueRange{matrix, row, column});
  }

  Build &b;
  Value matrix, size;
};
} // namespace

//===--- Small matrices -------------------------------------------------------------------------------------------===//

constexpr int64_t small = 4; // a formula of 28 products

/// The determinant of the last rows of a matrix in as many of its columns, by the first of these rows.
class Minors {
public:
  Minors(Scalars &s, ValueRange elements, int64_t size) : s(s), elements(elements), size(size) {}

  Value of(unsigned columns) {
    if (auto const known = done.find(columns); known != done.end())
      return known->second;
    int64_t const row = size - llvm::popcount(columns);
    Value sum;
    bool isMinus = false;
    for (int64_t column = 0; column < size; ++column) {
      if (!(columns >> column & 1))
        continue;
      Value term = elements[row * size + column];
      if (unsigned const others = columns & ~(1U << column))
        term = s.mul(term, of(others));
      sum = !sum ? term : isMinus ? s.sub(sum, term) : s.add(sum, term);
      isMinus = !isMinus;
    }
    return done[columns] = sum;
  }

private:
  Scalars &s;
  ValueRange elements;
  int64_t size;
  std::map<unsigned, Value> done;
};

/// Of each matrix of [..., size, size].
static Value smallDeterminants(Build &b, Value matrices, int64_t size) {
  unsigned const outer = Build::rankOf(matrices) - 2;
  SmallVector<Value> inputs(size * size, matrices);
  SmallVector<AffineMap> maps;
  for (int64_t row = 0; row < size; ++row)
    for (int64_t column = 0; column < size; ++column) {
      SmallVector<AffineExpr> at;
      for (unsigned d = 0; d < outer; ++d)
        at.push_back(b.getAffineDimExpr(d));
      at.append({b.getAffineConstantExpr(row), b.getAffineConstantExpr(column)});
      maps.push_back(AffineMap::get(outer, 0, at, b.getContext()));
    }
  return b.map(inputs, maps, SizesRef(b.sizesOf(matrices)).drop_back(2), Build::elementOf(matrices),
               [&](Scalars &s, ValueRange elements) { return Minors(s, elements, size).of((1U << size) - 1); });
}

//===--- Det ------------------------------------------------------------------------------------------------------===//

/// A formula, or the product of the pivots of Gauss' elimination with the sign of the exchanges.
static void importDet(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  node.needRank(0, 2, 16);
  IntsRef const shape = node.shape(0), outer = shape.drop_back(2);
  int64_t const size = shape.back();
  if (shape[shape.size() - 2] != size)
    node.refuse("matrices of shape " + shapeText(shape) + " are not square");
  if (size >= 1 && size <= small) {
    Value const x = b.elementwiseCast(node.in(0), computeType(node.element(0)));
    return node.out(0, b.elementwiseCast(smallDeterminants(b, x, size), node.element(0)));
  }
  node.needStatic(0);
  int64_t matrices = 1;
  for (int64_t extent : outer)
    matrices *= extent;
  Type const type = computeType(node.element(0));
  Value const stack = b.elementwiseCast(b.reshape(node.in(0), {matrices, size, size}), type);
  Value const ones = b.fill(b.sizes({matrices}), b.scalar(type, 1));
  Values const done = loopNest(b, b.sizes({matrices, size}), {stack, ones}, [&](ValueRange at, ValueRange carried) {
    Elimination elimination(b, at[0], size);
    Value const row = elimination.pivotRow(carried[0], at[1]);
    Scalars s(b, b.getLoc(), false);
    Value const pivot = elimination.element(carried[0], row, at[1]);
    Value const before = s.create<tensor::ExtractOp>(carried[1], at[0]);
    Value const isMoved = s.compare(Compare::ne, row, at[1]);
    Value const product = s.mul(before, s.select(isMoved, s.neg(pivot), pivot));
    Value const products = s.create<tensor::InsertOp>(product, carried[1], at[0]);
    // Of a singular matrix the rest does not matter
    return when(b, s.compare(Compare::ne, pivot, s.constantLike(pivot, 0)), {carried[0], products}, [&] {
      Value const upright = elimination.exchanged(carried[0], at[1], row);
      return Values{elimination.eliminated(upright, at[1]), products};
    });
  });
  node.out(0, b.elementwiseCast(b.reshape(done[1], outer), node.element(0)));
}

void registerMatrix(Registry &table) { table.add("Det", {11, 22}, importDet); }

} // namespace ml2k::frontend
