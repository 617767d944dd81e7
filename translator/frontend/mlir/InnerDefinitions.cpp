//===- InnerDefinitions.cpp - no operation is an operand's user and its definition's parent -----------------------===//
//
// In `scf.if %c { %c = ... }` the parser of LLVM 19 makes a placeholder for the operand %c, reads the region, puts the
// new value in the placeholder's place and frees it, and then builds the operation with the freed one. Such text is
// never valid, so it is refused before the parser sees it. What is looked for needs no grammar: a name between an
// operation's name and its region that is defined again within the region.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace ml2k;

namespace {
class InnerDefinitions {
public:
  explicit InnerDefinitions(StringRef text) : text(text) {}

  /// The first name that is defined inside an operation that names it; empty when there is none.
  StringRef find();

private:
  /// What stands between two words: a name of a value, an operation or anything else, a string, one character.
  StringRef next();
  StringRef word(size_t from);
  void skipBlanks();
  StringRef skipString();

  void take(StringRef token);
  void takeName(StringRef name);
  void takeOther(StringRef token);
  void forget(size_t kept);
  void open();
  void close();
  void closeParenthesis();
  void define(ArrayRef<StringRef> names);
  bool isOperationName(StringRef token) const;

  StringRef text;
  size_t at = 0;
  int parentheses = 0;
  bool afterLabel = false;                       ///< in the parentheses behind `^name`, or just behind them
  bool afterName = false;                        ///< the last word was a name, the last of `header`
  SmallVector<StringRef> run;                    ///< names with commas between them: results, if `=` follows
  SmallVector<StringRef> arguments;              ///< names behind `^name`: arguments of a block, if `:` follows
  SmallVector<StringRef> header;                 ///< names of the operation that is being read
  SmallVector<SmallVector<StringRef>> enclosing; ///< headers of the operations whose regions are open
  SmallVector<int> outerParentheses;             ///< of each of them
  StringMap<SmallVector<size_t, 2>> depths;      ///< where a name stands: that many regions are open around its header
  StringRef found;
};
} // namespace

static bool inWord(char c) { return isAlnum(c) || c == '_' || c == '.' || c == '$' || c == '-'; }

void InnerDefinitions::skipBlanks() {
  while (at < text.size()) {
    if (isSpace(text[at]))
      ++at;
    else if (text.substr(at).starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else
      return;
  }
}

StringRef InnerDefinitions::skipString() {
  size_t const start = at++;
  while (at < text.size() && text[at] != '"' && text[at] != '\n')
    at += text[at] == '\\' ? 2 : 1;
  at = std::min(at + 1, text.size());
  return text.slice(start, at);
}

StringRef InnerDefinitions::word(size_t from) {
  while (at < text.size() && inWord(text[at]))
    ++at;
  return text.slice(from, at);
}

StringRef InnerDefinitions::next() {
  skipBlanks();
  if (at == text.size())
    return {};
  if (text[at] == '"')
    return skipString();
  size_t const start = at++;
  if (text.substr(start).starts_with("->"))
    return text.slice(start, ++at);
  if (!inWord(text[start]) && !StringRef("%^@#!").contains(text[start]))
    return text.slice(start, at);
  return word(start);
}

void InnerDefinitions::forget(size_t kept) {
  for (StringRef name : ArrayRef(header).drop_front(kept))
    depths[name].pop_back();
  header.truncate(kept);
}

void InnerDefinitions::open() {
  enclosing.push_back(std::exchange(header, {}));
  outerParentheses.push_back(parentheses);
  parentheses = 0;
}

/// Another region of the same operation may follow.
void InnerDefinitions::close() {
  if (enclosing.empty())
    return;
  forget(0);
  header = enclosing.pop_back_val();
  parentheses = outerParentheses.pop_back_val();
}

void InnerDefinitions::closeParenthesis() {
  parentheses -= parentheses > 0;
  run.clear();
}

void InnerDefinitions::define(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (ArrayRef<size_t> const at = depths[name]; found.empty() && !at.empty() && at.front() < enclosing.size())
      found = name;
}

void InnerDefinitions::takeName(StringRef name) {
  if (afterLabel && parentheses == 1)
    arguments.push_back(name);
  else if (parentheses == 0)
    run.push_back(name);
  header.push_back(name);
  depths[name].push_back(enclosing.size());
  afterName = true;
}

/// `scf.if`, or `"scf.if"` in front of its operands.
bool InnerDefinitions::isOperationName(StringRef token) const {
  if (token.front() == '"')
    return text.substr(at).starts_with("(");
  return token.contains('.') && isAlpha(token.front());
}

void InnerDefinitions::takeOther(StringRef token) {
  if (token == "=" && parentheses == 0)
    define(run);
  else if (token == "=" && afterName) // `(%x = %start)` of scf.while: free again in its second region
    forget(header.size() - 1);
  if (token == ":" && afterLabel && parentheses == 0)
    define(arguments);
  if (token != "," && token != ":" && !isDigit(token.front()))
    run.clear();
  if (parentheses == 0 && isOperationName(token))
    forget(0);
}

void InnerDefinitions::take(StringRef token) {
  if (token.starts_with("%"))
    return takeName(token);
  bool const label = token.starts_with("^") && parentheses == 0;
  if (label)
    arguments.clear();
  takeOther(token);
  if (token == "{")
    open();
  else if (token == "}")
    close();
  else if (token == "(")
    ++parentheses;
  else if (token == ")")
    closeParenthesis();
  afterName = false;
  afterLabel = label || (afterLabel && (parentheses > 0 || token == ")"));
}

StringRef InnerDefinitions::find() {
  for (StringRef token = next(); !token.empty() && found.empty(); token = next())
    take(token);
  return found;
}

mlir::LogicalResult mlir_import::refuseInnerDefinitions(MemoryBuffer const &source, mlir::MLIRContext &context) {
  StringRef const text = source.getBuffer();
  StringRef const name = InnerDefinitions(text).find();
  if (name.empty())
    return mlir::success();
  StringRef const before = text.take_front(name.data() - text.data());
  auto const place = mlir::FileLineColLoc::get(&context, source.getBufferIdentifier(), before.count('\n') + 1,
                                               before.size() - (before.rfind('\n') + 1) + 1);
  return mlir::emitError(place) << name
                                << " is defined inside an operation that has a value of this name as its operand";
}
