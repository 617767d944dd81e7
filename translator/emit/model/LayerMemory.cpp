//===- LayerMemory.cpp - the memory that a layer reads and writes, and its extents --------------------------------===//

#include "translator/emit/model/Layer.h"
#include "translator/ir/LoopExtents.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

/// What a recurrent layer calls its memory.
static std::string recurrentName(nest::RecurrentOp recurrent, Storage const &storage, Program &program) {
  for (unsigned number = 0; number < recurrent.getNumDirections(); ++number) {
    nest::Direction const direction = recurrent.getDirection(number);
    std::string const prefix = number == 0 ? "" : "reverse_";
    for (Value output : direction.outputs)
      if (program.storageOf(output) == &storage)
        return prefix + (recurrent.isState(output)                           ? "state"
                         : cast<MemRefType>(output.getType()).getRank() == 3 ? "sequence"
                                                                             : "cell");
    if (llvm::any_of(direction.extras, [&](Value extra) { return program.storageOf(extra) == &storage; }))
      return prefix + "projected";
  }
  return "projected";
}

/// `weight` of layer1.0.conv1.weight; in and out where there is one of them; else the member's name.
std::vector<std::string> Layer::localNames(Storage const &storage) const {
  if (storage.kind == StorageKind::Weight) {
    StringRef const full = storage.modelName;
    StringRef const last = full.substr(full.find_last_of("./:") + 1);
    std::string const local = llvm::all_of(last, llvm::isDigit) ? storage.name : snakeCase(last, "weight");
    return {local, storage.name, storage.name + "_weight"};
  }
  if (!isa<DestinationStyleOpInterface>(kernel))
    return {storage.name, storage.name + "_values"};
  if (auto recurrent = dyn_cast<nest::RecurrentOp>(kernel)) {
    std::string const role = recurrentName(recurrent, storage, program);
    return {role, storage.name, storage.name + "_" + role};
  }
  auto const outputs = cast<DestinationStyleOpInterface>(kernel).getDpsInits();
  if (llvm::any_of(outputs, [&](Value v) { return program.storageOf(v) == &storage; }))
    return {outputs.size() == 1 ? "out" : storage.name, storage.name, storage.name + "_out"};
  unsigned inputs = 0;
  for (Value operand : kernel->getOperands())
    if (Storage const *other = program.storageOf(operand))
      inputs += other->kind != StorageKind::Weight && !llvm::is_contained(outputs, operand);
  bool const isBoth = isa<nest::ContractOp>(kernel) && inputs > 1 &&
                      program.storageOf(kernel->getOperand(0)) == program.storageOf(kernel->getOperand(1));
  if (isa<nest::ContractOp>(kernel) && !isBoth)
    for (auto [number, name] : {std::pair(0, "left"), std::pair(1, "right")})
      if (program.storageOf(kernel->getOperand(number)) == &storage)
        return {name, storage.name, storage.name + "_in"};
  bool const isEpilogue = isa<nest::ConvOp, nest::ContractOp>(kernel);
  bool const isIn = isBoth && program.storageOf(kernel->getOperand(0)) == &storage;
  std::string const role = isIn ? "in" : isEpilogue ? "residual" : inputs == 1 ? "in" : storage.name;
  return {role, storage.name, storage.name + "_in"};
}

Expression Layer::local(Storage const &storage) {
  if (storage.kind == StorageKind::Argument)
    return member(storage);
  auto known = localOf.find(storage.value);
  if (known == localOf.end()) {
    Identifier const name = scope.fresh(localNames(storage));
    known = localOf.insert({storage.value, name}).first;
    function.locals.push_back(cpp::Copy{storage.cpp, name, member(storage)});
  }
  return cpp::name(known->second);
}

static bool hasDivision(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    found |= part.getKind() == AffineExprKind::FloorDiv || part.getKind() == AffineExprKind::Mod;
  });
  return found;
}

/// Contiguous, and within the rank of a view.
static bool isReshapeable(MemRefType type) { return isContiguous(type) && type.getRank() > 0 && type.getRank() <= 8; }

/// Run-time extents of a view stand in front of those of its type.
static SmallVector<int64_t> shapeOfView(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape);
  auto const *const end = std::find_if(shape.rbegin(), shape.rend(), ShapedType::isDynamic).base();
  std::fill(result.begin(), result.begin() + (end - shape.begin()), ShapedType::kDynamic);
  return result;
}

/// Declares `type const name(arguments);`
Identifier Layer::declareView(std::vector<std::string> const &wanted, cpp::Type const &type,
                              std::vector<Expression> arguments) {
  Identifier const name = scope.fresh(wanted);
  function.locals.push_back(cpp::View{type, name, std::move(arguments)});
  return name;
}

/// Contiguous memory of another shape as a view of its own: no division per element.
FailureOr<Expression> Layer::reshaped(Value memref, Storage const &storage) {
  if (auto const known = localOf.find(memref); known != localOf.end())
    return cpp::name(known->second);
  FailureOr<Expression> const data = pointer(memref);
  if (failed(data))
    return failure();
  std::vector<std::string> wanted = localNames(storage);
  wanted.push_back(storage.name + "_reshaped");
  unsigned const rank = cast<MemRefType>(memref.getType()).getRank();
  if (storage.kind == StorageKind::Argument) {
    auto reduce = dyn_cast<nest::ReduceOp>(kernel);
    bool const isTensor =
        isa<nest::ContractOp, nest::LoopKernelOp>(kernel) || (reduce && reduce.getInputs().size() > 1);
    std::string const named = rank == 1 ? "flat_" + storage.name : storage.name + (rank == 2 ? "_matrix" : "_reshaped");
    wanted = {isTensor ? named : storage.isOutput ? "out" : "in", storage.name + "_reshaped"};
  }
  SmallVector<int64_t> const shape = shapeOfView(cast<MemRefType>(memref.getType()).getShape());
  std::vector<Expression> arguments = {*data};
  for (auto [dim, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      arguments.push_back(extent(memref, dim));
  Identifier const name =
      declareView(wanted, tensorType(storage.scalarType(), storage.cpp.isConst, shape), std::move(arguments));
  localOf.insert({memref, name});
  return cpp::name(name);
}

/// How many dimensions stand in front of the last ones of extent 1.
static unsigned rankOfLines(MemRefType type) {
  unsigned rank = type.getRank();
  while (rank > 1 && type.getDimSize(rank - 1) == 1)
    --rank;
  return rank;
}

/// Whether an index moves with the innermost loop.
static bool isInnermost(AffineExpr index, IndexSpace const &space) {
  unsigned dim = space.extents.size();
  while (dim > 0 && space.extents[dim - 1] == 1)
    --dim;
  return dim > 0 && index.isFunctionOfDim(dim - 1);
}

/// Memory as a view without its last dimensions of extent 1: the strides of a view are known at run time only, and
/// compilers would ask for that of a column in each step of a loop.
FailureOr<Expression> Layer::squeezed(Storage const &storage) {
  if (auto const known = squeezedOf.find(storage.value); known != squeezedOf.end())
    return cpp::name(known->second);
  FailureOr<Expression> const data = pointer(storage.value);
  if (failed(data))
    return failure();
  unsigned const rank = rankOfLines(storage.type);
  std::vector<Expression> arguments = {*data};
  for (unsigned d = 0; d < rank; ++d)
    if (storage.type.isDynamicDim(d))
      arguments.push_back(extent(storage.value, d));
  Identifier const name =
      declareView({storage.name + (rank == 1 ? "_column" : "_squeezed"), storage.name + "_without_units"},
                  tensorType(storage.scalarType(), storage.cpp.isConst, storage.type.getShape().take_front(rank)),
                  std::move(arguments));
  squeezedOf.insert({storage.value, name});
  return cpp::name(name);
}

static Expression marked(Expression const &element, Storage const &storage) {
  return storage.isUnsigned ? element.withUnsignedForm(element) : element;
}

/// The pixel of which an index is a member, or null.
static Expression const *pixelOf(Expression const &index, Raw field) {
  return index.kind() == cpp::Kind::Member && index->code == field ? &index->parts.front() : nullptr;
}

/// `at, c` for `at.n, at.p, at.q, c`, or the same with the only image.
static SmallVector<Expression> pixelAndChannel(ArrayRef<Expression> indices) {
  Expression const *image = pixelOf(indices[0], "n"), *row = pixelOf(indices[1], "p"),
                   *column = pixelOf(indices[2], "q");
  bool const isPixel = row && column && *row == *column && (indices[0].is(0) || (image && *image == *row));
  return isPixel ? SmallVector<Expression>{*row, indices[3]} : SmallVector<Expression>(indices);
}

/// An index; the sizes in it that have to be divided for are named, where they stand in parentheses. The first `own`
/// symbols are values of the lambda, the others sizes.
Expression Layer::indexText(AffineExpr index, IndexSpace const &space, unsigned own) {
  Expression text = indexExpression(index, space);
  index.walk([&](AffineExpr part) {
    bool const isSize = part.isSymbolicOrConstant() &&
                        llvm::none_of(llvm::seq(own), [&](unsigned symbol) { return part.isFunctionOfSymbol(symbol); });
    if (!isSize || !hasDivision(part) || part.getKind() != AffineExprKind::Add)
      return;
    Expression const value = indexExpression(part, space);
    if (isOperandOf(value, text))
      text = withReplacement(text, value, namedSize(value, {"size", "extent"}));
  });
  return text;
}

FailureOr<Expression> Layer::element(Value memref, ArrayRef<AffineExpr> indices, IndexSpace const &space) {
  HostSymbols symbols(space.symbols.size());
  FailureOr<Element> access = program.access(memref, indices, symbols);
  if (failed(access))
    return failure();
  Storage const &storage = *access->storage;
  if (storage.packing)
    return unprintable(kernel, "weight '" + storage.modelName + "' is packed for another kind of kernel");
  SmallVector<AffineExpr> extents; // of a flat view
  for (unsigned d = 0; storage.isFlat && d < storage.type.getRank(); ++d) {
    extents.push_back(program.extent(storage.value, d, symbols));
    if (!extents.back() && d > 0)
      return unprintable(kernel, "nothing tells the sizes of '" + storage.modelName + "'");
  }
  IndexSpace whole = space;
  for (Value value : symbols.values())
    whole.symbols.push_back(hostValue(value));
  SmallVector<AffineExpr> at = llvm::map_to_vector(access->indices, [&](AffineExpr e) { return simplify(e, whole); });
  bool const bordered = storage.isBordered();
  if (llvm::any_of(at, hasDivision) && memref != storage.value && !bordered && !storage.isFlat &&
      isReshapeable(cast<MemRefType>(memref.getType()))) {
    FailureOr<Expression> const view = reshaped(memref, storage);
    if (failed(view))
      return failure();
    SmallVector<Expression> const texts =
        llvm::map_to_vector(indices, [&](AffineExpr e) { return indexExpression(e, space); });
    return marked(ml2k::call(*view, texts), storage);
  }
  if (unsigned const rank = rankOfLines(storage.type);
      rank < storage.type.getRank() && storage.kind == StorageKind::Argument && !storage.isFlat && !storage.isImage &&
      isReshapeable(storage.type) && llvm::none_of(storage.type.getShape().drop_front(), ShapedType::isDynamic) &&
      isInnermost(at[rank - 1], whole)) {
    FailureOr<Expression> const view = squeezed(storage);
    if (failed(view))
      return failure();
    SmallVector<Expression> const texts = llvm::map_to_vector(
        ArrayRef(at).take_front(rank), [&](AffineExpr e) { return indexText(e, whole, space.symbols.size()); });
    return marked(ml2k::call(*view, texts), storage);
  }
  if (storage.isFlat) {
    AffineExpr linear = at.front();
    for (auto [index, extent] : llvm::drop_begin(llvm::zip(at, extents)))
      linear = linear * extent + index;
    at = {linear};
  }
  SmallVector<Expression> texts;
  for (auto [d, index] : llvm::enumerate(at))
    texts.push_back(!storage.isFlat && storage.type.getDimSize(d) == 1 ? literal(0)
                                                                       : indexText(index, whole, space.symbols.size()));
  return marked(ml2k::call(local(storage), storage.isImage ? pixelAndChannel(texts) : texts), storage);
}

Expression Layer::hostValue(Value value) {
  if (std::string const name = program.hostName(value); !name.empty())
    return cpp::name(Identifier(name));
  if (!hasFailed)
    (void)unprintable(kernel, "depends on a value that forward() cannot compute");
  hasFailed = true;
  return cpp::name(Raw("unknown"));
}

Expression Layer::hostExpression(AffineExpr expr, HostSymbols const &symbols) {
  IndexSpace space;
  for (Value value : symbols.values())
    space.symbols.push_back(hostValue(value));
  return indexExpression(expr, space);
}

Expression Layer::hostSize(Value value, std::vector<std::string> const &wanted) {
  HostSymbols symbols;
  Expression const size = hostExpression(program.hostIndex(value, symbols), symbols);
  if (size.isWord())
    return size;
  Identifier const name = scope.fresh(wanted);
  function.locals.push_back(cpp::Let{intType(), name, size});
  return cpp::name(name);
}

Expression Layer::extent(Value memref, unsigned dim) {
  HostSymbols symbols;
  AffineExpr const expr = program.extent(memref, dim, symbols);
  if (expr)
    return hostExpression(expr, symbols);
  for (RuntimeSize const &size : program.sizes) // the host did not ask for it
    if (size.argument == memref && size.dim == dim)
      return cpp::name(Identifier(size.name));
  return ml2k::call(cpp::member(member(*program.storageOf(memref)), Raw("extent_int")), {literal(dim)});
}

/// A size that has to be divided for is computed once, outside the lambdas.
Expression Layer::namedSize(Expression size, std::vector<std::string> const &wanted) {
  for (cpp::Statement const &local : function.locals)
    if (auto const *let = local.as<cpp::Let>()) {
      if (let->value == size)
        return cpp::name(let->name);
      size = withReplacement(size, let->value, cpp::name(let->name));
    }
  if (!divides(size))
    return size;
  Identifier const name = scope.fresh(wanted);
  function.locals.push_back(cpp::Let{intType(), name, size});
  return cpp::name(name);
}

/// What a dimension of this storage, which the map indexes, is called.
static std::vector<std::string> sizeNames(Storage const *storage, AffineMap map, unsigned dim) {
  std::string const plain = "size_" + std::to_string(dim);
  bool const isImage = storage && storage->isImage && map.getNumResults() == 4;
  return {isImage && dim == 1 ? "height" : isImage && dim == 2 ? "width" : plain, plain};
}

Layer::Loops Layer::loops(ArrayRef<AffineMap> maps, ArrayRef<Value> operands) {
  unsigned const count = maps.empty() ? 0 : maps.front().getNumDims();
  Loops loops{SmallVector<int64_t>(count, 1), SmallVector<Expression>(count, literal(1))};
  for (auto [i, loop] : llvm::enumerate(nest::loopExtents(maps, operands)))
    if (loop.operand) {
      auto const names = sizeNames(program.storageOf(loop.operand), maps[loop.position], loop.dim);
      loops.extents[i] = loop.size();
      loops.sizes[i] = namedSize(extent(loop.operand, loop.dim), names);
    }
  return loops;
}

FailureOr<Expression> Layer::pointer(Value memref) {
  HostSymbols symbols;
  auto const type = cast<MemRefType>(memref.getType());
  SmallVector<AffineExpr> const origin(type.getRank(), getAffineConstantExpr(0, kernel->getContext()));
  FailureOr<Element> access = program.access(memref, origin, symbols);
  if (failed(access))
    return failure();
  Storage const &storage = *access->storage;
  if (!isContiguous(type) || storage.isBordered())
    return unprintable(kernel, "works on contiguous memory, '" + storage.modelName + "' is not here");
  Expression const view = member(storage);
  auto const data = [&](Expression const &of) { return ml2k::call(cpp::member(of, Raw("data")), {}); };
  IndexSpace sizes;
  for (Value value : symbols.values())
    sizes.symbols.push_back(hostValue(value));
  if (llvm::all_of(access->indices, [&](AffineExpr e) { return simplify(e, sizes) == 0; }))
    return data(storage.isImage ? cpp::member(view, Raw("rows")) : view);
  if (storage.isImage) {
    SmallVector<Expression> const at =
        llvm::map_to_vector(access->indices, [&](AffineExpr e) { return hostExpression(e, symbols); });
    return unary("&", ml2k::call(view, at));
  }
  // Not by the view's operator, which a host may not call for a device's memory
  AffineExpr linear = access->indices.front();
  for (unsigned d = 1; d < access->indices.size(); ++d) {
    AffineExpr const extent = program.extent(storage.value, d, symbols);
    if (!extent)
      return unprintable(kernel, "nothing tells the sizes of '" + storage.modelName + "'");
    linear = linear * extent + access->indices[d];
  }
  return binary(data(view), "+", Rank::Add, hostExpression(linear, symbols));
}

FailureOr<Expression> Layer::matrix(Value memref, int64_t columns, int64_t rows, Expression const &rowCount,
                                    StringRef wanted) {
  Storage const *storage = program.storageOf(memref);
  if (storage && storage->value == memref && storage->type.getRank() == 2 && !storage->isImage &&
      storage->type.getDimSize(1) == columns)
    return member(*storage);
  FailureOr<Expression> data = pointer(memref);
  if (failed(data))
    return failure();
  std::vector<Expression> arguments = {*data};
  if (ShapedType::isDynamic(rows))
    arguments.push_back(rowCount);
  return cpp::name(declareView({wanted.str(), storage->name, storage->name + "_matrix"},
                               tensorType(storage->scalarType(), storage->cpp.isConst, {rows, columns}),
                               std::move(arguments)));
}

FailureOr<Expression> Layer::vector(Value memref, int64_t length, Expression const &size, StringRef wanted) {
  Storage const *storage = program.storageOf(memref);
  if (storage && storage->value == memref && storage->type.getRank() == 1 && !storage->isImage)
    return member(*storage);
  FailureOr<Expression> data = pointer(memref);
  if (failed(data))
    return failure();
  std::vector<Expression> arguments = {*data};
  if (ShapedType::isDynamic(length))
    arguments.push_back(size);
  return cpp::name(declareView({wanted.str(), storage->name, storage->name + "_vector"},
                               tensorType(storage->scalarType(), storage->cpp.isConst, {length}),
                               std::move(arguments)));
}

FailureOr<Expression> Layer::image(Value memref) {
  auto const type = cast<MemRefType>(memref.getType());
  ArrayRef<int64_t> const shape = type.getShape();
  HostSymbols symbols;
  SmallVector<AffineExpr> const origin(4, getAffineConstantExpr(0, kernel->getContext()));
  FailureOr<Element> access = program.access(memref, origin, symbols);
  if (failed(access))
    return failure();
  Storage const &storage = *access->storage;
  ArrayRef<int64_t> const whole = storage.type.getShape();
  bool const isBordered = storage.isBordered();
  if (!storage.isImage || (!isBordered && isContiguous(type) && shape.drop_back() != whole.drop_back()))
    return imageOver(memref, storage);
  bool const onlyChannels = shape.drop_back() == whole.drop_back() && symbols.values().empty();
  auto const first = dyn_cast<AffineConstantExpr>(access->indices.back());
  if (!onlyChannels || !first)
    return unprintable(kernel, "a part of '" + storage.modelName + "' that is not a range of channels");
  if (shape.back() == whole.back())
    return member(storage);
  program.usesSlices = true;
  Code const slice = Raw("slice<") + cpp::listOf({first.getValue(), shape.back()}) + Raw(">");
  return ml2k::call(cpp::member(member(storage), slice), {});
}

/// An argument N H W C, or other contiguous memory, as an Activation without border.
FailureOr<Expression> Layer::imageOver(Value memref, Storage const &storage) {
  ArrayRef<int64_t> const shape = cast<MemRefType>(memref.getType()).getShape();
  FailureOr<Expression> data = pointer(memref);
  if (failed(data))
    return failure();
  Identifier const name = scope.fresh({storage.isOutput ? "out" : "in", storage.name + "_image"});
  std::vector<Expression> extents = {extent(memref, 0)};
  if (program.sizesImages)
    for (unsigned dim : {1, 2})
      extents.push_back(extent(memref, dim));
  function.locals.push_back(cpp::Image{imageType(storage.scalarType(), storage.cpp.isConst, program.imageShape(shape)),
                                       name, *data, std::move(extents)});
  return cpp::name(name);
}

} // namespace ml2k
