# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Attention, softmax(Q K' / sqrt(d)) V, as one graph of kernels whose threads work together in blocks.

Matrix products load tiles into shared memory, so that each number is fetched once per tile, not once per
multiplication. Each row of the softmax is computed by one block of threads with block reductions. The result is
compared with NumPy.
"""

import numpy as np

import cuda_graphs as cg

ROWS, DEPTH = 96, 64  # of the queries, keys and values
TILE, THREADS = 16, 32

Matrix = cg.Array2[cg.f32]


@cg.kernel
def multiply(a: Matrix, b: Matrix, c: Matrix, scale: cg.f32, transposed: cg.template) -> None:
    """c = scale * a @ b, or a @ b.T."""
    for bi, bj, i, j in cg.blocks((c.shape[0] // TILE, c.shape[1] // TILE), (TILE, TILE)):
        left = cg.block.shared_array(cg.f32, (TILE, TILE))
        right = cg.block.shared_array(cg.f32, (TILE, TILE + 1))
        row, column = bi * TILE + i, bj * TILE + j
        total = cg.f32(0.0)
        for at in range(a.shape[1] // TILE):
            left[i, j] = a[row, at * TILE + j]
            if cg.static(transposed):
                right[j, i] = b[bj * TILE + i, at * TILE + j]
            else:
                right[i, j] = b[at * TILE + i, column]
            cg.block.sync()
            for k in range(TILE):
                total += left[i, k] * right[k, j]
            cg.block.sync()
        c[row, column] = scale * total


@cg.kernel
def softmax(x: Matrix) -> None:
    for row, thread in cg.blocks(x.shape[0], THREADS):
        most = x[row, 0]
        column = thread
        while column < x.shape[1]:
            most = max(most, x[row, column])
            column += THREADS
        most = cg.block.reduce_max(most)
        total = cg.f32(0.0)
        column = thread
        while column < x.shape[1]:
            x[row, column] = cg.exp(x[row, column] - most)
            total += x[row, column]
            column += THREADS
        total = cg.block.reduce_add(total)
        column = thread
        while column < x.shape[1]:
            x[row, column] /= total
            column += THREADS


def main() -> None:
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    random = np.random.default_rng(1)
    q, k, v = (random.standard_normal((ROWS, DEPTH)).astype(np.float32) for _ in range(3))
    queries, keys, values = (cg.ndarray(cg.f32, (ROWS, DEPTH)) for _ in range(3))
    scores, out = cg.ndarray(cg.f32, (ROWS, ROWS)), cg.ndarray(cg.f32, (ROWS, DEPTH))
    for array, numbers in ((queries, q), (keys, k), (values, v)):
        array.from_numpy(numbers)

    g = cg.GraphDef()
    node = g.call(multiply, queries, keys, scores, 1 / DEPTH**0.5, True)
    node = node.call(softmax, scores)
    node.call(multiply, scores, values, out, 1.0, False)
    g.instantiate().launch(stream)
    stream.sync()

    weights = np.exp((exact := q.astype("f8") @ k.T / DEPTH**0.5) - exact.max(1, keepdims=True))
    wanted = weights / weights.sum(1, keepdims=True) @ v
    error = np.abs(out.to_numpy() - wanted).max()
    print(f"attention over {ROWS} rows in one launch of {len(g.nodes())} nodes; largest error {error:.1e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
