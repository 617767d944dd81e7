//===- Kernels.cpp - which file prints which kernel ---------------------------------------------------------------===//

#include "translator/emit/model/Layer.h"

#include <map>

namespace ml2k {

KernelPrinter lookUpKernel(llvm::StringRef operation) {
  static std::map<std::string, KernelPrinter> const table = {{"nest.map", printMap},
                                                             {"nest.reduce", printReduce},
                                                             {"nest.row", printRow},
                                                             {"nest.conv", printConv},
                                                             {"nest.contract", printContract},
                                                             {"nest.window", printWindow},
                                                             {"nest.recurrent", printRecurrent},
                                                             {"nest.top_k", printTopK},
                                                             {"nest.sort", printSort},
                                                             {"nest.trees", printTrees},
                                                             {"nest.assemble", printAssembly},
                                                             {"nest.kernel", printLoopKernel}};
  auto const found = table.find(operation.str());
  return found == table.end() ? nullptr : found->second;
}

} // namespace ml2k
