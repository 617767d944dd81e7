//===- Column.h - a network as it acts on one column ----------------------------------------------------*- C++ -*-===//
//
// The forms that are called inside a kernel (team, thread) and the runner compute one entry of the batch at a time.
// They are printed from the scheduled kernels, still on tensors: the batch is dropped, a concatenation is several
// operands, and every value is a row of known width. What mixes entries of the batch has no such form and is refused.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_COLUMN_H
#define ML2K_IR_COLUMN_H

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace ml2k {

/// The values of one column: an argument, or a buffer between layers.
struct ColumnTensor {
  enum class Kind { Input, Output, Buffer };
  Kind kind;
  std::string modelName; ///< as the model writes it
  int64_t width;
  mlir::Type type; ///< of an element
  bool isUnsigned = false;
  std::string name = {};      ///< identifier of the argument or of the member of the scratch
  std::string parameter = {}; ///< of an argument: the template parameter for its type
  std::string buffer = {};    ///< of a buffer: the member that it shares with others
  unsigned level = 0;         ///< of a buffer: of scratch memory
  bool isScratch = false;     ///< layers refer to it as scratch.hidden, not as qi
};

/// `width` values of a tensor, by number, from `first` on.
struct ColumnPart {
  unsigned tensor;
  int64_t first, width;
};
using ColumnParts = llvm::SmallVector<ColumnPart, 1>;

/// Parameters in the buffer of weights: the matrix of a linear layer with its bias, or a plain vector.
struct ColumnWeights {
  nest::WeightOp weight, bias; ///< bias: null if the layer adds none
  std::string modelName;       ///< what `name` is made from
  int64_t inputs = 0;          ///< 0: a vector
  int64_t outputs = 0;
  bool isInputMajor = false; ///< the file has [k][o] rather than [o][k]
  std::string name = {};     ///< of its type
};

struct ColumnLayer {
  enum class Kind { Linear, Each, Row, Copy };
  Kind kind;
  mlir::Operation *op; ///< null for a copy
  mlir::Location location;
  std::string label;
  std::vector<ColumnParts> operands = {};                      ///< of inputs and extras; empty where it is a weight
  llvm::SmallVector<llvm::SmallVector<unsigned>> results = {}; ///< the tensors that each result is written to
  unsigned weights = 0;                                        ///< of a linear layer
  mlir::Value biased = {};                                     ///< the sum with bias inside the epilogue
  bool needsBarrier = false;                                   ///< before it, in a team
};

/// The loop of a kernel along the row; loop 0 if there is none.
unsigned rowLoop(ColumnLayer const &layer);

/// Of the row: as long as the first operand that the loop indexes by itself, results before inputs (of which a slice
/// may be read). The first dimension of a column's tensors is the batch.
int64_t rowLength(ColumnLayer const &layer);

struct Column {
  mlir::Type scalar; ///< of weights and buffers: f32 or f64
  std::vector<ColumnTensor> tensors;
  std::vector<ColumnWeights> weights;
  std::vector<ColumnLayer> layers;
  llvm::SmallVector<unsigned> inputs, outputs; ///< tensors, in the order of the model's arguments

  /// The weights that `op` stands for, adding a vector if it is not known yet.
  unsigned vectorOf(nest::WeightOp op);
};

/// Who calls a network by columns, and how.
struct Forms {
  bool launch = false;  ///< all columns of views
  bool team = false;    ///< a column by a team, inside the caller's TeamPolicy
  bool thread = false;  ///< a column by a thread, or by a vector lane of a host
  bool rows = false;    ///< the rows of views [n, k] by a thread or a team
  bool runner = false;  ///< a class without Kokkos in its interface
  bool c = false;       ///< functions for C over it
  bool fortran = false; ///< a Fortran module over these
  bool server = false;  ///< a program that answers queries over pipes
  bool test = false;    ///< and a program that compares a build with recorded values
  bool halved = false;  ///< weights are stored as bfloat16 and sums are f32
};

/// Whether a layer's weights are stored as bfloat16: biases, and a runner's weights of fewer outputs than a vector, are
/// not.
inline bool isHalved(ColumnWeights const &weights, Forms const &forms) {
  return forms.halved && weights.inputs != 0 && (!forms.runner || weights.outputs >= 16);
}

/// The nearest value that bfloat16 has; never an infinity.
llvm::APFloat nearestBFloat(llvm::APFloat value);

/// The columns of the entry function of a module at the stage `scheduled`, their buffers shared and levels and barriers
/// placed. Refuses with a located diagnostic at every operation that does not act on columns one by one, and what one
/// of the forms cannot hold: what comes back can be printed.
mlir::FailureOr<Column> readColumn(mlir::ModuleOp module, Forms const &forms);

/// Buffers that are not in use together share memory; barriers stand where a layer reads or overwrites what another one
/// wrote or read.
void planBuffers(Column &column);

/// Columns of a pack with the widest vectors that the printed code knows, and what they, or the buffers of one column,
/// may take of a thread's stack.
constexpr int64_t mostLanes = 16, stackLimit = 32768;

/// Bytes of such a pack with its arguments.
int64_t packedBytes(Column const &column);

/// Bytes of the buffers of one column, or of those in one level of scratch memory.
int64_t bufferBytes(Column const &column, std::optional<unsigned> level = {});

/// Refuses what a form cannot hold.
mlir::LogicalResult checkForms(Column const &column, Forms const &forms, mlir::func::FuncOp entry);

} // namespace ml2k

#endif
