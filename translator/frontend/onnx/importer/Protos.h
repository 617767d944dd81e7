//===- Protos.h - ONNX's own messages -------------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_PROTOS_H
#define ML2K_FRONTEND_ONNX_IMPORTER_PROTOS_H

#include <onnx/onnx_pb.h>

namespace ml2k::frontend {
namespace pb = ONNX_NAMESPACE;
}

#endif
