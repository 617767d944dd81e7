//===- TmTensor.td - what torch-mlir has no operation of linalg for -------------------------------------------*- td -*-===//
//
// Its linalg texts hold these beside linalg and tensor: running sums, sorts, the first elements, scatters, attention. The
// MLIR front end puts other operations in their place (TorchForms.cpp); no pass sees them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_TMTENSOR
#define ML2K_TMTENSOR

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TmTensor_Dialect : Dialect {
  let name = "tm_tensor";
  let cppNamespace = "::ml2k::tm_tensor";
}

class TmTensor_Op<string mnemonic, list<Trait> traits = []>
    : Op<TmTensor_Dialect, mnemonic, !listconcat(traits, [AttrSizedOperandSegments, Pure])> {
  let hasVerifier = 1;
}

def TmTensor_ScanOp : TmTensor_Op<"scan"> {
  let summary = "out[i] = body(in[i], out[i - 1]) along a dimension; exclusive: the one before, from the second output on";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension,
                   BoolAttr:$inclusive);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `dimension` `(` $dimension `)` `inclusive` `(` $inclusive `)` attr-dict `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
}

def TmTensor_SortOp : TmTensor_Op<"sort"> {
  let summary = "the outputs, elements of each row in order; the body says of the first one whether `a` stays before `b`";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
}

def TmTensor_TopKOp : TmTensor_Op<"topk"> {
  let summary = "the first elements of each row in order, and where they lie";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
}

def TmTensor_ScatterOp : TmTensor_Op<"scatter"> {
  let summary = "out[indices[i], ..] = body(updates[i, ..], out[indices[i], ..])";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs,
                   DenseI64ArrayAttr:$dimension_map, DefaultValuedAttr<BoolAttr, "true">:$unique_indices);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    attr-dict `unique_indices` `(` $unique_indices `)` (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
}

def TmTensor_AttentionOp : TmTensor_Op<"attention"> {
  let summary = "softmax(q k^T / sqrt(columns of q) + mask) v, for each matrix of the leading dimensions";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` (`->` type($results)^)?
  }];
}

def TmTensor_YieldOp : Op<TmTensor_Dialect, "yield", [Pure, Terminator]> {
  let summary = "the values of a body";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif
