//===- UniqueNames.h - names that collide get a hash ----------------------------------------------------*- C++ -*-===//
//
// Names of labels, buffers, members and locals are unique. Of two that would be equal one gets four characters of a
// hash of all that is known about it, and more characters where these four are taken: no counters over a model, so that
// a new layer renames nothing. A name costs constant time however many collide, and no model can exhaust them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_UNIQUENAMES_H
#define ML2K_IR_UNIQUENAMES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace ml2k {

/// Characters 0-9 and a-z that depend on every character of `text`: `length` of them, 4 to 64.
std::string nameHash(llvm::StringRef text, unsigned length = 4);

/// `wanted`_hash, the shortest that is not taken. `equal` counts the names asked for with the same `wanted` and
/// `detail` before.
std::string hashedName(llvm::StringRef wanted, llvm::StringRef detail, unsigned &equal,
                       llvm::function_ref<bool(llvm::StringRef)> isTaken);

/// Names in use.
class UniqueNames {
public:
  bool isTaken(llvm::StringRef name) const { return taken.contains(name); }

  /// False if the name is in use already.
  bool take(llvm::StringRef name) { return taken.insert(name).second; }

  /// `wanted`, or with a hash of `detail` where that is in use; takes it.
  std::string unique(llvm::StringRef wanted, llvm::StringRef detail);

private:
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> equals; ///< names given out, by what they were made of
};

} // namespace ml2k

#endif
