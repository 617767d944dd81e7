//===- Build.cpp - linalg operations from shapes and formulas -----------------------------------------------------===//

#include "translator/frontend/onnx/importer/Build.h"
#include "translator/frontend/onnx/importer/Refusal.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

Type computeType(Type element) {
  return isa<Float16Type, BFloat16Type>(element) ? Float32Type::get(element.getContext()) : element;
}

Sizes Build::sizesOf(Value value) {
  Sizes sizes;
  for (int64_t dim = 0; dim < rankOf(value); ++dim)
    sizes.push_back(sizeOf(value, dim));
  return sizes;
}

OpFoldResult Build::sizeOf(Value value, int64_t dim) { return extents.size(extents.of(value, dim)); }

std::vector<Extent> Build::extentsOf(Value value) {
  std::vector<Extent> all;
  for (int64_t dim = 0; dim < rankOf(value); ++dim)
    all.push_back(extents.of(value, dim));
  return all;
}

Sizes Build::sizesFor(ArrayRef<Extent> all) {
  return llvm::map_to_vector<6>(all, [&](Extent const &extent) { return extents.size(extent); });
}

Sizes Build::sizes(IntsRef shape) { return getAsIndexOpFoldResult(getContext(), shape); }

Value Build::scalar(Type type, double value) {
  return Scalars(*this, getLoc(), /*isUnsigned=*/false).constant(type, value);
}

Value Build::empty(SizesRef sizes, Type element) { return create<tensor::EmptyOp>(sizes, element); }

Value Build::fill(SizesRef sizes, Value scalar) {
  Value const init = empty(sizes, scalar.getType());
  return create<linalg::FillOp>(scalar, init).getResult(0);
}

AffineMap Build::selectDims(int64_t rank, IntsRef dims) {
  llvm::SmallVector<AffineExpr> exprs;
  for (int64_t dim : dims)
    exprs.push_back(getAffineDimExpr(dim));
  return AffineMap::get(rank, 0, exprs, getContext());
}

Value Build::generic(ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, Value init, IntsRef reductionDims,
                     bool isUnsigned, llvm::function_ref<Value(Scalars &, ValueRange, Value)> body) {
  llvm::SmallVector<utils::IteratorType> iterators(maps.back().getNumDims(), utils::IteratorType::parallel);
  for (int64_t dim : reductionDims)
    iterators[dim] = utils::IteratorType::reduction;
  auto build = [&](OpBuilder &nested, Location loc, ValueRange args) {
    Scalars s(nested, loc, isUnsigned);
    llvm::SmallVector<Value> terms;
    for (Value arg : args.drop_back())
      terms.push_back(s.convert(arg, computeType(arg.getType())));
    Value const result = body(s, terms, args.back());
    nested.create<linalg::YieldOp>(loc, s.convert(result, args.back().getType()));
  };
  return create<linalg::GenericOp>(TypeRange(init.getType()), inputs, ValueRange(init), maps, iterators, build)
      .getResult(0);
}

Value Build::map(ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, SizesRef sizes, Type element, Formula formula,
                 bool isUnsigned) {
  return mapInto(empty(sizes, element), inputs, maps, formula, isUnsigned);
}

Value Build::mapInto(Value init, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, Formula formula, bool isUnsigned) {
  llvm::SmallVector<AffineMap> all(maps);
  all.push_back(identityMap(rankOf(init)));
  return generic(inputs, all, init, {}, isUnsigned,
                 [&](Scalars &s, ValueRange args, Value) { return formula(s, args); });
}

//===--- Broadcasting ---------------------------------------------------------------------------------------------===//

static int64_t broadcastExtent(int64_t l, int64_t r) {
  if (l == 1 || l == r)
    return r;
  if (r == 1 || ShapedType::isDynamic(r))
    return l;
  if (ShapedType::isDynamic(l))
    return r;
  throw Refusal("extents " + Twine(l) + " and " + Twine(r) + " do not broadcast");
}

Ints broadcastShape(ArrayRef<Value> values) {
  Ints shape;
  for (Value value : values) {
    IntsRef const next = Build::shapeOf(value);
    if (next.size() > shape.size())
      shape.insert(shape.begin(), next.size() - shape.size(), 1);
    for (auto [extent, other] : llvm::zip(llvm::reverse(shape), llvm::reverse(next)))
      extent = broadcastExtent(extent, other);
  }
  return shape;
}

/// Where an operand is read: loops of the trailing dimensions, 0 where its extent is 1.
static AffineMap broadcastMap(Build &b, Value value, IntsRef shape) {
  IntsRef const own = Build::shapeOf(value);
  size_t const lead = shape.size() - own.size();
  llvm::SmallVector<AffineExpr> exprs;
  for (auto [i, extent] : llvm::enumerate(own))
    exprs.push_back(extent == 1 && shape[lead + i] != 1 ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(lead + i));
  return AffineMap::get(shape.size(), 0, exprs, b.getContext());
}

/// The sizes of a broadcast. Extents that are known at run time only have to be equal: none of them is taken as 1.
static Sizes broadcastSizes(Build &b, ArrayRef<Value> values, IntsRef shape) {
  Sizes sizes;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    Extent common = ShapedType::isDynamic(shape[dim]) ? 1 : shape[dim];
    for (Value value : values) {
      int64_t const own = static_cast<int64_t>(dim) - static_cast<int64_t>(shape.size()) + Build::rankOf(value);
      if (own < 0 || Build::shapeOf(value)[own] == 1)
        continue;
      Extent const extent = b.extents.of(value, own);
      if (common == Extent(1))
        common = extent;
      b.extents.requireEqual(extent, common);
    }
    sizes.push_back(b.extents.size(common));
  }
  return sizes;
}

/// The element of a constant that has only one.
static Attribute oneElement(Value value) {
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || constant.getNumElements() != 1)
    return {};
  return *constant.getValues<Attribute>().begin();
}

Value Build::elementwise(ArrayRef<Value> inputs, Type element, Formula formula, bool isUnsigned) {
  Ints const shape = broadcastShape(inputs);
  llvm::SmallVector<Value> operands, scalars(inputs.size());
  llvm::SmallVector<AffineMap> maps;
  bool const isScalar = llvm::all_of(shape, [](int64_t extent) { return extent == 1; });
  for (auto [input, constant] : llvm::zip(inputs, scalars)) {
    Attribute const value = isScalar || !Build::typeOf(input).hasStaticShape() ? Attribute() : oneElement(input);
    if (value) {
      constant = create<arith::ConstantOp>(cast<TypedAttr>(value));
      continue;
    }
    operands.push_back(input);
    maps.push_back(broadcastMap(*this, input, shape));
  }
  auto withScalars = [&](Scalars &s, ValueRange args) {
    llvm::SmallVector<Value> all;
    for (Value constant : scalars) {
      all.push_back(constant ? s.convert(constant, computeType(constant.getType())) : args.front());
      if (!constant)
        args = args.drop_front();
    }
    return formula(s, all);
  };
  return map(operands, maps, broadcastSizes(*this, inputs, shape), element, withScalars, isUnsigned);
}

Value Build::alongAxis(Value x, ArrayRef<Value> vectors, int64_t axis, Formula formula) {
  llvm::SmallVector<Value> inputs{x};
  llvm::SmallVector<AffineMap> maps{identityMap(rankOf(x))};
  for (Value vector : vectors) {
    if (rankOf(vector) != 1)
      throw Refusal("a tensor of shape " + shapeText(shapeOf(vector)) + " where a vector is needed");
    Extent const extent = extents.of(x, axis), own = extents.of(vector, 0);
    if (own.number() && extent.number() && !(own == extent))
      throw Refusal("a vector of " + Twine(*own.number()) + " elements over an axis of " + Twine(*extent.number()));
    extents.requireEqual(own, extent);
    inputs.push_back(vector);
    maps.push_back(selectDims(rankOf(x), {axis}));
  }
  return map(inputs, maps, sizesOf(x), elementOf(x), formula);
}

Value Build::broadcastTo(Value x, SizesRef sizes) {
  Ints shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return map({x}, {broadcastMap(*this, x, shape)}, sizes, elementOf(x), [](Scalars &, ValueRange v) { return v[0]; });
}

//===--- Reductions -----------------------------------------------------------------------------------------------===//

Value Build::combine(Scalars &s, Fold fold, Value l, Value r) {
  switch (fold) {
  case Fold::sum:
    return s.add(l, r);
  case Fold::product:
    return s.mul(l, r);
  case Fold::max:
    return s.max(l, r);
  case Fold::min:
    return s.min(l, r);
  }
  llvm_unreachable("every fold is named above");
}

Value Build::initial(SizesRef sizes, Type element, Fold fold, bool isUnsigned) {
  Scalars s(*this, getLoc(), isUnsigned);
  switch (fold) {
  case Fold::sum:
    return fill(sizes, s.constant(element, 0));
  case Fold::product:
    return fill(sizes, s.constant(element, 1));
  case Fold::max:
    return fill(sizes, s.lowest(element));
  case Fold::min:
    return fill(sizes, s.highest(element));
  }
  llvm_unreachable("every fold is named above");
}

Value Build::elementwiseCast(Value x, Type element) {
  return elementOf(x) == element
             ? x
             : elementwise({x}, element, [&](Scalars &s, ValueRange v) { return s.convert(v[0], element); });
}

Value Build::reduce(Value x, IntsRef axes, bool keepDims, Fold fold, bool isUnsigned, Formula term) {
  Ints kept;
  Sizes sizes;
  for (int64_t dim = 0; dim < rankOf(x); ++dim)
    if (!llvm::is_contained(axes, dim)) {
      kept.push_back(dim);
      sizes.push_back(sizeOf(x, dim));
    }
  Type const accumulator = computeType(elementOf(x));
  Value result = generic(
      {x}, {identityMap(rankOf(x)), selectDims(rankOf(x), kept)}, initial(sizes, accumulator, fold, isUnsigned), axes,
      isUnsigned, [&](Scalars &s, ValueRange v, Value acc) { return combine(s, fold, term ? term(s, v) : v[0], acc); });
  result = elementwiseCast(result, elementOf(x));
  return keepDims ? unsqueeze(result, axes) : result;
}

Value Build::foldOver(ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, SizesRef sizes, Type element, Fold fold,
                      Formula term, bool isUnsigned) {
  int64_t const kept = sizes.size(), loops = maps[0].getNumDims();
  llvm::SmallVector<AffineMap> all(maps);
  all.push_back(selectDims(loops, llvm::to_vector(llvm::seq<int64_t>(0, kept))));
  Value const result = generic(inputs, all, initial(sizes, computeType(element), fold, isUnsigned),
                               llvm::to_vector(llvm::seq<int64_t>(kept, loops)), isUnsigned,
                               [&](Scalars &s, ValueRange v, Value acc) { return combine(s, fold, term(s, v), acc); });
  return elementwiseCast(result, element);
}

Value Build::mean(Value x, IntsRef axes, bool isUnsigned) {
  Value const sum = reduce(x, axes, /*keepDims=*/false, Fold::sum, isUnsigned);
  Value count; // of type index, where it is not known
  int64_t known = 1;
  for (int64_t axis : axes) {
    if (!ShapedType::isDynamic(shapeOf(x)[axis])) {
      known *= shapeOf(x)[axis];
      continue;
    }
    Value const extent = getValueOrCreateConstantIndexOp(*this, getLoc(), sizeOf(x, axis));
    count = count ? create<arith::MulIOp>(count, extent).getResult() : extent;
  }
  return elementwise(
      sum,
      [&](Scalars &s, ValueRange v) {
        Value const constant = s.constantLike(v[0], static_cast<double>(known));
        if (!count)
          return s.div(v[0], constant);
        Value const number = s.create<arith::IndexCastOp>(s.b.getI64Type(), count);
        return s.div(v[0], s.mul(s.convert(number, v[0].getType()), constant));
      },
      isUnsigned);
}

Value Build::foldAlong(Value x, int64_t axis, int64_t count, SizesRef sizes) {
  int64_t const rank = rankOf(x);
  llvm::SmallVector<AffineExpr> read;
  for (int64_t dim = 0; dim < rank; ++dim)
    read.push_back(getAffineDimExpr(dim) + (dim == axis ? getAffineDimExpr(rank) : getAffineConstantExpr(0)));
  // The second input has no elements that matter: it gives the window its extent
  Value const taps = empty(this->sizes({count}), elementOf(x));
  Value const init = initial(sizes, computeType(elementOf(x)), Fold::sum);
  Value const sum =
      generic({x, taps},
              {AffineMap::get(rank + 1, 0, read, getContext()), selectDims(rank + 1, {rank}),
               selectDims(rank + 1, llvm::to_vector(llvm::seq<int64_t>(0, rank)))},
              init, {rank}, /*isUnsigned=*/false, [](Scalars &s, ValueRange v, Value acc) { return s.add(v[0], acc); });
  return elementwiseCast(sum, elementOf(x));
}

//===--- Products -------------------------------------------------------------------------------------------------===//

Value Build::matmul(Value l, Value r) {
  Type const element = computeType(elementOf(l));
  extents.requireEqual(extents.of(l, 1), extents.of(r, 0));
  Value const init = initial({sizeOf(l, 0), sizeOf(r, 1)}, element, Fold::sum);
  Value const product = create<linalg::MatmulOp>(ValueRange{l, r}, ValueRange{init}).getResult(0);
  return elementwiseCast(product, elementOf(l));
}

Value Build::matmulBroadcast(Value l, Value r) {
  if (rankOf(l) == 2 && rankOf(r) == 2)
    return matmul(l, r);
  if (rankOf(r) == 2 && llvm::count(shapeOf(l).drop_back(), ShapedType::kDynamic) > 1) {
    // Rows of several unknown extents are one extent: sizes cannot be split later
    std::vector<Extent> result = extentsOf(l);
    Extent rows = 1;
    for (Extent const &extent : ArrayRef(result).drop_back())
      rows = rows * extent;
    Value const product = matmul(reshapeTo(l, {rows, result.back()}), r);
    result.back() = extents.of(r, 1);
    return reshapeTo(product, result);
  }
  bool const hasM = rankOf(l) > 1, hasN = rankOf(r) > 1;
  int64_t const leadL = std::max<int64_t>(rankOf(l) - 2, 0), leadR = std::max<int64_t>(rankOf(r) - 2, 0);
  int64_t const lead = std::max(leadL, leadR), m = lead, n = m + hasM, k = n + hasN, loops = k + 1;
  Sizes sizes(lead);
  llvm::SmallVector<AffineExpr> mapL, mapR;
  auto batchOf = [&](int64_t own, int64_t dim) { return dim - (lead - own) >= 0 ? dim - (lead - own) : -1; };
  for (int64_t dim = 0; dim < lead; ++dim) {
    int64_t const dimL = batchOf(leadL, dim), dimR = batchOf(leadR, dim);
    int64_t const extentL = dimL < 0 ? 1 : shapeOf(l)[dimL], extentR = dimR < 0 ? 1 : shapeOf(r)[dimR];
    int64_t const extent = broadcastExtent(extentL, extentR);
    bool const isOfL = dimL >= 0 && extentL == extent;
    sizes[dim] = isOfL ? sizeOf(l, dimL) : sizeOf(r, dimR);
    if (isOfL && extentR != 1)
      extents.requireEqual(extents.of(l, dimL), extents.of(r, dimR));
    auto position = [&](int64_t own) {
      return own == 1 && extent != 1 ? getAffineConstantExpr(0) : getAffineDimExpr(dim);
    };
    if (dimL >= 0)
      mapL.push_back(position(extentL));
    if (dimR >= 0)
      mapR.push_back(position(extentR));
  }
  if (hasM) {
    mapL.push_back(getAffineDimExpr(m));
    sizes.push_back(sizeOf(l, rankOf(l) - 2));
  }
  mapL.push_back(getAffineDimExpr(k));
  mapR.push_back(getAffineDimExpr(k));
  extents.requireEqual(extents.of(l, rankOf(l) - 1), extents.of(r, std::max<int64_t>(rankOf(r) - 2, 0)));
  if (hasN) {
    mapR.push_back(getAffineDimExpr(n));
    sizes.push_back(sizeOf(r, rankOf(r) - 1));
  }
  auto toMap = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(loops, 0, exprs, getContext()); };
  return contract({l, r}, {toMap(mapL), toMap(mapR)}, sizes, k);
}

Value Build::contract(ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, SizesRef sizes, int64_t kept) {
  int64_t const loops = maps[0].getNumDims();
  Type const element = elementOf(inputs[0]);
  llvm::SmallVector<AffineMap> all(maps);
  all.push_back(selectDims(loops, llvm::to_vector(llvm::seq<int64_t>(0, kept))));
  Value const sum = generic(inputs, all, initial(sizes, computeType(element), Fold::sum),
                            llvm::to_vector(llvm::seq<int64_t>(kept, loops)), /*isUnsigned=*/false,
                            [](Scalars &s, ValueRange v, Value acc) {
                              Value product = v[0];
                              for (Value factor : v.drop_front())
                                product = s.mul(product, factor);
                              return s.add(acc, product);
                            });
  return elementwiseCast(sum, element);
}

} // namespace ml2k::frontend
