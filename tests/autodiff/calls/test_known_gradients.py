# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels whose results distinguish a right gradient from each known wrong one, called as users call them. Each runs in
blocks of 1 and 256 threads, once and 100000 times side by side, with debug and without, in f32 and f64. The bound of
its loop is a number, an argument, or read from a field, an array or a shape. `make nightly` runs all combinations.

compiler/test_reverse_mode.py has the same kernels, K1 to K17, on the interpreter, x86 and PTX.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.sources import kernel_of

MANY = 100_000


@dataclass(frozen=True)
class Known:
    """A kernel with its known gradient.

    bound   the number that the source has as {n}, spelled in several ways
    body    what is done for each row r of x, by T; y[()] is added to
    x       a row of the input
    wanted  the gradient of the row
    given   other arrays: {name: values}
    """

    bound: int
    body: str
    x: tuple[float, ...]
    wanted: tuple[float, ...]
    given: tuple[tuple[str, tuple[int, ...]], ...] = ()
    loop: str = "for r in range(x.shape[0]):"


def each(count):
    return f"for r, i in cg.ndrange(x.shape[0], {count}):"


KERNELS = {
    "K1": Known(
        5, "v = x[r, i]\nfor _ in range({n}):\n    v = cg.sin(v) + 0.1\ny[()] += v",
        (0.3, 0.7, 1.1), (0.529086734, 0.190660332, 0.05740343), loop=each(3),
    ),
    "K2": Known(
        3, "acc = T(1.0)\nfor j in range(fa[i]):\n    t = T(0.0)\n    for k in range(nb[j]):\n"
        "        t += x[r, k] * x[r, k]\n    acc *= 1 + t\ny[()] += acc",
        (0.2, 0.5, 0.3, 0.9), (2.7908, 3.8168, 1.42896, 0), (("fa", (3, 0, 2)), ("nb", (1, 3, 2))), each("{n}"),
    ),
    "K3": Known(  # of our own: an index that is carried through a table
        5, "v = T(1.0)\nat = 0\nfor _ in range({n}):\n    v = v * x[r, at]\n    at = nb[at]\ny[()] += v",
        (0.5, 2.0, 3.0), (12, 3, 1), (("nb", (1, 2, 0)),),
    ),
    "K4": Known(
        6, "v = x[r, i]\nfor _ in range({n}):\n    if v > 1:\n        v = v * 0.5\n    else:\n        v = v * v + 0.6\n"
        "y[()] += v",
        (0.5, 0.9, 1.4), (0.583000206, 1.254117781, 0.342215037), loop=each(3),
    ),
    "K5": Known(
        6, "v = x[r, i]\nfor _ in range({n}):\n    if v < 0.3:\n        break\n    v = 0.9 * v * v\ny[()] += v",
        (0.95, 0.7, 0.2), (1.526200894, 1.000188, 1.0), loop=each(3),
    ),
    "K6": Known(  # of our own: a least value that is carried; 0.3 wins, then is scaled in two of the steps
        4, "m = T(1.0)\nfor j in range({n}):\n    m = min(m * 1.5, x[r, j] * x[r, j])\ny[()] += m * m",
        (0.9, 0.3, 0.7, 0.5), (0.0, 2 * (0.09 * 2.25) * 2.25 * 0.6, 0.0, 0.0),
    ),
    "K7": Known(
        4, "v = T(1.0)\nfor j in range({n}):\n    v = x[r, j] / (v + 1.5)\ny[()] += v",
        (1.2, 0.8, 2, 0.5), (-0.003461397, 0.021417393, -0.040371786, 0.392095684),
    ),
    "K8": Known(
        4, "acc = T(0.0)\nfor i in range({n}):\n    m = fa[i] - nb[i]\n    if m > 0:\n        for k in range(m):\n"
        "            acc += x[r, k] * x[r, k]\ny[()] += acc",
        (0.1,) * 8 + (100.0,) * 8, (0.6,) * 5 + (0.4, 0.4, 0.2) + (0,) * 8,
        (("fa", (10, 9, 10, 8)), ("nb", (2, 2, 5, 8))),
    ),
    "K9": Known(  # of our own: 10 steps of a triangle
        5, "for i in range({n}):\n    for j in range(i):\n        y[()] += x[r, j] * x[r, j]",
        (0.2, 0.5, 0.3, 0.9, 7.0), (4 * 0.4, 3 * 1.0, 2 * 0.6, 1.8, 0),
    ),
    "K10": Known(
        4, "p = T(1.0)\nfor _ in range(nb[i]):\n    p *= x[r, i]\ny[()] += p",
        (3, 3, 3, 3), (0, 1, 6, 405), (("nb", (0, 1, 2, 5)),), each("{n}"),
    ),
    "K11": Known(
        5, "p = x[r, 0]\nq = x[r, 1]\nfor _ in range({n}):\n    p, q = q, p * q + 0.3\ny[()] += q",
        (0.4, 0.7), (1.259957352, 1.449846244),
    ),
    "K12": Known(  # of our own: what is overwritten has no part in it
        3, "v = x[r, 0] * x[r, 1]\nfor j in range({n}):\n    v = x[r, j] * x[r, j]\n    v = v * 2.0\ny[()] += v",
        (0.4, 0.7, 0.6), (0, 0, 2.4),
    ),
    "K13": Known(
        4, "c = x[r, i]\nfor _ in range({n}):\n    if c < 1:\n        c = 1.5 * c + 0.4 * c * c\n    else:\n"
        "        c = cg.sqrt(c) - 0.2\ny[()] += c",
        (0.2, 0.6, 1.3), (12.240704254, 0.852594543, 0.175037884), loop=each(3),
    ),
    "K14": Known(
        4, "for i in range({n}):\n    t = cg.sin(x[r, 0])\n    if nb[i]:\n        t = T(0.0)\n    y[()] += cg.sin(t)",
        (0.5,), (1.557287897,), (("nb", (0, 1, 0, 1)),),
    ),
    "K15": Known(
        5, "for i in range({n}):\n    x[r, i + 1] = 2 * x[r, i]\n",
        (0.1,) * 6, (32, 0, 0, 0, 0, 0),
    ),
    "K16": Known(  # a vector that is carried, with 0.6 + 0.2 x (category 43) in each component
        3, "v = cg.vec(2, T)(x[r, 0], x[r, 1])\nfor _ in range({n}):\n    v = v * v\ny[()] += v[0] + 2 * v[1]",
        (0.9, 1.1), (8 * 0.9**7, 16 * 1.1**7),
    ),
    "K17": Known(
        3, "acc = T(1.0)\nfor j in range(nb[i + 1] - nb[i]):\n    acc *= 1 + x[r, nb[i] + j]\ny[()] += acc",
        (0.2, 0.3, 0.4, 0.5, 0.6, 0.7), (1.3, 1.2, 1.0, 2.72, 2.55, 2.4), (("nb", (0, 2, 3, 6)),), each("{n}"),
    ),
    "K18": Known(  # of our own: bounds in two dimensions, 7 steps, of which a wrong stride makes others
        2, "for j in range(3):\n    v = x[r, j]\n    for _ in range(grid[i, j]):\n        v = v * v\n    y[()] += v",
        (0.9, 1.1, 0.8), (2 * 0.9 + 1, 8 * 1.1**7 + 1, 4 * 0.8**3 + 2 * 0.8), (("grid", (1, 3, 2, 0, 0, 1)),),
        each("{n}"),
    ),
}  # fmt: skip

BOUNDS = {
    "number": "{n}",
    "field": "bound[()]",
    "array": "b[()]",
    "shape": "s.shape[0]",
    "passed": "passed",
}

# The combinations that the suite runs, for two bounds of each kernel: (T, threads of a block, rows, debug).
SOME = {
    "number": ("f64", 256, 1, False),
    "field": ("f32", 1, MANY, False),
    "array": ("f64", 1, 1, True),
    "shape": ("f32", 256, MANY, True),
    "passed": ("f64", 256, MANY, False),
}

HEAD = """\
def known(
    x: ndarray(T, 2), y: ndarray(T, 0), fa: ndarray(i32, 1), nb: ndarray(i32, 1), grid: ndarray(i32, 2),
    b: ndarray(i32, 0), s: ndarray(i32, 1), passed: i32
):
    cg.loop_config(block_dim={threads})
    {loop}
"""


def array(values, dtype, **keywords):
    values = np.asarray(values)
    made = cg.ndarray(dtype, values.shape, **keywords)
    made.from_numpy(values.astype(dtype.dtype))
    return made


def check(bounds, name, bound, kind, threads, rows, debug):
    known = KERNELS[name]
    dtype = getattr(cg, kind)
    source = HEAD.format(threads=threads, loop=known.loop) + "".join(
        f"        {line}\n" for line in known.body.splitlines()
    )
    spelled = BOUNDS[bound].replace("{n}", str(known.bound))
    kernel = kernel_of(source.replace("{n}", spelled), debug=debug, T=dtype, bound=bounds[known.bound])
    given = {"fa": (0,), "nb": (0,), "grid": (0,)} | dict(known.given)
    fa, nb = (array(given[each], cg.i32) for each in ("fa", "nb"))
    grid = array(np.reshape(given["grid"], (2, 3) if "grid" in dict(known.given) else (1, 1)), cg.i32)
    rows = rows if rows == 1 else MANY // 4
    x = array(np.tile(known.x, (rows, 1)), dtype, needs_grad=True)
    y = cg.ndarray(dtype, (), needs_grad=True)
    others = array(known.bound, cg.i32), array(np.zeros(known.bound), cg.i32), known.bound
    arguments = (x, y, fa, nb, grid, *others)
    y.grad.fill(1)  # what the kernel itself writes, no gradient here reads
    if name == "K15":
        x.grad.from_numpy(np.tile(np.eye(6)[5], (rows, 1)).astype(dtype.dtype))
    kernel.grad(*arguments)
    tolerance = 1e-9 if kind == "f64" else 1e-4
    wanted = np.tile(known.wanted, (rows, 1))
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="module")
def bounds(session_device):
    """Fields of a number each."""
    made = {known.bound: cg.field(cg.i32, ()) for known in KERNELS.values()}
    for number, each_ in made.items():
        each_.fill(number)
    return made


@pytest.mark.parametrize(
    ("name", "bound"),
    [(name, list(BOUNDS)[(at + k) % 5]) for at, name in enumerate(KERNELS) for k in (0, 2)],
)
def test_the_gradient_is_the_known_one(device, bounds, name, bound):
    check(bounds, name, bound, *SOME[bound])


@pytest.mark.nightly
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("name", KERNELS)
def test_gradient_is_the_known_one_in_all_variants(device, bounds, name, bound):
    for variant in itertools.product(("f32", "f64"), (1, 256), (1, MANY), (False, True)):
        check(bounds, name, bound, *variant)


def sine_slope(n, v=0.3):
    slope = 1.0
    for _ in range(n):
        v, slope = np.sin(v) + 0.1, slope * np.cos(v)
    return slope


# Kernel -> (its loop for a row, the gradient of the row x, all 0.3, if the bound is n). k is [0, n].
GROWING = {
    "K1": ("v = x[0]\n    for _ in range(k[1]):\n        v = cg.sin(v) + 0.1", sine_slope),
    "K10": ("v = f64(1.0)\n    for _ in range(k[1]):\n        v *= x[0]", lambda n: n * 0.3 ** (n - 1.0)),
    "K17": (
        "v = f64(1.0)\n    for j in range(k[1] - k[0]):\n        v *= 1 + x[k[0] + 0 * j]",
        lambda n: n * 1.3 ** (n - 1.0),
    ),
}


@pytest.mark.parametrize("name", GROWING)
def test_bounds_grow_and_shrink_again(device, name):
    loop, wanted = GROWING[name]
    kernel = kernel_of(
        "def grows(x: ndarray(f64, 1), k: ndarray(i32, 1), y: ndarray(f64, 0)):\n"
        f"  for _ in range(1):\n    {loop}\n    y[()] += v\n"
    )
    x, y = array([0.3], cg.f64, needs_grad=True), cg.ndarray(cg.f64, (), needs_grad=True)
    y.grad.fill(1)
    grows = []
    for n in (3, 40, 1000, 999, 5, 0, 1000):
        x.grad.fill(0)
        kernel.grad(x, array([0, n], cg.i32), y)
        np.testing.assert_allclose(x.grad.to_numpy(), wanted(n), rtol=1e-9, atol=1e-9)
        grows.append(kernel.grad_stats.heap_grows)
    assert grows[2:] == [grows[2]] * 5
