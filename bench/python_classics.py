"""Classical kernels for bench/run.py --suite python: solvers of linear algebra, statistics, stencils, sweeps.

Each is written once; Numba gets the same text with prange over the loops that are marked so."""

import ml2kokkos as kk
import numpy as np
from for_numba import registrar, zeros

CASES = []
case = registrar(CASES, marked=True)


def dominant(random, n):
    """A symmetric matrix, far from singular."""
    a = random.random((n, n))
    return a @ a.T + n * np.eye(n)


# --- Linear algebra ---------------------------------------------------------------------------------------------------

@case(lambda random: [random.random((1600, 1605)), random.random(1605), zeros(1605), zeros(1600)])
def atax(a: kk.f64["m", "n"], x: kk.f64["n"], y: kk.f64["n"], product: kk.f64["m"]):
    """The transposed matrix times the matrix times a vector."""
    for j in kk.range(a.shape[1]): # prange
        y[j] = 0.0
    for i in kk.range(a.shape[0]):
        product[i] = 0.0
        for j in kk.range(a.shape[1]):
            product[i] += a[i, j] * x[j]
        for j in kk.range(a.shape[1]):
            y[j] += a[i, j] * product[i]


@case(lambda random: [random.random(1600), random.random(1600), random.random(1600), random.random(1600), random.random((1600, 1600))])
def both_ways(x: kk.f64["n"], y: kk.f64["n"], u: kk.f64["n"], v: kk.f64["n"], a: kk.f64["n", "n"]):
    """A matrix and its transposed one, each times a vector."""
    for i in kk.range(len(x)): # prange
        for j in kk.range(len(x)):
            x[i] = x[i] + a[i, j] * u[j]
    for i in kk.range(len(x)): # prange
        for j in kk.range(len(x)):
            y[i] = y[i] + a[j, i] * v[j]


@case(lambda random: [random.random((400, 400)), random.random((400, 404)), 1.5, 1.2])
def rank_update(c: kk.f64["n", "n"], a: kk.f64["n", "m"], alpha: float, beta: float):
    """The lower triangle of a symmetric update."""
    for i in kk.range(a.shape[0]): # prange
        for j in kk.range(i + 1):
            c[i, j] *= beta
        for k in kk.range(a.shape[1]):
            for j in kk.range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]


@case(lambda random: [1.5, random.random((300, 300)), random.random((300, 304))])
def triangle_product(alpha: float, a: kk.f64["n", "n"], b: kk.f64["n", "m"]):
    for i in kk.range(b.shape[0]):
        for j in kk.range(b.shape[1]): # prange
            for k in kk.range(i + 1, b.shape[0]):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]


@case(lambda random: [dominant(random, 300), zeros(300, 300)])
def cholesky(start: kk.f64["n", "n"], a: kk.f64["n", "n"]):
    n = a.shape[0]
    for i in kk.range(n): # prange
        for j in kk.range(n):
            a[i, j] = start[i, j]
    for k in kk.range(n):
        a[k, k] = np.sqrt(a[k, k])
        for i in kk.range(k + 1, n): # prange
            a[i, k] /= a[k, k]
        for i in kk.range(k + 1, n): # prange
            for j in kk.range(k + 1, i + 1):
                a[i, j] -= a[i, k] * a[j, k]


@case(lambda random: [random.random((210, 200)), zeros(210, 200), zeros(200, 200), zeros(210, 200)])
def gram_schmidt(start: kk.f64["m", "n"], a: kk.f64["m", "n"], r: kk.f64["n", "n"], q: kk.f64["m", "n"]):
    m, n = a.shape
    for i in kk.range(m): # prange
        for j in kk.range(n):
            a[i, j] = start[i, j]
    for k in kk.range(n):
        square = 0.0
        for i in kk.range(m):
            square += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(square)
        for i in kk.range(m): # prange
            q[i, k] = a[i, k] / r[k, k]
        for j in kk.range(k + 1, n): # prange
            r[k, j] = 0.0
            for i in kk.range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in kk.range(m):
                a[i, j] -= q[i, k] * r[k, j]


# --- Stencils and sweeps ----------------------------------------------------------------------------------------------

@case(lambda random: [random.random((500, 503)), random.random((500, 503)), random.random((500, 503)), random.random(10)])
def maxwell(ex: kk.f64["a", "b"], ey: kk.f64["a", "b"], hz: kk.f64["a", "b"], source: kk.f64["t"]):
    """Finite differences in time on a staggered grid."""
    nx, ny = ex.shape
    for t in kk.range(len(source)):
        for j in kk.range(ny): # prange
            ey[0, j] = source[t]
        for i in kk.range(1, nx): # prange
            for j in kk.range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in kk.range(nx): # prange
            for j in kk.range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in kk.range(nx - 1): # prange
            for j in kk.range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@case(lambda random: [random.random((700, 708)), zeros(700, 708), zeros(700, 708), 0.25])
def recursive_filter(image: kk.f64["w", "h"], down: kk.f64["w", "h"], up: kk.f64["w", "h"], alpha: float):
    """Along columns, in both directions."""
    w, h = image.shape
    decay = np.exp(-alpha)
    for j in kk.range(h): # prange
        last = before = 0.0
        for i in kk.range(w):
            value = image[i, j] + 1.6 * decay * last - 0.6 * decay * decay * before
            down[i, j] = value
            before = last
            last = value
        last = 0.0
        for i in kk.range(w - 1, -1, -1):
            last = decay * last + (1.0 - decay) * down[i, j]
            up[i, j] = last


@case(lambda random: [random.integers(0, 4, 300).astype(np.int32), np.zeros((300, 300), np.int32)])
def folding(base: kk.i32["n"], most: kk.i32["n", "n"]):
    """The most pairs of bases within each part of a sequence."""
    n = len(base)
    for i in kk.range(n - 2, -1, -1):
        for j in kk.range(i + 1, n):
            best = max(most[i, j - 1], most[i + 1, j])
            if i < j - 1:
                best = max(best, most[i + 1, j - 1] + (1 if base[i] + base[j] == 3 else 0))
            for k in kk.range(i + 1, j):
                best = max(best, most[i, k] + most[k + 1, j])
            most[i, j] = best
