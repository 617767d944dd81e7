//===- NestLoops.cpp - explicit loops of the nest dialect: text form and checks -----------------------------------===//
//
// The printer trusts these checks: it neither repeats them nor handles what they refuse.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/Identities.h"
#include "translator/ir/Nest.h"
#include "translator/ir/NestText.h"
#include "translator/ir/Strips.h"
#include "translator/ir/Teams.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ml2k::nest;

//===--- Text form ------------------------------------------------------------------------------------------------===//

/// `{ ... }` with positions as arguments; the nest.yield at its end may be left out if it has no values.
static ParseResult parseBody(OpAsmParser &parser, OperationState &state,
                             ArrayRef<OpAsmParser::UnresolvedOperand> positions) {
  SmallVector<OpAsmParser::Argument> arguments;
  for (OpAsmParser::UnresolvedOperand const &position : positions)
    arguments.push_back({position, parser.getBuilder().getIndexType(), {}, {}});
  Region &body = *state.addRegion();
  if (parser.parseRegion(body, arguments))
    return failure();
  if (body.empty())
    body.emplaceBlock();
  Block &block = body.front();
  if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>()) {
    OpBuilder builder(parser.getContext());
    builder.setInsertionPointToEnd(&block);
    builder.create<YieldOp>(state.location, ValueRange{});
  }
  return success();
}

static void printBody(OpAsmPrinter &printer, Region &body) {
  bool const yields = body.front().getTerminator()->getNumOperands() != 0;
  printer << ' ';
  printer.printRegion(body, /*printEntryBlockArgs=*/false, yields);
}

/// `reduce (sum into %total : memref<f64>, max into ...)`
static ParseResult parseReductions(OpAsmParser &parser, OperationState &state, SmallVectorImpl<Attribute> &combiners) {
  if (parser.parseOptionalKeyword("reduce"))
    return success();
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
    Combiner combiner;
    OpAsmParser::UnresolvedOperand into;
    Type type;
    if (parseKeyword(parser, symbolizeCombiner, combiner) || parser.parseKeyword("into") || parser.parseOperand(into) ||
        parser.parseColonType(type) || parser.resolveOperand(into, type, state.operands))
      return failure();
    combiners.push_back(CombinerAttr::get(parser.getContext(), combiner));
    return success();
  });
}

ParseResult LoopKernelOp::parse(OpAsmParser &parser, OperationState &state) {
  using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;
  Operands positions, lowers, uppers;
  StringAttr label;
  Policy policy;
  SmallVector<Attribute> combiners;
  Type const index = parser.getBuilder().getIndexType();
  auto const list = OpAsmParser::Delimiter::Paren;
  if (parser.parseAttribute(label) || parseKeyword(parser, symbolizePolicy, policy) ||
      parser.parseOperandList(positions, list) || parser.parseEqual() || parser.parseOperandList(lowers, list) ||
      parser.parseKeyword("to") || parser.parseOperandList(uppers, list) ||
      parser.resolveOperands(lowers, index, state.operands) || parser.resolveOperands(uppers, index, state.operands) ||
      parseReductions(parser, state, combiners))
    return failure();
  auto &properties = state.getOrAddProperties<Properties>();
  properties.label = label;
  properties.policy = PolicyAttr::get(parser.getContext(), policy);
  properties.combiners = parser.getBuilder().getArrayAttr(combiners);
  properties.operandSegmentSizes = {int(lowers.size()), int(uppers.size()), int(combiners.size())};
  StringAttr note;
  if (!parser.parseOptionalKeyword("note")) {
    if (parser.parseAttribute(note))
      return failure();
    properties.note = note;
  }
  if (parseBody(parser, state, positions))
    return failure();
  return parser.parseOptionalAttrDict(state.attributes);
}

void LoopKernelOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getLabelAttr() << ' ' << stringifyPolicy(getPolicy()) << " (";
  printer.printOperands(getBody().getArguments());
  printer << ") = (";
  printer.printOperands(getLowers());
  printer << ") to (";
  printer.printOperands(getUppers());
  printer << ')';
  if (!getInto().empty()) {
    printer << " reduce (";
    llvm::interleaveComma(llvm::zip(getCombiners(), getInto()), printer, [&](auto reduction) {
      auto [combiner, into] = reduction;
      printer << stringifyCombiner(cast<CombinerAttr>(combiner).getValue()) << " into " << into << " : "
              << into.getType();
    });
    printer << ')';
  }
  if (getNoteAttr())
    printer << " note " << getNoteAttr();
  printBody(printer, getBody());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"label", "policy", "combiners", "note", "operandSegmentSizes"});
}

//===--- Checks ---------------------------------------------------------------------------------------------------===//

static LogicalResult verifyLoopBody(Operation *op, Region &body, unsigned positions, TypeRange yields) {
  Block &block = body.front();
  if (block.getNumArguments() != positions)
    return op->emitOpError() << "block has " << block.getNumArguments() << " arguments, expected " << positions;
  for (Type type : block.getArgumentTypes())
    if (!type.isIndex())
      return op->emitOpError("block requires its positions as index");
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError("block does not end in nest.yield");
  if (yield.getOperandTypes() != yields)
    return op->emitOpError() << "yields " << yield.getNumOperands()
                             << " values that are not the terms of its reductions";
  return success();
}

/// Kernels start on the host: no kernel inside a kernel, and no memory is made in one but arrays of known size.
static LogicalResult verifyKernelContents(Operation *op) {
  WalkResult const result = op->walk([&](Operation *inner) {
    if (inner == op)
      return WalkResult::advance();
    if (isa<Kernel, BufferOp>(inner)) {
      inner->emitOpError("stands inside the kernel ") << '"' << cast<Kernel>(op).getLabel() << '"';
      return WalkResult::interrupt();
    }
    bool const isOfTeam = isa<scf::ParallelOp>(inner) && cast<LoopKernelOp>(op).getPolicy() == Policy::Team;
    if (isa<scf::ParallelOp, scf::ForallOp, memref::AllocOp>(inner) && !isOfTeam) {
      inner->emitOpError("cannot be printed inside a kernel");
      return WalkResult::interrupt();
    }
    if (auto array = dyn_cast<memref::AllocaOp>(inner); array && !array.getType().hasStaticShape()) {
      array.emitError("an array of a thread needs a known size");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult verifyCombiner(Operation *op, Combiner combiner, Type type) {
  bool const integers = combiner >= Combiner::MaxSI;
  bool const floats = combiner == Combiner::MaxNum || combiner == Combiner::MinNum;
  if ((integers && !type.isIntOrIndex()) || (floats && !isa<FloatType>(type)))
    return op->emitOpError() << "cannot join values of type " << type << " by " << stringifyCombiner(combiner);
  return success();
}

SmallVector<Operation *> ml2k::nest::changeOf(memref::StoreOp store) {
  SmallVector<Operation *> change;
  for (Operation *op = store->getPrevNode(); op && change.empty(); op = op->getPrevNode())
    if (auto load = dyn_cast<memref::LoadOp>(op);
        load && load.getMemref() == store.getMemref() && load.getIndices() == store.getIndices())
      change = {load};
  if (change.empty())
    return {};
  for (Operation *op = change.front(); op->hasOneUse() && op->getNumRegions() == 0; change.push_back(op))
    if (op = *op->user_begin(); op == store)
      return change;
  return {};
}

/// An update in several operations is one that nothing comes between.
static LogicalResult verifyUpdates(Operation *kernel) {
  WalkResult const result = kernel->walk([](memref::StoreOp store) {
    if (!ml2k::nest::isAtomic(store) || !ml2k::nest::changeOf(store).empty())
      return WalkResult::advance();
    store.emitOpError("is atomic and changes no element by its value before");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Loops whose iterations are columns.
static LogicalResult verifyColumns(LoopKernelOp kernel) {
  WalkResult const result = kernel.walk([&](Operation *op) {
    if (!op->hasAttr(stripColumns))
      return WalkResult::advance();
    auto loop = dyn_cast<scf::ForOp>(op);
    auto const most = op->getAttrOfType<IntegerAttr>(stripColumns);
    if (!loop || loop.getNumResults() > 0 || !isConstantIntValue(loop.getStep(), 1))
      return op->emitOpError("is no loop over columns, step 1 and without results"), WalkResult::interrupt();
    if (!most || most.getInt() < 1 || most.getInt() > broadestStrip)
      return op->emitOpError("requires strips of 1 to ") << broadestStrip << " columns", WalkResult::interrupt();
    return failed(verifyStrips(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult LoopKernelOp::verify() {
  unsigned const loops = getLowers().size();
  if (getLabel().empty())
    return emitOpError("has no label");
  if (getUppers().size() != loops)
    return emitOpError() << "has " << loops << " lower and " << getUppers().size() << " upper bounds";
  if (getPolicy() == Policy::Range ? loops > 1 : loops < (getPolicy() == Policy::MDRange ? 2 : 1))
    return emitOpError() << stringifyPolicy(getPolicy()) << " does not take " << loops << " loops";
  auto const typeOf = [](Value into) { return cast<MemRefType>(into.getType()).getElementType(); };
  if (getInto().size() > 1 && (loops == 0 || !llvm::all_equal(llvm::map_range(getInto(), typeOf))))
    return emitError("has several reductions, which takes loops and one type");
  if (getCombiners().size() != getInto().size())
    return emitOpError("wants a combiner per reduction");
  SmallVector<Type> terms;
  for (auto [combiner, into] : llvm::zip(getCombiners().getAsRange<CombinerAttr>(), getInto())) {
    auto const type = cast<MemRefType>(into.getType());
    if (type.getRank() != 0)
      return emitOpError() << "reduces into a " << type << ", which is not of rank 0";
    if (failed(verifyCombiner(*this, combiner.getValue(), type.getElementType())))
      return failure();
    terms.push_back(type.getElementType());
  }
  if (!terms.empty() && hasAtomicUpdates(*this))
    return emitOpError("has reductions, or updates that are atomic, but not both");
  if (TypedAttr const start = getStartAttr())
    if (terms.size() != 1 || start.getType() != terms[0] ||
        !isIdempotent(cast<CombinerAttr>(getCombiners()[0]).getValue()))
      return emitOpError("requires one reduction of the type of its `start`, by a combiner that may join it twice");
  if (getOrdered() && (getOrdered()->size() != loops || !terms.empty()))
    return emitOpError("requires a flag per loop in `ordered`, and no reduction");
  if (getOrdered() && !llvm::is_contained(*getOrdered(), true))
    return emitOpError("has no loop in `ordered`");
  bool const isTeam = getPolicy() == Policy::Team, isStrips = getPolicy() == Policy::Strips;
  if ((isTeam || isStrips) && (getOrdered() || !terms.empty()))
    return emitOpError("of ") << (isTeam ? "teams" : "strips") << " has no reduction of its own and no order";
  if (failed(verifyLoopBody(*this, getBody(), loops, terms)) || failed(verifyKernelContents(*this)) ||
      failed(verifyUpdates(*this)))
    return failure();
  return isTeam ? verifyTeam(*this) : isStrips ? verifyStrips(*this) : verifyColumns(*this);
}
