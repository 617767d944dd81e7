//===- Steps.h - the steps of the MLIR import, in the order in which they run ---------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_MLIR_STEPS_H
#define ML2K_FRONTEND_MLIR_STEPS_H

#include "translator/frontend/mlir/MlirImport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir {
class AsmParserState;
}

namespace ml2k::mlir_import {

/// Reports, in place of the parser's message, an operation of a dialect that is not read; says how to convert it where
/// that is known. Returns false for every other message of the parser.
bool reportForeignDialect(mlir::Diagnostic const &parserMessage, llvm::MemoryBuffer const &source);

/// Refuses text on which the parser would use memory that it has freed.
mlir::LogicalResult refuseInnerDefinitions(llvm::MemoryBuffer const &source, mlir::MLIRContext &context);

/// Refuses text of which the parser would make operations without an attribute that they have to have, or read memory
/// of nobody.
mlir::LogicalResult refuseBrokenLists(llvm::MemoryBuffer const &source, mlir::MLIRContext &context);

/// Refuses sequences of the transform dialect with operations of another one, on which upstream's verifier crashes, and
/// those that include themselves, or others so often that it would not come to an end.
mlir::LogicalResult checkSequences(mlir::ModuleOp module);

/// Gives the arguments and results of functions, and operations whose results have telling names, the names of the
/// text.
void takeNamesFromText(mlir::ModuleOp module, mlir::AsmParserState const &text);

/// Sparse constants become dense ones; types that no step knows are refused.
mlir::LogicalResult takeEarlyForms(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// torch-mlir's own operations, of the tm_tensor dialect, in terms of other ones.
mlir::LogicalResult lowerTorchForms(mlir::func::FuncOp entry);

/// Launches of the gpu dialect and loops of omp become parallel loops.
mlir::LogicalResult lowerLaunches(mlir::func::FuncOp entry);

/// scf.forall on memrefs becomes scf.parallel, and loops that are mapped to blocks say so.
mlir::LogicalResult lowerForalls(mlir::func::FuncOp entry);

/// The function to translate: `name`, or the only public one; null after an error.
mlir::func::FuncOp selectEntry(mlir::ModuleOp module, std::string const &name);

/// Inlines all calls and leaves the entry as the only function. Unused globals go, constant ones become constants.
mlir::LogicalResult isolateEntry(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// Names for arguments and results that have none yet (bytecode, `%0`): arg0.., result0...
void nameSignature(mlir::func::FuncOp entry);

/// Packed layouts, loops that count and scalar results in terms of other operations.
mlir::LogicalResult lowerForms(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// Switches become branches, operations on integers with two results become such with one.
void lowerScalarForms(mlir::func::FuncOp entry);

/// Gathers, scatters, pads with computed values and reshapes to constant shapes in terms of other operations.
void lowerTensorForms(mlir::func::FuncOp entry);

/// Vectors become loops over their elements, and small arrays.
mlir::LogicalResult lowerVectors(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// Tensors of a program that writes vectors to them become memrefs.
mlir::LogicalResult bufferizeWrites(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// arith and math on tensors become linalg.
mlir::LogicalResult lowerElementwise(mlir::func::FuncOp entry);

/// Fixes the extents that options.dims gives.
mlir::LogicalResult fixDims(mlir::func::FuncOp entry, std::map<std::string, int64_t> const &dims);

/// Sparse tensors that neither have the entries of an operand nor are assembled by a kernel are computed as dense ones.
mlir::LogicalResult makeDenseForms(mlir::func::FuncOp entry);

/// Sums of sparse terms, and of sparse and dense ones, become one operation for each term.
void splitSparseSums(mlir::func::FuncOp entry);

/// Of several sparse operands of a product one is left; the others are written out as dense tensors in front.
void densifyOthers(mlir::func::FuncOp entry);

/// Sparse arguments, and all sparse results, become their arrays where kernels of our own walk through them;
/// SparseLevels.h says how.
mlir::LogicalResult takeSparseOperands(mlir::func::FuncOp entry);

/// Lowers TOSA to linalg, and sparse tensors and mixtures of tensors and memrefs to loops on memrefs.
mlir::LogicalResult lowerToCoreDialects(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// Complex numbers, all in memrefs or scalars, become pairs of reals.
mlir::LogicalResult splitComplex(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// Before bufferization: loops yield the tensors that they were given, with the next values in them.
void keepCarriedTensors(mlir::func::FuncOp entry);

/// After fixDims(): results take the extents that follow.
mlir::LogicalResult narrowResults(mlir::func::FuncOp entry);

/// Gives the run-time extents of tensors names: `nest.dims`.
void nameExtents(mlir::func::FuncOp entry);

/// Asserts what slices, pads and windows of tensors need of run-time extents that have names.
void checkSliceExtents(mlir::func::FuncOp entry);

/// The last gate: ranked types, one block, nothing that a later stage cannot take.
mlir::LogicalResult checkImported(mlir::func::FuncOp entry);

/// Warns of operations that read memory, or a tensor, that nothing wrote before.
void warnOfUnwritten(mlir::func::FuncOp entry);

} // namespace ml2k::mlir_import

#endif
