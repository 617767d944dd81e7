//===- Blocks.cpp - the building blocks that generated files print for themselves ---------------------------------===//

#include "translator/emit/render/Blocks.h"
#include "translator/emit/render/Render.h"

#include <map>
#include <vector>

namespace ml2k {

/// In printing order. An entry's "declares" is left out where that is its name alone.
static Json const &blockTable() {
  static Json const table = Json::parse(templateText("block/blocks.json"));
  return table;
}

llvm::StringSet<> const &blockNames() {
  static llvm::StringSet<> const names = [] {
    llvm::StringSet<> all;
    for (Json const &entry : blockTable())
      for (Json const &name : entry.value("declares", Json::array({entry["name"]})))
        all.insert(name.get<std::string>());
    return all;
  }();
  return names;
}

static Json listOf(std::set<std::string> const &files) {
  Json list = Json::array();
  for (std::string const &file : files)
    list.push_back({{"file", file}});
  return list;
}

Json viewBlocks(std::set<std::string> const &used, bool embedded, std::set<std::string> const &headers,
                Json const &flags) {
  Json const &table = blockTable();
  auto const isPrinted = [&](Json const &entry) {
    return !entry.contains("only") || flags[entry["only"].get<std::string>()].get<bool>();
  };
  std::set<std::string> needed;
  std::vector<std::string> open(used.begin(), used.end());
  while (!open.empty()) {
    std::string const name = open.back();
    open.pop_back();
    if (!needed.insert(name).second)
      continue;
    for (Json const &entry : table)
      if (entry["name"] == name && isPrinted(entry))
        for (Json const &need : entry["needs"])
          open.push_back(embedded && need == "sidecar" ? "embedded" : need.get<std::string>());
  }
  Json view = {{"parts", Json::array()}, {"blocks", Json::array()}};
  std::map<std::string, std::set<std::string>> includes = {{"part", {}}, {"block", headers}, {"cuda", {}}};
  for (Json const &entry : table) {
    std::string const name = entry["name"], kind = entry["kind"];
    if (!needed.count(name) || !isPrinted(entry))
      continue;
    view[kind + "s"].push_back({{"template", entry["file"]}});
    for (Json const &file : entry.value("includes", Json::array()))
      includes[kind].insert(file);
    for (Json const &file : entry.value("cuda_includes", Json::array()))
      if (flags["device"].get<bool>())
        includes["cuda"].insert(file);
  }
  for (auto const &[kind, files] : includes)
    view[kind + "_includes"] = listOf(files);
  view["has_cuda_includes"] = !includes["cuda"].empty();
  return view;
}

} // namespace ml2k
