//===- Emit.cpp - from nest to the text of the generated files ----------------------------------------------------===//

#include "translator/emit/Emit.h"
#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/model/SharedCode.h"
#include "translator/emit/model/Views.h"
#include "translator/emit/render/Blocks.h"
#include "translator/emit/render/Render.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {

/// Those that the checks of forward() need.
static std::set<std::string> headersOf(ForwardView const &forward) {
  std::set<std::string> headers;
  for (Raw header : cpp::headersOf(forward.statements))
    headers.insert(header.str().str());
  if (forward.sizeChecks)
    headers.insert("stdexcept");
  return headers;
}

/// check_sizes(), if there is one: its parameters, call and statements.
static Json viewSizeChecks(std::optional<SizeChecks> const &checks) {
  if (!checks)
    return Json::array();
  std::vector<Expression> names;
  for (Identifier const &size : checks->sizes)
    names.push_back(cpp::name(size));
  return Json::array({{{"parameters", cpp::Serializer::list(cpp::intParameters(checks->sizes))},
                       {"call", cpp::Serializer::text(call(Raw("check_sizes"), names))},
                       {"statements", cpp::Serializer::json(checks->statements)}}});
}

template <class Part> static Json viewAll(std::vector<Part> const &parts) {
  Json list = Json::array();
  for (Part const &part : parts)
    list.push_back(cpp::Serializer::json(part));
  return list;
}

Json viewExtents(bool sized) {
  Json view;
  struct {
    std::string key, type, image;
  } const owners[] = {{"in", "In", "in"},
                      {"out", "Out", "out"},
                      {"images", "In", "images"},
                      {"results", "Out", "results"},
                      {"bordered", "Image", "images"}};
  for (auto const &[key, type, image] : owners)
    for (std::string const extent : {"height", "width", "pitch"})
      view[key + "_" + extent] = sized ? image + "." + extent + "()" : type + "::" + extent;
  view["own_height"] = sized ? "height()" : "Height";
  view["own_width"] = sized ? "width()" : "Width";
  return view;
}

/// What the blocks of this program need not be able to do is not printed.
static Json viewGenerality(Program const &program) {
  auto const isPacked = [](Storage const &weight) { return weight.packing == nest::PackingKind::Panels; };
  auto const isPaired = [](Storage const &weight) { return weight.isPaired; };
  auto const isInteger = [](Storage const &storage) { return !isa<FloatType>(storage.type.getElementType()); };
  auto const isDilated = [](ArrayRef<int64_t> dilations) {
    return llvm::any_of(dilations, [](int64_t d) { return d != 1; });
  };
  auto const isNarrow = [](Storage const &storage) { return isStoredNarrow(storage.type.getElementType()); };
  bool dilations = false, groups = false, integers = false, narrow = false, broad = false;
  func::FuncOp entry = program.entry;
  entry.walk([&](nest::ConvOp conv) {
    dilations |= isDilated(conv.getDilations());
    groups |= conv.getGroups() != 1;
  });
  constexpr int64_t broadWindow = 32; // taps, as pool() has it
  entry.walk([&](nest::WindowOp window) {
    dilations |= isDilated(window.getDilations());
    broad |= window.getKernel()[0] * window.getKernel()[1] >= broadWindow;
  });
  for (auto const *storages : {&program.arguments, &program.buffers, &program.weights})
    integers |= llvm::any_of(*storages, isInteger), narrow |= llvm::any_of(*storages, isNarrow);
  entry.walk([&](nest::FoldOp fold) { integers |= !isa<FloatType>(fold.getResult().getType()); });
  entry.walk([&](nest::ReduceOp reduce) { integers |= !isa<FloatType>(reduce.getInitial().getType()); });
  bool const biases = llvm::any_of(program.weights, [](Storage const &weight) { return weight.isBias; });
  bool const winograd = program.blocks.count("winograd");
  return {{"biases", biases},
          {"windows", winograd || program.blocks.count("conv")},
          {"direct", winograd || (!biases && program.blocks.count("unchanged"))},
          {"unbiased", llvm::any_of(program.weights, [&](Storage const &w) { return isPacked(w) && !w.bias; })},
          {"matrices", program.blocks.count("few_rows") != 0},
          {"small", program.blocks.count("small_products") != 0},
          {"large", program.blocks.count("large_product") != 0},
          {"phases", program.blocks.count("conv_transposed") != 0},
          {"dilations", dilations},
          {"broad", broad},
          {"gaps", dilations || groups || program.usesSlices},
          {"integers", integers},
          {"narrow", narrow},
          {"bfloat", llvm::any_of(program.weights, isPaired)},
          {"launched", program.launches},
          {"sized", program.sizesImages}};
}

//===--- Banner ---------------------------------------------------------------------------------------------------===//

static std::string countWeights(std::vector<SidecarTensor> const &tensors) {
  llvm::MapVector<Type, int64_t> counts;
  for (SidecarTensor const &tensor : tensors)
    counts[tensor.value.getElementType()] += tensor.value.getNumElements();
  std::vector<std::string> parts;
  for (auto [type, count] : counts) {
    std::string name;
    llvm::raw_string_ostream(name) << type;
    parts.push_back(std::to_string(count) + " x " + name);
  }
  return llvm::join(parts, ", ");
}

/// Volatile facts, one a line, so that a diff of the header shows what changed.
static Json viewBanner(Program const &program, std::vector<SidecarTensor> const &tensors, bool embedded) {
  EmitOptions const &options = program.options;
  Json lines = Json::array();
  auto const add = [&](std::string text) { lines.push_back({{"text", commentText(text)}}); };
  std::string const command = options.regenerate.empty()
                                  ? "ml2kokkos " + options.modelFile + " -o " + options.stem + ".cpp"
                                  : options.regenerate;
  add("Regenerate: " + command);
  if (!tensors.empty()) {
    std::string const place = embedded ? "in the source" : options.stem + ".safetensors";
    add("Weights:    " + place + ", " + countWeights(tensors));
    add("            sha256 " + sidecarDigest(tensors));
  }
  return lines;
}

//===--- The view model -------------------------------------------------------------------------------------------===//

/// The one public function with a body.
static func::FuncOp entryOf(ModuleOp module) {
  return *llvm::find_if(module.getOps<func::FuncOp>(),
                        [](func::FuncOp function) { return function.isPublic() && !function.isExternal(); });
}

static bool embedsWeights(Program const &program) {
  return program.settled<nest::WeightStorageAttr>("nest.weights").getValue() == nest::WeightStorage::Embedded;
}

std::string includeGuard(std::string const &stem) {
  std::string const guard = llvm::StringRef(snakeCase(stem, "model")).upper() + "_HPP";
  return llvm::StringRef(guard).starts_with("KOKKOS_") ? "MODEL_" + guard : guard; // Kokkos' own headers
}

/// Whether the header names std::int8_t or the like: the types in it, not what the model calls its tensors.
static bool namesStandardType(Json const &view) {
  if (view.is_object())
    for (auto const &[key, value] : view.items())
      if ((key == "type" || key == "scalar") && value.is_string() &&
          value.get_ref<std::string const &>().find("std::") != std::string::npos)
        return true;
  return view.is_structured() && llvm::any_of(view, namesStandardType);
}

/// What the blocks are printed for, and what they must be able to do.
static Json viewFlags(Program const &program) {
  Target const target = program.options.target;
  Json flags = {
      {"host", target != Target::Device}, {"device", target != Target::Host}, {"portable", target == Target::Portable}};
  flags.update(viewGenerality(program));
  return flags;
}

static FailureOr<Json> buildView(Program &program, ModelView &model) {
  EmitOptions const &options = program.options;
  std::vector<SidecarTensor> const &tensors = model.sidecar;
  FailureOr<ForwardView> forward = viewForward(program);
  if (failed(forward))
    return failure();
  Json const members = viewMembers(program);
  Json view = {{"model_file", commentText(options.modelFile)},
               {"header_file", options.stem + ".hpp"},
               {"guard", includeGuard(options.stem)},
               {"namespace", program.model},
               {"forward_parameters", forwardParameters(program)},
               {"forward_definition", forwardDefinition(program, forward->statements)}};
  program.launches = program.settled<BoolAttr>("nest.launches").getValue();
  if (!program.launches)
    program.useBlock("for_items");
  model.flags = viewFlags(program);
  view.update(model.flags);
  view.update(viewExtents(program.sizesImages));
  model.embedded = embedsWeights(program);
  view["banner"] = viewBanner(program, tensors, model.embedded);
  view["shared"] = Json::array();
  view["license"] = Json::array();
  if (!options.license.empty())
    view["license"].push_back({{"text", options.license}});
  view["epilogues"] = viewAll(shareEpilogues(program, forward->layers));
  view["has_epilogues"] = !view["epilogues"].empty();
  shareBodies(program, forward->layers);
  view["layers"] = viewAll(forward->layers);
  view["forward"] = cpp::Serializer::json(forward->statements);
  view["size_checks"] = viewSizeChecks(forward->sizeChecks);
  view.update(members);
  view["loaders"] = Json::array();
  if (!tensors.empty())
    view["loaders"].push_back(viewLoader(program, tensors, model.embedded));
  program.useBlock("tensor");
  model.blocks = program.blocks;
  model.headers = headersOf(*forward);
  view.update(viewBlocks(neededBlocks(model.blocks, model.embedded, view), model.headers, view));
  if (namesStandardType(members))
    view["part_includes"].insert(view["part_includes"].begin(), Json{{"file", "cstdint"}});
  return view;
}

FailureOr<ModelView> viewModel(ModuleOp module, EmitOptions const &options) {
  Program program(entryOf(module), options);
  program.collect();
  ModelView model;
  model.sidecar = sidecarOf(program);
  FailureOr<Json> view = buildView(program, model);
  if (failed(view))
    return failure();
  model.view = std::move(*view);
  return model;
}

EmittedFiles ModelView::render() const {
  EmittedFiles files;
  files.json = view.dump(2, ' ', /*ensure_ascii=*/true) + "\n"; // terminals show it
  files.header = ml2k::render("file/header", view);
  files.source = ml2k::render("file/source", view);
  if (!embedded)
    files.sidecar = sidecar;
  return files;
}

FailureOr<EmittedFiles> emit(ModuleOp module, EmitOptions const &options) {
  FailureOr<ModelView> const model = viewModel(module, options);
  if (failed(model))
    return failure();
  try {
    return model->render();
  } catch (std::exception const &error) {
    return module.emitError(error.what());
  }
}

} // namespace ml2k
