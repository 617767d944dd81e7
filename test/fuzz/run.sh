#!/bin/bash
# run.sh FUZZER TOOLS: a short run from the seeds, always the same; RUNS=-1 SECONDS_PER_FUZZER=600 makes it long.
# TOOLS holds onnx-encode, for the sidecar the printed net.
set -e
[ -x "$1" ] || { echo "$1 was not built"; exit 77; }
fuzzer=$1 tools=$2 name=$(basename "$1") here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/seeds" "$work/found"
case $name in
fuzz-onnx)
  for text in "$here"/../tool/malformed/*.textproto "$here"/seeds/*.textproto; do
    "$tools/onnx-encode" "$text" >"$work/seeds/$(basename "$text" .textproto)" 2>/dev/null || true
  done ;;
fuzz-mlir) cp "$here"/../tool/malformed/*.mlir "$here"/seeds/*.mlir "$work/seeds" ;;
fuzz-sidecar) cp "$tools/net.safetensors" "$work/seeds" ;;
esac
dictionary=()
[ ! -f "$here/$name.dict" ] || dictionary=(-dict="$here/$name.dict")
# Objects of shared libraries that are not instrumented live until the process ends; limits keep a hang or a huge
# allocation from passing.
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=1
cd "$work/found"
"$fuzzer" -seed=1 -runs="${RUNS:-5000}" -max_total_time="${SECONDS_PER_FUZZER:-30}" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
  "${dictionary[@]}" "$work/found" "$work/seeds" >"$work/log" 2>&1 || {
  tail -40 "$work/log"
  for input in crash-* oom-* timeout-* leak-*; do
    if [ -f "$input" ]; then echo "input, in base 64:"; base64 "$input"; fi
  done
  exit 1
}
grep -E 'number_of_executed_units|new_units_added' "$work/log"
