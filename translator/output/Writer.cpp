//===- Writer.cpp - puts a set of files in place, all or none -----------------------------------------------------===//
//
// Every file is complete on the disk under a temporary name before the first is renamed. Renames that came before one
// that fails are undone, so that header, source and sidecar always belong together.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/output/Writer.h"

#include "translator/output/Ownership.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;
using namespace ml2k;

static Error problem(StringRef path, Twine const &message) {
  return createStringError(inconvertibleErrorCode(), Twine(path) + ": error: " + message);
}

static Error problem(StringRef path, Twine const &what, std::error_code error) {
  return problem(path, what + ": " + error.message());
}

/// The file itself where `name` is a symbolic link to it: a rename would replace the link.
static std::string targetPath(StringRef directory, StringRef name) {
  SmallString<256> path(directory);
  sys::path::append(path, name);
  SmallString<256> real;
  if (sys::fs::exists(path) && !sys::fs::real_path(path, real))
    return real.str().str();
  return path.str().str();
}

//===--- Before the work ------------------------------------------------------------------------------------------===//

static bool isSameFile(sys::fs::file_status const &status, StringRef path) {
  sys::fs::file_status other;
  return !sys::fs::status(path, other) && sys::fs::equivalent(status, other);
}

/// A file that may be replaced if it is ours.
static Error checkKind(StringRef path, sys::fs::file_status const &status) {
  if (sys::fs::is_directory(status))
    return problem(path, "cannot be written: it is a directory");
  if (!sys::fs::is_regular_file(status))
    return problem(path, "cannot be written: it is not a regular file");
  // The mode, not access(2): root may write everywhere, but a file that its owner protected stays protected.
  if (!(status.permissions() & sys::fs::all_write))
    return problem(path, "cannot be written: it is read-only");
  return Error::success();
}

static Error checkTarget(StringRef path, WriteRules const &rules) {
  sys::fs::file_status status;
  if (std::error_code const error = sys::fs::status(path, status)) {
    if (error != std::errc::no_such_file_or_directory)
      return problem(path, "cannot be written", error);
    return sys::fs::is_symlink_file(path)
               ? problem(path, "cannot be written: it is a symbolic link to a file that does not exist")
               : Error::success();
  }
  if (Error error = checkKind(path, status))
    return error;
  if (any_of(rules.inputs, [&](StringRef input) { return isSameFile(status, input); }))
    return problem(path, "would replace an input of this translation");
  if (!rules.force && !isOwnFile(path))
    return problem(path, "exists and was not written by ml2kokkos; choose another name, or replace it with --force");
  return Error::success();
}

/// Two names may lead to one file.
static Error checkDistinct(ArrayRef<std::string> paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    sys::fs::file_status status;
    if (sys::fs::status(paths[i], status))
      continue;
    for (std::string const &other : paths.take_front(i))
      if (isSameFile(status, other))
        return problem(paths[i], "is the same file as " + other);
  }
  return Error::success();
}

static Error checkFolder(StringRef folder) {
  sys::fs::file_status status;
  if (sys::fs::status(folder, status))
    return problem(folder, "no such directory; create it first");
  if (!sys::fs::is_directory(status))
    return problem(folder, "is not a directory");
  if (std::error_code const error = sys::fs::access(folder, sys::fs::AccessMode::Write))
    return problem(folder, "directory cannot be written", error);
  return Error::success();
}

Error ml2k::checkWritable(StringRef directory, ArrayRef<std::string> names, WriteRules const &rules) {
  StringRef const folder = directory.empty() ? "." : directory;
  if (Error error = checkFolder(folder))
    return error;
  std::vector<std::string> paths;
  for (std::string const &name : names) {
    paths.push_back(targetPath(folder, name));
    if (Error error = checkTarget(paths.back(), rules))
      return error;
  }
  return checkDistinct(paths);
}

//===--- Temporaries and renames ----------------------------------------------------------------------------------===//

namespace {
/// One file on its way: the new contents under a temporary name, the old file, if there is one, under another.
struct Pending {
  std::string target;
  std::string temporary;
  std::string backup;
  bool placed = false;
};
} // namespace

static bool isUpToDate(StringRef path, StringRef contents) {
  uint64_t size = 0;
  if (sys::fs::file_size(path, size) || size != contents.size())
    return false;
  auto const old = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return old && (*old)->getBuffer() == contents;
}

/// A rename keeps the mode of the new file, so it gets that of the old one, or what the umask leaves.
static sys::fs::perms modeOf(StringRef target) {
  if (auto const old = sys::fs::getPermissions(target))
    return *old;
  return static_cast<sys::fs::perms>(0666 & ~sys::fs::getUmask());
}

static Error writeTemporary(Pending &file, StringRef contents) {
  SmallString<256> name;
  int descriptor = -1;
  if (std::error_code const error = sys::fs::createUniqueFile(file.target + ".%%%%%%.tmp", descriptor, name))
    return problem(file.target, "cannot be written", error);
  file.temporary = name.str().str();
  raw_fd_ostream out(descriptor, /*shouldClose=*/true);
  out << contents;
  out.close();
  if (std::error_code const error = out.error()) {
    out.clear_error();
    return problem(file.target, "cannot be written", error);
  }
  if (std::error_code const error = sys::fs::setPermissions(file.temporary, modeOf(file.target)))
    return problem(file.target, "cannot be written", error);
  return Error::success();
}

static Error place(Pending &file) {
  if (sys::fs::exists(file.target)) {
    file.backup = file.temporary + ".old";
    if (std::error_code const error = sys::fs::rename(file.target, file.backup)) {
      file.backup.clear();
      return problem(file.target, "cannot be replaced", error);
    }
  }
  if (std::error_code const error = sys::fs::rename(file.temporary, file.target))
    return problem(file.target, "cannot be written", error);
  file.placed = true;
  return Error::success();
}

static void undo(ArrayRef<Pending> files) {
  for (Pending const &file : files) {
    if (!file.backup.empty())
      sys::fs::rename(file.backup, file.target);
    else if (file.placed)
      sys::fs::remove(file.target);
    if (!file.temporary.empty() && !file.placed)
      sys::fs::remove(file.temporary);
  }
}

static Error writeAll(std::vector<Pending> &pending, StringRef directory, ArrayRef<OutputFile> files) {
  for (OutputFile const &file : files) {
    std::string target = targetPath(directory, file.name);
    if (isUpToDate(target, file.contents))
      continue;
    pending.push_back({std::move(target), {}, {}});
    if (Error error = writeTemporary(pending.back(), file.contents))
      return error;
  }
  for (Pending &file : pending)
    if (Error error = place(file))
      return error;
  return Error::success();
}

Error ml2k::writeFiles(StringRef directory, ArrayRef<OutputFile> files, WriteRules const &rules) {
  StringRef const folder = directory.empty() ? "." : directory;
  std::vector<std::string> names;
  for (OutputFile const &file : files)
    names.push_back(file.name);
  if (Error error = checkWritable(folder, names, rules))
    return error;
  std::vector<Pending> pending;
  if (Error error = writeAll(pending, folder, files)) {
    undo(pending);
    return error;
  }
  for (Pending const &file : pending)
    if (!file.backup.empty())
      sys::fs::remove(file.backup);
  return Error::success();
}
