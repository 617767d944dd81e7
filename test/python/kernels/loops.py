"""Loops whose order matters, or does not: stores, columns, positions, parts of arrays."""

import math

import ml2kokkos as kk
import numpy as np

from .cases import GAIN, M, N, c128, case, f64, ints, number


# --- Stores -----------------------------------------------------------------------------------------------------------

@case(f64(12), f64(12), ints(0, 12, 12), c128(12))
def stored_again(x: kk.f64[N], y: kk.f64[N], p: kk.i64[N], z: kk.c128[N]):
    for i in kk.range(1, N - 1):
        x[i] = y[i] + x[i - 1]
        x[i] += x[i + 1] * 0.5
        y[i - 1] = x[i]
        x[p[i]] = 2.0 * x[i]
        y[i] = x[i] + x[p[i]]
        if y[i] > 0.5:
            x[i] = x[i] - y[i]
            x[i] *= 0.25
        k = 0
        x[i + 1] = x[i]
        y[i] = y[i] * 0.5
        u = y[i]
        y[i] = u + x[i + 1]
        while x[i + 1] < 3.0 and k < 4:
            x[i + 1] += 1.0
            k += 1
        y[i + 1] = x[i + 1] + k
        z[i] = x[i] * 1j
        z[i] += z[i - 1] * y[i]
        z[i] = z[i] / 2.0


# --- Columns ----------------------------------------------------------------------------------------------------------

@case(f64(20, 150), f64(20, 150), f64(20, 150), f64(20, 150), f64(150), ints(0, 2, 150))
def columns(lower: kk.f64[N, M], upper: kk.f64[N, M], x: kk.f64[N, M], work: kk.f64[N, M], top: kk.f64[M], flags: kk.i64[M]):
    """Levels of an atmosphere whose columns lie side by side: a tridiagonal solve, fluxes from the top, sums from below. Three
    strips."""
    for i in kk.range(M):
        g, y = upper[0, i] / 4.0, x[0, i] / 4.0
        work[0, i] = g
        x[0, i] = y
        for k in kk.range(1, N):
            pivot = 4.0 - lower[k, i] * g
            g = upper[k, i] / pivot
            y = (x[k, i] - lower[k, i] * y) / pivot
            work[k, i] = g
            x[k, i] = y
        for k in kk.range(N - 2, -1, -1):
            y = x[k, i] - work[k, i] * y
            x[k, i] = y
    for i in kk.parallel(M):
        flux = top[i]
        for k in kk.range(N):
            flux = flux * 0.9 + x[k, i] if flags[i] > 0 else flux - x[k, i] * 0.1
            absorbed = 0.0
            for j in kk.range(k, N):
                absorbed += upper[j, i] * flux
            work[k, i] = absorbed
        top[i] = flux
    for i in kk.range(M - 1):
        for k in kk.range(N - 2, -1, -1):
            lower[k, i] = lower[k + 1, i] + work[k, i + 1]


# --- Positions and names ----------------------------------------------------------------------------------------------

@case(f64(9, 3), f64(9), f64(9))
def unpacked(place: kk.f64[N, 3], distance: kk.f64[N], swapped: kk.f64[N]):
    first, last = 0.0, 1.0
    for i in kk.range(N):
        x, y, z = place[i]
        distance[i] = math.sqrt(x * x + y * y + z * z)
    for i in kk.range(N - 1, -1, -1):
        swapped[i] = distance[N - 1 - i] if i % 2 == 0 else last - first


@case(f64(9), f64(9), ints(0, 1))
def counted_rounds(x: kk.f64[N], y: kk.f64[N], rounds: kk.i64[()]):
    n = 0 # no size is called so
    change = 1.0
    while change > 1e-3 and n < 20:
        for i in kk.range(1, N - 1):
            y[i] = 0.5 * (x[i - 1] + x[i + 1])
        change = kk.max(abs(y[i] - x[i]) for i in kk.range(1, N - 1))
        for i in kk.range(1, N - 1):
            x[i] = y[i]
        n += 1
    rounds[()] = n


@case(f64(12, 12), f64(12, 12), f64(12), f64(12))
def triangles(a: kk.f64[N, N], b: kk.f64[N, N], x: kk.f64[N], y: kk.f64[N]):
    for i in kk.range(N):
        for j in kk.range(i, N):
            b[i, j] = 0.0
            for k in kk.range(N):
                b[i, j] += a[k, i] * a[k, j]
            b[j, i] = b[i, j]
    for i in kk.range(N):
        b[i, i] += 12.0
    for k in kk.range(N):
        b[k, k] = math.sqrt(b[k, k])
        for i in kk.range(k + 1, N):
            b[i, k] /= b[k, k]
        for i in kk.range(k + 1, N):
            for j in kk.range(k + 1, i + 1):
                b[i, j] -= b[i, k] * b[j, k]
    for i in kk.range(N):
        x[i] = y[i]
        for j in kk.range(i):
            x[i] -= b[i, j] * x[j]
        x[i] /= b[i, i]
    for i in kk.range(N):
        for j in kk.range(N):
            if i < j:
                a[i, j] = a[j, i]


@case(f64(12, 15), f64(12, 15), f64(31))
def chessboard(u: kk.f64[N, M], f: kk.f64[N, M], x: kk.f64["l"]):
    for color in kk.range(2):
        for i in kk.range(1, N - 1):
            for j in kk.range(1, M - 1):
                if (i + j) % 2 == color:
                    u[i, j] += 0.2 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j] - f[i, j])
    for i in kk.range(1, N - 1):
        for j in kk.range((M - 2) // 2):
            u[i, 1 + 2 * j + i % 2] = 0.5 * (u[i - 1, 1 + 2 * j + i % 2] + u[i + 1, 1 + 2 * j + i % 2])
    for i in kk.range(1, N - 1):
        for j in kk.range(1 + (i + 1) % 2, M - 1, 2):
            u[i, j] -= 0.1 * (u[i, j - 1] + u[i - 1, j])
    for i in kk.range((len(x) - 1) // 2):
        x[2 * i + 1] = 0.5 * (x[2 * i] + x[2 * i + 2])
    for i in kk.range(min(len(x), N, max(0, (M - 3) // 2))):
        x[i] = 2.0 * x[i]


@case(f64(40), f64(5), f64(40))
def filtered(x: kk.f64[N], h: kk.f64["t"], y: kk.f64[N]):
    for i in kk.range(len(h) - 1, N):
        s = 0.0
        for t in kk.range(len(h)):
            s += h[t] * x[i - t]
        y[i] = s
    for i in kk.range(N // 2):
        a = x[i]
        x[i] = x[N - 1 - i]
        x[N - 1 - i] = a
    for i in kk.range(len(h) - 1, N):
        x[i - 1] = kk.sum(y[t - 1] for t in kk.range(len(h) - 1, i))


@case(f64(12 * 7), f64(12 * 7), f64(24), f64(31), number(12), number(7))
def flattened(x: kk.f64["l"], y: kk.f64["l"], z: kk.f64["k"], w: kk.f64["o"], n: int, m: int):
    for i in kk.range(n):
        for j in kk.range(m):
            y[i * m + j] = 2.0 * x[i * m + j]
    for i in kk.range(n):
        for j in kk.range(1, m):
            x[i * m + j] += 0.5 * x[i * m + j - 1]
    for i in kk.range(m):
        for j in kk.range(1, n):
            y[j * m + i] += y[(j - 1) * m + i]
    for a in kk.range(n // 6):
        for b in kk.range(m - 3):
            for c in kk.range(n // 4):
                z[(a * (m - 3) + b) * (n // 4) + c] += 0.5
    for i in kk.range(len(w)):
        w[i] = z[(i + m) % len(z)]
    for i in kk.range(len(z)):
        z[(i + m) % len(z)] = w[i]


@case(f64(16), f64(16), f64(9, 5), number(4))
def transformed(re: kk.f64[N], im: kk.f64[N], rows: kk.f64["k", "c"], width: int):
    half = 1
    while half < N:
        for k in kk.range(0, N, 2 * half):
            for j in kk.range(half):
                wr = math.cos(-math.pi * j / half)
                wi = math.sin(-math.pi * j / half)
                tr = wr * re[k + j + half] - wi * im[k + j + half]
                ti = wr * im[k + j + half] + wi * re[k + j + half]
                re[k + j + half] = re[k + j] - tr
                im[k + j + half] = im[k + j] - ti
                re[k + j] += tr
                im[k + j] += ti
        half *= 2
    bit = 1
    for stage in kk.range(width):
        for b in kk.range(N // 2):
            low = b // bit * 2 * bit + b % bit
            re[low] -= im[low + bit]
            re[low + bit] += im[low]
        bit *= 2
    for b in kk.range(0, rows.shape[0], width):
        for i in kk.range(b, min(b + width, rows.shape[0])):
            for j in kk.range(1, rows.shape[1]):
                rows[i, j] += 2.0 * rows[i, j - 1]


@case(lambda random: np.array([0, 3, 3, 10, 12]), lambda random: random.permutation(12), f64(12), f64(12), ints(0, 2, 1))
def in_parts(starts: kk.i64["parts"], order: kk.i64[N], x: kk.f64[N], y: kk.f64[N], count: kk.i64[1]):
    for part in kk.range(len(starts) - 1):
        for p in kk.parallel((starts[part], starts[part + 1])):
            x[order[p]] += 0.5 * y[order[p]]
    for i in kk.range(4 + count[0]):
        y[i] = 2.0 * x[i]
    y[11] = kk.sum(x[i] for i in kk.range(5 + count[0]))
    size = 1
    while size < N:
        for i in kk.range(0, N - size, 2 * size):
            x[i] += x[i + size]
        size *= 2


@case(f64(21, 26), f64(21, 26), number(3))
def levels_of_a_grid(u: kk.f64[N, M], r: kk.f64[N, M], levels: int):
    s = 1
    for level in kk.range(levels):
        for i in kk.range(s, N - s, s):
            for j in kk.range(s, M - s, s):
                r[i, j] = 0.25 * (u[i - s, j] + u[i + s, j] + u[i, j - s] + u[i, j + s]) - u[i, j]
        for i in kk.range(s, N - s, s):
            for j in kk.range(s, M - s, s):
                u[i, j] += 0.8 * r[i, j]
        s *= 2


@case(f64(64), f64(40), number(3), number(-5), number(2.4))
def bounds_of_bits(x: kk.f64[N], y: kk.f64["k"], m: int, below: int, scale: float):
    for i in kk.range(N >> m):
        x[i] *= 2.0
    for i in kk.range(1 << m):
        x[i] += y[i]
    for i in kk.range(abs(below)):
        x[i] -= 0.5
    for i in kk.range((m ^ 6) + 1, N & ~3):
        x[i] *= 0.5
    for i in kk.range(m + 1 if below < 0 else 2 * m):
        y[i] += x[i]
    for i in kk.range(int(scale * 4.0)):
        y[i] *= 0.9
    for level in kk.range(m):
        step = 1 << level
        for i in kk.range(0, N - step, 2 * step):
            x[i] += x[i + step]


@case(f64(32))
def sorted_in_pairs(x: kk.f64[N]):
    size = 2
    while size <= N:
        apart = size // 2
        while apart > 0:
            for i in kk.range(N):
                other = i ^ apart
                if other > i:
                    a, b = x[i], x[other]
                    if (a > b) == (i & size == 0):
                        x[i] = b
                        x[other] = a
            apart //= 2
        size *= 2


@case(f64(64), f64(64))
def scanned_in_a_tree(x: kk.f64[N], y: kk.f64[N]):
    d = 1
    while d < N:
        for i in kk.range(N // (2 * d)):
            x[2 * d * (i + 1) - 1] += x[2 * d * i + d - 1]
        d *= 2
    x[N - 1] = 0.0
    while d > 1:
        d //= 2
        for i in kk.range(N // (2 * d)):
            low = x[2 * d * i + d - 1]
            x[2 * d * i + d - 1] = x[2 * d * (i + 1) - 1]
            x[2 * d * (i + 1) - 1] += low
    d = 1
    while d < N:
        for i in kk.range(N):
            y[i] = x[i] + x[i - d] if i >= d else x[i]
        x[:] = y
        d *= 2


@case(f64(20), f64(20), f64(6, 3), number(3.0))
def functions_inside(x: kk.f64[N], y: kk.f64[N], v: kk.f64["k", 3], a: float):
    def clipped(value, low=-0.5, high=0.5):
        if value < low:
            return low
        return high if value > high else value

    def scaled(value):
        return a * clipped(value) + GAIN

    def cross(p, q):
        return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]

    shift = 1.0

    def put(i, value):
        value *= 2.0
        y[i] = value + shift

    for i in kk.range(N):
        shift = x[i]
        put(i, scaled(x[i]))
    shift = 10.0
    put(0, 1.0)
    y[1] = kk.sum(scaled(x[k]) for k in kk.range(N))
    for p in kk.range(v.shape[0]):
        v[p] = cross(v[p], (1.0, a, -1.0))
    v[0] = (1.0, 2.0, 3)


# --- Rows that elements choose ----------------------------------------------------------------------------------------

@case(f64(60, 3), ints(0, 7, 60), f64(7, 3), f64(7))
def means_of_groups(x, label, total, count):
    for i in kk.range(x.shape[0]):
        k = label[i]
        count[k] += 1.0
        for c in kk.range(x.shape[1]):
            total[k, c] += x[i, c]


@case(f64(60, 3), ints(0, 60, 60), f64(60, 3))
def chains_of_groups(x, label, total):
    """The labels change as the loop runs."""
    for i in kk.range(x.shape[0]):
        k = label[i]
        label[k] = i
        for c in kk.range(x.shape[1]):
            total[k, c] += x[i, c]
            x[k, c] = total[label[i], c]


@case(f64(40, 3), ints(0, 40, 90), ints(0, 40, 90), f64(40, 3))
def springs(x, a, b, force):
    for e in kk.range(len(a)):
        i, j = a[e], b[e]
        square = 0.25
        for c in kk.range(x.shape[1]):
            square += (x[i, c] - x[j, c]) ** 2
        strength = 1.0 / np.sqrt(square)
        for c in kk.range(x.shape[1]):
            f = strength * (x[i, c] - x[j, c])
            force[i, c] += f
            force[j, c] -= f
        d = x[i] - x[j]
        force[j] += kk.sum(d * d) * d


@case(lambda random: random.random((80, 2)), f64(9, 9, 2), f64(9, 9))
def clouds_in_cells(x, moment, mass):
    for p in kk.range(x.shape[0]):
        i, j = int(8.0 * x[p, 0]), int(8.0 * x[p, 1])
        for di in kk.range(2):
            for dj in kk.range(2):
                mass[i + di, j + dj] += 0.25
                for c in kk.range(x.shape[1]):
                    moment[i + di, j + dj, c] += 0.25 * x[p, c]


@case(f64(20), f64(20), f64(33), f64(9, 8), f64(20))
def changed_together(x, y, table, rows, found):
    """What one condition changes: two that change places, three that move on, the ends of an interval, a sort by insertion."""
    for i in kk.parallel(x.shape[0]):
        a = x[i]
        b = y[i]
        c = 0.0
        for k in kk.range(table.shape[0]):
            if table[k] > 0.5:
                a, b = b, a
            if table[k] > a:
                c = b
                b = a
                a = table[k]
        lo = 0
        hi = table.shape[0] - 1
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if table[mid] > y[i]:
                hi = mid
            else:
                lo = mid
        x[i] = a - c
        found[i] = lo + 100.0 * hi + b
    for r in kk.parallel(rows.shape[0]):
        for i in kk.range(1, 8):
            key = rows[r, i]
            j = i - 1
            while j >= 0 and rows[r, j] > key:
                rows[r, j + 1] = rows[r, j]
                j -= 1
            rows[r, j + 1] = max(min(key, 0.9), 0.1)
