//===- Node.h - one node of the graph, as its import function sees it -----------------------------------*- C++ -*-===//
//
// Typed access to inputs, attributes and outputs. Whatever a model can get wrong about its node throws Refusal here.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_NODE_H
#define ML2K_FRONTEND_ONNX_IMPORTER_NODE_H

#include "translator/frontend/onnx/importer/Build.h"
#include "translator/frontend/onnx/importer/Protos.h"
#include "translator/frontend/onnx/importer/Refusal.h"
#include "translator/frontend/onnx/importer/TensorData.h"

#include <functional>
#include <memory>
#include <optional>

namespace ml2k::frontend {

/// Integers times their scale, which is what DequantizeLinear makes: products can be made of them.
struct Dequantized {
  mlir::Value integers;             ///< less their zero point, i32; null for constants
  mlir::DenseElementsAttr constant; ///< the same, known at import
  std::vector<float> scale;         ///< one, or one for each position along `axis`
  int64_t axis = 0;
};

/// What a name of the graph stands for.
struct GraphValue {
  std::string name;
  int32_t dataType = 0;             ///< TensorProto::DataType: MLIR's integers have no sign
  mlir::Value value;                ///< null while it is a constant that nothing has used as data
  mlir::DenseElementsAttr constant; ///< null if not known at import
  bool isRefused = false;           ///< its node was refused; nodes that use it are passed over
  /// Some elements of `constant` are codes of sizes that are known at run time only (Extents): part of a shape.
  bool hasUnknown = false;
  bool isFill = false;    ///< `constant` is one number everywhere, by its node: code, whatever its size, not data
  bool isTrained = false; ///< `constant` is a weight even of one element: floats of rank 1 or more from an initializer
  /// Where run-time data decide how much of it is there: axes, and the number of positions along each that hold
  /// elements, a tensor<i64>. The extents of the type are the most there can be.
  std::vector<std::pair<int64_t, mlir::Value>> counts = {};
  /// The size that a scalar float is, where that is known at run time only.
  std::optional<Extent> size = {};
  std::shared_ptr<Dequantized const> dequantized = {}; ///< null for most values

  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(constant ? constant.getType() : value.getType());
  }
};

class Node {
public:
  /// `inputs` has null for an omitted one; `materialize` makes an operation for a constant that is used as data.
  Node(pb::NodeProto const &proto, int opset, std::vector<GraphValue *> inputs, Build &build,
       std::function<mlir::Value(GraphValue &)> materialize, std::string directory);

  pb::NodeProto const &proto;
  int opset;
  Build &b;

  //===--- Inputs ---===//
  size_t inputCount() const { return inputs.size(); }
  bool has(size_t at) const { return at < inputs.size() && inputs[at]; }
  mlir::Value in(size_t at);
  llvm::SmallVector<mlir::Value> allInputs();
  mlir::RankedTensorType type(size_t at) const { return given(at).type(); }
  IntsRef shape(size_t at) const { return type(at).getShape(); }
  std::vector<Extent> extents(size_t at) const;
  int64_t rank(size_t at) const { return type(at).getRank(); }
  /// The number of elements; refuses a shape that is not known at import.
  int64_t elements(size_t at) const {
    needStatic(at);
    return type(at).getNumElements();
  }
  mlir::Type element(size_t at) const { return type(at).getElementType(); }
  int32_t dataType(size_t at) const { return given(at).dataType; }
  bool isUnsigned(size_t at = 0) const { return isUnsignedType(dataType(at)); }
  /// Null if the input is not known at import.
  mlir::DenseElementsAttr constant(size_t at) const { return given(at).constant; }
  /// Null as well if sizes that are known at run time only are among the numbers.
  mlir::DenseElementsAttr numbers(size_t at) const {
    return given(at).hasUnknown ? mlir::DenseElementsAttr() : constant(at);
  }
  /// The integers of an input that must be known at import; `what` names it in the message.
  Ints ints(size_t at, llvm::StringRef what) const;
  /// The same where more than 32 bits are usual: "to the end", "for ever".
  Ints wideInts(size_t at, llvm::StringRef what) const;
  /// The same where sizes that are known at run time only may be among them.
  std::vector<Extent> shapeInput(size_t at, llvm::StringRef what) const;
  double scalar(size_t at, llvm::StringRef what) const;
  /// A scalar that is a whole number or a size; nothing if it is neither. Its type may be a float.
  std::optional<Extent> sizeInput(size_t at) const;
  void needRank(size_t at, int64_t low, int64_t high) const;
  void needFloat(size_t at) const;
  /// A constant that the node needs besides its inputs, named after it: a weight called `<node>.<name>`.
  mlir::Value table(llvm::StringRef name, mlir::DenseElementsAttr value) const;
  /// The same under a name of the graph.
  mlir::Value weight(llvm::StringRef name, mlir::DenseElementsAttr value) const;
  /// Null where DequantizeLinear did not make the input, or not of integers of 8 bits with scales that are known.
  Dequantized const *dequantized(size_t at) const { return given(at).dequantized.get(); }
  llvm::StringRef nameOf(size_t at) const { return given(at).name; }
  /// All extents known.
  void needStatic(size_t at) const;

  //===--- Attributes ---===//
  pb::AttributeProto const *attribute(llvm::StringRef name) const;
  int64_t intAttr(llvm::StringRef name, std::optional<int64_t> otherwise = std::nullopt) const;
  double floatAttr(llvm::StringRef name, std::optional<double> otherwise = std::nullopt) const;
  std::string stringAttr(llvm::StringRef name, std::optional<std::string> otherwise = std::nullopt) const;
  std::optional<Ints> intsAttr(llvm::StringRef name) const;
  std::optional<Ints> wideIntsAttr(llvm::StringRef name) const;
  /// Integers that are an attribute in old versions and an input in later ones; nothing if absent.
  std::optional<Ints> intsAttrOrInput(llvm::StringRef name, size_t at) const;
  /// Numbers of an attribute of floats, or of a tensor of floats or doubles called `<name>_as_tensor`, whichever there
  /// is.
  std::optional<std::vector<double>> numbersAttr(llvm::StringRef name) const;
  std::vector<std::string> stringsAttr(llvm::StringRef name) const;
  std::vector<double> tensorNumbers(pb::TensorProto const &tensor) const;
  mlir::DenseElementsAttr tensorAttr(pb::TensorProto const &tensor) const;
  /// An axis in [0, rank).
  int64_t axis(int64_t value, int64_t rank) const;
  Ints axes(IntsRef values, int64_t rank) const;
  int64_t axisAttr(llvm::StringRef name, std::optional<int64_t> otherwise, int64_t rank) const {
    return axis(intAttr(name, otherwise), rank);
  }

  //===--- Outputs ---===//
  size_t outputCount() const { return proto.output_size(); }
  bool wants(size_t at) const { return at < outputCount() && !proto.output(at).empty(); }
  /// Integers are taken as of the signedness of input 0; see below for the other case.
  void out(size_t at, mlir::Value value);
  void out(size_t at, mlir::Value value, int32_t dataType);
  void outConstant(size_t at, mlir::DenseElementsAttr value, int32_t dataType);
  /// A weight under another name than the output's.
  void outWeight(size_t at, mlir::DenseElementsAttr value, int32_t dataType, llvm::StringRef name);
  /// Input `at`, where it has one element, belongs to the operator, not to what is trained: an exponent, a bound, the
  /// scale of a quantized tensor.
  void keepAsNumber(size_t at);
  /// One number everywhere, which no file has to hold.
  void outFill(size_t at, mlir::RankedTensorType type, mlir::Attribute number, int32_t dataType);
  /// Of `value` the first `count` positions along `axis` hold elements.
  void outCounted(size_t at, mlir::Value value, int32_t dataType, int64_t axis, mlir::Value count);
  void outShape(size_t at, llvm::ArrayRef<Extent> extents);
  /// The output is input 0 with another shape; a constant stays one, under its own name.
  void outReshaped(size_t at, IntsRef shape);
  void outReshapedTo(size_t at, llvm::ArrayRef<Extent> shape);

  [[noreturn]] void refuse(llvm::Twine const &message) const { throw Refusal(message); }

  /// What the import function has set, by output.
  std::vector<std::optional<GraphValue>> outputs;

private:
  GraphValue &given(size_t at) const;
  Ints knownInput(size_t at, llvm::StringRef what) const;
  pb::AttributeProto const *attribute(llvm::StringRef name, pb::AttributeProto::AttributeType type) const;

  std::vector<GraphValue *> inputs;
  std::function<mlir::Value(GraphValue &)> materialize;
  std::string directory;
};

} // namespace ml2k::frontend

#endif
