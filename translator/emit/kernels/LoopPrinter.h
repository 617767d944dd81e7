//===- LoopPrinter.h - nest.kernel as a call of Kokkos or of a block ------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_KERNELS_LOOPPRINTER_H
#define ML2K_EMIT_KERNELS_LOOPPRINTER_H

#include "translator/emit/kernels/KernelParts.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/StoredRows.h"
#include "translator/ir/Strips.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace ml2k {

/// Prints one kernel; what ordered loops need is in LoopUpdates.cpp, what rows of sparse matrices in
/// StoredRowsKernel.cpp, running sums in LoopScan.cpp, teams in TeamKernel.cpp, strips in StripKernel.cpp, functions of
/// C in LoopCallee.cpp.
class LoopPrinter {
public:
  LoopPrinter(nest::LoopKernelOp kernel, Layer &layer)
      : kernel(kernel), layer(layer), printer(layer.scalars({})), fused(layer.schedule.getFused()) {
    printer.constantsFirst = true;
    printer.longest = 60;
  }

  mlir::FailureOr<std::string> print();

private:
  mlir::LogicalResult bindHostValues();
  mlir::LogicalResult bindPositions();
  void handleMemory();
  void findChanges();
  mlir::Operation *loadOf(mlir::memref::StoreOp store) const;
  mlir::FailureOr<Expression> element(mlir::Value memref, llvm::ArrayRef<mlir::OpFoldResult> positions);
  mlir::LogicalResult printLoad(mlir::memref::LoadOp load, Body &to);
  mlir::LogicalResult printStore(mlir::memref::StoreOp store, Body &to);
  mlir::LogicalResult printArray(mlir::memref::AllocaOp array, Body &to);
  mlir::FailureOr<Expression> number(mlir::OpFoldResult value);
  Expression stride(mlir::Value memref, Expression const &array, int64_t dim);
  mlir::LogicalResult passOn(mlir::Value argument, bool isWritten, llvm::SmallVectorImpl<Expression> &to);
  mlir::LogicalResult printCallee(nest::CallOp callee, Body &to);

  using Bounds = std::pair<Expression, Expression>;
  using SmallSums = llvm::SmallVector<std::pair<mlir::Value, int64_t>>;
  mlir::FailureOr<Expression> host(mlir::Value value);
  mlir::FailureOr<Bounds> bounds(unsigned loop);
  Expression narrowed(mlir::ValueRange bounds, Expression const &text) const;
  mlir::FailureOr<Bounds> narrowBounds(unsigned loop);
  mlir::FailureOr<Expression> span(unsigned loop);
  mlir::FailureOr<std::vector<Expression>> spans();
  mlir::FailureOr<Expression> length(unsigned loop);
  Expression reducer();
  bool holdsManyViews() const;
  Expression rangeOver(Expression const &begin, Expression const &end) const;
  mlir::FailureOr<Expression> rangePolicy();
  mlir::FailureOr<Expression> boxPolicy();
  mlir::FailureOr<Expression> rows();

  /// Loops that run as one, of that name.
  struct Group {
    unsigned first, end;
    Identifier name;
  };
  /// What blocks over rows and columns get, and their positions.
  struct Grid {
    Expression rows, columns;
    std::vector<cpp::Parameter> parameters;
  };
  mlir::FailureOr<Grid> grid();
  Group fusedLoops() const { return {0, fused, row}; }
  mlir::FailureOr<Expression> count(Group const &group);
  mlir::LogicalResult recover(Group const &group, Body &to);
  mlir::FailureOr<Group> groupOf(unsigned first, unsigned end, llvm::StringRef name);
  unsigned orderedFrom() { return llvm::find(*kernel.getOrdered(), true) - kernel.getOrdered()->begin(); }
  unsigned columnsFrom() { return orderedFrom() + llvm::count(*kernel.getOrdered(), true); }
  void recoverFrom(Identifier const &flat, llvm::ArrayRef<Identifier> names, llvm::ArrayRef<Expression> lowers,
                   llvm::ArrayRef<Expression> lengths, Body &to);
  mlir::LogicalResult printUpdates(Body statements);
  mlir::LogicalResult printScatter();
  mlir::memref::LoadOp bindCasts(mlir::Value element, Expression const &text);
  mlir::LogicalResult printChange(mlir::memref::StoreOp store, mlir::Value load, Expression const &target, Body &to);
  bool isInOrder();
  mlir::LogicalResult printInOrder(Body statements);
  Expression elementsOfUpdate();
  mlir::LogicalResult printAtomicUpdates(Body statements);
  mlir::LogicalResult printOwnSums(Body statements);
  mlir::LogicalResult printArraySums(mlir::Value array, Body statements);
  mlir::LogicalResult printSingle(Body statements);
  mlir::LogicalResult printRange(Body statements);
  mlir::LogicalResult printScan(mlir::scf::ForOp loop);
  mlir::LogicalResult printRowScan(mlir::scf::ForOp loop);
  mlir::LogicalResult printColumnScan(mlir::scf::ForOp loop);
  mlir::FailureOr<Body> bodyOfScan(mlir::scf::ForOp loop, std::vector<cpp::Parameter> &parameters);
  mlir::LogicalResult printBox(Body statements);
  mlir::LogicalResult printSpans(Body statements);
  mlir::LogicalResult printLines(mlir::memref::StoreOp store, Body statements);
  mlir::LogicalResult printEveryOther(Body statements);
  void bindRow();
  void fetchAhead(Body &statements);
  mlir::FailureOr<Expression> printTerm(nest::RowLoop const &loop, Body &body);
  mlir::LogicalResult bindJoined(nest::RowLoop const &loop, Identifier const &name, Body &to);
  mlir::LogicalResult printFold(nest::RowLoop const &loop, Body &to, std::optional<Expression> length = {},
                                std::optional<Expression> span = {});
  mlir::LogicalResult printLoop(mlir::scf::ForOp loop, Body &to);
  mlir::LogicalResult printOrderedSum(nest::RowLoop const &loop, Body &to);
  mlir::LogicalResult printInner(mlir::scf::ForOp loop, Body &to);
  mlir::LogicalResult printEach(mlir::scf::ForOp loop, Body &to);
  mlir::LogicalResult printColumns(mlir::scf::ForOp over, nest::RowLoop const &loop, Body &to);
  mlir::LogicalResult printSearch(nest::EntrySearch const &search, mlir::scf::WhileOp loop, Body &to);
  mlir::LogicalResult printRowLoop(mlir::scf::ForOp loop, Body &to);
  void storeAtLast(cpp::Assign assign, Body &to);
  mlir::LogicalResult printStoredRows(Body statements);
  mlir::LogicalResult printShared();
  void handleTeam();
  void handleOnce(llvm::StringRef operation);
  struct Threads;
  mlir::FailureOr<Threads> threadsOf(mlir::scf::ParallelOp loop);
  mlir::LogicalResult printThreads(mlir::scf::ParallelOp loop, Body &to);
  mlir::LogicalResult printJoined(mlir::scf::ParallelOp loop, Threads const &threads, Body body, size_t outside,
                                  Body &to);
  mlir::LogicalResult printTeamArray(mlir::memref::AllocaOp array, Body &to);
  mlir::LogicalResult printTeams(Body statements);
  mlir::LogicalResult printTeamRows(Body statements);
  bool isOfRows() const { return layer.schedule.getBlock() == nest::KernelBlock::ForRows; }
  Code stripType();
  void printOfColumns(mlir::memref::AllocaOp array, Body &to);
  mlir::LogicalResult printOfStrip(llvm::SmallVectorImpl<mlir::Operation *> &segment, Body &to);
  mlir::LogicalResult printStripLoop(mlir::scf::ForOp loop, nest::StripValues const &values, Body &to);
  mlir::LogicalResult printStrips(mlir::Block &block, nest::StripValues const &values, Body &to);
  mlir::LogicalResult printStripCall(Body statements);
  mlir::LogicalResult printInStrips(mlir::scf::ForOp loop, Body &to);
  mlir::LogicalResult returnTerms(mlir::Block &block, Body &statements);
  mlir::LogicalResult printCall(Body statements);
  mlir::LogicalResult printPolicy(mlir::FailureOr<Expression> const &policy, std::vector<cpp::Parameter> parameters,
                                  Body statements);
  std::string describe();

  nest::LoopKernelOp kernel;
  Layer &layer;
  ScalarPrinter printer;
  std::vector<Identifier> positions;
  std::optional<cpp::Parameter> shared;           ///< what all iterations share
  unsigned const fused;                           ///< outer loops that run as one
  Identifier row = Raw("row");                    ///< that one
  std::optional<nest::StoredRows> rowLoops;       ///< of a sparse matrix, where its block is printed
  Identifier found = Raw("sum");                  ///< of a column, what a fold is there
  llvm::DenseSet<mlir::Operation *> changed;      ///< of elements that the block changes: their loads
  Identifier before = Raw("before");              ///< what those are called
  SmallSums sums;                                 ///< elements to which threads add first to their own, from where on
  Identifier own = Raw("own");                    ///< those
  std::optional<Identifier> alone;                ///< whether one thread makes all of several that are atomic
  std::optional<Identifier> isFinal;              ///< of a scan: whether the sum before is known, and stores count
  Identifier team = Raw("team");                  ///< the handle of a thread
  Identifier level = Raw("level");                ///< of a team's scratch memory
  bool inThread = false;                          ///< of a team: what is printed is one thread's alone
  std::vector<Expression> scratchSizes;           ///< of a team, in bytes
  Identifier strip = Raw("strip");                ///< the columns that an iteration, or a loop, has
  Identifier column = Raw("column");              ///< one of them
  int64_t mostColumns = 0;                        ///< of a strip
  llvm::DenseSet<mlir::Value> called;             ///< local arrays whose elements are `array(i)`
  llvm::DenseSet<mlir::Value> columnArrays;       ///< those of each column of a strip
  llvm::DenseMap<mlir::Value, Expression> arrays; ///< local arrays
  llvm::DenseSet<mlir::Operation *> started;      ///< stores that are the first values of those
  llvm::SetVector<mlir::Value> reads, writes;     ///< in the order of the text
};

} // namespace ml2k

#endif
