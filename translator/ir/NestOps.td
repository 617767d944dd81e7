//===- NestOps.td - the small loop-nest IR ------------------------------------------------------------------*- td -*-===//
//
// Every operation is one thing that a Kokkos file can say: a weight, a buffer, or a kernel. Kernels are in destination
// style; they work on tensors while schedules are decided and on memrefs after bufferization. Schedule decisions are
// attributes. A nest that verifies can be printed. docs/nest.md has the grammar with examples.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_NEST_OPS
#define ML2K_NEST_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "translator/ir/KernelInterface.td"
include "translator/ir/NestBase.td"
include "translator/ir/NestSchedule.td"

class Nest_Op<string mnemonic, list<Trait> traits = []> : Op<Nest_Dialect, mnemonic, traits>;

//===--- Types and attributes ----------------------------------------------------------------------------------------===//

/// One row of an operand inside nest.row: length elements, or a single one where the operand does not vary along the row.
def Nest_RowType : TypeDef<Nest_Dialect, "Row"> {
  let mnemonic = "row";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Nest_Combiner : I32EnumAttr<"Combiner", "how a reduction joins two values", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
  I32EnumAttrCase<"Max", 2, "max">,       // NaN propagates
  I32EnumAttrCase<"Min", 3, "min">,       // NaN propagates
  I32EnumAttrCase<"MaxNum", 4, "maxnum">, // NaN loses
  I32EnumAttrCase<"MinNum", 5, "minnum">, // NaN loses
  I32EnumAttrCase<"MaxSI", 6, "maxsi">, I32EnumAttrCase<"MinSI", 7, "minsi">,
  I32EnumAttrCase<"MaxUI", 8, "maxui">, I32EnumAttrCase<"MinUI", 9, "minui">,
  I32EnumAttrCase<"And", 10, "and">, I32EnumAttrCase<"Or", 11, "or">, I32EnumAttrCase<"Xor", 12, "xor">]> {
  let cppNamespace = "::ml2k::nest";
  let genSpecializedAttr = 0;
}
def Nest_CombinerAttr : EnumAttr<Nest_Dialect, Nest_Combiner, "combiner"> {
  let assemblyFormat = "`<` $value `>`";
}

def Nest_AnyShaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "ranked tensor or memref">;

//===--- Storage -----------------------------------------------------------------------------------------------------===//

def Nest_WeightOp : Nest_Op<"weight", [Pure]> {
  let summary = "a constant of the model";
  let description = [{
    `name` is the model's name for it; it becomes a member of `Weights` and a tensor of the sidecar. `value` is in the
    layout of the sidecar. `packing`, set by the schedule, says how load_weights() lays it out for its consumer: absent for
    the order of the sidecar.
  }];
  let arguments = (ins StrAttr:$name, ElementsAttr:$value, OptionalAttr<Nest_PackingAttr>:$packing);
  let results = (outs Nest_AnyShaped:$result);
  let assemblyFormat = "$name (`packing` $packing^)? attr-dict `:` type($result) `=` $value";
  let hasVerifier = 1;
}

def Nest_BufferOp : Nest_Op<"buffer", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a member of the workspace";
  let description = [{
    `name` becomes a member of `Workspace`. `offset` is in bytes from the start of the arena; buffers that are never
    alive together may overlap. `border` = [rows, columns] makes an N H W C buffer an `Activation` inside a border of
    zeros, which a convolution reads as its padding; kernels write the interior only, and buffers with a border overlap
    only with buffers of equal shape and border. A border of four, [rows, columns, planes, depth], is that of volumes:
    `depth` images follow each other as the planes of one, with as many `planes` of zeros in front and behind. `form` is
    the type of the member.
  }];
  let arguments = (ins StrAttr:$name, Variadic<Index>:$sizes, OptionalAttr<I64Attr>:$offset,
                   OptionalAttr<DenseI64ArrayAttr>:$border, OptionalAttr<Nest_BufferFormAttr>:$form);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $name (`(` $sizes^ `)`)? (`offset` $offset^)? (`border` $border^)? (`form` $form^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

//===--- Structured kernels ------------------------------------------------------------------------------------------===//

/// Inputs are the operands of the method, extras those of its epilogue; outputs are written, never read. On tensors there
/// is a result per output.
class Nest_KernelOp<string mnemonic, list<Trait> traits = []>
    : Nest_Op<mnemonic, !listconcat(traits, [AttrSizedOperandSegments, DestinationStyleOpInterface,
                                             DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                             DeclareOpInterfaceMethods<Nest_Kernel, [
                                                 "getMappedOperands", "getMaps", "getStoringRegion", "getFlops"]>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  code kernelMethods = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
  let extraClassDeclaration = kernelMethods;
}

def Nest_MapOp : Nest_KernelOp<"map"> {
  let summary = "elementwise: every output element from input elements at affine positions";
  let description = [{
    One parallel dimension per affine map dimension, as long as the dimension of an operand that it indexes by itself: of an
    output if there is one (an input may be larger), otherwise of inputs, which then agree. The block has an argument per input; it yields a value per output.
    `nest.index d` is the position; memref.load / tensor.extract in the block is a gather.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras,
                   Variadic<Nest_AnyShaped>:$outputs, AffineMapArrayAttr:$indexing_maps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $label (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` `maps` $indexing_maps attr-dict-with-keyword $body (`->` type($results)^)?
  }];
}

def Nest_ReduceOp : Nest_KernelOp<"reduce"> {
  let summary = "a reduction over any loops: out = finish(combine over the reduction loops of term)";
  let description = [{
    `reduction_dims` are the loops that are reduced, in source order; the others are parallel. `term` has an argument per
    input and yields the value that `combiner` joins to the accumulator, which starts with `initial`. `finish` has the
    accumulator and an argument per extra. indexing_maps: inputs, extras, output, over all loops. A loop that no term reads
    by its index alone, such as one over the taps of a window, has an input that is not read and tells its length.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras,
                   Variadic<Nest_AnyShaped>:$outputs, AffineMapArrayAttr:$indexing_maps,
                   DenseI64ArrayAttr:$reduction_dims, Nest_CombinerAttr:$combiner, TypedAttrInterface:$initial);
  let regions = (region SizedRegion<1>:$term, SizedRegion<1>:$finish);
  let assemblyFormat = [{
    $label $combiner `from` $initial `over` $reduction_dims
    `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` `maps` $indexing_maps attr-dict-with-keyword
    `term` $term `finish` $finish (`->` type($results)^)?
  }];
}

def Nest_ContractOp : Nest_KernelOp<"contract"> {
  let summary = "c = epilogue(Σ_k a * b)";
  let description = [{
    `iterators` gives every loop the role batch, m, n or k, in that order (batch loops in all three operands, m in a and c,
    n in b and c, k in a and b). indexing_maps: a, b, extras, c, over all loops. The epilogue block has the sum and an
    argument per extra. The sum is in the accumulator type of the block's first argument. `bias` is the number of the extra
    that the epilogue first adds to the sum, where the method does so with the weights.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras,
                   Variadic<Nest_AnyShaped>:$outputs, AffineMapArrayAttr:$indexing_maps, Nest_RolesAttr:$iterators,
                   OptionalAttr<I64Attr>:$bias);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $label custom<Roles>($iterators) `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` `maps` $indexing_maps attr-dict-with-keyword
    `epilogue` $epilogue (`->` type($results)^)?
  }];
  let extraClassDeclaration = kernelMethods # [{
    /// The role of a loop of the maps.
    Role getRole(unsigned loop);
    ::llvm::SmallVector<Role> getRoles();
  }];
}

def Nest_ConvOp : Nest_KernelOp<"conv"> {
  let summary = "2-D convolution, channels last: out[n,p,q,o] = epilogue(Σ in[n, p*s-pad+r*d, q*s-pad+t*d, c] * w[o,c,r,t])";
  let description = [{
    inputs: image N H W C and weight O (C/groups) R S. `pads` = top, left, bottom, right; what lies outside is zero.
    extra_maps: extras, over (n, p, q, o). groups = C = O is a depthwise convolution. `bias` as for nest.contract.
    `transposed`: in[n, h, w, c] is added to out[n, h*s-pad+r, w*s-pad+t, o] instead, strides and pads being those of the
    output, which is as many strides high and wide as pixels: `phases`, out[n, p, q, o] with the same p mod s and q mod s,
    are convolutions of stride 1. The weight has their kernels, s*s*O C R S, and the whole kernel has R*s rows.
    `planes` = depth, results, taps, stride, dilation, front, back: the images are the planes of volumes of that depth,
    those of the output of so many results; plane i of a result is the sum over planes i*stride-front+t*dilation of taps t,
    and the weight O (C/groups) taps*R S has the kernels of all taps below each other. Transposed, planes are one more
    direction of stride, pads front and back, and phases.
    `channels_first`: the image is N C H W, has no halo of zeros, and is convolved in one group without dilation.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras,
                   Variadic<Nest_AnyShaped>:$outputs, DefaultValuedAttr<AffineMapArrayAttr, "{}">:$extra_maps,
                   DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads, I64Attr:$groups,
                   OptionalAttr<DenseI64ArrayAttr>:$planes, UnitAttr:$transposed, OptionalAttr<I64Attr>:$bias,
                   UnitAttr:$channels_first);
  let regions = (region SizedRegion<1>:$epilogue);
  let extraClassDeclaration = kernelMethods # [{
    /// Convolutions of stride 1 that a transposed one is made of; 1 for others.
    int64_t getPhases() {
      return getTransposed() ? getStrides()[0] * getStrides()[1] * (getPlanes() ? (*getPlanes())[3] : 1) : 1;
    }
    /// Rows and columns of zeros that the image wants around it, planes of zeros that a volume wants, and its depth.
    std::array<int64_t, 4> getBorder();
    /// Rows and columns of the weight's kernel of one plane.
    std::array<int64_t, 2> getKernel();
    /// How many planes of a volume are in a sum; 1 for images.
    int64_t getPlaneTaps() { return getPlanes() ? (*getPlanes())[2] : 1; }
    /// Rows or columns (0, 1) and channels (2) of the image, wherever its channels are.
    int64_t getImageExtent(unsigned d) {
      return ::llvm::cast<::mlir::ShapedType>(getInputs()[0].getType()).getDimSize(getChannelsFirst() ? (d + 1) % 3 + 1 : d + 1);
    }
  }];
  let assemblyFormat = [{
    $label (`transposed` $transposed^)? `strides` $strides `dilations` $dilations `pads` $pads `groups` $groups
    (`planes` $planes^)?
    `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    (`maps` $extra_maps^)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict-with-keyword `epilogue` $epilogue (`->` type($results)^)?
  }];
}

def Nest_WindowOp : Nest_KernelOp<"window"> {
  let summary = "pooling, channels last: out[n,p,q,c] = finish(combine over the taps inside the image)";
  let description = [{
    input: image N H W C. Taps outside the image are left out. `mean` divides the sum by the number of taps inside the
    image ("inside") or by all taps ("all"); without it the accumulator goes to the finish block as it is, which has an
    argument per extra after it. extra_maps over (n, p, q, c). `planes` as for nest.conv: those outside are left out, too.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras,
                   Variadic<Nest_AnyShaped>:$outputs, DefaultValuedAttr<AffineMapArrayAttr, "{}">:$extra_maps,
                   Nest_CombinerAttr:$combiner, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                   DenseI64ArrayAttr:$pads, OptionalAttr<Nest_MeanAttr>:$mean, OptionalAttr<DenseI64ArrayAttr>:$planes);
  let regions = (region SizedRegion<1>:$finish);
  let extraClassDeclaration = kernelMethods # [{
    /// How many planes of a volume are joined; 1 for images.
    int64_t getPlaneTaps() { return getPlanes() ? (*getPlanes())[2] : 1; }
  }];
  let assemblyFormat = [{
    $label $combiner `kernel` $kernel `strides` $strides `dilations` $dilations `pads` $pads (`planes` $planes^)?
    (`mean` $mean^)?
    `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    (`maps` $extra_maps^)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict-with-keyword `finish` $finish (`->` type($results)^)?
  }];
}

def Nest_RowOp : Nest_KernelOp<"row"> {
  let summary = "several passes over rows: softmax, layer norm, anything whose reductions run along the last loop";
  let description = [{
    The last loop of the indexing maps runs along the row, the others over the rows, in parallel. The block has a
    !nest.row per input, extra and output and holds scalar operations, nest.fold and nest.each in program order. Outputs
    may be read back after they were set.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras,
                   Variadic<Nest_AnyShaped>:$outputs, AffineMapArrayAttr:$indexing_maps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $label (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` `maps` $indexing_maps attr-dict-with-keyword $body (`->` type($results)^)?
  }];
}

def Nest_RecurrentOp : Nest_KernelOp<"recurrent"> {
  let summary = "all steps of a recurrent layer: state[n, j] = next(sums), sum g = Σ_k state[n, k] * weight[g * hidden + j, k]";
  let description = [{
    input: weight [gates * hidden, hidden]. outputs: the state [batch, hidden], then what is written along with it: more
    states, sequences. `steps` steps t follow each other, or `count` where their number is known at run time only; within
    one, batch entries n and elements j are independent. indexing_maps: extras and outputs, over (t, n, j), with `count` as
    a symbol where there is one. The block has the sum of each gate over the state of the step before,
    an argument per extra, then the elements of the outputs as they are; it yields the new ones. Unlike those of other
    kernels the outputs hold values at the start, the first states, unless `starts` has these: a number for a state, `unit`
    for one that its output holds, and for a sequence. A layer that goes both ways has two weights, two blocks, and twice the extras and outputs, those of
    the reverse direction behind the others; the directions do not see each other.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras,
                   Optional<Index>:$count, Variadic<Nest_AnyShaped>:$outputs, AffineMapArrayAttr:$indexing_maps,
                   OptionalAttr<I64Attr>:$steps, OptionalAttr<ArrayAttr>:$starts);
  let regions = (region VariadicRegion<SizedRegion<1>>:$next);
  let assemblyFormat = [{
    $label `steps` (`(` $count^ `)`):($steps)? `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` `maps` $indexing_maps attr-dict-with-keyword
    `next` $next (`->` type($results)^)?
  }];
  let extraClassDeclaration = kernelMethods # [{
    int64_t getHidden() { return ::llvm::cast<::mlir::ShapedType>(getInputs()[0].getType()).getDimSize(1); }
    int64_t getGates() { return ::llvm::cast<::mlir::ShapedType>(getInputs()[0].getType()).getDimSize(0) / getHidden(); }
    /// One, or two: forward and reverse.
    unsigned getNumDirections() { return getInputs().size(); }
    Direction getDirection(unsigned number);
    /// Whether the output is what a direction multiplies in every step.
    bool isState(::mlir::Value output);
  }];
}

def Nest_TopKOp : Nest_KernelOp<"top_k"> {
  let summary = "the first k elements of each row in order, and where they lie";
  let description = [{
    input: any tensor, whose dimension `along` is the row. outputs: the elements and their positions (i64), of the input's
    shape but for k elements along the row. The block says whether its first argument comes before its second one; of two
    elements neither of which comes before the other, such as a NaN and anything, the one at the lower position does.
    Where few rows are long, two more outputs have room for the first elements and positions (i32) of parts of each row, k
    for each part: [rows, parts * k].
  }];
  let arguments = (ins StrAttr:$label, I64Attr:$along, Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras,
                   Variadic<Nest_AnyShaped>:$outputs);
  let regions = (region SizedRegion<1>:$before);
  let assemblyFormat = [{
    $label `along` $along `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict-with-keyword `before` $before (`->` type($results)^)?
  }];
  let extraClassDeclaration = kernelMethods # [{
    int64_t getCount() { return ::llvm::cast<::mlir::ShapedType>(getOutputs()[0].getType()).getDimSize(getAlong()); }
  }];
}

def Nest_SortOp : Nest_KernelOp<"sort"> {
  let summary = "the elements of each row in order, and where they lie";
  let description = [{
    input: any tensor, whose dimension `along` is the row. outputs: the first elements in order and their positions (i64), of
    the input's shape but for as many along the row as are wanted, and room to work in. Equal elements keep their order, 0
    and -0 are equal, a NaN comes behind all numbers. With `slices` the input is a matrix whose rows are sorted: those that
    differ first in an element that comes earlier come earlier; outputs: positions and room. Room: two entries for each
    element, an i64 of one of 32 bits or less, two of a longer one; two i32 for each slice.
  }];
  let arguments = (ins StrAttr:$label, Nest_OrderAttr:$order, UnitAttr:$is_unsigned, UnitAttr:$slices, I64Attr:$along,
                   Variadic<Nest_AnyShaped>:$inputs, Variadic<Nest_AnyShaped>:$extras, Variadic<Nest_AnyShaped>:$outputs);
  let assemblyFormat = [{
    $label $order (`unsigned` $is_unsigned^)? (`slices` $slices^)? `along` $along
    `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = kernelMethods # [{
    /// Where the elements lay.
    ::mlir::Value getPositions() { return getOutputs()[getSlices() ? 0 : 1]; }
    ::mlir::Value getRoom() { return getOutputs().back(); }
    /// How many of each row are wanted.
    int64_t getCount() {
      return ::llvm::cast<::mlir::ShapedType>(getPositions().getType()).getDimSize(getSlices() ? 0 : getAlong());
    }
    /// Words of its room for each element or slice of such a type.
    static int64_t roomFor(::mlir::Type element, bool slices) {
      return 2 * (!slices && element.getIntOrFloatBitWidth() > 32 ? 2 : 1);
    }
    static ::mlir::Type roomType(::mlir::Type element, bool slices) {
      return ::mlir::IntegerType::get(element.getContext(), slices ? 32 : 64);
    }
  }];
}

def Nest_TreesOp : Nest_KernelOp<"trees"> {
  let summary = "what rows reach in decision trees, joined over the trees";
  let description = [{
    inputs: x [rows, columns]; of each tree its root and the steps that a walk takes at most (i32); of each node a column of
    x (i32), a threshold of x's type and its first child (i32), beside which the second one lies; a leaf is its own first
    child. Then values [nodes, targets], which the leaves of a row are joined from, and, where splits differ in kind, another
    number for each node: the upper end of an interval that begins at the threshold, of x's type, or a kind (i32). output:
    [rows, targets]. Leaves that have a value for one target each name it in an extra table (i32), and values are [nodes, 1].
    The block has x at the column, the threshold and the other number; it
    says whether the walk goes on to the second child, which it must not say of a leaf.
  }];
  let arguments = (ins StrAttr:$label, Nest_CombinerAttr:$combiner, Variadic<Nest_AnyShaped>:$inputs,
                   Variadic<Nest_AnyShaped>:$extras, Variadic<Nest_AnyShaped>:$outputs);
  let regions = (region SizedRegion<1>:$split);
  let assemblyFormat = [{
    $label $combiner `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict-with-keyword `split` $split (`->` type($results)^)?
  }];
  let extraClassDeclaration = kernelMethods # [{
    ::mlir::Value getX() { return getInputs()[0]; }
    ::mlir::Value getRoots() { return getInputs()[1]; }
    ::mlir::Value getSteps() { return getInputs()[2]; }
    ::mlir::Value getColumns() { return getInputs()[3]; }
    ::mlir::Value getThresholds() { return getInputs()[4]; }
    ::mlir::Value getChildren() { return getInputs()[5]; }
    ::mlir::Value getValues() { return getInputs()[6]; }
    /// Null where all splits are of one kind.
    ::mlir::Value getKinds() { return getInputs().size() > 7 ? getInputs()[7] : ::mlir::Value(); }
  }];
}

def Nest_AssembleOp : Nest_KernelOp<"assemble"> {
  let summary = "a sparse matrix by rows: its entries are counted, get their positions by a scan, and are filled in";
  let description = [{
    outputs: positions (one more than rows), coordinates and values; scratch of i32: for a product two integers for each entry of
    a, for triplets as many as positions and one for each triplet. inputs: `union`, `intersection`, `product`: positions, coordinates and values of a and of b; `transpose`: those
    of a; `triplets`: two arrays of coordinates and the values; `nonzeros`: a dense matrix. In rows of a and b coordinates ascend, as
    they do in those of the result. The block has two values: it yields the one of an entry of a union (zero stands for the missing
    one) or intersection, the term of a product, or the sum of two triplets at one place.
    What the coordinates and values have no room for is counted but not written.
  }];
  let arguments = (ins StrAttr:$label, Nest_AssemblyAttr:$kind, Variadic<Nest_AnyShaped>:$inputs,
                   Variadic<Nest_AnyShaped>:$extras, Variadic<Nest_AnyShaped>:$outputs);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $label $kind `ins` `(` $inputs `:` type($inputs) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict-with-keyword `combine` $combine (`->` type($results)^)?
  }];
}

//===--- Inside kernels ----------------------------------------------------------------------------------------------===//

def Nest_GetOp : Nest_Op<"get", [MemoryEffects<[MemRead]>]> {
  let summary = "an element of a row; without a position, the only one";
  let arguments = (ins Nest_RowType:$row, Optional<Index>:$position);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$row (`[` $position^ `]`)? attr-dict `:` type($row) `->` type($value)";
}

def Nest_SetOp : Nest_Op<"set", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes an element of a row; without a position, the only one";
  let arguments = (ins AnyType:$value, Nest_RowType:$row, Optional<Index>:$position);
  let assemblyFormat = "$value `,` $row (`[` $position^ `]`)? attr-dict `:` type($value) `,` type($row)";
}

def Nest_FoldOp : Nest_Op<"fold", [RecursiveMemoryEffects]> {
  let summary = "reductions along the row; the block has the position and yields a term for each";
  let description = [{
    `name`, where given, is what the printed code calls the result (largest, total, mean). There is one result until
    `ml2k-join-folds` makes one loop of several along a short row.
  }];
  let arguments = (ins Nest_CombinerAttr:$combiner, OptionalAttr<StrAttr>:$name);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$combiner ($name^)? $body attr-dict `->` type($results)";
  let extraClassDeclaration = [{
    /// Of a fold that has one result.
    ::mlir::Value getResult() { return getOperation()->getResult(0); }
    ::mlir::Type getType() { return getResult().getType(); }
  }];
  let hasVerifier = 1;
}

def Nest_EachOp : Nest_Op<"each", [RecursiveMemoryEffects]> {
  let summary = "a loop along the row; the block has the position";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

def Nest_IndexOp : Nest_Op<"index", [Pure]> {
  let summary = "the position in a loop of the enclosing kernel (output loops for contract, conv and window)";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

def Nest_YieldOp : Nest_Op<"yield", [Pure, Terminator]> {
  let summary = "the values of a block";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

include "translator/ir/NestLoops.td"

#endif
