//===- StripKernel.cpp - nest.kernel of strips, loops over strips: many columns go down their rows together -------===//
//
// Statements between loops of a strip are one loop over its columns; a value that one of them leaves for another is an
// element of Strip::Of.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"
#include "translator/ir/Strips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ml2k {

/// `Strip<4096>`
Code LoopPrinter::stripType() { return Code(Raw("Strip<")) + Code(mostColumns) + Raw(">"); }

/// `Strip<4096>::Of<float> sum(strip);`
void LoopPrinter::printOfColumns(memref::AllocaOp array, Body &to) {
  MemRefType const type = array.getType();
  Identifier const name = printer.names.fresh(withSourceName(array.getResult(), {"carried", "state", "current"}));
  columnArrays.insert(array);
  arrays[array] = cpp::name(name);
  Code code = stripType() + Raw("::Of<") + scalarType(type.getElementType()).code;
  for (int64_t extent : type.getShape())
    code += Raw(", ") + Code(extent);
  to.push_back(cpp::View{cpp::Type(code + Raw(">")), name, {cpp::name(strip)}});
  to.back().as<cpp::View>()->isConst = false;
}

/// `for_columns(strip, [&](int i) { ... });`
LogicalResult LoopPrinter::printOfStrip(SmallVectorImpl<Operation *> &segment, Body &to) {
  if (segment.empty())
    return success();
  size_t const outside = printer.names.count();
  Body body;
  if (failed(printer.print(segment, body)))
    return failure();
  printer.names.release(outside);
  segment.clear();
  if (!body.empty())
    to.push_back(
        cpp::Pattern{Raw("for_columns"), {cpp::name(strip)}, {cpp::intParameter(column)}, std::move(body), "strip"});
  return success();
}

LogicalResult LoopPrinter::printStripLoop(scf::ForOp loop, nest::StripValues const &values, Body &to) {
  FailureOr<cpp::For> head = loopHead(loop, printer);
  if (failed(head))
    return failure();
  size_t const outside = printer.names.count();
  bindIndex(loop, *head, printer);
  if (failed(printStrips(*loop.getBody(), values, head->body)))
    return failure();
  printer.names.release(outside);
  to.push_back(std::move(*head));
  return success();
}

/// The block of what has columns, or of a loop of the strip: what columns share stands outside of the loops over them.
LogicalResult LoopPrinter::printStrips(Block &block, nest::StripValues const &values, Body &to) {
  SmallVector<Operation *> segment;
  for (Operation &op : block.without_terminator()) {
    bool const isShared =
        op.getNumResults() > 0 && llvm::all_of(op.getResults(), [&](Value value) { return values.isShared(value); });
    if (op.hasAttr(nest::stripLoop)) {
      if (failed(printOfStrip(segment, to)) || failed(printStripLoop(cast<scf::ForOp>(op), values, to)))
        return failure();
    } else if (op.hasAttr(nest::ofColumns)) {
      printOfColumns(cast<memref::AllocaOp>(op), to);
    } else if (isShared) {
      if (failed(printer.print(ArrayRef<Operation *>{&op}, to)))
        return failure();
    } else {
      segment.push_back(&op);
    }
  }
  return printOfStrip(segment, to);
}

/// `for_strips<4096>(label, space, Span{0, n}, KOKKOS_LAMBDA(Strip<4096> const &strip) { ... })`
LogicalResult LoopPrinter::printStripCall(Body statements) {
  bool const isGrid = positions.size() > 1;
  FailureOr<Expression> const outer = isGrid ? rows() : Expression(), columns = span(positions.size() - 1);
  if (failed(outer) || failed(columns))
    return failure();
  std::vector<Expression> arguments = {*columns};
  std::vector<cpp::Parameter> parameters = {{stripType(), strip, Raw(" const &")}};
  if (isGrid) {
    arguments.insert(arguments.begin(), *outer);
    parameters.insert(parameters.begin(), cpp::intParameter(fused ? row : positions.front()));
  }
  layer.setCall(Code(mostColumns), std::move(arguments));
  layer.addLambda({std::move(parameters), std::move(statements)});
  return success();
}

/// `in_strips<4096>(Span{i, n}, [&](Strip<4096> const &strip) { ... });`
LogicalResult LoopPrinter::printInStrips(scf::ForOp loop, Body &to) {
  FailureOr<SmallVector<Expression>> const bounds = printer.use({loop.getLowerBound(), loop.getUpperBound()});
  if (failed(bounds))
    return failure();
  printer.settleReads(to);
  size_t const outside = printer.names.count();
  mostColumns = loop->getAttrOfType<IntegerAttr>(nest::stripColumns).getInt();
  column = printer.names.fresh(withSourceName(loop.getInductionVar(), {"j", "column"}));
  strip = printer.names.fresh({"strip", "columns_of_strip"});
  printer.bind(loop.getInductionVar(), cpp::name(column));
  Body body;
  if (failed(printStrips(*loop.getBody(), nest::StripValues(loop), body)))
    return failure();
  printer.names.release(outside);
  to.push_back(cpp::Pattern{Code(Raw("in_strips<")) + Code(mostColumns) + Raw(">"),
                            {cpp::braces(Raw("Span"), {(*bounds)[0], (*bounds)[1]})},
                            {{stripType(), strip, Raw(" const &")}},
                            std::move(body),
                            "in_strips"});
  return success();
}

} // namespace ml2k
