//===- Importer.h - from a model to a module ------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_IMPORTER_H
#define ML2K_FRONTEND_ONNX_IMPORTER_IMPORTER_H

#include "translator/frontend/ImportOptions.h"
#include "translator/frontend/onnx/importer/Registry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace ml2k::frontend {

/// The names of a graph or of a function body. Addresses of values are stable.
using Scope = std::unordered_map<std::string, GraphValue>;
using Opsets = std::map<std::string, int>;
using Nodes = std::vector<pb::NodeProto const *>;

/// Whether a Scan's states stay as they are, and its steps know only operators that take all of them at once.
bool canScanAtOnce(pb::GraphProto const &body, size_t states);
/// Operators that broadcast their inputs and join nothing.
bool isElementwise(llvm::StringRef op);
/// The names that a body, or one inside it, asks for.
void collectNames(pb::GraphProto const &body, std::unordered_set<std::string> &names);
/// A name for an operand of a node, which nothing in the scope has.
std::string freshName(Scope const &scope, pb::NodeProto const &node, std::string const &operand);

/// A dimension to another place.
mlir::Value moved(Build &build, mlir::Value value, int64_t from, int64_t to);

/// Nodes that loops may come to when they are written out.
constexpr int64_t maxUnrolledNodes = 1 << 14;
/// All loops of a model, those in bodies of others as often as these are written out.
constexpr int64_t maxUnrolledInAll = 1 << 15;

/// A Loop or a Scan: which names of its body are the states, and what these are before the first step.
struct StepLoop {
  pb::GraphProto const &body;
  size_t firstIn, firstOut; ///< the states among the inputs and outputs of the body
  std::vector<GraphValue> states;
  std::vector<GraphValue> sequences; ///< inputs of the body behind the states, a step each; steps are in front
  Ints reversed, reversedOut; ///< sequences, and outputs behind the states, that go from the last step to the first
  Extent count;               ///< of steps: at most, if `hasCondition`
  bool hasCondition;          ///< input 1 and output 0 of the body say whether there is another step
};

/// Axes of the sequences that a Scan reads and writes, and which of them go from the last step to the first.
struct ScanAxes {
  Ints in, out, reversed, reversedOut;
};

class Importer {
public:
  Importer(mlir::MLIRContext &context, pb::ModelProto const &model, llvm::StringRef fileName, llvm::StringRef directory,
           ImportOptions const &options);

  /// Null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  friend class StepImport;
  using Values = std::vector<GraphValue>;

  mlir::InFlightDiagnostic error();
  void report(pb::NodeProto const &node, int opset, llvm::Twine const &message);

  void findRoot();
  /// What the printed code calls a node or tensor.
  std::string shortName(llvm::StringRef name) const;

  void checkModel();
  void checkDims();
  void importInitializers(Scope &scope);
  void importInputs(Scope &scope);
  /// The constant that --operand makes of an input.
  mlir::DenseElementsAttr operandValue(std::string const &name, mlir::RankedTensorType type, bool isUnsigned);
  void checkOperands(Scope const &scope);
  void checkDeclared(pb::ValueInfoProto const &output, GraphValue const &value);
  void importOutputs(Scope &scope);
  void nameExtents(pb::ValueInfoProto const &input);
  void describeExtents(mlir::Value result, std::string const &name, mlir::NamedAttrList &attributes);
  mlir::Type inputType(pb::ValueInfoProto const &input);
  int64_t extentOf(pb::ValueInfoProto const &input, int dim);
  std::string extentName(pb::ValueInfoProto const &input, int dim);

  Nodes sortedNodes(Scope const &scope);
  /// The nodes with one Scan for lanes of the same operators on slice after slice.
  Nodes rolled(Nodes nodes, Scope &scope);
  /// The nodes with a reduction for each loop over bags of rows, all of one length.
  Nodes withoutBags(Nodes nodes, Scope &scope);
  Nodes bagNodes(pb::NodeProto const &joined, pb::NodeProto const &loop, std::string const &rows,
                 std::string const &reduction, std::string const &bags, int64_t length, std::string const &stem,
                 Scope &scope);
  void importNodes(Nodes const &nodes, Scope &scope, Opsets const &opsets);
  void importNode(pb::NodeProto const &node, Scope &scope, Opsets const &opsets);
  /// Runs a node whose inputs are small constants; false if it has to run at run time.
  bool foldNode(pb::NodeProto const &node, int opset, ImportFunction const &function,
                std::vector<GraphValue *> const &inputs, Scope &scope);
  bool expandFunction(pb::NodeProto const &node, int opset, std::vector<GraphValue *> const &inputs, Scope &scope);
  void expandBody(pb::FunctionProto const &body, pb::NodeProto const &node, Opsets const &opsets,
                  std::vector<GraphValue *> const &inputs, Scope &scope);
  /// False if the node is none of If, Loop, Scan.
  bool importControl(pb::NodeProto const &node, int opset, std::vector<GraphValue *> const &inputs, Scope &scope,
                     Opsets const &opsets);
  /// Names in a body: those around it, its initializers and inputs.
  Scope scopeOf(pb::GraphProto const &body, Values const &inputs, Scope const &around);
  Values importBody(pb::GraphProto const &body, Values const &inputs, Scope const &around, Opsets const &opsets);
  Values importIf(Node const &node, GraphValue &condition, Scope const &around, Opsets const &opsets);
  Values importLoop(Node const &node, Values states, Scope const &around, Opsets const &opsets);
  /// States and outputs, steps in front, by a loop of the module; nothing if its steps are better written out.
  std::optional<Values> importSteps(StepLoop const &loop, Scope const &around, Opsets const &opsets);
  std::optional<Values> importScanSteps(pb::GraphProto const &body, Values const &inputs, size_t states,
                                        ScanAxes const &axes, Scope const &around, Opsets const &opsets);
  Values importScan(Node const &node, Values inputs, Scope const &around, Opsets const &opsets);
  /// The same where no step needs another one: the steps are one more dimension, in front, of the sequences and of what
  /// depends on them.
  Values importScanAtOnce(pb::GraphProto const &body, Values inputs, IntsRef axes, IntsRef outputAxes,
                          Scope const &around, Opsets const &opsets);
  void importForAllSteps(pb::NodeProto node, Scope &scope, std::unordered_set<std::string> &varying,
                         Opsets const &opsets);
  Values importBatchedScan(Node const &node, Values inputs, Scope const &around, Opsets const &opsets);
  GraphValue stacked(Values &steps, int64_t axis);
  GraphValue stepOf(GraphValue &sequence, int64_t axis, int64_t step);
  mlir::Value valueOf(GraphValue &value);
  bool findInputs(pb::NodeProto const &node, int opset, Scope &scope, std::vector<GraphValue *> &inputs);
  /// Counted inputs: passed on by a few operators, else refused.
  void passCounts(pb::NodeProto const &node, std::vector<GraphValue *> const &inputs, Scope &scope);
  void define(pb::NodeProto const &node, int opset, Scope &scope, Node &done);
  void refuseOutputs(pb::NodeProto const &node, Scope &scope);
  /// Throws if loops come to too many nodes.
  void countUnrolled(int64_t nodes);

  /// The operation of a constant that is used as data: a weight, or a constant for a single element.
  mlir::Value materialize(GraphValue &value);
  mlir::Value computeSizes(GraphValue const &value);
  /// A name that no weight of another value has.
  std::string weightName(std::string const &name, mlir::DenseElementsAttr value);

  mlir::MLIRContext &context;
  pb::ModelProto const &model;
  std::string fileName, directory;
  ImportOptions const &options;
  Build build;
  Opsets modelOpsets;
  mlir::func::FuncOp function;
  mlir::Operation *lastWeight = nullptr;
  llvm::StringMap<mlir::Value> weights;
  std::string root; ///< what names of TensorFlow begin with
  std::deque<pb::NodeProto> rolledNodes;
  /// Loops that turned out to be none: what is known of sizes is remembered by values in them.
  std::vector<mlir::OwningOpRef<mlir::Operation *>> discarded;
  std::unordered_set<std::string> usedDims;
  std::string batched; ///< the input whose first extent is called `batch`, without a name in the model
  mlir::Location nodeLocation;
  int expansionDepth = 0;
  std::string bodyPart; ///< of the node, that a node of a function's body is: its operation
  int64_t unrolledNodes = 0;
  bool hasFailed = false;
};

} // namespace ml2k::frontend

#endif
