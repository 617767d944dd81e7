// What the verifier lets into a kernel and what the printer has an expression for are the same operations.

// Nest.h wants these before it
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "translator/emit/scalars/Scalars.h"
#include "translator/ir/Nest.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/ScalarCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace ml2k;

TEST(ScalarTable, EveryOperationThatVerifiesIsPrinted) {
  ASSERT_TRUE(llvm::is_sorted(scalarOperations()));
  for (llvm::StringRef name : scalarOperations())
    EXPECT_NE(lookUpScalar(name), nullptr) << name.str();
}

TEST(ScalarTable, EveryOperationThatIsPrintedVerifies) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, nest::NestDialect>();
  unsigned printed = 0;
  for (mlir::RegisteredOperationName operation : context.getRegisteredOperations())
    if (llvm::StringRef const name = operation.getStringRef(); lookUpScalar(name)) {
      ++printed;
      EXPECT_TRUE(llvm::binary_search(scalarOperations(), name)) << name.str();
    }
  EXPECT_EQ(printed, scalarOperations().size());
}
