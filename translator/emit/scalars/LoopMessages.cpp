//===- LoopMessages.cpp - what loop programs say while they run: printed numbers, failed assertions ---------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ml2k {

/// vector.print of a scalar writes it and a newline.
static LogicalResult printText(vector::PrintOp print, ScalarPrinter &printer, Body &to) {
  Raw const newline = "\"\\n\"", real = "\"%g\\n\"", whole = "\"%lld\\n\"";
  Expression text = call(Raw("Kokkos::printf"), {cpp::constant(newline)});
  if (Value const source = print.getSource()) {
    FailureOr<Expression> value = printer.use(source);
    if (failed(value))
      return failure();
    bool const isReal = isa<FloatType>(source.getType());
    Raw const type = isReal ? Raw("double") : Raw("static_cast<long long>");
    text = call(Raw("Kokkos::printf"), {cpp::constant(isReal ? real : whole), cpp::cast(type, *value)});
  }
  printer.settleReads(to);
  to.push_back(cpp::Run{text});
  return success();
}

static LogicalResult printCheck(cf::AssertOp check, ScalarPrinter &printer, Body &to) {
  FailureOr<Expression> condition = printer.use(check.getArg());
  if (failed(condition))
    return failure();
  printer.settleReads(to);
  Body stops;
  stops.push_back(cpp::Run{call(Raw("Kokkos::abort"), {cpp::stringLiteral(check.getMsg())})});
  to.push_back(cpp::If{unary("!", *condition), std::move(stops), {}});
  return success();
}

void handleMessages(ScalarPrinter &printer) {
  printer.handle("vector.print",
                 [](Operation *op, ScalarPrinter &p, Body &to) { return printText(cast<vector::PrintOp>(op), p, to); });
  printer.handle("cf.assert",
                 [](Operation *op, ScalarPrinter &p, Body &to) { return printCheck(cast<cf::AssertOp>(op), p, to); });
}

} // namespace ml2k
