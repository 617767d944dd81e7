//===- NestTrees.cpp - what a printable nest.trees must satisfy ---------------------------------------------------===//

#include "translator/ir/NestVerify.h"

using namespace mlir;
using namespace ml2k::nest;

static ShapedType arrayType(Value value) { return cast<ShapedType>(value.getType()); }

/// A vector of one number for each of `count` trees or nodes.
static LogicalResult verifyTable(TreesOp op, Value table, int64_t count, Type element) {
  ShapedType const type = arrayType(table);
  if (type.getRank() != 1 || type.getDimSize(0) != count || type.getElementType() != element)
    return op.emitOpError() << "requires tables of a number for each tree or node, has " << type;
  return success();
}

LogicalResult TreesOp::verify() {
  if ((getInputs().size() != 7 && getInputs().size() != 8) || getExtras().size() > 1 || getOutputs().size() != 1)
    return emitOpError("takes x, six tables or seven, targets of leaves or none, and one output");
  ShapedType const x = arrayType(getX()), values = arrayType(getValues()), out = arrayType(getOutputs()[0]),
                   roots = arrayType(getRoots());
  if (x.getRank() != 2 || values.getRank() != 2 || out.getRank() != 2 || !values.hasStaticShape() ||
      roots.getRank() != 1 || !roots.hasStaticShape())
    return emitOpError("takes x [rows, columns] and values [nodes, targets] to [rows, targets]");
  if (out.getElementType() != values.getElementType() || out.getDimSize(0) != x.getDimSize(0) || out.isDynamicDim(1) ||
      values.getDimSize(1) != (!getExtras().empty() ? 1 : out.getDimSize(1)))
    return emitOpError() << "cannot join " << values << " to " << out;
  Type const i32 = IntegerType::get(getContext(), 32);
  for (Value table : {getRoots(), getSteps()})
    if (failed(verifyTable(*this, table, roots.getDimSize(0), i32)))
      return failure();
  Type const number = x.getElementType();
  std::pair<Value, Type> tables[] = {{getColumns(), i32}, {getThresholds(), number}, {getChildren(), i32}};
  for (auto const &[table, element] : tables)
    if (failed(verifyTable(*this, table, values.getDimSize(0), element)))
      return failure();
  if (getKinds() && failed(verifyTable(*this, getKinds(), values.getDimSize(0),
                                       arrayType(getKinds()).getElementType() == number ? number : i32)))
    return failure();
  for (Value targets : getExtras())
    if (failed(verifyTable(*this, targets, values.getDimSize(0), i32)))
      return failure();
  if (failed(verifyResults(*this)))
    return failure();
  SmallVector<Value> scalars = {getX(), getThresholds()};
  if (getKinds())
    scalars.push_back(getKinds());
  return verifyBlock(*this, getSplit(), 0, scalars, {IntegerType::get(getContext(), 1)});
}
