#!/usr/bin/env python3
"""Fits a small network to the function f(x, y) = sin(pi x) cos(pi y) on [-1, 1]^2 and writes it as linalg text beside this
file, as a person or another compiler would. The result is in the repository."""

from pathlib import Path

import numpy as np

WIDTH = 16

HEAD = """\
// f(x, y) = sin(pi x) cos(pi y) on [-1, 1]^2, learned by a network of two hidden layers: any number of points at once.
#element = affine_map<(n, o) -> (n, o)>
#column = affine_map<(n, o) -> (o)>

func.func @surrogate(%points: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %count = tensor.dim %points, %first : tensor<?x2xf32>
"""

LAYER = """\

  %weight{i} = arith.constant dense<[
{weight}]> : tensor<{k}x{o}xf32>
  %bias{i} = arith.constant dense<[{bias}]> : tensor<{o}xf32>
  %empty{i} = tensor.empty(%count) : tensor<?x{o}xf32>
  %init{i} = linalg.fill ins(%zero : f32) outs(%empty{i} : tensor<?x{o}xf32>) -> tensor<?x{o}xf32>
  %product{i} = linalg.matmul ins(%{x}, %weight{i} : tensor<?x{k}xf32>, tensor<{k}x{o}xf32>)
                          outs(%init{i} : tensor<?x{o}xf32>) -> tensor<?x{o}xf32>
  %{y} = linalg.generic {{indexing_maps = [#element, #column, #element], iterator_types = ["parallel", "parallel"]}}
      ins(%product{i}, %bias{i} : tensor<?x{o}xf32>, tensor<{o}xf32>) outs(%empty{i} : tensor<?x{o}xf32>) {{
  ^bb0(%sum: f32, %b: f32, %out: f32):
    %a = arith.addf %sum, %b : f32
{end}  }} -> tensor<?x{o}xf32>
"""

TANH = "    %t = math.tanh %a : f32\n    linalg.yield %t : f32\n"
PLAIN = "    linalg.yield %a : f32\n"


def target(points):
    return np.sin(np.pi * points[:, :1]) * np.cos(np.pi * points[:, 1:])


def fit(random):
    """Random features, then Adam on all weights."""
    shapes = [(2, WIDTH), (WIDTH, WIDTH), (WIDTH, 1)]
    parameters = [random.standard_normal(s) * (1.5 if s[0] == 2 else 1 / np.sqrt(s[0])) for s in shapes]
    parameters += [random.standard_normal(s[1]) * 0.5 for s in shapes]
    moments = [[np.zeros_like(p), np.zeros_like(p)] for p in parameters]
    steps = 6000
    for step in range(1, steps + 1):
        x = random.uniform(-1, 1, (256, 2))
        w0, w1, w2, b0, b1, b2 = parameters
        h0 = np.tanh(x @ w0 + b0)
        h1 = np.tanh(h0 @ w1 + b1)
        g2 = 2 * (h1 @ w2 + b2 - target(x)) / len(x)
        g1 = g2 @ w2.T * (1 - h1**2)
        g0 = g1 @ w1.T * (1 - h0**2)
        gradients = [x.T @ g0, h0.T @ g1, h1.T @ g2, g0.sum(0), g1.sum(0), g2.sum(0)]
        for p, g, (m, v) in zip(parameters, gradients, moments):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            p -= 0.01 * (1 - step / steps) * m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return parameters


def row(values):
    return ", ".join(f"{value:.6e}" for value in values)


def main():
    parameters = fit(np.random.default_rng(0))
    text, names = HEAD, ["points", "hidden0", "hidden1", "field"]
    for i in range(3):
        weight, bias = parameters[i], parameters[3 + i]
        rows = ",\n".join(f"    [{row(values)}]" for values in weight)
        text += LAYER.format(i=i, weight=rows, bias=row(bias), k=weight.shape[0], o=weight.shape[1], x=names[i],
                             y=names[i + 1], end=TANH if i < 2 else PLAIN)
    text += "  return %field : tensor<?x1xf32>\n}\n"
    (Path(__file__).parent / "mlp.mlir").write_text(text)


if __name__ == "__main__":
    main()
