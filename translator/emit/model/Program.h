//===- Program.h - what a nest module holds, with its names settled -------------------------------------*- C++ -*-===//
//
// Collected once before anything is printed: arguments, workspace, weights, run-time sizes and layers, each with its
// C++ identifier and type.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_MODEL_PROGRAM_H
#define ML2K_EMIT_MODEL_PROGRAM_H

#include "translator/emit/Emit.h"
#include "translator/emit/cpp/Function.h"
#include "translator/emit/model/Names.h"
#include "translator/emit/scalars/Values.h"
#include "translator/ir/Nest.h"
#include "translator/ir/Sizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <map>
#include <set>

namespace ml2k {

enum class StorageKind { Argument, Buffer, Weight };

/// One piece of memory that the generated code names.
struct Storage {
  StorageKind kind;
  mlir::Value value;
  mlir::MemRefType type;
  std::string modelName;  ///< as the model writes it
  std::string name;       ///< identifier of the argument or member
  cpp::Type cpp;          ///< declared type
  std::string alias;      ///< of an argument: what its type is called
  std::string expression; ///< how layers refer to it: image, work.conv1, weights.conv1_bias
  bool isOutput = false;
  bool isCounted = false;                   ///< forward() checks that an int can count its elements
  bool isUnsigned = false;                  ///< integers of the caller
  bool isImage = false;                     ///< an Activation
  bool isFlat = false;                      ///< a rank-1 view with computed index: Kokkos views end at rank 8
  std::optional<nest::PackingKind> packing; ///< of a weight that is not in the order of the sidecar
  int64_t winograd = 0;            ///< of a weight: the edge of the squares of results, 0 for a direct convolution
  Storage *bias = nullptr;         ///< of packed weights: what their block adds to the sums
  Storage const *biasOf = nullptr; ///< of a weight: the packed weights that it is the bias of
  bool isPaired = false;           ///< a weight whose k may lie in pairs: of 16 bits, as its other factors
  Raw reader;                      ///< of a weight: the function of the loader that packs it
  Code readerArguments;            ///< its template arguments
  llvm::SmallVector<int64_t> border = {0, 0}; ///< rows, columns; of volumes planes and depth, too

  /// Whether an image has a halo.
  bool isBordered() const {
    return llvm::any_of(border, [](int64_t extent) { return extent != 0; });
  }

  /// The element type.
  cpp::Type scalarType() const {
    return isUnsigned ? unsignedScalarType(type.getElementType()) : ml2k::scalarType(type.getElementType());
  }
  /// As a parameter of a layer.
  cpp::Type parameterType() const { return alias.empty() ? cpp : cpp::Type(Identifier(alias)); }
};

/// A size that is known at run time only: where it is read and what it is called.
struct RuntimeSize {
  mlir::Value argument;
  unsigned dim;
  std::string name;
};

/// An element of storage: positions over loops (dims) and host values (symbols).
struct Element {
  Storage const *storage;
  llvm::SmallVector<mlir::AffineExpr> indices;
};

class Program {
public:
  Program(mlir::func::FuncOp entry, EmitOptions const &options) : entry(entry), options(options) {}
  Program(Program const &) = delete;

  /// Names everything.
  void collect();

  /// The storage that a memref is a part of.
  Storage const *storageOf(mlir::Value memref) const;

  /// How code refers to storage: image, work.conv1, weights.conv1.bias.
  Expression reference(Storage const &storage) const;

  /// The element of storage that `memref[indices]` is.
  mlir::FailureOr<Element> access(mlir::Value memref, llvm::ArrayRef<mlir::AffineExpr> indices,
                                  HostSymbols &symbols) const;

  /// The extent of a dimension, a constant or over `symbols`.
  mlir::AffineExpr extent(mlir::Value memref, unsigned dim, HostSymbols &symbols) const;

  /// The same as memory is allocated: an image has a border.
  mlir::AffineExpr allocatedExtent(Storage const &buffer, unsigned dim, HostSymbols &symbols) const;

  /// The arguments of the type of images N H W C, without their border: [height, width,] channels.
  Code imageShape(llvm::ArrayRef<int64_t> shape) const;

  /// A host value as an index expression over values that have names.
  mlir::AffineExpr hostIndex(mlir::Value value, HostSymbols &symbols) const;

  /// The identifier of a host value: a run-time size, a loop index or a constant of forward().
  std::string hostName(mlir::Value value) const { return hostNames.lookup(value); }
  void nameHostValue(mlir::Value value, std::string name) { hostNames[value] = std::move(name); }

  /// What a kernel is called, with all products that it makes in turn: `fc1 to fc3`.
  std::string labelOfKernel(mlir::Operation *kernel) const;

  /// The type of a host value: int but for scalar arguments.
  cpp::Type scalarType(std::string const &name) const {
    auto const found = scalarTypes.find(name);
    return found == scalarTypes.end() ? intType() : found->second;
  }

  /// A decision about the whole file.
  template <class Attribute> Attribute settled(llvm::StringRef name) const {
    return llvm::cast<Attribute>(mlir::func::FuncOp(entry)->getAttr(name));
  }

  mlir::func::FuncOp entry;
  EmitOptions const &options;
  std::string model; ///< namespace and first part of kernel labels
  std::deque<Storage> arguments, buffers, weights;
  std::deque<Storage> exchanged; ///< by loops around kernels: variables of forward()
  std::vector<RuntimeSize> sizes;
  std::map<Code, Identifier> splits; ///< scalar type of partial sums to the member of the workspace
  int64_t winogradShare = 0;         ///< elements of the workspace that a host thread wants for Winograd convolutions
  nest::Launches launches = nest::Launches::Always; ///< on a host
  bool usesSlices = false;                          ///< of the channels of images
  bool sizesImages = false;                         ///< at run time: heights and widths are no part of their types
  llvm::StringMap<std::string> functions;           ///< label of a kernel to the name of its function
  Scope fileScope;                                  ///< names that no local may hide

private:
  void collectArguments();
  void collectMembers();
  void collectExchanged();
  void nameArgumentTypes();
  void collectSizes();
  void collectFunctions();
  void addBuffer(nest::BufferOp op);
  void addWeight(nest::WeightOp op);
  void joinBiases();
  void nameMembers(std::deque<Storage> &members, llvm::StringRef prefix, llvm::StringRef owner);

  llvm::DenseMap<mlir::Value, Storage *> storages;
  llvm::DenseMap<mlir::Value, std::string> hostNames;
  std::map<std::string, cpp::Type> scalarTypes; ///< of scalar arguments by name
};

/// Declares storage as a plain view; rank 9 and more become one dimension.
void setTensorType(Storage &storage, bool isConst);

/// `Tensor<float const[1][10]>`, with `*` for sizes known at run time.
cpp::Type tensorType(cpp::Type const &scalar, bool isConst, llvm::ArrayRef<int64_t> shape);

/// `Activation<float, 56, 56, 64, 1>` of the arguments of imageShape().
cpp::Type imageType(cpp::Type const &scalar, bool isConst, Code const &shape, llvm::ArrayRef<int64_t> border = {0, 0});

/// Names that nothing of the model may have: layer functions call blocks where parameters would hide them.
llvm::StringSet<> fixedNames();

} // namespace ml2k

#endif
