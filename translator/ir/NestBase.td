//===- NestBase.td - the nest dialect itself ----------------------------------------------------------------*- td -*-===//

#ifndef ML2K_NEST_BASE
#define ML2K_NEST_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Nest_Dialect : Dialect {
  let name = "nest";
  let cppNamespace = "::ml2k::nest";
  let summary = "Kernels, buffers and weights as a Kokkos file states them";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
