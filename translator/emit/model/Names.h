//===- Names.h - the model's names as C++ identifiers ---------------------------------------------------*- C++ -*-===//
//
// Names are settled before anything is printed. Two names of the model that would become one identifier both get four
// characters of a hash of their full text, more where these are taken; no counters, so that a new layer renames
// nothing.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_MODEL_NAMES_H
#define ML2K_EMIT_MODEL_NAMES_H

#include "translator/emit/cpp/Code.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace ml2k {

/// `full` in snake_case. `prefix` goes before a name that would start with a digit or be empty.
std::string snakeCase(llvm::StringRef full, llvm::StringRef prefix = "value");

/// `full` in CamelCase, for types.
std::string camelCase(llvm::StringRef full, llvm::StringRef prefix = "Value");

/// True for C++ keywords and for macros that everybody includes.
bool isReservedWord(llvm::StringRef name);

/// The namespace of a model. The global functions of C and POSIX, which headers declare, keep their names.
std::string namespaceName(llvm::StringRef model);

/// Identifiers for a set of names that share a scope, e.g. the members of one struct. `taken` may not be used.
llvm::StringMap<std::string> nameTable(std::vector<std::string> const &names, llvm::StringRef prefix,
                                       llvm::StringSet<> const &taken = {});

/// The identifiers in use inside one function; temporaries take names that are free. A name hides none of the scopes
/// around it, and is hidden by none that a scope inside has taken.
class Scope {
public:
  explicit Scope(Scope *outer = nullptr) : outer(outer) {}

  bool isTaken(llvm::StringRef name) const;
  void take(llvm::StringRef name);

  /// The first free one of `wanted`, else the last with a letter appended, else with a hash of `identity`, by which the
  /// model knows the value; takes it.
  cpp::Identifier fresh(std::vector<std::string> const &wanted, llvm::StringRef identity = "");

  /// How many names are taken; release() gives back those that were taken since there were `count`.
  size_t count() const { return order.size(); }
  void release(size_t count);

private:
  std::string firstFree(std::vector<std::string> const &wanted, llvm::StringRef identity);
  bool isFree(llvm::StringRef name) const { return !isTaken(name) && !inside.contains(name); }

  Scope *outer;
  llvm::StringSet<> names;
  std::vector<std::string> order;   ///< of `names`, as they were taken
  llvm::StringMap<unsigned> equals; ///< names with a hash, by what was hashed
  llvm::StringSet<> inside;         ///< taken in scopes inside this one, also in those that ended
};

} // namespace ml2k

#endif
