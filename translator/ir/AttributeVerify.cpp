//===- AttributeVerify.cpp - the discardable attributes of the nest dialect ---------------------------------------===//
//
// What passes and front ends tell each other about operations, functions, arguments and results that are not nest's
// own. A name that is not in the table, at the wrong place or of the wrong form is an error, so that a misspelt
// attribute in a program is not silently without effect.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/LoopNames.h"
#include "translator/ir/Nest.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/ReadBack.h"
#include "translator/ir/SparseLevels.h"
#include "translator/ir/Strips.h"
#include "translator/ir/Teams.h"
#include "translator/ir/Tuning.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ml2k;
using namespace ml2k::nest;

namespace {

enum Place { OnOperation = 1, OnFunction = 2, OnArgument = 4 }; // results are future arguments

/// Null where the attribute fits, else what is required.
using Check = char const *(*)(Attribute);

struct Rule {
  int places;
  Check check;
  bool isPerDimension = false; ///< an array with an element for each dimension of the argument
};

} // namespace

static char const *isUnit(Attribute value) { return isa<UnitAttr>(value) ? nullptr : "requires no value"; }

static char const *isString(Attribute value) { return isa<StringAttr>(value) ? nullptr : "requires a string"; }

static char const *isNumber(Attribute value) {
  auto const number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(64) ? nullptr : "requires an i64";
}

static char const *isStrings(Attribute value) {
  auto const array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<StringAttr>) ? nullptr : "requires an array of strings";
}

static char const *isFlags(Attribute value) {
  return isa<DenseBoolArrayAttr>(value) ? nullptr : "requires an array of i1";
}

static char const *isLaunches(Attribute value) {
  return isa<LaunchesAttr>(value) ? nullptr : "requires a #nest.launches";
}

static char const *isPlacement(Attribute value) {
  return isa<PlacementAttr>(value) ? nullptr : "requires a #nest.placement";
}

static char const *isStorage(Attribute value) {
  return isa<WeightStorageAttr>(value) ? nullptr : "requires a #nest.storage";
}

static char const *isTunings(Attribute value) {
  auto const array = dyn_cast<ArrayAttr>(value);
  auto const isTuned = [](Attribute entry) {
    auto const parts = dyn_cast<DictionaryAttr>(entry);
    return parts && parts.getAs<StringAttr>("kernel") && parts.getAs<StringAttr>("class") && Tuned::read(entry);
  };
  return array && llvm::all_of(array, isTuned) ? nullptr : "requires an array of what was measured for kernels";
}

static char const *isParity(Attribute value) {
  auto const number = dyn_cast<IntegerAttr>(value);
  return number && (number.getValue().isZero() || number.getValue().isOne()) ? nullptr : "requires 0 or 1";
}

static char const *isSchedule(Attribute value) {
  return isa<ScheduleAttr>(value) ? nullptr : "requires a #nest.schedule";
}

static char const *isAssembly(Attribute value) {
  return isa<AssemblyAttr>(value) ? nullptr : "requires a #nest.assembly";
}

static char const *isRange(Attribute value) {
  auto const range = dyn_cast<DenseI64ArrayAttr>(value);
  return range && range.size() == 2 && range[0] <= range[1] ? nullptr : "requires two ascending i64";
}

static char const *isEncoding(Attribute value) {
  auto const encoding = dyn_cast<sparse_tensor::SparseTensorEncodingAttr>(value);
  return encoding && levelsOf(encoding, /*takesLoose=*/true)
             ? nullptr
             : "requires an encoding of levels that kernels can walk through";
}

/// An extent that is computed from nest.symbols, or none.
static char const *isExtents(Attribute value) {
  auto const array = dyn_cast<ArrayAttr>(value);
  bool const fits = array && llvm::all_of(array, [](Attribute extent) {
                      auto const map = dyn_cast<AffineMapAttr>(extent);
                      return isa<UnitAttr>(extent) ||
                             (map && map.getValue().getNumDims() == 0 && map.getValue().getNumResults() == 1);
                    });
  return fits ? nullptr : "requires an array of affine maps with one result, or unit";
}

static char const *isMachine(Attribute value) {
  auto const text = dyn_cast<StringAttr>(value);
  return text && (text == "host" || text == "device") ? nullptr : "requires \"host\" or \"device\"";
}

static llvm::StringMap<Rule> const &rules() {
  static llvm::StringMap<Rule> const table = {
      // What a value is called, what an argument is called
      {"nest.name", {OnOperation | OnArgument, isString}},
      // The value is seen as a variable of its own
      {"nest.let", {OnOperation, isUnit}},
      // A sum goes on: printed as `total += term`
      {"nest.adds", {OnOperation, isUnit}},
      // The operand of an exponential is at most 0
      {"nest.not_positive", {OnOperation, isUnit}},
      // A function of double is computed in vectors
      {inVectors, {OnOperation, isUnit}},
      // Of a branch: what it needs was read in front of it
      {earlyLoads, {OnOperation, isUnit}},
      // Of a store of each position of a grid: its rows tell where vectors begin
      {fromLine, {OnOperation, isUnit}},
      // Of a branch around all of a grid: it is taken at the even (0) or the odd (1) positions
      {everyOther, {OnOperation, isParity}},
      // The label that the kernel made of this operation gets; the part of its layer that it is
      {"nest.label", {OnOperation, isString}},
      {"nest.role", {OnOperation, isString}},
      // Of a loop that one thread runs: it joins its terms side by side
      {"nest.lanes", {OnOperation, isUnit}},
      // The same in order: it has the terms of several iterations at once
      {"nest.in_order", {OnOperation, isUnit}},
      // Of loads in front of kernels: the host waits for the number
      {hostNumber, {OnOperation, isUnit}},
      // Of loops: why they are parallel or not; flags as of nest.kernel; updates may come in any order; what the
      // results of several reductions are called
      {"nest.note", {OnOperation, isString}},
      {"nest.ordered", {OnOperation, isFlags}},
      {"nest.unordered", {OnOperation, isUnit}},
      {reductionNames, {OnOperation, isStrings}},
      // Of stores: an update that the program says to be atomic, one that has to be
      {"nest.declared", {OnOperation, isUnit}},
      {atomicUpdate, {OnOperation, isUnit}},
      // Of a nest.contract that was loops: their names
      {loopNames, {OnOperation, isStrings}},
      // Of nest.recurrent: the names of the gates. Of nest.buffer: positions of the first and the last access
      {"nest.gates", {OnOperation, isStrings}},
      {"nest.alive", {OnOperation, isRange}},
      // Of kernels: what they are printed as
      {"nest.schedule", {OnOperation, isSchedule}},
      // Of those that could be a call of KokkosKernels: why they are not
      {"nest.kept", {OnOperation, isString}},
      // Of a linalg operation: plain loops, whose reductions take their terms in order
      {"nest.in_order", {OnOperation, isUnit}},
      // Of the first of several contractions that are one kernel on devices: how many
      {"nest.in_turn", {OnOperation, isNumber}},
      // Of a contraction that is not packed: hosts make it in registers of extents that the text says
      {"nest.fixed_extents", {OnOperation, isUnit}},
      // What was measured for kernels, until they have it; for a kernel
      {"nest.tune", {OnFunction, isTunings}},
      {"nest.tuned", {OnOperation, isTunings}},
      // --schedule=naive; the names of run-time sizes; what the arena takes, and what is alive at the peak
      {"nest.naive", {OnFunction, isUnit}},
      {"nest.symbols", {OnFunction, isStrings}},
      {"nest.arena_bytes", {OnFunction, isNumber}},
      {"nest.live_bytes", {OnFunction, isNumber}},
      // Decisions about the printed file: heights and widths at run time, allocations, weights, launches on hosts
      {"nest.sized_images", {OnFunction, isUnit}},
      {"nest.placement", {OnFunction, isPlacement}},
      {"nest.weights", {OnFunction, isStorage}},
      {"nest.launches", {OnFunction, isLaunches}},
      // A function of C that is declared, and linked by the user: where it can be called
      {"nest.extern", {OnFunction, isMachine}},
      // Written by the program, and read before; of unsigned integers
      {"nest.output", {OnArgument, isUnit}},
      {"nest.updated", {OnArgument, isUnit}},
      {"nest.unsigned", {OnArgument, isUnit}},
      // Until its kernels are made: what stands for a sparse tensor, and the number of that; its arrays have the same
      {sparseEncoding, {OnArgument, isEncoding}},
      {sparseTensor, {OnArgument, isNumber}},
      // Of one that is written: the tensor whose elements it stores, too
      {sparsePattern, {OnArgument, isNumber}},
      // Of one with entries of its own: how they come about; that other operations have it alone
      {sparseAssembly, {OnArgument, isAssembly}},
      {sparseIntermediate, {OnArgument, isUnit}},
      // Of one whose entries the program itself collects
      {"nest.collected", {OnArgument, isUnit}},
      // Of an operation with several sparse operands: the tensor over whose entries it runs
      {walkedTensor, {OnOperation, isNumber}},
      // Of a nest.assemble: the rows that there are, where the text says it
      {assembledRows, {OnOperation, isNumber}},
      // Of a loop: over entries of that tensor, which no other iteration of the parallel loop around has; sums may be
      // in any order
      {sparseEntries, {OnOperation, isNumber}},
      // Of a search among the ascending coordinates between two positions
      {bisectsEntries, {OnOperation, isUnit}},
      // What all iterations of a kernel share
      {"nest.scan", {OnOperation, isUnit}},
      {"nest.shared", {OnOperation, isUnit}},
      // The loop over the blocks of a launch; memory with an element for each thread of a team
      {teamLoop, {OnOperation, isUnit}},
      {ofThreads, {OnOperation, isUnit}},
      // A loop that the columns of a strip take together; memory with an element for each of them
      {stripLoop, {OnOperation, isUnit}},
      {columnScan, {OnOperation, isUnit}},
      {stripColumns, {OnOperation, isNumber}},
      {ofColumns, {OnOperation, isUnit}},
      // Of another loop whose sums may be in any order
      {sumsInAnyOrder, {OnOperation, isUnit}},
      // Forward() checks that an int can count the elements
      {"nest.counted", {OnOperation | OnArgument, isUnit}},
      // Names of run-time extents, how they are computed, and the arguments that say how many positions count
      {"nest.dims", {OnArgument, isStrings, true}},
      {"nest.extents", {OnArgument, isExtents, true}},
      {"nest.counts", {OnArgument, isStrings, true}},
  };
  return table;
}

static LogicalResult verifyAttribute(Operation *op, NamedAttribute attribute, Place place, Type type = {}) {
  auto const error = [&]() { return op->emitOpError() << "attribute '" << attribute.getName().getValue() << "' "; };
  auto const rule = rules().find(attribute.getName());
  if (rule == rules().end())
    return error() << "is not one of the nest dialect";
  if (!(rule->second.places & place))
    return error() << "does not belong to " << (place == OnArgument ? "arguments and results" : "this operation");
  if (char const *required = rule->second.check(attribute.getValue()))
    return error() << required;
  auto const shaped = dyn_cast_or_null<ShapedType>(type);
  if (rule->second.isPerDimension && shaped && shaped.hasRank() &&
      int64_t(cast<ArrayAttr>(attribute.getValue()).size()) != shaped.getRank())
    return error() << "requires an element for each of the " << shaped.getRank() << " dimensions";
  return success();
}

LogicalResult NestDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(op, attribute, isa<FunctionOpInterface>(op) ? OnFunction : OnOperation);
}

LogicalResult NestDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyAttribute(op, attribute, OnArgument, function ? function.getArgumentTypes()[argument] : Type());
}

LogicalResult NestDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                       NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyAttribute(op, attribute, OnArgument, function ? function.getResultTypes()[result] : Type());
}
