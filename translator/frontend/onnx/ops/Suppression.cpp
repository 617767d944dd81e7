//===- Suppression.cpp - NonMaxSuppression ------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/LoopNest.h"
#include "translator/frontend/onnx/importer/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// What the printed code calls a value that it computes once and uses often.
static Value named(Value value, llvm::StringRef name) {
  if (Operation *op = value.getDefiningOp())
    op->setAttr("nest.name", StringAttr::get(value.getContext(), name));
  return value;
}

namespace {

/// Boxes of one image, scores of one class in it.
class Suppression {
public:
  Suppression(Node &node, Value image, Value kind)
      : node(node), b(node.b), image(image), kind(kind), boxes(node.b.create<arith::ConstantIndexOp>(node.shape(0)[1])),
        isCentered(node.intAttr("center_point_box", 0) != 0) {}

  /// Whether each box takes part: its score is above the threshold.
  Value candidates(Value open) {
    return every(open, [&](Scalars &s, Value box, Value) -> Value {
      if (!node.has(4))
        return s.constant(s.b.getI1Type(), 1);
      return s.compare(Compare::gt, score(box), parameter(4));
    });
  }

  /// The open box of the highest score; -1 if there is none.
  Value best(Value open) {
    Value const none = b.create<arith::ConstantIndexOp>(-1), zero = b.create<arith::ConstantIndexOp>(0);
    Value const lowest = Scalars(b, b.getLoc(), false).lowest(node.element(1));
    return loop(b, zero, boxes, {none, lowest}, [&](Value box, ValueRange now) {
      Scalars s(b, b.getLoc(), false);
      Value const own = score(box), isOpen = s.create<tensor::ExtractOp>(open, box);
      Value const isFirst = s.compare(Compare::lt, now[0], zero);
      Value const isHigher = s.create<arith::OrIOp>(isFirst, s.compare(Compare::gt, own, now[1]));
      Value const wins = named(s.create<arith::AndIOp>(isOpen, isHigher), "wins");
      return Values{s.select(wins, box, now[0]), s.select(wins, own, now[1])};
    })[0];
  }

  /// Closes a box and those that overlap it by more than the threshold.
  Value closed(Value open, Value chosen) {
    return every(open, [&](Scalars &s, Value box, Value isOpen) -> Value {
      Value keeps = s.compare(Compare::ne, box, chosen);
      Value const threshold = node.has(3) ? parameter(3) : s.constant(node.element(0), 0);
      Value const overlaps = s.compare(Compare::gt, overlap(s, chosen, box), threshold);
      keeps = s.create<arith::AndIOp>(keeps, s.logicalNot(overlaps));
      return s.create<arith::AndIOp>(isOpen, keeps);
    });
  }

  /// The only element of an input.
  Value parameter(size_t at) {
    if (node.constant(at))
      return b.scalar(node.element(at), node.scalar(at, "a threshold"));
    Values const zeros(node.rank(at), b.create<arith::ConstantIndexOp>(0));
    return b.create<tensor::ExtractOp>(node.in(at), zeros);
  }

private:
  Value every(Value open, llvm::function_ref<Value(Scalars &, Value box, Value isOpen)> formula) {
    return loop(b, b.create<arith::ConstantIndexOp>(0), boxes, {open}, [&](Value box, ValueRange now) {
      Scalars s(b, b.getLoc(), false);
      Value const isOpen = s.create<tensor::ExtractOp>(now[0], box);
      return Values{s.create<tensor::InsertOp>(formula(s, box, isOpen), now[0], box)};
    })[0];
  }

  Value score(Value box) { return b.create<tensor::ExtractOp>(node.in(1), ValueRange{image, kind, box}); }

  Value coordinate(Value box, int64_t which) {
    return b.create<tensor::ExtractOp>(node.in(0), ValueRange{image, box, b.create<arith::ConstantIndexOp>(which)});
  }

  /// Both ends of a box along an axis. The corners of a box come in any order; or its centre and its size.
  std::pair<Value, Value> ends(Scalars &s, Value box, int64_t axis) {
    if (!isCentered) {
      Value const one = coordinate(box, axis), other = coordinate(box, axis + 2);
      return {named(s.min(one, other), "low"), named(s.max(one, other), "high")};
    }
    Value const centre = coordinate(box, 1 - axis), size = coordinate(box, 3 - axis);
    Value const half = s.mul(size, s.constantLike(size, 0.5));
    return {named(s.sub(centre, half), "low"), named(s.add(centre, half), "high")};
  }

  /// The area of the intersection over that of the union.
  Value overlap(Scalars &s, Value left, Value right) {
    Value common, areas[2];
    for (int64_t axis : {0, 1}) {
      auto const l = ends(s, left, axis), r = ends(s, right, axis);
      Value const span = s.sub(s.min(l.second, r.second), s.max(l.first, r.first));
      Value const within = s.max(span, s.constantLike(span, 0));
      common = common ? s.mul(common, within) : within;
      areas[0] = axis ? s.mul(areas[0], s.sub(l.second, l.first)) : s.sub(l.second, l.first);
      areas[1] = axis ? s.mul(areas[1], s.sub(r.second, r.first)) : s.sub(r.second, r.first);
    }
    Value const covered = s.sub(s.add(areas[0], areas[1]), named(common, "shared_area"));
    return s.div(common, named(covered, "covered_area"));
  }

  Node &node;
  Build &b;
  Value image, kind, boxes;
  bool isCentered;
};

} // namespace

/// Writes (image, class, box) behind what is selected.
static Values selected(Build &b, ValueRange carried, ArrayRef<Value> entry) {
  Scalars s(b, b.getLoc(), false);
  Value const count = s.create<tensor::ExtractOp>(carried[1], ValueRange());
  Value const row = s.create<arith::IndexCastOp>(b.getIndexType(), count);
  Value list = carried[0];
  for (auto [column, index] : llvm::enumerate(entry)) {
    Value const number = s.create<arith::IndexCastOp>(b.getI64Type(), index);
    list = s.create<tensor::InsertOp>(number, list, ValueRange{row, s.index(static_cast<int64_t>(column))});
  }
  return {list, s.create<tensor::InsertOp>(s.add(count, s.constantLike(count, 1)), carried[1], ValueRange())};
}

/// Of each class of each image: takes the best box that is open and closes those that it overlaps, until enough are
/// taken.
static void importNonMaxSuppression(Node &node) {
  Build &b = node.b;
  node.needRank(0, 3, 3);
  node.needRank(1, 3, 3);
  node.needStatic(0);
  node.needStatic(1);
  int64_t const images = node.shape(1)[0], kinds = node.shape(1)[1], boxes = node.shape(1)[2];
  if (node.shape(0)[0] != images || node.shape(0)[1] != boxes || node.shape(0)[2] != 4)
    node.refuse("boxes " + shapeText(node.shape(0)) + " do not fit scores " + shapeText(node.shape(1)));
  bool const isKnown = !node.has(2) || node.constant(2);
  int64_t const wanted =
      node.has(2) && isKnown ? static_cast<int64_t>(node.scalar(2, "max_output_boxes_per_class")) : 0;
  int64_t const most = isKnown ? std::clamp<int64_t>(wanted, 0, boxes) : boxes; // of one class of one image
  if (most * images * kinds == 0)
    return node.out(0, b.empty(b.sizes({0, 3}), b.getI64Type()), pb::TensorProto::INT64);
  Value const list = b.empty(b.sizes({images * kinds * most, 3}), b.getI64Type());
  Value const count = b.fill({}, b.scalar(b.getI64Type(), 0));
  Value const open = b.empty(b.sizes({boxes}), b.getI1Type());
  Values const done = loopNest(b, b.sizes({images, kinds}), {list, count, open}, [&](ValueRange at, ValueRange outer) {
    Suppression suppression(node, at[0], at[1]);
    Values const begin{outer[0], outer[1], suppression.candidates(outer[2])};
    return loopNest(b, b.sizes({most}), begin, [&](ValueRange round, ValueRange carried) {
      Scalars s(b, b.getLoc(), false);
      Value const best = suppression.best(carried[2]);
      Value goesOn = s.compare(Compare::ge, best, s.index(0));
      if (!isKnown) {
        Value const taken = s.create<arith::IndexCastOp>(b.getI64Type(), round[0]);
        goesOn = s.create<arith::AndIOp>(goesOn, s.compare(Compare::lt, taken, suppression.parameter(2)));
      }
      return when(b, goesOn, carried, [&] {
        Values next = selected(b, carried, {at[0], at[1], best});
        next.push_back(suppression.closed(carried[2], best));
        return next;
      });
    });
  });
  node.outCounted(0, done[0], pb::TensorProto::INT64, 0, done[1]);
}

void registerSuppression(Registry &table) { table.add("NonMaxSuppression", {10, 11}, importNonMaxSuppression); }

} // namespace ml2k::frontend
