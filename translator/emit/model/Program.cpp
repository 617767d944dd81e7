//===- Program.cpp - what a nest module holds, with its names settled ---------------------------------------------===//

#include "translator/emit/model/Program.h"
#include "translator/emit/render/Blocks.h"
#include "translator/emit/scalars/Scalars.h"
#include "translator/ir/Exchanges.h"
#include "translator/ir/InTurn.h"
#include "translator/ir/UniqueNames.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ml2k {

/// Words that mean something in every layer function; `along` is what kernels of rows call theirs.
static char const *const layerWords[] = {"space",        "weights",     "work",   "forward",
                                         "load_weights", "check_sizes", "fitted", "along"};

llvm::StringSet<> fixedNames() {
  llvm::StringSet<> names = blockNames();
  for (char const *word : layerWords)
    names.insert(word);
  return names;
}

static Code elementCode(cpp::Type const &scalar, bool isConst) {
  return isConst ? scalar.code + Raw(" const") : scalar.code;
}

/// A view of elements of `scalar`.
static cpp::Type viewType(Code const &code, cpp::Type const &scalar, bool isConst, cpp::BlockName block = {}) {
  cpp::Type type{code};
  type.block = block;
  type.isConst = isConst;
  type.isFixedWidth = scalar.isFixedWidth;
  return type;
}

cpp::Type tensorType(cpp::Type const &scalar, bool isConst, ArrayRef<int64_t> shape) {
  int lastDynamic = -1;
  for (auto [i, extent] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(extent) || extent == 0) // no array has extent 0
      lastDynamic = i;
  Code code = Raw("Tensor<") + elementCode(scalar, isConst);
  for (int i = 0; i <= lastDynamic; ++i)
    code += i == 0 ? Raw(" *") : Raw("*");
  for (int64_t extent : shape.drop_front(lastDynamic + 1))
    code += Raw("[") + Code(extent) + Raw("]");
  return viewType(code + Raw(">"), scalar, isConst);
}

cpp::Type imageType(cpp::Type const &scalar, bool isConst, Code const &shape, ArrayRef<int64_t> border) {
  if (border.size() == 4 && border[2] > 0) {
    SmallVector<Code> arguments = {elementCode(scalar, isConst), Code(border[3]), shape, Code(border[2])};
    if (border[0] != border[2] || border[1] != border[0])
      arguments.push_back(Code(border[0]));
    if (border[1] != border[0])
      arguments.push_back(Code(border[1]));
    return viewType(Raw("Volumes<") + cpp::listOf(arguments) + Raw(">"), scalar, isConst, "volumes");
  }
  SmallVector<Code> arguments = {elementCode(scalar, isConst), shape};
  if (border[0] || border[1])
    arguments.push_back(Code(border[0]));
  if (border[0] != border[1])
    arguments.push_back(Code(border[1]));
  return viewType(Raw("Activation<") + cpp::listOf(arguments) + Raw(">"), scalar, isConst, "activation");
}

void setTensorType(Storage &storage, bool isConst) {
  storage.isFlat = storage.type.getRank() > nest::maxViewRank;
  int64_t const elements = storage.type.hasStaticShape() ? storage.type.getNumElements() : ShapedType::kDynamic;
  storage.cpp =
      tensorType(storage.scalarType(), isConst, storage.isFlat ? ArrayRef<int64_t>(elements) : storage.type.getShape());
}

void Program::collect() {
  model = options.nameSpace;
  if (model.empty())
    model = namespaceName(llvm::sys::path::stem(options.stem));
  for (auto const &name : fixedNames())
    fileScope.take(name.getKey());
  sizesImages = entry->hasAttr("nest.sized_images");
  collectArguments();
  collectMembers();
  nameArgumentTypes();
  collectSizes();
  collectExchanged(); // hides none of them
  collectFunctions();
}

//===--- Storage --------------------------------------------------------------------------------------------------===//

void Program::collectArguments() {
  std::vector<std::string> names;
  for (BlockArgument argument : entry.getArguments()) {
    auto const name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name");
    names.push_back(name ? name.str() : "argument " + std::to_string(argument.getArgNumber()));
  }
  llvm::StringSet<> const taken = fixedNames();
  std::vector<std::string> wanted;
  for (std::string const &full : names)
    wanted.push_back(full + (taken.contains(snakeCase(full)) ? " view" : ""));
  llvm::StringMap<std::string> const table = nameTable(wanted, "value", taken);
  for (auto [argument, full, want] : llvm::zip(entry.getArguments(), names, wanted)) {
    std::string const name = table.lookup(want);
    if (!isa<MemRefType>(argument.getType())) {
      nameHostValue(argument, name); // a scalar, passed by value
      fileScope.take(name);
      scalarTypes[name] = computedType(argument.getType());
      continue;
    }
    Storage storage{};
    storage.kind = StorageKind::Argument;
    storage.value = argument;
    storage.type = cast<MemRefType>(argument.getType());
    storage.modelName = full;
    storage.name = storage.expression = name;
    storage.isCounted = bool(entry.getArgAttr(argument.getArgNumber(), "nest.counted"));
    storage.isOutput = bool(entry.getArgAttr(argument.getArgNumber(), "nest.output"));
    storage.isUnsigned = bool(entry.getArgAttr(argument.getArgNumber(), "nest.unsigned"));
    setTensorType(storage, !storage.isOutput);
    arguments.push_back(std::move(storage));
    storages[argument] = &arguments.back();
  }
}

void Program::nameArgumentTypes() {
  llvm::StringSet<> taken = blockNames();
  for (char const *name : {"Weights", "Workspace", "Packed", "Captured", "Tuned", "ExecutionSpace"})
    taken.insert(name);
  for (Storage &argument : arguments) {
    argument.alias = camelCase(argument.modelName);
    if (!taken.insert(argument.alias).second) {
      argument.alias += "View";
      if (!taken.insert(argument.alias).second) {
        unsigned equal = 0;
        argument.alias = hashedName(argument.alias, argument.modelName, equal,
                                    [&](StringRef name) { return !taken.insert(name).second; });
      }
    }
  }
}

/// The memrefs that a host loop hands from one iteration to the next.
void Program::collectExchanged() {
  Scope scope(&fileScope);
  for (Storage const &argument : arguments)
    scope.take(argument.name);
  entry.walk<WalkOrder::PreOrder>([&](Operation *loop) {
    auto decided = dyn_cast<scf::WhileOp>(loop);
    if (isa<nest::LoopKernelOp>(loop))
      return WalkResult::skip();
    if (!decided && !isa<scf::ForOp>(loop))
      return WalkResult::advance();
    ValueRange const arguments =
        decided ? ValueRange(decided.getBeforeArguments()) : ValueRange(cast<scf::ForOp>(loop).getRegionIterArgs());
    for (auto [carried, init] : llvm::zip(arguments, initsOf(loop))) {
      if (!isa<MemRefType>(carried.getType()))
        continue;
      Storage const *first = storages.lookup(init);
      Storage storage = *first;
      storage.kind = StorageKind::Argument;
      storage.value = carried;
      storage.name = storage.expression = scope.fresh(withSourceName(carried, {first->name + "_now"})).str();
      storage.alias.clear();
      fileScope.take(storage.name);
      exchanged.push_back(std::move(storage));
      storages[carried] = &exchanged.back();
    }
    auto const nameSame = [&](ValueRange values) {
      for (Value value : values)
        if (isa<MemRefType>(value.getType()))
          storages[value] = storages.lookup(arguments[exchangeOf(value).place]);
    };
    nameSame(loop->getResults());
    if (decided)
      nameSame(decided.getAfterArguments());
    return WalkResult::advance();
  });
  // The numbers that one carries are variables of forward()
  auto const nameCarried = [&](BlockArgument carried) {
    ScalarPrinter::Nouns nouns = withSourceName(carried, {"state", "current"});
    if (nouns.size() > 2) // what is carried may be called as the number that a kernel computes
      nouns.insert(nouns.begin() + 1, nouns.front() + "_now");
    std::string const name = scope.fresh(nouns).str();
    nameHostValue(carried, name);
    scalarTypes[name] = computedType(carried.getType());
    fileScope.take(name);
  };
  auto const nameAs = [&](Value same, Value carried) {
    if (!isa<MemRefType>(same.getType()))
      nameHostValue(same, hostName(carried));
  };
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<nest::LoopKernelOp>(op))
      return WalkResult::skip();
    auto counted = dyn_cast<scf::ForOp>(op);
    auto decided = dyn_cast<scf::WhileOp>(op);
    if (!counted && !decided)
      return WalkResult::advance();
    for (BlockArgument carried : counted ? counted.getRegionIterArgs() : decided.getBeforeArguments())
      if (!isa<MemRefType>(carried.getType()))
        nameCarried(carried);
    if (counted)
      for (auto [result, carried] : llvm::zip(counted.getResults(), counted.getRegionIterArgs()))
        nameAs(result, carried);
    else
      for (auto [passed, argument, result] :
           llvm::zip(decided.getConditionOp().getArgs(), decided.getAfterArguments(), decided.getResults())) {
        nameAs(argument, passed);
        nameAs(result, passed);
      }
    return WalkResult::advance();
  });
}

void Program::collectMembers() {
  entry.walk([&](nest::BufferOp buffer) { addBuffer(buffer); });
  entry.walk([&](nest::WeightOp weight) { addWeight(weight); });
  nameMembers(buffers, "tensor", "work.");
  for (Storage &weight : weights)
    storages[weight.value] = &weight;
  joinBiases();
  nameMembers(weights, "weight", "weights.");
  for (Storage &weight : weights)
    if (weight.bias)
      weight.bias->expression = weight.expression + ".bias";
}

/// The blocks of convolutions and contractions add a bias that lies with their weights.
void Program::joinBiases() {
  auto const join = [&](auto kernel) {
    if (!kernel.getBias())
      return;
    storages.lookup(kernel.getInputs()[1])->bias = storages.lookup(kernel.getExtras()[*kernel.getBias()]);
  };
  entry.walk([&](nest::ConvOp conv) { join(conv); });
  entry.walk([&](nest::ContractOp contract) { join(contract); });
  for (Storage &weight : weights)
    if (weight.bias && !weight.bias->biasOf)
      weight.bias->biasOf = &weight;
}

void Program::nameMembers(std::deque<Storage> &members, StringRef prefix, StringRef owner) {
  // conv1 for conv1.weight that holds its bias
  auto const shown = [](Storage const &member) {
    StringRef name = member.modelName;
    if (member.bias)
      name.consume_back(".weight");
    return name.str();
  };
  std::vector<std::string> names;
  for (Storage const &member : members)
    names.push_back(shown(member));
  llvm::StringSet<> taken;
  for (char const *word : {"split", "arena", "winograd", "batch", "space", "buffers", "allocate", "fitted", "on_host"})
    taken.insert(word);
  llvm::StringMap<std::string> const table = nameTable(names, prefix, taken);
  for (Storage &member : members) {
    member.name = table.lookup(shown(member));
    member.expression = (owner + member.name).str();
    storages[member.value] = &member;
  }
}

Code Program::imageShape(ArrayRef<int64_t> shape) const { return cpp::listOf(shape.drop_front(sizesImages ? 3 : 1)); }

AffineExpr Program::allocatedExtent(Storage const &buffer, unsigned dim, HostSymbols &symbols) const {
  AffineExpr const inside = extent(buffer.value, dim, symbols);
  if (buffer.isImage && dim == 0 && buffer.border.size() == 4)
    return inside.floorDiv(buffer.border[3]) * (buffer.border[3] + 2 * buffer.border[2]);
  bool const isPadded = buffer.isImage && sizesImages && (dim == 1 || dim == 2);
  return isPadded ? inside + 2 * buffer.border[dim - 1] : inside;
}

void Program::addBuffer(nest::BufferOp op) {
  Storage storage{};
  storage.kind = StorageKind::Buffer;
  storage.value = op.getResult();
  storage.type = cast<MemRefType>(op.getType());
  storage.modelName = op.getName().str();
  storage.isCounted = op->hasAttr("nest.counted");
  storage.isImage = op.getForm() == nest::BufferForm::Image;
  if (op.getBorder())
    storage.border.assign(op.getBorder()->begin(), op.getBorder()->end());
  if (storage.isImage) {
    ArrayRef<int64_t> const shape = storage.type.getShape();
    storage.cpp = imageType(storage.scalarType(), false, imageShape(shape), storage.border);
  } else {
    setTensorType(storage, false);
  }
  buffers.push_back(std::move(storage));
}

Storage const *Program::storageOf(Value memref) const {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return storages.lookup(memref);
}

Expression Program::reference(Storage const &storage) const {
  Identifier const own(storage.name);
  if (storage.kind == StorageKind::Argument)
    return cpp::name(own);
  if (storage.kind == StorageKind::Buffer)
    return cpp::member(cpp::name(Raw("work")), own);
  Expression const all = cpp::name(Raw("weights"));
  if (storage.biasOf)
    return cpp::member(cpp::member(all, Identifier(storage.biasOf->name)), Raw("bias"));
  return cpp::member(all, own);
}

std::string Program::labelOfKernel(Operation *kernel) const {
  std::string label = nest::labelOf(kernel).str();
  if (SmallVector<nest::ContractOp> const products = nest::productsInTurn(kernel); !products.empty())
    label += " to " + nest::labelOf(products.back()).str();
  return label;
}

void Program::collectFunctions() {
  std::vector<std::string> labels;
  entry.walk([&](nest::Kernel kernel) { labels.push_back(labelOfKernel(kernel)); });
  llvm::StringSet<> const taken = fixedNames();
  // forward() calls them where its parameters hide other names
  llvm::StringSet<> parameters;
  for (char const *name : {"space", "weights", "work"})
    parameters.insert(name);
  for (Storage const &argument : arguments)
    parameters.insert(argument.name);
  for (RuntimeSize const &size : sizes)
    parameters.insert(size.name);
  for (auto const &[name, type] : scalarTypes)
    parameters.insert(name);
  // A kernel that is named like the argument that it writes is called after what it does
  llvm::StringMap<std::string> const plain = nameTable(labels, "layer", taken);
  auto const isParameter = [&](std::string const &label) {
    return parameters.contains(snakeCase(label, "layer")) || parameters.contains(plain.lookup(label));
  };
  std::vector<std::string> wanted;
  for (std::string const &label : labels)
    wanted.push_back((isParameter(label) ? "compute_" : "") + label);
  llvm::StringMap<std::string> const table = nameTable(wanted, "layer", taken);
  for (auto const &[label, name] : llvm::zip(labels, wanted))
    functions[label] = table.lookup(name);
}

} // namespace ml2k
