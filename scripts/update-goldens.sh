#!/bin/bash
# Writes the committed outputs again: the examples' and test/golden's. Review the diff like any other (docs/review-guide.md).
. "$(dirname "$0")/setup.sh"
set_up ml2kokkos
cd "$project/examples"
"$ml2kokkos" digits/mlp.onnx -o digits/digits_mlp.cpp
"$ml2kokkos" digits/cnn.onnx -o digits/digits_cnn.cpp
"$ml2kokkos" mlp_mlir/mlp.mlir -o mlp_mlir/mlp.cpp
"$ml2kokkos" stencil/heat.mlir -o stencil/heat.cpp
"$ml2kokkos" nbody/nbody.mlir -o nbody/nbody.cpp
"$ml2kokkos" sparse/assemble.mlir -o sparse/assemble.cpp
"$ml2kokkos" sparse/solve.mlir -o sparse/solve.cpp
"$ml2kokkos" column_physics/closure.onnx --form=launch,team,thread -o column_physics/closure.cpp
"$ml2kokkos" mpi_closure/closure.onnx --form=thread -o mpi_closure/closure.cpp
"$ml2kokkos" llvm_pass/unroll.onnx --form=server -o llvm_pass/unroll.cpp
"$ml2kokkos" fortran_closure/mixing.onnx --form=fortran -o fortran_closure/mixing.cpp
mala_batch/prepare.sh "$ml2kokkos" "$build/examples/mala_batch" "$venv/bin/python"
cp "$build"/examples/mala_batch/mala.{cpp,hpp} mala_batch/
resnet18/prepare.sh "$ml2kokkos" "$build/examples/resnet18" "$venv/bin/python"
cp "$build"/examples/resnet18/resnet18.{cpp,hpp} resnet18/
"$venv/bin/python" "$project/scripts/readme_diff.py" "$ml2kokkos"
cd "$project/test/golden" 2>/dev/null || exit 0
for model in *.onnx *.mlir; do
  [ -e "$model" ] && "$ml2kokkos" "$model" -o "${model%.*}.cpp"
done
