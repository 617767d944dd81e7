//===- NestLoops.td - loop programs: kernels with explicit loops --------------------------------------------*- td -*-===//
//
// What a loop program (scf, affine, memref, sparse rows) becomes: nest.kernel says the parallel loops and the policy, its
// block holds scf, memref, arith and math operations.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_NEST_LOOPS
#define ML2K_NEST_LOOPS

include "mlir/IR/OpBase.td"

def Nest_Policy : I32EnumAttr<"Policy", "how the iterations of a kernel are spread", [
  I32EnumAttrCase<"Range", 0, "range">,     // one parallel loop, or none: one iteration
  I32EnumAttrCase<"MDRange", 1, "mdrange">, // several parallel loops, the last one contiguous
  I32EnumAttrCase<"Team", 2, "team">]> {    // a league of teams; nest.loop spreads work inside a team
  let cppNamespace = "::ml2k::nest";
  let genSpecializedAttr = 0;
}
def Nest_PolicyAttr : EnumAttr<Nest_Dialect, Nest_Policy, "policy">;

def Nest_Level : I32EnumAttr<"Level", "which threads share the iterations of a loop in a team", [
  I32EnumAttrCase<"Threads", 0, "threads">, // TeamThreadRange: the threads of the team
  I32EnumAttrCase<"Lanes", 1, "lanes">,     // ThreadVectorRange: the vector lanes of a thread
  I32EnumAttrCase<"All", 2, "all">]> {      // TeamVectorRange: all lanes of all threads
  let cppNamespace = "::ml2k::nest";
  let genSpecializedAttr = 0;
}
def Nest_LevelAttr : EnumAttr<Nest_Dialect, Nest_Level, "level">;

//===--- Kernels -----------------------------------------------------------------------------------------------------===//

def Nest_LoopKernelOp : Nest_Op<"kernel", [AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "a kernel of explicit loops";
  let description = [{
    The iterations of the loops from `lowers` to `uppers` (exclusive, step 1) are independent. Without loops the block runs
    once. The block has the positions as arguments and yields a term per reduction; a reduction overwrites its rank-0
    memref in `into` with its terms, joined in any order. `note` is a comment of the printed code: why loops inside are
    sequential.

    `ordered` has a flag per loop: false for the first loops, true for some behind them, false for the last ones. Iterations
    that differ only in loops with true may change the same element, by one store that perhaps depends on a load of that
    element. A host runs them in order; a device in any, where the last change or the changes in any order are as good.

        nest.kernel "heat::step" mdrange (%i, %j) = (%c1, %c1) to (%rows, %columns) { ... }
        nest.kernel "dot" range (%i) = (%c0) to (%n) reduce (sum into %total : memref<f64>) { ... nest.yield %term : f64 }
  }];
  let arguments = (ins StrAttr:$label, Nest_PolicyAttr:$policy, Variadic<Index>:$lowers, Variadic<Index>:$uppers,
                   Arg<Variadic<AnyMemRef>, "", [MemWrite]>:$into, TypedArrayAttrBase<Nest_CombinerAttr, "combiners">:$combiners,
                   OptionalAttr<StrAttr>:$note, OptionalAttr<DenseBoolArrayAttr>:$ordered);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Nest_ScanOp : Nest_Op<"scan", [RecursiveMemoryEffects]> {
  let summary = "a kernel that forms all partial results of a sum";
  let description = [{
    For every position from `lower` to `upper` the block `term` has the position and yields a value; the block `take` has the
    position and the sum of the terms before it (`exclusive`) or up to and with it, and stores what it needs.

        nest.scan "offsets" exclusive (%c0 to %n) : i64 term { ... } take { ... }
  }];
  let arguments = (ins StrAttr:$label, UnitAttr:$exclusive, Index:$lower, Index:$upper, TypeAttr:$type);
  let regions = (region SizedRegion<1>:$term, SizedRegion<1>:$take);
  let assemblyFormat = [{
    $label (`exclusive` $exclusive^)? `(` $lower `to` $upper `)` `:` $type `term` $term `take` $take attr-dict
  }];
  let hasVerifier = 1;
}

//===--- Inside teams ------------------------------------------------------------------------------------------------===//

def Nest_LoopOp : Nest_Op<"loop", [RecursiveMemoryEffects]> {
  let summary = "a loop whose independent iterations the threads of a team share";
  let description = [{
    Inside a team kernel. There is no barrier after it. With a combiner the block yields a term, and every thread gets the
    joined value.

        nest.loop threads (%j = %c0 to %n) { ... }
        %sum = nest.loop all sum (%j = %first to %last) { ... nest.yield %term : f64 } -> f64
  }];
  let arguments = (ins Nest_LevelAttr:$level, OptionalAttr<Nest_CombinerAttr>:$combiner, Index:$lower, Index:$upper);
  let results = (outs Optional<AnyType>:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Nest_ScratchOp : Nest_Op<"scratch", [MemoryEffects<[MemAlloc]>]> {
  let summary = "memory of one team, for one iteration of the league";
  let description = [{ Of static shape, first in the block of a team kernel; holds no value at first. }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Nest_BarrierOp : Nest_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the threads of the team wait for each other; what they wrote is then seen by all";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Nest_SingleOp : Nest_Op<"single", [RecursiveMemoryEffects]> {
  let summary = "one thread of the team runs the block";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

#endif
