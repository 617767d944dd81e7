#!/bin/bash
# host.sh ML2KOKKOS PYTHON: the commands and the pre-commit hook that docs/install.md gives host repositories, as it gives them.
set -euo pipefail
tool=$1 python=$2
here=$(cd "$(dirname "$0")" && pwd)
project=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$(dirname "$tool"):$PATH HOME=$work PRE_COMMIT_HOME=$work/cache GIT_CONFIG_NOSYSTEM=1
failed() { echo "failed: $*"; cat "$work/log"; exit 1; }
git config --global user.name test
git config --global user.email test@test
git config --global init.defaultBranch main
git config --global protocol.file.allow always

# A host repository: a model (any will do) and its committed code
cp -r "$here/Inputs/host" "$work/host"
cd "$work/host"
mkdir models source
cp "$project/examples/digits/mlp.onnx" models/resnet18.onnx
cp -r "$project/cmake" .
ml2kokkos models/resnet18.onnx -o source/resnet18.cpp
git init -q . && git add -A && git commit -qm "Committed code"

# In CI, with CMake and without
page=$project/docs/install.md
with_cmake=$(grep '^cmake -S . -B build -DML2KOKKOS_REGENERATE=OFF' "$page")
without=$(grep -o 'ml2kokkos models/resnet18.onnx -o source/resnet18.cpp --check' "$page")
ci() { bash -c "$with_cmake" >"$work/log" 2>&1; }
ci || failed "$with_cmake"
grep -q '1/1 Test #1: ml2kokkos.resnet18 .*Passed' "$work/log" || failed "no test ml2kokkos.resnet18"
bash -c "$without" >"$work/log" 2>&1 || failed "$without"

# As a hook, of a repository of ml2kokkos with the tag that the page has
"$python" -c 'import pre_commit' 2>/dev/null || { echo "no pre-commit: the hook is left out"; exit 1; }
git init -q "$work/ml2kokkos"
cp "$project/.pre-commit-hooks.yaml" "$work/ml2kokkos"
git -C "$work/ml2kokkos" add -A && git -C "$work/ml2kokkos" commit -qm hooks && git -C "$work/ml2kokkos" tag v0.1.0
sed -n '/^```yaml/,/^```/p' "$page" | sed '1d;$d' | sed "s|https://github.com/your/ml2kokkos[^\n]*|$work/ml2kokkos|" >.pre-commit-config.yaml
git add -A && git commit -qm "The hook"
hook() { "$python" -m pre_commit run "$@" >"$work/log" 2>&1; }
"$python" -m pre_commit install >"$work/log" 2>&1 || failed install
hook --all-files || failed "hook on fresh files"
grep -q 'printed Kokkos code is up to date.*Passed' "$work/log" || failed "the hook has not run"

# All three see an edited file; the hook keeps it out of a commit, and is not run for other files
sed -i 's/void forward/void backward/' source/resnet18.cpp
! ci || failed "CMake passes an edited file"
! bash -c "$without" >"$work/log" 2>&1 || failed "an edited file passes"
git add -A
! git commit -qm "Edited" >"$work/log" 2>&1 || failed "the hook passes an edited file"
grep -q '^+.*void forward' "$work/log" || grep -q '^-.*void backward' "$work/log" || failed "no difference is shown"
git checkout -q HEAD -- source
echo text >notes.txt && git add -A && git commit -qm "Notes" >"$work/log" 2>&1 || failed "a commit of other files"
grep -q 'Skipped' "$work/log" || failed "the hook ran for other files"
