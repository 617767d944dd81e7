"""torch-mlir's own operations, which upstream's pipelines cannot run: values are NumPy's."""

from pathlib import Path

import ml2kokkos
import numpy as np


def test_values():
    module = ml2kokkos.compile(str(Path(__file__).parent / "Inputs/torch_forms.mlir"), progress=False)
    random = np.random.default_rng(1)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    x, counts, updates, table = normal(3, 40), random.integers(-9, 9, (4, 7)), normal(6, 3), normal(9, 3)
    x[:, 7] = x[:, 3] # equal elements keep their order
    rows = np.array([[4], [0], [8], [4], [2], [0]])
    q, k, v, mask = normal(2, 6, 16), normal(2, 8, 16), normal(2, 8, 12), normal(6, 8)
    running = np.cumsum(x, 1)
    order, down = np.argsort(x, 1, kind="stable"), np.argsort(-x, 1, kind="stable")[:, :5]
    added, put = table.copy(), table.copy()
    np.add.at(added, rows[:, 0], updates)
    for row, update in zip(rows[:, 0], updates): # the last one stays
        put[row] = update
    scores = np.exp(q @ k.transpose(0, 2, 1) / 4 + mask)
    wanted = [running, np.maximum.accumulate(x, 1), 5 + np.cumsum(np.vstack([0 * counts[:1], counts[:-1]]), 0), np.sort(x, 1), order,
              np.take_along_axis(running, order, 1), np.take_along_axis(x, down, 1), down, added, put, scores / scores.sum(2, keepdims=True) @ v]
    results = module.forward(x, counts, updates, rows, table, q, k, v, mask)
    assert len(results) == len(wanted)
    for result, value in zip(results, wanted):
        np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5)
