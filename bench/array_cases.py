"""Expressions of whole arrays for bench/run.py --suite arrays, each beside NumPy: the peer runs the kernel's own text, or what stands beside
it where the kernel loops."""

import ml2kokkos as kk
import numpy as np

CASES = [] # name, kernel, peer, what makes the arguments
f32, f64, c128, i32, i64 = np.float32, np.float64, np.complex128, np.int32, np.int64
LONG, SIDE = 4_000_000, 2000 # elements of vectors, rows and columns of grids


def case(*arguments, numpy=None):
    """A decorator of kernels. `arguments`: (extents, type) of arrays, with the value they begin with where it is not random; a type
    `bool` or of integers stands for few different values."""
    def register(function):
        CASES.append((function.__name__, kk.kernel(function), numpy or function, lambda random: [made(random, *given) for given in arguments]))
        return function

    return register


def into(function):
    """The peer of a kernel that loops: the result of `function` of all arguments but the last lies in that."""
    def peer(*arguments):
        arguments[-1][...] = function(*arguments[:-1])

    return peer


def einsum(text):
    return into(lambda *operands: np.einsum(text, *operands, optimize=True))


def made(random, extents, kind=f64, value=None):
    if value is not None:
        return np.full(extents, value, kind)
    if kind is c128:
        return random.random(extents) + 1j * random.random(extents)
    if kind in (i32, i64):
        return random.integers(1, 1000, extents, kind)
    if kind is bool:
        return random.random(extents) < 0.5
    return random.random(extents).astype(kind) + kind(0.1)


V, G, OUT, OUT2 = (LONG,), (SIDE, SIDE), ((LONG,), f64, 0), ((SIDE, SIDE), f64, 0)


# --- Elements ---------------------------------------------------------------------------------------------------------

@case((V,), (V,), OUT)
def add(a, b, out):
    out[:] = a + b


@case((V,), (V,), (V,), OUT)
def multiply_add(a, b, c, out):
    out[:] = a * b + c


@case((V, f32), (V, f32), (V, f32, 0))
def add_f32(a, b, out):
    out[:] = a + b


@case((V,), OUT)
def divide(a, out):
    out[:] = 1.0 / a


@case((V,), OUT)
def square_root(a, out):
    out[:] = np.sqrt(a)


@case((V,), OUT)
def exponential(a, out):
    out[:] = np.exp(a)


@case((V, f32), (V, f32, 0))
def exponential_f32(a, out):
    out[:] = np.exp(a)


@case((V,), OUT)
def logarithm(a, out):
    out[:] = np.log(a)


@case((V,), OUT)
def sine(a, out):
    out[:] = np.sin(a)


@case((V, f32), (V, f32, 0))
def sine_f32(a, out):
    out[:] = np.sin(a)


@case((V,), OUT)
def hyperbolic_tangent(a, out):
    out[:] = np.tanh(a)


@case((V,), (V,), OUT)
def power(a, b, out):
    out[:] = a ** b


@case((V,), OUT)
def power_of_constant(a, out):
    out[:] = a ** 1.7


@case((V, f32), (V, f32), (V, f32, 0))
def power_f32(a, b, out):
    out[:] = a ** b


@case((V,), OUT)
def cube(a, out):
    out[:] = a ** 3


@case((V,), (V,), OUT)
def arctangent(a, b, out):
    out[:] = np.arctan2(a, b)


@case((V,), (V,), OUT)
def hypotenuse(a, b, out):
    out[:] = np.sqrt(a * a + b * b)


@case((V,), OUT)
def floor(a, out):
    out[:] = np.floor(a * 10.0)


@case((V,), OUT)
def sigmoid(a, out):
    out[:] = 1.0 / (1.0 + np.exp(-a))


@case((V,), OUT)
def clip(a, out):
    out[:] = np.minimum(np.maximum(a, 0.25), 0.75)


@case((V,), (V,), OUT)
def choose(a, b, out):
    out[:] = kk.where(a > b, a, b * 0.5)


@case((V, i64), (V, i64), (V, i64, 0))
def floor_divide(a, b, out):
    out[:] = a // b


@case((V, i32), (V, i32), (V, i32, 0))
def floor_divide_i32(a, b, out):
    out[:] = a // b


@case((V, i64), (V, i64, 0))
def remainder(a, out):
    out[:] = a % 7


@case((V, i64), (V, i64), (V, i64, 0))
def bits(a, b, out):
    out[:] = (a & b) ^ (a >> 3)


@case((V,), (V,), (V, bool, False))
def compare(a, b, out):
    out[:] = a > b


@case((V, bool), (V, bool), (V, bool, False))
def both(a, b, out):
    out[:] = a & b


@case((V, bool), (V, bool, False))
def neither(a, out):
    out[:] = ~a


@case((V, f32), OUT)
def widen(a, out):
    out[:] = a


@case((V, f64), (V, f32, 0))
def narrow(a, out):
    out[:] = a


@case((V, i32), OUT)
def from_integers(a, out):
    out[:] = a * 0.5


@case((V, c128), (V, c128), (V, c128, 0))
def complex_multiply(a, b, out):
    out[:] = a * b


@case((V, c128), OUT)
def magnitude(a, out):
    out[:] = abs(a)


@case((V, c128), (V, c128), (V, c128, 0))
def complex_divide(a, b, out):
    out[:] = a / b


# --- Reductions -------------------------------------------------------------------------------------------------------

ONE = ((1,), f64, 0)


@case((V,), ONE, numpy=into(np.sum))
def total(a, out):
    out[0] = kk.sum(a)


@case((V,), (V,), ONE, numpy=into(lambda a, b: a @ b))
def dot(a, b, out):
    out[0] = a @ b


@case((V,), ONE, numpy=into(np.max))
def greatest(a, out):
    out[0] = kk.max(a)


@case((V, f32), ((1,), f32, 0), numpy=into(np.max))
def greatest_f32(a, out):
    out[0] = kk.max(a)


@case((V,), ((1,), i64, 0), numpy=into(np.argmax))
def place(a, out):
    out[0] = kk.argmax(a)


@case((V, bool, False), ((1,), bool, False), numpy=into(np.any))
def any_of(a, out):
    out[0] = kk.any(a)


@case((V, bool, True), ((1,), bool, False), numpy=into(np.all))
def all_of(a, out):
    out[0] = kk.all(a)


@case((V,), ((1,), i64, 0), numpy=into(lambda a: np.count_nonzero(a > 0.5)))
def count_of(a, out):
    out[0] = kk.sum(1 for i in kk.range(len(a)) if a[i] > 0.5)


@case((V,), ONE, numpy=into(lambda a: np.sqrt(np.sum(a * a))))
def norm(a, out):
    out[0] = np.sqrt(kk.sum(a * a))


@case((V, i32), ((1,), i64, 0), numpy=into(lambda a: np.sum(a)))
def total_of_integers(a, out):
    out[0] = kk.sum(kk.i64(a[i]) for i in kk.range(len(a)))


@case((G,), ((SIDE,), f64, 0), numpy=into(lambda a: a.sum(axis=0)))
def sum_of_columns(a, out):
    out[:] = kk.sum(a, axis=0)


@case((G,), ((SIDE,), f64, 0), numpy=into(lambda a: a.sum(axis=1)))
def sum_of_rows(a, out):
    out[:] = kk.sum(a, axis=1)


@case((G,), ((SIDE,), f64, 0), numpy=into(lambda a: a.max(axis=0)))
def greatest_of_columns(a, out):
    out[:] = kk.max(a, axis=0)


@case((G,), ((SIDE,), i64, 0), numpy=into(lambda a: a.argmin(axis=1)))
def least_of_rows(a, out):
    for i in kk.range(a.shape[0]):
        out[i] = kk.argmin(a[i, j] for j in kk.range(a.shape[1]))


@case((G,), ((SIDE,), i64, 0), numpy=into(lambda a: a.argmin(axis=0)))
def least_of_columns(a, out):
    for j in kk.range(a.shape[1]):
        out[j] = kk.argmin(a[i, j] for i in kk.range(a.shape[0]))


@case(((160, 160, 160),), ((160, 160), f64, 0), numpy=into(lambda a: a.sum(axis=1)))
def sum_of_middle(a, out):
    out[:] = kk.sum(a, axis=1)


@case((V, c128), ((1,), c128, 0), numpy=into(np.sum))
def complex_total(a, out):
    out[0] = kk.sum(a)


@case((G, c128), ((SIDE,), c128, 0), numpy=into(lambda a: a.sum(axis=0)))
def complex_sum_of_columns(a, out):
    out[:] = kk.sum(a, axis=0)


@case((V,), OUT, numpy=into(np.cumsum))
def running_total(a, out):
    out[:] = kk.scan(a)


@case((G,), OUT2, numpy=into(lambda a: np.cumsum(a, axis=0)))
def running_total_of_columns(a, out):
    out[:] = kk.scan(a, axis=0)


@case((G,), OUT2, numpy=into(lambda a: np.cumsum(a, axis=1)))
def running_total_of_rows(a, out):
    out[:] = kk.scan(a, axis=1)


@case((G,), OUT2, numpy=into(lambda a: np.maximum.accumulate(a, axis=1)))
def running_maximum(a, out):
    out[:] = kk.scan(a, how="max", axis=1)


# --- Movement ---------------------------------------------------------------------------------------------------------

@case((G,), OUT2)
def transpose(a, out):
    out[:] = a.T


@case((G, f32), (G, f32, 0))
def transpose_f32(a, out):
    out[:] = a.T


@case(((200, 150, 130),), ((130, 200, 150), f64, 0), numpy=into(lambda a: a.transpose(2, 0, 1)))
def rotate_axes(a, out):
    for i, j, k in kk.parallel(*a.shape):
        out[k, i, j] = a[i, j, k]


@case((V,), OUT)
def backwards(a, out):
    out[:] = a[::-1]


@case((V,), ((LONG // 2,), f64, 0))
def every_second(a, out):
    out[:] = a[::2]


@case((G,), OUT2)
def flip_columns(a, out):
    out[:] = a[:, ::-1]


@case((V,), ((LONG,), i64), OUT, numpy=into(lambda a, at: a[at]))
def gather(a, at, out):
    for i in kk.range(len(at)):
        out[i] = a[at[i]]


@case((G,), ((SIDE,), i64), OUT2, numpy=into(lambda a, at: a[at]))
def gather_rows(a, at, out):
    for i, j in kk.parallel(*out.shape):
        out[i, j] = a[at[i], j]


@case((V, i64), ((1000,), i64, 0), numpy=lambda a, counts: np.add(counts, np.bincount(a, minlength=1000), out=counts))
def bins(a, counts):
    for i in kk.parallel(len(a)):
        kk.atomic_add(counts, a[i], 1)


@case((V,), OUT)
def shift(a, out):
    out[1:] = a[1:] - a[:-1]


@case((V,))
def shift_in_place(a):
    a[1:] = a[:-1] * 0.5


# --- Broadcasts and stencils ------------------------------------------------------------------------------------------

@case((G,), ((SIDE,),), ((SIDE,),), OUT2)
def scale_both(a, rows, columns, out):
    out[:] = a * rows[:, None] + columns


@case(((SIDE,),), ((SIDE,),), OUT2)
def outer(a, b, out):
    out[:] = a[:, None] * b[None, :]


@case((G,), OUT2, numpy=into(lambda a: a / a.sum(axis=1)[:, None]))
def normalize(a, out):
    out[:] = a / kk.sum(a, axis=1)[:, None]


@case((G,), OUT2, numpy=into(lambda a: np.exp(a - a.max(axis=1)[:, None]) / np.exp(a - a.max(axis=1)[:, None]).sum(axis=1)[:, None]))
def softmax(a, out):
    e = np.exp(a - kk.max(a, axis=1)[:, None])
    out[:] = e / kk.sum(e, axis=1)[:, None]


@case((G,), OUT2, numpy=into(lambda a: (a - a.mean(axis=0)) / a.std(axis=0)))
def standardize(a, out):
    mean = kk.sum(a, axis=0) / a.shape[0]
    centered = a - mean[None, :]
    out[:] = centered / np.sqrt(kk.sum(centered * centered, axis=0) / a.shape[0])[None, :]


@case((G,), OUT2)
def laplacian(a, out):
    out[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4.0 * a[1:-1, 1:-1]


@case(((160, 160, 160),), ((160, 160, 160), f64, 0))
def laplacian_3d(a, out):
    out[1:-1, 1:-1, 1:-1] = (a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, 1:-1, :-2]
                             + a[1:-1, 1:-1, 2:] - 6.0 * a[1:-1, 1:-1, 1:-1])


@case((G,), ((SIDE // 2, SIDE // 2), f64, 0))
def coarsen(a, out):
    out[:] = 0.25 * (a[::2, ::2] + a[1::2, ::2] + a[::2, 1::2] + a[1::2, 1::2])


@case((((3000, 3)),), ((3000, 3000), f64, 0), numpy=into(lambda x: ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)))
def distances(x, out):
    for i, j in kk.parallel(*out.shape):
        out[i, j] = kk.sum((x[i, k] - x[j, k]) ** 2 for k in kk.range(3))


# --- Products ---------------------------------------------------------------------------------------------------------

@case(((512, 512),), ((512, 512),), ((512, 512), f64, 0))
def matrices(a, b, out):
    out[:] = a @ b


@case(((1024, 512), f32), ((512, 1024), f32), ((1024, 1024), f32, 0))
def matrices_f32(a, b, out):
    out[:] = a @ b


@case(((512, 512),), ((512, 512),), ((512, 512), f64, 0))
def transposed_matrices(a, b, out):
    out[:] = a.T @ b.T


@case(((512, 512), c128), ((512, 512), c128), ((512, 512), c128, 0))
def complex_matrices(a, b, out):
    out[:] = a @ b


@case((G,), ((SIDE,),), ((SIDE,), f64, 0))
def matrix_vector(a, x, out):
    out[:] = a @ x


@case((G,), ((SIDE,),), ((SIDE,), f64, 0))
def vector_matrix(a, x, out):
    out[:] = x @ a


@case(((1000, 1000), c128), ((1000,), c128), ((1000,), c128, 0))
def complex_vector_matrix(a, x, out):
    out[:] = x @ a


@case(((20000, 20),), ((20, 20), f64, 0))
def gram(a, out):
    out[:] = a.T @ a


@case(((20000, 20),), ((20, 20),), ((20000, 20), f64, 0))
def tall(a, b, out):
    out[:] = a @ b


@case(((20, 20000),), ((20000, 20),), ((20, 20), f64, 0))
def wide(a, b, out):
    out[:] = a @ b


@case(((400, 400),), ((400, 400), f64, 0), numpy=into(lambda a: np.tril(a @ a.T)))
def lower_triangle(a, out):
    for i in kk.range(a.shape[0]):
        for j in kk.range(i + 1):
            out[i, j] = kk.sum(a[i, k] * a[j, k] for k in kk.range(a.shape[1]))


@case(((4000, 16, 16),), ((4000, 16, 16),), ((4000, 16, 16), f64, 0), numpy=into(np.matmul))
def batch(a, b, out):
    out[:] = kk.einsum("nij,njk->nik", a, b)


@case(((4000, 16, 16), c128), ((4000, 16, 16), c128), ((4000, 16, 16), c128, 0), numpy=into(np.matmul))
def complex_batch(a, b, out):
    out[:] = kk.einsum("nij,njk->nik", a, b)


@case(((60, 60, 40, 40),), ((40, 40),), ((60, 60), f64, 0), numpy=einsum("ijkl,kl->ij"))
def contract_two(a, b, out):
    out[:] = kk.einsum("ijkl,kl->ij", a, b)


@case(((60, 60, 40, 40),), ((60, 60),), ((40, 40), f64, 0), numpy=einsum("ijkl,ij->kl"))
def contract_first_two(a, b, out):
    out[:] = kk.einsum("ijkl,ij->kl", a, b)


@case(((60, 40, 60, 40),), ((40, 40),), ((60, 60), f64, 0), numpy=einsum("ikjl,kl->ij"))
def contract_apart(a, b, out):
    out[:] = kk.einsum("ikjl,kl->ij", a, b)


@case(((30, 30, 30, 30),), ((30, 30, 30, 30),), ((30, 30, 30, 30), f64, 0), numpy=einsum("ijkl,klmn->ijmn"))
def contract_tensors(a, b, out):
    out[:] = kk.einsum("ijkl,klmn->ijmn", a, b)


@case(((100, 200, 30),), ((200, 100),), ((100, 100, 30), f64, 0), numpy=einsum("ijk,jl->ilk"))
def contract_middle(a, b, out):
    out[:] = kk.einsum("ijk,jl->ilk", a, b)


@case((G,), (G,), ((SIDE,), f64, 0), numpy=einsum("ij,ij->i"))
def dots_of_rows(a, b, out):
    out[:] = kk.einsum("ij,ij->i", a, b)


@case((G,), ONE, numpy=into(np.trace))
def trace(a, out):
    out[0] = kk.einsum("ii->", a)


@case((G,), ((SIDE,),), ((SIDE,),), ONE, numpy=into(lambda a, x, y: x @ a @ y))
def bilinear(a, x, y, out):
    out[0] = kk.einsum("i,ij,j->", x, a, y)


@case(((LONG,),), ((64,),), OUT, numpy=lambda a, w, out: np.copyto(out[63:], np.convolve(a, w, "valid")))
def convolve(a, w, out):
    for i in kk.range(63, len(a)):
        out[i] = kk.sum(a[i - k] * w[k] for k in kk.range(64))
