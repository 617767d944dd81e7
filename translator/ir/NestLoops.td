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
  I32EnumAttrCase<"MDRange", 1, "mdrange">,    // several parallel loops, the last one contiguous
  I32EnumAttrCase<"Team", 2, "team">,          // one or more: a team of threads for each position
  I32EnumAttrCase<"Strips", 3, "strips">]> {   // one or more: strips of the last one go down the loops inside together
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

    With `team` a team of threads runs the block: every thread its scalar operations and its sequential loops and branches,
    whose bounds and conditions are the same for all; one thread what it stores; all together each scf.parallel, whose results
    all of them get. A thread sees what others have written after a nest.barrier. memref.alloca outside of scf.parallel is
    scratch of the team, or, with `nest.of_threads`, an element for each of the threads that only this one touches.

    With `strips` neighbours in the last loop, the columns of a strip, run the loops inside that have `nest.strip` together: each
    statement of such a loop, and of the kernel, is for all of them in turn. Those loops have bounds that all columns share, and no
    results: what a column carries is a memref.alloca with `nest.of_columns`.

    `ordered` has a flag per loop: false for the first loops, true for some behind them, false for the last ones. Iterations
    that differ only in loops with true may change the same element, by one store that perhaps depends on a load of that
    element. A host runs them in order; a device in any, where the last change or the changes in any order are as good.

        nest.kernel "heat::step" mdrange (%i, %j) = (%c1, %c1) to (%rows, %columns) { ... }
        nest.kernel "tiles" team (%i, %j) = (%c0, %c0) to (%m, %n) { %tile = memref.alloca() ... scf.parallel ... nest.barrier ... }
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

def Nest_BarrierOp : Nest_Op<"barrier"> {
  let summary = "the threads of a team wait for each other";
  let description = [{
    Behind it each of them sees what all have written in front of it. In the block of a nest.kernel with `team`, outside of
    scf.parallel.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Nest_InMemoryOp : Nest_Op<"in_memory", [Pure, SingleBlock]> {
  let summary = "loops in memory that make tensors";
  let description = [{
    Stands among operations on tensors until ml2k-update-in-memory puts its body in its place. The body reads tensors from outside
    as memory, writes memory of its own and yields that as tensors, so that whoever reads them comes behind it.
  }];
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict `->` type($results)";
}

#endif
