//===- Function.h - functions of the generated C++ ------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_CPP_FUNCTION_H
#define ML2K_EMIT_CPP_FUNCTION_H

#include "translator/emit/cpp/Statement.h"

namespace ml2k::cpp {

/// `function(label, arguments, KOKKOS_LAMBDA(...) { ... }, ...);`
struct Call {
  Code function;                 ///< with its template arguments
  std::vector<BlockName> blocks; ///< that it needs
  std::vector<Expression> arguments;
  std::vector<Lambda> lambdas;
  bool operator==(Call const &other) const {
    return function == other.function && arguments == other.arguments && lambdas == other.lambdas;
  }
};

/// A parameter of a layer function, by what its name means there.
struct Binding {
  Identifier name;
  Type type;
};

/// `close_border("label.border", space, image);` behind the call.
struct Closing {
  std::string label;
  Expression image;
};

/// A layer: what it declares, one call, borders.
struct Function {
  Identifier name;
  std::vector<std::string> comments = {};
  std::string modelName = {};         ///< as the model writes it
  std::vector<Parameter> fixed = {};  ///< parameters in front of the bindings
  std::vector<Binding> bindings = {}; ///< arguments of the model and sizes that it uses
  Body locals = {};
  std::string label = {}; ///< of the kernel, as it is printed
  Call call = {};
  std::vector<Closing> closings = {};
  bool isEpilogue = false;   ///< the last lambda is the epilogue of a block, one in front finds places for it
  std::string epilogue = {}; ///< a short name of what that does, if there is one
};

/// An epilogue of several layers: a class whose members are what it captures.
struct Functor {
  struct Member {
    Identifier type, name;
  };
  Identifier name;
  std::vector<Member> members;
  Lambda lambda;
};

/// The blocks of templates/block that code needs, without what those need.
std::set<BlockName> blocksOf(Expression const &expression);
std::set<BlockName> blocksOf(Body const &body);
std::set<BlockName> blocksOf(Function const &function);

/// The headers that code needs beside those of its blocks.
std::set<Raw> headersOf(Body const &body);

/// `name(space, weights, x)`: a call with parameters of the same names.
Expression invocation(Function const &function);

/// True if the lambda uses a type or function of this name.
bool namesType(Lambda const &lambda, Identifier const &type);

/// Equal for equal lambdas.
size_t hashOf(llvm::ArrayRef<Lambda> lambdas);

/// The names that code of a function uses of its locals and parameters.
Names usesOf(Call const &call);
Names usesOf(Function const &function);

} // namespace ml2k::cpp

#endif
