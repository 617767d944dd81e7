"""Random kernels against the same functions run by Python: $ML2K_RANDOM_KERNELS many (default 40) from $ML2K_RANDOM_SEED on."""

import linecache
import math
import os

import ml2kokkos as kk
import numpy as np
import pytest
import random_kernels
from test_kernels import copied, together

N, M = kk.sizes("N M")
FLAGS = os.environ.get("ML2K_RANDOM_FLAGS", "").split() # -O1 compiles in a third of the time
COUNT, FIRST = int(os.environ.get("ML2K_RANDOM_KERNELS", 40)), int(os.environ.get("ML2K_RANDOM_SEED", 0))
AT_ONCE = 10 # in one file of C++: compilers take long over one function with hundreds of arguments


def defined(text, name, meant):
    linecache.cache[f"<{name}>"] = (len(text), None, text.splitlines(True), f"<{name}>")
    exec(compile(text, f"<{name}>", "exec"), meant)


def kernel_of(seed):
    meant = {"kk": kk, "np": np, "math": math, "N": N, "M": M, "__name__": "random"}
    name = f"random_{seed}"
    defined(random_kernels.HELPERS, "helpers", meant)
    defined(random_kernels.text_of(seed, name), name, meant)
    return kk.kernel(meant[name])


def arguments_of(seed):
    random = np.random.default_rng(seed)
    n, m = (int(extent) for extent in random.integers((8, 6), (40, 20)))
    return [random.standard_normal(n), random.standard_normal(n), random.standard_normal((n, m)), random.standard_normal((n, m)),
            random.integers(-20, 20, n), random.integers(0, 1 << 32, n, dtype=np.uint32), random.integers(-50, 50, n).astype(np.int32),
            random.integers(-1 << 62, 1 << 62, n), random.standard_normal(n).astype(np.float32), random.standard_normal((n, m)).astype(np.float32),
            random.standard_normal((n, 3, m)), random.standard_normal(n) + 1j * random.standard_normal(n), float(random.uniform(-1, 1)), int(random.integers(0, 9))]


def differences(seed, found, expected):
    for name, mine, theirs in zip("abmqkuwzfghc", found, expected):
        is_whole, part = np.issubdtype(theirs.dtype, np.integer), 1e-5 if theirs.dtype == np.float32 else 1e-9
        if not (np.array_equal(mine, theirs) if is_whole else
                np.allclose(mine, theirs, rtol=part, atol=part * max(1.0, float(np.abs(theirs).max())), equal_nan=True)):
            yield f"random_{seed}: {name} differs by {np.abs(mine - theirs).max()} from what Python computes of\n" + \
                random_kernels.text_of(seed, f"random_{seed}")


def check(seeds, run):
    """`run` gets kernels and the arguments of all of them, which it changes; Python says how."""
    kernels, arguments = [kernel_of(seed) for seed in seeds], [arguments_of(seed) for seed in seeds]
    expected = [copied(one) for one in arguments]
    for kernel, one in zip(kernels, expected):
        kernel.python(*one)
    run(kernels, [value for one in arguments for value in one])
    wrong = [text for seed, mine, theirs in zip(seeds, arguments, expected) for text in differences(seed, mine, theirs)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, AT_ONCE))
def test_values(cache, first):
    # no contraction to FMAs: what a comparison sees is what Python sees
    check(range(first, min(first + AT_ONCE, FIRST + COUNT)),
          lambda kernels, values: together(kernels, f"random_{first}", flags=["-ffp-contract=off", *FLAGS])(*values))
