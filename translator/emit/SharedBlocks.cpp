//===- SharedBlocks.cpp - one header with the building blocks of several models -----------------------------------===//

#include "translator/emit/SharedBlocks.h"

#include "translator/emit/forms/Forms.h"
#include "translator/emit/model/Names.h"
#include "translator/emit/model/Views.h"
#include "translator/emit/render/Blocks.h"
#include "translator/text/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <map>

namespace ml2k {

namespace {
/// Models whose blocks have the same interface.
struct Variant {
  Json flags = Json::object(); ///< what any of them asks for
  std::vector<ModelView *> models;
};
} // namespace

std::string blocksNamespace(llvm::StringRef file) {
  return namespaceName(llvm::sys::path::stem(llvm::sys::path::stem(file))); // as of a model
}

static bool isByColumns(ModelView const &model) { return model.layout == "form"; }

/// Below the namespace of the file; nothing for most models.
static std::string variantName(ModelView const &model) {
  Json const &flags = model.flags;
  if (isByColumns(model))
    return flags["halved"].get<bool>() ? "halved" : model.view["scalar"] == "double" ? "doubles" : "";
  std::string const size = flags["launched"].get<bool>() ? "" : flags["single"].get<bool>() ? "single" : "small";
  std::string const images = flags["sized"].get<bool>() ? "sized" : "";
  return size + (size.empty() || images.empty() ? "" : "_") + images;
}

static std::string purposeOf(ModelView const &model, Json const &flags) {
  if (isByColumns(model))
    return flags["halved"].get<bool>() ? "For networks whose weights are stored as bfloat16"
                                       : "For networks that compute in double";
  std::string const small = "so little work that threads of a host would cost more than they save";
  std::string const single = "kernels that may have a single work item, which the calling thread of a host does";
  std::string const sized = "images whose heights and widths are known at run time only";
  bool const isLaunched = flags["launched"].get<bool>(), isSized = flags["sized"].get<bool>();
  std::string const size = isLaunched ? "" : flags["single"].get<bool>() ? single : small;
  return "For models of " + size + (!isLaunched && isSized ? ", and " : "") + (isSized ? sized : "");
}

/// What one asks for, all can do.
static void addFlags(Json &all, Json const &flags) {
  for (auto const &[name, value] : flags.items())
    all[name] = value.get<bool>() || all.value(name, false);
}

static std::map<std::string, Variant> variantsOf(llvm::MutableArrayRef<ModelView> models) {
  std::map<std::string, Variant> variants;
  for (ModelView &model : models) {
    Variant &variant = variants[variantName(model)];
    addFlags(variant.flags, model.flags);
    variant.models.push_back(&model);
  }
  return variants;
}

/// The names in code, without its comments and literals.
static std::set<std::string> namesIn(llvm::StringRef code) {
  std::set<std::string> names;
  while (!code.empty()) {
    if (code.starts_with("//")) {
      code = code.drop_until([](char c) { return c == '\n'; });
    } else if (code.front() == '"') {
      size_t end = 1;
      while (end < code.size() && code[end] != '"')
        end += code[end] == '\\' ? 2 : 1;
      code = code.drop_front(std::min(code.size(), end + 1));
    } else {
      llvm::StringRef const word = code.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      names.insert(word.str());
      code = code.drop_front(std::max<size_t>(word.size(), 1));
    }
  }
  return names;
}

static Json namesOf(std::set<std::string> const &declared, std::set<std::string> const &used,
                    std::set<std::string> const &known = {}) {
  Json list = Json::array();
  for (std::string const &name : declared)
    if (used.count(name) && !known.count(name))
      list.push_back({{"name", name}});
  return list;
}

/// Using-declarations for what the model's own text names of the blocks: with a directive, other global names and the
/// namespaces of models would be ambiguous with blocks.
static void nameShared(ModelView &model, Json const &flags, Json &shared) {
  std::set<std::string> const needed = neededBlocks(model.blocks, model.embedded, flags);
  std::set<std::string> const details = declaredNames(needed, flags, true);
  std::set<std::string> declared = declaredNames(needed, flags, false);
  declared.insert("ExecutionSpace");
  if (isByColumns(model))
    declared.merge(namesOfForms(flags));
  EmittedFiles const own = model.render();
  std::set<std::string> const header = namesIn(own.header);
  shared["header_names"] = namesOf(declared, header);
  shared["detail_names"] = namesOf(details, header);
  declared.insert(details.begin(), details.end());
  shared["source_names"] = namesOf(declared, namesIn(own.source), header);
  shared["has_source_names"] = !shared["source_names"].empty();
}

/// The model's own files, with the names of the header in place of the blocks.
static void useShared(ModelView &model, Json const &flags, std::string const &file, std::string const &nameSpace) {
  Json &view = model.view;
  bool const namesIntegers = !view["part_includes"].empty() && view["part_includes"][0]["file"] == "cstdint";
  view.update(viewBlocks({}, model.headers, flags));
  if (namesIntegers)
    view["part_includes"].push_back({{"file", "cstdint"}});
  for (char const *flag : {"pairs", "bfloat"})
    view[flag] = false; // their headers are included with the blocks
  view["shared"] = Json::array({{{"blocks_file", file},
                                 {"blocks_namespace", nameSpace},
                                 {"header_names", Json::array()},
                                 {"detail_names", Json::array()},
                                 {"source_names", Json::array()},
                                 {"has_source_names", false}}});
  nameShared(model, flags, view["shared"][0]);
}

/// The blocks of one namespace. Adds what they include to `includes`.
static Json viewVariant(Variant const &variant, std::string const &nameSpace, bool isPlain,
                        std::map<std::string, std::set<std::string>> &includes) {
  std::set<std::string> needed;
  for (ModelView const *model : variant.models)
    needed.merge(neededBlocks(model->blocks, model->embedded, variant.flags));
  Json view = variant.flags;
  view.update(viewExtents(variant.flags["sized"].get<bool>()));
  view.update(viewBlocks(needed, {}, variant.flags));
  for (std::string const kind : {"part", "block", "cuda"})
    for (Json const &include : view[kind + "_includes"])
      includes[kind].insert(include["file"].get<std::string>());
  view["blocks_namespace"] = nameSpace;
  view["purpose"] = Json::array();
  ModelView const &first = *variant.models.front();
  if (!isPlain)
    view["purpose"].push_back({{"text", purposeOf(first, variant.flags)}});
  view["forms"] = Json::array();
  if (isByColumns(first)) {
    view["forms"].push_back(viewOfBlocks(first.view));
    includes["block"].insert({"cstddef", "type_traits", "utility"});
    if (variant.flags["halved"].get<bool>())
      includes["block"].insert("cstdint");
  }
  return view;
}

static Json listOf(std::set<std::string> const &files) {
  Json list = Json::array();
  for (std::string const &file : files)
    list.push_back({{"file", file}});
  return list;
}

static Json viewHead(BlocksFile const &file) {
  Json view = {{"command", commentText(file.regenerate)},
               {"license", Json::array()},
               {"guard", includeGuard(llvm::StringRef(file.name).rsplit('.').first.str())},
               {"variants", Json::array()}};
  if (!file.license.empty())
    view["license"].push_back({{"text", file.license}});
  return view;
}

std::string shareBlocks(llvm::MutableArrayRef<ModelView> models, BlocksFile const &file) {
  Json view = viewHead(file);
  std::map<std::string, std::set<std::string>> includes;
  std::map<std::string, bool> products{{"pairs", false}, {"bfloat", false}, {"shorts", false}};
  for (auto &[name, variant] : variantsOf(models)) {
    std::string const nameSpace = blocksNamespace(file.name) + (name.empty() ? "" : "::" + name);
    for (ModelView *model : variant.models)
      useShared(*model, variant.flags, file.name, nameSpace);
    for (auto &[flag, used] : products)
      used |= variant.flags[flag].get<bool>();
    view["variants"].push_back(viewVariant(variant, nameSpace, name.empty(), includes));
  }
  for (auto const &[flag, used] : products)
    view[flag] = used;
  view["has_cuda_includes"] = !includes["cuda"].empty();
  view["cuda_includes"] = listOf(includes["cuda"]);
  includes["part"].merge(includes["block"]);
  view["includes"] = listOf(includes["part"]);
  return render("file/blocks", view);
}

} // namespace ml2k
