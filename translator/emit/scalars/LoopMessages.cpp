//===- LoopMessages.cpp - what loop programs say while they run: printed numbers, failed assertions ---------------===//

#include "translator/emit/kernels/KernelParts.h"
#include "translator/text/Text.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ml2k {

/// vector.print of a scalar writes it and a newline.
static LogicalResult printText(vector::PrintOp print, ScalarPrinter &printer, Json &to) {
  std::string call = "Kokkos::printf(\"\\n\")";
  if (Value const source = print.getSource()) {
    FailureOr<Expression> value = printer.use(source);
    if (failed(value))
      return failure();
    bool const real = isa<FloatType>(source.getType());
    call = real ? "Kokkos::printf(\"%g\\n\", double(" + value->text + "))"
                : "Kokkos::printf(\"%lld\\n\", static_cast<long long>(" + value->text + "))";
  }
  printer.settleReads(to);
  to.push_back({{"template", "statement/call"}, {"text", call}});
  return success();
}

static LogicalResult printCheck(cf::AssertOp check, ScalarPrinter &printer, Json &to) {
  FailureOr<Expression> condition = printer.use(check.getArg());
  if (failed(condition))
    return failure();
  printer.settleReads(to);
  std::string const message = quotedText(check.getMsg());
  to.push_back({{"template", "statement/if"},
                {"condition", unary("!", *condition).text},
                {"then", Json::array({{{"template", "statement/call"}, {"text", "Kokkos::abort(" + message + ")"}}})},
                {"else", Json::array()},
                {"has_else", false}});
  return success();
}

void handleMessages(ScalarPrinter &printer) {
  printer.handle("vector.print",
                 [](Operation *op, ScalarPrinter &p, Json &to) { return printText(cast<vector::PrintOp>(op), p, to); });
  printer.handle("cf.assert",
                 [](Operation *op, ScalarPrinter &p, Json &to) { return printCheck(cast<cf::AssertOp>(op), p, to); });
}

} // namespace ml2k
