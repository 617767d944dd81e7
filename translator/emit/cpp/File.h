//===- File.h - the structs and the loader of the generated C++ -----------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_CPP_FILE_H
#define ML2K_EMIT_CPP_FILE_H

#include "translator/emit/cpp/Function.h"

namespace ml2k::cpp {

/// A member of a struct, or an alias.
struct Member {
  Type type;
  Identifier name;
};

/// Memory of the Workspace: the view, what its constructor takes, and the views whose memory is free behind it.
struct Buffer {
  Expression view;
  std::string label; ///< as it is printed
  std::vector<Expression> extents;
  std::vector<Expression> released = {};
};

/// `name(arguments)` of a constructor.
struct Initializer {
  Identifier name;
  std::vector<Expression> arguments;
};

/// All buffers of one forward().
struct Workspace {
  std::string label;             ///< of the arena, as it is printed
  std::string tooSmall;          ///< what fitted() says, as it is printed
  std::string negative;          ///< what the constructor says of such a size, as it is printed
  std::vector<Identifier> sizes; ///< known at run time
  std::vector<Member> splits;    ///< what kernels share beside buffers
  std::vector<Initializer> initializers;
  std::vector<Member> members;
  bool hasArena = false;
  std::vector<Buffer> buffers; ///< in the order in which forward() first uses them
};

/// `reader(source, view, ...);`
struct Load {
  Code reader;
  BlockName block;
  Expression source;
  std::vector<Expression> views;
};

/// Parameters that stand in the source.
struct Array {
  std::string label;
  Type type;
  Identifier name;
  std::vector<Expression> values;
};

std::set<BlockName> blocksOf(Workspace const &workspace);
std::set<BlockName> blocksOf(llvm::ArrayRef<Load> loads);

} // namespace ml2k::cpp

#endif
