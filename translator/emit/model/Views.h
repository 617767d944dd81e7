//===- Views.h - the parts of the view model ------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_MODEL_VIEWS_H
#define ML2K_EMIT_MODEL_VIEWS_H

#include "translator/emit/cpp/File.h"
#include "translator/emit/model/Layer.h"
#include "translator/emit/render/Render.h"

namespace ml2k {

/// What the model takes for granted about the sizes of a Workspace.
struct SizeChecksView {
  std::vector<Identifier> sizes;
  Body statements;
};

/// Layers and the body of forward().
struct ForwardView {
  std::vector<cpp::Function> layers;
  Body statements;
  std::optional<SizeChecksView> sizeChecks;
};

mlir::FailureOr<ForwardView> viewForward(Program &program);

/// Parameters of forward(): space, the structs that exist, the model's arguments.
std::string forwardParameters(Program const &program);

/// The same for the definition: the names of those that its statements do not use are comments.
std::string forwardDefinition(Program const &program, Body const &statements);

/// The same by parts.
std::vector<cpp::Parameter> parametersOf(Program const &program);

/// forward() for views of any layout, and the memory that it copies arguments to. None without arrays as arguments.
Json viewPacked(Program const &program);

/// The positions of matrices whose entries forward() counts; nothing without one.
Json viewAssembled(Program const &program);

/// The constants that a tuning chose, by families of processors; nothing without one.
Json viewTunings(Program const &program);

/// The lines of a program that calls forward().
Json viewExample(Program const &program, bool hasWorkspace, bool embedded);

/// The run-time sizes that buffers need, in the order of the arguments.
std::vector<std::string> workspaceSizes(Program const &program);

/// Aliases of the arguments, members of Weights, the Workspace.
struct MembersView {
  std::vector<cpp::Member> aliases, weights;
  std::optional<cpp::Workspace> workspace;
  Json arguments; ///< what programs need to call forward(); no template reads it
};

MembersView viewMembers(Program &program);

/// The tensors of the sidecar in file order.
std::vector<SidecarTensor> sidecarOf(Program const &program);

/// load_weights(): its calls, and the arrays of weights that stand in the source.
struct LoaderView {
  bool embedded;
  std::vector<cpp::Array> arrays;
  std::vector<cpp::Load> loads;
};

LoaderView viewLoader(Program const &program, std::vector<SidecarTensor> const &tensors, bool embedded);

} // namespace ml2k

#endif
