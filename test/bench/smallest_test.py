"""bench/run.py on its smallest case: what stands in the JSON. And that the models of kernels are models."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import onnx

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "bench"))
import kernels # noqa: E402

FIELDS = {"case", "threads", "compiler", "peer", "ours_ms", "peer_ms", "ratio", "ratio_median", "max_error", "load"}


class Smallest(unittest.TestCase):
    def test_results(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "smallest.json"
            command = [sys.executable, PROJECT / "bench/run.py", "--smallest", "--naive", "--json", path]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, "ML2K_PYTHON": "1"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            results = json.loads(path.read_text())
        self.assertEqual({result["peer"] for result in results}, {"onnxruntime", "naive"})
        self.assertEqual(len({result["case"] for result in results}), 1)
        for result in results:
            self.assertEqual(set(result), FIELDS)
            self.assertGreater(result["ours_ms"], 0)
            self.assertAlmostEqual(result["ratio"] * result["ours_ms"], result["peer_ms"], delta=1e-6 * result["peer_ms"])
            self.assertLess(result["max_error"], 1e-4)

    def test_models_of_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for text in ["gemm_odd_17", "gemm_dynamic_7x", "small_mlp", "mala_mlp", "conv_64x56x128x1", "256x512"]:
                found += kernels.find(Path(folder), text)
            for case in found:
                onnx.checker.check_model(onnx.load(case.path), full_check=True)
        names = {case.name for case in found}
        self.assertTrue({"gemm_dynamic_7x1024x1024", "mala_mlp_1", "add_relu_256x512", "softmax_256x512"} <= names, names)
        self.assertEqual([case.extents for case in found if case.name.startswith("gemm_dynamic")], [{"rows": 7}])


if __name__ == "__main__":
    unittest.main()
