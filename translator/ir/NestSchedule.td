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

def Nest_Mean : Nest_Enum<"Mean", "by how many taps a pool divides its sum", [
  I32EnumAttrCase<"Inside", 0, "inside">, // those inside the image
  I32EnumAttrCase<"All", 1, "all">]>;
def Nest_MeanAttr : EnumAttr<Nest_Dialect, Nest_Mean, "mean">;

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
    rows * columns taps. `depth_first`: k lies outside n. `paired`: bf16 that only bf16 is multiplied by.
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
  I32EnumAttrCase<"Image", 1, "image">,   // N H W C inside its border of zeros
  I32EnumAttrCase<"Flat", 2, "flat">]>;   // a view of rank 1: views end at rank 8
def Nest_BufferFormAttr : EnumAttr<Nest_Dialect, Nest_BufferForm, "form">;

def Nest_Placement : Nest_Enum<"Placement", "how the buffers of the workspace are allocated", [
  I32EnumAttrCase<"Arena", 0, "arena">, // together, by their live ranges
  I32EnumAttrCase<"Own", 1, "own">]>;   // each by itself
def Nest_PlacementAttr : EnumAttr<Nest_Dialect, Nest_Placement, "placement"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif
