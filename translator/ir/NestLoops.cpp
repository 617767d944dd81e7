//===- NestLoops.cpp - explicit loops of the nest dialect: text form and checks -----------------------------------===//
//
// The printer trusts these checks: it neither repeats them nor handles what they refuse.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/ir/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ml2k::nest;

//===--- Text form ------------------------------------------------------------------------------------------------===//

/// A keyword of an enumeration, as in `range` or `sum`.
template <class Enum>
static ParseResult parseKeyword(OpAsmParser &parser, std::optional<Enum> (*find)(StringRef), Enum &value) {
  StringRef keyword;
  SMLoc const place = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<Enum> const found = find(keyword)) {
    value = *found;
    return success();
  }
  return parser.emitError(place) << "unknown keyword '" << keyword << "'";
}

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

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &state) {
  Level level;
  OpAsmParser::UnresolvedOperand position, lower, upper;
  Type const index = parser.getBuilder().getIndexType();
  if (parseKeyword(parser, symbolizeLevel, level))
    return failure();
  auto &properties = state.getOrAddProperties<Properties>();
  properties.level = LevelAttr::get(parser.getContext(), level);
  if (parser.parseOptionalLParen()) {
    Combiner combiner;
    if (parseKeyword(parser, symbolizeCombiner, combiner) || parser.parseLParen())
      return failure();
    properties.combiner = CombinerAttr::get(parser.getContext(), combiner);
  }
  if (parser.parseOperand(position) || parser.parseEqual() || parser.parseOperand(lower) || parser.parseKeyword("to") ||
      parser.parseOperand(upper) || parser.parseRParen() || parser.resolveOperand(lower, index, state.operands) ||
      parser.resolveOperand(upper, index, state.operands) || parseBody(parser, state, {position}))
    return failure();
  return parser.parseOptionalArrowTypeList(state.types);
}

void LoopOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyLevel(getLevel()) << ' ';
  if (getCombiner())
    printer << stringifyCombiner(*getCombiner()) << ' ';
  printer << '(' << getBody().getArgument(0) << " = " << getLower() << " to " << getUpper() << ')';
  printBody(printer, getBody());
  printer.printOptionalArrowTypeList((*this)->getResultTypes());
}

//===--- Checks ---------------------------------------------------------------------------------------------------===//

static LogicalResult verifyLoopBody(Operation *op, Region &body, unsigned positions, TypeRange extra,
                                    TypeRange yields) {
  Block &block = body.front();
  if (block.getNumArguments() != positions + extra.size())
    return op->emitOpError() << "block has " << block.getNumArguments() << " arguments, expected "
                             << positions + extra.size();
  for (BlockArgument position : block.getArguments().take_front(positions))
    if (!position.getType().isIndex())
      return op->emitOpError("block wants its positions as index");
  if (TypeRange(block.getArgumentTypes()).drop_front(positions) != extra)
    return op->emitOpError("block has arguments of other types than the operation");
  auto yield = dyn_cast<YieldOp>(block.back());
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
    if (isa<LoopKernelOp, ScanOp, MapOp, ReduceOp, ContractOp, ConvOp, WindowOp, RowOp, RecurrentOp, BufferOp>(inner)) {
      inner->emitOpError("stands inside the kernel ") << op->getAttr("label");
      return WalkResult::interrupt();
    }
    if (isa<scf::ParallelOp, scf::ForallOp, memref::AllocOp>(inner)) {
      inner->emitOpError("cannot be printed inside a kernel");
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
  for (Operation &op : *store->getBlock())
    if (auto load = dyn_cast<memref::LoadOp>(op);
        load && load.getMemref() == store.getMemref() && load.getIndices() == store.getIndices())
      change = {load};
  if (change.empty() || !change.front()->isBeforeInBlock(store))
    return {};
  for (Operation *op = change.front(); op->hasOneUse() && op->getNumRegions() == 0; change.push_back(op))
    if (op = *op->user_begin(); op == store)
      return change;
  return {};
}

LogicalResult LoopKernelOp::verify() {
  unsigned const loops = getLowers().size();
  if (getLabel().empty())
    return emitOpError("has no label");
  if (getUppers().size() != loops)
    return emitOpError() << "has " << loops << " lower and " << getUppers().size() << " upper bounds";
  if (getPolicy() == Policy::Range ? loops > 1 : getPolicy() == Policy::Team ? loops != 1 : loops < 2)
    return emitOpError() << stringifyPolicy(getPolicy()) << " does not take " << loops << " loops";
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
  if (getOrdered() && (getOrdered()->size() != loops || !terms.empty() || getPolicy() == Policy::Team))
    return emitOpError("wants a flag per loop in `ordered`, and neither teams nor reductions beside it");
  if (getOrdered() && !llvm::is_contained(*getOrdered(), true))
    return emitOpError("has no loop in `ordered`");
  if (getPolicy() == Policy::Team && !terms.empty())
    return emitOpError("reduces over a league; reduce in the team with nest.loop");
  if (failed(verifyLoopBody(*this, getBody(), loops, {}, terms)))
    return failure();
  return verifyKernelContents(*this);
}

LogicalResult ScanOp::verify() {
  if (getLabel().empty())
    return emitOpError("has no label");
  if (!getType().isIntOrIndexOrFloat())
    return emitOpError() << "cannot add values of type " << getType();
  if (failed(verifyLoopBody(*this, getTerm(), 1, {}, {getType()})) ||
      failed(verifyLoopBody(*this, getTake(), 1, {getType()}, {})))
    return failure();
  return verifyKernelContents(*this);
}

static LogicalResult verifyInTeam(Operation *op) {
  auto kernel = op->getParentOfType<LoopKernelOp>();
  if (!kernel || kernel.getPolicy() != Policy::Team)
    return op->emitOpError("stands outside a team kernel");
  return success();
}

/// Not where only some threads of the team come along: they would wait for the others for ever.
static LogicalResult verifyUniform(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent && !isa<LoopKernelOp>(parent); parent = parent->getParentOp())
    if (isa<LoopOp, SingleOp>(parent))
      return op->emitOpError() << "stands inside " << parent->getName() << ", which not all threads run";
  return success();
}

LogicalResult LoopOp::verify() {
  if (failed(verifyInTeam(*this)))
    return failure();
  bool const reduces = getCombiner().has_value();
  if (reduces != (getResult() != nullptr))
    return emitOpError("wants a combiner and a result, or neither");
  if (reduces && failed(verifyCombiner(*this, *getCombiner(), getResult().getType())))
    return failure();
  auto outer = (*this)->getParentOfType<LoopOp>();
  if (outer && (outer.getLevel() != Level::Threads || getLevel() != Level::Lanes))
    return emitOpError() << stringifyLevel(getLevel()) << " inside " << stringifyLevel(outer.getLevel());
  if (getLevel() != Level::Lanes && failed(verifyUniform(*this)))
    return failure();
  return verifyLoopBody(*this, getBody(), 1, {}, (*this)->getResultTypes());
}

LogicalResult ScratchOp::verify() {
  if (failed(verifyInTeam(*this)))
    return failure();
  if (!isa<LoopKernelOp>((*this)->getParentOp()))
    return emitOpError("is not in the block of the kernel itself");
  if (getName().empty())
    return emitOpError("has no name");
  return cast<MemRefType>(getType()).getLayout().isIdentity() ? success()
                                                              : LogicalResult(emitOpError("is not contiguous"));
}

LogicalResult BarrierOp::verify() { return failed(verifyInTeam(*this)) ? failure() : verifyUniform(*this); }

LogicalResult SingleOp::verify() {
  return failed(verifyInTeam(*this)) || failed(verifyUniform(*this)) ? failure()
                                                                     : verifyLoopBody(*this, getBody(), 0, {}, {});
}
