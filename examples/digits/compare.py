#!/usr/bin/env python3
"""Runs the application and onnxruntime on the held-out digits; the accuracies must be equal. compare.py APP"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).parent


def main():
    said = subprocess.run([sys.argv[1], HERE], capture_output=True, text=True, check=True).stdout
    print(said, end="")
    records = np.fromfile(HERE / "held_out.bin", np.uint8).reshape(-1, 65)
    images, labels = records[:, :64].astype(np.float32) / 16, records[:, 64]
    expected = ""
    for name, shape in (("mlp", (-1, 64)), ("cnn", (-1, 1, 8, 8))):
        session = onnxruntime.InferenceSession(str(HERE / f"{name}.onnx"), providers=["CPUExecutionProvider"])
        (logits,) = session.run(None, {"image": images.reshape(shape)})
        expected += f"{name}: accuracy {np.mean(logits.argmax(1) == labels):.4f} on {len(labels)} held-out digits\n"
    print("onnxruntime:", expected, sep="\n", end="")
    sys.exit(0 if said == expected else "the accuracies differ")


if __name__ == "__main__":
    main()
