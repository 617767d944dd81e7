//===- Passes.td - prepare: every decision of the printer, as attributes ------------------------------------*- td -*-===//
//
// From a nest to a prepared one: the printer then looks up and makes no choice. A decision that stands already, in nest
// text or set by a tuner, is kept by the passes here.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PREPARE_PASSES
#define ML2K_PREPARE_PASSES

include "mlir/Pass/PassBase.td"

def MarkOutputs : Pass<"ml2k-mark-outputs", "::mlir::func::FuncOp"> {
  let summary = "arguments that kernels write are outputs";
  let description = [{ Pre: nest. Post: every memref argument that a structured kernel writes has nest.output. }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def SettleSizes : Pass<"ml2k-settle-sizes", "::mlir::func::FuncOp"> {
  let summary = "the function asks for every extent that indices need";
  let description = [{
    Pre: nest. Post: of each argument whose collapsed view some kernel addresses there is a memref.dim per run-time extent: an index
    of the view is split by them.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def ChooseBufferForms : Pass<"ml2k-choose-buffer-forms", "::mlir::func::FuncOp"> {
  let summary = "what type each member of the workspace has";
  let description = [{
    Pre: nest.buffers. Post: each has a form: `image` where a convolution or pool touches it or channels of it, `flat` beyond the
    rank that Kokkos views end at, else `tensor`. The function has nest.sized_images if a height or width of an image is known
    at run time only: then no height or width is part of a type.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def ReadChannelsFirst : Pass<"ml2k-read-channels-first", "::mlir::func::FuncOp"> {
  let summary = "a convolution reads the image of the caller as it lies";
  let description = [{
    Pre: forms of buffers are chosen, packings have no extents yet. Post: an input N C H W that was put channels last for nothing but one
    convolution is read by that itself (`channels_first`), if it has few weights and the image rows of one of its rows fit in L1.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def CheckIndexRange : Pass<"ml2k-check-index-range", "::mlir::func::FuncOp"> {
  let summary = "which tensors may have more elements than an int can count";
  let description = [{
    Pre: forms of buffers are chosen. Post: arguments and buffers of run-time sizes have nest.counted, but for those that cannot be too
    large unless another one is. The printed indices are of type int.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def CallLibrary : Pass<"ml2k-call-library", "::mlir::func::FuncOp"> {
  let summary = "large products as calls of KokkosKernels";
  let description = [{
    Pre: forms of buffers are chosen, packings have no extents yet. Post, with calls=kokkoskernels: a contraction, a sum of products along
    rows or a product with a sparse matrix by rows whose operands lie as BLAS takes them, and that is large enough, has a schedule
    `library_gemm`, `library_gemv` or `library_spmv`; a nest.map behind it does what its epilogue did. Its weights are not packed.
    Others that multiply matrices have `nest.kept`, which says why they are no call.
  }];
  let options = [Option<"calls", "calls", "std::string", "\"none\"", "none or kokkoskernels">];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def SettlePackings : Pass<"ml2k-settle-packings", "::mlir::func::FuncOp"> {
  let summary = "the extents of packed weights";
  let description = [{
    Pre: nest.weights with the kind of their packing. Post: the packing of panels has its extents and order, from the convolution or
    contraction that reads them first; `paired` says that they are bf16 (or i16, with sums in i32), and so is whatever they are multiplied by.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def JoinBiases : Pass<"ml2k-join-biases", "::mlir::func::FuncOp"> {
  let summary = "a bias lies with the weights whose sums it is added to";
  let description = [{
    Pre: packed weights. Post: a convolution or contraction whose epilogue first adds a vector along its outputs has `bias`, the number of
    that extra, if the weights are panels, both are constants of one type and nobody else reads them. The bias stands behind its
    weights: the order of nest.weights is the order of the sidecar.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def RunForward : Pass<"ml2k-run-forward", "::mlir::func::FuncOp"> {
  let summary = "loops whose order is free go up";
  let description = [{
    Pre: nest.kernels on memrefs. Post: a loop of a kernel, or one of sums in any order, whose index is used as `first - index` and its
    neighbours alone is over what is used. Not where iterations run in order, and not with `ml2k-naive`.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def OrderGrids : Pass<"ml2k-order-grids", "::mlir::func::FuncOp"> {
  let summary = "the loops of a kernel in the order of its memory";
  let description = [{
    Pre: nest.kernels on memrefs. Post: most elements that a kernel of several loops reads and writes follow each other along its last
    loop; where others do along another loop, and its iterations have no loops of their own, that one is the last but one. Not
    where iterations run in order or change elements together, and not with `ml2k-naive`.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def AlignGrids : Pass<"ml2k-align-grids", "::mlir::func::FuncOp"> {
  let summary = "grids whose vectors begin at lines of the cache";
  let description = [{
    Pre: the loops of nest.kernels are in their order. Post: where a kernel of two or three loops without loops inside stores an element
    of an array for each position, and rows do not begin at lines of the cache by themselves, the first such store has `nest.from_line`
    and its indices are the positions of the loops. Not with `ml2k-naive`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::ml2k::nest::NestDialect"];
}

def FindEveryOther : Pass<"ml2k-find-every-other", "::mlir::func::FuncOp"> {
  let summary = "grids that do something at every other position";
  let description = [{
    Pre: the loops of nest.kernels are in their order. Post: a branch around all that a kernel of two or three loops without loops inside
    does, which is taken where the sum of the positions is even or where it is odd, has `nest.every_other`. Not with `ml2k-naive`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::ml2k::nest::NestDialect"];
}

def FormStrips : Pass<"ml2k-form-strips", "::mlir::func::FuncOp"> {
  let summary = "kernels whose iterations walk down a column take many columns together";
  let description = [{
    Pre: nest.kernels on memrefs. Post: a kernel whose iterations run long loops over memory in which the last position is contiguous,
    or along rows by steps that each need the one before, has the policy `strips`: those loops are marked, and what they carry, or one statement leaves for another, has memory for
    each column. A running sum that is all a kernel does down its columns is marked `nest.column_scan` instead. Not with `ml2k-naive`.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::memref::MemRefDialect"];
}

def ChooseBlocks : Pass<"ml2k-choose-blocks", "::mlir::func::FuncOp"> {
  let summary = "what each kernel is printed as";
  let description = [{
    Pre: forms of buffers are chosen, packings settled. Post: every kernel has nest.schedule: the building block that it calls or the
    policy of Kokkos that it runs with, the loops of a map by their part in that, how a contraction's operands lie in memory,
    which path of the block the file has for devices, and what a Winograd convolution needs of the workspace.
  }];
  let options = [Option<"target", "target", "std::string", "\"portable\"", "portable, host or device: whom the file serves">];
}

def JoinFolds : Pass<"ml2k-join-folds", "::mlir::func::FuncOp"> {
  let summary = "reductions along a short row that share terms as one loop";
  let description = [{
    Pre: blocks are chosen. Post: neighbouring nest.folds of a row that a loop of one element walks along (`for_each`) are one nest.fold with
    several results if they read the same elements and none needs the result of another one: what their terms share is computed
    once.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def ApplyTuning : Pass<"ml2k-apply-tuning", "::mlir::func::FuncOp"> {
  let summary = "what was measured, to the kernels that it was measured for";
  let description = [{
    Pre: every kernel has nest.schedule; the function may have nest.tune, the entries of a tune file. Post: it has none; kernels have
    nest.tuned where an entry has their label and their class and chooses what their block offers. Any other entry is a warning.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def ChainProducts : Pass<"ml2k-chain-products", "::mlir::func::FuncOp"> {
  let summary = "small matrix products that a device's team makes one after the other";
  let description = [{
    Pre: every kernel has nest.schedule, tunings are applied. Post: the first of several contractions of packed f32 weights has
    nest.in_turn, how many there are, where each of them reads what the one before wrote, nobody else does, and a team's scratch holds
    some of its rows, from 2^21 multiplications on (256 rows where that is known at run time only). Hosts make them one by one.
  }];
  let options = [Option<"target", "target", "std::string", "\"portable\"", "portable, host or device: whom the file serves">];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def ChooseFunctions : Pass<"ml2k-choose-functions", "::mlir::func::FuncOp"> {
  let summary = "which functions are computed in vectors";
  let description = [{
    Pre: every kernel has its loops, strips are formed. Post: a math.exp, math.log, math.tanh, math.atan or math.atan2 of f64, and
    a math.powf of f32 or f64, has nest.in_vectors in a kernel of which compilers can make vectors: none of its operations is a call of a
    library, and loops inside have a few steps or are those of strips.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def RaiseRemainders : Pass<"ml2k-raise-remainders", "::mlir::func::FuncOp"> {
  let summary = "remainders of divisions that round down as one operation";
  let description = [{
    Pre: every kernel has nest.schedule. Post: what moves an arith.remsi to the sign of its divisor is a nest.floor_mod; whether that is 0 is asked
    of the arith.remsi.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def RaiseExtremes : Pass<"ml2k-raise-extremes", "::mlir::func::FuncOp"> {
  let summary = "the larger or smaller of two numbers as one operation";
  let description = [{
    Pre: every kernel has nest.schedule. Post: in loop kernels, an arith.select of what its arith.cmpf compares is a nest.larger or nest.smaller.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def JoinUpdates : Pass<"ml2k-join-updates", "::mlir::func::FuncOp"> {
  let summary = "one branch for all that a condition changes";
  let description = [{
    Pre: every kernel has nest.schedule. Post: an scf.if that changes only what a sequential loop of a kernel carries, or memory, changes
    whatever else of it an arith.select of the same condition changed.
  }];
}

def CountDown : Pass<"ml2k-count-down", "::mlir::func::FuncOp"> {
  let summary = "loops that the text shows going down";
  let description = [{
    Pre: every kernel has nest.schedule. Post: a sequential loop by ones whose index is used as `first - index` and its neighbours alone is
    over what is used, from the last to the first: it begins with a nest.from_end. Not with `ml2k-naive`.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def PlaceBuffers : Pass<"ml2k-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "whether the buffers share one allocation";
  let description = [{
    Pre: nest.buffers. Post: the function has nest.placement: `arena` for more than 256 KiB or, with run-time sizes, more than two
    buffers; else `own`, which is plainer to read.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def SettleFile : Pass<"ml2k-settle-file", "::mlir::func::FuncOp"> {
  let summary = "what the printed files hold as a whole";
  let description = [{
    Pre: nest. Post: the function has nest.weights, `embedded` in the source up to 1 KiB, else a `file` beside it; and nest.launches:
    `never` where a host's calling thread does the little that there is to do, `several` where run-time extents decide whether it is little, and where a loop of the host is around kernels that may have a
    single work item.
  }];
  let options = [Option<"weights", "weights", "std::string", "\"auto\"", "auto, embed or file">];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def VerifyPrepared : Pass<"ml2k-verify-prepared", "::mlir::ModuleOp"> {
  let summary = "refuses what the printer cannot look up";
  let description = [{
    Pre: anything. Post: the module has one public function with a body of one block and no results, its arguments are memrefs or scalars
    of types that C++ has, and so are weights and buffers; every decision of the passes above stands; each kernel's block can address
    the memory of its operands.
  }];
}

#endif
