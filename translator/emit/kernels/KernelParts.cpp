//===- KernelParts.cpp - what the printers of several kernels need ------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "translator/ir/NestScalars.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {

/// Labels and messages hold names of the model, which say nothing about the code.
static std::string withoutLiterals(StringRef text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
    else
      out += text[i];
  }
  return out;
}

static bool mentionsText(StringRef text, StringRef name) {
  auto const isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    bool const begins = at == 0 || !isWord(text[at - 1]);
    bool const ends = at + name.size() == text.size() || !isWord(text[at + name.size()]);
    if (begins && ends)
      return true;
  }
  return false;
}

static bool mentionsCode(StringRef text, StringRef name) {
  return mentionsText(text, name) && (!text.contains('"') || mentionsText(withoutLiterals(text), name));
}

bool mentions(Json const &statements, StringRef name) {
  if (statements.is_string())
    return mentionsCode(statements.get_ref<std::string const &>(), name);
  if (statements.is_object()) {
    for (auto const &[key, value] : statements.items())
      if (key != "template" && key != "message" && mentions(value, name))
        return true;
    return false;
  }
  return statements.is_array() && llvm::any_of(statements, [&](Json const &part) { return mentions(part, name); });
}

std::string indexParameters(ArrayRef<std::string> names, Json const &statements) {
  auto const parameter = [&](std::string const &name) {
    return !name.empty() && mentions(statements, name) ? "int " + name : "int";
  };
  return llvm::join(llvm::map_range(names, parameter), ", ");
}

//===--- Loops along a row ----------------------------------------------------------------------------------------===//

static bool isSame(Json const &statement, ArrayRef<std::string> varying) {
  return statement.at("template") == "statement/let" &&
         llvm::none_of(varying, [&](std::string const &name) { return mentions(statement.at("value"), name); });
}

static std::pair<Json, Json> splitBy(Json const &statements, StringRef index) {
  std::pair parts(Json::array(), Json::array());
  std::vector<std::string> varying = {index.str()};
  for (Json const &statement : statements) {
    bool const same = isSame(statement, varying);
    (same ? parts.first : parts.second).push_back(statement);
    if (!same && statement.contains("name"))
      varying.push_back(statement["name"]);
  }
  return parts;
}

bool checksOutside(Json const &statements, StringRef index) {
  return llvm::any_of(splitBy(statements, index).first,
                      [](Json const &statement) { return mentions(statement.at("value"), "checked_index"); });
}

Json alongSpan(Json statements, std::string const &index, std::string const &span) {
  auto [same, varying] = splitBy(statements, index);
  bool const block = varying.size() > 1;
  same.push_back({{"template", "statement/simd"},
                  {"index", index},
                  {"span", span},
                  {"block", block},
                  {"statements", std::move(varying)}});
  return same;
}

/// Whether a value of a block is made from one that varies.
static bool dependsOn(Value value, Block *block, std::function<bool(Value)> const &varies) {
  if (varies(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == block &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOn(operand, block, varies); });
}

void namePositions(ScalarPrinter &printer, std::function<bool(Value)> varies) {
  printer.isNamed = [varies = std::move(varies)](Value value) {
    return value.getDefiningOp<nest::PositionOp>() && !dependsOn(value, value.getParentBlock(), varies);
  };
}

Expression product(ArrayRef<Expression> factors) {
  Expression all{"1"};
  for (Expression const &factor : factors)
    if (factor.text != "1")
      all = all.text == "1" ? factor : binary(all, "*", Rank::Multiply, factor);
  return all;
}

FusedLoops::FusedLoops(Layer &layer, Layer::Loops const &all, ArrayRef<unsigned> loops, ArrayRef<std::string> names,
                       StringRef fused, IndexSpace &space) {
  SmallVector<Expression> sizes;
  for (auto [loop, name] : llvm::zip(loops, names)) {
    space.dims[loop] = {name};
    sizes.push_back(all.sizes[loop]);
  }
  total = product(sizes);
  index = loops.size() == 1 ? names.front() : layer.scope.fresh({fused.str(), (fused + "_index").str()});
  if (loops.size() < 2)
    return;
  Expression inner{"1"};
  for (size_t i = loops.size(); i-- > 0;) {
    Expression value{index};
    if (inner.text != "1")
      value = binary(value, "/", Rank::Multiply, inner);
    if (i > 0)
      value = binary(value, "%", Rank::Multiply, sizes[i]);
    declarations.emplace_back(names[i], value.text);
    inner = product({inner, sizes[i]});
  }
}

void FusedLoops::recover(Json &statements) const {
  for (auto const &[name, value] : declarations)
    if (mentions(statements, name)) {
      Json const declaration = {{"template", "statement/let"}, {"type", "int"}, {"name", name}, {"value", value}};
      statements.insert(statements.begin(), declaration);
    }
}

std::vector<std::string> loopNames(Layer &layer, unsigned count) {
  static std::vector<std::vector<StringRef>> const letters = {
      {}, {"i"}, {"n", "i"}, {"n", "i", "j"}, {"n", "i", "j", "k"}, {"n", "i", "j", "k", "l"}};
  if (count < letters.size())
    return layer.indexNames(letters[count]);
  std::vector<std::string> names;
  for (unsigned i = 0; i < count; ++i)
    names.push_back(layer.scope.fresh({"i" + std::to_string(i)}));
  return names;
}

LogicalResult bindElements(Layer &layer, ScalarPrinter &printer, Block::BlockArgListType arguments, ValueRange values,
                           ArrayRef<AffineMap> maps, IndexSpace const &space, Json &statements) {
  for (auto [argument, value, map] : llvm::zip(arguments, values, maps)) {
    if (llvm::all_of(argument.getUsers(), [&](Operation *user) {
          return user->getNumResults() == 1 && printer.isBound(user->getResult(0));
        }))
      continue;
    FailureOr<Expression> read = layer.element(value, map, space);
    if (failed(read))
      return failure();
    printer.bindRead(argument, std::move(*read), statements);
  }
  return success();
}

LogicalResult storeElements(Layer &layer, ScalarPrinter &printer, Block &block, ValueRange outputs,
                            ArrayRef<AffineMap> maps, IndexSpace const &space, Json &statements) {
  FailureOr<SmallVector<Expression>> values = printer.use(block.back().getOperands());
  if (failed(values))
    return failure();
  for (auto [value, output, map] : llvm::zip(*values, outputs, maps)) {
    FailureOr<Expression> target = layer.element(output, map, space);
    if (failed(target))
      return failure();
    Type const type = cast<MemRefType>(output.getType()).getElementType();
    statements.push_back(
        {{"template", "statement/assign"}, {"target", target->text}, {"value", storedText(value, type)}});
  }
  return success();
}

LogicalResult returnValue(ScalarPrinter &printer, Block &block, Json &statements) {
  if (failed(printer.print(block, statements)))
    return failure();
  FailureOr<Expression> value = printer.use(block.back().getOperand(0));
  if (failed(value))
    return failure();
  statements.push_back({{"template", "statement/return"}, {"value", value->text}});
  return success();
}

SmallVector<AffineMap> mapsOf(ArrayAttr maps) {
  return llvm::map_to_vector(maps, [](Attribute map) { return cast<AffineMapAttr>(map).getValue(); });
}

bool liesAlong(Value buffer, AffineMap map, unsigned loop) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return map.getNumResults() > 0 && map.getResults().back() == getAffineDimExpr(loop, map.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr e) { return e.isFunctionOfDim(loop); }) &&
         succeeded(getStridesAndOffset(cast<MemRefType>(buffer.getType()), strides, offset)) && strides.back() == 1;
}

std::string describe(Layer &layer, ValueRange inputs, ValueRange extras, ValueRange outputs, StringRef between) {
  std::vector<std::string> parts, results;
  std::string text;
  for (Value input : inputs)
    text += (text.empty() ? "" : between.str()) + layer.described(input);
  for (Value extra : extras)
    text += (text.empty() ? "" : " + ") + layer.described(extra);
  for (Value output : outputs)
    results.push_back(layer.described(output));
  return (text.empty() ? "" : text + " ") + "-> " + llvm::join(results, ", ");
}

} // namespace ml2k
