#!/usr/bin/env python3
"""Writes a photograph as ResNet takes it: the middle of the picture, 224 x 224, normalised, [3][224][224] floats.
photograph.py OUTPUT.bin [PICTURE] (default: the one of a temple that scikit-learn brings)"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image


def sample():
    import sklearn.datasets

    return Path(sklearn.datasets.__file__).parent / "images/china.jpg"


def main():
    picture = Image.open(sys.argv[2] if len(sys.argv) > 2 else sample()).convert("RGB")
    side = min(picture.size)
    left, top = ((extent - side) // 2 for extent in picture.size)
    picture = picture.resize((224, 224), Image.Resampling.BILINEAR, (left, top, left + side, top + side))
    pixels = np.asarray(picture, np.float32) / 255
    pixels = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    pixels.transpose(2, 0, 1).astype(np.float32).tofile(sys.argv[1])


if __name__ == "__main__":
    main()
