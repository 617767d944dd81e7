//===- Message.h - one line of text for the user -------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_MESSAGE_H
#define ML2K_TOOL_MESSAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace ml2k {

/// Chooses whether messages are coloured: "always", "never", or "auto": on a terminal, unless NO_COLOR is set or TERM
/// is "dumb".
void useColors(std::string const &when);

/// Prints `PLACE: error: TEXT` (or warning, remark, note) to standard error, in clang's colours.
void printMessage(llvm::StringRef message);

/// Prints the mark under a quoted line, and ends the line.
void printCaret();

} // namespace ml2k

#endif
