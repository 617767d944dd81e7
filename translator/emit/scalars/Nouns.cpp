//===- Nouns.cpp - what values are called that need a name --------------------------------------------------------===//

#include "translator/emit/scalars/Nouns.h"

#include "translator/emit/model/Names.h"

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

/// `u_ij` of `u(i, j)`, `u_im1_j` of `u(i - 1, j)`; empty where it would be long.
static std::string elementNoun(Expression const &read) {
  constexpr size_t most = 16;
  if ((read->kind != cpp::Kind::Call && read->kind != cpp::Kind::Index) || read->parts[0]->kind != cpp::Kind::Name)
    return "";
  std::vector<std::string> words;
  for (Expression const &position : llvm::drop_begin(read->parts))
    if (words.push_back(positionWord(position)); words.back().empty())
      return "";
  bool const areLetters = llvm::all_of(words, [](std::string const &word) { return word.size() == 1; });
  StringRef const array = StringRef(read->parts[0]->name->str()).rtrim('_'); // `new_` stands for `new`
  std::string const noun = array.str() + "_" + llvm::join(words, areLetters ? "" : "_");
  bool const isType = StringRef(noun).ends_with("_t") && noun.size() > 3; // `size_t` of size(t), `wchar_t`
  return noun.size() <= most && !StringRef(noun).contains("__") && !isType && !isReservedWord(noun) ? noun : "";
}

ScalarPrinter::Nouns readNouns(Value value, Expression const &read) {
  std::string const noun = elementNoun(read);
  return withSourceName(value,
                        noun.empty() ? ScalarPrinter::Nouns{"x", "y", "z", "value"} : ScalarPrinter::Nouns{noun});
}

bool isNamedOnPurpose(Value value) {
  auto const isUnnamed = [](Value operand) {
    Operation *const op = operand.getDefiningOp();
    return op && !matchPattern(op, m_Constant()) && withSourceName(operand, {}).empty();
  };
  Operation *const op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), isUnnamed);
}

/// `total` of what the text calls `total_2`.
static StringRef variableOf(StringRef name) {
  StringRef const base = name.rtrim("0123456789");
  return base.size() < name.size() && base.ends_with("_") ? base.drop_back() : name;
}

bool isSameVariable(Value a, Value b) {
  auto const name = [](Value value) {
    ScalarPrinter::Nouns const nouns = withSourceName(value, {});
    return nouns.empty() ? std::string() : variableOf(nouns.front()).str();
  };
  return name(a) == name(b);
}

} // namespace ml2k
