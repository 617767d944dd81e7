//===- KernelInterface.td - what all kernels of the nest dialect have in common -----------------------------*- td -*-===//
//
// Reports, checks and the printer ask kernels through this interface; what differs by kind is in the methods of each op
// (Kernels.cpp, Work.cpp).
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_KERNEL_INTERFACE
#define ML2K_KERNEL_INTERFACE

include "mlir/IR/OpBase.td"

def Nest_Kernel : OpInterface<"Kernel"> {
  let cppNamespace = "::ml2k::nest";
  let description = [{
    A kernel is what one launch computes. Structured kernels address operands by affine maps over their loops; nest.kernel
    has its loops as operands and no maps.
  }];
  let methods = [
    InterfaceMethod<"The name of the layer, in profiles and in the printed code.", "::llvm::StringRef", "getLabel">,
    InterfaceMethod<"Names the layer.", "void", "setLabel", (ins "::llvm::StringRef":$label)>,
    InterfaceMethod<"The operands that maps address, outputs last. Images and weights of convolutions, windows and recurrent "
                    "kernels are not among them: their positions follow from the kind of kernel.",
                    "::llvm::SmallVector<::mlir::Value>", "getMappedOperands", (ins), "", "return {};">,
    InterfaceMethod<"A map for each of the mapped operands.", "::llvm::SmallVector<::mlir::AffineMap>", "getMaps", (ins), "",
                    "return {};">,
    InterfaceMethod<"The region that makes the elements to store: the epilogue, or the whole body where there is no method "
                    "before it.",
                    "::mlir::Region &", "getStoringRegion">,
    InterfaceMethod<"How often each loop of the maps runs.", "::llvm::SmallVector<::ml2k::nest::LoopExtent>",
                    "getLoopExtents", (ins), "", "return loopExtents($_op.getMaps(), $_op.getMappedOperands());">,
    InterfaceMethod<"Floating-point operations that it executes: multiplications, additions, comparisons and calls such as "
                    "exp count one each. Run-time extents count as 1. None for kernels with loops of their own.",
                    "::std::optional<int64_t>", "getFlops", (ins), "", "return std::nullopt;">,
    InterfaceMethod<"Bytes of all distinct operands, each counted once.", "int64_t", "getBytes", (ins), "",
                    "return bytesOf($_op->getOperands());">,
  ];
}

#endif
