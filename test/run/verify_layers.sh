#!/bin/bash
# verify_layers.sh PYTHON MODEL.onnx: --layers agrees on every tensor, and names the first that deviates where none can agree.
set -eu
verify=$(dirname "$0")/../../scripts/verify.py
said=$("$1" "$verify" "$2" --layers)
[ "$(grep -c '^ok' <<<"$said")" -ge 3 ] && ! grep -q '^FAIL' <<<"$said" || { echo "$said"; exit 1; }
if said=$("$1" "$verify" "$2" --layers --tolerance=-1); then
  echo "no tensor deviates by less than nothing: $said"
  exit 1
fi
first=$(grep -m 1 '^FAIL' <<<"$said" | awk '{print $2}')
grep -q "^first to deviate: $first: " <<<"$said" || { echo "$said"; exit 1; }
