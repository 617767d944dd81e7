//===- Registry.h - which function imports which operator -----------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_REGISTRY_H
#define ML2K_FRONTEND_ONNX_IMPORTER_REGISTRY_H

#include "translator/frontend/onnx/importer/Node.h"

#include <initializer_list>
#include <map>

namespace ml2k::frontend {

/// Sets the outputs of a node, or throws Refusal.
using ImportFunction = std::function<void(Node &)>;

/// The newest opset of the default domain whose changes the tables take into account.
constexpr int newestOpset = 28;

/// Of the operators of classical models, and the newest version of these.
constexpr llvm::StringLiteral classicalDomain = "ai.onnx.ml";
constexpr int newestClassicalOpset = 5;

/// Rows keyed on (domain, operator, since-version of the specification). A node is imported by the row with the largest
/// version that is not above the model's opset, if that is the version the specification means, too: every version up
/// to newestOpset either has a row or is declared as unsupported.
class Registry {
public:
  static Registry const &instance();

  void add(llvm::StringRef name, std::initializer_list<int> versions, ImportFunction function,
           llvm::StringRef domain = "");
  /// Versions with another meaning that nobody has written an import for.
  void addUnsupported(llvm::StringRef name, std::initializer_list<int> versions, llvm::StringRef domain = "") {
    add(name, versions, nullptr, domain);
  }

  /// Null if there is none.
  ImportFunction const *find(llvm::StringRef domain, llvm::StringRef name, int opset) const;
  bool knows(llvm::StringRef domain, llvm::StringRef name) const { return rows.count({domain.str(), name.str()}); }
  std::map<std::pair<std::string, std::string>, std::map<int, ImportFunction>> const &all() const { return rows; }

private:
  Registry();
  std::map<std::pair<std::string, std::string>, std::map<int, ImportFunction>> rows;
};

// One per family of operators, in the file of that name.
void registerActivation(Registry &);
void registerAttention(Registry &);
void registerControl(Registry &);
void registerConvolution(Registry &);
void registerCounted(Registry &);
void registerUnique(Registry &);
void registerEinsum(Registry &);
void registerElementwise(Registry &);
void registerFeatures(Registry &);
void registerFourier(Registry &);
void registerGeometry(Registry &);
void registerIndexing(Registry &);
void registerLinearModels(Registry &);
void registerLoops(Registry &);
void registerMatMul(Registry &);
void registerMatrix(Registry &);
void registerMovement(Registry &);
void registerNGrams(Registry &);
void registerNormalization(Registry &);
void registerPooling(Registry &);
void registerQuantization(Registry &);
void registerRecurrent(Registry &);
void registerReduction(Registry &);
void registerResize(Registry &);
void registerSampling(Registry &);
void registerSelection(Registry &);
void registerShape(Registry &);
void registerSlice(Registry &);
void registerSuppression(Registry &);
void registerTrees(Registry &);
void registerVectorMachines(Registry &);

} // namespace ml2k::frontend

#endif
