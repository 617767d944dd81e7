//===- StepImport.h - a Loop or Scan whose steps are alike ----------------------------------------------*- C++ -*-===//
//
// A recurrent layer that a converter did not know is a Loop or a Scan around the operators of one step. Its steps are
// alike: they become one scf.for. What depends on the sequences alone, such as their products with weights, is
// computed for all steps before the loop, as for the operators LSTM, GRU and RNN.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_STEPIMPORT_H
#define ML2K_FRONTEND_ONNX_IMPORTER_STEPIMPORT_H

#include "translator/frontend/onnx/importer/Importer.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ml2k::frontend {

/// What a name of the body depends on.
enum class Origin {
  fixed,    ///< nothing that changes: the same in every step
  step,     ///< the number of the step: a sum of it and a constant
  sequence, ///< the step alone, and known for all steps before the loop
  state,    ///< the states
  unclear,  ///< the number of the step, by other operators
};

/// sign * step + offset
struct StepNumber {
  int64_t sign = 1, offset = 0;
};

class StepImport {
public:
  StepImport(Importer &importer, StepLoop const &loop, Scope const &around, Opsets const &opsets)
      : importer(importer), build(importer.build), loop(loop), body(loop.body), around(around), opsets(opsets),
        home(importer.build.getLoc()) {}

  std::optional<std::vector<GraphValue>> run();

private:
  using Values = std::vector<GraphValue>;

  std::string const &stateIn(size_t at) const { return body.input(loop.firstIn + at).name(); }
  std::string const &stateOut(size_t at) const { return body.output(loop.firstOut + at).name(); }
  size_t scanCount() const { return body.output_size() - loop.firstOut - loop.states.size(); }
  std::string const &scanOut(size_t at) const { return stateOut(loop.states.size() + at); }

  std::string const &resolved(std::string const &name) const;
  Origin originOf(std::string const &name) const;
  std::optional<int64_t> constantOf(std::string const &name) const;

  void begin();
  bool classifyStates();
  bool isCounter(size_t at) const;
  bool isChosen(size_t at) const;
  bool countSteps();
  void findNeeded();
  bool isWorthLoop() const;

  void visit(pb::NodeProto const &node);
  void define(pb::NodeProto const &node, Origin origin);
  bool readsOneSequence(pb::NodeProto const &node) const;
  bool keepsFront(pb::NodeProto const &node) const;
  bool isProductOfSteps(pb::NodeProto const &node) const;
  bool visitBatched(pb::NodeProto const &node);
  bool visitTranspose(pb::NodeProto const &node);
  void visitSequence(pb::NodeProto const &node);
  bool visitGemm(pb::NodeProto const &node);
  bool hasOneDirection(pb::NodeProto const &node, bool &isReversed) const;
  std::optional<StepNumber> stepOf(pb::NodeProto const &node) const;
  bool readRow(pb::NodeProto const &node);

  struct Row {
    mlir::Value value, place; ///< of a step, and where it goes
    int32_t dataType;
  };

  std::optional<Values> makeLoop();
  bool fillLoop(mlir::scf::ForOp steps);
  void discard(mlir::scf::ForOp steps);
  mlir::scf::ForOp withOutputs(mlir::scf::ForOp steps);
  GraphValue &found(std::string const &name, Scope &inner);
  bool isWhole(size_t scan) const;
  Values results(llvm::ArrayRef<GraphValue> made);
  void importStep(pb::NodeProto node, Scope &inner);
  void bind(std::string const &name, Scope &inner);
  void keepRow(pb::NodeProto &node, int at, Scope &inner);
  std::optional<mlir::Value> nextOf(size_t at, Scope &inner, mlir::Value carried);
  mlir::Value indexOf(bool isReversed);
  mlir::Value row(mlir::Value stack, mlir::Value index);
  mlir::Value insertRow(mlir::Value part, mlir::Value stack, mlir::Value index);

  Importer &importer;
  Build &build;
  StepLoop const &loop;
  pb::GraphProto const &body;
  Scope const &around;
  Opsets const &opsets;
  mlir::Location home; ///< of the node itself

  Scope scope; ///< what is known before the loop; sequences with the steps in front
  Extent count = 0;
  std::unordered_map<std::string, Origin> origins;
  std::unordered_map<std::string, StepNumber> numbers;
  std::unordered_map<std::string, std::string> same; ///< results of Identity
  std::unordered_map<std::string, pb::NodeProto const *> makers;
  std::unordered_set<std::string> varying, backwards; ///< sequences; those from the last step to the first
  std::unordered_set<pb::NodeProto const *> needed;
  std::vector<pb::NodeProto> perStep;     ///< nodes of the loop
  std::vector<size_t> carried;            ///< states of the loop
  std::vector<size_t> written;            ///< outputs that the loop writes, a row in each step
  llvm::SmallVector<mlir::Value> yielded; ///< by the states
  std::vector<Row> rows;                  ///< of these outputs
  mlir::Value index, mirrored;            ///< the number of the step, from either end
};

/// What a node, or a body of it, reads.
std::unordered_set<std::string> namesRead(pb::NodeProto const &node);

} // namespace ml2k::frontend

#endif
