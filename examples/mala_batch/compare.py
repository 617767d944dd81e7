#!/usr/bin/env python3
"""Runs the application and onnxruntime, one thread each, on the same 8748 points: maximal error at most 1e-5 of the largest value.
compare.py APP MODEL.onnx WEIGHTS.safetensors"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

POINTS = 8748  # 18 x 27 x 18, a plane's part of a grid of aluminium


def reference(model, descriptors):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    best = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        (ldos,) = session.run(None, {"descriptors": descriptors})
        best = min(best, time.perf_counter() - start)
    return ldos, best


def main():
    app, model, weights = sys.argv[1:]
    descriptors = np.random.default_rng(1).standard_normal((POINTS, 91)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        given, made = os.path.join(folder, "descriptors"), os.path.join(folder, "ldos")
        descriptors.tofile(given)
        done = subprocess.run([app, weights, given, made], capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
        if done.returncode != 0:
            sys.exit(done.stderr)
        ldos = np.fromfile(made, np.float32).reshape(POINTS, -1)
    print(done.stdout, end="")
    expected, seconds = reference(model, descriptors)
    error = np.abs(ldos - expected).max() / np.abs(expected).max()
    print(f"onnxruntime: {seconds * 1e3:.3f} ms (one thread each); maximal error {error:.1e} of the largest value")
    sys.exit(0 if error <= 1e-5 else 1)


if __name__ == "__main__":
    main()
