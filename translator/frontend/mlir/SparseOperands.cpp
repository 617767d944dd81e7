//===- SparseOperands.cpp - sparse arguments that kernels of our own walk through ---------------------------------===//
//
// An operation that is zero wherever its one sparse operand is can run over the stored elements alone, and which of its
// loops are parallel follows from how they are stored. Such an operand becomes its arrays; until the kernels are made,
// a dense argument behind all others stands for it, so that bufferization sees what it knows. All other operations on
// sparse tensors are left to upstream's sparsification.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k::mlir_import {

//===--- Which operations -----------------------------------------------------------------------------------------===//

/// Of what the text has: a value has the entries of nothing else.
static std::optional<Storage> storageOf(Value value) {
  if (!isSparse(value))
    return std::nullopt;
  return Storage{sparse_tensor::getSparseTensorEncoding(value.getType()),
                 int64_t(reinterpret_cast<intptr_t>(value.getAsOpaquePointer()))};
}

static bool isOwnKernel(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && llvm::none_of(op.getDpsInits(), isSparse) && walkedInput(op, storageOf);
}

static bool isOwn(OpOperand &use) {
  if (auto size = dyn_cast<tensor::DimOp>(use.getOwner()))
    return size.getConstantIndex().has_value();
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && isOwnKernel(op);
}

/// The extents of a sparse operand: where other operands are dense along the same loops, theirs, which somebody knows.
static SmallVector<OpFoldResult> sizesOf(OpBuilder &builder, linalg::LinalgOp op, OpOperand &sparse) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, op.getLoc(), sparse.get());
  for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&sparse).getResults()))
    for (OpOperand &other : op->getOpOperands())
      for (auto [place, its] : llvm::enumerate(op.getMatchingIndexingMap(&other).getResults()))
        if (its == expr && !isSparse(other.get()) && !isa<Attribute>(sizes[dim]))
          sizes[dim] = tensor::getMixedSize(builder, op.getLoc(), other.get(), place);
  return sizes;
}

Value densified(OpBuilder &builder, Location location, Value sparse, ArrayRef<OpFoldResult> sizes) {
  auto const type = cast<RankedTensorType>(sparse.getType());
  Value const dense = builder.create<tensor::EmptyOp>(location, sizes, type.getElementType());
  SmallVector<AffineMap> const maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> const kinds(type.getRank(), utils::IteratorType::parallel);
  return builder
      .create<linalg::GenericOp>(
          location, dense.getType(), sparse, dense, maps, kinds,
          [](OpBuilder &inside, Location at, ValueRange values) { inside.create<linalg::YieldOp>(at, values[0]); })
      .getResult(0);
}

/// Conversions to dense tensors.
static void densifyConversions(func::FuncOp entry) {
  SmallVector<sparse_tensor::ConvertOp> conversions;
  entry.walk([&](sparse_tensor::ConvertOp convert) {
    if (!isSparse(convert.getDest()))
      conversions.push_back(convert);
  });
  for (sparse_tensor::ConvertOp convert : conversions) {
    OpBuilder builder(convert);
    Value const source = convert.getSource(); // perhaps dense itself by now
    Value dense = isSparse(source) ? densified(builder, convert.getLoc(), source,
                                               tensor::getMixedSizes(builder, convert.getLoc(), source))
                                   : source;
    if (dense.getType() != convert.getType())
      dense = builder.create<tensor::CastOp>(convert.getLoc(), convert.getType(), dense);
    convert.getDest().replaceAllUsesWith(dense);
    convert.erase();
  }
}

/// An operation that no kernel can run by entries: it has a sparse result, or other operations of the program have.
static void densifyOperands(linalg::LinalgOp op) {
  OpBuilder builder(op);
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isSparse(operand->get()))
      operand->set(densified(builder, op.getLoc(), operand->get(), sizesOf(builder, op, *operand)));
}

/// Whether some operation makes a sparse tensor: all of them are ours then.
static bool hasSparseResults(func::FuncOp entry) {
  return entry
      .walk([](Operation *op) {
        bool const isMade =
            !isa<tensor::EmptyOp, bufferization::AllocTensorOp>(op) && llvm::any_of(op->getResults(), isSparse);
        return isMade ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether an element depends on what it was in another way than that something is joined to it, as in `c + c * x`.
static bool transformsResult(linalg::LinalgOp op) {
  Operation *const terminator = op.getBlock()->getTerminator();
  for (auto [output, value] : llvm::zip_equal(op.getDpsInitsMutable(), terminator->getOperands())) {
    BlockArgument const before = op.getMatchingBlockArgument(&output);
    if (!before.use_empty() && (!before.hasOneUse() || *before.getUsers().begin() != value.getDefiningOp()))
      return true;
  }
  return false;
}

/// Upstream's sparsification makes one sequential walk of windows over a sparse tensor, and crashes on some of blocks
/// and on elements that do more than collect terms.
static bool isBetterDense(linalg::LinalgOp op) {
  return transformsResult(op) || llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
           return isSparse(operand->get()) &&
                  (!op.getMatchingIndexingMap(operand).isProjectedPermutation(/*allowZeroInResults=*/true) ||
                   !sparse_tensor::getSparseTensorEncoding(operand->get().getType()).isPermutation());
         });
}

void densifyOthers(func::FuncOp entry) {
  densifyConversions(entry);
  bool const makesSparse = hasSparseResults(entry);
  SmallVector<linalg::LinalgOp> products;
  entry.walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics() && op.getNumDpsInits() == 1 && !isSparse(op.getDpsInits()[0]) &&
        llvm::count_if(op.getDpsInputs(), isSparse) > 1 && !walkedInput(op, storageOf))
      products.push_back(op);
  });
  for (linalg::LinalgOp op : products) {
    Value const term = termOf(op, op.getMatchingBlockArgument(op.getDpsInitOperand(0)));
    SmallVector<OpOperand *> const inputs = op.getDpsInputOperands();
    auto const kept = llvm::find_if(inputs, [&](OpOperand *operand) {
      return isSparse(operand->get()) && term && vanishes(term, op.getMatchingBlockArgument(operand));
    });
    OpBuilder builder(op);
    for (OpOperand *operand : inputs)
      if (kept != inputs.end() && operand != *kept && isSparse(operand->get()))
        operand->set(densified(builder, op.getLoc(), operand->get(), sizesOf(builder, op, *operand)));
  }
  SmallVector<linalg::LinalgOp> others;
  entry.walk([&](linalg::LinalgOp op) {
    bool const isMade = bool(op->removeAttr(madeDense));
    if ((isMade || makesSparse || isBetterDense(op)) && op.hasPureTensorSemantics() &&
        llvm::none_of(op.getDpsInits(), isSparse) && llvm::any_of(op.getDpsInputs(), isSparse) &&
        !speaksOfEntries(op) && !walkedInput(op, storageOf))
      others.push_back(op);
  });
  for (linalg::LinalgOp op : others)
    densifyOperands(op);
}

/// Where nothing reads the destination, it may be what the operation also reads: then it is made anew.
static void separateDestination(linalg::LinalgOp op) {
  OpOperand &output = *op.getDpsInitOperand(0);
  if (!op.getMatchingBlockArgument(&output).use_empty() || !llvm::is_contained(op.getDpsInputs(), output.get()))
    return;
  OpBuilder builder(op);
  output.set(builder.create<tensor::EmptyOp>(op.getLoc(), tensor::getMixedSizes(builder, op.getLoc(), output.get()),
                                             getElementTypeOrSelf(output.get())));
}

//===--- The arguments --------------------------------------------------------------------------------------------===//

void addArrays(func::FuncOp entry, unsigned place, StringRef name, RankedTensorType type, int64_t number,
               bool valuesOnly, bool counts) {
  Builder builder(entry.getContext());
  auto const encoding = cast<sparse_tensor::SparseTensorEncodingAttr>(type.getEncoding());
  SmallVector<SparseLevel> const levels = *levelsOf(encoding, /*takesLoose=*/true);
  bool const isOnly = llvm::count_if(levels, [](SparseLevel const &level) { return !level.isDense(); }) == 1;
  auto const add = [&](Type element, Twine const &array) {
    entry.insertArgument(
        place++, MemRefType::get({ShapedType::kDynamic}, element),
        builder.getDictionaryAttr({builder.getNamedAttr("nest.name", builder.getStringAttr(name + "_" + array)),
                                   builder.getNamedAttr(sparseTensor, builder.getI64IntegerAttr(number))}),
        entry.getLoc());
  };
  for (auto [i, level] : llvm::enumerate(levels)) {
    std::string const suffix = isOnly ? "" : std::to_string(i);
    if (valuesOnly)
      continue;
    if (level.hasPositions(i) || (counts && i == 0 && !level.isDense()))
      add(encoding.getPosElemType(), "positions" + suffix);
    if (!level.isDense())
      add(encoding.getCrdElemType(), "coordinates" + suffix);
  }
  add(type.getElementType(), "values");
}

static void standFor(func::FuncOp entry, unsigned place, int64_t number) {
  Builder builder(entry.getContext());
  BlockArgument argument = entry.getArgument(place);
  auto const type = cast<RankedTensorType>(argument.getType());
  StringAttr const name = entry.getArgAttrOfType<StringAttr>(place, "nest.name");
  addArrays(entry, place + 1, name, type, number);
  entry.insertArgument(
      entry.getNumArguments(), RankedTensorType::get(type.getShape(), type.getElementType()),
      builder.getDictionaryAttr({builder.getNamedAttr("nest.name", name),
                                 builder.getNamedAttr(sparseEncoding, type.getEncoding()),
                                 builder.getNamedAttr(sparseTensor, builder.getI64IntegerAttr(number))}),
      argument.getLoc());
  for (Operation *user : argument.getUsers())
    if (auto op = dyn_cast<linalg::LinalgOp>(user))
      separateDestination(op);
  argument.replaceAllUsesWith(entry.getArguments().back());
  entry.eraseArgument(place);
}

/// A use that is no own kernel of an argument of a program that makes sparse tensors; those are looked at later.
static LogicalResult checkUses(func::FuncOp entry, BlockArgument argument) {
  auto const encoding = sparse_tensor::getSparseTensorEncoding(argument.getType());
  if (encoding && !levelsOf(encoding, /*takesLoose=*/true))
    return entry.emitError() << "argument " << argument.getArgNumber()
                             << " is stored in a way that is not supported: " << encoding;
  for (OpOperand &use : argument.getUses()) {
    Operation *const user = use.getOwner();
    bool const isSorted = isa<sparse_tensor::ConvertOp>(user);
    bool const makesSparse = llvm::any_of(user->getResults(), isSparse);
    bool const isLoose = !levelsOf(sparse_tensor::getSparseTensorEncoding(argument.getType()));
    if (isLoose ? !isSorted : !makesSparse && !isOwn(use))
      return user->emitError("sparse operation is not supported in a program with sparse results");
  }
  return success();
}

/// Sparse arguments that are stood for: no operation has one of them and another sparse operand that is not.
static llvm::SmallPtrSet<Value, 4> ownArguments(func::FuncOp entry) {
  llvm::SmallPtrSet<Value, 4> own;
  for (BlockArgument argument : entry.getArguments())
    if (auto const encoding = sparse_tensor::getSparseTensorEncoding(argument.getType()))
      if (levelsOf(encoding) && llvm::all_of(argument.getUses(), isOwn))
        own.insert(argument);
  for (bool isSettled = false; !isSettled;) {
    isSettled = true;
    for (BlockArgument argument : entry.getArguments())
      for (Operation *user : argument.getUsers())
        if (own.contains(argument) &&
            llvm::any_of(user->getOperands(), [&](Value other) { return isSparse(other) && !own.contains(other); })) {
          own.erase(argument);
          isSettled = false;
        }
  }
  return own;
}

LogicalResult takeSparseOperands(func::FuncOp entry) {
  if (failed(inlineStoredBodies(entry)))
    return failure();
  int64_t number = 0;
  bool const makesSparse = hasSparseResults(entry);
  llvm::SmallPtrSet<Value, 4> const own = ownArguments(entry);
  for (BlockArgument argument : entry.getArguments())
    if (makesSparse && isSparse(argument) && failed(checkUses(entry, argument)))
      return failure();
  for (unsigned place = 0; place < entry.getNumArguments(); ++place) {
    BlockArgument argument = entry.getArgument(place);
    if (isSparse(argument) && (makesSparse || own.contains(argument)))
      standFor(entry, place--, number++);
  }
  if (failed(makesSparse ? takeSparseResults(entry, number) : chooseWalked(entry)))
    return failure();
  return dropStoredOnly(entry);
}

} // namespace ml2k::mlir_import
