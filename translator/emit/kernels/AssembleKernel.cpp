//===- AssembleKernel.cpp - nest.assemble: join_rows, multiply_rows, ... ------------------------------------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

using nest::Assembly;

namespace {
struct Assembling {
  nest::AssembleOp op;
  Layer &layer;

  Expression array(Value memref) { return layer.member(*layer.program.storageOf(memref)); }

  /// `StoredMatrix{A_positions, A_coordinates, A_values}`
  Expression matrix(ValueRange arrays) {
    return cpp::braces(Raw("StoredMatrix"), {array(arrays[0]), array(arrays[1]), array(arrays[2])});
  }

  std::vector<Expression> arguments() {
    ValueRange const inputs = op.getInputs(), outputs = op.getOutputs();
    std::vector<Expression> list;
    bool const areMatrices = op.getKind() != Assembly::Triplets && op.getKind() != Assembly::Nonzeros;
    for (unsigned first = 0; first < inputs.size(); first += areMatrices ? 3 : 1)
      list.push_back(areMatrices ? matrix(inputs.slice(first, 3)) : array(inputs[first]));
    list.push_back(matrix(outputs.take_front(3)));
    for (Value scratch : outputs.drop_front(3))
      list.push_back(array(scratch));
    return list;
  }

  LogicalResult addCombine();
};
} // namespace

/// `[=](double a, double b) { return a + b; }`
LogicalResult Assembling::addCombine() {
  Block &block = op.getCombine().front();
  ScalarPrinter printer = layer.scalars({});
  std::vector<cpp::Parameter> parameters;
  StringRef const nouns[] = {"a", "b"};
  for (auto [argument, noun] : llvm::zip(block.getArguments(), nouns)) {
    Identifier const name = printer.names.fresh({noun.str(), (noun + noun).str()});
    printer.bind(argument, cpp::name(name));
    parameters.push_back({computedType(argument.getType()).code, name});
  }
  Body body;
  if (failed(returnValue(printer, block, body)))
    return failure();
  layer.addLambda({std::move(parameters), std::move(body)});
  return success();
}

FailureOr<std::string> printAssembly(Operation *op, Layer &layer) {
  Assembling assembling{cast<nest::AssembleOp>(op), layer};
  Assembly const kind = assembling.op.getKind();
  bool const joins = kind == Assembly::Union || kind == Assembly::Intersection;
  if (joins)
    layer.setCall(kind == Assembly::Union ? Raw("Has::Either") : Raw("Has::Both"), assembling.arguments());
  else
    layer.setCall(assembling.arguments());
  bool const combines = joins || kind == Assembly::Product || kind == Assembly::Triplets;
  if (combines && failed(assembling.addCombine()))
    return failure();
  return describe(layer, assembling.op.getInputs(), {}, assembling.op.getOutputs().take_front(3), ", ");
}

} // namespace ml2k
