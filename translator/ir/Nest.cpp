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

std::array<int64_t, 2> ConvOp::getBorder() {
  ArrayRef<int64_t> const pads = getPads();
  if (!getTransposed())
    return {std::max(pads[0], pads[2]), std::max(pads[1], pads[3])};
  // A phase reads taps - 1 pixels beyond the image, fewer where the results there are cut off
  ArrayRef<int64_t> const taps = cast<ShapedType>(getInputs()[1].getType()).getShape().drop_front(2);
  auto const along = [&](int d) {
    return std::max<int64_t>(0, taps[d] - 1 - std::min(pads[d], pads[2 + d]) / getStrides()[d]);
  };
  return {along(0), along(1)};
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
