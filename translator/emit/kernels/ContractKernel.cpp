//===- ContractKernel.cpp - nest.contract: contract, batched_contract ---------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ml2k {

namespace {

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
        space{SmallVector<Expression>(loops.extents.size(), Expression{"0"}), loops.extents, {}},
        batch(fuse(roles.batch, {"b", "h", "g"}, "batch")), m(fuse(roles.m, {"n", "t", "i"}, "row")),
        n(fuse(roles.n, {"o", "j", "l"}, "column")), k(fuse(roles.k, {"k", "c", "s"}, "term")) {}

  FusedLoops fuse(ArrayRef<unsigned> role, ArrayRef<StringRef> letters, StringRef fused) {
    SmallVector<StringRef> wanted;
    for (unsigned i = 0; i < role.size(); ++i)
      wanted.push_back(letters[std::min<size_t>(i, letters.size() - 1)]);
    return FusedLoops(layer, loops, role, layer.indexNames(wanted), fused, space);
  }

  /// A lambda with the statements' indices recovered from the fused ones.
  void addLambda(std::string const &first, ArrayRef<FusedLoops const *> indices, Json statements,
                 std::string const &result = "") {
    std::vector<std::string> names;
    for (FusedLoops const *fused : indices) {
      fused->recover(statements);
      names.push_back(fused->name());
    }
    std::string const lambda = first + indexParameters(names, statements);
    layer.addLambda(lambda, std::move(statements), result);
  }

  /// The lambda that returns an element of an operand, or a reference to it.
  LogicalResult addRead(unsigned operand, ArrayRef<FusedLoops const *> indices, bool byReference) {
    FailureOr<Expression> read = layer.element(op->getOperand(operand), maps[operand], space);
    if (failed(read))
      return failure();
    bool const isCast = !read->asUnsigned.empty();
    Type const type = cast<MemRefType>(op->getOperand(operand).getType()).getElementType();
    std::string const value = isCast ? ml2k::cast(cppType(type), *read).text : read->text;
    addLambda("", indices, Json::array({{{"template", "statement/return"}, {"value", value}}}),
              byReference ? cppType(type) + " const &" : "");
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
           isReadInPlace(operand, cast<MemRefType>(op->getOperand(operand).getType()).getElementType());
  }

  /// True if the results are the sums as they are, side by side along columns.
  bool storesInPlace(Json const &stores, std::string const &sum) {
    auto const type = cast<MemRefType>(op.getOutputs()[0].getType());
    return stores.size() == 1 && stores[0]["template"] == "statement/assign" && stores[0]["value"] == sum &&
           llvm::all_of(op.getInputs(),
                        [&](Value input) {
                          return cast<MemRefType>(input.getType()).getElementType() == type.getElementType();
                        }) &&
           type.getElementType() == op.getEpilogue().front().getArgument(0).getType() && roles.n.size() == 1 &&
           liesAlong(op.getOutputs()[0], maps.back(), roles.n[0]);
  }

  /// Neither cast on its way nor of another type than the other operand.
  bool isReadInPlace(unsigned operand, Type type) {
    FailureOr<Expression> const read = layer.element(op.getInputs()[operand], maps[operand], space);
    return succeeded(read) && read->asUnsigned.empty() &&
           type == cast<MemRefType>(op->getOperand(1 - operand).getType()).getElementType();
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

  FailureOr<Expression> bindEpilogue(ScalarPrinter &printer, Json &statements, std::string &parameters) {
    Block &block = op.getEpilogue().front();
    std::string const sum = layer.scope.fresh({"sum", "value"});
    parameters = computeType(block.getArgument(0).getType()) + " " + sum + ", ";
    printer.bind(block.getArgument(0), {sum});
    if (Value const biased = layer.program.biasedSum(op))
      printer.bind(biased, {sum});
    if (failed(bindElements(layer, printer, block.getArguments().drop_front(), op.getExtras(),
                            ArrayRef(maps).drop_front(2), space, statements)))
      return failure();
    return Expression{sum};
  }

  LogicalResult printPacked(Storage const &weight);
  LogicalResult printBatched();
};

LogicalResult Contraction::printPacked(Storage const &weight) {
  if (!roles.batch.empty() || !isMatrix(0, roles.m, roles.k) || !isMatrix(maps.size() - 1, roles.m, roles.n))
    return op.emitError("packed, but its operands are not row-major matrices");
  int64_t const rows = extentOf(roles.m);
  FailureOr<std::string> a = layer.matrix(op.getInputs()[0], extentOf(roles.k), rows, m.size(), "in");
  FailureOr<std::string> out = layer.matrix(op.getOutputs()[0], extentOf(roles.n), rows, m.size(), "out");
  if (failed(a) || failed(out))
    return failure();
  Json statements = Json::array();
  std::string parameters;
  ScalarPrinter printer = layer.scalars(space);
  if (failed(bindEpilogue(printer, statements, parameters)) ||
      failed(returnValue(printer, op.getEpilogue().front(), statements)))
    return failure();
  layer.program.useBlock("contract");
  std::vector<std::string> arguments = {m.size().text, *a, layer.member(weight), *out};
  layer.addSplit(arguments, cast<MemRefType>(weight.value.getType()).getElementType());
  addLambda(parameters, {&m, &n}, std::move(statements));
  layer.nameEpilogue(op.getEpilogue().front());
  layer.nameUnchanged(arguments);
  layer.setCall("contract", arguments);
  return success();
}

LogicalResult Contraction::printBatched() {
  layer.program.useBlock("batched_contract");
  bool const ofLeft = columnsAdjoin(0, roles.k), ofRight = columnsAdjoin(1, roles.n) && rowsAreEven();
  auto const columns = [](bool adjacent) { return adjacent ? "Columns::adjacent" : "Columns::apart"; };
  layer.setCall(llvm::formatv("batched_contract<{0}, {1}>", columns(ofLeft), columns(ofRight)),
                {batch.size().text, m.size().text, n.size().text, k.size().text});
  if (failed(addRead(0, {&batch, &m, &k}, ofLeft)) || failed(addRead(1, {&batch, &k, &n}, ofRight)))
    return failure();
  Json statements = Json::array();
  std::string parameters;
  ScalarPrinter printer = layer.scalars(space);
  Block &block = op.getEpilogue().front();
  FailureOr<Expression> const sum = bindEpilogue(printer, statements, parameters);
  if (failed(sum) || failed(printer.print(block, statements)) ||
      failed(storeElements(layer, printer, block, op.getOutputs(), ArrayRef(maps).take_back(1), space, statements)))
    return failure();
  if (storesInPlace(statements, sum->text)) {
    std::string const target = statements[0]["target"];
    addLambda("", {&batch, &m, &n}, Json::array({{{"template", "statement/return"}, {"value", target}}}),
              cppType(cast<MemRefType>(op.getOutputs()[0].getType()).getElementType()) + " &");
  } else {
    addLambda(parameters, {&batch, &m, &n}, std::move(statements));
  }
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
