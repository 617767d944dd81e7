"""Expressions of whole arrays, also in loops."""

import ml2kokkos as kk
import numpy as np

from .cases import K, M, N, case, f64, ints, number


# --- Whole arrays -----------------------------------------------------------------------------------------------------

@case(f64(12, 9), f64(12, 9), f64(9))
def arrays(x: kk.f64[N, M], y: kk.f64[N, M], row: kk.f64[M]):
    t = x * 2.0 + row
    y[1:-1, 1:-1] = t[:-2, 1:-1] + t[2:, 1:-1]
    y[0] = np.maximum(row, 0.0)
    y[-1, :] += 1.0
    y[:, ::3] *= 0.5
    x[...] = kk.where(y > 0.0, y, -x)


@case(f64(20))
def overlapping(x):
    x[1:] = x[:-1] + 1.0
    x[::2] = x[::2] * x[0]
    x[:] = x[0] + x


@case(f64(8, 5), f64(5, 6), f64(8, 6), f64(5), f64(8), f64(()))
def products(a: kk.f64[N, K], b: kk.f64[K, M], c: kk.f64[N, M], v: kk.f64[K], w: kk.f64[N], s: kk.f64[()]):
    c[:, :] = a @ b - 1.0
    w[:] = a @ v
    s[()] = v @ v
    v[:] = a.T @ w


@case(f64(7, 7), f64(7))
def in_place_product(a: kk.f64[N, N], x: kk.f64[N]):
    x[:] = a @ x
    a[:, :] = a.T + a


@case(f64(10, 6), f64(10))
def centred(x, mean):
    mean[:] = kk.sum(x, axis=1) / x.shape[1]
    for i in kk.range(x.shape[0]):
        x[i, :] -= mean[i]
        norm = np.sqrt(kk.sum(x[i] * x[i]))
        x[i] /= norm


@case(f64(10, 6), f64(10, 6))
def copies_in_loops(x, y):
    for i in kk.range(10):
        y[i, 1:] = x[i, :-1] + x[i, 1:]
    for i in kk.parallel(10):
        y[i] = y[i] * 2.0


@case(f64(10, 6), f64(10))
def copies_in_front(x: kk.f64[N, M], y: kk.f64[N]):
    """The copy lies in front of the loop, and so does what its extent is called."""
    for i in kk.range(N):
        x[1:] = x[:-1] * 0.5 + x[1:]
        y[i] = x[i, -1] * x[-1, 0]
    for i in kk.range(N):
        y[i] += x[-1, i % 6]


@case(f64(30))
def scratch(x: kk.f64[N]):
    t = kk.zeros(N, kk.f64)
    u = kk.empty((N, 2), kk.f64)
    for i in kk.range(1, N):
        t[i] = x[i - 1]
    for i in kk.range(N):
        u[i, 0] = t[i]
        u[i, 1] = x[i]
    for i in kk.range(N):
        w = kk.zeros(3, kk.f64)
        for k in range(3):
            w[k] = u[i, k % 2] * k
        x[i] = w[0] + w[1] + w[2]


@case(f64(6, 9), f64(6), f64(6, 9))
def new_axes(x: kk.f64[N, M], mu: kk.f64[N], y: kk.f64[N, M]):
    y[...] = x - mu[:, None] + (mu * 2.0)[:, np.newaxis] * x[..., 0, None]


@case(f64(6, 9), f64(6, 9), f64(6, 9))
def centred(x: kk.f64[N, M], y: kk.f64[N, M], z: kk.f64[N, M]):
    y[:] = x - (kk.sum(x, axis=1) / M)[:, None]
    z[:] = x / kk.max(x, axis=0)


@case(f64(6, 9), f64(6, 9))
def parts_of_expressions(x: kk.f64[N, M], y: kk.f64[N, M]):
    y[:, 1:] = (x * 2.0)[:, :-1]
    across = x.T
    for i in kk.range(N):
        y[i, 0] = across[1, i] + (x + 1.0)[i, -1]


# --- Whole arrays in loops --------------------------------------------------------------------------------------------

@case(f64(9, 9), f64(9, 9), f64(9), number(3))
def array_steps(a: kk.f64[N, N], b: kk.f64[N, N], v: kk.f64[N], steps: int):
    """What a statement still has to read is kept, in memory that the steps share; what it changes elsewhere is not."""
    for step in kk.range(steps):
        speed = v * 0.5
        v += speed[::-1]
        a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[:, -1] = a[:, -2]
        a[0] = a[1]
    for k in kk.range(N - 1):
        b[k + 1:, k] /= 4.0 + abs(b[k, k])
        b[k + 1:, k + 1:] -= b[k + 1:, k, None] * b[k, k + 1:]
    for k in kk.range(1, N):
        v[:k] = v[:k] + 0.1 * v[:k][::-1]
        b[:, k] += b[:, k - 1]
        b[k] = b[k] @ a
    for k in kk.range(N):
        b[k:, k] = b[k, k:]
        a[k, :k + 1] += v[k] * a[k, :k + 1][::-1]


@case(f64(12), f64(12), f64(12, 5), ints(0, 3))
def changed_in_branches(x: kk.f64[N], y: kk.f64[N], z: kk.f64[N, 5], which: kk.i64[()]):
    """x += y in branches, in loops that count, and until something holds."""
    if which[()] > 0:
        x += y
    else:
        x -= 2.0 * y
    left = 3
    while left > 0:
        y *= 0.5
        z -= kk.sum(z, axis=0) / N
        left -= 1
    for step in kk.range(2):
        if step == 1:
            z[:, 0] += z[::-1, 1]
        last = z[::2, ::-1]
        z[:N // 2, 1:] = 0.5 * last[:N // 2, :-1]


@case(f64(10, 12), f64(5, 6), f64(5, 7), f64(10))
def every_second(x, y, z, sums):
    y[...] = 0.25 * (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2])
    z[:, :6] = x[1::2, ::-2]
    for i in kk.range(x.shape[0]):
        sums[i] = kk.sum(x[i, ::2] * x[i, 1::2])


@case(f64(3, 4, 5), f64(5, 3, 4))
def turned(x, y):
    for i, j, k in kk.parallel(*x.shape):
        y[k, i, j] = x[i, j, k]
    for i in kk.range(*(1, 3)):
        y[0, i, 0] = np.maximum(*x[:, 0, :2].shape) + x[i, 0, 0]


@case(f64(9, 70), f64(9, 70), f64(9, 70), f64(9))
def rows_of_a_matrix(a, b, out, spread):
    """A softmax, a normalization in place, what is larger than the mean of its row."""
    e = np.exp(a - kk.max(a, axis=1)[:, None])
    out[:] = e / kk.sum(e, axis=1)[:, None]
    mean = kk.sum(b, axis=1) / b.shape[1]
    b[:] = b - mean[:, None]
    spread[:] = np.sqrt(kk.sum(b * b, axis=1) / b.shape[1])
    b[:] = b / spread[:, None]
    a[:] = kk.where(a > (kk.sum(a, axis=1) / a.shape[1])[:, None], a, b)


@case(f64(130, 3), f64(130, 3), f64(130, 3, 3), f64(90, 2, 3), f64(130, 3))
def points_of_three(x, v, turn, image, out):
    v[:] = v + 0.1 * x
    x[:] = x * 0.5 + v
    for n in kk.range(x.shape[0]):
        for i in kk.range(3):
            s = 0.0
            for j in kk.range(3):
                s += turn[n, i, j] * x[n, j]
            out[n, i] = s
    for i, j, c in kk.parallel(image.shape[0], image.shape[1], 3):
        image[i, j, c] = 1.0 - image[i, j, c]


@case(f64(12, 203), f64(12, 203), f64(5, 6, 1033), f64(5, 6, 1033), f64(4, 1024), ints(0, 9, 7, 150))
def rows_from_line_to_line(u, new, x, y, lower, counts):
    new[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4.0
    y[1:, :-1, 1:-1] = y[1:, :-1, 1:-1] * 0.5 + x[:-1, 1:, :-2] * x[1:, :-1, 2:]
    for i, j in kk.parallel(lower.shape[0], lower.shape[1]):
        lower[i, j] = 1.0 - lower[i, j]
    for i, j in kk.parallel(counts.shape[0], counts.shape[1]):
        if counts[i, j] % 3 == 1:
            counts[i, j] += 2


@case(f64(13, 18), f64(13, 18), f64(21), f64(4, 15))
def slices_with_steps(u, f, x, rows):
    """Both halves of a checkerboard, which read each other; neighbours that are overwritten; parts of rows in a loop."""
    u[1:-1:2, 1:-1:2] = 0.25 * (u[:-2:2, 1:-1:2] + u[2::2, 1:-1:2] + u[1:-1:2, :-2:2] + u[1:-1:2, 2::2] - f[1:-1:2, 1:-1:2])
    u[2:-1:2, 2:-1:2] = 0.25 * (u[1:-2:2, 2:-1:2] + u[3::2, 2:-1:2] + u[2:-1:2, 1:-2:2] + u[2:-1:2, 3::2] - f[2:-1:2, 2:-1:2])
    x[:-2:2] = x[2::2] * 2.0
    x[1:-1:2] = x[:-2:2] + x[2::2]
    for i in kk.range(rows.shape[0]):
        rows[i, 1:-1:2] = 0.5 * (rows[i, :-2:2] + rows[i, 2::2])
        rows[i, 1:-1:3] = rows[i, 2::3] * 3.0


@case(f64(13, 18), f64(13, 18), f64(7, 9, 20), ints(0, 9, 9, 40), f64(30, 11))
def checkerboards(u, f, x, counts, tall):
    for color in range(2):
        for i in kk.range(1, u.shape[0] - 1):
            for j in kk.range(1, u.shape[1] - 1):
                if (i + j) % 2 == color:
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
    for i in kk.range(1, x.shape[0] - 1):
        for j in kk.range(1, x.shape[1] - 1):
            for k in kk.range(1, x.shape[2] - 1):
                if (i + j + k) % 2 != 0:
                    x[i, j, k] = (x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k] + x[i, j + 1, k] + x[i, j, k - 1] + x[i, j, k + 1]) / 6.0
    for i, j in kk.parallel(counts.shape[0], counts.shape[1]):
        if (i + j + 1) % 2 == 1:
            counts[i, j] += 2
    for i, j in kk.parallel(tall.shape[0], tall.shape[1]):
        if (i + j) % 2 == 1:
            if tall[i, j] > 0.5:
                tall[i, j] = 0.0
        else:
            tall[i, j] = 1.0


@case(f64(13, 18), f64(13, 18), f64(7, 9, 20), f64(12, 15), ints(-50, 50, 40))
def sweeps(u, f, x, w, counts):
    """Rows that begin at one of two positions and go by two; remainders of numbers below 0."""
    for color in range(2):
        for i in kk.range(1, u.shape[0] - 1):
            for j in kk.range(1 + (i + color) % 2, u.shape[1] - 1, 2):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
    for i in kk.range(1, x.shape[0] - 1):
        for j in kk.range(1, x.shape[1] - 1):
            for k in kk.range(1 + (i + j + 1) % 2, x.shape[2] - 1, 2):
                x[i, j, k] = (x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k] + x[i, j + 1, k] + x[i, j, k - 1] + x[i, j, k + 1]) / 6.0
    for i in kk.parallel(w.shape[0]):
        for j in kk.range((i - 5) % 2, w.shape[1], 2):
            w[i, j] = 1.0 - w[i, j]
    for i in kk.range(w.shape[0]):
        for j in kk.range(w.shape[1]):
            if (i - j) % 2 == 1:
                w[i, j] *= 3.0
    for i in kk.range(counts.shape[0]):
        counts[i] = counts[i] % 8 + (counts[i] - i) % 2 * 16 + (i - 7) % 4 * 64 + counts[i] % 1
