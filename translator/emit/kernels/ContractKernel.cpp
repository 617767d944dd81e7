//===- ContractKernel.cpp - nest.contract: contract, batched_contract ---------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

namespace {

/// Batches of matrices up to so many rows, columns and k share a device's teams.
constexpr int64_t smallEdge = 32;

/// From so many multiplications on, the text has the tiles that devices take for large products, and what they do with
/// up to `fewRows` rows of them or of smaller ones; what a number of rows that is known at run time only counts as.
constexpr int64_t largeProduct = int64_t(1) << 24, productOfFew = int64_t(1) << 20, fewRows = 4, someRows = 256;

/// The loops of a contraction by role, each role run as one loop.
struct Roles {
  SmallVector<unsigned> batch, m, n, k;

  Roles(nest::ContractOp contract, Layer::Loops const &loops) {
    for (auto [loop, role] : llvm::enumerate(contract.getRoles()))
      if (loops.extents[loop] != 1)
        (role == nest::Role::Batch ? batch : role == nest::Role::M ? m : role == nest::Role::N ? n : k).push_back(loop);
  }
};

/// A contraction with its names, ready to print lambdas over (batch, m, n, k).
struct Contraction {
  nest::ContractOp op;
  Layer &layer;
  SmallVector<AffineMap> maps;
  Layer::Loops loops;
  Roles roles;
  IndexSpace space;
  FusedLoops batch, m, n, k;

  Contraction(nest::ContractOp op, Layer &layer)
      : op(op), layer(layer), maps(mapsOf(op.getIndexingMaps())),
        loops(layer.loops(maps, SmallVector<Value>(op->getOperands()))), roles(op, loops),
        space{SmallVector<Expression>(loops.extents.size(), literal(0)), loops.extents, {}},
        batch(fuse(roles.batch, {"b", "h", "g"}, "batch")), m(fuse(roles.m, {"n", "t", "i"}, "row")),
        n(fuse(roles.n, {"o", "j", "l"}, "column")), k(fuse(roles.k, {"k", "c", "s"}, "term")) {}

  FusedLoops fuse(ArrayRef<unsigned> role, ArrayRef<StringRef> letters, StringRef fused) {
    SmallVector<StringRef> wanted;
    for (unsigned i = 0; i < role.size(); ++i)
      wanted.push_back(letters[std::min<size_t>(i, letters.size() - 1)]);
    return FusedLoops(layer, loops, role, layer.indexNames(wanted), fused, space);
  }

  /// A lambda of `first` and the loops, whose indices are recovered from the fused ones.
  void addLambda(std::vector<cpp::Parameter> parameters, ArrayRef<FusedLoops const *> indices, Body statements,
                 Code const &result = {}) {
    for (FusedLoops const *fused : indices) {
      fused->recover(statements);
      parameters.push_back(cpp::intParameter(fused->name()));
    }
    layer.addLambda({std::move(parameters), std::move(statements), result});
  }

  Type elementType(Value operand) const { return cast<MemRefType>(operand.getType()).getElementType(); }

  /// The lambda that returns an element of an operand, or a reference to it.
  LogicalResult addRead(unsigned operand, ArrayRef<FusedLoops const *> indices, bool byReference) {
    FailureOr<Expression> read = layer.element(op->getOperand(operand), maps[operand], space);
    if (failed(read))
      return failure();
    Code const type = scalarType(elementType(op->getOperand(operand))).code;
    Expression const value = read->unsignedForm() ? cpp::cast(type, *read) : *read;
    addLambda({}, indices, {cpp::Return{value}}, byReference ? type + Raw(" const &") : Code());
    return success();
  }

  /// True if the operand is a row-major matrix of the given rows and columns.
  bool isMatrix(unsigned operand, ArrayRef<unsigned> rows, ArrayRef<unsigned> columns) const {
    SmallVector<unsigned> wanted(rows), found;
    llvm::append_range(wanted, columns);
    for (AffineExpr expr : maps[operand].getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        if (loops.extents[dim.getPosition()] != 1)
          found.push_back(dim.getPosition());
      } else if (expr != 0) {
        return false;
      }
    return wanted == found;
  }

  /// True if the columns of an operand lie side by side in memory, and those of both hold the same type.
  bool columnsAdjoin(unsigned operand, ArrayRef<unsigned> columns) {
    return columns.size() == 1 && liesAlong(op->getOperand(operand), maps[operand], columns[0]) &&
           isReadInPlace(operand);
  }

  /// What the stores write if that is the sums as they are, side by side along columns; else null.
  Expression const *storedInPlace(Body const &stores, Expression const &sum) {
    cpp::Assign const *assign = stores.size() == 1 ? stores.front().as<cpp::Assign>() : nullptr;
    Type const type = elementType(op.getOutputs()[0]);
    bool const isOneType = type == op.getEpilogue().front().getArgument(0).getType() &&
                           llvm::all_of(op.getInputs(), [&](Value input) { return elementType(input) == type; });
    bool const isInPlace = assign && assign->value == sum && isOneType && roles.n.size() == 1 &&
                           liesAlong(op.getOutputs()[0], maps.back(), roles.n[0]);
    return isInPlace ? &assign->target : nullptr;
  }

  /// Neither cast on its way nor of another type than the other operand.
  bool isReadInPlace(unsigned operand) {
    Storage const *storage = layer.program.storageOf(op->getOperand(operand));
    return storage && !storage->isUnsigned &&
           elementType(op->getOperand(operand)) == elementType(op->getOperand(1 - operand));
  }

  /// True if the rows of the second operand, along k, lie at equal distances.
  bool rowsAreEven() const {
    return roles.k.size() <= 1 && llvm::all_of(maps[1].getResults(), [&](AffineExpr expr) {
             return roles.k.empty() || !expr.isFunctionOfDim(roles.k[0]) || isa<AffineDimExpr>(expr);
           });
  }

  int64_t extentOf(ArrayRef<unsigned> role) const {
    int64_t extent = 1;
    for (unsigned loop : role)
      extent = ShapedType::isDynamic(loops.extents[loop]) || ShapedType::isDynamic(extent)
                   ? ShapedType::kDynamic
                   : extent * loops.extents[loop];
    return extent;
  }

  /// Binds what the epilogue works on; the parameter of its sum comes back.
  FailureOr<cpp::Parameter> bindEpilogue(ScalarPrinter &printer, Body &statements) {
    Block &block = op.getEpilogue().front();
    Identifier const sum = layer.scope.fresh({"sum", "value"});
    printer.bind(block.getArgument(0), cpp::name(sum));
    if (Value const biased = nest::biasedSum(op))
      printer.bind(biased, cpp::name(sum));
    if (failed(bindElements(layer, printer, block.getArguments().drop_front(), op.getExtras(),
                            ArrayRef(maps).drop_front(2), space, statements)))
      return failure();
    return cpp::Parameter{computedType(block.getArgument(0).getType()).code, sum};
  }

  LogicalResult printPacked(Storage const &weight);
  void useDeviceTiles(int64_t rows);
  LogicalResult printBatched();
};

void Contraction::useDeviceTiles(int64_t rows) {
  bool const few = rows > 0 && rows <= fewRows;
  int64_t const size = (ShapedType::isDynamic(rows) ? someRows : rows) * extentOf(roles.k) * extentOf(roles.n);
  if (size >= largeProduct && !few)
    layer.needBlock("large_product");
  if (size >= largeProduct || (few && size >= productOfFew))
    layer.needBlock("few_rows");
}

LogicalResult Contraction::printPacked(Storage const &weight) {
  if (!roles.batch.empty() || !isMatrix(0, roles.m, roles.k) || !isMatrix(maps.size() - 1, roles.m, roles.n))
    return op.emitError("packed, but its operands are not row-major matrices");
  int64_t const rows = extentOf(roles.m);
  FailureOr<Expression> a = layer.matrix(op.getInputs()[0], extentOf(roles.k), rows, m.size(), "in");
  FailureOr<Expression> out = layer.matrix(op.getOutputs()[0], extentOf(roles.n), rows, m.size(), "out");
  if (failed(a) || failed(out))
    return failure();
  Body statements;
  ScalarPrinter printer = layer.scalars(space);
  FailureOr<cpp::Parameter> const sum = bindEpilogue(printer, statements);
  if (failed(sum) || failed(returnValue(printer, op.getEpilogue().front(), statements)))
    return failure();
  std::vector<Expression> arguments = {m.size(), *a, layer.member(weight), *out};
  layer.addSplit(arguments, elementType(weight.value));
  useDeviceTiles(rows);
  layer.setCall("contract", arguments);
  addLambda({*sum}, {&m, &n}, std::move(statements));
  layer.nameEpilogue(op.getEpilogue().front());
  layer.nameUnchanged();
  return success();
}

LogicalResult Contraction::printBatched() {
  bool const ofLeft = columnsAdjoin(0, roles.k), ofRight = columnsAdjoin(1, roles.n) && rowsAreEven();
  auto const columns = [](bool adjacent) { return adjacent ? Raw("Columns::adjacent") : Raw("Columns::apart"); };
  std::initializer_list<int64_t> const extents = {extentOf(roles.m), extentOf(roles.n), extentOf(roles.k)};
  if (llvm::all_of(extents, [](int64_t extent) { return ShapedType::isDynamic(extent) || extent <= smallEdge; }))
    layer.needBlock("small_products");
  layer.setCall("batched_contract", columns(ofLeft) + Code(Raw(", ")) + columns(ofRight),
                {batch.size(), m.size(), n.size(), k.size()});
  if (failed(addRead(0, {&batch, &m, &k}, ofLeft)) || failed(addRead(1, {&batch, &k, &n}, ofRight)))
    return failure();
  Body statements;
  ScalarPrinter printer = layer.scalars(space);
  Block &block = op.getEpilogue().front();
  FailureOr<cpp::Parameter> const sum = bindEpilogue(printer, statements);
  if (failed(sum) || failed(printer.print(block, statements)) ||
      failed(storeElements(layer, printer, block, op.getOutputs(), ArrayRef(maps).take_back(1), space, statements)))
    return failure();
  if (Expression const *target = storedInPlace(statements, cpp::name(*sum->name)))
    addLambda({}, {&batch, &m, &n}, {cpp::Return{*target}},
              scalarType(elementType(op.getOutputs()[0])).code + Raw(" &"));
  else
    addLambda({*sum}, {&batch, &m, &n}, std::move(statements));
  return success();
}

} // namespace

FailureOr<std::string> printContract(Operation *op, Layer &layer) {
  Contraction contraction(cast<nest::ContractOp>(op), layer);
  nest::ContractOp const contract = contraction.op;
  Storage const *weight = layer.program.storageOf(op->getOperand(1));
  bool const packed = weight && weight->packing == nest::PackingKind::Panels;
  if (failed(packed ? contraction.printPacked(*weight) : contraction.printBatched()))
    return failure();
  nest::ContractOp described = contract;
  return describe(layer, described.getInputs(), described.getExtras(), described.getOutputs(), " * ");
}

} // namespace ml2k
