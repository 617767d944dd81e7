//===- Nouns.cpp - what values are called that need a name --------------------------------------------------------===//

#include "translator/emit/scalars/Nouns.h"

#include "translator/emit/model/Names.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {

/// `here` of the location `load "here"` of a load; nodes of networks have other kinds of operation in front.
ScalarPrinter::Nouns withSourceName(Value value, ScalarPrinter::Nouns nouns) {
  auto const location = dyn_cast<NameLoc>(value.getLoc());
  auto const [kind, name] = location ? location.getName().getValue().split(" \"") : std::pair<StringRef, StringRef>();
  Operation *const op = value.getDefiningOp();
  std::string const noun = snakeCase(name.empty() ? name : name.drop_back());
  bool const isWord = !name.empty() && noun.back() != '_'; // `new` is none
  if (!isWord || kind != (op ? op->getName().stripDialect() : "argument"))
    return nouns;
  nouns.insert(nouns.begin(), noun);
  if (op && noun.size() > 1)
    nouns.insert(nouns.begin() + 1, noun + "_value"); // where something around is called so
  return nouns;
}

/// `total` of what the text calls `total_2`.
static StringRef variableOf(StringRef name) {
  StringRef const base = name.rtrim("0123456789");
  return base.size() < name.size() && base.ends_with("_") ? base.drop_back() : name;
}

std::string sourceVariable(Value value) {
  Operation *const op = value.getDefiningOp();
  if (auto const name = op ? op->getAttrOfType<StringAttr>("nest.name") : StringAttr())
    return name.str();
  ScalarPrinter::Nouns const nouns = withSourceName(value, {});
  return nouns.empty() ? std::string() : variableOf(nouns.front()).str();
}

/// `im1` of `i - 1`, `ip2` of `i + 2`, `0` of `0`; empty for what has no such word.
static std::string positionWord(Expression const &position) {
  if (position.isWord())
    return position->kind == cpp::Kind::Name ? position->name->str() : std::to_string(position.constant().value_or(0));
  if (position->kind != cpp::Kind::Binary || position->rank != Rank::Add)
    return "";
  Expression const &base = position->parts[0], &offset = position->parts[1];
  std::optional<int64_t> const distance = offset.constant();
  if (base->kind != cpp::Kind::Name || !distance || *distance < 0)
    return "";
  bool const isBehind = position == binary(base, "+", Rank::Add, offset);
  return base->name->str() + (isBehind ? "p" : "m") + std::to_string(*distance);
}

std::string elementNoun(StringRef array, ArrayRef<Expression> positions) {
  constexpr size_t most = 16;
  std::vector<std::string> words;
  for (Expression const &position : positions)
    if (words.push_back(positionWord(position)); words.back().empty())
      return "";
  bool const areLetters = llvm::all_of(words, [](std::string const &word) { return word.size() == 1; });
  array = array.rtrim('_'); // `new_` stands for `new`
  std::string const noun = array.str() + "_" + llvm::join(words, areLetters ? "" : "_");
  bool const isType = StringRef(noun).ends_with("_t") && noun.size() > 3; // `size_t` of size(t), `wchar_t`
  return noun.size() <= most && !StringRef(noun).contains("__") && !isType && !isReservedWord(noun) ? noun : "";
}

static std::string elementNoun(Expression const &read) {
  if ((read->kind != cpp::Kind::Call && read->kind != cpp::Kind::Index) || read->parts[0]->kind != cpp::Kind::Name)
    return "";
  return elementNoun(read->parts[0]->name->str(), ArrayRef(read->parts).drop_front());
}

/// Whether a loop goes on with it in the variable that the text has for it: `x = t[i]; while ...: x = x / 2`.
static bool beginsVariable(Value value) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    auto decided = dyn_cast<scf::WhileOp>(use.getOwner());
    BlockArgument const carried = loop      ? loop.getTiedLoopRegionIterArg(&use)
                                  : decided ? decided.getBeforeArguments()[use.getOperandNumber()]
                                            : BlockArgument();
    return carried && !sourceVariable(value).empty() && sourceVariable(value) == sourceVariable(carried);
  });
}

ScalarPrinter::Nouns readNouns(Value value, Expression const &read) {
  std::string const noun = elementNoun(read);
  if (noun.empty())
    return withSourceName(value, {"x", "y", "z", "value"});
  return beginsVariable(value) ? ScalarPrinter::Nouns{noun} : withSourceName(value, {noun});
}

ScalarPrinter::Nouns indexNouns(Value value, ScalarPrinter::Nouns nouns) {
  Operation *const op = value.getDefiningOp();
  if (!op || !value.getType().isIndex() || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return nouns;
  auto const isPosition = [](OpOperand &use) {
    auto load = dyn_cast<memref::LoadOp>(use.getOwner());
    auto store = dyn_cast<memref::StoreOp>(use.getOwner());
    return load || (store && use.get() != store.getValue());
  };
  auto const isAdded = [](Operation *user) {
    return isa<arith::AddIOp>(user) && user->getResult(0).getType().isIndex();
  };
  if (llvm::any_of(value.getUses(), isPosition))
    nouns.insert(nouns.begin(), {std::string("at"), std::string("place")});
  else if (isa<arith::MulIOp>(op) && llvm::all_of(value.getUsers(), isAdded))
    nouns.insert(nouns.begin(), {std::string("offset"), std::string("start")});
  return nouns;
}

bool isNamedOnPurpose(Value value) {
  auto const isUnnamed = [](Value operand) {
    Operation *const op = operand.getDefiningOp();
    return op && !matchPattern(op, m_Constant()) && withSourceName(operand, {}).empty();
  };
  Operation *const op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), isUnnamed);
}

} // namespace ml2k
