//===- Pooling.cpp - pools over windows and over whole images, Col2Im ---------------------------------------------===//

#include "translator/frontend/onnx/importer/LoopNest.h"
#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Window.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ml2k::frontend {

/// Loops of a fold over windows: those of the result, then the taps; where x is read there, and the taps' own map.
static std::pair<AffineMap, AffineMap> windowMaps(Build &b, Window const &window) {
  int64_t const spatial = window.kernel.size(), outer = 2 + spatial, loops = outer + spatial;
  llvm::SmallVector<AffineExpr> read{b.getAffineDimExpr(0), b.getAffineDimExpr(1)}, tap;
  for (int64_t i = 0; i < spatial; ++i) {
    tap.push_back(b.getAffineDimExpr(outer + i));
    read.push_back(b.getAffineDimExpr(2 + i) * window.strides[i] + tap.back() * window.dilations[i]);
  }
  return {AffineMap::get(loops, 0, read, b.getContext()), AffineMap::get(loops, 0, tap, b.getContext())};
}

/// The order in which the loops of a result's dimensions store it: volumes have channels last, as what convolves them
/// reads and writes.
static Ints resultOrder(int64_t spatial) {
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, 2 + spatial));
  if (spatial == 3)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

/// Folds a window of x, which has been padded, in one to three spatial dimensions. `x` may be one-dimensional.
static Value foldWindow(Build &b, Value x, Window const &window, Build::Fold fold, bool isUnsigned) {
  int64_t const spatial = window.kernel.size();
  Type const element = computeType(Build::elementOf(x));
  Sizes sizes{b.sizeOf(x, 0), b.sizeOf(x, 1)};
  sizes.append(window.outputSizes(b, x));
  Sizes const stored = llvm::map_to_vector(resultOrder(spatial), [&](int64_t dim) { return sizes[dim]; });
  Value const init = b.initial(stored, element, fold, isUnsigned);
  Value const taps = b.empty(b.sizes(window.kernel), element);
  if (spatial == 2 && !isUnsigned && element == Build::elementOf(x)) {
    auto const strides = b.getI64VectorAttr(window.strides), dilations = b.getI64VectorAttr(window.dilations);
    SmallVector<Value, 2> const inputs{x, taps};
    if (fold == Build::Fold::max)
      return b.create<linalg::PoolingNchwMaxOp>(TypeRange(init.getType()), inputs, init, strides, dilations)
          .getResult(0);
    return b.create<linalg::PoolingNchwSumOp>(TypeRange(init.getType()), inputs, init, strides, dilations).getResult(0);
  }
  int64_t const outer = 2 + spatial, loops = outer + spatial;
  auto const [read, tap] = windowMaps(b, window);
  llvm::SmallVector<AffineMap> const maps{read, tap, b.selectDims(loops, resultOrder(spatial))};
  llvm::SmallVector<utils::IteratorType> iterators(outer, utils::IteratorType::parallel);
  iterators.append(spatial, utils::IteratorType::reduction);
  Value const folded =
      b.create<linalg::GenericOp>(TypeRange(init.getType()), ValueRange{x, taps}, ValueRange{init}, maps, iterators,
                                  [&](OpBuilder &nested, Location loc, ValueRange v) {
                                    Scalars s(nested, loc, isUnsigned);
                                    Value const term = s.convert(v[0], element);
                                    nested.create<linalg::YieldOp>(loc, Build::combine(s, fold, term, v[2]));
                                  })
          .getResult(0);
  return spatial == 3 ? b.transpose(folded, {0, 4, 1, 2, 3}) : folded;
}

/// The number of taps inside the image (and, if they count, inside its pads) of the window at an output position.
static Value countTaps(Scalars &s, Window const &window, SizesRef begins, SizesRef ends) {
  Value count;
  for (auto [i, first, last] : llvm::enumerate(begins, ends)) {
    auto const index = [&s](OpFoldResult place) { return getValueOrCreateConstantIndexOp(s.b, s.b.getLoc(), place); };
    Value const position = s.create<linalg::IndexOp>(static_cast<int64_t>(2 + i));
    Value const begin = s.create<arith::MulIOp>(position, s.index(window.strides[i]));
    Value inside;
    if (int64_t const dilation = window.dilations[i]; dilation == 1) {
      Value const end = s.create<arith::AddIOp>(begin, s.index(window.kernel[i]));
      inside = s.create<arith::SubIOp>(s.create<arith::MinSIOp>(end, index(last)),
                                       s.create<arith::MaxSIOp>(begin, index(first)));
    } else { // taps before an end: as many as there are whole steps up to it, rounded up
      auto before = [&](OpFoldResult place) -> Value {
        Value const distance = s.create<arith::SubIOp>(index(place), begin);
        Value const steps = s.create<arith::CeilDivSIOp>(distance, s.index(dilation));
        Value const some = s.create<arith::MaxSIOp>(steps, s.index(0));
        return s.create<arith::MinSIOp>(some, s.index(window.kernel[i]));
      };
      inside = s.create<arith::SubIOp>(before(last), before(first));
    }
    count = count ? s.create<arith::MulIOp>(count, inside) : inside;
  }
  return count;
}

/// Sum over the window divided by the number of taps that count.
static Value divideByCount(Node &node, Value sum, Window const &window, bool countPads) {
  auto isZero = [](int64_t value) { return value == 0; };
  bool const isUnpadded = llvm::all_of(window.low, isZero) && llvm::all_of(window.high, isZero) && window.open.empty();
  bool const isPlain = llvm::all_of(window.overhang, isZero) && (countPads || isUnpadded);
  double taps = 1;
  for (int64_t extent : window.kernel)
    taps *= static_cast<double>(extent);
  if (isPlain)
    return node.b.elementwise(sum, node.element(0),
                              [&](Scalars &s, ValueRange v) { return s.div(v[0], s.constantLike(v[0], taps)); });
  std::vector<Extent> extents = node.extents(0);
  extents.erase(extents.begin(), extents.begin() + 2);
  if (extents.size() < window.kernel.size())
    extents.insert(extents.begin(), 1);
  Sizes begins, ends; // of what counts, in the padded image
  for (auto [i, extent] : llvm::enumerate(extents)) {
    auto const [before, after] = window.open.empty() ? std::pair<Extent, Extent>() : window.open[i];
    Extent const low = before + window.low[i], behind = after + (window.high[i] - window.overhang[i]);
    begins.push_back(node.b.extents.size(countPads ? Extent(0) : low));
    ends.push_back(node.b.extents.size(extent + low + (countPads ? behind : Extent(0))));
  }
  return node.b.elementwise(sum, node.element(0), [&](Scalars &s, ValueRange v) {
    Value const count = s.create<arith::IndexCastOp>(s.b.getI32Type(), countTaps(s, window, begins, ends));
    return s.div(v[0], s.create<arith::SIToFPOp>(v[0].getType(), count));
  });
}

static Window poolWindow(Node &node) {
  node.needRank(0, 3, 5);
  auto const kernel = node.intsAttr("kernel_shape");
  if (!kernel || kernel->size() != node.shape(0).size() - 2)
    node.refuse("attribute kernel_shape with one extent per spatial dimension is needed");
  return Window::of(node, *kernel);
}

/// A one-dimensional pool is one over a single row.
static Value withRow(Node &node, Window &window) {
  if (node.rank(0) != 3)
    return node.in(0);
  window.addRow();
  return node.b.unsqueeze(node.in(0), {2});
}

static Value withoutRow(Node &node, Value y) { return node.rank(0) == 3 ? node.b.squeeze(y, {2}) : y; }

/// Where in the input, counted as one row of elements, the first of the largest elements y of each window stands. x has
/// been padded.
static Value maxIndices(Node &node, Value x, Value y, Window const &window) {
  Build &b = node.b;
  node.needStatic(0);
  int64_t const spatial = window.kernel.size(), loops = 2 + 2 * spatial;
  Ints extents(node.shape(0).drop_front(2));
  extents.insert(extents.begin(), spatial - extents.size(), 1);
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, spatial));
  if (node.intAttr("storage_order", 0))
    std::reverse(order.begin(), order.end());
  auto const [read, tap] = windowMaps(b, window);
  AffineMap const result = b.selectDims(loops, llvm::to_vector(llvm::seq<int64_t>(0, 2 + spatial)));
  Value const taps = b.empty(b.sizes(window.kernel), Build::elementOf(x));
  Type const i64 = b.getI64Type();
  auto place = [&](Scalars &s, ValueRange v) -> Value {
    auto loop = [&](int64_t dim) -> Value { return s.create<linalg::IndexOp>(dim); };
    auto multiply = [&](Value l, int64_t r) -> Value { return s.create<arith::MulIOp>(l, s.index(r)); };
    auto add = [&](Value l, Value r) -> Value { return s.create<arith::AddIOp>(l, r); };
    Value index = add(multiply(loop(0), node.shape(0)[1]), loop(1)), isFound = s.compare(Compare::eq, v[0], v[2]);
    for (int64_t i : order) {
      Value const moved =
          add(multiply(loop(2 + i), window.strides[i]), multiply(loop(2 + spatial + i), window.dilations[i]));
      Value const at = s.create<arith::SubIOp>(moved, s.index(window.low[i]));
      Value const isInside = s.create<arith::CmpIOp>(arith::CmpIPredicate::ult, at, s.index(extents[i]));
      isFound = s.create<arith::AndIOp>(isFound, isInside);
      index = add(multiply(index, extents[i]), at);
    }
    return s.select(isFound, s.create<arith::IndexCastOp>(i64, index), s.highest(i64));
  };
  return b.foldOver({x, taps, y}, {read, tap, result}, b.sizesOf(y), i64, Build::Fold::min, place);
}

static void importMaxPool(Node &node) {
  Window window = poolWindow(node);
  Value x = withRow(node, window);
  Scalars s(node.b, node.b.getLoc(), node.isUnsigned());
  x = window.pad(node.b, x, s.lowest(node.element(0)));
  Value const y = foldWindow(node.b, x, window, Build::Fold::max, node.isUnsigned());
  node.out(0, withoutRow(node, node.b.elementwiseCast(y, node.element(0))));
  if (node.wants(1))
    node.out(1, withoutRow(node, maxIndices(node, x, y, window)), pb::TensorProto::INT64);
}

/// Elements go back to where MaxPool's Indices found them; the other elements are 0.
static void importMaxUnpool(Node &node) {
  Build &b = node.b;
  node.needRank(0, 3, 5);
  node.needStatic(0);
  if (node.shape(0) != node.shape(1))
    node.refuse("input " + shapeText(node.shape(0)) + " and indices " + shapeText(node.shape(1)) + " differ in shape");
  auto const kernel = node.intsAttr("kernel_shape");
  size_t const spatial = node.rank(0) - 2;
  Ints const strides = node.intsAttr("strides").value_or(Ints(spatial, 1));
  Ints const pads = node.intsAttr("pads").value_or(Ints(2 * spatial, 0));
  if (!kernel || kernel->size() != spatial || strides.size() != spatial || pads.size() != 2 * spatial)
    node.refuse("kernel_shape, strides and pads do not fit input " + shapeText(node.shape(0)));
  Ints shape(node.shape(0)), high(node.rank(0), 0);
  int64_t count = shape[0] * shape[1];
  for (size_t i = 0; i < spatial; ++i) {
    shape[2 + i] = (shape[2 + i] - 1) * strides[i] + (*kernel)[i] - pads[i] - pads[spatial + i];
    count *= shape[2 + i];
  }
  if (node.has(2)) {
    Ints const wanted = node.ints(2, "output_shape");
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (wanted.size() != shape.size() || (high[dim] = wanted[dim] - shape[dim]) < 0)
        node.refuse("output_shape " + shapeText(wanted) + " is smaller than " + shapeText(shape));
  }
  tensorType(shape, node.element(0));
  Value const x = node.in(0), indices = node.in(1),
              zeros = b.initial(b.sizes({count}), node.element(0), Build::Fold::sum);
  Value const flat = loopNest(b, b.sizesOf(x), zeros, [&](ValueRange at, Value carried) -> Value {
    Value const places = b.create<arith::ConstantIndexOp>(count);
    Value const index = b.create<nest::PositionOp>(b.getIndexType(), b.create<tensor::ExtractOp>(indices, at), places);
    return b.create<tensor::InsertOp>(b.create<tensor::ExtractOp>(x, at), carried, index);
  });
  node.out(0, b.pad(b.reshape(flat, shape), Ints(high.size(), 0), high, b.scalar(node.element(0), 0)));
}

static void importAveragePool(Node &node) {
  node.needFloat(0);
  Window window = poolWindow(node);
  Value x = withRow(node, window);
  x = window.pad(node.b, x, node.b.scalar(node.element(0), 0));
  Value const sum = foldWindow(node.b, x, window, Build::Fold::sum, false);
  node.out(0, withoutRow(node, divideByCount(node, sum, window, node.intAttr("count_include_pad", 0))));
}

static void importLpPool(Node &node) {
  node.needFloat(0);
  Window window = poolWindow(node);
  double const p = node.opset < 2 ? node.floatAttr("p", 2) : static_cast<double>(node.intAttr("p", 2));
  Value x = withRow(node, window);
  x = window.pad(node.b, x, node.b.scalar(node.element(0), 0));
  x = node.b.elementwise(x, [&](Scalars &s, ValueRange v) {
    return p == 2 ? s.mul(v[0], v[0]) : s.create<math::PowFOp>(s.abs(v[0]), s.constantLike(v[0], p));
  });
  Value const sum = foldWindow(node.b, x, window, Build::Fold::sum, false);
  Value const y = node.b.elementwise(sum, node.element(0), [&](Scalars &s, ValueRange v) {
    return p == 2 ? s.sqrt(v[0]) : s.create<math::PowFOp>(v[0], s.constantLike(v[0], 1 / p));
  });
  node.out(0, withoutRow(node, y));
}

//===--- Whole images ---------------------------------------------------------------------------------------------===//

static Ints spatialAxes(Node &node) {
  node.needFloat(0);
  node.needRank(0, 3, 8);
  return llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
}

static void importGlobalAveragePool(Node &node) {
  Ints const axes = spatialAxes(node);
  node.out(0, node.b.unsqueeze(node.b.mean(node.in(0), axes), axes));
}

static void importGlobalMaxPool(Node &node) {
  node.out(0, node.b.reduce(node.in(0), spatialAxes(node), /*keepDims=*/true, Build::Fold::max));
}

static void importGlobalLpPool(Node &node) {
  Ints const axes = spatialAxes(node);
  double const p = node.opset < 2 ? node.floatAttr("p", 2) : static_cast<double>(node.intAttr("p", 2));
  Value const sum =
      node.b.reduce(node.in(0), axes, /*keepDims=*/false, Build::Fold::sum, false, [&](Scalars &s, ValueRange v) {
        return p == 2 ? s.mul(v[0], v[0]) : s.create<math::PowFOp>(s.abs(v[0]), s.constantLike(v[0], p));
      });
  Value const root = node.b.elementwise(sum, [&](Scalars &s, ValueRange v) {
    return p == 2 ? s.sqrt(v[0]) : s.create<math::PowFOp>(v[0], s.constantLike(v[0], 1 / p));
  });
  node.out(0, node.b.unsqueeze(root, axes));
}

//===--- Col2Im ---------------------------------------------------------------------------------------------------===//

namespace {
/// Windows of `block` elements along the axes of an image; how many of them fit along each.
struct Windows {
  Ints image, block, dilations, strides, low, counts;
};
} // namespace

static Ints listed(Node &node, llvm::StringRef name, size_t count, int64_t otherwise) {
  Ints const values = node.intsAttr(name).value_or(Ints(count, otherwise));
  if (values.size() != count)
    node.refuse("attribute " + name + " has " + Twine(values.size()) + " values, " + Twine(count) + " are needed");
  return values;
}

static Windows windowsOf(Node &node) {
  Windows windows{node.ints(1, "image_shape"), node.ints(2, "block_shape"), {}, {}, {}, {}};
  size_t const rank = windows.image.size();
  windows.dilations = listed(node, "dilations", rank, 1);
  windows.strides = listed(node, "strides", rank, 1);
  Ints const pads = listed(node, "pads", 2 * rank, 0);
  windows.low.assign(pads.begin(), pads.begin() + rank);
  if (rank == 0 || windows.block.size() != rank)
    node.refuse("image_shape and block_shape differ in length");
  for (size_t dim = 0; dim < rank; ++dim) {
    if (windows.image[dim] < 1 || windows.block[dim] < 1 || windows.dilations[dim] < 1 || windows.strides[dim] < 1)
      node.refuse("an extent, a dilation or a stride is less than 1");
    int64_t const covered = windows.dilations[dim] * (windows.block[dim] - 1) + 1;
    int64_t const room = windows.image[dim] + pads[dim] + pads[rank + dim] - covered;
    windows.counts.push_back(room < 0 ? 0 : room / windows.strides[dim] + 1);
  }
  return windows;
}

static int64_t product(IntsRef values) {
  int64_t all = 1;
  for (int64_t value : values)
    all *= value;
  return all;
}

/// y[n, c, p] = the sum over all places r in a block of the elements that a window which has p at r holds there.
static void importCol2Im(Node &node) {
  Build &b = node.b;
  node.needRank(0, 3, 3);
  node.needStatic(0);
  Windows const windows = windowsOf(node);
  int64_t const rank = windows.image.size(), inBlock = product(windows.block);
  if (node.shape(0)[1] % inBlock || product(windows.counts) != node.shape(0)[2])
    node.refuse("input " + shapeText(node.shape(0)) + " does not hold the " + Twine(product(windows.counts)) +
                " blocks of " + Twine(inBlock) + " elements that fit into the image");
  Ints result{node.shape(0)[0], node.shape(0)[1] / inBlock};
  result.append(windows.image);
  tensorType(result, node.element(0));
  Value const x = node.in(0), taps = b.empty(b.sizes(windows.block), node.element(0));
  auto term = [&](Scalars &s, ValueRange) -> Value {
    auto loop = [&](int64_t dim) -> Value { return s.create<linalg::IndexOp>(dim); };
    auto times = [&](Value l, int64_t r) -> Value { return s.create<arith::MulIOp>(l, s.index(r)); };
    auto plus = [&](Value l, Value r) -> Value { return s.create<arith::AddIOp>(l, r); };
    Value row = loop(1), column = s.index(0), isHeld;
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value const place = loop(2 + rank + dim);
      row = plus(times(row, windows.block[dim]), place);
      Value const shifted = plus(loop(2 + dim), s.index(windows.low[dim]));
      Value const begin = s.create<arith::SubIOp>(shifted, times(place, windows.dilations[dim]));
      Value const pace = s.index(windows.strides[dim]), zero = s.index(0);
      Value const window = s.create<arith::DivSIOp>(s.create<arith::MaxSIOp>(begin, zero), pace);
      Value const isOnPace = s.compare(Compare::eq, times(window, windows.strides[dim]), begin);
      Value const isThere = s.compare(Compare::lt, window, s.index(windows.counts[dim]));
      Value const holds = s.create<arith::AndIOp>(isOnPace, isThere);
      isHeld = isHeld ? s.create<arith::AndIOp>(isHeld, holds) : holds;
      Value const inside = s.create<arith::MinSIOp>(window, s.index(windows.counts[dim] - 1));
      column = plus(times(column, windows.counts[dim]), inside);
    }
    Type const type = computeType(node.element(0));
    Value const element = s.convert(s.create<tensor::ExtractOp>(x, ValueRange{loop(0), row, column}), type);
    return s.select(isHeld, element, s.constant(type, 0));
  };
  Ints const behind = llvm::to_vector(llvm::seq<int64_t>(2 + rank, 2 + 2 * rank));
  node.out(0, b.foldOver({taps}, {b.selectDims(2 + 2 * rank, behind)}, b.sizes(result), node.element(0),
                         Build::Fold::sum, term, node.isUnsigned()));
}

void registerPooling(Registry &table) {
  table.add("MaxPool", {1, 8, 10, 11, 12, 22}, importMaxPool);
  table.add("MaxUnpool", {9, 11, 22}, importMaxUnpool);
  table.add("AveragePool", {1, 7, 10, 11, 19, 22}, importAveragePool);
  table.add("LpPool", {2, 11, 18, 22}, importLpPool);
  table.add("GlobalAveragePool", {1, 22}, importGlobalAveragePool);
  table.add("GlobalMaxPool", {1, 22}, importGlobalMaxPool);
  table.add("GlobalLpPool", {1, 2, 22}, importGlobalLpPool);
  table.addUnsupported("LpPool", {1});
  table.add("Col2Im", {18}, importCol2Im);
}

} // namespace ml2k::frontend
