//===- ExternalData.cpp - weights that lie in other files than the model ------------------------------------------===//
//
// A model says where its weights lie, so the place is checked: nothing but a regular file below the model's folder is
// read, neither by `..` nor by a symbolic link.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/ExternalData.h"
#include "translator/frontend/onnx/importer/Refusal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;
using llvm::Twine;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace ml2k::frontend {

using pb::TensorProto;

//===--- The place ------------------------------------------------------------------------------------------------===//

namespace {
struct Place {
  std::string location;
  uint64_t offset = 0, length;
};
} // namespace

static Place placeOf(TensorProto const &tensor, uint64_t bytes) {
  Place place{{}, 0, bytes};
  for (auto const &entry : tensor.external_data()) {
    if (entry.key() == "location")
      place.location = entry.value();
    else if (entry.key() == "offset" && StringRef(entry.value()).getAsInteger(10, place.offset))
      throw Refusal("external data has the offset \"" + entry.value() + "\"");
    else if (entry.key() == "length" && StringRef(entry.value()).getAsInteger(10, place.length))
      throw Refusal("external data has the length \"" + entry.value() + "\"");
  }
  return place;
}

static Refusal unreadable(StringRef location, std::error_code error) {
  return Refusal("cannot read its external data \"" + location + "\": " + error.message());
}

static Refusal outside(StringRef location) {
  return Refusal("external data lies at \"" + location + "\", which is not below the model's folder");
}

static bool isBelow(StringRef file, StringRef folder) {
  return file.consume_front(folder) && (folder.ends_with("/") || file.starts_with("/"));
}

/// The file itself, behind all symbolic links.
static std::string realPlace(StringRef directory, StringRef location) {
  auto const parts = llvm::make_range(path::begin(location), path::end(location));
  if (location.empty() || location.contains('\0') || path::is_absolute(location) || llvm::is_contained(parts, ".."))
    throw outside(location);
  llvm::SmallString<256> given(directory), folder, file;
  path::append(given, location);
  if (std::error_code const error = fs::real_path(given, file))
    throw unreadable(location, error);
  if (std::error_code const error = fs::real_path(directory.empty() ? "." : directory, folder))
    throw unreadable(location, error);
  if (!isBelow(file, folder))
    throw outside(location);
  return file.str().str();
}

std::string externalBytes(TensorProto const &tensor, StringRef directory, size_t bytes) {
  auto const [location, offset, length] = placeOf(tensor, bytes);
  std::string const file = realPlace(directory, location);
  if (length != bytes)
    throw Refusal("external data has " + Twine(length) + " bytes where the shape needs " + Twine(bytes));
  fs::file_status status;
  if (std::error_code const error = fs::status(file, status))
    throw unreadable(location, error);
  if (!fs::is_regular_file(status))
    throw Refusal("external data \"" + location + "\" is not a regular file");
  uint64_t const size = status.getSize();
  if (offset > size || length > size - offset)
    throw Refusal("external data \"" + location + "\" ends before byte " + Twine(offset) + " + " + Twine(length));
  auto buffer = llvm::MemoryBuffer::getFileSlice(file, length, offset);
  if (!buffer)
    throw unreadable(location, buffer.getError());
  return (*buffer)->getBuffer().str();
}

//===--- All of a model -------------------------------------------------------------------------------------------===//

static void collect(pb::GraphProto const &graph, llvm::StringSet<> &locations);

static void collect(TensorProto const &tensor, llvm::StringSet<> &locations) {
  if (tensor.data_location() == TensorProto::EXTERNAL)
    for (auto const &entry : tensor.external_data())
      if (entry.key() == "location")
        locations.insert(entry.value());
}

template <class Nodes> static void collectNodes(Nodes const &nodes, llvm::StringSet<> &locations) {
  for (pb::NodeProto const &node : nodes)
    for (pb::AttributeProto const &attribute : node.attribute()) {
      collect(attribute.t(), locations);
      collect(attribute.g(), locations);
      for (TensorProto const &tensor : attribute.tensors())
        collect(tensor, locations);
      for (pb::GraphProto const &graph : attribute.graphs())
        collect(graph, locations);
    }
}

static void collect(pb::GraphProto const &graph, llvm::StringSet<> &locations) {
  for (TensorProto const &tensor : graph.initializer())
    collect(tensor, locations);
  collectNodes(graph.node(), locations);
}

std::vector<std::string> externalFiles(pb::ModelProto const &model, StringRef directory) {
  llvm::StringSet<> locations;
  collect(model.graph(), locations);
  for (pb::FunctionProto const &function : model.functions())
    collectNodes(function.node(), locations);
  std::vector<std::string> files;
  for (auto const &location : locations) {
    llvm::SmallString<256> file(directory);
    path::append(file, location.getKey());
    files.push_back(file.str().str());
  }
  return files;
}

} // namespace ml2k::frontend
