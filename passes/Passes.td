//===- Passes.td - every pass: what it needs and what it leaves ---------------------------------------------*- td -*-===//

#ifndef ML2K_PASSES
#define ML2K_PASSES

include "mlir/Pass/PassBase.td"

//===--- everywhere ---------------------------------------------------------------------------------------------------===//

def Cleanup : Pass<"ml2k-cleanup"> {
  let summary = "canonicalization that knows what sizes at run time need";
  let description = [{
    Pre and post: anything. Every canonicalization pattern of every loaded operation, but for upstream's compositions of reshapes,
    which lose the sizes of an expansion that makes several dimensions of unknown extent out of one: ours stand in for them.
  }];
}

//===--- canonicalize: every spelling of a network to one -------------------------------------------------------------===//

def NameWeights : Pass<"ml2k-name-weights", "::mlir::func::FuncOp"> {
  let summary = "constants of the model become nest.weight";
  let description = [{
    Pre: tensors. Post: no arith.constant of a tensor with several distinct elements is left; each is a nest.weight named by
    its location, or after the layer that uses it.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def Generalize : Pass<"ml2k-generalize", "::mlir::func::FuncOp"> {
  let summary = "named operations become linalg.generic";
  let description = [{
    Pre: linalg on tensors. Post: linalg.generic, linalg.fill and, for every copy into another order, linalg.transpose.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def InlineScalars : Pass<"ml2k-inline-scalars", "::mlir::func::FuncOp"> {
  let summary = "code computes its scalars instead of reading tensors made for them";
  let description = [{
    Pre: linalg.generic. Post: no generic has an operand that is a splat constant or a constant fill, unless its loops would
    lose their extents; no tensor.extract reads copies or cheap integers that a generic makes; no loop starts from a splat
    constant.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def Idioms : Pass<"ml2k-idioms", "::mlir::func::FuncOp"> {
  let summary = "scalar code with several spellings gets one";
  let description = [{
    Pre and post: anything. select(x > c, x, c) is a maximum, constants stand last, small powers are products.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def NeededElements : Pass<"ml2k-needed-elements", "::mlir::func::FuncOp"> {
  let summary = "only what is read is computed, only what is not zero is multiplied";
  let description = [{
    Pre: linalg.generic and nest.weight. Post: no product with a weight makes positions along a dimension that none of the slices that are read of
    it has, where the weight or a product in front can be cut alike; none sums over zeros of tensor.pad or tensor.concat.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def JoinParts : Pass<"ml2k-join-parts", "::mlir::func::FuncOp"> {
  let summary = "what is done alike to parts of a tensor is done to the whole";
  let description = [{
    Pre: linalg.generic and nest.weight. Post: no tensor.concat of products that differ in neighbouring slices of one tensor and in weights, nor
    a sum of products of the two components of a tensor (real and imaginary parts) with a weight each.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FoldWeights : Pass<"ml2k-fold-weights", "::mlir::func::FuncOp"> {
  let summary = "changes of order and shape go into the constants";
  let description = [{
    Pre: nest.weight. Post: no linalg.transpose, tensor.expand_shape or tensor.collapse_shape of a weight is left, nor a
    linalg.generic that only puts its elements elsewhere. What products add for columns of one number is a term behind them.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

//===--- schedule: kernels and their epilogues ------------------------------------------------------------------------===//

def FormRows : Pass<"ml2k-form-rows", "::mlir::func::FuncOp"> {
  let summary = "reductions along the last loop and what is elementwise around them become nest.row";
  let description = [{
    Pre: linalg.generic on tensors; contractions and windows are nest kernels. Post: every linalg.generic that reduces its
    last loops over contiguous elements, or finds the position of an extreme, is part of a nest.row, together with its
    elementwise producers and consumers over the same rows. A value that several passes over a row need is computed again
    in each; an expensive one is kept in the row of an output.
  }];
  let dependentDialects = ["nest::NestDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"ml2k-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "elementwise linalg.generic move into what reads them";
  let description = [{
    Pre: linalg.generic on tensors. Post: an elementwise operation with one reader, or a trivial one with several, stands in
    the body of its readers, unless something expensive were computed several times or a contiguous read became strided.
  }];
}

def FormMaps : Pass<"ml2k-form-maps", "::mlir::func::FuncOp"> {
  let summary = "parallel linalg.generic, fills, generated tensors and copies become nest.map";
  let description = [{
    Pre: no reduction that reads a fill is left, or the fill stays a kernel. Post: no parallel linalg operation,
    tensor.generate or tensor.splat is left. Loops are few: extent 1 vanishes, neighbours over which all operands are
    contiguous are one; the last loop runs along the memory of the output.
  }];
  let dependentDialects = ["nest::NestDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def FormReductions : Pass<"ml2k-form-reductions", "::mlir::func::FuncOp"> {
  let summary = "reductions that are not rows become nest.reduce";
  let description = [{
    Pre: linalg on tensors. Post: no linalg operation that reduces is left but those with nest.in_order, whose body is
    no known combiner; elementwise operations that are the only readers of a result are in its finish block.
  }];
  let dependentDialects = ["nest::NestDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseConvolutions : Pass<"ml2k-raise-convolutions", "::mlir::func::FuncOp"> {
  let summary = "convolutions and pools become nest.conv and nest.window";
  let description = [{
    Pre: linalg.generic. Post: generics with one or two window directions and a constant filter, or a pool's body, are kernels on
    N H W C between transposes; constant padding is theirs. Others (three directions, computed filters) stay.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseTransposedConvolutions : Pass<"ml2k-raise-transposed", "::mlir::func::FuncOp"> {
  let summary = "convolutions of images with zeros between their pixels become transposed ones";
  let description = [{
    Pre: nest.conv. Post: none of stride 1 reads the pixels of an image that was spread over zeros by tensor.insert_slice, if the size
    of its result is a multiple of that stride: it is transposed and reads the image as it is.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseContractions : Pass<"ml2k-raise-contractions", "::mlir::func::FuncOp"> {
  let summary = "sums of products become nest.contract";
  let description = [{
    Pre: linalg.generic. Post: generics that multiply and add over plain loops are contractions with one loop each of batch, m, n, k;
    the constant operand is second and lies as [n, k].
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseTopK : Pass<"ml2k-raise-top-k", "::mlir::func::FuncOp"> {
  let summary = "the first elements of sorted rows become nest.top_k or nest.sort";
  let description = [{
    Pre: linalg.generic. Post: where a count of the elements that come before each one decides which k of a row are taken, nest.top_k
    takes up to 64 of them, n log k comparisons rather than n * n, and nest.sort more: n log n.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::tensor::TensorDialect"];
}

def PropagateLayout : Pass<"ml2k-propagate-layout", "::mlir::func::FuncOp"> {
  let summary = "transposes move to the edges of the model and cancel";
  let description = [{
    Pre: linalg.transpose between kernels and generics. Post: a transpose is left only where the order of the data must change.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CollapseLoops : Pass<"ml2k-collapse-loops", "::mlir::func::FuncOp"> {
  let summary = "elementwise work on a reshaped result happens before the reshape";
  let description = [{
    Pre and post: linalg.generic. Expansions moved down through generics, pairs of reshapes cancelled.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def FoldAffine : Pass<"ml2k-fold-affine", "::mlir::func::FuncOp"> {
  let summary = "batch normalisation and its like go into the weights";
  let description = [{
    Pre: kernels without epilogue. Post: no chain of generics after a kernel with a constant is a * x + b with per-channel a.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::ml2k::nest::NestDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseChains : Pass<"ml2k-fuse-chains", "::mlir::func::FuncOp"> {
  let summary = "elementwise operations join the one that uses them";
  let description = [{
    Pre and post: linalg.generic. No elementwise generic is left whose only reader is another one.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect"];
}

def FuseEpilogues : Pass<"ml2k-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "elementwise work moves into the kernel that makes its operand";
  let description = [{
    Pre: kernels on tensors. Post: no elementwise generic is left that could be computed on the result of a convolution,
    contraction or pool in registers. Of two kernels the one with more work per element takes it.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def ReadSlices : Pass<"ml2k-read-slices", "::mlir::func::FuncOp"> {
  let summary = "products read a slice where it lies";
  let description = [{
    Pre: kernels. Post: a nest.contract of two activations reads the whole tensor, with an offset in its map, instead of a nest.map that
    copies a part of it, if the whole can be split into the dimensions of the operand.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::tensor::TensorDialect"];
}

def FormColumns : Pass<"ml2k-form-columns", "::mlir::func::FuncOp"> {
  let summary = "loops over steps whose columns do not meet become one kernel";
  let description = [{
    Pre: linalg.generic on tensors. Post: an scf.for of the function's own block over elementwise work and sums, whose tensors
    have dimensions along which nothing is exchanged, is nest.in_memory with a parallel loop over these around one over the steps.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def FormRecurrences : Pass<"ml2k-form-recurrences", "::mlir::func::FuncOp"> {
  let summary = "loops over the steps of a recurrent layer become one kernel";
  let description = [{
    Pre: kernels in an scf.for of constant bounds. Post: a loop whose body is one product of a carried state with a constant and
    elementwise work on [batch, hidden] is a nest.recurrent. Others stay loops around kernels.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def JoinDirections : Pass<"ml2k-join-directions", "::mlir::func::FuncOp"> {
  let summary = "both directions of a recurrent layer become one kernel";
  let description = [{
    Pre: kernels. Post: two nest.recurrent of one layer, forward and reverse, with as many steps and states of one type, are one
    of two directions.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def PackWeights : Pass<"ml2k-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "how each weight is laid out for the kernel that streams it";
  let description = [{
    Pre: kernels. Post: weights of convolutions and contractions carry their packing.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def NarrowFactors : Pass<"ml2k-narrow-factors", "::mlir::func::FuncOp"> {
  let summary = "factors of integer products in 16 bits";
  let description = [{
    Pre: kernels, packed weights. Post: where all products of a weight sum up in i32, and both the weight and whatever it is multiplied by
    provably fit, both are i16, or the weight is i8.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def JoinProducts : Pass<"ml2k-join-products", "::mlir::func::FuncOp"> {
  let summary = "products of one input as one product";
  let description = [{
    Pre: kernels with labels, weights with names. Post: nest.contracts of one input with constant weights of one type, and equal epilogues
    but for their constants, are one nest.contract of as many columns as they have together, if all readers can read a part of
    the result where it lies.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::tensor::TensorDialect"];
}

def ChooseWinograd : Pass<"ml2k-choose-winograd", "::mlir::func::FuncOp"> {
  let summary = "which 3 x 3 convolutions are computed by Winograd's method";
  let description = [{
    Pre: convolutions and packed weights. Post: where it pays by the cost rule of docs/performance.md, the packing of the weight says
    `winograd`, the edge of the squares of results: 2 or 4.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def NaiveKernels : Pass<"ml2k-naive-kernels", "::mlir::func::FuncOp"> {
  let summary = "every structured operation is to be a kernel of its own, as it stands";
  let description = [{
    Instead of all passes above. Pre: canonical. Post: linalg.generic, linalg.fill and linalg.transpose with labels, each fill
    with one user; the function has the attribute nest.naive.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LabelKernels : Pass<"ml2k-label-kernels", "::mlir::func::FuncOp"> {
  let summary = "every kernel gets the name of its layer";
  let description = [{
    Pre: kernels. Post: labels are unique and come from the model, through the locations.
  }];
}

//===--- lower: memory ------------------------------------------------------------------------------------------------===//

def Destinations : Pass<"ml2k-destinations", "::mlir::func::FuncOp"> {
  let summary = "results of the model become memory of the caller";
  let description = [{
    Pre: a function of one block on ranked tensors. Post: it returns nothing; per result there is a memref argument at the
    end, with the attributes of the result and nest.output, and a bufferization.materialize_in_destination into it.
    Tensor arguments are marked as not writable.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def ConcatInPlace : Pass<"ml2k-concat-in-place", "::mlir::func::FuncOp"> {
  let summary = "concatenations that contain each other share one tensor";
  let description = [{
    Pre: tensors. Post: tensor.concats that only serve another one are part of that one if there are many; one that begins or goes on with another
    that is needed elsewhere takes it as a whole, whose buffer is then a slice of its own.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def PartRows : Pass<"ml2k-part-rows", "::mlir::func::FuncOp"> {
  let summary = "rows whose indices are clamped or mirrored at the ends become three kernels";
  let description = [{
    Pre: kernels on tensors. Post: a nest.map without inputs whose minima and maxima of positions are the same operands in most of a
    row is a tensor.concat of two or three: the ends as before, and the inside, where the choices are made.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::ml2k::nest::NestDialect"];
}

def PadInPlace : Pass<"ml2k-pad-in-place", "::mlir::func::FuncOp"> {
  let summary = "padding that no kernel took in becomes a fill and a slice";
  let description = [{
    Pre: tensors. Post: no tensor.pad is left; each is a nest.map that fills and a tensor.insert_slice. A padding value that
    varies is refused.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect", "::ml2k::nest::NestDialect"];
}

def LoopStates : Pass<"ml2k-loop-states", "::mlir::func::FuncOp"> {
  let summary = "what a loop carries stays in one place";
  let description = [{
    Pre: tensors. Post: every tensor that an scf.for yields is the carried tensor with slices written into it, the whole of it
    if need be; no kernel starts from a carried tensor.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def OwnInits : Pass<"ml2k-own-inits", "::mlir::func::FuncOp"> {
  let summary = "every kernel writes a tensor of its own";
  let description = [{
    Pre: tensors. Post: every tensor.empty has one user, every fill that somebody writes over is that user's alone, and
    every nest.weight has one user.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def UpdateInMemory : Pass<"ml2k-update-in-memory", "::mlir::func::FuncOp"> {
  let summary = "loops that change elements of a tensor work in memory";
  let description = [{
    Pre: tensors. Post: no loop of the function's own block carries tensors of which it only reads and inserts elements: it
    loads from memrefs and stores to them. Bodies of nest.in_memory stand in their places.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def HoistBuffers : Pass<"ml2k-hoist-buffers", "::mlir::func::FuncOp"> {
  let summary = "weights and buffers stand at the start of the function";
  let description = [{
    Pre: memrefs. Post: every nest.weight, then every memref.alloc, stands at the start of the function, none in a loop. A size
    that depends on computed values is refused.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def ForwardCopies : Pass<"ml2k-forward-copies", "::mlir::func::FuncOp"> {
  let summary = "what is only copied somewhere is computed there";
  let description = [{
    Pre: hoisted allocations. Post: no memref.copy from an allocation is left whose target was free while the allocation was in
    use: the allocation is gone, its kernels write the target (a slice, an output of the model, the state of a loop).
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def LabelCopies : Pass<"ml2k-label-copies", "::mlir::func::FuncOp"> {
  let summary = "every copy that is left becomes a kernel";
  let description = [{ Pre: memrefs. Post: no memref.copy is left; each is a nest.map with a label of its own. }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def JoinEntries : Pass<"ml2k-join-entries", "::mlir::func::FuncOp"> {
  let summary = "products of tiny matrices, and the work around them, are one kernel over the batch";
  let description = [{
    Pre: memrefs, no copies. Post: maps, reductions and rows that follow each other, do a few dozen operations for each entry
    of one batch, and multiply matrices of it, are a nest.kernel over the entries; buffers that only these use are arrays in it.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def KernelBuffers : Pass<"ml2k-kernel-buffers", "::mlir::func::FuncOp"> {
  let summary = "kernels get the memory that their blocks address, convolutions a halo of zeros";
  let description = [{
    Pre: hoisted allocations. Post: the image and the output of every nest.conv and nest.window are allocations N H W C, channels
    of one, or contiguous memory that needs no padding; the matrices of packed contractions are contiguous. Where they were
    not, a nest.map copies. Allocations that serve as images have the attribute border = [rows, columns], the largest
    padding of the convolutions that read them.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::ml2k::nest::NestDialect"];
}

def NameBuffers : Pass<"ml2k-name-buffers", "::mlir::func::FuncOp"> {
  let summary = "allocations become named members of the workspace";
  let description = [{
    Pre: labelled kernels on memrefs. Post: no memref.alloc is left; each is a nest.buffer named after the kernel that writes all
    of it, else after the layer that joins its parts; unused ones are gone.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect"];
}

def PlanMemory : Pass<"ml2k-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "when buffers are in use, and one arena for those of fixed size";
  let description = [{
    Pre: nest.buffers at the start of the function. Post: every one has nest.alive, the positions of its first and its last
    access in the function; those of static shape have an offset, a multiple of 64 bytes; buffers that are alive together do
    not overlap. The function has nest.arena_bytes and nest.live_bytes, the largest sum of sizes that are alive together.
  }];
}

def VerifyNest : Pass<"ml2k-verify-nest", "::mlir::func::FuncOp"> {
  let summary = "refuses what cannot be printed";
  let description = [{
    Pre: anything. Post: weights, buffers, aliases, sizes, loops and labelled kernels on memrefs, nothing else.
  }];
}

def NaiveLoops : Pass<"ml2k-naive-loops", "::mlir::func::FuncOp"> {
  let summary = "structured operations in memory become plain loops";
  let description = [{
    Pre: memrefs. Post: linalg operations with nest.in_order, and all of a function with nest.naive, are an scf.parallel
    over their parallel loops, with scf.for over the others inside and the results in registers meanwhile.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect"];
}

//===--- lower: loop programs -----------------------------------------------------------------------------------------===//

def ParallelizeLoops : Pass<"ml2k-parallelize-loops", "::mlir::func::FuncOp"> {
  let summary = "sequential loops whose iterations are proved independent become parallel";
  let description = [{
    Pre: scf on memrefs. Post: scf.for whose iterations touch different memory, and whose carried values are reductions that
    may be reordered, are scf.parallel; perfectly nested scf.parallel are one. `nest.note` on a loop says why.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def LoopsToNest : Pass<"ml2k-loops-to-nest", "::mlir::func::FuncOp"> {
  let summary = "outermost parallel loops become kernels, code between them kernels of one iteration";
  let description = [{
    Pre: scf, memref, arith and math, no tensors. Post: memory is touched in kernels only; the host keeps sizes and sequential
    loops around kernels. Constant globals are weights; allocations are workspace, results arguments marked `nest.output`. A
    function with such arguments is a network in lowering: its copies and allocations are left to the passes behind.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::affine::AffineDialect"];
}

def LowerLoops : Pass<"ml2k-lower-loops", "::mlir::func::FuncOp"> {
  let summary = "a loop program to nest: all its steps";
  let description = [{
    Pre: loops in linalg, affine or scf on memrefs; functions without any are left alone. Post: as ml2k-loops-to-nest.
  }];
  let dependentDialects = ["::ml2k::nest::NestDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::affine::AffineDialect"];
}

def SelectElements : Pass<"ml2k-select-elements", "::mlir::func::FuncOp"> {
  let summary = "subscripts that a condition decides become a choice of two elements";
  let description = [{
    Pre: nest. Post: no load has subscripts that are made of one or two conditions (as 0 or 1, or as what chooses one of two constants) and of
    whatever else: it is a choice of loads, of numbers where the memory is a weight; a branch (scf.if) reads the chosen one
    where a position may not exist. gcc 12 makes wrong vectors of `table(a == b ? 1 : 0)` and `table(2 * k + (a == b))`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def SinkScalars : Pass<"ml2k-sink-scalars", "::mlir::func::FuncOp"> {
  let summary = "loop kernels compute their scalars themselves";
  let description = [{
    Pre: nest. Post: nest.kernels use from outside memory, constants, arguments, sizes and sums and products of
    them only; what the host does not use any more is gone. After this pass nothing may eliminate common subexpressions.
  }];
}

#endif
