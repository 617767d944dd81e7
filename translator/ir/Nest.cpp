//===- Nest.cpp - the nest dialect: registration of its parts and memory effects ----------------------------------===//

#include "translator/ir/NestScalars.h"
#include "translator/ir/NestText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ml2k::nest;

//===--- Text form ------------------------------------------------------------------------------------------------===//

/// `[m, n, k]`
static ParseResult parseRoles(OpAsmParser &parser, ArrayAttr &roles) {
  SmallVector<Role> parsed;
  auto const parseRole = [&] { return parseKeyword(parser, symbolizeRole, parsed.emplace_back()); };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseRole))
    return failure();
  roles = rolesAttr(parser.getContext(), parsed);
  return success();
}

static void printRoles(OpAsmPrinter &printer, Operation *, ArrayAttr roles) {
  printer << '[';
  llvm::interleaveComma(roles.getAsRange<RoleAttr>(), printer,
                        [&](RoleAttr role) { printer << stringifyRole(role.getValue()); });
  printer << ']';
}

#include "translator/ir/NestDialect.cpp.inc"
#include "translator/ir/NestEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "translator/ir/NestTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "translator/ir/NestAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "translator/ir/NestOps.cpp.inc"

void NestDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "translator/ir/NestTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "translator/ir/NestAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "translator/ir/NestOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "translator/ir/NestScalars.cpp.inc"
      >();
}

/// What an operation of nest folds to, as one of arith.
Operation *NestDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===--- Memory effects: inputs are read, outputs written; on tensors a kernel is pure ----------------------------===//

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(Effects &effects, DestinationStyleOpInterface kernel) {
  auto *memory = SideEffects::DefaultResource::get();
  for (OpOperand &operand : kernel->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool const isInit = kernel.isDpsInit(&operand);
    if (isInit)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, memory);
    if (!isInit || isa<RecurrentOp>(kernel))
      effects.emplace_back(MemoryEffects::Read::get(), &operand, memory);
  }
  // A gather reads what its block loads from, not only its operands
  kernel->walk([&](Operation *op) {
    if (isa<memref::LoadOp>(op))
      effects.emplace_back(MemoryEffects::Read::get(), memory);
  });
}

std::array<int64_t, 2> ConvOp::getKernel() {
  ArrayRef<int64_t> const taps = cast<ShapedType>(getInputs()[1].getType()).getShape().drop_front(2);
  return {taps[0] / getPlaneTaps(), taps[1]};
}

std::array<int64_t, 4> ConvOp::getBorder() {
  if (getChannelsFirst())
    return {0, 0, 0, 0};
  // A phase of a transposed one reads taps - 1 pixels beyond the image, fewer where the results there are cut off
  auto const along = [&](int64_t taps, int64_t stride, int64_t low, int64_t high) {
    return getTransposed() ? std::max<int64_t>(0, taps - 1 - std::min(low, high) / stride) : std::max(low, high);
  };
  ArrayRef<int64_t> const pads = getPads(), strides = getStrides();
  auto const kernel = getKernel();
  std::array<int64_t, 4> border{along(kernel[0], strides[0], pads[0], pads[2]),
                                along(kernel[1], strides[1], pads[1], pads[3]), 0, 0};
  if (auto const planes = getPlanes()) {
    border[2] = along((*planes)[2], (*planes)[3], (*planes)[5], (*planes)[6]);
    border[3] = border[2] > 0 ? (*planes)[0] : 0;
  }
  return border;
}

void MapOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void ReduceOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void ContractOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void ConvOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void WindowOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void RowOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void RecurrentOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void TopKOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void SortOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void TreesOp::getEffects(Effects &effects) { addEffects(effects, *this); }
void AssembleOp::getEffects(Effects &effects) { addEffects(effects, *this); }
