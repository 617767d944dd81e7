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

/// Bytes of a thread's buffers for one column, with or without the arguments.
static int64_t stackBytes(Column const &column, bool withArguments) {
  int64_t bytes = 0;
  llvm::StringSet<> buffers;
  for (ColumnTensor const &tensor : column.tensors) {
    bool const isBuffer = tensor.kind == ColumnTensor::Kind::Buffer;
    if (isBuffer ? !tensor.buffer.empty() && buffers.insert(tensor.buffer).second : withArguments)
      bytes += tensor.width * bytesOfElement(tensor.type);
  }
  return bytes;
}

int64_t packedBytes(Column const &column) { return stackBytes(column, true) * mostLanes; }

static LogicalResult checkStack(Column const &column, Forms const &forms, func::FuncOp entry) {
  if (forms.launch && packedBytes(column) > stackLimit)
    return entry.emitError("beside other forms, 'launch' keeps a pack of ")
           << mostLanes << " columns on the stack, which takes " << packedBytes(column) << " bytes here and may take "
           << stackLimit << "; --form=launch alone keeps all columns in a workspace";
  int64_t const alone = stackBytes(column, false);
  if (forms.thread && alone > stackLimit)
    return entry.emitError("the form 'thread' keeps the buffers of a column on the stack, which takes ")
           << alone << " bytes here and may take " << stackLimit << "; --form=team keeps them in scratch memory";
  return success();
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

/// Features and results are arrays of types that C99 has.
static LogicalResult checkInterfaces(Column const &column, func::FuncOp entry) {
  for (auto const *numbers : {&column.inputs, &column.outputs})
    for (unsigned const number : *numbers)
      if (Type const type = column.tensors[number].type; isa<FloatType>(type) && !type.isF32() && !type.isF64())
        return entry.emitError("elements of type ") << type << " have no type in C; --form=runner has them";
  return success();
}

LogicalResult checkForms(Column const &column, Forms const &forms, func::FuncOp entry) {
  if (!forms.runner)
    return checkStack(column, forms, entry);
  return failed(checkTables(column, entry)) || (forms.c && failed(checkInterfaces(column, entry))) ? failure()
                                                                                                   : success();
}

} // namespace ml2k
