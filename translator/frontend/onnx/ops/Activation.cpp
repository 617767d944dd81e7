//===- Activation.cpp - activation functions ----------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Formulas.h"
#include "translator/frontend/onnx/importer/Registry.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ml2k::frontend {

static void importRelu(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return s.max(x[0], s.constantLike(x[0], 0)); });
}

static void importLeakyRelu(Node &node) {
  double const alpha = node.floatAttr("alpha", 0.01);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    return s.select(isNegative(s, x[0]), s.mul(s.constantLike(x[0], alpha), x[0]), x[0]);
  });
}

static void importThresholdedRelu(Node &node) {
  double const alpha = node.floatAttr("alpha", 1.0);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    return s.select(s.compare(Compare::gt, x[0], s.constantLike(x[0], alpha)), x[0], s.constantLike(x[0], 0));
  });
}

/// Before opset 7 slopes are one or one per channel.
static void importOldPRelu(Node &node) {
  node.needFloat(0);
  node.needRank(1, 1, 1);
  Ints shape(std::max<int64_t>(node.rank(0) - 1, 1), 1);
  shape[0] = node.shape(1)[0];
  Value const slope = node.b.reshape(node.in(1), shape);
  node.out(0, node.b.elementwise({node.in(0), slope}, [](Scalars &s, ValueRange x) {
    return s.select(isNegative(s, x[0]), s.mul(x[1], x[0]), x[0]);
  }));
}

static void importPRelu(Node &node) {
  elementwise(node, [](Scalars &s, ValueRange x) { return s.select(isNegative(s, x[0]), s.mul(x[1], x[0]), x[0]); });
}

/// scale * (x < 0 ? alpha * (exp(x / width) - 1) : x)
static void exponentialUnit(Node &node, double scale, double alpha, double width) {
  floatElementwise(node, [&](Scalars &s, ValueRange v) {
    Value const x = v[0];
    Value const scaled = width == 1 ? x : s.div(x, s.constantLike(x, width));
    Value const curve = s.mul(s.constantLike(x, alpha), s.create<math::ExpM1Op>(scaled));
    Value const result = s.select(isNegative(s, x), curve, x);
    return scale == 1 ? result : s.mul(s.constantLike(x, scale), result);
  });
}

static void importElu(Node &node) { exponentialUnit(node, 1, node.floatAttr("alpha", 1.0), 1); }

static void importCelu(Node &node) {
  double const alpha = node.floatAttr("alpha", 1.0);
  exponentialUnit(node, 1, alpha, alpha);
}

static void importSelu(Node &node) {
  bool const isOld = node.opset < 6;
  double const alpha = node.floatAttr("alpha", isOld ? 1.6732 : 1.67326319217681884765625);
  exponentialUnit(node, node.floatAttr("gamma", isOld ? 1.0507 : 1.05070102214813232421875), alpha, 1);
}

static Value clamp(Scalars &s, Value x, double low, double high) {
  return s.min(s.max(x, s.constantLike(x, low)), s.constantLike(x, high));
}

static void importHardSigmoid(Node &node) {
  double const alpha = node.floatAttr("alpha", 0.2), beta = node.floatAttr("beta", 0.5);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    Value const line = s.add(s.mul(s.constantLike(x[0], alpha), x[0]), s.constantLike(x[0], beta));
    return clamp(s, line, 0, 1);
  });
}

static void importHardSwish(Node &node) {
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    Value const line = s.add(s.mul(s.constantLike(x[0], 1.0 / 6), x[0]), s.constantLike(x[0], 0.5));
    return s.mul(x[0], clamp(s, line, 0, 1));
  });
}

/// log(1 + exp(x)) without overflow.
static Value softplus(Scalars &s, Value x) {
  Value const tail = s.create<math::Log1pOp>(s.exp(s.neg(s.abs(x))));
  return s.add(s.max(x, s.constantLike(x, 0)), tail);
}

static void importSoftplus(Node &node) {
  floatElementwise(node, [](Scalars &s, ValueRange x) { return softplus(s, x[0]); });
}

static void importSoftsign(Node &node) {
  floatElementwise(node,
                   [](Scalars &s, ValueRange x) { return s.div(x[0], s.add(s.constantLike(x[0], 1), s.abs(x[0]))); });
}

static void importMish(Node &node) {
  floatElementwise(node, [](Scalars &s, ValueRange x) { return s.mul(x[0], s.tanh(softplus(s, x[0]))); });
}

static void importSwish(Node &node) {
  double const alpha = node.floatAttr("alpha", 1.0);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    return s.mul(x[0], s.sigmoid(alpha == 1 ? x[0] : s.mul(s.constantLike(x[0], alpha), x[0])));
  });
}

/// The first input, gated by itself, times the second.
static void importSwiGLU(Node &node) {
  double const alpha = node.floatAttr("alpha", 1.0);
  floatElementwise(node, [&](Scalars &s, ValueRange x) {
    return s.mul(s.mul(x[0], s.sigmoid(alpha == 1 ? x[0] : s.mul(s.constantLike(x[0], alpha), x[0]))), x[1]);
  });
}

static void importGelu(Node &node) {
  bool const isTanh = node.stringAttr("approximate", "none") == "tanh";
  floatElementwise(node, [&](Scalars &s, ValueRange v) {
    Value const x = v[0];
    auto constant = [&](double value) { return s.constantLike(x, value); };
    Value curve;
    if (isTanh) {
      Value const cube = s.mul(x, s.mul(x, x));
      curve = s.tanh(s.mul(constant(0.7978845608028654), s.add(x, s.mul(constant(0.044715), cube))));
    } else {
      curve = s.erf(s.mul(x, constant(0.7071067811865476)));
    }
    return s.mul(s.mul(constant(0.5), x), s.add(constant(1), curve));
  });
}

static void importShrink(Node &node) {
  double const bias = node.floatAttr("bias", 0.0), lambd = node.floatAttr("lambd", 0.5);
  elementwise(node, [&](Scalars &s, ValueRange x) {
    Type const wide = s.isFloat(x[0]) ? x[0].getType() : Type(s.b.getF32Type());
    Value const value = s.convert(x[0], wide);
    auto constant = [&](double number) { return s.constant(wide, number); };
    Value const above =
        s.select(s.compare(Compare::gt, value, constant(lambd)), s.sub(value, constant(bias)), constant(0));
    Value const result = s.select(s.compare(Compare::lt, value, constant(-lambd)), s.add(value, constant(bias)), above);
    return s.convert(result, x[0].getType(), s.isUnsigned);
  });
}

/// Bounds are attributes before opset 11, then optional inputs.
static void importClip(Node &node) {
  if (node.opset < 11) {
    double const low = node.floatAttr("min", -3.4028234663852886e38);
    double const high = node.floatAttr("max", 3.4028234663852886e38);
    return floatElementwise(node, [&](Scalars &s, ValueRange x) { return clamp(s, x[0], low, high); });
  }
  llvm::SmallVector<Value> values{node.in(0)};
  for (size_t at : {1, 2})
    if (node.has(at)) {
      node.needRank(at, 0, 1);
      node.keepAsNumber(at);
      values.push_back(node.b.reshape(node.in(at), {}));
    }
  node.out(0, node.b.elementwise(
                  values,
                  [&](Scalars &s, ValueRange x) {
                    Value result = x[0];
                    if (node.has(1))
                      result = s.max(result, x[1]);
                    return node.has(2) ? s.min(result, x.back()) : result;
                  },
                  node.isUnsigned()));
}

void registerActivation(Registry &table) {
  table.add("Relu", {1, 6, 13, 14}, importRelu);
  table.add("LeakyRelu", {1, 6, 16}, importLeakyRelu);
  table.add("ThresholdedRelu", {10, 22}, importThresholdedRelu);
  table.add("PRelu", {7, 9, 16}, importPRelu);
  table.add("PRelu", {1, 6}, importOldPRelu);
  table.add("Elu", {1, 6, 22}, importElu);
  table.add("Celu", {12, 28}, importCelu);
  table.add("Selu", {1, 6, 22}, importSelu);
  table.add("HardSigmoid", {1, 6, 22}, importHardSigmoid);
  table.add("HardSwish", {14, 22}, importHardSwish);
  table.add("Softplus", {1, 22}, importSoftplus);
  table.add("Softsign", {1, 22}, importSoftsign);
  table.add("Mish", {18, 22}, importMish);
  table.add("Swish", {24}, importSwish);
  table.add("SwiGLU", {28}, importSwiGLU);
  table.add("Gelu", {20}, importGelu);
  table.add("Shrink", {9}, importShrink);
  table.add("Clip", {1, 6, 11, 12, 13}, importClip);
}

} // namespace ml2k::frontend
