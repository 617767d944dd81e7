//===- Callees.cpp - functions of C that the user links -----------------------------------------------------------===//

#include "translator/emit/scalars/Callees.h"

#include "translator/ir/NestScalars.h"

#include <map>

using namespace mlir;

namespace ml2k {

Expression linkedCall(StringRef function, ArrayRef<Expression> arguments) {
  return call(Code(Raw("::")) + Identifier(function), arguments, "scalar_loops");
}

static Raw letter(unsigned place) {
  static constexpr Raw letters[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
                                    "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};
  return place < std::size(letters) ? letters[place] : Raw();
}

/// `double const *a, std::int64_t a_extent_0, std::int64_t a_stride_0`
static Code parametersOf(nest::CallOp callee) {
  std::vector<Code> parameters;
  for (auto [i, type] : llvm::enumerate(callee.getArguments().getTypes())) {
    Code const name = letter(i).empty() ? Code(Raw("a")) + Code(int64_t(i)) : Code(letter(i));
    auto const array = dyn_cast<MemRefType>(type);
    if (!array) {
      parameters.push_back(scalarType(type).code + Code(Raw(" ")) + name);
      continue;
    }
    Raw const by = callee.getWrites()[i] ? Raw(" *") : Raw(" const *");
    parameters.push_back(scalarType(array.getElementType()).code + Code(by) + name);
    for (Raw const what : {Raw("_extent_"), Raw("_stride_")})
      for (int64_t dim = 0; dim < array.getRank(); ++dim)
        parameters.push_back(Code(Raw("std::int64_t ")) + name + Code(what) + Code(dim));
  }
  return cpp::listOf(parameters);
}

static Json declaration(nest::CallOp callee) {
  Identifier const name(callee.getCallee());
  Code const type = callee.getResult() ? scalarType(callee.getResult().getType()).code : Code(Raw("void"));
  Code const where = callee.getOnDevice() ? Code(Raw("KOKKOS_FUNCTION ")) : Code();
  Code const text = where + type + Code(Raw(" ")) + name + Code(Raw("(")) + parametersOf(callee) + Code(Raw(")"));
  return {{"declaration", cpp::Serializer::text(text)}, {"name", name.str()}, {"host", !callee.getOnDevice()}};
}

Json viewCallees(func::FuncOp entry) {
  std::map<std::string, Json> found;
  entry.walk([&](nest::CallOp callee) { found.try_emplace(callee.getCallee().str(), declaration(callee)); });
  Json functions = Json::array();
  for (auto const &[name, view] : found)
    functions.push_back(view);
  return functions.empty() ? Json::array() : Json::array({{{"functions", functions}}});
}

} // namespace ml2k
