#!/bin/bash
# Sets the machine up, then translates, builds and runs two examples: resnet18 on a photograph, digits on held-out images.
. "$(dirname "$0")/setup.sh"
set_up ml2kokkos
out=$build/examples

say "resnet18: making the model and translating it"
"$project/examples/resnet18/prepare.sh" "$ml2kokkos" "$out/resnet18" "$venv/bin/python"
(cd "$out/resnet18" && wc -l resnet18.hpp resnet18.cpp && ls -sh resnet18.safetensors)
for example in resnet18 digits; do
  say "$example: compiling the application in examples/$example"
  quietly "$example" cmake -G Ninja -S "$project/examples/$example" -B "$out/$example/app" -DCMAKE_BUILD_TYPE=Release \
    -DKokkos_ROOT="$Kokkos_ROOT" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  quietly "$example" ninja -C "$out/$example/app" -j "$JOBS"
done
say "digits: held-out images"
"$venv/bin/python" "$project/examples/digits/compare.py" "$out/digits/app/digits_app"
say "resnet18: one photograph"
"$venv/bin/python" "$project/examples/resnet18/compare.py" "$out/resnet18/app/resnet18_app" "$out/resnet18/resnet18.onnx" \
  "$out/resnet18/resnet18.safetensors" "$out/resnet18/image.bin"
say "done; now read examples/resnet18/resnet18.cpp and the application beside it"
