//===- ContractKernel.cpp - nest.contract: contract, batched_contract ---------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/ir/InTurn.h"
#include "translator/ir/LibraryCalls.h"
#include "translator/ir/RowPlaces.h"
#include "translator/ir/StoredSums.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"

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
        space{SmallVector<Expression>(loops.extents.size(), literal(0)), loops.extents, {}},
        batch(fuse(roles.batch, {"b", "h", "g"}, "batch")), m(fuse(roles.m, {"n", "t", "i"}, "row")),
        n(fuse(roles.n, {"o", "j", "l"}, "column")), k(fuse(roles.k, {"k", "c", "s"}, "term")) {}

  FusedLoops fuse(ArrayRef<unsigned> role, ArrayRef<StringRef> letters, StringRef fused) {
    SmallVector<std::string> wanted;
    for (auto [i, loop] : llvm::enumerate(role)) {
      std::string const source = sourceNameOf(op, loop, loops.extents.size());
      wanted.push_back(source.empty() ? letters[std::min<size_t>(i, letters.size() - 1)].str() : source);
    }
    return FusedLoops(layer, loops, role, layer.indexNames(llvm::to_vector_of<StringRef>(wanted)), fused, space);
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

  LogicalResult addPlace(int64_t columns);
  LogicalResult printPacked(bool mayBeUnchanged = true);
  LogicalResult printParts(int64_t columns);
  FailureOr<cpp::Parameter> printEpilogue(Body &statements, ArrayRef<std::pair<Value, Expression>> known = {});
  LogicalResult printGathered(nest::RowPlaces const &places);
  LogicalResult printBatched();
};

/// What is returned of a sum, which is the parameter.
FailureOr<cpp::Parameter> Contraction::printEpilogue(Body &statements, ArrayRef<std::pair<Value, Expression>> known) {
  ScalarPrinter printer = layer.scalars(space);
  for (auto const &[value, expression] : known)
    printer.bind(value, expression);
  FailureOr<cpp::Parameter> const sum = bindEpilogue(printer, statements);
  if (failed(sum) || failed(returnValue(printer, op.getEpilogue().front(), statements)))
    return failure();
  return *sum;
}

/// The lambdas of contract_gathered: the places of a row, and what is returned of a sum and them.
LogicalResult Contraction::printGathered(nest::RowPlaces const &places) {
  Body lookup;
  ScalarPrinter printer = layer.scalars(space);
  SmallVector<Value> positions;
  for (nest::PositionOp position : places.positions)
    positions.push_back(position);
  SmallVector<Operation *> const operations = llvm::to_vector(llvm::reverse(places.own));
  auto const isOwn = [&](Operation *user) { return places.own.contains(user); };
  for (auto [argument, extra, map] :
       llvm::zip(op.getEpilogue().front().getArguments().drop_front(), op.getExtras(), ArrayRef(maps).drop_front(2)))
    if (llvm::any_of(argument.getUsers(), isOwn)) {
      FailureOr<Expression> read = layer.element(extra, map, space);
      if (failed(read))
        return failure();
      printer.bindRead(argument, std::move(*read), lookup);
    }
  if (failed(printer.print(operations, lookup)))
    return failure();
  FailureOr<SmallVector<Expression>> values = printer.use(positions);
  if (failed(values))
    return failure();
  bool const isOne = values->size() == 1;
  Code const array = Raw("Kokkos::Array<int, ") + Code(int64_t(values->size())) + Raw(">");
  lookup.push_back(cpp::Return{isOne ? values->front() : cpp::braces(array, *values)});
  addLambda({}, {&m}, std::move(lookup));

  Identifier const found = layer.scope.fresh({isOne ? "place" : "places", "found"});
  SmallVector<std::pair<Value, Expression>> known;
  for (Operation *op : operations) // those in front of the positions, which are not printed, need any
    known.push_back({op->getResult(0), cpp::name(found)});
  for (auto [i, position] : llvm::enumerate(positions))
    known.push_back({position, isOne ? cpp::name(found) : cpp::index(cpp::name(found), {literal(int64_t(i))})});
  Body statements;
  FailureOr<cpp::Parameter> const sum = printEpilogue(statements, known);
  if (failed(sum))
    return failure();
  m.recover(statements);
  n.recover(statements);
  std::vector<cpp::Parameter> parameters = {*sum, cpp::intParameter(m.name()), cpp::intParameter(n.name())};
  parameters.push_back(isOne ? cpp::intParameter(found) : cpp::Parameter{array, found, " const &"});
  layer.addLambda({std::move(parameters), std::move(statements)});
  layer.nameEpilogue(op.getEpilogue().front());
  return success();
}

LogicalResult Contraction::printPacked(bool mayBeUnchanged) {
  Storage const &weight = *layer.program.storageOf(op->getOperand(1));
  int64_t const rows = extentOf(roles.m);
  FailureOr<Expression> a = layer.matrix(op.getInputs()[0], extentOf(roles.k), rows, m.size(), "in");
  FailureOr<Expression> out = layer.matrix(op.getOutputs()[0], extentOf(roles.n), rows, m.size(), "out");
  if (failed(a) || failed(out))
    return failure();
  std::vector<Expression> arguments = {m.size(), *a, layer.member(weight), *out};
  layer.addSplit(arguments, op.getEpilogue().getArgument(0).getType());
  layer.needDevicePath();
  nest::RowPlaces const places = op->hasAttr("nest.tuned") ? nest::RowPlaces() : nest::rowPlacesOf(op);
  if (!places.positions.empty()) {
    arguments.insert(arguments.begin(), cpp::name(Raw("space")));
    layer.setBlockCall("contract_gathered", arguments);
    return printGathered(places);
  }
  Body statements;
  FailureOr<cpp::Parameter> const sum = printEpilogue(statements);
  if (failed(sum))
    return failure();
  layer.setCall(arguments);
  addLambda({*sum}, {&m, &n}, std::move(statements));
  layer.nameEpilogue(op.getEpilogue().front());
  if (mayBeUnchanged)
    layer.nameUnchanged();
  return success();
}

/// The lambda of (row, part) that refers to the first result of a part.
LogicalResult Contraction::addPlace(int64_t columns) {
  Identifier const part = layer.indexNames({"part"}).front();
  unsigned const loop = roles.n.front();
  IndexSpace parts = space;
  parts.dims[loop] = cpp::name(part);
  parts.extents[loop] /= columns;
  SmallVector<AffineExpr> loopsOfParts;
  for (unsigned i = 0; i < loops.extents.size(); ++i)
    loopsOfParts.push_back(getAffineDimExpr(i, op.getContext()) * (i == loop ? columns : 1));
  AffineMap const first = maps.back().replaceDimsAndSymbols(loopsOfParts, {}, loopsOfParts.size(), 0);
  FailureOr<Expression> const place = layer.element(op.getOutputs()[0], first, parts);
  if (failed(place))
    return failure();
  Body statements = {cpp::Return{*place}};
  m.recover(statements);
  layer.addLambda({cpp::intParameters({m.name(), part}), std::move(statements),
                   scalarType(elementType(op.getOutputs()[0])).code + Raw(" &")});
  return success();
}

LogicalResult Contraction::printParts(int64_t columns) {
  FailureOr<Expression> a = layer.matrix(op.getInputs()[0], extentOf(roles.k), extentOf(roles.m), m.size(), "in");
  if (failed(a) || failed(addPlace(columns)))
    return failure();
  Body statements;
  FailureOr<cpp::Parameter> const sum = printEpilogue(statements);
  if (failed(sum))
    return failure();
  Storage const &weight = *layer.program.storageOf(op->getOperand(1));
  std::vector<Expression> arguments = {cpp::name(Raw("space")), m.size(), *a, layer.member(weight)};
  layer.addSplit(arguments, op.getEpilogue().getArgument(0).getType());
  layer.setBlockCall("contract_parts", arguments);
  addLambda({*sum}, {&m, &n}, std::move(statements));
  return success();
}

LogicalResult Contraction::printBatched() {
  bool const ofLeft = layer.schedule.getLeft(), ofRight = layer.schedule.getRight();
  auto const columns = [](bool adjacent) { return adjacent ? Raw("Columns::adjacent") : Raw("Columns::apart"); };
  layer.needDevicePath();
  Code const operands = columns(ofLeft) + Code(Raw(", ")) + columns(ofRight);
  if (op->hasAttr("nest.fixed_extents")) {
    Code extents;
    for (ArrayRef<unsigned> role : {ArrayRef(roles.m), ArrayRef(roles.n), ArrayRef(roles.k)})
      extents = extents + Raw(", ") + Code(extentOf(role));
    layer.setCall(operands + extents, {batch.size()});
    layer.needBlock("fixed_products");
  } else {
    layer.setCall(operands, {batch.size(), m.size(), n.size(), k.size()});
  }
  if (failed(addRead(0, {&batch, &m, &k}, ofLeft)) || failed(addRead(1, {&batch, &k, &n}, ofRight)))
    return failure();
  Body statements;
  ScalarPrinter printer = layer.scalars(space);
  Block &block = op.getEpilogue().front();
  FailureOr<cpp::Parameter> const sum = bindEpilogue(printer, statements);
  if (failed(sum) || failed(printer.print(block, statements)) ||
      failed(storeElements(layer, printer, block, op.getOutputs(), ArrayRef(maps).take_back(1), space, statements)))
    return failure();
  if (layer.schedule.getInPlace())
    addLambda({}, {&batch, &m, &n}, {cpp::Return{statements.back().as<cpp::Assign>()->target}},
              scalarType(elementType(op.getOutputs()[0])).code + Raw(" &"));
  else
    addLambda({*sum}, {&batch, &m, &n}, std::move(statements));
  return success();
}

} // namespace

/// `contract_in_turn(label, space, rows, split, std::tuple(Linear{label, in, weight, out}, ...), epilogues...)`
static LogicalResult printInTurn(ArrayRef<nest::ContractOp> products, Layer &layer) {
  std::vector<Expression> layers, shared;
  for (nest::ContractOp product : products) {
    Layer part(layer.program, product, layer);
    Contraction contraction(product, part);
    if (failed(contraction.printPacked(product == products.back())))
      return failure();
    std::string const label = layer.program.model + "::" + product.getLabel().str();
    std::string const shapes = describe(part, product.getInputs(), product.getExtras(), product.getOutputs(), " * ");
    std::vector<Expression> const arguments = layer.takeOver(std::move(part), shapes);
    enum { Space, Rows, In, Weight, Out, Split };
    layers.push_back(cpp::braces(Raw("Linear"), {cpp::constant(Code::quoted(label, longestName)), arguments[In],
                                                 arguments[Weight], arguments[Out]}));
    shared = {arguments[Space], arguments[Rows], arguments[Split]};
  }
  shared.push_back(call(Raw("std::tuple"), layers));
  layer.setBlockCall("contract_in_turn", shared);
  return success();
}

FailureOr<std::string> printContract(Operation *op, Layer &layer) {
  auto contract = cast<nest::ContractOp>(op);
  if (nest::isLibraryCall(layer.schedule.getBlock()))
    return printProductCall(op, layer);
  if (SmallVector<nest::ContractOp> const products = nest::productsInTurn(op); !products.empty())
    return failed(printInTurn(products, layer)) ? FailureOr<std::string>() : std::string();
  Contraction contraction(contract, layer);
  std::optional<int64_t> const columns = nest::columnsOfPart(contract);
  bool const packed = layer.schedule.getBlock() == nest::KernelBlock::Contract;
  if (failed(!packed   ? contraction.printBatched()
             : columns ? contraction.printParts(*columns)
                       : contraction.printPacked()))
    return failure();
  return describe(layer, contract.getInputs(), contract.getExtras(), contract.getOutputs(), " * ");
}

} // namespace ml2k
