#!/bin/bash
# run.sh FUZZER TOOLS: the models or programs of all tests, then a short run from seeds, always the same. RUNS=-1
# SECONDS_PER_FUZZER=600 makes it long, and the programs of the tests are seeds, too. TOOLS holds onnx-encode, for the sidecar the printed
# net.
set -e
[ -x "$1" ] || { echo "$1 was not built"; exit 77; }
fuzzer=$1 tools=$2 name=$(basename "$1") here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/seeds" "$work/tests" "$work/found"
case $name in
fuzz-onnx)
  encode() { # FOLDER < names
    local number=0
    while read -r text; do
      number=$((number + 1))
      "$tools/onnx-encode" "$text" >"$1/$number" 2>/dev/null </dev/null || true
    done
  }
  ls "$here"/../tool/malformed/*.textproto "$here"/seeds/*.textproto | encode "$work/seeds"
  find "$here/.." -name '*.textproto' -o -name '*.onnxtxt' | sort | encode "$work/tests" ;;
fuzz-mlir)
  cp "$here"/../tool/malformed/*.mlir "$here"/seeds/*.mlir "$work/seeds"
  find "$here/.." -name '*.mlir' | sort | tr '\n' '\0' | xargs -0 awk -v tests="$work/tests/" '
    FNR == 1 || /^\/\/ -----/ { close(test); test = tests (number += 1) } # a file may hold several programs
    !/^ *\/\// { print >test }' ;;
fuzz-sidecar) cp "$tools/net.safetensors" "$work/seeds" ;;
esac
dictionary=()
[ ! -f "$here/$name.dict" ] || dictionary=(-dict="$here/$name.dict")
# Objects of shared libraries that are not instrumented live until the process ends; limits keep a hang or a huge
# allocation from passing.
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=1
cd "$work/found"
fuzz() { # ARGUMENT...
  "$fuzzer" -seed=1 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 "${dictionary[@]}" "$@" >"$work/log" 2>&1 || {
    tail -40 "$work/log"
    for input in crash-* oom-* timeout-* leak-*; do
      if [ -f "$input" ]; then echo "input, in base 64:"; base64 "$input"; fi
    done
    exit 1
  }
}
corpora=("$work/seeds")
if [ -n "$RUNS" ]; then corpora+=("$work/tests"); elif [ -n "$(ls "$work/tests")" ]; then fuzz "$work/tests"/*; fi
fuzz -runs="${RUNS:-5000}" -max_total_time="${SECONDS_PER_FUZZER:-30}" "$work/found" "${corpora[@]}"
grep -E 'number_of_executed_units|new_units_added' "$work/log"
