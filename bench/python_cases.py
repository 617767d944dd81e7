"""Kernels of bench/run.py --suite python: each written with ml2kokkos and for Numba, with what makes its arguments.

Numba's versions are what a user of Numba writes: prange over the outermost loop that may be one."""

import math

import ml2kokkos as kk
import numpy as np

CASES = []


def case(make):
    """A pair: the kernel, and the function for Numba, which takes `range` of Numba as its global prange."""
    def register(pair):
        own, other = pair()
        CASES.append((pair.__name__, kk.kernel(own, name=pair.__name__), other, make))
        return pair

    return register


def of(*shapes, kind=np.float64):
    return lambda random: [random.random(shape).astype(kind) if isinstance(shape, tuple) else shape for shape in shapes]


prange = range # Numba's, where Numba compiles
BIG, SIDE = 1 << 22, 2048


# --- Vectors ----------------------------------------------------------------------------------------------------------

@case(of(2.5, (BIG,), (BIG,)))
def axpy():
    def own(a: float, x: kk.f64["n"], y: kk.f64["n"]):
        for i in kk.range(len(x)):
            y[i] = a * x[i] + y[i]

    def other(a, x, y):
        for i in prange(len(x)):
            y[i] = a * x[i] + y[i]

    return own, other


@case(of((BIG,), (BIG,), (BIG,)))
def triad():
    def own(x: kk.f64["n"], y: kk.f64["n"], z: kk.f64["n"]):
        z[:] = x + 3.0 * y

    def other(x, y, z):
        for i in prange(len(x)):
            z[i] = x[i] + 3.0 * y[i]

    return own, other


@case(of((BIG,), (BIG,), (1,)))
def dot():
    def own(x: kk.f64["n"], y: kk.f64["n"], out: kk.f64[1]):
        out[0] = kk.sum(x[i] * y[i] for i in kk.range(len(x)))

    def other(x, y, out):
        total = 0.0
        for i in prange(len(x)):
            total += x[i] * y[i]
        out[0] = total

    return own, other


@case(of((BIG,), (1,)))
def largest():
    def own(x: kk.f64["n"], out: kk.f64[1]):
        out[0] = kk.max(abs(x[i] - 0.5) for i in kk.range(len(x)))

    def other(x, out):
        best = -np.inf
        for i in prange(len(x)):
            best = max(best, abs(x[i] - 0.5))
        out[0] = best

    return own, other


@case(of((BIG,), (1,)))
def count():
    def own(x: kk.f64["n"], out: kk.f64[1]):
        out[0] = kk.sum(x[i] > 0.25 for i in kk.range(len(x)))

    def other(x, out):
        total = 0
        for i in prange(len(x)):
            total += x[i] > 0.25
        out[0] = total

    return own, other


@case(of((BIG,), (1,)))
def argmin():
    def own(x: kk.f64["n"], out: kk.f64[1]):
        out[0] = kk.argmin(x)

    def other(x, out):
        place = 0
        for i in range(len(x)):
            if x[i] < x[place]:
                place = i
        out[0] = place

    return own, other


@case(of((BIG,), (BIG,)))
def prefix():
    def own(x: kk.f64["n"], y: kk.f64["n"]):
        y[:] = kk.scan(x)

    def other(x, y):
        total = 0.0
        for i in range(len(x)):
            total += x[i]
            y[i] = total

    return own, other


@case(of((BIG,), (BIG,)))
def clipped():
    def own(x: kk.f64["n"], y: kk.f64["n"]):
        for i in kk.range(len(x)):
            if x[i] > 0.75:
                y[i] = 0.75
            elif x[i] < 0.25:
                y[i] = 0.25
            else:
                y[i] = x[i]

    def other(x, y):
        for i in prange(len(x)):
            if x[i] > 0.75:
                y[i] = 0.75
            elif x[i] < 0.25:
                y[i] = 0.25
            else:
                y[i] = x[i]

    return own, other


@case(of((BIG,), (BIG,)))
def polynomial():
    coefficients = (0.5, -1.0, 0.25, 2.0, -0.125, 0.75, 1.0)

    def own(x: kk.f64["n"], y: kk.f64["n"]):
        for i in kk.range(len(x)):
            value = 0.0
            for c in coefficients:
                value = value * x[i] + c
            y[i] = value

    def other(x, y):
        for i in prange(len(x)):
            value = 0.0
            for c in coefficients:
                value = value * x[i] + c
            y[i] = value

    return own, other


@case(lambda random: [random.integers(0, BIG, BIG).astype(np.int32), random.random(BIG), np.zeros(BIG)])
def gather():
    def own(at: kk.i32["n"], x: kk.f64["n"], y: kk.f64["n"]):
        for i in kk.range(len(x)):
            y[i] = x[at[i]] * 2.0

    def other(at, x, y):
        for i in prange(len(x)):
            y[i] = x[at[i]] * 2.0

    return own, other


@case(lambda random: [random.integers(0, 256, BIG).astype(np.int32), random.random(BIG), np.zeros(256)])
def histogram():
    def own(bins: kk.i32["n"], x: kk.f64["n"], sums: kk.f64[256]):
        for i in kk.range(len(x)):
            sums[bins[i]] += x[i]

    def other(bins, x, sums):
        for i in range(len(x)):
            sums[bins[i]] += x[i]

    return own, other


@case(lambda random: [random.integers(-1000000, 1000000, BIG), np.zeros(BIG, np.int64)])
def integers():
    def own(k: kk.i64["n"], out: kk.i64["n"]):
        for i in kk.range(len(k)):
            out[i] = (k[i] * 7 + 3) % 1009 ^ (k[i] >> 3)

    def other(k, out):
        for i in prange(len(k)):
            out[i] = (k[i] * 7 + 3) % 1009 ^ (k[i] >> 3)

    return own, other


# --- Functions --------------------------------------------------------------------------------------------------------

@case(of((1 << 19,), (1 << 19,), (1 << 19,)))
def options():
    """Black and Scholes."""
    def own(price: kk.f64["n"], time: kk.f64["n"], out: kk.f64["n"]):
        for i in kk.range(len(price)):
            s, t = price[i] + 0.5, time[i] + 0.1
            root = 0.3 * np.sqrt(t)
            d = (np.log(s) + (0.02 + 0.045) * t) / root
            near, far = 0.5 + 0.5 * math.erf(d * 0.7071067811865476), 0.5 + 0.5 * math.erf((d - root) * 0.7071067811865476)
            out[i] = s * near - np.exp(-0.02 * t) * far

    def other(price, time, out):
        for i in prange(len(price)):
            s, t = price[i] + 0.5, time[i] + 0.1
            root = 0.3 * np.sqrt(t)
            d = (np.log(s) + (0.02 + 0.045) * t) / root
            near, far = 0.5 + 0.5 * math.erf(d * 0.7071067811865476), 0.5 + 0.5 * math.erf((d - root) * 0.7071067811865476)
            out[i] = s * near - np.exp(-0.02 * t) * far

    return own, other


@case(of((1 << 20,), (1 << 20,)))
def waves():
    def own(x: kk.f64["n"], y: kk.f64["n"]):
        y[:] = np.sin(x) * np.cos(x) + np.exp(-x)

    def other(x, y):
        for i in prange(len(x)):
            y[i] = np.sin(x[i]) * np.cos(x[i]) + np.exp(-x[i])

    return own, other


@case(of((1 << 19,), (1 << 19,)))
def newton():
    def own(x: kk.f64["n"], y: kk.f64["n"]):
        for i in kk.range(len(x)):
            a = x[i] + 0.5
            r = a
            while abs(r * r - a) > 1e-9 * a:
                r = 0.5 * (r + a / r)
            y[i] = r

    def other(x, y):
        for i in prange(len(x)):
            a = x[i] + 0.5
            r = a
            while abs(r * r - a) > 1e-9 * a:
                r = 0.5 * (r + a / r)
            y[i] = r

    return own, other


@case(of((512, 512), (512, 512), (512, 512)))
def mandelbrot():
    def own(x: kk.f64["n", "m"], y: kk.f64["n", "m"], out: kk.f64["n", "m"]):
        for i in kk.range(x.shape[0]):
            for j in kk.range(x.shape[1]):
                a, b, k = 0.0, 0.0, 0
                while a * a + b * b < 4.0 and k < 100:
                    a, b = a * a - b * b + 3.0 * x[i, j] - 2.0, 2.0 * a * b + 2.0 * y[i, j] - 1.0
                    k += 1
                out[i, j] = k

    def other(x, y, out):
        for i in prange(x.shape[0]):
            for j in range(x.shape[1]):
                a, b, k = 0.0, 0.0, 0
                while a * a + b * b < 4.0 and k < 100:
                    a, b = a * a - b * b + 3.0 * x[i, j] - 2.0, 2.0 * a * b + 2.0 * y[i, j] - 1.0
                    k += 1
                out[i, j] = k

    return own, other


@case(of((1 << 17,), (1 << 17,)))
def logistic():
    def own(x: kk.f64["n"], y: kk.f64["n"]):
        for i in kk.range(len(x)):
            v = x[i]
            for t in kk.range(64):
                v = 3.7 * v * (1.0 - v)
            y[i] = v

    def other(x, y):
        for i in prange(len(x)):
            v = x[i]
            for t in range(64):
                v = 3.7 * v * (1.0 - v)
            y[i] = v

    return own, other


# --- Matrices ---------------------------------------------------------------------------------------------------------

@case(of((SIDE, SIDE), (SIDE,)))
def row_sums():
    def own(x: kk.f64["n", "m"], out: kk.f64["n"]):
        for i in kk.range(x.shape[0]):
            out[i] = kk.sum(x[i, j] for j in kk.range(x.shape[1]))

    def other(x, out):
        for i in prange(x.shape[0]):
            total = 0.0
            for j in range(x.shape[1]):
                total += x[i, j]
            out[i] = total

    return own, other


@case(of((SIDE, SIDE), (SIDE,)))
def column_sums():
    def own(x: kk.f64["n", "m"], out: kk.f64["m"]):
        out[:] = kk.sum(x, axis=0)

    def other(x, out):
        for j in prange(x.shape[1]):
            total = 0.0
            for i in range(x.shape[0]):
                total += x[i, j]
            out[j] = total

    return own, other


@case(of((1024, 1024), (1024, 1024)))
def softmax():
    def own(x: kk.f64["n", "m"], y: kk.f64["n", "m"]):
        for i in kk.range(x.shape[0]):
            most = kk.max(x[i])
            for j in kk.range(x.shape[1]):
                y[i, j] = np.exp(x[i, j] - most)
            total = kk.sum(y[i])
            for j in kk.range(x.shape[1]):
                y[i, j] = y[i, j] / total

    def other(x, y):
        for i in prange(x.shape[0]):
            most = -np.inf
            for j in range(x.shape[1]):
                most = max(most, x[i, j])
            total = 0.0
            for j in range(x.shape[1]):
                y[i, j] = np.exp(x[i, j] - most)
                total += y[i, j]
            for j in range(x.shape[1]):
                y[i, j] = y[i, j] / total

    return own, other


@case(of((SIDE, SIDE), (SIDE,), (SIDE,)))
def matrix_vector():
    def own(a: kk.f64["n", "m"], x: kk.f64["m"], y: kk.f64["n"]):
        y[:] = kk.einsum("ij,j->i", a, x)

    def other(a, x, y):
        for i in prange(a.shape[0]):
            total = 0.0
            for j in range(a.shape[1]):
                total += a[i, j] * x[j]
            y[i] = total

    return own, other


@case(of((384, 384), (384, 384), (384, 384)))
def matrix_matrix():
    def own(a: kk.f64["n", "k"], b: kk.f64["k", "m"], c: kk.f64["n", "m"]):
        for i in kk.range(a.shape[0]):
            for j in kk.range(b.shape[1]):
                c[i, j] = 0.0
            for k in kk.range(a.shape[1]):
                for j in kk.range(b.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    def other(a, b, c):
        for i in prange(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] = 0.0
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    return own, other


@case(of((SIDE, SIDE), (SIDE, SIDE)))
def transposed():
    def own(x: kk.f64["n", "m"], y: kk.f64["m", "n"]):
        y[:, :] = x.T

    def other(x, y):
        for i in prange(x.shape[0]):
            for j in range(x.shape[1]):
                y[j, i] = x[i, j]

    return own, other


@case(of((SIDE,), (SIDE,), (SIDE, SIDE)))
def outer():
    def own(x: kk.f64["n"], y: kk.f64["m"], out: kk.f64["n", "m"]):
        for i, j in kk.parallel(len(x), len(y)):
            out[i, j] = x[i] * y[j]

    def other(x, y, out):
        for i in prange(len(x)):
            for j in range(len(y)):
                out[i, j] = x[i] * y[j]

    return own, other


@case(lambda random: [np.arange(0, 1000001, 10).astype(np.int32), random.integers(0, 100000, 1000000).astype(np.int32), random.random(1000000),
                      random.random(100000), np.zeros(100000)])
def sparse_rows():
    def own(starts: kk.i32[:], columns: kk.i32["k"], values: kk.f64["k"], x: kk.f64["n"], y: kk.f64["n"]):
        for i in kk.range(len(y)):
            y[i] = kk.sum(values[k] * x[columns[k]] for k in kk.range(starts[i], starts[i + 1]))

    def other(starts, columns, values, x, y):
        for i in prange(len(y)):
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += values[k] * x[columns[k]]
            y[i] = total

    return own, other


@case(of((1024, 3), (1024, 3), (1024, 1024)))
def distances():
    def own(a: kk.f64["n", 3], b: kk.f64["m", 3], out: kk.f64["n", "m"]):
        for i in kk.range(a.shape[0]):
            for j in kk.range(b.shape[0]):
                x, y, z = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1], a[i, 2] - b[j, 2]
                out[i, j] = np.sqrt(x * x + y * y + z * z)

    def other(a, b, out):
        for i in prange(a.shape[0]):
            for j in range(b.shape[0]):
                x, y, z = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1], a[i, 2] - b[j, 2]
                out[i, j] = np.sqrt(x * x + y * y + z * z)

    return own, other


# --- Stencils ---------------------------------------------------------------------------------------------------------

@case(of((SIDE, SIDE), (SIDE, SIDE), 0.2))
def heat():
    def own(u: kk.f64["n", "m"], new: kk.f64["n", "m"], alpha: float):
        for i in kk.range(1, u.shape[0] - 1):
            for j in kk.range(1, u.shape[1] - 1):
                new[i, j] = u[i, j] + alpha * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])

    def other(u, new, alpha):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new[i, j] = u[i, j] + alpha * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])

    return own, other


@case(of((1282, 1282), (3, 3, 3), (3, 1280, 1280), kind=np.float32))
def conv2d():
    def own(image: kk.f32[:, :], weight: kk.f32[3, 3, 3], out: kk.f32[3, "n", "m"]):
        for i, j in kk.parallel(out.shape[1], out.shape[2]):
            for c in range(3):
                total = kk.f32(0.0)
                for r in range(3):
                    for s in range(3):
                        total += weight[c, r, s] * image[i + r, j + s]
                out[c, i, j] = total

    def other(image, weight, out):
        for i in prange(out.shape[1]):
            for j in range(out.shape[2]):
                for c in range(3):
                    total = np.float32(0.0)
                    for r in range(3):
                        for s in range(3):
                            total += weight[c, r, s] * image[i + r, j + s]
                    out[c, i, j] = total

    return own, other


@case(of((130, 130, 130), (130, 130, 130)))
def jacobi3d():
    def own(u: kk.f64["n", "m", "k"], new: kk.f64["n", "m", "k"]):
        new[1:-1, 1:-1, 1:-1] = (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] +
                                 u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]) / 6.0

    def other(u, new):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                for k in range(1, u.shape[2] - 1):
                    new[i, j, k] = (u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k] + u[i, j, k - 1] + u[i, j, k + 1]) / 6.0

    return own, other


@case(lambda random: [random.integers(0, 2, (1024, 1024)).astype(np.int32), np.zeros((1024, 1024), np.int32)])
def life():
    def own(old: kk.i32["n", "m"], new: kk.i32["n", "m"]):
        for i, j in kk.parallel((1, old.shape[0] - 1), (1, old.shape[1] - 1)):
            around = (old[i - 1, j - 1] + old[i - 1, j] + old[i - 1, j + 1] + old[i, j - 1] + old[i, j + 1] + old[i + 1, j - 1] +
                      old[i + 1, j] + old[i + 1, j + 1])
            new[i, j] = 1 if around == 3 or around == 2 and old[i, j] == 1 else 0

    def other(old, new):
        for i in prange(1, old.shape[0] - 1):
            for j in range(1, old.shape[1] - 1):
                around = (old[i - 1, j - 1] + old[i - 1, j] + old[i - 1, j + 1] + old[i, j - 1] + old[i, j + 1] + old[i + 1, j - 1] +
                          old[i + 1, j] + old[i + 1, j + 1])
                new[i, j] = 1 if around == 3 or around == 2 and old[i, j] == 1 else 0

    return own, other


@case(of((1024, 1024)))
def gauss_seidel():
    def own(u: kk.f64["n", "m"]):
        for i in kk.range(1, u.shape[0] - 1):
            for j in kk.range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    def other(u):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    return own, other


# --- Particles --------------------------------------------------------------------------------------------------------

@case(of((72, 16384), (72, 16384), (72, 16384), (72, 16384)))
def columns():
    """A tridiagonal system for each column of an atmosphere; neighbours lie side by side."""
    def own(lower: kk.f64["levels", "columns"], upper: kk.f64["levels", "columns"], x: kk.f64["levels", "columns"], work: kk.f64["levels", "columns"]):
        levels, width = x.shape
        for i in kk.range(width):
            g, y = upper[0, i] / 4.0, x[0, i] / 4.0
            work[0, i] = g
            x[0, i] = y
            for k in kk.range(1, levels):
                pivot = 4.0 - lower[k, i] * g
                g = upper[k, i] / pivot
                y = (x[k, i] - lower[k, i] * y) / pivot
                work[k, i] = g
                x[k, i] = y
            for k in kk.range(levels - 2, -1, -1):
                y = x[k, i] - work[k, i] * y
                x[k, i] = y

    def other(lower, upper, x, work):
        levels, width = x.shape
        for i in prange(width):
            g, y = upper[0, i] / 4.0, x[0, i] / 4.0
            work[0, i] = g
            x[0, i] = y
            for k in range(1, levels):
                pivot = 4.0 - lower[k, i] * g
                g = upper[k, i] / pivot
                y = (x[k, i] - lower[k, i] * y) / pivot
                work[k, i] = g
                x[k, i] = y
            for k in range(levels - 2, -1, -1):
                y = x[k, i] - work[k, i] * y
                x[k, i] = y

    return own, other


@case(of((2048, 3), (2048,), (2048, 3)))
def nbody():
    def own(x: kk.f64["n", 3], mass: kk.f64["n"], a: kk.f64["n", 3]):
        for i in kk.range(len(mass)):
            ax = ay = az = 0.0
            for j in kk.range(len(mass)):
                dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                square = dx * dx + dy * dy + dz * dz + 0.01
                pull = mass[j] / (square * np.sqrt(square))
                ax += pull * dx
                ay += pull * dy
                az += pull * dz
            a[i, 0] = ax
            a[i, 1] = ay
            a[i, 2] = az

    def other(x, mass, a):
        for i in prange(len(mass)):
            ax = ay = az = 0.0
            for j in range(len(mass)):
                dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                square = dx * dx + dy * dy + dz * dz + 0.01
                pull = mass[j] / (square * np.sqrt(square))
                ax += pull * dx
                ay += pull * dy
                az += pull * dz
            a[i, 0] = ax
            a[i, 1] = ay
            a[i, 2] = az

    return own, other
