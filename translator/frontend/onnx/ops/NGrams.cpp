//===- NGrams.cpp - TfIdfVectorizer -------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {
/// Grams of one length among a row of tokens, their tokens 1 + skip apart.
struct Grams {
  int64_t length, count, skips;
  Value table; // [count, length]
};
} // namespace

/// How often each gram occurs in each row of x.
static Value occurrences(Build &b, Value x, Grams const &grams) {
  int64_t const tokens = Build::shapeOf(x)[1];
  // row, gram | skip, start
  Value const taps = b.empty(b.sizes({grams.skips, tokens}), b.getF32Type());
  auto isHere = [&](Scalars &s, ValueRange) -> Value {
    auto loop = [&](int64_t dim) -> Value { return s.create<linalg::IndexOp>(dim); };
    Value const distance = s.create<arith::AddIOp>(loop(2), s.index(1));
    Value isEqual;
    for (int64_t i = 0; i < grams.length; ++i) {
      Value const at = s.create<arith::AddIOp>(loop(3), s.create<arith::MulIOp>(distance, s.index(i)));
      Value const isInside = s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, at, s.index(tokens));
      Value const bounded = s.create<arith::MinSIOp>(at, s.index(tokens - 1));
      Value const token = s.create<tensor::ExtractOp>(x, ValueRange{loop(0), bounded});
      Value const wanted = s.create<tensor::ExtractOp>(grams.table, ValueRange{loop(1), s.index(i)});
      Value const matches =
          s.create<arith::AndIOp>(isInside, s.compare(Compare::eq, s.convert(token, wanted.getType()), wanted));
      isEqual = isEqual ? s.create<arith::AndIOp>(isEqual, matches) : matches;
    }
    return s.convert(isEqual, s.b.getF32Type());
  };
  return b.foldOver({taps}, {b.selectDims(4, {2, 3})}, {b.sizeOf(x, 0), b.getIndexAttr(grams.count)}, b.getF32Type(),
                    Build::Fold::sum, isHere);
}

/// Counts times the weights of the grams; with `isPresence` the weight wherever there is any.
static Value weighted(Node &node, Value counts, IntsRef indexes, bool isPresence) {
  Build &b = node.b;
  auto const *given = node.attribute("weights");
  std::vector<float> weights(Build::shapeOf(counts)[1], 1);
  if (given && static_cast<size_t>(given->floats_size()) != indexes.size())
    node.refuse("weights has " + Twine(given->floats_size()) + " values, " + Twine(indexes.size()) + " are needed");
  for (size_t i = 0; given && i < indexes.size(); ++i)
    weights[indexes[i]] = given->floats(static_cast<int>(i));
  auto const type = RankedTensorType::get({Build::shapeOf(counts)[1]}, b.getF32Type());
  Value const table = node.table("weights", DenseElementsAttr::get(type, llvm::ArrayRef<float>(weights)));
  return b.alongAxis(counts, {table}, 1, [&](Scalars &s, ValueRange v) {
    Value const zero = s.constantLike(v[0], 0);
    return isPresence ? s.select(s.compare(Compare::gt, v[0], zero), v[1], zero) : s.mul(v[0], v[1]);
  });
}

/// Counts of the grams of a pool, each at its place in the output, counted, weighted or both.
static void importTfIdfVectorizer(Node &node) {
  Build &b = node.b;
  node.needRank(0, 1, 2);
  node.needStatic(0);
  if (!isa<IntegerType>(node.element(0)))
    node.refuse("only integer tokens are supported");
  std::string const mode = node.stringAttr("mode");
  int64_t const shortest = node.intAttr("min_gram_length"), longest = node.intAttr("max_gram_length");
  int64_t const skips = node.intAttr("max_skip_count") + 1;
  auto const pool = node.wideIntsAttr("pool_int64s"), starts = node.intsAttr("ngram_counts"),
             indexes = node.intsAttr("ngram_indexes");
  if (!pool || !starts || !indexes || shortest < 1 || skips < 1 || (mode != "TF" && mode != "IDF" && mode != "TFIDF"))
    node.refuse("mode, pool_int64s, ngram_counts, ngram_indexes or the lengths do not fit");
  int64_t const outputs = indexes->empty() ? 0 : *llvm::max_element(*indexes) + 1;
  Ints const shape{node.rank(0) == 2 ? node.shape(0)[0] : 1, node.shape(0).back()};
  if (outputs < 1 || shape[1] < 1 || llvm::any_of(*indexes, [](int64_t index) { return index < 0; }))
    node.refuse("ngram_indexes or the input are empty");
  Value const x = b.reshape(node.in(0), shape);
  llvm::SmallVector<Value> counts;
  llvm::SmallVector<int64_t> places;
  size_t next = 0;
  for (int64_t length = 1; length <= static_cast<int64_t>(starts->size()); ++length) {
    int64_t const begin = (*starts)[length - 1];
    int64_t const end =
        length < static_cast<int64_t>(starts->size()) ? (*starts)[length] : static_cast<int64_t>(pool->size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool->size()) || (end - begin) % length)
      node.refuse("ngram_counts do not fit pool_int64s");
    int64_t const count = (end - begin) / length;
    if (next + count > indexes->size())
      node.refuse("ngram_indexes has " + Twine(indexes->size()) + " values, more are needed");
    IntsRef const own = IntsRef(*indexes).slice(next, count);
    next += count;
    if (count == 0 || length < shortest || length > longest)
      continue;
    auto const type = RankedTensorType::get({count, length}, b.getI64Type());
    Value const table = node.table("grams" + std::to_string(length),
                                   DenseElementsAttr::get(type, IntsRef(*pool).slice(begin, end - begin)));
    counts.push_back(occurrences(b, x, {length, count, length == 1 ? 1 : skips, table}));
    places.append(own.begin(), own.end());
  }
  Ints result{shape[0], outputs};
  Value sums = b.initial(b.sizes(result), b.getF32Type(), Build::Fold::sum);
  if (!counts.empty()) { // row, output | gram
    Value const at = node.table("places", integersAttr(*b.getContext(), places));
    sums = b.foldOver({b.concat(counts, 1), at}, {b.selectDims(3, {0, 2}), b.selectDims(3, {2})}, b.sizes(result),
                      b.getF32Type(), Build::Fold::sum, [](Scalars &s, ValueRange v) -> Value {
                        Value const here = s.create<arith::IndexCastOp>(v[1].getType(), s.create<linalg::IndexOp>(1));
                        return s.select(s.compare(Compare::eq, v[1], here), v[0], s.constantLike(v[0], 0));
                      });
  }
  if (mode != "TF")
    sums = weighted(node, sums, *indexes, mode == "IDF");
  node.out(0, node.rank(0) == 1 ? b.reshape(sums, {outputs}) : sums, pb::TensorProto::FLOAT);
}

void registerNGrams(Registry &table) { table.add("TfIdfVectorizer", {9}, importTfIdfVectorizer); }

} // namespace ml2k::frontend
