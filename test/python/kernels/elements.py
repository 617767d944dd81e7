"""Loops over elements, branches and conditions."""

import ml2kokkos as kk
import numpy as np

from .cases import GAIN, K, M, N, TAPS, case, f32, f64, ints, number


# --- Loops over elements ----------------------------------------------------------------------------------------------

@case(f64(20, 30), f64(20, 30), number(0.2))
def heat(plate: kk.f64[N, M], new: kk.f64[N, M], alpha: float):
    for i in kk.range(1, N - 1):
        for j in kk.range(1, M - 1):
            around = plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1]
            new[i, j] = plate[i, j] + alpha * (around - 4.0 * plate[i, j])


@case(number(2.5), f32(50), f32(50))
def saxpy(a: kk.f32, x: kk.f32[N], y: kk.f32[N]):
    for i in kk.range(N):
        y[i] = a * x[i] + y[i]


@case(f64(20, 30), f64(20))
def row_sums(x: kk.f64[N, M], out: kk.f64[N]):
    for i in kk.range(N):
        out[i] = kk.sum(x[i, j] for j in kk.range(M))


@case(f64(30, 300), ints(0, 4, 30), f64(4))
def rows_that_meet(x: kk.f64[N, M], bins: kk.i64[N], out: kk.f64[4]):
    for i in kk.parallel(N):
        kk.atomic_add(out, bins[i], kk.sum(x[i]))


@case(f64(37, 300), f64(300), f64(37), f64(37, 300))
def chains_along_rows(x: kk.f64[N, M], w: kk.f64[M], out: kk.f64[N], y: kk.f64[N, M]):
    """Several rows take each step together, the last ones alone."""
    for i in kk.range(N):
        total, square = 1.0, 0.0
        for j in kk.range(M):
            total -= x[i, j] * w[j]
            square += x[i, j] * x[i, j]
        out[i] = total / square
    for i in kk.range(N):
        y[i, 0] = x[i, 0]
        for j in kk.range(1, M):
            y[i, j] = x[i, j] + 0.5 * y[i, j - 1]


@case(f64(50, 41), f64(41, 41), f64(41, 41), f64(41, 41))
def triangles_of_columns(x: kk.f64[K, N], y: kk.f64[N, N], z: kk.f64[N, N], w: kk.f64[N, N]):
    """Strips inside an iteration: narrow ones, broad ones, and of sums in any order."""
    for i in kk.range(N):
        for j in kk.range(i, N):
            total = 0.0
            for k in kk.range(K):
                total += x[k, i] * x[k, j]
            y[i, j] = total / 3.0
            y[j, i] = total / 3.0
    for i in kk.range(1, N):
        z[i, 0] = 2.0
        for j in kk.range(i, N):
            z[i, j] = x[0, j]
            for k in kk.range(1, K):
                z[i, j] -= x[k, i] * x[k, j]
    for i in kk.range(N - 1):
        w[i, i] = 1.0
        w[i + 1:, i] = x[:, i] @ x[:, i + 1:]


@case(f64(30, 3), f64(30), f64(30, 3), number(0.01))
def nbody(x: kk.f64[N, 3], m: kk.f64[N], a: kk.f64[N, 3], eps: float):
    for i in kk.parallel(N):
        ax = ay = az = 0.0
        for j in kk.range(N):
            dx = x[j, 0] - x[i, 0]
            dy = x[j, 1] - x[i, 1]
            dz = x[j, 2] - x[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + eps
            f = m[j] / (r2 * np.sqrt(r2))
            ax += f * dx
            ay += f * dy
            az += f * dz
        a[i, 0] = ax
        a[i, 1] = ay
        a[i, 2] = az


@case(f32(14, 15), f32(3, 3), f32(12, 13))
def conv2d(image: kk.f32[:, :], weight: kk.f32[3, 3], out: kk.f32[N, M]):
    for i, j in kk.parallel(N, M):
        total = 0.0
        for r in range(3):
            for s in range(3):
                total += weight[r, s] * image[i + r, j + s]
        out[i, j] = total


@case(f64(17))
def prefix(x):
    for i in kk.range(1, len(x)):
        x[i] += x[i - 1]


@case(f64(17), f64(17))
def backwards(x, y):
    n = x.shape[0]
    for i in kk.range(n - 1, -1, -1):
        y[i] = x[n - 1 - i] * i
    for i in kk.range(n - 2, 0, -3):
        y[i] += y[i + 1]


@case(f64(9), f64(9))
def unrolled(x: kk.f64[9], y: kk.f64[9]):
    for i in kk.range(1, 8):
        y[i] = 0.0
        for k, tap in enumerate(TAPS):
            y[i] += tap * x[i + k - 1]
    for k in range(0, 9, 8):
        y[k] = GAIN


@case(f64(12, 12), f64(12))
def triangle(a: kk.f64[N, N], x: kk.f64[N]):
    for i in kk.range(N):
        for j in kk.range(i):
            x[i] -= a[i, j] * x[j]
        x[i] = x[i] / (a[i, i] * a[i, i] + 1.0)


@case(f64(10), f64(10), number(4))
def steps(x: kk.f64[N], y: kk.f64[N], count: kk.index):
    for t in kk.range(count):
        for i in kk.range(N):
            y[i] = x[i] + 0.5 * t
        for i in kk.range(1, N):
            x[i] = y[i - 1]


# --- Branches and conditions ------------------------------------------------------------------------------------------

@case(f64(40), f64(40))
def branches(x, y):
    for i in kk.range(len(x)):
        if x[i] > 1.0:
            v = 1.0
        elif x[i] < -1.0:
            v = -1.0
            y[i] = 3.0
        else:
            v = x[i]
        y[i] += v


@case(f64(40), f64(40))
def guarded(x, y):
    n = len(x)
    for i in kk.range(n):
        left = x[i - 1] if i > 0 else 0.0
        if i + 1 < n and x[i + 1] > 0.0 or not i > 3:
            y[i] = left
        else:
            y[i] = -left if left > 0 and left == left else 2.0
        if 3 <= i < n - 3 and -1.0 < x[i] <= 1.0 != 2.0:
            y[i] += 10.0


@case(f64(40), ints(0, 1, 40))
def collatz(x, count):
    for i in kk.range(len(x)):
        v = i + 1
        k = 0
        while v != 1 and k < 100:
            if v % 2 == 0:
                v = v // 2
            else:
                v = 3 * v + 1
            k += 1
        count[i] = k


@case(f64(25), f64(25))
def newton(x, y):
    for i in kk.range(len(x)):
        a = abs(x[i]) + 0.5
        r = a
        while abs(r * r - a) > 1e-9 * a:
            r = 0.5 * (r + a / r)
        y[i] = r


def clipped(v, low, high):
    """Early returns."""
    if v < low:
        return low
    if v > high:
        return high
    w = v * 2.0
    return w


def two(a, b=3.0):
    return a + b, a - b


@kk.kernel
def add_row(row: kk.f64[:], to: kk.f64[:], by: float):
    for j in kk.range(len(row)):
        to[j] += by * row[j]


@case(f64(6, 8), f64(6, 8))
def helpers(x, y):
    for i in kk.range(x.shape[0]):
        add_row(x[i], y[i], 2.0)
        for j in kk.range(x.shape[1]):
            p, q = two(y[i, j])
            p, q = q, p
            y[i, j] = clipped(p * q, -1.0, 1.0)


@case(f64(7), number(0))
def early(x: kk.f64[N], stop: kk.index):
    if stop > 0:
        return
    for i in kk.range(N):
        x[i] = 1.0


# --- Neighbours -------------------------------------------------------------------------------------------------------

@case(f64(14, 40), ints(0, 2, 14, 40), f64(14, 40), f64(14, 40))
def coasts(u, land, depth, out):
    for i in kk.range(1, u.shape[0] - 1):
        for j in kk.range(1, u.shape[1] - 1):
            if land[i, j] > 0:
                out[i, j] = 0.0
            elif depth[i, j] > 0.5:
                out[i, j] = u[i, j + 1] - u[i, j]
            else:
                out[i, j] = u[i, j] - u[i, j - 1]
    for i in kk.range(1, u.shape[0] - 1):
        for j in kk.range(1, u.shape[1] - 1):
            if depth[i, j] > 0.0:
                out[i, j] += 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@case(f64(12, 30), f64(12, 30), ints(0, 2, 12, 30))
def bilateral_filter(a, out, below):
    for i in kk.range(2, a.shape[0] - 2):
        for j in kk.range(2, a.shape[1] - 2):
            total = weight = 0.0
            smaller = 0
            for di in kk.range(5):
                for dj in kk.range(5):
                    v = a[i + di - 2, j + dj - 2]
                    d = v - a[i, j]
                    w = np.exp(-0.1 * ((di - 2) ** 2 + (dj - 2) ** 2) - d * d)
                    total += w * v
                    weight += w
                    if d < 0.0:
                        smaller += 1
            out[i, j] = total / weight
            below[i, j] = smaller
