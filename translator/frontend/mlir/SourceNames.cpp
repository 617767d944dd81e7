//===- SourceNames.cpp - the names of the MLIR text ---------------------------------------------------------------===//
//
// A person who wrote `%image` and `%hidden` wants to read image and hidden. MLIR drops these names; the parser's state
// still knows where they stand in the text.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

static constexpr llvm::StringLiteral nameAttribute = "nest.name";

static StringRef textOf(SMRange range) {
  char const *const begin = range.Start.getPointer();
  return begin ? StringRef(begin, range.End.getPointer() - begin).ltrim('%') : StringRef();
}

/// Names that MLIR's printers invent (`%0`, `%cst_1`, `%arg0`) say nothing.
static bool isInvented(StringRef name) {
  static llvm::Regex const invented(
      "^([0-9]+|arg[0-9]+|(c-?[0-9]+(_i[0-9]+)?|cst|true|false|alloc|alloca|dim|rank|cast|subview|view|collapse_shape|"
      "expand_shape|reinterpret_cast|reshape|collapsed|expanded|extracted|extracted_slice|inserted|inserted_slice|"
      "padded|"
      "transposed|splat|from_elements|generated|gathered|concat|broadcasted|unpack|pack|init|values|positions|"
      "coordinates|"
      "base_buffer|offset|sizes|strides|iter|mem)(_[0-9]+)?)$");
  return name.empty() || invented.match(name);
}

static void nameArguments(func::FuncOp function, AsmParserState const &text) {
  auto const *block = text.getBlockDef(&function.getBody().front());
  if (!block)
    return;
  for (auto [i, definition] : llvm::enumerate(block->arguments)) {
    StringRef const name = textOf(definition.loc);
    if (i < function.getNumArguments() && !isInvented(name) && !function.getArgAttr(i, nameAttribute))
      function.setArgAttr(i, nameAttribute, StringAttr::get(function.getContext(), name));
  }
}

/// The name of a result: `%sum, %max = ...` gives each its own, `%r:2 = ...` the first.
static StringRef resultName(Operation *op, AsmParserState const &text, unsigned place = 0) {
  auto const *definition = op ? text.getOpDef(op) : nullptr;
  if (!definition || definition->resultGroups.empty())
    return "";
  if (place > 0 && definition->resultGroups.size() != op->getNumResults())
    return "";
  StringRef const name = textOf(definition->resultGroups[place].definition.loc);
  return isInvented(name) ? "" : name;
}

/// Every result has a name of its own.
static bool hasNames(Operation *op, AsmParserState const &text) {
  auto const *definition = text.getOpDef(op);
  return definition && definition->resultGroups.size() == op->getNumResults();
}

static void nameResults(func::FuncOp function, AsmParserState const &text) {
  Operation *const end = function.getBody().back().getTerminator();
  if (end->getNumOperands() != function.getNumResults())
    return;                          // of a block that nothing reaches
  llvm::SmallPtrSet<Value, 4> named; // a value that is returned twice gives its name once
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto const result = dyn_cast<OpResult>(value);
    if (!result || !named.insert(result).second || !hasNames(result.getOwner(), text) ||
        function.getResultAttr(i, nameAttribute))
      continue;
    if (StringRef const name = resultName(result.getOwner(), text, result.getResultNumber()); !name.empty())
      function.setResultAttr(i, nameAttribute, StringAttr::get(function.getContext(), name));
  }
}

/// `%hidden = linalg.matmul` gets the location `matmul "hidden"`, which names the layer. `%sum, %count = scf.if` gets
/// none: one name would be that of whichever result is left.
static void nameOperation(Operation *op, AsmParserState const &text) {
  StringRef const name = resultName(op, text);
  bool const isOfSeveral = isa<scf::IfOp>(op) && op->getNumResults() > 1 && hasNames(op, text);
  if (name.empty() || isOfSeveral || !isa<FileLineColLoc>(op->getLoc()))
    return;
  std::string const full = (op->getName().stripDialect() + " \"" + name + "\"").str();
  op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), full), op->getLoc()));
}

/// Indices, carried values of loops and what a reduction joins: `argument "row"`.
static void nameLoopArguments(Operation *op, AsmParserState const &text) {
  if (!isa<LoopLikeOpInterface, scf::ReduceOp, gpu::LaunchOp, omp::LoopNestOp>(op))
    return;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (auto const *definition = text.getBlockDef(&block))
        for (auto [argument, known] : llvm::zip(block.getArguments(), definition->arguments))
          if (StringRef const name = textOf(known.loc); !isInvented(name))
            argument.setLoc(NameLoc::get(StringAttr::get(op->getContext(), ("argument \"" + name + "\"").str()),
                                         argument.getLoc()));
}

void ml2k::mlir_import::takeNamesFromText(ModuleOp module, AsmParserState const &text) {
  if (text.getOpDefs().empty())
    return;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    nameArguments(function, text);
    nameResults(function, text);
    function.getBody().walk([&](Operation *op) {
      nameOperation(op, text);
      nameLoopArguments(op, text);
    });
  }
}

static std::string unnamed(StringRef stem, unsigned place) { return (stem + Twine(place)).str(); }

void ml2k::mlir_import::nameSignature(func::FuncOp entry) {
  auto const attribute = [&](std::string const &name) { return StringAttr::get(entry.getContext(), name); };
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (!entry.getArgAttr(i, nameAttribute))
      entry.setArgAttr(i, nameAttribute, attribute(unnamed("arg", i)));
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (!entry.getResultAttr(i, nameAttribute))
      entry.setResultAttr(i, nameAttribute, attribute(unnamed("result", i)));
}
