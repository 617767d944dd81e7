//===- ColumnPrinter.h - a layer of a column as statements ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_FORMS_COLUMNPRINTER_H
#define ML2K_EMIT_FORMS_COLUMNPRINTER_H

#include "translator/emit/forms/ColumnBody.h"
#include "translator/emit/kernels/KernelParts.h"
#include "translator/emit/scalars/Scalars.h"

namespace ml2k {

/// Rows are printed in ColumnRows.cpp, other layers in ColumnBody.cpp.
class ColumnPrinter {
public:
  ColumnPrinter(Column const &column, ColumnLayer const &layer, EmitOptions const &options,
                std::set<std::string> &blocks);
  mlir::FailureOr<Json> print();

private:
  Expression at(ColumnTensor const &tensor, Expression const &index) const;
  Expression element(ColumnPart part, Expression const &index) const;
  Expression vectorElement(mlir::Value weight, Expression const &index);
  mlir::FailureOr<Expression> operand(unsigned number, std::optional<Expression> const &along);
  Expression indexOf(mlir::AffineMap map, mlir::Value value, Expression const &along);
  cpp::Assign store(unsigned result, Expression const &index, Expression const &value, bool isLast = true) const;
  ScalarPrinter scalars();
  mlir::LogicalResult bindOperands(ScalarPrinter &printer, mlir::Block::BlockArgListType arguments, unsigned first,
                                   Body &to);
  mlir::LogicalResult printBlock(ScalarPrinter &printer, mlir::Block &block, Body &statements);

  Json view(Body const &statements);

  mlir::FailureOr<Json> printLinear();
  mlir::FailureOr<Json> printEach();
  mlir::FailureOr<Json> printRow();
  Json printCopy();
  mlir::LogicalResult printGet(nest::GetOp get, ScalarPrinter &printer, Body &to);
  mlir::LogicalResult printSet(nest::SetOp set, ScalarPrinter &printer, Body &to);
  mlir::LogicalResult printFold(nest::FoldOp fold, ScalarPrinter &printer, Body &to);
  mlir::LogicalResult printEachAlong(nest::EachOp each, ScalarPrinter &printer, Body &to);

  void useBlock(llvm::StringRef name) { blocks.insert(name.str()); }

  Column const &column;
  ColumnLayer const &layer;
  EmitOptions const &options;
  std::set<std::string> &blocks;
  llvm::SmallVector<mlir::AffineMap> maps;
  unsigned along = 0; ///< the loop along a row
  Scope scope;
  Identifier index = Raw("i"); ///< the position in a row
};

} // namespace ml2k

#endif
