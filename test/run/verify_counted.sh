#!/bin/bash
# verify_counted.sh PYTHON: outputs whose size depends on data are compared in the size that they have.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$1" - "$folder/counted.onnx" <<'END'
import sys
import onnx
from onnx import TensorProto, helper

value = helper.make_tensor_value_info
nodes = [helper.make_node("NonZero", ["x"], ["where"]), helper.make_node("Unique", ["i"], ["u", "first", "back", "count"])]
outputs = [value("where", TensorProto.INT64, [2, "n"]), value("u", TensorProto.INT64, ["k"]), value("first", TensorProto.INT64, ["k"]),
           value("back", TensorProto.INT64, [30]), value("count", TensorProto.INT64, ["k"])]
inputs = [value("x", TensorProto.INT64, [4, 5]), value("i", TensorProto.INT64, [30])]
graph = helper.make_graph(nodes, "counted", inputs, outputs)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), sys.argv[1])
END
said=$("$1" "$(dirname "$0")/../../scripts/verify.py" "$folder/counted.onnx" --integers 0:4)
[ "$(grep -c '^ok' <<<"$said")" -eq 5 ] || { echo "$said"; exit 1; }
