//===- Interfaces.cpp - a runner for C and Fortran ----------------------------------------------------------------===//
//
// Names and types of arrays in languages that have other keywords and other ideas of upper and lower case.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/forms/FormPrinter.h"
#include "translator/emit/model/Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ml2k {

namespace {

struct ElementType {
  char const *cpp, *c, *fortran;
};

/// Fortran has no unsigned integers: their bits are read as signed ones.
constexpr ElementType elementTypes[] = {
    {"float", "float", "real(c_float)"},
    {"double", "double", "real(c_double)"},
    {"bool", "bool", "logical(c_bool)"},
    {"std::int8_t", "int8_t", "integer(c_int8_t)"},
    {"std::int16_t", "int16_t", "integer(c_int16_t)"},
    {"std::int32_t", "int32_t", "integer(c_int32_t)"},
    {"std::int64_t", "int64_t", "integer(c_int64_t)"},
    {"std::uint8_t", "uint8_t", "integer(c_int8_t)"},
    {"std::uint16_t", "uint16_t", "integer(c_int16_t)"},
    {"std::uint32_t", "uint32_t", "integer(c_int32_t)"},
    {"std::uint64_t", "uint64_t", "integer(c_int64_t)"},
};

ElementType const *elementType(std::string const &cpp) {
  auto const *known = llvm::find_if(elementTypes, [&](ElementType const &type) { return cpp == type.cpp; });
  assert(known != std::end(elementTypes) && "checkForms() refuses others");
  return known;
}

/// Names of arrays, each with its `_query` and `_element`.
class ArrayNames {
public:
  /// Not those that the printed text has itself.
  ArrayNames(std::initializer_list<StringRef> taken, std::string const &model) {
    for (StringRef name : taken)
      names.insert(name);
    for (char const *own : {"_model", "_error", "_ok", "_no_memory", "_null", "_length", "_no_kokkos", "_weights",
                            "_host", "_failed", "_start", "_stop", "_by"})
      names.insert(model + own);
  }

  std::string unique(std::string const &name) {
    for (unsigned number = 1;; ++number) {
      std::string const tried = number == 1 ? name : name + "_" + std::to_string(number);
      std::string const all[] = {tried, tried + "_query", tried + "_element"};
      if (llvm::any_of(all, [&](std::string const &one) { return names.contains(one); }))
        continue;
      for (std::string const &one : all)
        names.insert(one);
      return tried;
    }
  }

private:
  llvm::StringSet<> names;
};

/// Of 63 characters that Fortran reads, 40 are the name's own; the first is a letter. c_... are iso_c_binding's.
std::string fortranName(StringRef name) {
  std::string const lower = name.lower();
  bool const isPlain = llvm::isAlpha(lower.front()) && !StringRef(lower).starts_with("c_");
  return (isPlain ? lower : "v" + lower).substr(0, 40);
}

/// `a::b` is a_b where names have no spaces.
std::string flatName(StringRef nameSpace) {
  std::string name = nameSpace.str();
  for (size_t at; (at = name.find("::")) != std::string::npos;)
    name.replace(at, 2, "_");
  return name;
}

} // namespace

void FormPrinter::addInterfaces(Json &view) const {
  std::string const prefix = flatName(view["namespace"].get<std::string>());
  view["f_module"] = fortranName(prefix);
  ArrayNames cNames({"model", "queries", "n", "k", "restrict", "ptrdiff_t", "size_t", "by_kokkos", "is_packed"},
                    prefix);
  ArrayNames fortranNames({"self", "error", "queries", "weights", "size", "distance", "create", "destroy", "evaluate",
                           "evaluate_device", "trim"},
                          view["f_module"]);
  std::vector<std::string> nulls, packed;
  view["arrays"] = Json::array();
  for (char const *group : {"features", "results"})
    for (Json &array : view[group]) {
      ElementType const *type = elementType(array["scalar"]);
      array["c_type"] = type->c;
      array["c_name"] = cNames.unique(array["name"]);
      array["f_type"] = type->fortran;
      array["f_name"] = fortranNames.unique(fortranName(array["name"].get<std::string>()));
      array["intent"] = group == StringRef("features") ? "in" : "inout";
      array["is_wide"] = array["width"] != "1";
      std::string const name = array["c_name"];
      nulls.push_back("!" + name);
      packed.push_back(name + "_by.query == " + array["width"].get<std::string>());
      if (array["is_wide"])
        packed.push_back(name + "_by.element == 1");
      view["arrays"].push_back(array);
    }
  view["f_first"] = view["arrays"][0]["f_name"];
  view["any_null"] = llvm::join(nulls, " || ");
  view["is_packed"] = llvm::join(packed, " && ");
  view["by_kokkos"] = !forms.runner;
  view["prefix"] = prefix;
  view["c_file"] = options.stem + ".h";
  view["c_guard"] = StringRef(snakeCase(options.stem, "model")).upper() + "_H";
}

std::vector<ExtraView> FormPrinter::interfaceFiles() const {
  std::vector<ExtraView> files;
  if (forms.c)
    files.push_back({".h", "form/c_header", true});
  if (forms.fortran)
    files.push_back({".f90", "form/fortran", false});
  if (forms.server)
    files.push_back({"_server.cpp", "form/server", true});
  if (forms.test)
    files.push_back({"_test.cpp", "form/test", true});
  return files;
}

} // namespace ml2k
