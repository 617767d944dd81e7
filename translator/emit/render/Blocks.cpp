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

static std::vector<std::string> declaredBy(Json const &entry) {
  return entry.value("declares", Json::array({entry["name"]})).get<std::vector<std::string>>();
}

llvm::StringSet<> const &blockNames() {
  static llvm::StringSet<> const names = [] {
    llvm::StringSet<> all;
    for (Json const &entry : blockTable())
      for (std::string const &name : declaredBy(entry))
        all.insert(name);
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

static bool isPrinted(Json const &entry, Json const &flags) {
  return !entry.contains("only") || flags[entry["only"].get<std::string>()].get<bool>();
}

std::set<std::string> neededBlocks(std::set<std::string> const &used, bool embedded, Json const &flags) {
  std::set<std::string> needed;
  std::vector<std::string> open(used.begin(), used.end());
  while (!open.empty()) {
    std::string const name = open.back();
    open.pop_back();
    if (!needed.insert(name).second)
      continue;
    for (Json const &entry : blockTable())
      if (entry["name"] == name && isPrinted(entry, flags))
        for (Json const &need : entry["needs"])
          open.push_back(embedded && need == "sidecar" ? "embedded" : need.get<std::string>());
  }
  return needed;
}

std::set<std::string> declaredNames(std::set<std::string> const &needed, Json const &flags, bool details) {
  std::set<std::string> names;
  for (Json const &entry : blockTable())
    if (needed.count(entry["name"]) && isPrinted(entry, flags) && (entry["kind"] == "detail") == details)
      for (std::string const &name : declaredBy(entry))
        names.insert(name);
  return names;
}

bool isDetail(llvm::StringRef block) {
  static llvm::StringSet<> const details = [] {
    llvm::StringSet<> names;
    for (Json const &entry : blockTable())
      if (entry["kind"] == "detail")
        names.insert(entry["name"].get<std::string>());
    return names;
  }();
  return details.contains(block);
}

Json viewBlocks(std::set<std::string> const &needed, std::set<std::string> const &headers, Json const &flags) {
  Json view = {{"parts", Json::array()}, {"details", Json::array()}, {"blocks", Json::array()}};
  std::map<std::string, std::set<std::string>> includes = {{"part", {}}, {"block", headers}, {"cuda", {}}};
  for (Json const &entry : blockTable()) {
    std::string const name = entry["name"], kind = entry["kind"];
    if (!needed.count(name) || !isPrinted(entry, flags))
      continue;
    view[kind + "s"].push_back({{"template", entry["file"]}});
    for (Json const &file : entry.value("includes", Json::array()))
      includes[kind == "block" ? "block" : "part"].insert(file);
    for (Json const &file : entry.value("cuda_includes", Json::array()))
      if (flags["device"].get<bool>())
        includes["cuda"].insert(file);
  }
  for (auto const &[kind, files] : includes)
    view[kind + "_includes"] = listOf(files);
  view["has_details"] = !view["details"].empty();
  view["has_cuda_includes"] = !includes["cuda"].empty();
  return view;
}

} // namespace ml2k
