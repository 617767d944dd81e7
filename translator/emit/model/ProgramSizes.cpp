//===- ProgramSizes.cpp - names of the extents that are known at run time -----------------------------------------===//

#include "translator/emit/model/Program.h"
#include "translator/emit/render/Blocks.h"
#include "translator/emit/scalars/Scalars.h"
#include "translator/ir/UniqueNames.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ml2k {

/// The name that the model gives to a dynamic dimension, from `nest.dims`; the first dimension is else the batch.
static std::string sizeName(func::FuncOp entry, Storage const &argument, unsigned dim) {
  if (StringRef const name = nameOfExtent(entry, cast<BlockArgument>(argument.value), dim); !name.empty())
    return name.str();
  return dim == 0 ? "batch" : argument.name + "_size_" + std::to_string(dim);
}

/// Identifiers for the names of sizes; equal names stay equal, and none hides a parameter of forward() or a name of the
/// Workspace.
static void makeIdentifiers(std::vector<RuntimeSize> &sizes, std::deque<Storage> const &arguments,
                            ArrayRef<std::string> scalars) {
  llvm::StringSet<> taken = fixedNames();
  for (std::string const &scalar : scalars)
    taken.insert(scalar);
  for (char const *name : {"arena", "split", "allocate", "buffers"})
    taken.insert(name);
  for (Storage const &argument : arguments)
    taken.insert(argument.name);
  llvm::StringMap<llvm::StringSet<>> namesOf; // by identifier
  for (RuntimeSize const &size : sizes)
    namesOf[snakeCase(size.name, "size")].insert(size.name);
  auto const wanted = [&](RuntimeSize const &size) {
    std::string const identifier = snakeCase(size.name, "size");
    bool const isFree = !taken.contains(identifier) && namesOf[identifier].size() == 1;
    return size.name + (isFree ? "" : "_size");
  };
  std::vector<std::string> names;
  llvm::transform(sizes, std::back_inserter(names), wanted);
  llvm::StringMap<std::string> const table = nameTable(names, "size", taken);
  std::vector<RuntimeSize> named = sizes;
  for (auto const &[size, name] : llvm::zip(named, names))
    size.name = table.lookup(name);
  sizes = std::move(named);
}

void Program::collectSizes() {
  for (Storage const &argument : arguments)
    for (unsigned dim = 0; dim < unsigned(argument.type.getRank()); ++dim)
      if (argument.type.isDynamicDim(dim))
        sizes.push_back({argument.value, dim, sizeName(entry, argument, dim)});
  std::vector<std::string> scalars; // of the caller
  for (BlockArgument argument : entry.getArguments())
    if (!isa<MemRefType>(argument.getType()))
      scalars.push_back(hostName(argument));
  makeIdentifiers(sizes, arguments, scalars);
  for (RuntimeSize const &size : sizes)
    if (!fileScope.isTaken(size.name))
      fileScope.take(size.name);
  entry.walk([&](memref::DimOp op) {
    std::optional<int64_t> const dim = op.getConstantIndex();
    for (RuntimeSize const &size : sizes)
      if (dim && size.argument == op.getSource() && size.dim == unsigned(*dim))
        nameHostValue(op, size.name);
  });
  for (RuntimeSize const &size : sizes) // an argument stands for its only extent where nobody asks for that
    if (cast<MemRefType>(size.argument.getType()).getNumDynamicDims() == 1)
      nameHostValue(size.argument, size.name);
}

} // namespace ml2k
