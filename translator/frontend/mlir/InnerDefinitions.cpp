//===- InnerDefinitions.cpp - no operation is an operand's user and its definition's parent -----------------------===//
//
// In `scf.if %c { %c = ... }` the parser of LLVM 19 makes a placeholder for the operand %c, reads the region, puts the
// new value in the placeholder's place and frees it, and then builds the operation with the freed one. Such text is
// never valid, so it is refused before the parser sees it. What is looked for needs no grammar: a name between an
// operation's name and its region that is defined again within the region.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"
#include "translator/frontend/mlir/TextWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace ml2k;

namespace {
class InnerDefinitions {
public:
  explicit InnerDefinitions(StringRef text) : words(text) {}

  /// The first name that is defined inside an operation that names it; empty when there is none.
  StringRef find();

private:
  void take(StringRef token);
  void takeName(StringRef name);
  void takeOther(StringRef token);
  void forget(size_t kept);
  void open();
  void close();
  void closeParenthesis();
  void define(ArrayRef<StringRef> names);
  bool isOperationName(StringRef token) const;

  mlir_import::TextWords words;
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
    return words.rest().starts_with("(");
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
  for (StringRef token = words.next(); !token.empty() && found.empty(); token = words.next())
    take(token);
  return found;
}

mlir::LogicalResult mlir_import::refuseInnerDefinitions(MemoryBuffer const &source, mlir::MLIRContext &context) {
  StringRef const name = InnerDefinitions(source.getBuffer()).find();
  if (name.empty())
    return mlir::success();
  return mlir::emitError(locationIn(source, name, context))
         << name << " is defined inside an operation that has a value of this name as its operand";
}
