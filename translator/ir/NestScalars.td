//===- NestScalars.td - scalar operations of the front ends ---------------------------------------------------*- td -*-===//
//
// What arith has no operation for. They stand in the blocks of kernels, and before that in linalg.generic.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_NEST_SCALARS
#define ML2K_NEST_SCALARS

include "translator/ir/NestOps.td"

def Nest_PositionOp : Nest_Op<"position", [Pure]> {
  let summary = "where an index points";
  let description = [{
    The position of `index` among `extent` elements; negative ones count from the end. Any other index ends the program that
    computes it, with a message.

        %at = nest.position %index, %extent : i64
  }];
  let arguments = (ins AnySignlessInteger:$index, Index:$extent);
  let results = (outs Index:$result);
  let assemblyFormat = "$index `,` $extent attr-dict `:` type($index)";
  let hasFolder = 1;
}

#endif
