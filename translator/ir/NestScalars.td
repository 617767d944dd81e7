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

class Nest_ExtremeOp<string name> : Nest_Op<name, [Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let arguments = (ins AnyFloat:$lhs, AnyFloat:$rhs);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Nest_LargerOp : Nest_ExtremeOp<"larger"> {
  let summary = "`lhs < rhs ? rhs : lhs`";
  let description = [{
    As `max` of Python and C++: the first one where either is NaN or both are alike. Passes of the end of the pipeline make it of a
    comparison and a choice.

        %most = nest.larger %a, %b : f64
  }];
}

def Nest_SmallerOp : Nest_ExtremeOp<"smaller"> {
  let summary = "`rhs < lhs ? rhs : lhs`";
  let description = [{
    As `min` of Python and C++: the first one where either is NaN or both are alike.
  }];
}

def Nest_FloorModOp : Nest_Op<"floor_mod", [Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "the remainder of a division that rounds down";
  let description = [{
    As `%` of Python: it has the sign of the divisor. Passes of the end of the pipeline make it of the operations that compute it.

        %rest = nest.floor_mod %a, %b : i64
  }];
  let arguments = (ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Nest_FromEndOp : Nest_Op<"from_end", [Pure]> {
  let summary = "the index of a loop that goes down";
  let description = [{
    Of an scf.for over [begin, end) by ones: begin + end - 1 - `index`. It is the first operation of the loop and all that uses its index; the
    text is `for (int k = end - 1; k >= begin; --k)`.

        scf.for %step = %c0 to %levels step %c1 {
          %k = nest.from_end %step
    }];
  let arguments = (ins Index:$index);
  let results = (outs Index:$result);
  let assemblyFormat = "$index attr-dict";
  let hasVerifier = 1;
}

def Nest_CallOp : Nest_Op<"call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a function of C that the user links";
  let description = [{
    Scalars go by value, an array as a pointer to its first element, its extents and its strides, counted in elements. The
    result depends on these alone, and the function writes the arrays of which `writes` says so and nothing else. It may be
    called by several threads at once; on a device if it is declared for that.

        %f = nest.call "upwind_flux"(%a, %b) {writes = array<i1: false, false>} : (f64, f64) -> f64
        nest.call "solve"(%m, %x) {on_device, writes = array<i1: false, true>} : (memref<3x3xf64>, memref<3xf64>) -> ()
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$arguments, DenseBoolArrayAttr:$writes, UnitAttr:$on_device);
  let results = (outs Optional<AnyType>:$result);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, results)";
  let hasVerifier = 1;
}

#endif
