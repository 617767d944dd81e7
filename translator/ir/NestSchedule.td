//===- NestSchedule.td - decisions of the schedule and of the printer ---------------------------------------*- td -*-===//
//
// What passes decide about kernels, weights and buffers, as attributes that a user or a tuner can set.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_NEST_SCHEDULE
#define ML2K_NEST_SCHEDULE

include "translator/ir/NestBase.td"

class Nest_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::ml2k::nest";
  let genSpecializedAttr = 0;
}

//===--- Kernels -----------------------------------------------------------------------------------------------------===//

def Nest_Role : Nest_Enum<"Role", "which operands of a contraction a loop addresses", [
  I32EnumAttrCase<"Batch", 0, "batch">, // a, b and c
  I32EnumAttrCase<"M", 1, "m">,         // a and c
  I32EnumAttrCase<"N", 2, "n">,         // b and c
  I32EnumAttrCase<"K", 3, "k">]>;       // a and b
def Nest_RoleAttr : EnumAttr<Nest_Dialect, Nest_Role, "role">;
def Nest_RolesAttr : TypedArrayAttrBase<Nest_RoleAttr, "roles of loops">;

def Nest_Order : Nest_Enum<"Order", "how elements are sorted; a NaN comes behind all numbers", [
  I32EnumAttrCase<"Ascending", 0, "ascending">, I32EnumAttrCase<"Descending", 1, "descending">]>;
def Nest_OrderAttr : EnumAttr<Nest_Dialect, Nest_Order, "order"> {
  let assemblyFormat = "`<` $value `>`";
}

def Nest_Mean : Nest_Enum<"Mean", "by how many taps a pool divides its sum", [
  I32EnumAttrCase<"Inside", 0, "inside">, // those inside the image
  I32EnumAttrCase<"All", 1, "all">]>;
def Nest_MeanAttr : EnumAttr<Nest_Dialect, Nest_Mean, "mean">;

def Nest_KernelBlock : Nest_Enum<"KernelBlock", "what a kernel is printed as: a building block or a policy of Kokkos", [
  // Maps
  I32EnumAttrCase<"ForEach", 0, "for_each">,               // a loop over rows, a vector loop along them
  I32EnumAttrCase<"ForSpans", 1, "for_spans">,             // the same, with work per row in front of the vector loop
  I32EnumAttrCase<"AssignEach", 2, "assign_each">,         // values apart from their places: more loads in flight
  I32EnumAttrCase<"ForSquares", 3, "for_squares">,         // tiles, where an input lies across the output
  I32EnumAttrCase<"TransposedCopy", 4, "transposed_copy">, // the same, of nothing but a copy
  I32EnumAttrCase<"ChannelsLast", 5, "channels_last">,     // a whole image N C H W to N H W C
  // Rows
  I32EnumAttrCase<"ForRows", 6, "for_rows">,               // a team or thread per row, with reductions along it
  I32EnumAttrCase<"ForWideRows", 7, "for_wide_rows">,      // the same, where a device's team keeps the row in registers
  I32EnumAttrCase<"FoldRows", 42, "fold_rows">,            // one reduction along each row: a host takes several at once
  I32EnumAttrCase<"FoldColumns", 43, "fold_columns">,      // one down each column: a host takes a strip of them
  I32EnumAttrCase<"TopK", 22, "top_k">,                    // a thread, or a device's team, keeps a row's k first elements
  I32EnumAttrCase<"TopKParts", 37, "top_k_of_parts">,      // the same of parts of long rows, whose lists are joined
  I32EnumAttrCase<"SortRows", 38, "sort_rows">,            // runs of a row are sorted, then merged, by all threads
  I32EnumAttrCase<"SortSlices", 39, "sort_slices">,        // the same of positions, by comparing slices
  I32EnumAttrCase<"WalkTrees", 48, "walk_trees">,          // a thread takes several rows, or trees of a row, down together
  // Contractions and convolutions
  I32EnumAttrCase<"Contract", 8, "contract">,              // GEMM over packed weights
  I32EnumAttrCase<"BatchedContract", 9, "batched_contract">, // of two operands that are not packed
  I32EnumAttrCase<"Conv", 10, "conv">, I32EnumAttrCase<"Winograd", 11, "winograd">,
  I32EnumAttrCase<"ConvChannelsFirst", 50, "conv_channels_first">, // of an image N C H W without a halo
  I32EnumAttrCase<"ConvTransposed", 12, "conv_transposed">, I32EnumAttrCase<"Depthwise", 13, "depthwise">,
  I32EnumAttrCase<"Pool", 14, "pool">, I32EnumAttrCase<"Recurrent", 15, "recurrent">,
  I32EnumAttrCase<"RecurrentBoth", 32, "recurrent_both">,  // of a layer that goes both ways
  // Explicit loops
  I32EnumAttrCase<"Range", 16, "range">,                   // Kokkos::RangePolicy over one loop, or one iteration
  I32EnumAttrCase<"ForGrid", 17, "for_grid">,              // several loops, the last one contiguous
  I32EnumAttrCase<"ForTiles", 51, "for_tiles">,            // the same in tiles, where some memory lies along the last but one
  I32EnumAttrCase<"MDRange", 18, "mdrange">,               // Kokkos::MDRangePolicy, to compare with
  I32EnumAttrCase<"ReduceSpan", 19, "reduce_span">, I32EnumAttrCase<"ReduceGrid", 20, "reduce_grid">,
  I32EnumAttrCase<"ReduceSharedSpan", 30, "reduce_shared_span">, // with a scalar that all iterations share
  I32EnumAttrCase<"ForSharedSpan", 31, "for_shared_span">,
  I32EnumAttrCase<"FoldFewColumns", 46, "fold_few_columns">, // sums of many terms for a few columns
  I32EnumAttrCase<"ForUpdates", 21, "for_updates">,        // loops that change elements in order
  I32EnumAttrCase<"ForAtomicUpdates", 45, "for_atomic_updates">, // several elements, those of any iteration
  I32EnumAttrCase<"ForOwnSums", 47, "for_own_sums">,       // a few elements, of which threads and teams have their own
  I32EnumAttrCase<"ScanRows", 40, "scan_rows">,            // running sums along rows: a host's thread, a device's team each
  I32EnumAttrCase<"ScanColumns", 49, "scan_columns">,      // down neighbouring columns: strips on a host
  I32EnumAttrCase<"Team", 41, "team">,                     // Kokkos::TeamPolicy: a league of teams, loops of their threads
  I32EnumAttrCase<"ForStrips", 44, "for_strips">,          // strips of the last loop go down the loops inside together
  // Sparse matrices by rows
  I32EnumAttrCase<"ForStoredRows", 23, "for_stored_rows">, // a thread, or lanes of a device's team, per row
  I32EnumAttrCase<"ReduceStoredRows", 24, "reduce_stored_rows">,
  I32EnumAttrCase<"JoinRows", 25, "join_rows">, I32EnumAttrCase<"MultiplyRows", 26, "multiply_rows">,
  I32EnumAttrCase<"TransposeRows", 27, "transpose_rows">, I32EnumAttrCase<"SortTriplets", 28, "sort_triplets">,
  I32EnumAttrCase<"PackRows", 29, "pack_rows">,
  I32EnumAttrCase<"ScatterRows", 36, "scatter_rows">,      // rows whose entries change elements by their columns
  // Calls of KokkosKernels
  I32EnumAttrCase<"LibraryGemm", 33, "library_gemm">, I32EnumAttrCase<"LibraryGemv", 34, "library_gemv">,
  I32EnumAttrCase<"LibrarySpmv", 35, "library_spmv">]>;

def Nest_Assembly : Nest_Enum<"Assembly", "how the entries of a sparse matrix come about", [
  I32EnumAttrCase<"Union", 0, "union">,               // where one of two matrices has entries
  I32EnumAttrCase<"Intersection", 1, "intersection">, // where both have
  I32EnumAttrCase<"Product", 2, "product">,           // of two matrices
  I32EnumAttrCase<"Transpose", 3, "transpose">,       // of one that is stored along the other dimension
  I32EnumAttrCase<"Triplets", 4, "triplets">,         // in any order
  I32EnumAttrCase<"Nonzeros", 5, "nonzeros">]>;       // of a dense matrix
def Nest_AssemblyAttr : EnumAttr<Nest_Dialect, Nest_Assembly, "assembly">;

def Nest_DevicePath : Nest_Enum<"DevicePath", "what a block does on a device beside its plain way", [
  I32EnumAttrCase<"Plain", 0, "plain">,
  I32EnumAttrCase<"SmallProducts", 1, "small_products">, // products of small matrices share a team
  I32EnumAttrCase<"FewRows", 2, "few_rows">,             // a product of a few rows is split along k
  I32EnumAttrCase<"LargeProduct", 3, "large_product">,   // tiles for large products, or few_rows by their number at run time
  I32EnumAttrCase<"BroadWindows", 4, "broad_windows">]>; // a team joins the taps of a window

def Nest_DevicePathParameter : EnumParameter<Nest_DevicePath> { let defaultValue = "::ml2k::nest::DevicePath::Plain"; }

def Nest_ScheduleAttr : AttrDef<Nest_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "what a kernel is printed as";
  let description = [{
    Loops are numbers of loops of the kernel's maps, -1 for none. Of a map: `inner` runs along the output's memory (of
    `fold_columns` along the input's),
    `crossing` along an input's that lies across it, `channel` through the few channels of a pixel. Of rows: the number of the
    operand, an output, that is `kept` in registers. Of explicit loops: the first `fused` run as one. Of contractions: whether
    the columns of the `left` and the `right` operand are adjacent in memory, and whether the sums are stored `in_place` as
    they are; of calls of KokkosKernels, that columns lie side by side says that the operand is not transposed. Of a team on a
    device: `threads`, each of so many vector `lanes`; of strips: `lanes`, the most columns of one. `device`: which path of the
    block the file has for devices. `scratch`: elements of the workspace for each host thread.
  }];
  let parameters = (ins EnumParameter<Nest_KernelBlock>:$block, DefaultValuedParameter<"int64_t", "-1">:$inner,
                    DefaultValuedParameter<"int64_t", "-1">:$crossing, DefaultValuedParameter<"int64_t", "-1">:$channel,
                    DefaultValuedParameter<"int64_t", "-1">:$kept, DefaultValuedParameter<"int64_t", "0">:$fused,
                    DefaultValuedParameter<"bool", "false">:$left, DefaultValuedParameter<"bool", "false">:$right,
                    DefaultValuedParameter<"bool", "false">:$in_place, Nest_DevicePathParameter:$device,
                    DefaultValuedParameter<"int64_t", "0">:$scratch, DefaultValuedParameter<"int64_t", "0">:$threads,
                    DefaultValuedParameter<"int64_t", "0">:$lanes);
  let assemblyFormat = [{
    `<` $block (`,` struct($inner, $crossing, $channel, $kept, $fused, $left, $right, $in_place, $device, $scratch, $threads,
                           $lanes)^)? `>`
  }];
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "KernelBlock":$block, CArg<"ScheduleParts const &", "{}">:$parts), [{
    return $_get($_ctxt, block, parts.inner, parts.crossing, parts.channel, parts.kept, parts.fused, parts.left,
                 parts.right, parts.inPlace, parts.device, parts.scratch, parts.threads, parts.lanes);
  }]>];
  let extraClassDeclaration = [{
    /// The loop, or none.
    std::optional<unsigned> crossingLoop() const { return loop(getCrossing()); }
    std::optional<unsigned> channelLoop() const { return loop(getChannel()); }

  private:
    static std::optional<unsigned> loop(int64_t number) {
      return number < 0 ? std::nullopt : std::optional<unsigned>(number);
    }

  public:
  }];
}

//===--- Weights -----------------------------------------------------------------------------------------------------===//

def Nest_PackingKind : Nest_Enum<"PackingKind", "how a weight lies in memory for its consumer", [
  I32EnumAttrCase<"Panels", 0, "panels">, // of a GEMM or convolution: as many outputs as a register tile has columns
  I32EnumAttrCase<"Taps", 1, "taps">,     // of a depthwise convolution: channels last
  I32EnumAttrCase<"Gates", 2, "gates">]>; // of a recurrent layer

def Nest_PackingAttr : AttrDef<Nest_Dialect, "Packing"> {
  let mnemonic = "packing";
  let summary = "how load_weights() lays out a weight for its consumer";
  let description = [{
    `winograd`: the edge of the tiles of results of Winograd's method, 2 or 4; 0 where it is not used. The others, of panels, are
    settled when the printer's decisions are: how many `outputs` there are, and how many terms of a sum: `depth` for each of
    rows * columns taps. `depth_first`: k lies outside n. `paired`: bf16 that only bf16 is multiplied by, or i16 that only i16 is, with sums in i32.
  }];
  let parameters = (ins EnumParameter<Nest_PackingKind>:$kind, DefaultValuedParameter<"int64_t", "0">:$winograd,
                    DefaultValuedParameter<"int64_t", "0">:$outputs, DefaultValuedParameter<"int64_t", "1">:$depth,
                    DefaultValuedParameter<"int64_t", "1">:$rows, DefaultValuedParameter<"int64_t", "1">:$columns,
                    DefaultValuedParameter<"int64_t", "1">:$groups, DefaultValuedParameter<"bool", "false">:$depth_first,
                    DefaultValuedParameter<"bool", "false">:$paired);
  let assemblyFormat = [{
    `<` $kind (`,` struct($winograd, $outputs, $depth, $rows, $columns, $groups, $depth_first, $paired)^)? `>`
  }];
  let builders = [AttrBuilder<(ins "PackingKind":$kind, CArg<"int64_t", "0">:$winograd), [{
    return $_get($_ctxt, kind, winograd, 0, 1, 1, 1, 1, false, false);
  }]>];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isPanels() const { return getKind() == PackingKind::Panels; }
    /// Whether it says all that the printer asks for.
    bool isSettled() const { return !isPanels() || getOutputs() != 0; }
    PackingAttr with(PanelExtents const &extents, bool paired) const;
  }];
}

def Nest_WeightStorage : Nest_Enum<"WeightStorage", "where the elements of weights are", [
  I32EnumAttrCase<"Embedded", 0, "embedded">, // in the printed source
  I32EnumAttrCase<"File", 1, "file">]>;
def Nest_WeightStorageAttr : EnumAttr<Nest_Dialect, Nest_WeightStorage, "storage"> {
  let assemblyFormat = "`<` $value `>`";
}

//===--- Buffers -----------------------------------------------------------------------------------------------------===//

def Nest_BufferForm : Nest_Enum<"BufferForm", "the type of a member of the workspace", [
  I32EnumAttrCase<"Tensor", 0, "tensor">, // a view of its shape
  I32EnumAttrCase<"Image", 1, "image">,   // N H W C inside its halo
  I32EnumAttrCase<"Flat", 2, "flat">]>;   // a view of rank 1: views end at rank 8
def Nest_BufferFormAttr : EnumAttr<Nest_Dialect, Nest_BufferForm, "form">;

def Nest_Launches : Nest_Enum<"Launches", "which kernels a host's calling thread leaves to all threads", [
  I32EnumAttrCase<"Always", 0, "always">,   // each
  I32EnumAttrCase<"Several", 1, "several">, // those of several work items
  I32EnumAttrCase<"Never", 2, "never">]>;   // none: there is little to do
def Nest_LaunchesAttr : EnumAttr<Nest_Dialect, Nest_Launches, "launches"> {
  let assemblyFormat = "`<` $value `>`";
}

def Nest_Placement : Nest_Enum<"Placement", "how the buffers of the workspace are allocated", [
  I32EnumAttrCase<"Arena", 0, "arena">, // together, by their live ranges
  I32EnumAttrCase<"Own", 1, "own">]>;   // each by itself
def Nest_PlacementAttr : EnumAttr<Nest_Dialect, Nest_Placement, "placement"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif
