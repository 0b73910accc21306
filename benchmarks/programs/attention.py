# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""An attention block in f32: queries, keys and values of several heads, softmax of products, and a projection.

x is [rows, width]; a head has DEPTH columns. The result is x + heads(x) @ out, all in f32.
"""

from functools import partial

import numpy as np

from .arrays import cupy_run, jax_run, numpy_result, torch_run
from .kits import Kit, Run, Work

SIZES = {
    "small": {"rows": 64, "width": 128},
    "medium": {"rows": 256, "width": 256},
    "large": {"rows": 2048, "width": 512},
}
TOLERANCE = 1e-4
DEPTH = 64  # columns of a head
ROWS = 4  # of a product on a CPU that an iteration computes
TILE, PART, SLICE = (
    64,
    4,
    16,
)  # of a product on a GPU: a block has a tile, a thread 4 x 4 of it; slices are shared


def data(rows, width):
    random = np.random.default_rng(11)
    weights = random.standard_normal((4, width, width), "f4") / np.float32(np.sqrt(width))
    return {"x": random.standard_normal((rows, width), "f4"), "weights": weights}


def step(xp, x, weights):
    """Return the block's output, in any array library."""
    rows, width = x.shape
    heads = width // DEPTH
    q, k, v = (xp.swapaxes((x @ weights[at]).reshape(rows, heads, DEPTH), 0, 1) for at in range(3))
    scores = (q @ xp.swapaxes(k, 1, 2)) * DEPTH**-0.5
    scores = xp.exp(scores - most_of(scores))
    mixed = (scores / scores.sum(-1)[:, :, None]) @ v
    return (x + xp.swapaxes(mixed, 0, 1).reshape(rows, width) @ weights[3],)


def most_of(scores):
    """Return the largest score of each row. `amax` is a method of PyTorch only."""
    most = scores.amax(-1) if hasattr(scores, "amax") else scores.max(-1)
    return most[:, :, None]


def truth(x, weights):
    """Computed in double precision."""
    return numpy_result(step, [x.astype("f8")], 1, [weights.astype("f8")])[0].astype("f4")


def work(done, rows, width):
    """Four products with weights, and for each head two products of rows x rows."""
    return Work(flops=4 * 2 * rows * width**2 + 2 * 2 * rows**2 * width)


def smallest(done, parameters):
    return {"rows": TILE, "width": DEPTH}


def plain_kernels(cg):
    """Return the kernel for a CPU. Neighbouring columns of a product are lanes of vectors."""
    matrix = cg.types.ndarray(cg.f32, 2)

    @cg.func
    def products(a, b, row, column, depth, a_at, b_at):
        """Return elements of a[:, a_at:] @ b: a column of them, which reads each element of b once for several rows."""
        total = cg.types.vec(ROWS, cg.f32)(0.0)
        for k in range(depth):
            factor = b[b_at + k, column]
            for r in cg.static(range(ROWS)):
                total[r] += a[row * ROWS + r, a_at + k] * factor
        return total

    @cg.kernel(graph=True)
    def attend(
        x: matrix, wq: matrix, wk: matrix, wv: matrix, wo: matrix, q: matrix, k: matrix, v: matrix, turned: matrix,
        scores: matrix, mixed: matrix, y: matrix, heads: cg.template,
    ):  # fmt: skip
        rows, width = x.shape
        for weights, target in cg.static(((wq, q), (wk, k), (wv, v))):
            for i, j in cg.ndrange(rows // ROWS, width):
                found = products(x, weights, i, j, width, 0, 0)
                for r in cg.static(range(ROWS)):
                    target[i * ROWS + r, j] = found[r]
        for j, i in turned:
            turned[j, i] = k[i, j] * DEPTH**-0.5
        for head in cg.static(range(heads)):
            for i, j in cg.ndrange(rows // ROWS, rows):
                found = products(q, turned, i, j, DEPTH, head * DEPTH, head * DEPTH)
                for r in cg.static(range(ROWS)):
                    scores[i * ROWS + r, j] = found[r]
            for i in range(rows):
                most = scores[i, 0]
                for j in range(rows):
                    most = max(most, scores[i, j])
                total = 0.0
                for j in range(rows):
                    scores[i, j] = cg.exp(scores[i, j] - most)
                for j in range(rows):
                    total += scores[i, j]
                for j in range(rows):
                    scores[i, j] /= total
            for i, j in cg.ndrange(rows // ROWS, DEPTH):
                found = products(scores, v, i, head * DEPTH + j, rows, 0, 0)
                for r in cg.static(range(ROWS)):
                    mixed[i * ROWS + r, head * DEPTH + j] = found[r]
        for i, j in cg.ndrange(rows // ROWS, width):
            found = products(mixed, wo, i, j, width, 0, 0)
            for r in cg.static(range(ROWS)):
                y[i * ROWS + r, j] = x[i * ROWS + r, j] + found[r]

    return attend


def block_kernels(cg):
    """Return the same kernel for a GPU, whose blocks multiply tiles through shared memory."""
    matrix, cube = cg.types.ndarray(cg.f32, 2), cg.types.ndarray(cg.f32, 3)

    @cg.func
    def tile(a, b, left, right, i0, j0, depth, a_at, b_at, transposed: cg.template, thread):
        """Return 4 x 4 elements of a[:, a_at:] @ b[:, b_at:], or with b transposed: rows i0 and columns j0 onwards."""
        row, column = thread // 16, thread % 16
        total = cg.types.mat(PART, PART, cg.f32)(0.0)
        for at in range(0, depth, SLICE):
            for e in cg.static(range(TILE * SLICE // 256)):
                i, k = (e * 256 + thread) // SLICE, (e * 256 + thread) % SLICE
                left[k, i] = a[i0 + i, a_at + at + k]
                if cg.static(transposed):
                    right[k, i] = b[j0 + i, b_at + at + k]
                else:
                    k2, j2 = (e * 256 + thread) // TILE, (e * 256 + thread) % TILE
                    right[k2, j2] = b[at + k2, b_at + j0 + j2]
            cg.block.sync()
            for k in cg.static(range(SLICE)):
                for i in cg.static(range(PART)):
                    for j in cg.static(range(PART)):
                        total[i, j] += left[k, row * PART + i] * right[k, column * PART + j]
            cg.block.sync()
        return total

    @cg.kernel(graph=True)
    def attend(
        x: matrix, wq: matrix, wk: matrix, wv: matrix, wo: matrix, q: matrix, k: matrix, v: matrix,
        scores: cube, mixed: matrix, y: matrix, heads: cg.template,
    ):  # fmt: skip
        rows, width = x.shape
        for weights, target in cg.static(((wq, q), (wk, k), (wv, v))):
            for bi, bj, thread in cg.blocks((rows // TILE, width // TILE), 256):
                left = cg.block.shared_array(cg.f32, (SLICE, TILE + 1))
                right = cg.block.shared_array(cg.f32, (SLICE, TILE + 1))
                found = tile(x, weights, left, right, bi * TILE, bj * TILE, width, 0, 0, False, thread)
                for i, j in cg.static(cg.ndrange(PART, PART)):
                    target[bi * TILE + thread // 16 * PART + i, bj * TILE + thread % 16 * PART + j] = found[
                        i, j
                    ]
        for head, bi, bj, thread in cg.blocks((heads, rows // TILE, rows // TILE), 256):
            left = cg.block.shared_array(cg.f32, (SLICE, TILE + 1))
            right = cg.block.shared_array(cg.f32, (SLICE, TILE + 1))
            at = head * DEPTH
            found = tile(q, k, left, right, bi * TILE, bj * TILE, DEPTH, at, at, True, thread)
            for i, j in cg.static(cg.ndrange(PART, PART)):
                row, column = bi * TILE + thread // 16 * PART + i, bj * TILE + thread % 16 * PART + j
                scores[head, row, column] = found[i, j] * DEPTH**-0.5
        for head, i, thread in cg.blocks((heads, rows), 128):
            most = -cg.inf
            for j in range(thread, rows, 128):
                most = max(most, scores[head, i, j])
            most = cg.block.reduce_max(most)
            total = 0.0
            for j in range(thread, rows, 128):
                found = cg.exp(scores[head, i, j] - most)
                scores[head, i, j] = found
                total += found
            total = cg.block.reduce_add(total)
            for j in range(thread, rows, 128):
                scores[head, i, j] /= total
        for head, bi, thread in cg.blocks((heads, rows // TILE), 256):
            left = cg.block.shared_array(cg.f32, (SLICE, TILE + 1))
            right = cg.block.shared_array(cg.f32, (SLICE, TILE + 1))
            row, column = thread // 16, thread % 16
            total = cg.types.mat(PART, PART, cg.f32)(0.0)
            for at in range(0, rows, SLICE):
                for e in cg.static(range(TILE * SLICE // 256)):
                    i, k_ = (e * 256 + thread) // SLICE, (e * 256 + thread) % SLICE
                    left[k_, i] = scores[head, bi * TILE + i, at + k_]
                    k2, j2 = (e * 256 + thread) // TILE, (e * 256 + thread) % TILE
                    right[k2, j2] = v[at + k2, head * DEPTH + j2]
                cg.block.sync()
                for k_ in cg.static(range(SLICE)):
                    for i, j in cg.static(cg.ndrange(PART, PART)):
                        total[i, j] += left[k_, row * PART + i] * right[k_, column * PART + j]
                cg.block.sync()
            for i, j in cg.static(cg.ndrange(PART, PART)):
                mixed[bi * TILE + row * PART + i, head * DEPTH + column * PART + j] = total[i, j]
        for bi, bj, thread in cg.blocks((rows // TILE, width // TILE), 256):
            left = cg.block.shared_array(cg.f32, (SLICE, TILE + 1))
            right = cg.block.shared_array(cg.f32, (SLICE, TILE + 1))
            found = tile(mixed, wo, left, right, bi * TILE, bj * TILE, width, 0, 0, False, thread)
            for i, j in cg.static(cg.ndrange(PART, PART)):
                row, column = bi * TILE + thread // 16 * PART + i, bj * TILE + thread % 16 * PART + j
                y[row, column] = x[row, column] + found[i, j]

    return attend


def with_cuda_graphs(kit: Kit, x, weights) -> Run:
    import cuda_graphs as cg

    rows, width = x.shape
    heads = width // DEPTH
    given = [kit.put(each) for each in (x, *weights)]
    q, k, v, mixed, y = (cg.ndarray(cg.f32, x.shape) for _ in range(5))
    if kit.on_gpu:
        scores = cg.ndarray(cg.f32, (heads, rows, rows))
        call = partial(block_kernels(cg), *given, q, k, v, scores, mixed, y, heads)
    else:
        turned, scores = cg.ndarray(cg.f32, (width, rows)), cg.ndarray(cg.f32, (rows, rows))
        call = partial(plain_kernels(cg), *given, q, k, v, turned, scores, mixed, y, heads)
    return Run(lambda: None, call, lambda: kit.get(y))


# https://numba.readthedocs.io/en/stable/user/parallel.html and its products of matrices by BLAS
def with_numba(kit: Kit, x, weights) -> Run:
    from numba import njit, prange

    scale = np.float32(DEPTH**-0.5)

    @njit(parallel=True)
    def attend(x, weights):
        rows, width = x.shape
        q, k, v = np.dot(x, weights[0]), np.dot(x, weights[1]), np.dot(x, weights[2])
        mixed = np.empty_like(x)
        for head in range(width // DEPTH):
            at = slice(head * DEPTH, (head + 1) * DEPTH)
            turned = np.ascontiguousarray(k[:, at].T)
            scores = np.dot(np.ascontiguousarray(q[:, at]), turned)
            for i in prange(rows):
                row = np.exp(scale * scores[i] - scale * scores[i].max())
                scores[i] = row / row.sum()
            mixed[:, at] = np.dot(scores, np.ascontiguousarray(v[:, at]))
        return x + np.dot(mixed, weights[3])

    given = kit.put(x), kit.put(weights)
    found = [x]

    def call():
        found[0] = attend(*given)

    return Run(lambda: None, call, lambda: found[0])


# https://docs.cupy.dev/en/stable/user_guide/basic.html
def with_cupy(kit: Kit, x, weights) -> Run:
    return cupy_run(kit, step, [x], 1, [weights])


# https://docs.jax.dev/en/latest/_autosummary/jax.jit.html; products in f32, as those of the others
def with_jax(kit: Kit, x, weights) -> Run:
    import jax

    with_precision = jax.default_matmul_precision("float32")(step)
    return jax_run(kit, with_precision, [x], 1, [weights])


# https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
def with_torch(kit: Kit, x, weights) -> Run:
    import torch

    def block(xp, x, weights):
        rows, width = x.shape
        q, k, v = (
            (x @ weights[at]).reshape(1, rows, width // DEPTH, DEPTH).transpose(1, 2) for at in range(3)
        )
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return (x + mixed.transpose(1, 2).reshape(rows, width) @ weights[3],)

    return torch_run(kit, block, [x], 1, [weights])
