//===- Provenance.cpp - which operations of the model a kernel comes from -----------------------------------------===//

#include "passes/Provenance.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

static void collect(Location location, llvm::SetVector<Attribute> &names) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      collect(part, names);
  else if (auto name = dyn_cast<NameLoc>(location))
    names.insert(name);
  else if (auto call = dyn_cast<CallSiteLoc>(location))
    collect(call.getCallee(), names);
}

SmallVector<NameLoc> ml2k::namesBehind(Location location) {
  llvm::SetVector<Attribute> names;
  collect(location, names);
  return llvm::map_to_vector(names, [](Attribute name) { return cast<NameLoc>(name); });
}

/// "/layer1/layer1.0/conv1/Conv" of a Conv: layer1.0.conv1. A part that only repeats the start of the next is dropped,
/// so is the operation at the end unless nothing else is left.
static std::string dotted(StringRef path, StringRef operation) {
  SmallVector<StringRef> parts;
  path.split(parts, '/', -1, /*KeepEmpty=*/false);
  if (parts.size() > 1 && (parts.back() == operation || parts.back().starts_with((operation + "_").str())))
    if (parts.back() == operation || parts.size() == 1)
      parts.pop_back();
  SmallVector<StringRef> kept;
  for (unsigned i = 0; i < parts.size(); ++i)
    if (i + 1 == parts.size() || !parts[i + 1].starts_with((parts[i] + ".").str()))
      kept.push_back(parts[i]);
  return llvm::join(kept, ".");
}

std::string ml2k::nameFromLocation(Location location) {
  SmallVector<NameLoc> const names = namesBehind(location);
  if (names.empty())
    return "";
  StringRef const text = names.front().getName().getValue();
  auto const [operation, rest] = text.split(" \"");
  if (rest.empty())
    return text.str();
  auto const [path, part] = rest.split("\" "); // `GRU "/layer/GRU" reverse`: a part of an operation
  std::string const name = dotted(path.drop_back(path.ends_with("\"") ? 1 : 0), operation);
  return part.empty() ? name : name + "." + part.str();
}

std::string ml2k::operationFromLocation(Location location) {
  SmallVector<NameLoc> const names = namesBehind(location);
  return names.empty() ? "" : names.front().getName().getValue().split(" \"").first.str();
}

Location ml2k::fusedLocation(MLIRContext *context, ArrayRef<Location> locations) {
  llvm::SetVector<Attribute> names;
  for (Location location : locations)
    collect(location, names);
  if (names.empty())
    return locations.empty() ? UnknownLoc::get(context) : locations.front();
  SmallVector<Location> parts =
      llvm::map_to_vector(names, [](Attribute name) { return Location(cast<NameLoc>(name)); });
  return FusedLoc::get(context, parts);
}
