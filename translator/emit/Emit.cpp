//===- Emit.cpp - from nest to the text of the generated files ----------------------------------------------------===//

#include "translator/emit/Emit.h"
#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/model/SharedCode.h"
#include "translator/emit/model/VectorHazards.h"
#include "translator/emit/model/Views.h"
#include "translator/emit/render/Blocks.h"
#include "translator/emit/render/Render.h"
#include "translator/emit/scalars/Callees.h"
#include "translator/ir/ReadBack.h"
#include "translator/ir/Strips.h"
#include "translator/ir/Tuning.h"
#include "translator/text/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {

//===--- What the file needs --------------------------------------------------------------------------------------===//

namespace {
/// The parts of the file, from which follows what it needs beside them.
struct Parts {
  ForwardView forward;
  MembersView members;
  std::optional<LoaderView> loader;
  std::vector<cpp::Functor> epilogues;
  std::set<cpp::BlockName> blocksOfLayers; ///< before code that they share was taken out of them
};
} // namespace

static bool isTuned(Program const &program) { return !tunedKernels(program.entry).empty(); }

/// The blocks and parts in use, without what they need.
static std::set<std::string> blocksOf(Program const &program, Parts const &parts) {
  std::set<cpp::BlockName> blocks = parts.blocksOfLayers;
  blocks.insert("tensor");
  blocks.insert("any_layout");
  blocks.merge(cpp::blocksOf(parts.forward.statements));
  for (auto const *storages : {&program.arguments, &program.buffers, &program.weights})
    for (Storage const &storage : *storages)
      blocks.insert(storage.cpp.block);
  if (parts.members.workspace)
    blocks.merge(cpp::blocksOf(*parts.members.workspace));
  if (parts.loader) {
    blocks.merge(cpp::blocksOf(parts.loader->loads));
    blocks.insert(parts.loader->embedded ? Raw("embedded") : Raw("sidecar"));
  }
  if (program.launches != nest::Launches::Always || isTuned(program))
    blocks.insert("for_items");
  if (isTuned(program))
    blocks.insert("tuning");
  std::set<std::string> names;
  for (cpp::BlockName block : blocks)
    if (!block.empty())
      names.insert(block.str().str());
  return names;
}

/// Those that the checks of forward() need.
static std::set<std::string> headersOf(ForwardView const &forward) {
  std::set<std::string> headers;
  for (Raw header : cpp::headersOf(forward.statements))
    headers.insert(header.str().str());
  if (forward.sizeChecks)
    headers.insert("stdexcept");
  return headers;
}

/// Whether the header names a type of <cstdint>.
static bool usesFixedWidths(Program const &program) {
  auto const isFixed = [](Storage const &storage) { return storage.cpp.isFixedWidth && !storage.biasOf; };
  func::FuncOp entry = program.entry;
  bool const isScalar = llvm::any_of(
      entry.getArgumentTypes(), [](Type type) { return !isa<ShapedType>(type) && computedType(type).isFixedWidth; });
  return isScalar || llvm::any_of(program.arguments, isFixed) || llvm::any_of(program.buffers, isFixed) ||
         llvm::any_of(program.weights, isFixed);
}

/// check_sizes(), if there is one: its parameters, call and statements.
static Json viewSizeChecks(std::optional<SizeChecksView> const &checks) {
  if (!checks)
    return Json::array();
  std::vector<Expression> names;
  for (Identifier const &size : checks->sizes)
    names.push_back(cpp::name(size));
  return Json::array({{{"parameters", cpp::Serializer::list(cpp::intParameters(checks->sizes))},
                       {"call", cpp::Serializer::text(call(Raw("check_sizes"), names))},
                       {"statements", cpp::Serializer::json(checks->statements)}}});
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
    for (std::string const extent : {"height", "width", "pitch", "plane"})
      view[key + "_" + extent] = sized ? image + "." + extent + "()" : type + "::" + extent;
  view["own_height"] = sized ? "height()" : "Height";
  view["own_width"] = sized ? "width()" : "Width";
  view["own_plane"] = sized ? "plane()" : "plane";
  return view;
}

static bool isBatched(nest::ContractOp contract) {
  nest::ScheduleAttr const schedule = nest::scheduleOf(contract);
  return schedule && schedule.getBlock() == nest::KernelBlock::BatchedContract;
}

/// Whether batched_contract may meet a product of two activations whose operands no cache holds.
static bool multipliesBlocks(nest::ContractOp contract) {
  if (!isBatched(contract) || !nest::scheduleOf(contract).getInPlace())
    return false;
  std::map<nest::Role, double> size;
  for (auto [role, extent] : llvm::zip(contract.getRoles(), nest::Kernel(contract).getLoopExtents()))
    size.try_emplace(role, 1).first->second *= ShapedType::isDynamic(extent.size()) ? 1e6 : double(extent.size());
  return size[nest::Role::M] > 16 && size[nest::Role::N] * size[nest::Role::K] > 16384; // as it says itself
}

/// Whether a product's sums and what is made of them have types of which one does not hold the other's numbers.
static bool convertsSums(Operation *op) {
  Value const weight = isa<nest::ConvOp, nest::ContractOp>(op) ? op->getOperand(1) : Value();
  if (!weight)
    return false;
  Type const sum = cast<nest::Kernel>(op).getStoringRegion().getArgument(0).getType();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type const result : block.getTerminator()->getOperandTypes())
        if (result != sum && (isa<IntegerType>(sum) || isa<IntegerType>(result)))
          return true;
  return false;
}

/// Of the panels in which a convolution or product reads its weights.
static std::optional<nest::PackingAttr> panelsOf(Operation *op) {
  if (!isa<nest::ConvOp, nest::ContractOp>(op))
    return std::nullopt;
  auto weight = op->getOperand(1).getDefiningOp<nest::WeightOp>();
  std::optional<nest::PackingAttr> const packing = weight ? weight.getPacking() : std::nullopt;
  return packing && packing->isPanels() ? packing : std::nullopt;
}

/// The most that a product can have; a great many where the caller decides.
static int64_t mostRows(nest::ContractOp contract) {
  int64_t rows = 1;
  for (auto [role, extent] : llvm::zip(contract.getRoles(), nest::Kernel(contract).getLoopExtents()))
    if (role == nest::Role::M)
      rows = ShapedType::isDynamic(extent.size()) ? 1 << 20 : std::min<int64_t>(rows * extent.size(), 1 << 20);
  return rows;
}

/// Whether several rows meet a panel of weights that the outputs may not fill: panels have at most 64 columns.
static bool leavesRests(Operation *op) {
  std::optional<nest::PackingAttr> const packing = panelsOf(op);
  if (!packing || packing->getOutputs() / packing->getGroups() % 64 == 0)
    return false;
  auto contract = dyn_cast<nest::ContractOp>(op);
  return !contract || mostRows(contract) != 1;
}

/// Whether many rows meet pairs of panels that the outputs fill: one has two vectors of up to 64 bytes.
static bool fillsPairs(nest::ContractOp contract) {
  std::optional<nest::PackingAttr> const packing = panelsOf(contract);
  if (!packing)
    return false;
  unsigned const bits = getElementTypeOrSelf(contract->getOperand(1).getType()).getIntOrFloatBitWidth();
  return packing->getOutputs() / packing->getGroups() % (2048 / bits) == 0 && mostRows(contract) >= 50;
}

/// Whether contract is more than a convolution of images of one pixel: that needs conv in its plainest form, and its
/// epilogue is never Unchanged.
static bool contractsRows(Program const &program, std::set<std::string> const &blocks, bool volumes, bool biases) {
  for (char const *block : {"few_rows", "large_product", "large_conv", "contract_gathered", "contract_in_turn",
                            "contract_parts", "conv_transposed", "interleaved", "shuffled"})
    if (blocks.count(block))
      return true;
  bool const convolves = blocks.count("winograd") || blocks.count("conv");
  return !convolves || volumes || program.sizesImages || isTuned(program) || (!biases && blocks.count("unchanged"));
}

/// What the blocks of this program need not be able to do is not printed.
static Json viewGenerality(Program const &program, std::set<std::string> const &blocks) {
  auto const isPacked = [](Storage const &weight) { return weight.packing == nest::PackingKind::Panels; };
  auto const isBfloat = [](Storage const &weight) {
    return weight.isPaired && isa<FloatType>(weight.type.getElementType());
  };
  auto const isShort = [](Storage const &weight) {
    return weight.isPaired && isa<IntegerType>(weight.type.getElementType());
  };
  auto const isInteger = [](Storage const &storage) { return !isa<FloatType>(storage.type.getElementType()); };
  auto const isDilated = [](ArrayRef<int64_t> dilations) {
    return llvm::any_of(dilations, [](int64_t d) { return d != 1; });
  };
  auto const isNarrow = [](Storage const &storage) { return isStoredNarrow(storage.type.getElementType()); };
  auto const isOfBytes = [](Storage const &storage) { return storage.type.getElementType().isInteger(8); };
  bool dilations = false, groups = false, integers = false, narrow = false, broad = false, blocked = false,
       varied = false, lines = false, volumes = false;
  func::FuncOp entry = program.entry;
  entry.walk([&](nest::ConvOp conv) {
    dilations |= isDilated(conv.getDilations());
    groups |= conv.getGroups() != 1;
    volumes |= conv.getPlanes().has_value();
  });
  entry.walk([&](nest::ContractOp contract) {
    blocked |= multipliesBlocks(contract);
    varied |= isBatched(contract) && !contract->hasAttr("nest.fixed_extents");
  });
  entry.walk([&](nest::WindowOp window) {
    dilations |= isDilated(window.getDilations());
    volumes |= window.getPlanes().has_value();
    broad |= nest::scheduleOf(window).getDevice() == nest::DevicePath::BroadWindows;
    lines |= cast<MemRefType>(window.getOutputs()[0].getType()).getShape().back() == 1;
  });
  for (auto const *storages : {&program.arguments, &program.buffers, &program.weights})
    integers |= llvm::any_of(*storages, isInteger), narrow |= llvm::any_of(*storages, isNarrow);
  entry.walk([&](nest::FoldOp fold) { integers |= !isa<FloatType>(fold.getResult().getType()); });
  entry.walk([&](nest::ReduceOp reduce) { integers |= !isa<FloatType>(reduce.getInitial().getType()); });
  bool converted = blocks.count("interleaved") != 0;
  entry.walk([&](Operation *op) { converted |= convertsSums(op); });
  bool const bytes =
      llvm::any_of(program.arguments, isOfBytes) || llvm::any_of(program.buffers, isOfBytes) || hidesFromVectors(entry);
  bool together = false; // columns with a register each
  entry.walk([&](nest::LoopKernelOp kernel) {
    nest::ScheduleAttr const schedule = nest::scheduleOf(kernel);
    bool const isOfStrips =
        llvm::is_contained({nest::KernelBlock::ForStrips, nest::KernelBlock::ScanColumns}, schedule.getBlock());
    together |= isOfStrips && schedule.getLanes() <= nest::columnsInRegisters;
    kernel.walk([&](scf::ForOp loop) {
      auto const columns = loop->getAttrOfType<IntegerAttr>(nest::stripColumns);
      together |= columns && columns.getInt() <= nest::columnsInRegisters;
    });
  });
  bool const biases = llvm::any_of(program.weights, [](Storage const &weight) { return weight.biasOf != nullptr; });
  bool const winograd = blocks.count("winograd");
  bool rests = false, abreast = false;
  entry.walk([&](Operation *op) { rests |= leavesRests(op); });
  entry.walk([&](nest::ContractOp contract) { abreast |= fillsPairs(contract); });
  bool const bfloat = llvm::any_of(program.weights, isBfloat), shorts = llvm::any_of(program.weights, isShort);
  return {{"biases", biases},
          {"rowwise", contractsRows(program, blocks, volumes, biases)},
          {"rests", rests || shorts},
          {"abreast", abreast || isTuned(program)},
          {"resumed", blocks.count("batched_contract") != 0},
          {"windows", winograd || blocks.count("conv") || blocks.count("conv_channels_first")},
          {"edges", program.options.target != Target::Host && blocks.count("conv_channels_first")},
          {"direct", winograd || (!biases && blocks.count("unchanged"))},
          {"unbiased", llvm::any_of(program.weights, [&](Storage const &w) { return isPacked(w) && !w.bias; })},
          {"matrices", blocks.count("few_rows") != 0},
          {"small", blocks.count("small_products") != 0},
          {"large", blocks.count("large_product") != 0},
          {"blocked", blocked},
          {"fixed", blocks.count("fixed_products") != 0},
          {"varied", varied},
          {"bytes", bytes},
          {"truths", joinsTruths(entry)},
          {"places", findsPlaces(entry)},
          {"tall", blocks.count("large_conv") != 0},
          {"gathered", blocks.count("contract_gathered") != 0},
          {"phases", blocks.count("conv_transposed") || blocks.count("contract_parts")},
          {"parts", blocks.count("contract_parts") != 0},
          {"interleaved", blocks.count("interleaved") != 0},
          {"converted", converted},
          {"shuffled", blocks.count("shuffled") != 0},
          {"dilations", dilations},
          {"broad", broad},
          {"lines", lines},
          {"volumes", volumes},
          {"ordered", program.options.ordered},
          {"atomics",
           blocks.count("change_atomically") || (program.options.target != Target::Host && !program.options.ordered)},
          {"gaps", dilations || groups || program.usesSlices},
          {"integers", integers},
          {"narrow", narrow},
          {"apart", narrow || shorts},
          {"pairs", bfloat || shorts},
          {"bfloat", bfloat},
          {"shorts", shorts},
          {"tuned", isTuned(program)},
          {"launched", program.launches == nest::Launches::Always && !isTuned(program)},
          {"never", program.launches == nest::Launches::Never},
          {"single", program.launches == nest::Launches::Several},
          {"together", together},
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

/// The JSON of load_weights(): its calls and what they check.
static Json viewLoaders(std::optional<LoaderView> const &loader, std::vector<SidecarTensor> const &tensors) {
  if (!loader)
    return Json::array();
  std::string const header = sidecarHeader(tensors);
  char hash[24];
  snprintf(hash, sizeof(hash), "0x%016llxu", static_cast<unsigned long long>(fnv1a(header)));
  std::string const parameters = "ExecutionSpace const &space";
  return Json::array({{{"header_size", std::to_string(header.size())},
                       {"header_hash", hash},
                       {"data_size", std::to_string(sidecarSize(tensors) - 8 - header.size())},
                       {"parameters", parameters + (loader->embedded ? "" : ", std::string const &path")},
                       {"embedded", loader->embedded},
                       {"from_file", !loader->embedded},
                       {"arrays", cpp::Serializer::all(loader->arrays)},
                       {"tensors", cpp::Serializer::all(loader->loads)}}});
}

/// The parts of the file; shared code is taken out of its layers.
static FailureOr<Parts> partsOf(Program &program, std::vector<SidecarTensor> const &tensors) {
  FailureOr<ForwardView> forward = viewForward(program);
  if (failed(forward))
    return failure();
  Parts parts{std::move(*forward), viewMembers(program), {}, {}, {}};
  for (cpp::Function const &layer : parts.forward.layers)
    parts.blocksOfLayers.merge(cpp::blocksOf(layer));
  if (!tensors.empty())
    parts.loader = viewLoader(program, tensors, embedsWeights(program));
  parts.epilogues = shareEpilogues(program, parts.forward.layers);
  shareBodies(program, parts.forward.layers);
  return parts;
}

static void addMembers(Json &view, MembersView const &members) {
  using cpp::Serializer;
  view["aliases"] = Serializer::all(members.aliases);
  view["arguments"] = members.arguments;
  view["weights"] = Json::array();
  if (!members.weights.empty())
    view["weights"].push_back({{"members", Serializer::all(members.weights)}});
  view["workspaces"] = Json::array();
  if (members.workspace)
    view["workspaces"].push_back(Serializer::json(*members.workspace));
}

/// What the blocks are printed for, and what they must be able to do.
static Json viewFlags(Program const &program, std::set<std::string> const &blocks) {
  Target const target = program.options.target;
  Json flags = {
      {"host", target != Target::Device}, {"device", target != Target::Host}, {"portable", target == Target::Portable}};
  flags.update(viewGenerality(program, blocks));
  return flags;
}

static FailureOr<Json> buildView(Program &program, ModelView &model) {
  EmitOptions const &options = program.options;
  std::vector<SidecarTensor> const &tensors = model.sidecar;
  program.launches = program.settled<nest::LaunchesAttr>("nest.launches").getValue();
  FailureOr<Parts> const parts = partsOf(program, tensors);
  if (failed(parts))
    return failure();
  std::set<std::string> const blocks = blocksOf(program, *parts);
  Json view = {{"model_file", commentText(options.modelFile)},
               {"header_file", options.stem + ".hpp"},
               {"guard", includeGuard(options.stem)},
               {"namespace", program.model},
               {"forward_parameters", forwardParameters(program)},
               {"forward_definition", forwardDefinition(program, parts->forward.statements)}};
  model.blocks = blocks;
  model.flags = viewFlags(program, blocks);
  view.update(model.flags);
  view.update(viewExtents(program.sizesImages));
  model.embedded = embedsWeights(program);
  view["banner"] = viewBanner(program, tensors, model.embedded);
  view["shared"] = Json::array();
  view["license"] = Json::array();
  if (!options.license.empty())
    view["license"].push_back({{"text", options.license}});
  view["epilogues"] = cpp::Serializer::all(parts->epilogues);
  view["has_epilogues"] = !parts->epilogues.empty();
  view["callees"] = viewCallees(program.entry);
  view["tunings"] = viewTunings(program);
  view["layers"] = cpp::Serializer::all(parts->forward.layers);
  view["forward"] = cpp::Serializer::json(parts->forward.statements);
  view["size_checks"] = viewSizeChecks(parts->forward.sizeChecks);
  addMembers(view, parts->members);
  view["loaders"] = viewLoaders(parts->loader, tensors);
  view["has_members"] = !view["workspaces"].empty() || !view["loaders"].empty();
  model.headers = headersOf(parts->forward);
  if (!view["callees"].empty())
    model.headers.insert("cstdint");
  if (!workspaceSizes(program).empty())
    model.headers.insert("stdexcept"); // of negative sizes
  view["throws"] = headersOf(parts->forward).count("stdexcept") != 0;
  view["waits"] = cpp::blocksOf(parts->forward.statements).count("read_back") != 0;
  view["assembled"] = viewAssembled(program);
  view["packed"] = viewPacked(program);
  view["example"] = viewExample(program, parts->members.workspace.has_value(), model.embedded);
  view.update(viewBlocks(neededBlocks(model.blocks, model.embedded, view), model.headers, view));
  view["graph"] = options.graph;
  view["graph_includes"] = Json::array();
  for (char const *file : {"functional", "stdexcept"})
    if (Json const include = Json::object({{"file", file}});
        options.graph && llvm::find(view["part_includes"], include) == view["part_includes"].end())
      view["graph_includes"].push_back(include);
  if (usesFixedWidths(program))
    view["part_includes"].insert(view["part_includes"].begin(), Json::object({{"file", "cstdint"}}));
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
  files.header = ml2k::render(layout + "/header", view);
  files.source = ml2k::render(layout + "/source", view);
  for (ExtraView const &extra : extras)
    files.extras.push_back({extra.suffix, ml2k::render(extra.name, view), extra.isCpp});
  if (!embedded)
    files.sidecar = sidecar;
  return files;
}

FailureOr<EmittedFiles> emit(ModuleOp module, EmitOptions const &options) {
  FailureOr<ModelView> const model = viewModel(module, options);
  if (failed(model))
    return failure();
  return model->render();
}

} // namespace ml2k
