#!/usr/bin/env python3
"""Runs the application and onnxruntime, both on one thread, on the same image: same top 5, maximal error at most 1e-4 of the
largest logit. compare.py APP MODEL.onnx WEIGHTS.safetensors IMAGE.bin"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime


def reference(model, image):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (logits,) = session.run(None, {"image": image})
    times = []
    for _ in range(20):
        start = time.perf_counter()
        session.run(None, {"image": image})
        times.append((time.perf_counter() - start) * 1e3)
    return logits.ravel(), statistics.median(times)


def run_app(app, weights, image):
    with tempfile.NamedTemporaryFile() as logits:
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        done = subprocess.run([app, weights, image, logits.name], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return np.fromfile(logits.name, np.float32), done.stdout


def main():
    app, model, weights, path = sys.argv[1:]
    logits, said = run_app(app, weights, path)
    print(said, end="")
    expected, milliseconds = reference(model, np.fromfile(path, np.float32).reshape(1, 3, 224, 224))
    top = np.argsort(-expected)[:5]
    print("onnxruntime:", *(f"{c} ({expected[c]:.4f})" for c in top))
    print(f"onnxruntime time: {milliseconds:.2f} ms (one thread)")
    error = np.abs(logits - expected).max() / np.abs(expected).max()
    same = list(np.argsort(-logits)[:5]) == list(top)
    print(f"maximal error {error:.1e} of the largest logit; top 5 {'equal' if same else 'DIFFERENT'}")
    sys.exit(0 if same and error <= 1e-4 else 1)


if __name__ == "__main__":
    main()
