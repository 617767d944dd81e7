//===- LoopMemory.cpp - the memory of loop programs: workspace, weights, results ----------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/Exchanges.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"

#include <map>

using namespace mlir;

namespace ml2k {

//===--- The workspace --------------------------------------------------------------------------------------------===//

static std::string freeName(func::FuncOp entry, StringRef wanted) {
  llvm::StringSet<> taken;
  entry.walk([&](nest::BufferOp buffer) { taken.insert(buffer.getName()); });
  std::string name = wanted.str();
  for (unsigned i = 2; taken.contains(name); ++i)
    name = (wanted + Twine(i)).str();
  return name;
}

/// Computes a size again at the start of the entry; null if a loop has a part in it.
static Value hoisted(OpBuilder &builder, Value size, func::FuncOp entry) {
  if (auto argument = dyn_cast<BlockArgument>(size))
    return argument.getOwner() == &entry.getBody().front() ? size : Value();
  Operation *op = size.getDefiningOp();
  if (!isRecomputable(op))
    return {};
  IRMapping values;
  for (Value operand : op->getOperands()) {
    Value const copy = isa<MemRefType>(operand.getType()) && operand.getParentBlock() == &entry.getBody().front()
                           ? operand
                           : hoisted(builder, operand, entry);
    if (!copy)
      return {};
    values.map(operand, copy);
  }
  return builder.clone(*op, values)->getResult(cast<OpResult>(size).getResultNumber());
}

/// Where sizes that depend on arguments only can be computed: after the buffers made so far, before all that uses
/// memory.
static OpBuilder atStart(func::FuncOp entry) {
  Block &block = entry.getBody().front();
  nest::BufferOp last;
  for (Operation &op : block)
    if (auto buffer = dyn_cast<nest::BufferOp>(op))
      last = buffer;
    else if (!isa<nest::WeightOp>(op) && !isMemoryEffectFree(&op))
      break;
  OpBuilder builder(entry.getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&block);
  return builder;
}

FailureOr<nest::BufferOp> makeBuffer(func::FuncOp entry, Operation *allocation) {
  OpBuilder builder = atStart(entry);
  auto const type = cast<MemRefType>(allocation->getResult(0).getType());
  SmallVector<Value> sizes;
  for (Value size : allocation->getOperands())
    if (Value const same = hoisted(builder, size, entry))
      sizes.push_back(same);
    else
      return allocation->emitError("the size of this memory is known inside a loop only; the workspace is made before");
  if (!type.getLayout().isIdentity())
    return allocation->emitError() << "memory of layout " << type.getLayout() << " is not supported";
  std::string const name = freeName(entry, memrefName(allocation->getResult(0)));
  auto buffer = builder.create<nest::BufferOp>(
      allocation->getLoc(), MemRefType::get(type.getShape(), type.getElementType()), builder.getStringAttr(name), sizes,
      IntegerAttr(), DenseI64ArrayAttr(), nest::BufferFormAttr());
  allocation->getResult(0).replaceAllUsesWith(buffer);
  allocation->erase();
  return buffer;
}

Value makeScalar(func::FuncOp entry, Type type, StringRef name) {
  OpBuilder builder = atStart(entry);
  return builder.create<nest::BufferOp>(entry.getLoc(), MemRefType::get({}, type),
                                        builder.getStringAttr(freeName(entry, name)), ValueRange(), IntegerAttr(),
                                        DenseI64ArrayAttr(), nest::BufferFormAttr());
}

Value makeArray(func::FuncOp entry, Type element, ValueRange sizes, StringRef name) {
  OpBuilder builder = atStart(entry);
  SmallVector<int64_t> extents;
  SmallVector<Value> dynamic;
  for (Value size : sizes) {
    std::optional<int64_t> const extent = getConstantIntValue(size);
    extents.push_back(extent.value_or(ShapedType::kDynamic));
    if (extent)
      continue;
    dynamic.push_back(hoisted(builder, size, entry));
    if (!dynamic.back())
      return {};
  }
  return builder.create<nest::BufferOp>(entry.getLoc(), MemRefType::get(extents, element),
                                        builder.getStringAttr(freeName(entry, name)), dynamic, IntegerAttr(),
                                        DenseI64ArrayAttr(), nest::BufferFormAttr());
}

//===--- Globals --------------------------------------------------------------------------------------------------===//

static LogicalResult lowerGlobal(memref::GetGlobalOp use, memref::GlobalOp global) {
  auto const value = global ? dyn_cast_or_null<ElementsAttr>(global.getInitialValueAttr()) : ElementsAttr();
  if (!value || !global.getConstant())
    return use.emitError() << "global '" << use.getName() << "' is not constant; pass it as an argument";
  OpBuilder builder(use);
  auto weight = builder.create<nest::WeightOp>(use.getLoc(), use.getType(), builder.getStringAttr(global.getSymName()),
                                               value, nest::PackingAttr());
  use.replaceAllUsesWith(weight.getResult());
  use.erase();
  return success();
}

LogicalResult lowerGlobals(func::FuncOp entry) {
  entry.walk([](memref::DeallocOp op) { op.erase(); });
  SmallVector<memref::GetGlobalOp> uses;
  entry.walk([&](memref::GetGlobalOp op) { uses.push_back(op); });
  for (memref::GetGlobalOp use : uses)
    if (failed(lowerGlobal(use, SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(use, use.getNameAttr()))))
      return failure();
  return success();
}

//===--- Results --------------------------------------------------------------------------------------------------===//

namespace {
/// What extents of arguments are called: as the text calls the memref.dim, or after the argument. Those that have to be
/// equal were given one name, in place of which they get one of the text, too.
class ExtentNames {
public:
  explicit ExtentNames(func::FuncOp entry) : entry(entry) {
    for (BlockArgument argument : entry.getArguments())
      ++uses[memrefName(argument)];
    entry.walk([&](memref::DimOp op) {
      auto const argument = dyn_cast<BlockArgument>(op.getSource());
      auto const location = dyn_cast<NameLoc>(op.getLoc());
      bool const isOfText = location && location.getName().getValue().starts_with("dim \""); // not of what a pass made
      std::string const name = isOfText ? nameInLocation(location) : "";
      if (!argument || argument.getOwner() != &entry.getBody().front() || !op.getConstantIndex() || name.empty())
        return;
      if (ofText.try_emplace({argument.getArgNumber(), *op.getConstantIndex()}, name).second)
        ++uses[name];
    });
    for (auto const &[extent, name] : ofText)
      if (StringRef const shared = given(entry.getArgument(extent.first), extent.second);
          !shared.empty() && uses.lookup(name) == 1)
        ofShared.try_emplace(shared, name);
  }

  std::string operator()(BlockArgument argument, int64_t dim) const {
    if (StringRef const shared = given(argument, dim); !shared.empty()) {
      auto const named = ofShared.find(shared);
      return named == ofShared.end() ? shared.str() : named->second;
    }
    auto const known = ofText.find({argument.getArgNumber(), dim});
    if (known != ofText.end() && uses.lookup(known->second) == 1)
      return known->second;
    std::string const suffix = cast<MemRefType>(argument.getType()).getRank() > 1 ? "_" + std::to_string(dim) : "";
    return memrefName(argument) + "_size" + suffix;
  }

private:
  StringRef given(BlockArgument argument, int64_t dim) const {
    auto const names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
    auto const name = names ? dyn_cast<StringAttr>(names[dim]) : StringAttr();
    return name ? name.getValue() : StringRef();
  }

  mutable func::FuncOp entry;
  std::map<std::pair<unsigned, int64_t>, std::string> ofText;
  llvm::StringMap<unsigned> uses;
  llvm::StringMap<std::string> ofShared;
};
} // namespace

/// The names of a result's extents where they are extents of arguments.
static ArrayAttr dimsLikeArguments(ExtentNames const &extents, MemRefType type, Operation *made) {
  Builder builder(type.getContext());
  SmallVector<Attribute> names;
  unsigned next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    auto size =
        type.isDynamicDim(dim) && made ? made->getOperand(next++).getDefiningOp<memref::DimOp>() : memref::DimOp();
    auto const argument = size ? dyn_cast<BlockArgument>(size.getSource()) : BlockArgument();
    bool const known = argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) && size.getConstantIndex();
    names.push_back(builder.getStringAttr(known ? extents(argument, *size.getConstantIndex()) : ""));
  }
  return builder.getArrayAttr(names);
}

static Value addOutput(func::FuncOp entry, unsigned result, MemRefType type, Operation *made = nullptr) {
  Builder builder(entry.getContext());
  StringAttr name = entry.getResultAttrOfType<StringAttr>(result, "nest.name");
  if (!name)
    name = builder.getStringAttr("result" + std::to_string(result));
  NamedAttrList attributes(
      {builder.getNamedAttr("nest.name", name), builder.getNamedAttr("nest.output", builder.getUnitAttr())});
  if (!type.hasStaticShape())
    attributes.set("nest.dims", dimsLikeArguments(ExtentNames(entry), type, made));
  entry.insertArgument(entry.getNumArguments(), type, attributes.getDictionary(entry.getContext()), entry.getLoc());
  return entry.getArguments().back();
}

/// What the function allocated and returns lives with the caller; anything else is copied there.
static LogicalResult returnMemref(func::FuncOp entry, unsigned result, OpOperand &returned) {
  Value root = returned.get();
  if (isa<BlockArgument>(root))
    return success(); // an argument that is read and written
  auto const type = cast<MemRefType>(root.getType());
  if (!type.getLayout().isIdentity())
    return entry.emitError() << "result " << result << " has the layout " << type.getLayout()
                             << "; results are contiguous";
  Operation *const made = root.getDefiningOp();
  bool const isNew = isa<memref::AllocOp>(made);
  Value const output =
      addOutput(entry, result, MemRefType::get(type.getShape(), type.getElementType()), isNew ? made : nullptr);
  if (isNew && made->getBlock() == &entry.getBody().front()) {
    root.replaceAllUsesWith(output);
    made->erase();
    return success();
  }
  OpBuilder builder(returned.getOwner());
  builder.create<memref::CopyOp>(returned.getOwner()->getLoc(), root, output);
  return success();
}

LogicalResult resultsToArguments(func::FuncOp entry) {
  auto end = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (OpOperand &operand : end->getOpOperands()) {
    unsigned const result = operand.getOperandNumber();
    Type const type = operand.get().getType();
    if (isa<MemRefType>(type)) {
      if (failed(returnMemref(entry, result, operand)))
        return failure();
      continue;
    }
    Value const output = addOutput(entry, result, MemRefType::get({}, type));
    OpBuilder(end).create<memref::StoreOp>(end.getLoc(), operand.get(), output, ValueRange());
  }
  end->setOperands({});
  entry.setType(FunctionType::get(entry.getContext(), entry.getBody().getArgumentTypes(), {}));
  entry.setAllResultAttrs(ArrayRef<Attribute>());
  return success();
}

static bool isOfView(memref::CopyOp copy) {
  return llvm::any_of(copy->getOperands(),
                      [](Value memref) { return isa_and_nonnull<ViewLikeOpInterface>(memref.getDefiningOp()); });
}

LogicalResult lowerCopies(func::FuncOp entry, bool onlyOfViews) {
  SmallVector<memref::CopyOp> copies;
  entry.walk([&](memref::CopyOp copy) {
    if (!onlyOfViews || isOfView(copy))
      copies.push_back(copy);
  });
  for (memref::CopyOp copy : copies) {
    auto const type = dyn_cast<MemRefType>(copy.getSource().getType());
    if (!type)
      return copy.emitError("copies memory without a rank");
    OpBuilder builder(copy);
    Location const location = copy.getLoc();
    auto const index = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(location, value); };
    SmallVector<Value> lowers, uppers, steps;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      lowers.push_back(index(0));
      uppers.push_back(builder.createOrFold<memref::DimOp>(location, copy.getSource(), dim));
      steps.push_back(index(1));
    }
    auto const body = [&](OpBuilder &inner, Location, ValueRange positions) {
      Value const value = inner.create<memref::LoadOp>(location, copy.getSource(), positions);
      inner.create<memref::StoreOp>(location, value, copy.getTarget(), positions);
    };
    if (type.getRank() == 0)
      body(builder, location, {});
    else
      builder.create<scf::ParallelOp>(location, lowers, uppers, steps, body);
    copy.erase();
  }
  return success();
}

void nameDims(func::FuncOp entry) {
  ExtentNames const extents(entry);
  for (BlockArgument argument : entry.getArguments()) {
    auto const type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.hasStaticShape())
      continue;
    SmallVector<Attribute> names;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      names.push_back(StringAttr::get(entry.getContext(), extents(argument, dim)));
    entry.setArgAttr(argument.getArgNumber(), "nest.dims", ArrayAttr::get(entry.getContext(), names));
  }
}

//===--- Outputs --------------------------------------------------------------------------------------------------===//

static void markOutput(func::FuncOp entry, Value memref) {
  auto const argument = dyn_cast<BlockArgument>(baseOf(memref));
  if (!argument)
    return;
  Operation *const owner = argument.getOwner()->getParentOp();
  if (owner == entry && !entry.getArgAttr(argument.getArgNumber(), "nest.output"))
    for (char const *attribute : {"nest.output", "nest.updated"})
      entry.setArgAttr(argument.getArgNumber(), attribute, UnitAttr::get(entry.getContext()));
  if (isa<scf::ForOp, scf::WhileOp>(owner)) // any of those that it exchanges
    for (Value init : initsOf(owner))
      if (init.getType() == argument.getType())
        markOutput(entry, init);
}

void markOutputs(func::FuncOp entry) {
  entry.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      markOutput(entry, store.getMemref());
    else if (auto call = dyn_cast<nest::CallOp>(op))
      for (auto [argument, writes] : llvm::zip(call.getArguments(), call.getWrites())) {
        if (writes)
          markOutput(entry, argument);
      }
    else if (auto kernel = dyn_cast<nest::LoopKernelOp>(op))
      for (Value into : kernel.getInto())
        markOutput(entry, into);
    else if (auto kernel = dyn_cast<DestinationStyleOpInterface>(op))
      for (Value output : kernel.getDpsInits())
        markOutput(entry, output);
  });
}

} // namespace ml2k
