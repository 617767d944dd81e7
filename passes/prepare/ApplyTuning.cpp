//===- ApplyTuning.cpp - the entries of a tune file to the kernels that they were measured for --------------------===//

#include "passes/prepare/Prepare.h"

#include "translator/ir/Tuning.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_APPLYTUNING
#include "passes/prepare/Passes.h.inc"

/// What the block of the kernel does not let one choose; none if all is well.
static std::optional<std::string> foreignChoice(nest::Kernel kernel, Tuned const &tuned) {
  nest::ScheduleAttr const schedule = nest::scheduleOf(kernel);
  auto const *const family = llvm::find_if(families(), [&](Family const &one) { return one.name == tuned.family; });
  ArrayRef<Tunable> const tunables = family->isDevice ? deviceTunablesOf(schedule) : hostTunablesOf(schedule);
  for (auto const &[name, value] : tuned.choices) {
    auto const *const known = llvm::find_if(tunables, [&](Tunable const &tunable) { return tunable.name == name; });
    if (known == tunables.end() || !llvm::is_contained(known->values, value))
      return "its block has no '" + name.str() + "' of " + std::to_string(value);
  }
  return std::nullopt;
}

/// Why an entry is of no use for a kernel of its name; none if it is.
static std::optional<std::string> reasonAgainst(nest::Kernel kernel, StringRef shapeClass, Tuned const &tuned) {
  if (std::string const own = shapeClassOf(kernel); own != shapeClass)
    return "it was measured for '" + shapeClass.str() + "', this is '" + own + "'";
  auto const isSame = [&](auto const &other) { return other.name == tuned.family; };
  if (llvm::none_of(families(), isSame))
    return "'" + tuned.family.str() + "' is no family of processors";
  if (llvm::any_of(tunedOf(kernel), [&](Tuned const &other) { return other.family == tuned.family; }))
    return "another one for '" + tuned.family.str() + "' stands before it";
  return foreignChoice(kernel, tuned);
}

/// Larger squares of Winograd's method need more of the workspace.
static void makeRoom(nest::Kernel kernel, Tuned const &tuned) {
  int64_t const rule = winogradSquare(kernel);
  for (auto const &[name, square] : tuned.choices)
    if (nest::ScheduleAttr const schedule = nest::scheduleOf(kernel); name == "square" && square > rule)
      nest::setSchedule(kernel, schedule.getBlock(),
                        {.device = schedule.getDevice(),
                         .scratch = schedule.getScratch() / ((rule + 2) * (rule + 2)) * (square + 2) * (square + 2)});
}

namespace {
struct ApplyTuning : impl::ApplyTuningBase<ApplyTuning> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    auto const entries = entry->getAttrOfType<ArrayAttr>("nest.tune");
    if (!entries)
      return;
    llvm::StringMap<nest::Kernel> kernels;
    entry.walk([&](nest::Kernel kernel) { kernels[kernel.getLabel()] = kernel; });
    for (Attribute given : entries)
      apply(cast<DictionaryAttr>(given), kernels);
    entry->removeAttr("nest.tune");
  }

  void apply(DictionaryAttr given, llvm::StringMap<nest::Kernel> const &kernels) {
    StringRef const label = given.getAs<StringAttr>("kernel"), shapeClass = given.getAs<StringAttr>("class");
    nest::Kernel kernel = kernels.lookup(label);
    if (!kernel) {
      getOperation().emitWarning() << "the tuning of '" << label << "' is not used: no kernel has this label";
      return;
    }
    if (auto const reason = reasonAgainst(kernel, shapeClass, *Tuned::read(given))) {
      kernel->emitWarning() << "the tuning of '" << label << "' is not used: " << *reason;
      return;
    }
    SmallVector<Attribute> tuned;
    if (auto const others = kernel->getAttrOfType<ArrayAttr>("nest.tuned"))
      llvm::append_range(tuned, others);
    tuned.push_back(given);
    kernel->setAttr("nest.tuned", ArrayAttr::get(&getContext(), tuned));
    makeRoom(kernel, *Tuned::read(given));
  }
};
} // namespace

} // namespace ml2k
