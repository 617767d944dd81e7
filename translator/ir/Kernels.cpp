//===- Kernels.cpp - kernels through their interface --------------------------------------------------------------===//

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ml2k::nest;

#include "translator/ir/KernelInterface.cpp.inc"

static constexpr llvm::StringLiteral futureLabel = "nest.label";

StringRef ml2k::nest::labelOf(Operation *op) {
  if (auto kernel = dyn_cast<Kernel>(op))
    return kernel.getLabel();
  auto const label = op->getAttrOfType<StringAttr>(futureLabel);
  return label ? label.getValue() : StringRef();
}

void ml2k::nest::setLabel(Operation *op, StringRef label) {
  if (auto kernel = dyn_cast<Kernel>(op))
    return kernel.setLabel(label);
  op->setAttr(futureLabel, StringAttr::get(op->getContext(), label));
}

//===--- Operands, maps and regions by kind -----------------------------------------------------------------------===//

static SmallVector<AffineMap> affineMapsOf(ArrayAttr maps) {
  return llvm::to_vector(maps.getAsValueRange<AffineMapAttr>());
}

SmallVector<Value> MapOp::getMappedOperands() { return SmallVector<Value>(getOperands()); }
SmallVector<Value> ReduceOp::getMappedOperands() { return SmallVector<Value>(getOperands()); }
SmallVector<Value> ContractOp::getMappedOperands() { return SmallVector<Value>(getOperands()); }
SmallVector<Value> ConvOp::getMappedOperands() {
  SmallVector<Value> operands(getExtras());
  if (getExtraMaps().size() > operands.size()) // the sums are not stored in their order
    llvm::append_range(operands, getOutputs());
  return operands;
}
SmallVector<Value> WindowOp::getMappedOperands() { return SmallVector<Value>(getExtras()); }
SmallVector<Value> RowOp::getMappedOperands() { return SmallVector<Value>(getOperands()); }
SmallVector<Value> RecurrentOp::getMappedOperands() {
  SmallVector<Value> operands(getExtras());
  llvm::append_range(operands, getOutputs());
  return operands;
}

SmallVector<Value> TopKOp::getMappedOperands() { return {}; }
SmallVector<Value> SortOp::getMappedOperands() { return {}; }
SmallVector<Value> TreesOp::getMappedOperands() { return {}; }
SmallVector<Value> AssembleOp::getMappedOperands() { return {}; }

SmallVector<AffineMap> MapOp::getMaps() { return affineMapsOf(getIndexingMaps()); }
SmallVector<AffineMap> ReduceOp::getMaps() { return affineMapsOf(getIndexingMaps()); }
SmallVector<AffineMap> ContractOp::getMaps() { return affineMapsOf(getIndexingMaps()); }
SmallVector<AffineMap> ConvOp::getMaps() { return affineMapsOf(getExtraMaps()); }
SmallVector<AffineMap> WindowOp::getMaps() { return affineMapsOf(getExtraMaps()); }
SmallVector<AffineMap> RowOp::getMaps() { return affineMapsOf(getIndexingMaps()); }
SmallVector<AffineMap> RecurrentOp::getMaps() { return affineMapsOf(getIndexingMaps()); }

SmallVector<AffineMap> TopKOp::getMaps() { return {}; }
SmallVector<AffineMap> SortOp::getMaps() { return {}; }
SmallVector<AffineMap> TreesOp::getMaps() { return {}; }
SmallVector<AffineMap> AssembleOp::getMaps() { return {}; }

Region &MapOp::getStoringRegion() { return getBody(); }
Region &ReduceOp::getStoringRegion() { return getFinish(); }
Region &ContractOp::getStoringRegion() { return getEpilogue(); }
Region &ConvOp::getStoringRegion() { return getEpilogue(); }
Region &WindowOp::getStoringRegion() { return getFinish(); }
Region &RowOp::getStoringRegion() { return getBody(); }
Region &RecurrentOp::getStoringRegion() { return getNext().front(); }
Region &TopKOp::getStoringRegion() { return getBefore(); }
Region &SortOp::getStoringRegion() { llvm_unreachable("a sort stores what it read"); }
Region &TreesOp::getStoringRegion() { return getSplit(); }
Region &AssembleOp::getStoringRegion() { return getCombine(); }
Region &LoopKernelOp::getStoringRegion() { return getBody(); }

//===--- Schedules ------------------------------------------------------------------------------------------------===//

static constexpr llvm::StringLiteral schedule = "nest.schedule";

ScheduleAttr ml2k::nest::scheduleOf(Operation *kernel) { return kernel->getAttrOfType<ScheduleAttr>(schedule); }

void ml2k::nest::setSchedule(Operation *kernel, KernelBlock block, ScheduleParts const &parts) {
  kernel->setAttr(schedule, ScheduleAttr::get(kernel->getContext(), block, parts));
}

//===--- Contractions ---------------------------------------------------------------------------------------------===//

Role ContractOp::getRole(unsigned loop) { return cast<RoleAttr>(getIterators()[loop]).getValue(); }

SmallVector<Role> ContractOp::getRoles() {
  return llvm::map_to_vector(getIterators(), [](Attribute role) { return cast<RoleAttr>(role).getValue(); });
}

ArrayAttr ml2k::nest::rolesAttr(MLIRContext *context, ArrayRef<Role> roles) {
  return ArrayAttr::get(
      context, llvm::map_to_vector(roles, [&](Role role) -> Attribute { return RoleAttr::get(context, role); }));
}

//===--- Recurrent layers -----------------------------------------------------------------------------------------===//

Direction RecurrentOp::getDirection(unsigned number) {
  unsigned const count = getNumDirections(), extras = getExtras().size() / count, outputs = getOutputs().size() / count;
  SmallVector<AffineMap> const all = getMaps();
  SmallVector<AffineMap> maps = llvm::to_vector(ArrayRef(all).slice(number * extras, extras));
  llvm::append_range(maps, ArrayRef(all).slice(count * extras + number * outputs, outputs));
  ArrayRef<Attribute> const starts = getStarts() ? getStartsAttr().getValue() : ArrayRef<Attribute>();
  return {getInputs()[number],
          getExtras().slice(number * extras, extras),
          getOutputs().slice(number * outputs, outputs),
          std::move(maps),
          starts.empty() ? starts : starts.slice(number * outputs, outputs),
          &getNext()[number]};
}

bool RecurrentOp::isState(Value output) {
  unsigned const outputs = getOutputs().size() / getNumDirections();
  return output == getOutputs().front() || output == getOutputs()[getOutputs().size() - outputs];
}

//===--- Reductions -----------------------------------------------------------------------------------------------===//

namespace {
struct JoinRow {
  StringRef operation;
  Combiner combiner;
};
constexpr JoinRow joins[] = {
    {"arith.addf", Combiner::Sum},       {"arith.addi", Combiner::Sum},       {"arith.mulf", Combiner::Prod},
    {"arith.muli", Combiner::Prod},      {"arith.maximumf", Combiner::Max},   {"arith.minimumf", Combiner::Min},
    {"arith.maxnumf", Combiner::MaxNum}, {"arith.minnumf", Combiner::MinNum}, {"arith.maxsi", Combiner::MaxSI},
    {"arith.minsi", Combiner::MinSI},    {"arith.maxui", Combiner::MaxUI},    {"arith.minui", Combiner::MinUI},
    {"arith.andi", Combiner::And},       {"arith.ori", Combiner::Or},         {"arith.xori", Combiner::Xor},
};
} // namespace

bool ml2k::nest::mayReassociate(Operation *op) {
  auto math = isa_and_nonnull<arith::AddFOp, arith::MulFOp>(op) ? cast<arith::ArithFastMathInterface>(op)
                                                                : arith::ArithFastMathInterface();
  return math && bitEnumContainsAll(math.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::reassoc);
}

std::optional<Combiner> ml2k::nest::combinerOf(Operation *op) {
  auto const *row = llvm::find_if(joins, [&](JoinRow const &r) { return r.operation == op->getName().getStringRef(); });
  return row == std::end(joins) ? std::nullopt : std::optional(row->combiner);
}

std::optional<Combiner> ml2k::nest::combinerOf(Region &reduction) {
  if (reduction.empty()) // of text that is being verified
    return std::nullopt;
  Block &block = reduction.front();
  if (std::distance(block.begin(), block.end()) != 2 || block.back().getNumOperands() != 1)
    return std::nullopt;
  Operation &op = block.front();
  bool const both = op.getNumOperands() == 2 && op.getOperand(0) != op.getOperand(1) &&
                    llvm::all_of(op.getOperands(), [&](Value v) { return v.getParentBlock() == &block; });
  return both && block.back().getOperand(0) == op.getResult(0) ? combinerOf(&op) : std::nullopt;
}

Value ml2k::nest::join(OpBuilder &builder, Location location, Combiner combiner, Value a, Value b) {
  bool const real = isa<FloatType>(a.getType());
  auto const *row = llvm::find_if(joins, [&](JoinRow const &r) {
    return r.combiner == combiner && (combiner > Combiner::Prod || r.operation.ends_with(real ? "f" : "i"));
  });
  OperationState state(location, row->operation, {a, b}, {a.getType()});
  return builder.create(state)->getResult(0);
}

//===--- Biases ---------------------------------------------------------------------------------------------------===//

std::optional<unsigned> ml2k::nest::addedToSum(Region &epilogue) {
  Block &block = epilogue.front();
  Value const sum = block.getArgument(0);
  if (!sum.hasOneUse())
    return std::nullopt;
  Operation *add = *sum.getUsers().begin();
  if (!isa<arith::AddFOp>(add) || add->getBlock() != &block)
    return std::nullopt;
  auto const other = dyn_cast<BlockArgument>(add->getOperand(add->getOperand(0) == sum));
  if (!other || other.getOwner() != &block || !other.hasOneUse() || other.getArgNumber() == 0)
    return std::nullopt;
  return other.getArgNumber() - 1;
}

Value ml2k::nest::biasedSum(Operation *kernel) {
  auto const sumIn = [](auto op) {
    return op.getBias() ? Value((*op.getEpilogue().front().getArgument(0).user_begin())->getResult(0)) : Value();
  };
  if (auto conv = dyn_cast<ConvOp>(kernel))
    return sumIn(conv);
  if (auto contract = dyn_cast<ContractOp>(kernel))
    return sumIn(contract);
  return {};
}

//===--- Types ----------------------------------------------------------------------------------------------------===//

bool ml2k::nest::isScalar(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::is_contained({1, 8, 16, 32, 64}, int(integer.getWidth()));
  return type.isIndex() || type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}
