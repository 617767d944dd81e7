//===- LoopResults.cpp - what the iterations of a nest.kernel join, and what they share ---------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k {

/// `Joining<Max, double>{change, 0.0}`, of several reductions `JoiningTerms<double, Sum, Max>{total, largest}`
Expression LoopPrinter::reducer() {
  Code combiners;
  std::vector<Expression> values;
  for (auto [combiner, into] : llvm::zip(kernel.getCombiners().getAsRange<nest::CombinerAttr>(), kernel.getInto())) {
    Raw const name = combinerName(combiner.getValue());
    combiners = values.empty() ? Code(name) : combiners + Raw(", ") + name;
    values.push_back(layer.member(*layer.program.storageOf(into)));
    writes.insert(into);
    layer.needBlock(name);
  }
  Code const scalar = layer.program.storageOf(kernel.getInto()[0])->scalarType().code;
  if (values.size() > 1) {
    layer.needBlock(Raw("joining_terms"));
    return cpp::braces(Code(Raw("JoiningTerms<")) + scalar + Raw(", ") + combiners + Raw(">"), values);
  }
  if (TypedAttr const start = kernel.getStartAttr())
    values.push_back(literal(start));
  return cpp::braces(Code(Raw("Joining<")) + combiners + Raw(", ") + scalar + Raw(">"), values);
}

/// `KOKKOS_LAMBDA() { return rz / pq(); }`, a parameter of the kernel's lambda.
LogicalResult LoopPrinter::printShared() {
  Block &block = kernel.getBody().front();
  auto const marked = llvm::find_if(block, [](Operation &op) { return op.hasAttr("nest.shared"); });
  if (marked == block.end())
    return unprintable(kernel, "nothing that its iterations share");
  llvm::SetVector<Operation *> needed;
  needed.insert(&*marked);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && op->getBlock() == &block)
        needed.insert(op);
  SmallVector<Operation *> operations;
  for (Operation &op : block)
    if (needed.contains(&op) && &op != &*marked)
      operations.push_back(&op);
  Body body;
  ScalarPrinter const outside = printer;
  if (failed(printer.print(operations, body)))
    return failure();
  Value const result = marked->getResult(0);
  ScalarEntry const *entry = lookUpScalar(marked->getName().getStringRef());
  FailureOr<SmallVector<Expression>> const operands = printer.use(marked->getOperands());
  if (failed(operands) || !entry)
    return failure();
  FailureOr<Expression> const value = entry->print(&*marked, *operands, printer);
  if (failed(value))
    return failure();
  body.push_back(cpp::Return{*value});
  layer.addLambda({{}, std::move(body)});
  ScalarPrinter inside = printer;
  printer = outside; // iterations load again what they need themselves
  for (Operation *op : operations)
    if (llvm::all_of(op->getUsers(), [&](Operation *user) { return needed.contains(user); }))
      printer.bind(op->getResult(0), *inside.use(op->getResult(0)));
  Identifier const name = printer.names.fresh(withSourceName(result, {"shared", "factor"}));
  shared = {computedType(result.getType()).code, name, Raw(" ")};
  printer.bind(result, cpp::name(name));
  return success();
}

/// `return terms_of<double>(x * z, x * x);`
LogicalResult LoopPrinter::returnTerms(Block &block, Body &statements) {
  if (kernel.getInto().size() == 1)
    return returnValue(printer, block, statements);
  if (failed(printer.print(block, statements)))
    return failure();
  FailureOr<SmallVector<Expression>> const terms = printer.use(block.back().getOperands());
  if (failed(terms))
    return failure();
  Code const type = computedType(block.back().getOperand(0).getType()).code;
  statements.push_back(cpp::Return{
      call(Code(Raw("terms_of<")) + type + Raw(">"), std::vector<Expression>(terms->begin(), terms->end()))});
  return success();
}

} // namespace ml2k
