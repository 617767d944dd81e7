//===- Tunings.cpp - the constants that a tuning chose, for each family of processors -----------------------------===//

#include "translator/emit/model/Program.h"
#include "translator/emit/model/Views.h"
#include "translator/ir/Tuning.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace ml2k {

/// `12.3 us instead of 14.0, 2 threads`; nothing of a candidate that nobody has timed yet.
static Json measuredText(Tuned const &tuned) {
  if (tuned.nanoseconds == 0)
    return Json::array();
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::format("%.2f us instead of %.2f", double(tuned.nanoseconds) / 1e3,
                      double(tuned.defaultNanoseconds) / 1e3);
  if (tuned.threads > 0) // of a host
    out << ", " << tuned.threads << (tuned.threads == 1 ? " thread" : " threads");
  return Json::array({{{"text", text}}});
}

static Json viewTuned(std::string const &name, Tuned const &tuned) {
  Json constants = Json::array();
  for (auto const &[constant, value] : tuned.choices)
    constants.push_back({{"constant", constant.str()}, {"value", std::to_string(value)}});
  return {{"name", name}, {"measured", measuredText(tuned)}, {"constants", constants}};
}

Json viewTunings(Program const &program) {
  Json families = Json::array(), all = Json::array();
  SmallVector<nest::Kernel> const kernels = tunedKernels(program.entry);
  auto const nameOf = [&](nest::Kernel kernel) { return program.functions.lookup(kernel.getLabel()); };
  for (nest::Kernel kernel : kernels)
    all.push_back({{"name", nameOf(kernel)}});
  for (Family const &family : ml2k::families()) {
    Json tuned = Json::array(), rest = Json::array();
    for (nest::Kernel kernel : kernels) {
      SmallVector<Tuned> const known = tunedOf(kernel);
      auto const *const found = llvm::find_if(known, [&](Tuned const &each) { return each.family == family.name; });
      if (found == known.end())
        rest.push_back({{"name", nameOf(kernel)}});
      else
        tuned.push_back(viewTuned(nameOf(kernel), *found));
    }
    if (!tuned.empty())
      families.push_back({{"directive", families.empty() ? "if" : "elif"},
                          {"macro", family.macro.str()},
                          {"tuned", tuned},
                          {"rest", rest}});
  }
  if (families.empty())
    return Json::array();
  return Json::array({{{"file", program.options.tuneFile}, {"families", families}, {"all", all}}});
}

} // namespace ml2k
