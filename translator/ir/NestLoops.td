//===- NestLoops.td - loop programs: kernels with explicit loops --------------------------------------------*- td -*-===//
//
// What a loop program (scf, affine, memref, sparse rows) becomes: nest.kernel says the parallel loops and the policy, its
// block holds scf, memref, arith and math operations.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_NEST_LOOPS
#define ML2K_NEST_LOOPS

include "mlir/IR/OpBase.td"
include "translator/ir/KernelInterface.td"

def Nest_Policy : I32EnumAttr<"Policy", "how the iterations of a kernel are spread", [
  I32EnumAttrCase<"Range", 0, "range">,       // one parallel loop, or none: one iteration
  I32EnumAttrCase<"MDRange", 1, "mdrange">]> { // several parallel loops, the last one contiguous
  let cppNamespace = "::ml2k::nest";
  let genSpecializedAttr = 0;
}
def Nest_PolicyAttr : EnumAttr<Nest_Dialect, Nest_Policy, "policy">;

//===--- Kernels -----------------------------------------------------------------------------------------------------===//

def Nest_LoopKernelOp : Nest_Op<"kernel", [AttrSizedOperandSegments, RecursiveMemoryEffects,
                                         DeclareOpInterfaceMethods<Nest_Kernel, ["getStoringRegion"]>]> {
  let summary = "a kernel of explicit loops";
  let description = [{
    The iterations of the loops from `lowers` to `uppers` (exclusive, step 1) are independent. Without loops the block runs
    once. The block has the positions as arguments and yields a term per reduction; a reduction overwrites its rank-0
    memref in `into` with its terms, joined in any order. It begins with `start`, if there is one; as every thread does, only
    of a combiner for which a value joined with itself is that value. `note` is a comment of the printed code: why loops inside are
    sequential.

    `ordered` has a flag per loop: false for the first loops, true for some behind them, false for the last ones. Iterations
    that differ only in loops with true may change the same element, by one store that perhaps depends on a load of that
    element. A host runs them in order; a device in any, where the last change or the changes in any order are as good.

        nest.kernel "heat::step" mdrange (%i, %j) = (%c1, %c1) to (%rows, %columns) { ... }
        nest.kernel "dot" range (%i) = (%c0) to (%n) reduce (sum into %total : memref<f64>) { ... nest.yield %term : f64 }
        nest.kernel "top" range (%i) = (%c0) to (%n) reduce (max into %top : memref<f64>) {start = 0.0 : f64} { ... }
  }];
  let arguments = (ins StrAttr:$label, Nest_PolicyAttr:$policy, Variadic<Index>:$lowers, Variadic<Index>:$uppers,
                   Arg<Variadic<AnyMemRef>, "", [MemWrite]>:$into, TypedArrayAttrBase<Nest_CombinerAttr, "combiners">:$combiners,
                   OptionalAttr<StrAttr>:$note, OptionalAttr<DenseBoolArrayAttr>:$ordered,
                   OptionalAttr<TypedAttrInterface>:$start);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
