//===- Check.cpp - --------------------------------------------------------------------------------------*- C++ -*-===//

#include "translator/output/Check.h"

#include "translator/output/Diff.h"
#include "translator/output/Ownership.h"
#include "translator/text/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace ml2k;

static std::string placeOf(StringRef directory, StringRef name) {
  SmallString<256> path(directory);
  sys::path::append(path, name);
  return path.str().str();
}

static bool checkFile(std::string const &path, OutputFile const &file, bool isSidecar, raw_ostream &out) {
  std::string const shown = terminalText(path);
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && !sys::fs::is_regular_file(status)) {
    out << shown << ": not a regular file\n"; // reading a pipe would wait for ever
    return false;
  }
  auto const old = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!old) {
    out << shown << ": missing: " << old.getError().message() << "\n";
    return false;
  }
  StringRef const before = (*old)->getBuffer();
  if (before == file.contents)
    return true;
  if (isSidecar)
    out << shown << ": stale: it does not hold the weights of this model\n";
  else
    out << "--- " << shown << "\n+++ " << shown << " (regenerated)\n"
        << terminalLines(unifiedDiff(before, file.contents));
  return false;
}

bool ml2k::hasOrphan(StringRef directory, ArrayRef<OutputFile> files, StringRef sidecar) {
  return none_of(files, [&](OutputFile const &file) { return file.name == sidecar; }) &&
         sys::fs::exists(placeOf(directory, sidecar)) && isOwnFile(placeOf(directory, sidecar));
}

bool ml2k::checkFiles(StringRef directory, ArrayRef<OutputFile> files, ArrayRef<std::string> sidecars,
                      raw_ostream &out) {
  bool isEqual = true;
  for (OutputFile const &file : files)
    isEqual &= checkFile(placeOf(directory, file.name), file, is_contained(sidecars, file.name), out);
  for (std::string const &sidecar : sidecars)
    if (hasOrphan(directory, files, sidecar)) {
      out << terminalText(placeOf(directory, sidecar)) << ": orphan: the printed code does not read it\n";
      isEqual = false;
    }
  return isEqual;
}
