//===- LoopCallee.cpp - functions of C that explicit loops call ---------------------------------------------------===//
//
// Numbers go by value, an array as a pointer to its first element, its extents and its strides.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/kernels/LoopPrinter.h"
#include "translator/emit/scalars/Callees.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {

/// `values`: what an element is an element of.
static Expression arrayOf(Expression const &element) {
  bool const isAccess = element.kind() == cpp::Kind::Call || element.kind() == cpp::Kind::Index;
  return isAccess ? element->parts.front() : element;
}

FailureOr<Expression> LoopPrinter::number(OpFoldResult value) {
  if (std::optional<int64_t> const constant = getConstantIntValue(value))
    return literal(*constant);
  return printer.use(cast<Value>(value));
}

/// How far elements lie apart: of a thread's array it is known, a view says it.
Expression LoopPrinter::stride(Value memref, Expression const &array, int64_t dim) {
  if (!arrays.contains(memref))
    return call(cpp::member(array, Raw("stride")), {literal(dim)});
  int64_t apart = 1;
  for (int64_t extent : cast<MemRefType>(memref.getType()).getShape().drop_front(dim + 1))
    apart *= extent;
  return literal(apart);
}

/// Pointer, extents and strides of memory or of a part of it.
LogicalResult LoopPrinter::passOn(Value argument, bool isWritten, SmallVectorImpl<Expression> &to) {
  auto part = argument.getDefiningOp<memref::SubViewOp>();
  Value const memref = part ? part.getSource() : argument;
  auto const type = cast<MemRefType>(memref.getType());
  Builder builder(kernel->getContext());
  SmallVector<OpFoldResult> const start(type.getRank(), builder.getIndexAttr(0));
  FailureOr<Expression> const first = element(memref, part ? part.getMixedOffsets() : start);
  if (failed(first))
    return failure();
  if (!arrays.contains(memref))
    (isWritten ? writes : reads).insert(memref);
  to.push_back(unary("&", *first));
  SmallVector<Expression> strides;
  llvm::SmallBitVector const dropped = part ? part.getDroppedDims() : llvm::SmallBitVector(type.getRank());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dropped[dim])
      continue;
    FailureOr<Expression> const extent = part ? number(part.getMixedSizes()[dim]) : layer.extent(memref, dim);
    FailureOr<Expression> const step = part ? number(part.getMixedStrides()[dim]) : literal(1);
    if (failed(extent) || failed(step))
      return failure();
    to.push_back(*extent);
    strides.push_back(product({*step, stride(memref, arrayOf(*first), dim)}));
  }
  to.append(strides);
  return success();
}

LogicalResult LoopPrinter::printCallee(nest::CallOp callee, Body &to) {
  SmallVector<Expression> arguments;
  for (auto [argument, isWritten] : llvm::zip(callee.getArguments(), callee.getWrites())) {
    if (isa<MemRefType>(argument.getType())) {
      if (failed(passOn(argument, isWritten, arguments)))
        return failure();
      continue;
    }
    FailureOr<Expression> const value = printer.use(argument);
    if (failed(value))
      return failure();
    arguments.push_back(*value);
  }
  Expression const text = linkedCall(callee.getCallee(), arguments);
  bool const isWriting = llvm::is_contained(callee.getWrites(), true);
  Value const result = callee.getResult();
  if (result && !isWriting)
    return printer.bindRead(result, text, to), success();
  printer.settleReads(to);
  if (result && !result.use_empty())
    printer.bind(result, printer.let(to, result.getType(), text, withSourceName(result, {callee.getCallee().str()})));
  else
    to.push_back(cpp::Run{text});
  return success();
}

} // namespace ml2k
