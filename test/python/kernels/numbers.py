"""Types of numbers: conversions, complex and unsigned ones."""

import math

import ml2kokkos as kk
import numpy as np

from .cases import GAIN, M, N, TABLE, c64, c128, case, f32, f64, ints, number


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


@case(c128(9, 6), c128(6, 11), c128(11, 9), c128(9, 11), number(0.5 - 0.25j))
def complex_products(a: kk.c128["n", "k"], b: kk.c128["k", "m"], turned: kk.c128["m", "n"], out: kk.c128["n", "m"], z: complex):
    """Products of real matrices, whatever is transposed, conjugated, or done to the sums."""
    out[:] = z * (np.conj(b.T) @ np.conj(a).T).T + out
    turned[:] = (a @ b).T
    for i in kk.range(out.shape[0]):
        for j in kk.range(out.shape[1]):
            t = kk.sum(a[i, k] * np.conj(turned[j, k]) for k in kk.range(a.shape[1]))
            out[i, j] += t * abs(t)
    turned += kk.einsum("kj,ik->ji", b, a)


@case(c64(12, 20), c64(20), c64(12))
def complex_rows(a: kk.c64["n", "k"], x: kk.c64["k"], y: kk.c64["n"]):
    y[:] = a @ x
    x[:] = y @ a


# --- Unsigned numbers -------------------------------------------------------------------------------------------------

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


# --- Powers of two ----------------------------------------------------------------------------------------------------

@case(f64(64), ints(0, 20, 64), ints(0, 9, 64), ints(0, 9, 64, dtype=np.int32))
def powers(x: kk.f64[N], exponents: kk.i64[N], y: kk.i64[N], narrow: kk.i32[N]):
    for i in kk.range(N):
        y[i] = 2 ** exponents[i] + 8 ** (exponents[i] // 3) + 2 ** narrow[i] - 4 ** 3
    for level in kk.range(5):
        for j in kk.range(2 ** level):
            x[j] = x[j] * 0.5 + level
