//===- FormPrinter.h - the view models of a column's forms ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_FORMS_FORMPRINTER_H
#define ML2K_EMIT_FORMS_FORMPRINTER_H

#include "translator/emit/forms/Forms.h"
#include "translator/emit/render/Render.h"
#include "translator/emit/scalars/Values.h"
#include "translator/ir/ColumnValues.h"

#include <set>

namespace ml2k {

class FormPrinter {
public:
  FormPrinter(Column const &column, EmitOptions const &options, Forms const &forms)
      : column(column), options(options), forms(forms) {}

  /// The header of forms to call inside kernels, and the loader of their weights.
  mlir::FailureOr<ModelView> view();

  /// A class without Kokkos, weights compiled in.
  mlir::FailureOr<EmittedFiles> printRunner();

private:
  mlir::FailureOr<Json> viewModel(std::set<std::string> &blocks);
  Json viewWeights();
  std::string layerType(ColumnWeights const &weights, std::string const &offset, std::string const &words) const;
  Json viewTensor(ColumnTensor const &tensor) const;
  Json viewBuffers() const;
  Json viewBanner() const;
  std::string viewChecks() const;
  std::string list(llvm::StringRef pattern) const;
  std::string scalar() const { return computeType(column.scalar); }
  void addShared(Json &view) const;
  void addLoader(Json &view);
  void addFeatures(Json &view) const;
  Json viewTables() const;
  Json viewWordTables() const;

  /// Names and types of features and results in C and Fortran.
  void addInterfaces(Json &view) const;
  std::vector<ExtraView> interfaceFiles() const;

  /// FILE.spec.json: features and results as LLVM's TensorSpecs.
  std::string specs() const;

  /// Inputs and results for the program that checks a build.
  mlir::LogicalResult addTest(Json &view) const;
  Json viewRecord(unsigned tensor, std::vector<RowValues> const &rows) const;

  /// Types of features and results in LLVM's protocol.
  void addServer(Json &view) const;

  Column const &column;
  EmitOptions const &options;
  Forms const &forms;
  std::vector<SidecarTensor> sidecar;
};

} // namespace ml2k

#endif
