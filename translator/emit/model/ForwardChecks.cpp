//===- ForwardChecks.cpp - sizes that forward() reads, and what it checks -----------------------------------------===//

#include "translator/emit/model/ForwardPrinter.h"
#include "translator/text/Text.h"

#include <set>

using namespace mlir;

namespace ml2k {

/// `image.extent_int(0)`
Expression extentOf(Identifier const &view, unsigned dim) {
  return call(cpp::member(cpp::name(view), Raw("extent_int")), {literal(dim)});
}

std::optional<Expression> tooManyElements(Program const &program) {
  std::vector<Expression> conditions;
  for (auto const *storages : {&program.arguments, &program.buffers})
    for (Storage const &storage : *storages) {
      if (!storage.isCounted)
        continue;
      Expression const whole = program.reference(storage);
      Expression const view = storage.isImage ? cpp::member(whole, Raw("rows")) : whole;
      Expression const size = call(cpp::member(view, Raw("size")), {});
      conditions.push_back(binary(size, ">", Rank::Relation, cpp::global(Raw("INT_MAX"), {}, "climits")));
    }
  return conditions.empty() ? std::nullopt : std::optional(cpp::joinAll(conditions, "||", Rank::Or));
}

/// What forward() calls a size, or a number passed by value; nothing is called so where this is empty.
static std::string nameOfSymbol(Program &program, StringAttr symbol) {
  for (RuntimeSize const &size : program.sizes)
    if (auto dims =
            program.entry.getArgAttrOfType<ArrayAttr>(cast<BlockArgument>(size.argument).getArgNumber(), "nest.dims");
        dims && dims[size.dim] == symbol)
      return size.name;
  for (BlockArgument argument : program.entry.getArguments())
    if (program.entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name") == symbol)
      return program.hostName(argument);
  return "";
}

/// `y.extent_int(1) != 4 * batch`, for extents of outputs that the model computes from those of inputs.
void ForwardPrinter::addComputedSizes(std::vector<Expression> &differ) {
  auto const symbols = program.entry->getAttrOfType<ArrayAttr>("nest.symbols");
  IndexSpace space;
  for (Attribute symbol : symbols ? symbols.getValue() : ArrayRef<Attribute>()) {
    std::string const name = nameOfSymbol(program, cast<StringAttr>(symbol));
    if (name.empty())
      return;
    space.symbols.push_back(cpp::name(Identifier(name)));
  }
  for (Storage const &argument : program.arguments) {
    unsigned const number = cast<BlockArgument>(argument.value).getArgNumber();
    auto const extents = program.entry.getArgAttrOfType<ArrayAttr>(number, "nest.extents");
    for (auto [dim, extent] : llvm::enumerate(extents ? extents.getValue() : ArrayRef<Attribute>()))
      if (auto const computed = dyn_cast<AffineMapAttr>(extent))
        differ.push_back(binary(extentOf(Identifier(argument.name), dim), "!=", Rank::Equality,
                                indexExpression(computed.getValue().getResult(0), space)));
  }
}

/// What the model takes for granted about sizes; the message is the condition in words.
ForwardPrinter::Check ForwardPrinter::checkOf(cf::AssertOp check) {
  auto compare = check.getArg().getDefiningOp<arith::CmpIOp>();
  Expression const fails = comparison(arith::invertPredicate(compare.getPredicate()),
                                      hostExpression(compare.getLhs(), true), hostExpression(compare.getRhs(), true));
  return {{fails, validUtf8(program.model + ": " + check.getMsg().str())},
          compare.getPredicate() >= arith::CmpIPredicate::sgt};
}

void ForwardPrinter::printChecks(std::vector<Check> &checks) {
  for (auto assertion : program.entry.getBody().front().getOps<cf::AssertOp>())
    checks.push_back(checkOf(assertion));
}

/// Least sizes that a Workspace is made for are a function, which its constructor calls, too: it has no buffers of
/// negative extents, but may be made for any larger sizes. `statements` gets the other checks and the call.
void ForwardPrinter::shareChecks(std::vector<Check> const &checks, Body &statements) {
  std::vector<std::string> const sizes = workspaceSizes(program);
  SizeChecksView shared;
  for (Check const &check : checks) {
    cpp::Names const used = usesOf(check.refuse.condition);
    auto const isKnown = [&](std::string const &name) {
      return llvm::is_contained(sizes, name) || !used.contains(Identifier(name));
    };
    bool const isShared = check.isLowerBound && !sizes.empty() &&
                          llvm::all_of(program.sizes, [&](RuntimeSize const &size) { return isKnown(size.name); }) &&
                          llvm::all_of(func::FuncOp(program.entry).getArguments(), [&](Value argument) {
                            return isa<MemRefType>(argument.getType()) || isKnown(program.hostName(argument));
                          });
    (isShared ? shared.statements : statements).push_back(check.refuse);
  }
  if (shared.statements.empty())
    return;
  cpp::Names const used = usesOf(shared.statements);
  std::vector<Expression> arguments;
  for (std::string const &size : sizes)
    if (Identifier const name(size); used.contains(name)) {
      shared.sizes.push_back(name);
      arguments.push_back(cpp::name(name));
    }
  statements.push_back(cpp::Run{call(Raw("check_sizes"), arguments)});
  view.sizeChecks = std::move(shared);
}

/// `int const batch = image.extent_int(0);` per size; `checks` gets the refusal of arguments that do not fit together.
Body ForwardPrinter::readSizes(Body &checks) {
  Body reads;
  std::set<std::string> read;
  std::vector<Expression> differ;
  for (RuntimeSize const &size : program.sizes) {
    Expression const extent = extentOf(Identifier(program.storageOf(size.argument)->name), size.dim);
    Identifier const name(size.name);
    if (read.insert(size.name).second)
      reads.push_back(cpp::Let{intType(), name, extent});
    else
      differ.push_back(binary(extent, "!=", Rank::Equality, cpp::name(name)));
  }
  addComputedSizes(differ);
  if (!differ.empty())
    checks.push_back(
        cpp::Refuse{joinAll(differ, "||", Rank::Or), program.model + ": the sizes of the arguments differ"});
  return reads;
}

/// A workspace for other sizes serves if it holds enough: the same call with views of its memory.
void ForwardPrinter::fitWorkspace(Body &statements) {
  std::vector<std::string> const sizes = workspaceSizes(program);
  if (sizes.empty())
    return;
  Expression const work = cpp::name(Raw("work"));
  std::vector<Expression> differ, fitted = {work}, arguments;
  for (std::string const &size : sizes) {
    Identifier const name(size);
    differ.push_back(binary(cpp::member(work, name), "!=", Rank::Equality, cpp::name(name)));
    fitted.push_back(cpp::name(name));
  }
  for (cpp::Parameter const &parameter : parametersOf(program))
    arguments.push_back(*parameter.name == Raw("work") ? call(Raw("fitted"), fitted) : cpp::name(*parameter.name));
  statements.push_back(cpp::Refit{joinAll(differ, "||", Rank::Or), std::move(arguments)});
}

} // namespace ml2k
