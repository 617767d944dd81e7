//===- Translate.h - from a command line to files -------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_TRANSLATE_H
#define ML2K_TOOL_TRANSLATE_H

#include "translator/tool/Options.h"

namespace ml2k {

/// Does what the options say; problems are printed. Returns the exit code.
int translate(ToolOptions const &options);

} // namespace ml2k

#endif
