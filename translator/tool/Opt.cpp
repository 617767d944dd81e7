//===- Opt.cpp - ml2kokkos-opt: runs any pass alone ---------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "translator/ir/Registration.h"
#include "translator/tool/SchedulePass.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ml2k::registerDialects(registry);
  ml2k::registerPasses();
  ml2k::registerSchedulePass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "ml2kokkos passes\n", registry));
}
