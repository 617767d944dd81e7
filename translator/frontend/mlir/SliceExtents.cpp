//===- SliceExtents.cpp - run-time extents that slices, pads and windows of tensors need --------------------------===//
//
// Equal extents share a name (Extents.cpp). What is left are sums and products of extents and of numbers passed by
// value: a slice has to lie inside, and operands of which one is padded, or read through windows, have to fit. Loops
// are taken to run; what stands under a condition needs nothing, perhaps it does not run.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"
#include "translator/ir/SizeChecks.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace {

class SliceExtents : ml2k::SizeChecks {
public:
  using SizeChecks::SizeChecks;

  void run() {
    visit(entry.getBody().front());
    write(entry.getBody().front());
    describeResults();
  }

private:
  using Polynomial = ml2k::Polynomial;

  //===--- Extents ---===//

  Value64 extent(Value shaped, int64_t dim) override {
    auto const type = dyn_cast<RankedTensorType>(shaped.getType());
    if (!type)
      return std::nullopt;
    if (!type.isDynamicDim(dim))
      return Polynomial(type.getDimSize(dim));
    if (auto argument = dyn_cast<BlockArgument>(shaped))
      return isOfEntry(argument) ? extentOfArgument(argument, dim) : ofCarried(argument, dim);
    return ofResult(cast<OpResult>(shaped), dim);
  }

  Value64 ofCarried(BlockArgument argument, int64_t dim) {
    Operation *const loop = argument.getOwner()->getParentOp();
    if (auto counted = dyn_cast<scf::ForOp>(loop); counted && argument.getArgNumber() > 0)
      return extent(counted.getInitArgs()[argument.getArgNumber() - 1], dim);
    auto repeated = dyn_cast<scf::WhileOp>(loop);
    if (repeated && argument.getOwner() == repeated.getBeforeBody())
      return extent(repeated.getInits()[argument.getArgNumber()], dim);
    return repeated ? extent(repeated.getConditionOp().getArgs()[argument.getArgNumber()], dim) : std::nullopt;
  }

  Value64 ofResult(OpResult value, int64_t dim) {
    Operation *const op = value.getOwner();
    unsigned const number = value.getResultNumber();
    if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      return polynomialOf(empty.getMixedSizes()[dim]);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return ofSlice(slice, dim);
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
      return extent(slice.getDest(), dim);
    if (auto padded = dyn_cast<tensor::PadOp>(op)) {
      Value64 const inner = extent(padded.getSource(), dim), low = polynomialOf(padded.getMixedLowPad()[dim]),
                    high = polynomialOf(padded.getMixedHighPad()[dim]);
      return sum(sum(inner, low, 1), high, 1);
    }
    if (auto kernel = dyn_cast<DestinationStyleOpInterface>(op))
      return extent(kernel.getTiedOpOperand(value)->get(), dim);
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      return extent(cast.getSource(), dim);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return extent(loop.getInitArgs()[number], dim);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return extent(loop.getConditionOp().getArgs()[number], dim);
    return std::nullopt;
  }

  /// Of the dimension of the source that becomes dimension `dim`.
  Value64 ofSlice(tensor::ExtractSliceOp slice, int64_t dim) {
    llvm::SmallBitVector const dropped = slice.getDroppedDims();
    for (auto [source, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(source) && dim-- == 0)
        return polynomialOf(size);
    return std::nullopt;
  }

  //===--- Operations ---===//

  void visit(Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        enter(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
        visit(*loop.getBody());
        leave();
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        visit(*loop.getBeforeBody());
        visit(*loop.getAfterBody());
      } else if (auto kernel = dyn_cast<linalg::LinalgOp>(op)) {
        fit(kernel);
      } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        liesInside(slice, slice.getSource());
      } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
        liesInside(slice, slice.getDest());
        fills(slice);
      } else if (auto cast = dyn_cast<tensor::CastOp>(op)) {
        isAsCast(cast);
      }
    }
  }

  //===--- Results ---===//

  /// No number passed by value is called like an extent.
  bool isPlain(StringRef name) {
    bool const isNumber = llvm::any_of(entry.getArguments(), [&](BlockArgument argument) {
      return !isa<ShapedType>(argument.getType()) &&
             entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name") == name;
    });
    return isNumber != isOfArgument(name);
  }

  bool isOfArgument(StringRef name) {
    return llvm::any_of(entry.getArguments(), [&](BlockArgument argument) {
      auto const dims = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
      return dims && llvm::is_contained(dims.getAsValueRange<StringAttr>(), name);
    });
  }

  /// Extents of results that are computed, for forward() to compare: nest.extents over nest.symbols.
  void describeResults() {
    SmallVector<std::string> names;
    SmallVector<SmallVector<AffineExpr>> results;
    for (auto [i, value] : llvm::enumerate(entry.getBody().front().getTerminator()->getOperands())) {
      auto const type = dyn_cast<RankedTensorType>(value.getType());
      auto const dims = entry.getResultAttrOfType<ArrayAttr>(i, "nest.dims");
      results.emplace_back(type && dims ? type.getRank() : 0);
      for (auto [dim, expr] : llvm::enumerate(results.back()))
        if (type.isDynamicDim(dim) && !isOfArgument(cast<StringAttr>(dims[dim])))
          if (Value64 const length = extent(value, dim))
            expr = affine(*length, names);
    }
    if (!llvm::all_of(names, [&](std::string const &name) { return isPlain(name); }))
      return;
    Builder builder(entry.getContext());
    auto const map = [&](AffineExpr expr) -> Attribute {
      return expr ? Attribute(AffineMapAttr::get(AffineMap::get(0, names.size(), expr))) : builder.getUnitAttr();
    };
    for (auto [i, exprs] : llvm::enumerate(results))
      if (llvm::any_of(exprs, [](AffineExpr expr) { return bool(expr); }))
        entry.setResultAttr(i, "nest.extents", builder.getArrayAttr(llvm::map_to_vector(exprs, map)));
    if (!names.empty())
      entry->setAttr("nest.symbols", builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(names)));
  }

  //===--- Requirements ---===//

  void atMost(Value64 const &value, Value64 const &limit) { atMostZero(sum(value, limit, -1)); }

  void liesInside(OffsetSizeAndStrideOpInterface slice, Value whole) {
    for (auto [dim, offset, size, stride] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides())) {
      Value64 const first = polynomialOf(offset);
      Value64 const count = polynomialOf(size), step = polynomialOf(stride), available = extent(whole, dim);
      Value64 const last = sum(first, product(sum(count, Polynomial(1), -1), step), 1);
      atMost(Polynomial(), extreme(first, false));
      atMost(extreme(sum(last, Polynomial(1), 1), true), available);
    }
  }

  /// A cast to extents that are known says what the run-time extents are.
  void isAsCast(tensor::CastOp cast) {
    auto const type = dyn_cast<RankedTensorType>(cast.getType());
    for (int64_t dim = 0; type && isa<RankedTensorType>(cast.getSource().getType()) && dim < type.getRank(); ++dim)
      if (!type.isDynamicDim(dim))
        zero(extreme(sum(extent(cast.getSource(), dim), Polynomial(type.getDimSize(dim)), -1), true));
  }

  /// What is inserted is as large as the slice says.
  void fills(tensor::InsertSliceOp slice) {
    llvm::SmallBitVector const dropped = slice.getDroppedDims();
    int64_t dim = 0;
    for (auto [target, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(target)) {
        Value64 const wanted = polynomialOf(size), given = extent(slice.getSource(), dim++);
        zero(extreme(sum(wanted, given, -1), true));
      }
  }

  /// Operands whose dimension is a loop are as long as that; a window, as one that reads x[2 * i + k], lies inside.
  void fit(linalg::LinalgOp kernel) {
    SmallVector<Value64> loops(kernel.getNumLoops());
    eachDim(kernel, [&](AffineExpr expr, Value64 const &length) {
      auto const loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || !length)
        return;
      Value64 &known = loops[loop.getPosition()];
      if (known)
        zero(extreme(sum(length, known, -1), true));
      else
        known = length;
    });
    eachDim(kernel, [&](AffineExpr expr, Value64 const &length) {
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        atMost(extreme(sum(last(expr, loops), Polynomial(1), 1), true), length);
    });
  }

  void eachDim(linalg::LinalgOp kernel, llvm::function_ref<void(AffineExpr, Value64 const &)> visit) {
    for (OpOperand &operand : kernel->getOpOperands())
      for (auto [dim, expr] : llvm::enumerate(kernel.getMatchingIndexingMap(&operand).getResults()))
        visit(expr, extent(operand.get(), dim));
  }

  /// The largest value of a sum of loops with factors that are not negative.
  static Value64 last(AffineExpr expr, ArrayRef<Value64> loops) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return Polynomial(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return sum(loops[dim.getPosition()], Polynomial(1), -1);
    auto const node = dyn_cast<AffineBinaryOpExpr>(expr);
    auto const factor = node ? dyn_cast<AffineConstantExpr>(node.getRHS()) : AffineConstantExpr();
    if (node && node.getKind() == AffineExprKind::Add)
      return sum(last(node.getLHS(), loops), last(node.getRHS(), loops), 1);
    return node && node.getKind() == AffineExprKind::Mul && factor && factor.getValue() >= 0
               ? product(last(node.getLHS(), loops), Polynomial(factor.getValue()))
               : std::nullopt;
  }
};

} // namespace

void ml2k::mlir_import::checkSliceExtents(func::FuncOp entry) { SliceExtents(entry).run(); }
