#!/bin/sh
# refused.sh CODE DIR ARGUMENTS: ml2kokkos must end with the exit code CODE and leave the files that lie in DIR as they are,
# with nothing beside them. Its messages go to standard output. DIR/model.{hpp,cpp,safetensors} are made if DIR is new.
code=$1 dir=$2
shift 2
if [ ! -d "$dir" ]; then
  mkdir -p "$dir"
  for name in hpp cpp safetensors; do echo "previous $name" >"$dir/model.$name"; done
fi
state() { (cd "$dir" && ls -la --time-style=full-iso && cat ./*) 2>&1; }
before=$(state)
"${ML2KOKKOS:-ml2kokkos}" "$@" 2>&1
actual=$?
[ "$actual" = "$code" ] || { echo "exit code $actual instead of $code"; exit 1; }
[ "$(state)" = "$before" ] || { echo "the output folder has changed:"; state; exit 1; }
