//===- Calls.cpp - how forward() is called: with views of any layout, and an example in the header ----------------===//

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/model/Views.h"
#include "translator/text/Text.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ml2k {

namespace {
/// The arguments of forward(), and what declares their memory.
class Arguments {
public:
  explicit Arguments(Program const &program) : program(program), entry(program.entry) {
    for (RuntimeSize const &size : program.sizes) {
      sizes[{size.argument, size.dim}] = size.name;
      if (seen.insert(size.name).second)
        names.push_back(size.name);
    }
    for (BlockArgument argument : entry.getArguments())
      taken.insert(nameOf(argument));
  }

  Storage const *storageOf(BlockArgument argument) const { return program.storageOf(argument); }

  std::string nameOf(BlockArgument argument) const {
    Storage const *storage = storageOf(argument);
    return storage ? storage->name : program.hostName(argument);
  }

  /// Outputs that the model reads before it writes them are.
  bool isRead(Storage const &argument) const {
    unsigned const number = cast<BlockArgument>(argument.value).getArgNumber();
    func::FuncOp function = entry;
    return !argument.isOutput || function.getArgAttr(number, "nest.updated");
  }

  /// Each once, in the order of the arguments.
  ArrayRef<std::string> sizeNames() const { return names; }

  /// The extents that a constructor of the view takes: those in front of the last one that is known at run time only.
  std::string extentsOf(Storage const &argument) const {
    std::string text, pending;
    for (auto [d, extent] : llvm::enumerate(argument.type.getShape())) {
      if (auto const found = sizes.find({argument.value, d}); found != sizes.end()) {
        text += pending + ", " + found->second;
        pending.clear();
      }
      if (!ShapedType::isDynamic(extent))
        pending += ", " + std::to_string(extent);
      if (extent == 0) { // no array has extent 0
        text += pending;
        pending.clear();
      }
    }
    return text;
  }

  /// A name that no argument has.
  std::string freeName(std::string name) const {
    while (taken.contains(name))
      name += "_";
    return name;
  }

  Program const &program;
  mutable func::FuncOp entry;

private:
  DenseMap<std::pair<Value, unsigned>, std::string> sizes;
  std::vector<std::string> names;
  llvm::StringSet<> seen, taken;
};
} // namespace

/// What a caller allocates.
static std::string ownedType(Storage const &argument) {
  return argument.isOutput ? argument.alias : argument.alias + "::non_const_type";
}

/// The parameters in front of the model's arguments.
static ArrayRef<cpp::Parameter> ownParameters(ArrayRef<cpp::Parameter> all, func::FuncOp entry) {
  return all.drop_back(entry.getNumArguments());
}

//===--- Any layout -----------------------------------------------------------------------------------------------===//

/// The memory: parameters of its constructor, initializers, members.
static Json viewMemory(Arguments const &arguments) {
  std::string parameters = "ExecutionSpace const &space";
  for (std::string const &name : arguments.sizeNames())
    parameters += ", int " + name;
  std::vector<std::string> initializers;
  Json members = Json::array();
  for (Storage const &argument : arguments.program.arguments) {
    std::string const label = quotedText(arguments.program.model + "::packed." + argument.modelName, longestName);
    initializers.push_back(argument.name + "(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, " + label + ")" +
                           arguments.extentsOf(argument) + ")");
    members.push_back({{"type", ownedType(argument)}, {"name", argument.name}});
  }
  return {{"parameters", parameters}, {"initializers", llvm::join(initializers, ", ")}, {"members", members}};
}

/// A name for the type of a caller's view.
static std::string likeType(Storage const &argument, llvm::StringSet<> const &aliases) {
  std::string name = argument.alias + "Like";
  while (aliases.contains(name))
    name += "_";
  return name;
}

Json viewPacked(Program const &program) {
  Arguments const arguments(program);
  if (program.arguments.empty())
    return Json::array();
  llvm::StringSet<> aliases;
  for (Storage const &argument : program.arguments)
    aliases.insert(argument.alias);
  std::string const packed = arguments.freeName("packed");
  std::vector<std::string> types, parameters, operands, copies;
  std::vector<cpp::Parameter> const all = parametersOf(program);
  for (cpp::Parameter const &parameter : ownParameters(all, arguments.entry)) {
    parameters.push_back(cpp::Serializer::text(parameter));
    operands.push_back(parameter.name->str());
  }
  parameters.push_back("Packed const &" + packed);
  for (BlockArgument value : arguments.entry.getArguments()) {
    std::string const name = arguments.nameOf(value);
    Storage const *argument = arguments.storageOf(value);
    if (!argument) {
      parameters.push_back(cpp::Serializer::text(all[parameters.size() - 1]));
      operands.push_back(name);
      continue;
    }
    std::string const room = "<" + argument->alias + ">(";
    std::string const rows = "detail::row_major" + room + name + ", " + packed + "." + name + ")";
    types.push_back("class " + likeType(*argument, aliases));
    parameters.push_back(likeType(*argument, aliases) + " const &" + name);
    operands.push_back(arguments.isRead(*argument)
                           ? "detail::pack" + room + "space, " + name + ", " + packed + "." + name + ")"
                           : rows);
    if (argument->isOutput)
      copies.push_back("detail::unpack(space, " + rows + ", " + name + ")");
  }
  Json view = viewMemory(arguments);
  view["name"] = packed;
  view["type_parameters"] = llvm::join(types, ", ");
  view["forward_parameters"] = llvm::join(parameters, ", ");
  view["statements"] = Json::array({{{"statement", "forward(" + llvm::join(operands, ", ") + ")"}}});
  for (std::string const &copy : copies)
    view["statements"].push_back({{"statement", copy}});
  return Json::array({view});
}

Json viewAssembled(Program const &program) {
  std::vector<std::string> positions;
  func::FuncOp(program.entry).walk([&](nest::AssembleOp assemble) {
    positions.push_back(program.storageOf(assemble.getOutputs()[0])->name);
  });
  return positions.empty() ? Json::array() : Json::array({{{"positions", llvm::join(positions, ", ")}}});
}

//===--- The example ----------------------------------------------------------------------------------------------===//

/// One call in lines that no style breaks.
static std::vector<std::string> callLines(std::string const &name, std::vector<std::string> const &operands) {
  constexpr size_t widest = 70;
  std::vector<std::string> lines = {name + "("};
  for (auto [at, operand] : llvm::enumerate(operands)) {
    std::string const piece = operand + (at + 1 == operands.size() ? ");" : ",");
    bool const isFirst = at == 0;
    if (!isFirst && lines.back().size() + piece.size() > widest)
      lines.push_back("    " + piece);
    else
      lines.back() += (isFirst ? "" : " ") + piece;
  }
  return lines;
}

/// What the call takes in front of the model's arguments, which `lines` declares.
static std::vector<std::string> declareOwn(Arguments const &arguments, bool hasWorkspace, bool embedded,
                                           std::vector<std::string> &lines) {
  Program const &program = arguments.program;
  std::vector<std::string> operands = {"space"};
  if (!program.weights.empty()) {
    std::string const path = embedded ? "" : ", " + quotedText(program.options.stem + ".safetensors");
    lines.push_back("auto const weights = load_weights(space" + path + ");");
    operands.push_back("weights");
  }
  if (hasWorkspace) {
    std::vector<std::string> sizes = workspaceSizes(program);
    sizes.insert(sizes.begin(), "space");
    lines.push_back("Workspace const work(" + llvm::join(sizes, ", ") + ");");
    operands.push_back("work");
  }
  return operands;
}

/// Nothing where a comment would have to spell a name otherwise than code does.
Json viewExample(Program const &program, bool hasWorkspace, bool embedded) {
  Arguments const arguments(program);
  std::vector<cpp::Parameter> const all = parametersOf(program);
  ArrayRef<cpp::Parameter> const own = ArrayRef(all).take_back(arguments.entry.getNumArguments());
  std::vector<std::string> lines = {"using namespace " + program.model + ";", "ExecutionSpace const space;"};
  for (std::string const &name : arguments.sizeNames())
    lines.push_back("int const " + name + " = 64;");
  std::vector<std::string> given;
  for (auto [value, parameter] : llvm::zip(arguments.entry.getArguments(), own)) {
    std::string const name = arguments.nameOf(value);
    Storage const *argument = arguments.storageOf(value);
    lines.push_back(argument ? ownedType(*argument) + " const " + name + "(\"" + name + "\"" +
                                   arguments.extentsOf(*argument) + ");"
                             : cpp::Serializer::text(parameter) + " = 1;");
    given.push_back(name);
  }
  std::vector<std::string> operands = declareOwn(arguments, hasWorkspace, embedded, lines);
  llvm::append_range(operands, given);
  llvm::append_range(lines, callLines("forward", operands));
  if (program.options.graph) {
    llvm::append_range(lines, callLines("Captured const captured", operands));
    lines.push_back("captured.replay(); // forward() again, as one launch");
  }
  lines.push_back("space.fence();");
  Json view = Json::array();
  for (std::string const &line : lines)
    view.push_back({{"text", line}});
  bool const isText = llvm::all_of(lines, [](std::string const &line) { return commentText(line) == line; });
  return isText ? Json::array({{{"lines", std::move(view)}}}) : Json::array();
}

} // namespace ml2k
