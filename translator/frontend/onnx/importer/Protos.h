//===- Protos.h - ONNX's own messages -------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_PROTOS_H
#define ML2K_FRONTEND_ONNX_IMPORTER_PROTOS_H

#include <onnx/onnx_pb.h>

namespace ml2k::frontend {
namespace pb = ONNX_NAMESPACE;

/// An operator of the standard, not of a vendor.
inline bool isOnnx(pb::NodeProto const &node) { return node.domain().empty() || node.domain() == "ai.onnx"; }

} // namespace ml2k::frontend

#endif
