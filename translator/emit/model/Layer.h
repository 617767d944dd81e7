//===- Layer.h - one kernel on its way to a layer function ----------------------------------------------*- C++ -*-===//
//
// What all kernels share: which members a layer uses and what they are called in it, index spaces, the comment lines,
// and the call of a block. A kernel printer (Kernels.h) fills one in.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_MODEL_LAYER_H
#define ML2K_EMIT_MODEL_LAYER_H

#include "translator/emit/cpp/Function.h"
#include "translator/emit/model/Program.h"
#include "translator/emit/scalars/Scalars.h"

namespace ml2k {

class Layer {
public:
  Layer(Program &program, mlir::Operation *kernel);
  /// A layer whose text becomes a part of that of another one: with names apart from its.
  Layer(Program &program, mlir::Operation *kernel, Layer const &whole);

  //===--- Memory ---===//

  /// Storage as an argument of a block: work.conv1, work.concat.channels<64, 64>().
  mlir::FailureOr<Expression> image(mlir::Value memref);

  /// Storage as a rank-2 view of contiguous rows; declares an unmanaged view where the shape differs.
  mlir::FailureOr<Expression> matrix(mlir::Value memref, int64_t columns, int64_t rows, Expression const &rowCount,
                                     llvm::StringRef wanted);

  /// The same of rank 1.
  mlir::FailureOr<Expression> vector(mlir::Value memref, int64_t length, Expression const &size,
                                     llvm::StringRef wanted);

  /// Adds the workspace's partial sums of device kernels that share an output tile.
  void addSplit(std::vector<Expression> &arguments, mlir::Type scalar);

  /// The workspace's room for transformed squares; `share` elements for a thread.
  Expression winograd(int64_t share);

  /// A member or argument as it is.
  Expression member(Storage const &storage) const { return program.reference(storage); }

  /// `memref[indices]` inside a lambda, over the loops of `space`. Declares a local copy of the member.
  mlir::FailureOr<Expression> element(mlir::Value memref, llvm::ArrayRef<mlir::AffineExpr> indices,
                                      IndexSpace const &space);

  /// The same with a map over the loops.
  mlir::FailureOr<Expression> element(mlir::Value memref, mlir::AffineMap map, IndexSpace const &space) {
    return element(memref, map.getResults(), space);
  }

  /// An index expression inside the layer over host values.
  Expression hostExpression(mlir::AffineExpr expr, HostSymbols const &symbols);

  /// A number that forward() knows; one that it computes has a name of the layer.
  Expression hostSize(mlir::Value value, std::vector<std::string> const &wanted);

  /// The extent of a dimension as an expression.
  Expression extent(mlir::Value memref, unsigned dim);

  /// The extents of the loops of `maps`, kDynamic and an expression where known at run time only.
  struct Loops {
    llvm::SmallVector<int64_t> extents;
    llvm::SmallVector<Expression> sizes;
  };
  Loops loops(llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::Value> operands);

  //===--- Names ---===//

  /// `type const name = value;` in front of the call.
  Identifier addLocal(cpp::Type const &type, Identifier const &name, Expression const &value);

  /// Free names for the indices of a lambda.
  std::vector<Identifier> indexNames(llvm::ArrayRef<llvm::StringRef> wanted);

  /// A printer for a region, which knows what all regions know: gathers, positions, sizes, control flow.
  ScalarPrinter scalars(IndexSpace const &space);

  //===--- The text ---===//

  std::string label() const; ///< "cnn::layer1.0.conv1", quoted; of several in turn: "cnn::fc1 to fc3"
  Expression labelText() const;
  Code tuning() const; ///< `Tuned::conv1` where one chooses numbers of the block, or nothing
  void setCall(std::vector<Expression> arguments); ///< of the block that the schedule says
  void setCall(Code const &templateArguments, std::vector<Expression> arguments);
  void setBlockCall(Raw block, Code const &templateArguments, std::vector<Expression> arguments); ///< of another one
  void setBlockCall(Raw block, std::vector<Expression> arguments); ///< with all its arguments, `space` too
  void setPolicyCall(Raw function, Expression const &policy);      ///< a pattern of Kokkos itself
  void needBlock(Raw block) { function.call.blocks.push_back(block); }
  void needDevicePath(); ///< what the block does on devices by the schedule
  void addLambda(cpp::Lambda lambda);

  /// The only lambda is the epilogue of a block, from this region.
  void nameEpilogue(mlir::Block &block);

  /// Puts `Unchanged{}` into the place of an epilogue that returns its sum.
  void nameUnchanged();

  /// Adds the names and comments of another layer, what it declares, and its lambdas; its arguments come back.
  std::vector<Expression> takeOver(Layer &&part, llvm::StringRef shapes);

  /// The layer function.
  cpp::Function finish(llvm::StringRef shapes);

  /// `name[1,64,56,56]` for the comment.
  std::string described(mlir::Value memref);

  Program &program;
  mlir::Operation *kernel;
  nest::ScheduleAttr schedule; ///< what it is printed as
  Scope scope;
  bool hasFailed = false;     ///< and said so
  bool closesBorders = false; ///< the block does so for the images that it writes

private:
  Expression local(Storage const &storage);
  Expression indexText(mlir::AffineExpr index, IndexSpace const &space, unsigned own);
  Expression namedSize(Expression size, std::vector<std::string> const &wanted);
  std::vector<std::string> localNames(Storage const &storage) const;
  mlir::FailureOr<Expression> reshaped(mlir::Value memref, Storage const &storage);
  mlir::FailureOr<Expression> squeezed(Storage const &storage);
  Expression hostValue(mlir::Value value);
  Identifier declareView(std::vector<std::string> const &wanted, cpp::Type const &type,
                         std::vector<Expression> arguments);
  void dropUnusedSizes();
  void bindParameters();
  void addProvenance(llvm::StringRef shapes);
  void addBorders();
  mlir::FailureOr<Expression> pointer(mlir::Value memref);
  mlir::FailureOr<Expression> imageOver(mlir::Value memref, Storage const &storage);
  mlir::LogicalResult printLoad(mlir::Operation *op, ScalarPrinter &printer, IndexSpace const &space, Body &to);

  void takeArgumentNames();

  llvm::DenseMap<mlir::Value, Identifier> localOf;
  llvm::DenseMap<mlir::Value, Identifier> squeezedOf;
  cpp::Function function;
};

/// Prints one kernel into its layer; the description line comes back.
using KernelPrinter = mlir::FailureOr<std::string> (*)(mlir::Operation *, Layer &);

/// The printer of a kernel operation, null for others. One entry per kind of kernel; each lies in a file of its own.
KernelPrinter lookUpKernel(llvm::StringRef operation);

mlir::FailureOr<std::string> printMap(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printReduce(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printRow(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printConv(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printContract(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printWindow(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printRecurrent(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printTopK(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printSort(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printTrees(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printAssembly(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printLoopKernel(mlir::Operation *, Layer &);

/// Kernels that are calls of KokkosKernels.
mlir::FailureOr<std::string> printProductCall(mlir::Operation *, Layer &);
mlir::FailureOr<std::string> printSparseCall(nest::LoopKernelOp, Layer &);

} // namespace ml2k

#endif
