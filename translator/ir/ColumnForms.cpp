//===- ColumnForms.cpp - what the forms of a column cannot hold ---------------------------------------------------===//

#include "translator/ir/Column.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ml2k {

/// Weights that a source file may hold: compilers take a second and 100 MB for a megabyte.
static constexpr int64_t mostTableBytes = 4 << 20;

static int64_t bytesOfElement(Type type) {
  return type.isIndex() ? 8 : std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
}

int64_t bufferBytes(Column const &column, std::optional<unsigned> level) {
  int64_t bytes = 0;
  llvm::StringSet<> buffers;
  for (ColumnTensor const &tensor : column.tensors)
    if (tensor.kind == ColumnTensor::Kind::Buffer && !tensor.buffer.empty() &&
        level.value_or(tensor.level) == tensor.level && buffers.insert(tensor.buffer).second)
      bytes += tensor.width * bytesOfElement(tensor.type);
  return bytes;
}

int64_t packedBytes(Column const &column) {
  int64_t bytes = bufferBytes(column);
  for (ColumnTensor const &tensor : column.tensors)
    if (tensor.kind != ColumnTensor::Kind::Buffer)
      bytes += tensor.width * bytesOfElement(tensor.type);
  return bytes * mostLanes;
}

APFloat nearestBFloat(APFloat value) {
  bool isInexact = false;
  bool const isNegative = value.isNegative(), isFinite = value.isFinite();
  value.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &isInexact);
  return isFinite && !value.isFinite() ? APFloat::getLargest(APFloat::BFloat(), isNegative) : value;
}

static LogicalResult checkStack(Column const &column, Forms const &forms, func::FuncOp entry) {
  if ((forms.launch || forms.rows) && packedBytes(column) > stackLimit)
    return entry.emitError(forms.rows ? "the form 'rows' keeps a pack of "
                                      : "beside other forms, 'launch' keeps a pack of ")
           << mostLanes << " columns on the stack, which takes " << packedBytes(column) << " bytes here and may take "
           << stackLimit << "; --form=launch alone keeps all columns in a workspace";
  int64_t const alone = bufferBytes(column);
  if ((forms.thread || forms.rows) && alone > stackLimit)
    return entry.emitError("the form 'thread' keeps the buffers of a column on the stack, which takes ")
           << alone << " bytes here and may take " << stackLimit << "; --form=team keeps them in scratch memory";
  return success();
}

/// What an option asks for by name is not done for another type.
static LogicalResult checkHalves(Column const &column, func::FuncOp entry) {
  if (column.scalar.isF32())
    return success();
  return entry.emitError("--weights=bf16 stores weights of f32, not of ") << column.scalar;
}

static LogicalResult checkTables(Column const &column, func::FuncOp entry) {
  int64_t bytes = 0;
  for (ColumnWeights const &weights : column.weights)
    bytes += (weights.inputs + 1) * ((weights.outputs + 15) / 16 * 16) * bytesOfElement(column.scalar);
  if (bytes <= mostTableBytes)
    return success();
  return entry.emitError("the form 'runner' compiles its weights in, ")
         << bytes << " bytes here, and may hold " << mostTableBytes << "; --form=launch reads them from a file";
}

/// Features and results are arrays of types that C99 and LLVM's protocol have.
static LogicalResult checkInterfaces(Column const &column, Forms const &forms, func::FuncOp entry) {
  for (auto const *numbers : {&column.inputs, &column.outputs})
    for (unsigned const number : *numbers) {
      Type const type = column.tensors[number].type;
      if (isa<FloatType>(type) && !type.isF32() && !type.isF64())
        return entry.emitError("elements of type ") << type << " have no type in C; --form=runner has them";
      if (forms.server && type.isInteger(1))
        return entry.emitError("booleans have no type in LLVM's protocol, which --form=server speaks");
    }
  return success();
}

LogicalResult checkForms(Column const &column, Forms const &forms, func::FuncOp entry) {
  if ((forms.c || forms.server) && failed(checkInterfaces(column, forms, entry)))
    return failure();
  if (forms.halved && failed(checkHalves(column, entry)))
    return failure();
  return forms.runner ? checkTables(column, entry) : checkStack(column, forms, entry);
}

} // namespace ml2k
