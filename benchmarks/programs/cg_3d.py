# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Conjugate gradients in three dimensions until the residual is small: Poisson's equation on a cube in zeros.

The result is the solution. A run takes at most `rounds` iterations.
"""

from functools import partial

import numpy as np

from .arrays import jax_call
from .kits import Kit, Run, Work

SIZES = {
    "small": {"n": 32, "tolerance": 1e-4, "rounds": 500},
    "medium": {"n": 96, "tolerance": 1e-2, "rounds": 500},
    "large": {"n": 256, "tolerance": 2e-2, "rounds": 500},
}
TOLERANCE = 1e-2  # contestants may end an iteration apart, as the order of their sums differs
FLOAT = 4
SMALL_BLOCK = 256


def data(n, tolerance, rounds):
    random = np.random.default_rng(8)
    return {
        "b": random.standard_normal((n, n, n), "f4"),
        "tolerance": np.float32(tolerance),
        "rounds": rounds,
    }


def padded(xp, p):
    """Return a cube with zeros around it, in NumPy, CuPy or JAX."""
    return xp.pad(p, 1)


def laplace(p):
    """Return the product with the matrix, from a cube with zeros around it, in any array library."""
    around = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1]
    return 6.0 * p[1:-1, 1:-1, 1:-1] - (around + p[1:-1, 2:, 1:-1] + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:])


def truth(b, tolerance, rounds):
    """Computed in double precision."""
    r = b.astype("f8")
    x, p = np.zeros_like(r), r
    norm = start = np.sum(r * r)
    for _ in range(rounds):
        q = laplace(padded(np, p))
        alpha = norm / np.sum(p * q)
        x, r = x + alpha * p, r - alpha * q
        rest = np.sum(r * r)
        p, norm = r + rest / norm * p, rest
        if rest <= tolerance**2 * start:
            break
    return x.astype("f4")


def work(done, n, tolerance, rounds):
    """The sums divide an iteration into three passes: p to q; x, p, r and q to x and r; r and p to p."""
    return Work(bytes=(2 + 6 + 3) * FLOAT * n**3 * done)


def smallest(done, parameters):
    return parameters | {"n": 2, "tolerance": -1.0, "rounds": done}


def with_cuda_graphs(kit: Kit, b, tolerance, rounds) -> Run:
    import cuda_graphs as cg

    cube, count = cg.types.ndarray(cg.f32, 3), cg.types.ndarray(cg.i32, 0)

    @cg.kernel(graph=True)
    def solve(b: cube, x: cube, r: cube, p: cube, q: cube, left: count, tolerance: cg.f32):
        """The cube p has zeros around it: one point more on each side."""
        start = 0.0
        for i, j, k in b:
            x[i, j, k] = 0.0
            r[i, j, k] = b[i, j, k]
            p[i + 1, j + 1, k + 1] = b[i, j, k]
            start += b[i, j, k] * b[i, j, k]
        norm = start
        going = 1
        while cg.graph_while(left[()] > 0 and going > 0):
            curvature = 0.0
            for i, j, k in b:
                own = p[i + 1, j + 1, k + 1]
                around = p[i, j + 1, k + 1] + p[i + 2, j + 1, k + 1] + p[i + 1, j, k + 1]
                around += p[i + 1, j + 2, k + 1] + p[i + 1, j + 1, k] + p[i + 1, j + 1, k + 2]
                product = 6.0 * own - around
                q[i, j, k] = product
                curvature += own * product
            alpha = norm / curvature
            rest = 0.0
            for i, j, k in b:
                place, along, left_over = x[i, j, k], p[i + 1, j + 1, k + 1], r[i, j, k]
                left_over -= alpha * q[i, j, k]
                x[i, j, k] = place + alpha * along
                r[i, j, k] = left_over
                rest += left_over * left_over
            beta = rest / norm
            for i, j, k in b:
                p[i + 1, j + 1, k + 1] = r[i, j, k] + beta * p[i + 1, j + 1, k + 1]
            norm = rest
            left[()] -= 1
            going = 1 if rest > tolerance * tolerance * start else 0

    right = kit.put(b)
    x, r, q = (cg.zeros(b.shape, cg.f32) for _ in range(3))
    p, left = cg.zeros([each + 2 for each in b.shape], cg.f32), cg.ndarray(cg.i32, ())
    call = partial(solve, right, x, r, p, q, left, tolerance)
    return Run(lambda: left.fill(rounds), call, lambda: kit.get(x), lambda: rounds - left[()])


# https://numba.readthedocs.io/en/stable/user/parallel.html (prange and reductions)
def with_numba(kit: Kit, b, tolerance, rounds) -> Run:
    from numba import njit, prange

    six, zero = np.float32(6), np.float32(0)

    @njit(parallel=True)
    def multiply(p, q):
        total = zero
        n = q.shape[0]
        for i in prange(n):
            part = zero
            for j in range(n):
                for k in range(n):
                    around = p[i, j + 1, k + 1] + p[i + 2, j + 1, k + 1] + p[i + 1, j, k + 1]
                    around += p[i + 1, j + 2, k + 1] + p[i + 1, j + 1, k] + p[i + 1, j + 1, k + 2]
                    product = six * p[i + 1, j + 1, k + 1] - around
                    q[i, j, k] = product
                    part += p[i + 1, j + 1, k + 1] * product
            total += part
        return total

    @njit(parallel=True)
    def descend(x, r, p, q, alpha):
        total = zero
        n = q.shape[0]
        for i in prange(n):
            part = zero
            for j in range(n):
                for k in range(n):
                    x[i, j, k] += alpha * p[i + 1, j + 1, k + 1]
                    r[i, j, k] -= alpha * q[i, j, k]
                    part += r[i, j, k] * r[i, j, k]
            total += part
        return total

    @njit(parallel=True)
    def turn(r, p, beta):
        n = r.shape[0]
        for i in prange(n):
            for j in range(n):
                for k in range(n):
                    p[i + 1, j + 1, k + 1] = r[i, j, k] + beta * p[i + 1, j + 1, k + 1]

    x, r, q, p = (np.zeros(b.shape, "f4") for _ in range(4))

    def call():
        nonlocal x, r, p
        x[:] = 0
        r[:] = b
        p = padded(np, b)
        norm = start = np.dot(b.ravel(), b.ravel())
        for _ in range(rounds):
            alpha = np.float32(norm / multiply(p, q))
            rest = descend(x, r, p, q, alpha)
            turn(r, p, np.float32(rest / norm))
            norm = rest
            if rest <= tolerance * tolerance * start:
                break

    return Run(lambda: None, call, lambda: x)


# https://numba.readthedocs.io/en/stable/cuda/examples.html (reductions in shared memory)
def with_numba_cuda(kit: Kit, b, tolerance, rounds) -> Run:
    from numba import cuda, float32

    six, zero = np.float32(6), np.float32(0)

    @cuda.jit(device=True)
    def add_up(value, total):
        """Add the values of all threads of a block to total[0]."""
        sums = cuda.shared.array(SMALL_BLOCK, float32)
        own = cuda.threadIdx.x
        sums[own] = value
        half = SMALL_BLOCK // 2
        while half > 0:
            cuda.syncthreads()
            if own < half:
                sums[own] += sums[own + half]
            half //= 2
        if own == 0:
            cuda.atomic.add(total, 0, sums[0])

    @cuda.jit
    def multiply(p, q, total):
        n, at, found = q.shape[0], cuda.grid(1), zero
        i, j, k = at // (n * n), at // n % n, at % n
        if i < n:
            around = p[i, j + 1, k + 1] + p[i + 2, j + 1, k + 1] + p[i + 1, j, k + 1]
            around += p[i + 1, j + 2, k + 1] + p[i + 1, j + 1, k] + p[i + 1, j + 1, k + 2]
            product = six * p[i + 1, j + 1, k + 1] - around
            q[i, j, k] = product
            found = p[i + 1, j + 1, k + 1] * product
        add_up(found, total)

    @cuda.jit
    def descend(x, r, p, q, alpha, total):
        n, at, found = q.shape[0], cuda.grid(1), zero
        i, j, k = at // (n * n), at // n % n, at % n
        if i < n:
            x[i, j, k] += alpha * p[i + 1, j + 1, k + 1]
            rest = r[i, j, k] - alpha * q[i, j, k]
            r[i, j, k] = rest
            found = rest * rest
        add_up(found, total)

    @cuda.jit
    def turn(r, p, beta):
        n, at = r.shape[0], cuda.grid(1)
        i, j, k = at // (n * n), at // n % n, at % n
        if i < n:
            p[i + 1, j + 1, k + 1] = r[i, j, k] + beta * p[i + 1, j + 1, k + 1]

    nothing, blocks = np.zeros(1, "f4"), (b.size + SMALL_BLOCK - 1) // SMALL_BLOCK
    x, r, q, p = (kit.put(each) for each in (np.zeros_like(b), b, np.zeros_like(b), padded(np, b)))
    total = kit.put(nothing)
    start = np.float32(np.dot(b.ravel(), b.ravel()))

    def reset():
        for array, values in ((x, np.zeros_like(b)), (r, b), (p, padded(np, b))):
            kit.write(array, values)

    def sum_of(kernel, *arguments):
        kit.write(total, nothing)
        kernel[blocks, SMALL_BLOCK](*arguments, total)
        return kit.get(total)[0]

    def call():
        norm = start
        for _ in range(rounds):
            alpha = np.float32(norm / sum_of(multiply, p, q))
            rest = sum_of(descend, x, r, p, q, alpha)
            turn[blocks, SMALL_BLOCK](r, p, np.float32(rest / norm))
            norm = rest
            if rest <= tolerance * tolerance * start:
                break

    return Run(reset, call, lambda: kit.get(x))


# https://github.com/NVIDIA/warp/blob/main/warp/optim/linear.py (cg) with a matrix-free operator
def with_warp(kit: Kit, b, tolerance, rounds) -> Run:
    import warp as wp
    from warp.optim import linear

    vector = wp.array(dtype=wp.float32)

    @wp.kernel
    def multiply(n: int, x: vector, y: vector, z: vector, alpha: wp.float32, beta: wp.float32):
        at = wp.tid()
        i = at / (n * n)
        j = (at / n) % n
        k = at % n
        around = wp.float32(0.0)
        if i > 0:
            around += x[at - n * n]
        if i < n - 1:
            around += x[at + n * n]
        if j > 0:
            around += x[at - n]
        if j < n - 1:
            around += x[at + n]
        if k > 0:
            around += x[at - 1]
        if k < n - 1:
            around += x[at + 1]
        z[at] = alpha * (6.0 * x[at] - around) + beta * y[at]

    right, x = kit.put(b.ravel()), kit.put(np.zeros(b.size, "f4"))

    def apply(source, other, target, alpha, beta):
        wp.launch(
            multiply, b.size, inputs=[b.shape[0], source, other, target, alpha, beta], device=kit.device
        )

    operator = linear.LinearOperator((b.size, b.size), wp.float32, wp.get_device(kit.device), apply)

    def call():
        x.zero_()
        linear.cg(operator, right, x, tol=float(tolerance), maxiter=rounds)

    return Run(lambda: None, call, lambda: kit.get(x).reshape(b.shape))


# https://genesis-embodied-ai.github.io/quadrants/user_guide/graph.html (graph.do_while)
def with_quadrants(kit: Kit, b, tolerance, rounds) -> Run:
    import quadrants as qd

    cube, scalars, count = (
        qd.types.ndarray(qd.f32, 3),
        qd.types.ndarray(qd.f32, 1),
        qd.types.ndarray(qd.i32, 0),
    )

    @qd.kernel(graph=True)
    def solve(x: cube, r: cube, p: cube, q: cube, s: scalars, left: count, go: count, tolerance: qd.f32):
        """s: the norm at the start, the norm, the curvature, and the rest."""
        while qd.graph.do_while(go):
            for _ in range(1):
                s[2] = 0.0
                s[3] = 0.0
            for i, j, k in qd.ndrange(q.shape[0], q.shape[1], q.shape[2]):
                around = p[i, j + 1, k + 1] + p[i + 2, j + 1, k + 1] + p[i + 1, j, k + 1]
                around += p[i + 1, j + 2, k + 1] + p[i + 1, j + 1, k] + p[i + 1, j + 1, k + 2]
                product = 6.0 * p[i + 1, j + 1, k + 1] - around
                q[i, j, k] = product
                s[2] += p[i + 1, j + 1, k + 1] * product
            for i, j, k in qd.ndrange(q.shape[0], q.shape[1], q.shape[2]):
                alpha = s[1] / s[2]
                x[i, j, k] = x[i, j, k] + alpha * p[i + 1, j + 1, k + 1]
                rest = r[i, j, k] - alpha * q[i, j, k]
                r[i, j, k] = rest
                s[3] += rest * rest
            for i, j, k in qd.ndrange(q.shape[0], q.shape[1], q.shape[2]):
                p[i + 1, j + 1, k + 1] = r[i, j, k] + s[3] / s[1] * p[i + 1, j + 1, k + 1]
            for _ in range(1):
                s[1] = s[3]
                left[()] = left[()] - 1
                go[()] = 1 if s[3] > tolerance * tolerance * s[0] and left[()] > 0 else 0

    x, r, q, p = (kit.put(each) for each in (np.zeros_like(b), b, np.zeros_like(b), padded(np, b)))
    s, left, go = kit.put(np.zeros(4, "f4")), qd.ndarray(qd.i32, ()), qd.ndarray(qd.i32, ())
    start = np.dot(b.ravel(), b.ravel())

    def reset():
        for array, values in ((x, np.zeros_like(b)), (r, b), (p, padded(np, b))):
            kit.write(array, values)
        s.from_numpy(np.array([start, start, 0, 0], "f4"))
        left.fill(rounds)
        go.fill(1)

    return Run(reset, lambda: solve(x, r, p, q, s, left, go, float(tolerance)), lambda: kit.get(x))


# https://github.com/cupy/cupy/blob/main/examples/cg/cg.py
def with_cupy(kit: Kit, b, tolerance, rounds) -> Run:
    import cupy

    right = kit.put(b)
    found = [right]

    def call():
        r = right
        x, p = cupy.zeros_like(r), r
        norm = start = cupy.vdot(r, r)
        for _ in range(rounds):
            q = laplace(padded(cupy, p))
            alpha = norm / cupy.vdot(p, q)
            x, r = x + alpha * p, r - alpha * q
            rest = cupy.vdot(r, r)
            p, norm = r + rest / norm * p, rest
            if float(rest) <= tolerance * tolerance * float(start):
                break
        found[0] = x

    return Run(lambda: None, call, lambda: kit.get(found[0]))


# https://docs.jax.dev/en/latest/_autosummary/jax.scipy.sparse.linalg.cg.html
def with_jax(kit: Kit, b, tolerance, rounds) -> Run:
    import jax
    import jax.numpy as jnp

    @jax.jit
    def solve(state, fixed):
        multiply = lambda p: laplace(padded(jnp, p))  # noqa: E731
        return (jax.scipy.sparse.linalg.cg(multiply, *state, tol=float(tolerance), maxiter=rounds)[0],)

    return jax_call(kit, solve, (b,), ())


# https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html
def with_torch(kit: Kit, b, tolerance, rounds) -> Run:
    import torch

    @torch.compile(dynamic=False)
    def iterate(x, r, p, norm):
        q = laplace(torch.nn.functional.pad(p, (1,) * 6))
        alpha = norm / (p * q).sum()
        x, r = x + alpha * p, r - alpha * q
        rest = (r * r).sum()
        return x, r, r + rest / norm * p, rest

    right = kit.put(b)
    found = [right]

    def call():
        with torch.no_grad():
            x, r, p, norm = torch.zeros_like(right), right, right, (right * right).sum()
            bound = float(tolerance) ** 2 * norm.item()
            for _ in range(rounds):
                x, r, p, norm = iterate(x, r, p, norm)
                if norm.item() <= bound:
                    break
        found[0] = x

    return Run(lambda: None, call, lambda: kit.get(found[0]))
