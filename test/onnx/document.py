#!/usr/bin/env python3
"""Writes docs/onnx.md from the translator's table of operators; --check says whether it is up to date."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "python"))
from ml2kokkos.verify.translate import tool_path # noqa: E402

PAGE = PROJECT / "docs/onnx.md"

HEAD = """\
# ONNX operators

Written by `test/onnx/document.py` from the table of the translator (`ml2kokkos --print-supported-ops`); do not edit.

The numbers are the versions of the specification that are read. Operators that the specification defines by a function body
and that are not listed, and the local functions of a model, are expanded. Shapes, axes, counts and conditions of loops have
to be known at translation: constants of the model, computed from its shapes, or inputs that `--operand` makes constants.
Known at run time only may be: sizes (see below), the bounds of Slice (along known axes, by known steps), `k` of TopK and Trilu, the axis of CumSum,
the mask of Compress, the parameters of NonMaxSuppression, the condition of If, the steps of a Scan that is a loop. What is not supported is refused with
the node, its operator and the reason; strings, sequences, optionals, training and random numbers are refused so.

TopK takes a NaN for less than any number, or more where it takes the smallest, and the first of equal elements first. Up to 64 elements are
kept by whoever looks through a row; more, and those of Unique, are sorted: n log n steps, and two 64-bit integers of the workspace for
each element (four for elements of 64 bits). Unique sorts NaN last, as one kind.

`Attention` is a product, a softmax along rows and a product, as it is where a converter takes it apart: causal masks and windows are
comparisons of positions in the first, a mask of the model is read there, heads that share keys and values read them where they lie. A
query that sees no key gives zeros. What `past_key` and `TensorScatter` keep is copied into the output, since inputs are constant.

NonZero, Unique, NonMaxSuppression and those of the above whose results have no fixed size give the largest result that there can
be, and a count ([output-format.md](output-format.md)).

`If` with a condition that is known takes its branch; else both branches are computed and the results chosen element by
element. If a symbolic dimension chooses between shapes, as for a traced `squeeze`, it has to be given by `--dim`. A `Loop` or
`Scan` around products, or of eight steps or more, whose steps are alike (states of floats, and symbols that an ArgMax or TopK chooses, keep their shapes, the number of the step
is an index into a tensor) stays a loop, of a Scan also where run time tells the number of steps. It is a recurrent kernel where it is an LSTM, GRU or RNN that a converter took to pieces, and one kernel of
which each iteration takes all steps where the elements of its states go on by themselves (selective scans, averages, filters); what depends on its sequences alone is
computed for all steps before it. A Scan whose steps do not need each other and are made of elementwise operators and reductions, as converters write distances, is one
computation. Others are written out step by step. The same operators on slice after slice of a tensor, whose results a Concat puts side by side
(TimeDistributed of Keras), are such a Scan.

Operators of `ai.onnx.ml`, of which scikit-learn's, XGBoost's and LightGBM's models are made, are in
[classical-models.md](classical-models.md).

EmbeddingBag as PyTorch's exporter writes it, a `Loop` that appends a row to a sequence for each bag, is a sum, mean or maximum over the
rows of each bag where all bags have one length (indices `[bags, length]`); with offsets it is refused.

## Sizes known at run time only

A symbolic dimension of an input (`batch`, `seq`) stays one, and is read from the views; `--dim` makes it a number. A `Workspace` made for the
largest sizes serves all others; one that is too small is an exception. Dimensions
of one name are equal, others may differ. One without a name (none, `?`, an extent of -1) gets its own, which `--dim` takes as
well: `batch` for the first of the model, else `x_size_2` for the third of input `x`. What the model computes from them by Shape, Size, Gather, Slice, Concat, Squeeze,
Unsqueeze, Cast, Add, Sub, Mul, Div, Mod, Min, Max, comparisons and Where is arithmetic of `forward` on the host, or folds away: a
shape that is put together from them costs nothing. Such sizes can be the shape of Reshape, Expand, ConstantOfShape and Tile,
the bounds of Slice and Range, the parts of a Split, the amounts of a Pad, or data. Where it is not certain that sizes fit each other, `forward`
begins with a check that throws `std::invalid_argument` and names them: two extents that are broadcast have to be equal (neither
is taken as 1), bounds of a Slice have to lie inside (10^9 and more is the end), a Reshape has to keep the number of elements, what a Squeeze
takes away has to be 1, a window has to fit into its image. Tensors of more than 2^31 elements are refused so, too, as indices are of type `int`.

Heights and widths of images are sizes like others: convolutions, pools, Resize and what stands between them take images of
any size, as fast as those of a known one, but for Winograd's method and `auto_pad` SAME with strides, which costs a padded copy. Extents have to be known for
`output_shape`, Resize with `antialias`, `keep_aspect_ratio_policy`, tf_crop_and_resize or scales that are no fraction
of a power of 2, `Indices` of MaxPool, GridSample, RoiAlign and SpaceToDepth.

Indices are data: Gather, GatherElements, GatherND, Scatter, ScatterElements, ScatterND, MaxUnpool, RoiAlign and
ReverseSequence check those that they read at run time (`checked_index` in the printed code) and end the program by
`Kokkos::abort` where one is out of range, on hosts and devices. Those that are constants are checked by the translator.
Scatters with a reduction may name an element more than once: a host keeps the order of the updates, a device adds them
atomically, so that the last bits of floating-point sums may differ from run to run there.

## Table

| operator | versions |
|---|---|
"""


def rows():
    lines = subprocess.run([tool_path(), "--print-supported-ops"], capture_output=True, text=True, check=True).stdout
    for line in lines.split("ONNX operators")[1].splitlines()[1:]:
        name, _, versions = line.strip().partition(" ")
        if name and versions:
            yield f"| {name} | {versions.strip()} |\n"


def main():
    text = HEAD + "".join(rows())
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    if PAGE.exists() and PAGE.read_text() == text:
        return 0
    print(f"{PAGE.name} is not what the table says: run test/onnx/document.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
