//===- Unique.cpp - the different elements or slices of a tensor --------------------------------------------------===//
//
// A sort brings equal ones together; a running sum over those that differ from the one in front numbers the groups. The
// sort keeps equal ones in order, so that the first of a group is the first of its kind. Without `sorted` another
// running sum, over the first of their kinds, numbers the groups anew.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/LoopNest.h"
#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Counted.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k::frontend {

namespace {
/// What is compared, [count, length], in order: where each lay, and for each place whether it differs from the one in
/// front, 0 or 1.
struct Sorted {
  Value positions, differs;
  int64_t count;
};

/// Groups of equal ones: of each place of the order its group, of each group the first of its kind, by its position,
/// and the place at which it begins; how many there are. What is beyond has a first position of 0 and begins at the
/// end.
struct Groups {
  Value ofPlace, first, begin, number;
};

/// The different ones in the order in which they are asked for: where the first of each kind lies, the group of each
/// element, and the size of each group.
struct Kinds {
  Value first, ofElement, sizes, number;
};
} // namespace

static Value zero(Build &b) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(0)); }

static Value filled(Build &b, int64_t count, int64_t value) {
  return b.fill(b.sizes({count}), b.create<arith::ConstantOp>(b.getI64IntegerAttr(value)));
}

static Value indexOf(Build &b, Value i64) { return b.create<arith::IndexCastOp>(b.getIndexType(), i64); }

/// NaN is equal to itself.
static Value isSame(Scalars &s, Value l, Value r) {
  Value const same = s.compare(Compare::eq, l, r);
  if (!Scalars::isFloat(l))
    return same;
  Value const bothNan = s.create<arith::AndIOp>(s.compare(Compare::ne, l, l), s.compare(Compare::ne, r, r));
  return s.create<arith::OrIOp>(same, bothNan);
}

//===--- The order ------------------------------------------------------------------------------------------------===//

/// The outputs of a sort of the table's slices, of their only elements where these are one.
static ValueRange sort(Node &node, Value table, int64_t count, bool slices) {
  Build &b = node.b;
  Type const element = node.element(0);
  int64_t const words = count * nest::SortOp::roomFor(element, slices);
  Values outputs = {b.empty(b.sizes({count}), b.getI64Type()),
                    b.empty(b.sizes({words}), nest::SortOp::roomType(element, slices))};
  if (!slices)
    outputs.insert(outputs.begin(), b.empty(b.sizes({count}), element));
  auto sorted =
      b.create<nest::SortOp>(ValueRange(outputs).getTypes(), "sort", nest::Order::Ascending, node.isUnsigned(), slices,
                             /*along=*/0, table, ValueRange(), outputs);
  return sorted.getResults();
}

/// The sorted table, [count, length].
static Value rowsInOrder(Node &node, Value table, Value positions) {
  Build &b = node.b;
  Part const part(b, "sorted");
  return b.map({positions}, {b.selectDims(2, {0})}, b.sizesOf(table), node.element(0), [&](Scalars &s, ValueRange v) {
    Value const row = s.create<arith::IndexCastOp>(s.b.getIndexType(), v[0]);
    Value const element = s.create<tensor::ExtractOp>(table, ValueRange{row, s.create<linalg::IndexOp>(1)});
    return s.convert(element, computeType(node.element(0)));
  });
}

/// Whether the element of the sorted table differs from the one in front.
static Value differs(Node &node, Scalars &s, Value sorted, Value own) {
  int64_t const rank = Build::rankOf(sorted);
  Value const place = s.create<linalg::IndexOp>(0);
  Values at = {s.create<arith::SubIOp>(place, s.create<arith::MinSIOp>(place, s.index(1)))};
  if (rank > 1)
    at.push_back(s.create<linalg::IndexOp>(1));
  Value const before = s.convert(s.create<tensor::ExtractOp>(sorted, at), computeType(node.element(0)));
  return s.convert(s.logicalNot(isSame(s, own, before)), s.b.getI64Type());
}

static Sorted sorted(Node &node, Value table, int64_t count, int64_t length) {
  Build &b = node.b;
  Type const i64 = b.getI64Type();
  bool const slices = length != 1;
  Value const elements = slices ? table : b.reshape(table, {count});
  ValueRange const outputs = sort(node, elements, count, slices);
  Part const part(b, "differs");
  auto const term = [&](Value sorted) {
    return [&node, sorted](Scalars &s, ValueRange v) { return differs(node, s, sorted, v[0]); };
  };
  if (!slices)
    return {outputs[1], b.map({outputs[0]}, {b.identityMap(1)}, b.sizes({count}), i64, term(outputs[0])), count};
  Value const rows = rowsInOrder(node, table, outputs[0]);
  Value const any = b.foldOver({rows}, {b.identityMap(2)}, b.sizes({count}), i64, Build::Fold::max, term(rows));
  return {outputs[0], any, count};
}

//===--- Groups ---------------------------------------------------------------------------------------------------===//

static Groups groupsOf(Node &node, Sorted const &order) {
  Build &b = node.b;
  Part const part(b, "groups");
  Value const begin = b.create<arith::ConstantIndexOp>(0), end = b.create<arith::ConstantIndexOp>(order.count),
              last = b.create<arith::ConstantIndexOp>(order.count - 1);
  Values const start = {b.empty(b.sizes({order.count}), b.getI64Type()), filled(b, order.count, 0),
                        filled(b, order.count, order.count), b.empty({}, b.getI64Type()), zero(b)};
  Values const done = loop(b, begin, end, start, [&](Value place, ValueRange carried) -> Values {
    Scalars s(b, b.getLoc(), false);
    Value const isFirst = s.create<arith::CmpIOp>(arith::CmpIPredicate::eq, place, begin);
    Value const isOther =
        s.compare(Compare::ne, s.create<tensor::ExtractOp>(order.differs, ValueRange(place)), zero(b));
    Value const begins = s.create<arith::OrIOp>(isFirst, isOther);
    Values const group = when(b, begins, carried.slice(1, 2), [&] {
      Value const at = indexOf(b, carried[4]);
      Value const position = b.create<tensor::ExtractOp>(order.positions, ValueRange(place));
      return Values{b.create<tensor::InsertOp>(position, carried[1], ValueRange(at)),
                    b.create<tensor::InsertOp>(asI64(b, place), carried[2], ValueRange(at))};
    });
    Value const next = b.create<arith::AddIOp>(carried[4], b.create<arith::ExtUIOp>(b.getI64Type(), begins));
    Value const own = b.create<arith::SubIOp>(next, b.create<arith::ConstantOp>(b.getI64IntegerAttr(1)));
    Value const isLast = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, place, last);
    Values const number =
        when(b, isLast, carried[3], [&] { return Values{b.create<tensor::InsertOp>(next, carried[3], ValueRange())}; });
    return {b.create<tensor::InsertOp>(own, carried[0], ValueRange(place)), group[0], group[1], number[0], next};
  });
  return {done[0], done[1], done[2], done[3]};
}

/// Of each element its group, which the order has by place.
static Value groupOfElement(Node &node, Sorted const &order, Groups const &groups) {
  Build &b = node.b;
  Part const part(b, "group");
  Value const start = b.empty(b.sizes({order.count}), b.getI64Type());
  Value const groupOf = loopNest(b, b.sizes({order.count}), start, [&](ValueRange place, Value carried) -> Value {
    Value const group = b.create<tensor::ExtractOp>(groups.ofPlace, place);
    Value const at = indexOf(b, b.create<tensor::ExtractOp>(order.positions, place));
    return b.create<tensor::InsertOp>(group, carried, ValueRange(at));
  });
  groupOf.getDefiningOp()->setAttr("nest.unordered", b.getUnitAttr()); // each position once
  return groupOf;
}

/// values[positions[i]]
static Value gathered(Build &b, Value values, Value positions) {
  return b.map({positions}, {b.identityMap(1)}, b.sizesOf(positions), b.getI64Type(), [&](Scalars &s, ValueRange v) {
    return s.create<tensor::ExtractOp>(values, ValueRange(s.create<arith::IndexCastOp>(s.b.getIndexType(), v[0])));
  });
}

/// From where each begins to where the next one does.
static Value sizesOf(Build &b, Groups const &groups, int64_t count) {
  Part const part(b, "counts");
  return b.map({groups.begin}, {b.identityMap(1)}, b.sizes({count}), b.getI64Type(),
               [&](Scalars &s, ValueRange v) -> Value {
                 Value const group = s.create<linalg::IndexOp>(0), last = s.index(count - 1);
                 Value const next = s.create<arith::MinSIOp>(s.create<arith::AddIOp>(group, s.index(1)), last);
                 Value const isLast = s.create<arith::CmpIOp>(arith::CmpIPredicate::eq, group, last);
                 Value const end = s.constant(s.b.getI64Type(), static_cast<double>(count));
                 Value const behind = s.create<tensor::ExtractOp>(groups.begin, ValueRange(next));
                 return s.create<arith::SubIOp>(s.select(isLast, end, behind), v[0]);
               });
}

//===--- Without an order -----------------------------------------------------------------------------------------===//

/// The first of their kinds as they stand, and for each element how many of them there are up to it, less one.
static std::pair<Value, Value> firstsInPlace(Node &node, Kinds const &kinds, int64_t count) {
  Build &b = node.b;
  Part const part(b, "firsts");
  Value const begin = b.create<arith::ConstantIndexOp>(0), end = b.create<arith::ConstantIndexOp>(count);
  Value const firsts = gathered(b, kinds.first, kinds.ofElement);
  Values const start = {filled(b, count, 0), b.empty(b.sizes({count}), b.getI64Type()), zero(b)};
  Values const done = loop(b, begin, end, start, [&](Value position, ValueRange carried) -> Values {
    Value const own = asI64(b, position), first = b.create<tensor::ExtractOp>(firsts, ValueRange(position));
    Value const isFirst = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, first, own);
    Value const next = b.create<arith::AddIOp>(carried[2], b.create<arith::ExtUIOp>(b.getI64Type(), isFirst));
    Value const place = b.create<arith::SubIOp>(next, b.create<arith::ConstantOp>(b.getI64IntegerAttr(1)));
    Values const kept = when(b, isFirst, carried[0], [&] {
      return Values{b.create<tensor::InsertOp>(own, carried[0], ValueRange(indexOf(b, carried[2])))};
    });
    return {kept[0], b.create<tensor::InsertOp>(place, carried[1], ValueRange(position)), next};
  });
  return {done[0], done[1]};
}

/// In the order in which they occur.
static Kinds asTheyStand(Node &node, Kinds const &kinds, int64_t count) {
  Build &b = node.b;
  auto const [firsts, places] = firstsInPlace(node, kinds, count);
  auto const ordered = [&b](StringRef name, Value values, Value positions) {
    Part const part(b, name);
    return gathered(b, values, positions);
  };
  Value const placeOfGroup = ordered("places", places, kinds.first);
  Value const groupOfFirst = ordered("ordered_counts", kinds.ofElement, firsts);
  return {firsts, ordered("kinds", placeOfGroup, kinds.ofElement), ordered("ordered_counts", kinds.sizes, groupOfFirst),
          kinds.number};
}

//===--- The operator ---------------------------------------------------------------------------------------------===//

static void importUnique(Node &node) {
  Build &b = node.b;
  node.needStatic(0);
  bool const isFlat = !node.attribute("axis");
  int64_t const elements = node.elements(0);
  if (elements == 0)
    node.refuse("the input has no elements");
  int64_t const axis = isFlat ? 0 : node.axisAttr("axis", std::nullopt, node.rank(0));
  Value const x = isFlat ? b.reshape(node.in(0), {elements}) : node.in(0);
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, Build::rankOf(x)));
  std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
  int64_t const count = Build::shapeOf(x)[axis], length = elements / count;
  Sorted const inOrder = sorted(node, b.reshape(b.transpose(x, order), {count, length}), count, length);
  Groups const groups = groupsOf(node, inOrder);
  Kinds kinds = {groups.first, groupOfElement(node, inOrder, groups), sizesOf(b, groups, count), groups.number};
  if (node.intAttr("sorted", 1) == 0)
    kinds = asTheyStand(node, kinds, count);
  node.outCounted(0, taken(node, x, axis, kinds.first), node.dataType(0), axis, kinds.number);
  node.outCounted(1, kinds.first, pb::TensorProto::INT64, 0, kinds.number);
  node.out(2, kinds.ofElement, pb::TensorProto::INT64);
  node.outCounted(3, kinds.sizes, pb::TensorProto::INT64, 0, kinds.number);
}

void registerUnique(Registry &table) { table.add("Unique", {11, 28}, importUnique); }

} // namespace ml2k::frontend
