//===- LoopMessages.cpp - what loop programs say while they run: printed numbers, failed assertions ---------------===//

#include "translator/emit/kernels/KernelParts.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ml2k {

/// Formats of a number, or of none, with what stands behind it.
struct Formats {
  vector::PrintPunctuation behind;
  Raw real, whole, none;
};
static constexpr Formats formats[] = {
    {vector::PrintPunctuation::NoPunctuation, "\"%g\"", "\"%lld\"", "\"\""},
    {vector::PrintPunctuation::NewLine, "\"%g\\n\"", "\"%lld\\n\"", "\"\\n\""},
    {vector::PrintPunctuation::Comma, "\"%g, \"", "\"%lld, \"", "\", \""},
    {vector::PrintPunctuation::Open, "\"%g( \"", "\"%lld( \"", "\"( \""},
    {vector::PrintPunctuation::Close, "\"%g )\"", "\"%lld )\"", "\" )\""},
};

/// vector.print of a scalar or of text, each with its punctuation.
static LogicalResult printText(vector::PrintOp print, ScalarPrinter &printer, Body &to) {
  Formats const &format = *llvm::find_if(formats, [&](Formats const &f) { return f.behind == print.getPunctuation(); });
  Raw const printf = "Kokkos::printf";
  Expression text = call(printf, {cpp::constant(format.none)});
  if (std::optional<StringRef> literal = print.getStringLiteral()) {
    bool const endsLine = literal->consume_back("\n");
    text = call(printf, {cpp::constant(endsLine ? Raw("\"%s\\n\"") : Raw("\"%s\"")), cpp::stringLiteral(*literal)});
  }
  if (Value const source = print.getSource()) {
    FailureOr<Expression> value = printer.use(source);
    if (failed(value))
      return failure();
    bool const isReal = isa<FloatType>(source.getType());
    Raw const type = isReal ? Raw("double") : Raw("static_cast<long long>");
    text = call(printf, {cpp::constant(isReal ? format.real : format.whole), cpp::cast(type, *value)});
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
