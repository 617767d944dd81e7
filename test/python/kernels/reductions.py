"""Sums, extremes and positions; what loops carry; rows that threads share."""

from pathlib import Path

import ml2kokkos as kk
import numpy as np

from .cases import K, M, N, case, f64, ints


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


@case(f64(3, 4, 5, 6), f64(5, 6, 7, 8), f64(3, 4, 7, 8), f64(5, 6), f64(3, 4), f64(6, 5, 2))
def tensor_contractions(a, b, c, x, y, z):
    c[:] += kk.einsum("ijkl,klmn->ijmn", a, b)
    y[:] = kk.einsum("ijkl,kl->ij", a, x)
    x[:] = kk.einsum("ijkl,ij->kl", a, y)
    for k, m in kk.parallel(6, 5):
        z[k, m, 0] = 0.5 * kk.sum(a[i, j, m, k] * y[i, j] for i in kk.range(3) for j in kk.range(4)) + z[k, m, 1]


@case(f64(30, 3, 3), f64(30, 3, 3), f64(30, 3, 3), f64(30, 5, 4), f64(30, 4, 6), f64(30, 5, 6), f64(40, 16), f64(16, 3), f64(40, 3))
def small_products(f: kk.f64[N, 3, 3], g: kk.f64[N, 3, 3], c: kk.f64[N, 3, 3], a: kk.f64[N, 5, 4], b: kk.f64[N, 4, 6], o: kk.f64[N, 5, 6],
                   points: kk.f64["p", 16], basis: kk.f64[16, 3], values: kk.f64["p", 3]):
    """Many products of few elements, and one with few columns."""
    c[:] = kk.einsum("nki,nkj->nij", f, g) * 0.5 + c
    o[:] = kk.einsum("nik,nkj->nij", a, b)
    values[:] = points @ basis


NET = kk.model(Path(__file__).parents[3] / "examples/mpi_closure/closure.onnx")


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


def with_equals(random):
    x = np.round(random.standard_normal(4300), 1)
    x[[7, 4000]] = x.max() + 1
    x[[90, 4100]] = x.min() - 1
    x[11] = np.nan
    return x


@case(with_equals, ints(0, 50, 4300, dtype=np.int32), f64(300, 3), f64(9, 9), ints(0, 1, 20), f64(4))
def positions(x: kk.f64[N], k: kk.i32[N], points: kk.f64[K, 3], a: kk.f64[M, M], at: kk.i64[20], out: kk.f64[4]):
    """Where the best was found, as Python writes it: the first place, the last one, under a condition, of rows, in a loop of the host."""
    low = high = x[0]
    first = last = 0
    for i in kk.range(N):
        if x[i] < low:
            low = x[i]
            first = i
        if x[i] >= high:
            high, last = x[i], i
    most, label = 0, -1
    for i in kk.range(N):
        if i % 3 != 1 and k[i] > most:
            most, label = k[i], k[N - 1 - i] + 100
    nearest, distance = -1, 1e9
    for i in kk.range(points.shape[0]):
        dx, dy, dz = points[i, 0] - 0.25, points[i, 1], points[i, 2] + 0.5
        square = dx * dx + dy * dy + dz * dz
        if square < distance:
            nearest, distance = 2 * i + 1, square
    row = column = -1
    peak = 0.0
    for r in kk.range(M):
        for c in kk.range(1, M):
            if abs(a[r, c]) > peak:
                peak, row, column = abs(a[r, c]), r, c
    at[0], at[1], at[2], at[3] = first, last, label, nearest
    at[18], at[19] = row, column
    out[0], out[1], out[2], out[3] = low, high, most, distance
    for c in kk.range(M - 1):
        best, pivot = 0.0, c
        for r in kk.range(c, M):
            if abs(a[r, c]) > best:
                best = abs(a[r, c])
                pivot = r
        at[4 + c] = pivot
        for j in kk.range(M):
            a[c, j], a[pivot, j] = a[pivot, j], a[c, j]
        for r in kk.range(c + 1, M):
            factor = a[r, c] / a[c, c]
            for j in kk.range(c, M):
                a[r, j] -= factor * a[c, j]


@case(f64(5, 7), f64(6), ints(0, 4, 5))
def of_grids(x: kk.f64[N, M], out: kk.f64[6], length: kk.i64[N]):
    out[0] = kk.sum(x[i, j] for i in kk.range(N) for j in kk.range(M) if x[i, j] > 0.0)
    out[1] = kk.max(x[i, j] * j for i in kk.range(x.shape[0]) for j in kk.range(1, x.shape[1] // 2))
    out[2] = kk.sum(x[i, j] for i in kk.range(N) for j in kk.range(i, M))
    out[3] = kk.sum(x[i, j] for i in kk.range(N) for j in kk.range(length[i]))
    out[4] = kk.min(x[i, j] for j in kk.range(M) for i in kk.range(len(x) - 1))
    out[5] = kk.sum(1.0 for i in kk.range(N - N) for j in kk.range(length[7 * (i + 1)]))


def with_nan(random):
    rows = random.integers(0, 9, (6, 150)).astype(float)
    rows[1, [70, 149]] = np.nan
    rows[2, 0] = np.nan
    return rows


@case(with_nan, ints(0, 5, 6, 150), ints(0, 5, 3000), ints(0, 1, 6), ints(0, 1, 6), ints(0, 1, 6), ints(0, 1, 2))
def places_in_rows(a, b, c, least, most, second, whole):
    for i in kk.range(a.shape[0]):
        least[i] = kk.argmin(a[i, j] for j in kk.range(a.shape[1]))
        most[i] = kk.argmax(a[i])
        second[i] = kk.argmax(b[i, k] for k in kk.range(b.shape[1]))
    whole[0] = kk.argmax(c)
    whole[1] = kk.argmin(c[k] * c[k] for k in kk.range(len(c)))

