//===- ImportOptions.h - what a user can tell a front end -----------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_IMPORTOPTIONS_H
#define ML2K_FRONTEND_IMPORTOPTIONS_H

#include <cstdint>
#include <map>
#include <string>

namespace ml2k {

struct ImportOptions {
  /// Values of symbolic dimensions by name (--dim NAME=N).
  std::map<std::string, int64_t> dims;
  /// Name of the function that is made of an ONNX graph, or of the function to take from an MLIR module (empty: the
  /// front end's choice).
  std::string entry;
  /// Values of inputs that become constants, by name, as written (--operand NAME=V,V,...).
  std::map<std::string, std::string> operands;
  /// Whether products between DequantizeLinear and what reads them are sums of integers, as hosts make them fastest.
  bool multipliesIntegers = true;
  /// Whether many steps without a product become a loop; forms inside kernels have none, and take them written out.
  bool loopsOverSteps = true;
};

} // namespace ml2k

#endif
