//===- SplitComplex.cpp - complex numbers become pairs of reals ---------------------------------------------------===//
//
// An array of complex numbers becomes one of reals with one more dimension, of real and imaginary part: the memory is
// that of an array of Kokkos::complex or std::complex. A scalar becomes two. Runs after bufferization: the function is
// built again, operation by operation.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/ComplexNumbers.h"
#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <complex>

using namespace mlir;

//===--- Types ----------------------------------------------------------------------------------------------------===//

static bool isComplex(Type type) { return isa<ComplexType>(getElementTypeOrSelf(type)); }

static int64_t doubled(int64_t size) { return ShapedType::isDynamic(size) ? size : 2 * size; }

/// Null for layouts that are no strides.
static MemRefType memoryOf(MemRefType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  MemRefLayoutAttrInterface layout;
  if (auto strided = dyn_cast<StridedLayoutAttr>(type.getLayout())) {
    SmallVector<int64_t> strides = llvm::to_vector(llvm::map_range(strided.getStrides(), doubled));
    strides.push_back(1);
    layout = StridedLayoutAttr::get(type.getContext(), doubled(strided.getOffset()), strides);
  } else if (!type.getLayout().isIdentity())
    return {};
  return MemRefType::get(shape, cast<ComplexType>(type.getElementType()).getElementType(), layout,
                         type.getMemorySpace());
}

static void appendParts(Type type, SmallVectorImpl<Type> &types) {
  if (auto complex = dyn_cast<ComplexType>(type))
    types.append(2, complex.getElementType());
  else if (auto memory = dyn_cast<MemRefType>(type); memory && isComplex(type))
    types.push_back(memoryOf(memory));
  else
    types.push_back(type);
}

static SmallVector<Type> partsOf(TypeRange types) {
  SmallVector<Type> parts;
  for (Type type : types)
    appendParts(type, parts);
  return parts;
}

static bool touchesComplex(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isComplex) || llvm::any_of(op->getResultTypes(), isComplex);
}

//===--- Operations -----------------------------------------------------------------------------------------------===//

namespace {

class Splitter {
public:
  explicit Splitter(OpBuilder builder) : builder(builder) {}

  /// The operations of `from` behind those of `to`, whose arguments stand for those of `from`.
  LogicalResult rebuild(Block &from, Block &to);

private:
  LogicalResult rebuild(Operation *op);
  LogicalResult refuse(Operation *op);
  Operation *copy(Operation *op);
  LogicalResult rebuildLinalg(linalg::LinalgOp op);
  LogicalResult rebuildMemory(Operation *op);
  ArrayRef<Value> partsOfMemory(Value memory, Location location);
  LogicalResult rebuildFill(linalg::FillOp op);
  LogicalResult rebuildAccess(Operation *op);
  void bind(ValueRange before, ValueRange after);
  SmallVector<Value> after(ValueRange values) const;
  Value position(Location location, int64_t number) { return builder.create<arith::ConstantIndexOp>(location, number); }

  OpBuilder builder;
  DenseMap<Value, SmallVector<Value, 2>> known;
  DenseMap<Value, SmallVector<Value, 2>> views; ///< of the real and of the imaginary parts
};

} // namespace

void Splitter::bind(ValueRange before, ValueRange after) {
  for (Value value : before) {
    size_t const count = isa<ComplexType>(value.getType()) ? 2 : 1;
    known[value] = llvm::to_vector<2>(after.take_front(count));
    after = after.drop_front(count);
  }
}

SmallVector<Value> Splitter::after(ValueRange values) const {
  SmallVector<Value> parts;
  for (Value value : values)
    llvm::append_range(parts, known.find(value)->second);
  return parts;
}

LogicalResult Splitter::refuse(Operation *op) {
  return op->emitError() << "'" << op->getName() << "' is not supported on complex numbers";
}

/// `argument "s"` is the location of s_re and s_im.
static void addArguments(Block &from, Block &to) {
  for (BlockArgument argument : from.getArguments()) {
    SmallVector<Type, 2> types;
    appendParts(argument.getType(), types);
    auto const named = dyn_cast<NameLoc>(argument.getLoc());
    for (auto [i, type] : llvm::enumerate(types)) {
      Location location = argument.getLoc();
      if (types.size() == 2 && named && named.getName().getValue().ends_with("\""))
        location = NameLoc::get(
            StringAttr::get(type.getContext(), named.getName().getValue().drop_back() + (i ? "_im\"" : "_re\"")),
            named.getChildLoc());
      to.addArgument(type, location);
    }
  }
}

/// The same operation on the parts of its operands.
Operation *Splitter::copy(Operation *op) {
  OperationState state(op->getLoc(), op->getName(), after(op->getOperands()), partsOf(op->getResultTypes()),
                       op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *const made = builder.create(state);
  for (auto [from, to] : llvm::zip(op->getRegions(), made->getRegions()))
    for (Block &block : from) {
      Block &fresh = to.emplaceBlock();
      addArguments(block, fresh);
      if (failed(rebuild(block, fresh)))
        return nullptr;
    }
  bind(op->getResults(), made->getResults());
  return made;
}

/// `load "here"` is the location of here_re and here_im.
static void nameParts(Operation *op, ArrayRef<Value> parts) {
  auto const named = dyn_cast<NameLoc>(op->getLoc());
  if (!named || parts.size() != 2 || !named.getName().getValue().ends_with("\""))
    return;
  StringRef const start = named.getName().getValue().drop_back();
  for (auto [i, part] : llvm::enumerate(parts))
    if (Operation *const made = part.getDefiningOp(); made && !isa<NameLoc>(made->getLoc()))
      made->setLoc(
          NameLoc::get(StringAttr::get(op->getContext(), start + (i ? "_im\"" : "_re\"")), named.getChildLoc()));
}

/// All real or all imaginary parts.
static Value viewPart(OpBuilder &builder, Value memory, int64_t number, Location location) {
  auto const type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), builder.getIndexAttr(1));
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool const isLast = i + 1 == type.getRank();
    offsets.push_back(builder.getIndexAttr(isLast ? number : 0));
    sizes.push_back(isLast ? OpFoldResult(builder.getIndexAttr(1))
                           : memref::getMixedSize(builder, location, memory, i));
  }
  Type const reduced =
      memref::SubViewOp::inferRankReducedResultType(type.getShape().drop_back(), type, offsets, sizes, strides);
  return builder.create<memref::SubViewOp>(location, cast<MemRefType>(reduced), memory, offsets, sizes, strides);
}

/// Made where the memory is made, so that one view serves all that touch it.
ArrayRef<Value> Splitter::partsOfMemory(Value memory, Location location) {
  SmallVector<Value, 2> &parts = views[memory];
  if (!parts.empty())
    return parts;
  OpBuilder::InsertionGuard const guard(builder);
  builder.setInsertionPointAfterValue(memory);
  for (int64_t number : {0, 1})
    parts.push_back(viewPart(builder, memory, number, location));
  return parts;
}

LogicalResult Splitter::rebuildFill(linalg::FillOp op) {
  SmallVector<Value> const values = after(op.getInputs());
  ArrayRef<Value> const parts = partsOfMemory(after(op.getOutputs())[0], op.getLoc());
  for (auto [value, part] : llvm::zip(values, parts))
    builder.create<linalg::FillOp>(op.getLoc(), value, part);
  return success();
}

/// Elements of the parts of an argument `a` are called a_re and a_im.
static Location locationOfPart(Value operand, Location location) {
  auto part = operand.getDefiningOp<memref::SubViewOp>();
  auto const argument = part ? dyn_cast<BlockArgument>(part.getSource()) : BlockArgument();
  auto entry = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!entry)
    return location;
  auto const name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name");
  bool const isReal = part.getStaticOffsets().back() == 0;
  if (!name)
    return location;
  std::string const text = "load \"" + name.str() + (isReal ? "_re\"" : "_im\"");
  return NameLoc::get(StringAttr::get(entry.getContext(), text), location);
}

/// Any structured operation: all have a block, and maps of what it works on.
LogicalResult Splitter::rebuildLinalg(linalg::LinalgOp op) {
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<Value> values = after(operand.get());
    if (isa<MemRefType>(operand.get().getType()) && isComplex(operand.get().getType()))
      values = llvm::to_vector(partsOfMemory(values[0], op.getLoc()));
    llvm::append_range(op.isDpsInput(&operand) ? inputs : outputs, values);
    maps.append(values.size(), op.getMatchingIndexingMap(&operand));
  }
  auto made = builder.create<linalg::GenericOp>(op.getLoc(), inputs, outputs, maps, op.getIteratorTypesArray());
  Block &body = made.getRegion().emplaceBlock();
  for (Value operand : inputs)
    body.addArgument(getElementTypeOrSelf(operand.getType()), locationOfPart(operand, op.getLoc()));
  for (Value operand : outputs)
    body.addArgument(getElementTypeOrSelf(operand.getType()), op.getLoc());
  return rebuild(*op.getBlock(), body);
}

static SmallVector<ReassociationIndices> withParts(SmallVector<ReassociationIndices> groups, int64_t rank) {
  groups.push_back({rank});
  return groups;
}

LogicalResult Splitter::rebuildAccess(Operation *op) {
  auto const named = dyn_cast<NameLoc>(op->getLoc());
  Location const location = named ? named.getChildLoc() : op->getLoc();
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    SmallVector<Value> at = after(load.getIndices()), parts;
    Value const memory = after(load.getMemRef())[0];
    for (int64_t number : {0, 1}) {
      SmallVector<Value> place = at;
      place.push_back(position(location, number));
      parts.push_back(builder.create<memref::LoadOp>(location, memory, place));
    }
    nameParts(op, parts);
    return bind(load->getResults(), parts), success();
  }
  auto store = cast<memref::StoreOp>(op);
  Value const memory = after(store.getMemRef())[0];
  for (auto [number, value] : llvm::enumerate(after(store.getValue()))) {
    SmallVector<Value> place = after(store.getIndices());
    place.push_back(position(location, number));
    builder.create<memref::StoreOp>(location, value, memory, place);
  }
  return success();
}

LogicalResult Splitter::rebuildMemory(Operation *op) {
  Location const location = op->getLoc();
  Value made;
  if (auto view = dyn_cast<memref::SubViewOp>(op)) {
    auto const mapped = [&](SmallVector<OpFoldResult> values, int64_t last) {
      for (OpFoldResult &value : values)
        if (auto dynamic = dyn_cast<Value>(value))
          value = after(dynamic)[0];
      values.push_back(builder.getIndexAttr(last));
      return values;
    };
    made = builder.create<memref::SubViewOp>(location, memoryOf(view.getType()), after(view.getSource())[0],
                                             mapped(view.getMixedOffsets(), 0), mapped(view.getMixedSizes(), 2),
                                             mapped(view.getMixedStrides(), 1));
  } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    made = builder.create<memref::CollapseShapeOp>(
        location, memoryOf(collapse.getResultType()), after(collapse.getSrc())[0],
        withParts(collapse.getReassociationIndices(), collapse.getSrcType().getRank()));
  } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op); expand && expand.getOutputShape().empty()) {
    made = builder.create<memref::ExpandShapeOp>(
        location, memoryOf(expand.getResultType()), after(expand.getSrc())[0],
        withParts(expand.getReassociationIndices(), expand.getResultType().getRank()));
  } else
    return refuse(op);
  return bind(op->getResults(), made), success();
}

/// Values and memory pass through these as they are.
static bool passesThrough(Operation *op) {
  return isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp, memref::DimOp, memref::CopyOp, memref::CastOp,
             memref::GetGlobalOp, scf::ForOp, scf::IfOp, scf::WhileOp, scf::ConditionOp, scf::YieldOp,
             scf::ExecuteRegionOp, func::ReturnOp, linalg::YieldOp>(op);
}

LogicalResult Splitter::rebuild(Operation *op) {
  if (auto fill = dyn_cast<linalg::FillOp>(op); fill && touchesComplex(op))
    return rebuildFill(fill);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op); structured && touchesComplex(op))
    return rebuildLinalg(structured);
  if (isa<complex::ComplexDialect>(op->getDialect())) {
    SmallVector<Value> const parts = ml2k::mlir_import::computeParts(op, after(op->getOperands()), builder);
    if (parts.empty())
      return refuse(op);
    nameParts(op, parts);
    return bind(op->getResults(), parts), success();
  }
  if (!touchesComplex(op) || passesThrough(op))
    return success(copy(op) != nullptr);
  if (auto choice = dyn_cast<arith::SelectOp>(op); choice && isa<ComplexType>(choice.getType())) {
    SmallVector<Value> const yes = after(choice.getTrueValue()), no = after(choice.getFalseValue());
    Value const condition = after(choice.getCondition())[0];
    auto const select = [&](int i) -> Value {
      return builder.create<arith::SelectOp>(op->getLoc(), condition, yes[i], no[i]);
    };
    return bind(op->getResults(), {select(0), select(1)}), success();
  }
  return isa<memref::LoadOp, memref::StoreOp>(op) ? rebuildAccess(op) : rebuildMemory(op);
}

LogicalResult Splitter::rebuild(Block &from, Block &to) {
  OpBuilder::InsertionGuard const guard(builder);
  builder.setInsertionPointToEnd(&to);
  bind(from.getArguments(), to.getArguments());
  for (Operation &op : from)
    if (failed(rebuild(&op)))
      return failure();
  return success();
}

//===--- The function ---------------------------------------------------------------------------------------------===//

static LogicalResult checkLayouts(func::FuncOp entry) {
  auto const isStrided = [](Type type) {
    auto memory = dyn_cast<MemRefType>(type);
    return !memory || !isComplex(type) || memoryOf(memory);
  };
  WalkResult const result = entry.walk([&](Operation *op) {
    if (llvm::all_of(op->getOperandTypes(), isStrided) && llvm::all_of(op->getResultTypes(), isStrided))
      return WalkResult::advance();
    op->emitError() << "complex numbers can lie in strided memory only";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult splitGlobals(ModuleOp module) {
  for (auto global : module.getOps<memref::GlobalOp>()) {
    if (!isComplex(global.getType()))
      continue;
    auto const type = memoryOf(global.getType());
    auto const values = dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr());
    if (!type || !values)
      return global.emitError("this constant of complex numbers is not supported");
    SmallVector<APFloat> parts;
    for (std::complex<APFloat> const &value : values.getValues<std::complex<APFloat>>())
      parts.append({value.real(), value.imag()});
    global.setType(type);
    global.setInitialValueAttr(
        DenseElementsAttr::get(RankedTensorType::get(type.getShape(), type.getElementType()), parts));
  }
  return success();
}

/// Those of memory, which has one more dimension now.
static DictionaryAttr attributesOfMemory(DictionaryAttr attributes) {
  auto const dims = attributes.getAs<ArrayAttr>("nest.dims");
  if (!dims)
    return attributes;
  SmallVector<Attribute> names(dims.begin(), dims.end());
  names.push_back(StringAttr::get(attributes.getContext(), ""));
  NamedAttrList list(attributes);
  list.set("nest.dims", ArrayAttr::get(attributes.getContext(), names));
  return list.getDictionary(attributes.getContext());
}

/// The attributes of arguments or results for their parts; those of a scalar are called x_re and x_im.
static ArrayAttr splitAttributes(TypeRange types, ArrayAttr before) {
  SmallVector<Attribute> parts;
  for (auto [i, type] : llvm::enumerate(types)) {
    auto const attributes = cast<DictionaryAttr>(before[i]);
    if (!isa<ComplexType>(type)) {
      parts.push_back(isComplex(type) ? attributesOfMemory(attributes) : attributes);
      continue;
    }
    for (StringRef suffix : {"_re", "_im"}) {
      NamedAttrList list(attributes);
      if (auto name = attributes.getAs<StringAttr>("nest.name"))
        list.set("nest.name", StringAttr::get(before.getContext(), name.getValue() + suffix));
      parts.push_back(list.getDictionary(before.getContext()));
    }
  }
  return ArrayAttr::get(before.getContext(), parts);
}

LogicalResult ml2k::mlir_import::splitComplex(ModuleOp module, func::FuncOp entry) {
  if (!llvm::hasSingleElement(entry.getBody()))
    return entry.emitError("complex numbers are not supported among branches; lift them to scf first");
  if (failed(checkLayouts(entry)) || failed(splitGlobals(module)))
    return failure();
  Region before;
  before.takeBody(entry.getBody());
  Block &body = entry.getBody().emplaceBlock();
  for (BlockArgument argument : before.getArguments())
    for (Type type : partsOf(argument.getType()))
      body.addArgument(type, argument.getLoc());
  if (auto attributes = entry.getArgAttrsAttr())
    entry.setArgAttrsAttr(splitAttributes(entry.getArgumentTypes(), attributes));
  if (auto attributes = entry.getResAttrsAttr())
    entry.setResAttrsAttr(splitAttributes(entry.getResultTypes(), attributes));
  entry.setFunctionType(
      FunctionType::get(entry.getContext(), body.getArgumentTypes(), partsOf(entry.getResultTypes())));
  LogicalResult const result = Splitter(OpBuilder(entry.getContext())).rebuild(before.front(), body);
  before.dropAllReferences();
  return result;
}
