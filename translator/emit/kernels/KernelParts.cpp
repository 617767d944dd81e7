//===- KernelParts.cpp - what the printers of several kernels need ------------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "translator/ir/LoopNames.h"
#include "translator/ir/NestScalars.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ml2k {

//===--- Loops along a row ----------------------------------------------------------------------------------------===//

/// Whether a statement only declares a constant that none of the `varying` names changes.
static bool isSame(cpp::Statement const &statement, cpp::Names const &varying) {
  return statement.as<cpp::Let>() &&
         llvm::none_of(usesOf(statement), [&](auto const &name) { return varying.contains(name); });
}

/// The statements that are the same for all `index`, and the others.
static std::pair<Body, Body> splitBy(Body const &statements, Identifier const &index) {
  std::pair<Body, Body> parts;
  cpp::Names varying = {index};
  for (cpp::Statement const &statement : statements) {
    bool const same = isSame(statement, varying);
    (same ? parts.first : parts.second).push_back(statement);
    if (Identifier const *name = declared(statement); name && !same)
      varying.insert(*name);
  }
  return parts;
}

Body alongSpan(Body const &statements, Identifier const &index, Identifier const &span) {
  auto [same, varying] = splitBy(statements, index);
  same.push_back(cpp::Simd{index, span, std::move(varying)});
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
  Expression all = literal(1);
  for (Expression const &factor : factors)
    if (!factor.is(1))
      all = all.is(1) ? factor : binary(all, "*", Rank::Multiply, factor);
  return all;
}

cpp::Parameter rowParameter(Code const &type) { return {type, Identifier(Raw("along")), " const &"}; }

cpp::Statement letInt(Identifier const &name, Expression const &value) { return cpp::Let{intType(), name, value}; }

FusedLoops::FusedLoops(Layer &layer, Layer::Loops const &all, ArrayRef<unsigned> loops, ArrayRef<Identifier> names,
                       StringRef fused, IndexSpace &space)
    : index(loops.size() == 1 ? names.front() : layer.scope.fresh({fused.str(), (fused + "_index").str()})) {
  SmallVector<Expression> sizes;
  for (auto [loop, name] : llvm::zip(loops, names)) {
    space.dims[loop] = cpp::name(name);
    sizes.push_back(all.sizes[loop]);
  }
  total = product(sizes);
  if (loops.size() < 2)
    return;
  Expression inner = literal(1);
  for (size_t i = loops.size(); i-- > 0;) {
    Expression value = cpp::name(index);
    if (!inner.is(1))
      value = binary(value, "/", Rank::Multiply, inner);
    if (i > 0)
      value = binary(value, "%", Rank::Multiply, sizes[i]);
    declarations.push_back(letInt(names[i], value));
    inner = product({inner, sizes[i]});
  }
}

void FusedLoops::recover(Body &statements) const {
  for (cpp::Statement const &declaration : declarations)
    if (usesOf(statements).contains(*declared(declaration)))
      statements.insert(statements.begin(), declaration);
}

/// The loops that are `inner`, or the others.
template <class T> static SmallVector<T> ofInner(ArrayRef<unsigned> loops, ArrayRef<T> what, int64_t inner, bool is) {
  SmallVector<T> found;
  for (auto [loop, each] : llvm::zip(loops, what))
    if ((inner < 0 || loop == inner) == is)
      found.push_back(each);
  return found;
}

ElementLoops::ElementLoops(Layer &layer, Layer::Loops const &all, ArrayRef<unsigned> loops, ArrayRef<Identifier> names,
                           int64_t inner, IndexSpace &space)
    : inner(layer, all, ofInner(loops, loops, inner, true), ofInner(loops, names, inner, true), "element", space),
      rows(layer, all, ofInner(loops, loops, inner, false), ofInner(loops, names, inner, false), "row", space) {}

void ElementLoops::call(Layer &layer, Body statements) const {
  inner.recover(statements);
  rows.recover(statements);
  layer.setCall({rows.size(), inner.size()});
  layer.addLambda({cpp::intParameters({rows.name(), inner.name()}), std::move(statements)});
}

std::vector<Identifier> loopNames(Layer &layer, unsigned count) {
  static std::vector<std::vector<StringRef>> const letters = {
      {}, {"i"}, {"n", "i"}, {"n", "i", "j"}, {"n", "i", "j", "k"}, {"n", "i", "j", "k", "l"}};
  if (count < letters.size())
    return layer.indexNames(letters[count]);
  std::vector<Identifier> names;
  for (unsigned i = 0; i < count; ++i)
    names.push_back(layer.scope.fresh({"i" + std::to_string(i)}));
  return names;
}

std::string sourceNameOf(Operation *kernel, unsigned loop, unsigned count) {
  auto const names = kernel->getAttrOfType<ArrayAttr>(nest::loopNames);
  if (!names || names.size() != count || llvm::count(names, names[loop]) != 1)
    return "";
  StringRef const name = cast<StringAttr>(names[loop]).getValue();
  std::string const noun = name.empty() ? "" : snakeCase(name);
  return StringRef(noun).ends_with("_") ? "" : noun; // a word of C++
}

LogicalResult bindElements(Layer &layer, ScalarPrinter &printer, Block::BlockArgListType arguments, ValueRange values,
                           ArrayRef<AffineMap> maps, IndexSpace const &space, Body &statements) {
  for (auto [argument, value, map] : llvm::zip(arguments, values, maps)) {
    if (printer.isBound(argument) || llvm::all_of(argument.getUsers(), [&](Operation *user) {
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
                            ArrayRef<AffineMap> maps, IndexSpace const &space, Body &statements) {
  FailureOr<SmallVector<Expression>> values = printer.use(block.back().getOperands());
  if (failed(values))
    return failure();
  for (auto [value, output, map] : llvm::zip(*values, outputs, maps)) {
    FailureOr<Expression> target = layer.element(output, map, space);
    if (failed(target))
      return failure();
    Type const type = cast<MemRefType>(output.getType()).getElementType();
    statements.push_back(cpp::Assign{*target, stored(value, type)});
  }
  return success();
}

LogicalResult returnValue(ScalarPrinter &printer, Block &block, Body &statements) {
  if (failed(printer.print(block, statements)))
    return failure();
  FailureOr<SmallVector<Expression>> values = printer.use(block.back().getOperands());
  if (failed(values))
    return failure();
  if (values->size() == 1) {
    Value const value = block.back().getOperand(0);
    bool const isChoice = value.getDefiningOp<scf::IfOp>() && withSourceName(value, {}).empty();
    cpp::Let const *const last = statements.empty() ? nullptr : statements.back().as<cpp::Let>();
    Expression result = values->front();
    if (isChoice && last && result == cpp::name(last->name)) { // a name that nothing else uses
      result = last->value;
      statements.pop_back();
    }
    statements.push_back(cpp::Return{result});
    return success();
  }
  Code const type = computedType(block.back().getOperand(0).getType()).code;
  Code const array = Raw("Kokkos::Array<") + type + Raw(", ") + Code(int64_t(values->size())) + Raw(">");
  statements.push_back(cpp::Return{cpp::braces(array, *values)});
  return success();
}

SmallVector<AffineMap> mapsOf(ArrayAttr maps) {
  return llvm::map_to_vector(maps, [](Attribute map) { return cast<AffineMapAttr>(map).getValue(); });
}

/// What the body reads at data-dependent indices, in its order.
static SetVector<Value> gathered(Operation *kernel) {
  SetVector<Value> memrefs;
  kernel->walk([&](memref::LoadOp load) { memrefs.insert(load.getMemref()); });
  return memrefs;
}

std::string describe(Layer &layer, ValueRange inputs, ValueRange extras, ValueRange outputs, StringRef between) {
  std::vector<std::string> parts, results;
  std::string text;
  llvm::StringSet<> known; // an element of each of many parts of one tensor is read
  for (Value input : inputs)
    if (std::string const part = layer.described(input); known.insert(part).second || between != ", ")
      text += (text.empty() ? "" : between.str()) + part;
  for (Value extra : extras)
    text += (text.empty() ? "" : " + ") + layer.described(extra);
  for (Value memref : gathered(layer.kernel))
    if (!llvm::is_contained(inputs, memref) && !llvm::is_contained(extras, memref))
      text += (text.empty() ? "" : ", ") + layer.described(memref);
  for (Value output : outputs)
    results.push_back(layer.described(output));
  return (text.empty() ? "" : text + " ") + "-> " + llvm::join(results, ", ");
}

} // namespace ml2k
