//===- RegenerateCommand.h - the command in the banner of printed files --------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_REGENERATECOMMAND_H
#define ML2K_TOOL_REGENERATECOMMAND_H

#include "translator/tool/Options.h"

#include <string>

namespace ml2k {

/// How to make the same files again: options that change the printed text, without folders; the same whatever order
/// they were given in. Words are quoted for a shell, and can stand in a comment.
std::string commandOf(ToolOptions const &options);

} // namespace ml2k

#endif
