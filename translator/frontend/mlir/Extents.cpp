//===- Extents.cpp - names for extents that are known at run time only --------------------------------------------===//
//
// Extents of different arguments may differ, so each has a name of its own; those of a result take the name of the
// argument's extent that they come from. The printed forward() compares extents that share a name.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace {

class ExtentNames {
public:
  explicit ExtentNames(func::FuncOp entry) : entry(entry) {
    for (BlockArgument argument : entry.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType()); type && !type.hasStaticShape())
        entry.setArgAttr(argument.getArgNumber(), "nest.dims", namesOf(argument, type));
  }

  void nameResults() {
    Operation *const end = entry.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !type.hasStaticShape())
        entry.setResultAttr(i, "nest.dims", namesOfResult(i, value, type));
  }

private:
  /// The first extent of the first argument that has one is the batch.
  ArrayAttr namesOf(BlockArgument argument, RankedTensorType type) {
    Builder builder(entry.getContext());
    std::string const name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name").str();
    SmallVector<Attribute> names;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool const isBatch = dim == 0 && type.isDynamicDim(0) && !hasBatch;
      hasBatch |= isBatch;
      std::string const own = name + "_size" + (type.getRank() > 1 ? "_" + std::to_string(dim) : "");
      names.push_back(builder.getStringAttr(!type.isDynamicDim(dim) ? "" : isBatch ? "batch" : own));
    }
    return builder.getArrayAttr(names);
  }

  ArrayAttr namesOfResult(unsigned result, Value value, RankedTensorType type) {
    Builder builder(entry.getContext());
    std::string const name = entry.getResultAttrOfType<StringAttr>(result, "nest.name").str();
    SmallVector<Attribute> names;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      StringAttr const known = type.isDynamicDim(dim) ? source(value, dim) : builder.getStringAttr("");
      std::string const own = name + "_size" + (type.getRank() > 1 ? "_" + std::to_string(dim) : "");
      names.push_back(known ? known : builder.getStringAttr(own));
    }
    return builder.getArrayAttr(names);
  }

  /// The name of the argument's extent that a dimension has; null if it is computed.
  StringAttr source(Value value, int64_t dim) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != &entry.getBody().front())
        return {};
      auto const names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
      return names ? cast<StringAttr>(names[dim]) : StringAttr();
    }
    Operation *op = value.getDefiningOp();
    unsigned const number = cast<OpResult>(value).getResultNumber();
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      auto size = empty.getType().isDynamicDim(dim) ? empty.getDynamicSize(dim).getDefiningOp<tensor::DimOp>()
                                                    : tensor::DimOp();
      return size && size.getConstantIndex() ? source(size.getSource(), *size.getConstantIndex()) : StringAttr();
    }
    if (auto kernel = dyn_cast<DestinationStyleOpInterface>(op))
      return source(kernel.getTiedOpOperand(cast<OpResult>(value))->get(), dim);
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      return source(cast.getSource(), dim);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return source(loop.getInitArgs()[number], dim);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      StringAttr const yes = source(branch.thenYield().getOperand(number), dim);
      return yes == source(branch.elseYield().getOperand(number), dim) ? yes : StringAttr();
    }
    return {};
  }

  func::FuncOp entry;
  bool hasBatch = false;
};

} // namespace

void ml2k::mlir_import::nameExtents(func::FuncOp entry) {
  if (llvm::any_of(entry.getArgumentTypes(), llvm::IsaPred<RankedTensorType>))
    ExtentNames(entry).nameResults();
}
