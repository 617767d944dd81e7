"""Kernels of the tests; test_kernels.py runs each by Python, too, and compares."""

import math
from pathlib import Path

import ml2kokkos as kk
import numpy as np

N, M, K = kk.sizes("N M K")
GAIN, TAPS = 0.25, (1.0, -2.0, 1.0)
TABLE = np.array([0.5, 1.5, 2.5, -1.0])
ALL = []


def case(*makers):
    """A kernel with what makes its arguments from a random generator."""
    def register(function):
        ALL.append((kk.kernel(function), makers))
        return function

    return register


def f64(*shape):
    return lambda random: np.array(random.standard_normal(shape)) if shape != ((),) else np.array(0.5)


def f32(*shape):
    return lambda random: random.standard_normal(shape).astype(np.float32)


def ints(low, high, *shape, dtype=np.int64):
    return lambda random: random.integers(low, high, shape).astype(dtype)


def number(value):
    return lambda random: value


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


# --- Reductions -------------------------------------------------------------------------------------------------------

@case(f64(30, 7), f64(12), ints(0, 1, 4))
def reductions(x, out: kk.f64[12], where: kk.i64[4]):
    n, m = x.shape
    out[0] = kk.sum(x)
    out[1] = kk.min(x)
    out[2] = kk.max(x[:, 2])
    out[3] = kk.sum(x[i, j] * i for i in kk.range(n) for j in kk.range(m))
    out[4] = kk.sum(x[i, j] for i in kk.range(1, m) for j in kk.range(i) if x[i, j] > 0.0)
    out[5] = kk.prod(x[i, 0] for i in kk.range(5))
    out[6] = 1.0 if kk.any(x > 2.0) else 0.0
    out[7] = kk.all(x[i, j] < 100.0 for i in kk.range(n) for j in kk.range(m))
    out[8] = kk.sum(x[i, 0] > 0.0 for i in kk.range(n))
    total = kk.sum(x[:, 1])
    out[9] = total * total
    out[10] = kk.max(abs(x[i, j]) for i in kk.range(n) for j in kk.range(m))
    where[0] = kk.argmin(x[:, 0])
    where[1] = kk.argmax(x[i, 1] for i in kk.range(n))
    where[2] = kk.sum(i for i in kk.range(n) if i % 3 == 1)


@case(f64(30, 7), f64(30), ints(0, 1, 30))
def reductions_in_loops(x, out, where):
    n, m = x.shape
    for i in kk.range(n):
        out[i] = kk.max(x[i, j] for j in kk.range(m)) - kk.min(x[i])
        where[i] = kk.argmin(x[i])
    for i in kk.parallel(n):
        out[i] += kk.sum(x[i, j] * x[k, j] for k in kk.range(n) for j in kk.range(m) if j != i)
        if out[i] > 0.0:
            out[i] = kk.sum(x[i])


@case(ints(0, 8, 100), f64(100), f64(8), ints(0, 1, 8, dtype=np.int32))
def histogram(bins, weights, sums, counts):
    for i in kk.parallel(len(bins)):
        kk.atomic_add(sums, bins[i], weights[i])
        kk.atomic_add(counts, bins[i], 1)
    for i in kk.range(len(bins)):
        kk.atomic_add(sums, bins[i], 1.0)


@case(ints(0, 9, 6), ints(0, 12, 20), f64(20), f64(12), f64(5))
def csr_product(starts, columns, values, x, y):
    for i in kk.range(len(y)):
        first, last = starts[i], starts[i + 1]
        y[i] = kk.sum(values[k] * x[columns[k]] for k in kk.range(first, last))


@case(f64(17), f64(17), f64(9, 6), f64(9, 6), ints(0, 9, 17))
def scans(x, y, m, q, k):
    y[:] = kk.scan(x)
    q[:, :] = kk.scan(m * 2.0, how="max", axis=0)
    m[:] = kk.scan(m)
    t = kk.scan(x[i] * i for i in kk.range(1, len(x)))
    x[1:] = t + kk.scan(x[:-1], how="min")
    y[::2] = kk.scan(y[::2], how="prod", axis=-1)
    k[:] = kk.scan(k)


@case(f64(7, 5), f64(5, 6), f64(7, 6), f64(7), f64(6))
def einsums(a: kk.f64[N, K], b: kk.f64[K, M], c: kk.f64[N, M], v: kk.f64[N], w: kk.f64[M]):
    c[:, :] = kk.einsum("ik,kj->ij", a, b)
    v[:] = np.einsum("ik,ik->i", a, a) + kk.einsum("ij,j", c, w)
    w[:] = kk.einsum("i,ij,i->j", v, c, v) * 0.01
    c[:, :] += kk.einsum("i,j->ij", v, w)
    v[0] = kk.einsum("ij,ij->", c, c)
    b[:] = kk.einsum("ij->ji", kk.einsum("ji->ij", b) * 2.0)


NET = kk.model(Path(__file__).parents[2] / "examples/mpi_closure/closure.onnx")


@case(f64(12, 9), f64(12, 9), f64(10, 3), f64(10, 1))
def networks(u: kk.f64[N, M], new: kk.f64[N, M], points: kk.f64[K, 3], values: kk.f64[K, 1]):
    """A network for one point made of numbers, for a row of an array, and for all rows."""
    for i in kk.parallel((1, N - 1)):
        for j in kk.range(1, M - 1):
            d = NET([u[i, j], u[i, j + 1] - u[i, j - 1], u[i + 1, j] - u[i - 1, j]])
            new[i, j] = u[i, j] + 0.1 * d[0]
    values[:] = NET(points)
    for k in kk.range(K):
        values[k, 0] += NET(points[k])[0]


# --- Types ------------------------------------------------------------------------------------------------------------

@case(ints(-20, 20, 60, dtype=np.int32), ints(1, 7, 60, dtype=np.int32), ints(0, 1, 60, dtype=np.int32), ints(0, 1, 60, dtype=np.int32))
def integers(a, b, q, r):
    for i in kk.range(len(a)):
        d = b[i] if i % 2 == 0 else -b[i]
        q[i] = a[i] // d
        r[i] = a[i] % d + (a[i] & 7) - (a[i] ^ b[i]) + (a[i] << 2) - (a[i] >> 1) + (~b[i] | 1) + a[i] ** 2


@case(f64(60), f64(60), f64(60), f64(60))
def floats_divided(a, b, q, r):
    for i in kk.range(len(a)):
        q[i] = a[i] * 10.0 // b[i]
        r[i] = a[i] * 10.0 % b[i]


@case(f32(20), f32(20), number(3), number(0.1))
def literals(x, y, n: int, h: float):
    for i in kk.range(len(x)):
        v = x[i] * 0.1 + 1 / 3
        v += n * h
        y[i] = v * i + x[i] ** 2 / n
        y[i] += 2 ** 0.5 * math.pi


@case(f32(20), f64(20), ints(0, 100, 20, dtype=np.int8), ints(0, 2, 20, dtype=bool), ints(0, 2, 20, dtype=bool), f64(20))
def mixed(a, b, c, p, q, out):
    for i in kk.range(len(a)):
        out[i] = a[i] + b[i] * c[i]
        q[i] = p[i] and not q[i] or c[i] > 50
        out[i] += (a[i] * c[i]) + (p[i] + 1) * p[i]
        out[i] += kk.f32(b[i]) + int(b[i] * 10.0) + kk.i32(3) / 2 + float(c[i])


@case(f64(30), f64(30))
def functions(x, y):
    for i in kk.range(len(x)):
        a = abs(x[i]) + 0.1
        y[i] = math.sin(a) + np.cos(a) * math.exp(-a) + np.log(a) + math.sqrt(a) + np.tanh(a) + math.atan2(a, 2.0)
        y[i] += math.floor(x[i]) + np.ceil(x[i]) + min(a, 1.0, x[i]) + max(x[i], 0) + math.pow(a, 1.5) + a ** 0.5 + math.fabs(x[i])
        y[i] += np.arctan(a) + math.copysign(a, x[i]) + np.rint(x[i]) + np.minimum(a, x[i]) + math.erf(a) if x[i] > 0 else a ** 3


@case(f64(4), f64(4))
def closure(x, y):
    for i in kk.range(4):
        y[i] = x[i] * TABLE[i] + GAIN


@case(number(0.25), number(7), f64(5))
def numbers(h: float, n: int, out):
    if n > 5:
        scale = h * n
    else:
        scale = h
    out[n - 5] = scale
    for i in kk.range(n - 6):
        out[i] = scale + i * n


# --- Complex numbers --------------------------------------------------------------------------------------------------

def c128(*shape):
    return lambda random: random.standard_normal(shape) + 1j * random.standard_normal(shape)


def c64(*shape):
    return lambda random: c128(*shape)(random).astype(np.complex64)


@case(c128(6, 7), number(-0.4 + 0.6j), ints(0, 9, 6, 7, dtype=np.int32))
def julia(start: kk.c128[N, M], c: complex, steps: kk.i32[N, M]):
    for i in kk.range(N):
        for j in kk.range(M):
            z, k = start[i, j], 0
            while abs(z) < 2.0 and k < 50:
                z = z * z + c
                k += 1
            steps[i, j] = k


@case(c128(20), c128(20), f64(20), c128(1))
def waves(x: kk.c128[N], y: kk.c128[N], r: kk.f64[N], total: kk.c128[1]):
    y[:] = x * r + 2j * np.conj(x)
    for i in kk.range(N):
        if r[i] > 0.5:
            w = y[i] / x[i]
        else:
            w = y[i] - 1.5
        y[i] = np.exp(w * 0.1) * (1 + 2j) ** 2 - w.real + w.imag * 1j
    total[0] = kk.sum(x[i] * y[i] for i in kk.range(N) if r[i] > 0.25)
    for i in kk.range(N):
        r[i] = abs(y[i]) + np.angle(x[i]) + (1.0 / x[i]).real


@case(c64(20), c64(20), number(np.complex64(0.5 - 2j)))
def turned(x: kk.c64[N], y: kk.c64[N], by: kk.c64):
    last = y[0]
    for i in kk.range(N):
        last = last * 0.5 + x[i] * by
        y[i] = last if y[i] != x[i] else -y[i] / 2.0


@case(c128(5, 4), c128(4, 5), c128(5, 5))
def gram(a: kk.c128[N, M], b: kk.c128[M, N], out: kk.c128[N, N]):
    out += a @ b
    out[1:, ::2] += complex(a.shape[0], 1.0)


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


# --- Folds ------------------------------------------------------------------------------------------------------------

@case(f64(5, 150), f64(5, 6), ints(0, 9, 5, 150), ints(0, 9, 5))
def folds(x: kk.f64[N, M], out: kk.f64[N, 6], k: kk.i64[N, M], sums: kk.i64[N]):
    """Long enough for several partial results."""
    for i in kk.range(N):
        out[i, 0] = kk.sum(x[i])
        out[i, 1] = kk.max(x[i, j] * x[i, j] for j in kk.range(M))
        out[i, 2] = kk.min(x[i, 3:-2])
        out[i, 3] = kk.prod(1.0 + 0.01 * x[i])
        sums[i] = kk.sum(k[i])
    for i in kk.parallel(N):
        out[i, 4] = kk.sum(x[i, j] * 2.0 for j in kk.range(3, M) if x[i, j] > 0.0)
        out[i, 5] = kk.sum(x[i, j] for j in kk.range(i, M - i))


def with_nan(random):
    x = random.standard_normal(9000)
    x[[4500, 8000]] = np.nan
    return x


@case(f64(5000), with_nan, ints(-100, 100, 4100), f64(8))
def places(x: kk.f64[N], y: kk.f64[M], k: kk.i64[K], out: kk.f64[8]):
    out[0] = kk.argmin(x)
    out[1] = kk.argmax(abs(x[i]) * 0.5 for i in kk.range(N))
    out[2] = kk.argmin(y)
    out[3] = kk.argmax(y)
    out[4] = kk.argmin(k)
    out[5] = kk.argmax(k[100:])
    out[6] = kk.argmin(x[3:])
    for i in kk.range(1):
        out[7] = kk.argmin(x[2 * j + 1] for j in kk.range(N // 2))


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


@case(ints(0, 9, 20, 30, dtype=np.int32), ints(1, 500, 20), ints(0, 1, 6))
def counts(a: kk.i32[N, M], x: kk.i64[N], out: kk.i64[6]):
    high = 0
    for i in kk.range(N):
        for j in kk.range(M):
            if a[i, j] > 4:
                high += 1
    odd = 0
    rest = 0
    bits = kk.i32(0)
    for i in kk.range(N):
        if x[i] % 2 == 1:
            odd += 1
            bits |= a[i, 0]
        elif x[i] > 250:
            rest -= x[i]
    rounds = 0
    for i in kk.range(N):
        left = x[i]
        while left > 1:
            left = left // 2 if left % 2 == 0 else 3 * left + 1
            rounds += 1
    below = 0
    for i in kk.range(N):
        for j in kk.range(i):
            below += x[i] if x[j] < x[i] else 0
    run = 0
    for i in kk.range(N):
        run = 0 if x[i] < 100 else run + 1
    out[0] = high
    out[1] = odd
    out[2] = rest + bits
    out[3] = rounds
    out[4] = below
    out[5] = run


def with_holes(random):
    numbers = random.normal(size=(40, 30))
    numbers[3, 4] = numbers[7, 0] = np.nan
    return numbers


@case(with_holes, ints(0, 900, 40), f64(20, 3), f64(14))
def extremes(a: kk.f64[N, M], x: kk.i64[N], points: kk.f64["K", 3], out: kk.f64[14]):
    """Maxima and minima as Python writes them: a NaN among the terms is passed by, one in front of them stays."""
    largest = 0.0
    for i in kk.range(N):
        for j in kk.range(M):
            largest = max(largest, abs(a[i, j]))
    least = a[0, 0]
    positive = 1e3
    for i in kk.range(1, N):
        if a[i, 0] < least:
            least = a[i, 0]
        if a[i, 1] > 0.0 and a[i, 1] < positive:
            positive = a[i, 1]
    hole = a[3, 4]
    last = 0.0
    for i in kk.range(N):
        hole = max(hole, a[i, 2])
        last = min(a[i, 4], last) # takes the place of what was found where it is a NaN
    most = 0
    smallest = 1000
    for i in kk.range(N):
        steps = 0
        left = x[i] + 1
        while left > 1:
            left = left // 2 if left % 2 == 0 else 3 * left + 1
            steps += 1
        if steps > most:
            most = steps
        smallest = min(smallest, steps + x[i])
    out[0] = largest
    out[1] = least
    out[2] = positive
    out[3] = hole
    out[4] = last
    out[5] = most
    out[6] = smallest
    for d in range(3):
        low = points[0, d]
        high = points[0, d]
        for i in kk.range(1, points.shape[0]):
            low = min(low, points[i, d])
            high = max(high, points[i, d])
        out[7 + d] = low
        out[10 + d] = high


def natural(bits, *shape):
    return lambda random: random.integers(0, 1 << bits, shape, dtype=f"u{bits // 8}")


@case(natural(8, 20, 30), natural(8, 20, 30), natural(8, 20, 30), ints(0, 9, 20, 30, dtype=np.int16), lambda random: np.zeros(256, np.uint32))
def images(a: kk.u8[N, M], b: kk.u8[N, M], out: kk.u8[N, M], difference: kk.i16[N, M], counts: kk.u32[256]):
    for i in kk.range(N):
        for j in kk.range(M):
            mean = (kk.u16(a[i, j]) + b[i, j] + 1) // 2
            out[i, j] = mean if a[i, j] > 127 else 255 - a[i, j]
            difference[i, j] = kk.i16(a[i, j]) - b[i, j]
    for i in kk.parallel(N):
        for j in kk.range(M):
            kk.atomic_add(counts, a[i, j], 1)


@case(natural(32, 40), natural(64, 40), lambda random: np.uint32(4123456789), f64(40), natural(64, 5))
def generators(s: kk.u32[N], t: kk.u64[N], seed: kk.u32, uniform: kk.f64[N], found: kk.u64[5]):
    for i in kk.range(N):
        x = s[i] * 747796405 + seed
        x ^= x << 13
        x ^= x >> 17
        x ^= x << 5
        s[i] = x
        uniform[i] = x / 4294967296.0
        z = t[i] + kk.u64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> 30)) * kk.u64(0xBF58476D1CE4E5B9)
        t[i] = z ^ (z >> 31)
    largest = kk.u64(0)
    for i in kk.range(N):
        largest = max(largest, t[i])
    found[0] = largest
    found[1] = kk.min(t[i] for i in kk.range(N))
    found[2] = kk.argmax(t[i] for i in kk.range(N))
    found[3] = kk.sum(s)
    found[4] = kk.sum(s[i] for i in kk.range(N) if s[i] > seed)


@case(natural(16, 40), natural(16, 40), lambda random: np.zeros((9, 40), np.uint16), f64(3, 40), ints(-100, 100, 40, dtype=np.int8), ints(0, 9, 40))
def naturals(a: kk.u16[N], b: kk.u16[N], q: kk.u16[9, N], x: kk.f64[3, N], c: kk.i8[N], d: kk.i64[N]):
    for i in kk.range(N):
        one = b[i] | 1
        q[0, i] = a[i] // one
        q[1, i] = a[i] % one
        q[2, i] = a[i] - b[i]
        q[3, i] = -a[i]
        q[4, i] = ~a[i]
        q[5, i] = a[i] >> 3
        q[6, i] = abs(a[i]) * b[i]
        q[7, i] = min(a[i], b[i])
        q[8, i] = kk.u16(min(abs(x[2, i]) * 1e4, 65535.0))
        x[0, i] = a[i] / 3
        x[1, i] = 1 if a[i] < b[i] and a[i] > 1 else 0
        d[i] = kk.i64(a[i]) + (b[i] + c[i])
