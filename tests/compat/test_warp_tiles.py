# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tiles of matrices in the registers of a warp do what NumPy does with the whole matrices."""

import numpy as np
import pytest

import cuda_graphs as cg
import cuda_graphs.compat.quadrants as qd

TILES = {16: qd.simt.Tile16x16, 32: qd.simt.Tile32x32}


@qd.kernel
def factorise(
    a: qd.types.ndarray(dtype=qd.f64, ndim=2), n: qd.i32, T: qd.template(), Tile: qd.template()
) -> None:
    """The blocked Cholesky factor of a matrix, in its lower triangle."""
    qd.loop_config(block_dim=T)
    for _ in range(T):
        blocks = (n + T - 1) // T
        for k in range(blocks):
            first, end = k * T, qd.min(k * T + T, n)
            diagonal = Tile.eye(dtype=qd.f64)
            diagonal[:] = a[first:end, first:end]
            for j in range(k * T):
                v = a[first:end, j]
                diagonal -= qd.outer(v, v)
            diagonal.cholesky_(1e-30)
            for m in range(k + 1, blocks):
                low, high = m * T, qd.min(m * T + T, n)
                below = Tile.zeros(dtype=qd.f64)
                below[:] = a[low:high, first:end]
                for j in range(k * T):
                    below -= qd.outer(a[low:high, j], a[first:end, j])
                diagonal.solve_triangular_(below)
                a[low:high, first:end] = below
            a[first:end, first:end] = diagonal


@pytest.mark.parametrize(("T", "n"), [(16, 27), pytest.param(32, 50, marks=pytest.mark.nightly)])
def test_a_blocked_factor_of_tiles_is_that_of_numpy(T, n):
    rng = np.random.default_rng(n)
    half = rng.standard_normal((n, n))
    matrix = half @ half.T + n * np.eye(n)
    a = qd.ndarray(qd.f64, (n, n))
    a.from_numpy(matrix)
    factorise(a, n, T, TILES[T])
    assert np.allclose(np.tril(a.to_numpy()), np.linalg.cholesky(matrix), rtol=1e-12, atol=1e-12)


def factor_in_f32(matrix):
    """Return the Cholesky factor with one sum of the products of even columns and one of odd columns."""
    factor, size = np.zeros_like(matrix), len(matrix)
    squares = np.zeros(size, np.float32)
    for k in range(size):
        sums = np.zeros((2, size), np.float32)
        for j in range(k):
            sums[j % 2] += factor[:, j] * factor[k, j]
        factor[k, k] = np.sqrt(matrix[k, k] - squares[k])
        below = slice(k + 1, size)
        factor[below, k] = (matrix[below, k] - (sums[0] + sums[1])[below]) / factor[k, k]
        squares[below] += factor[below, k] ** 2
    return factor


def test_factors_have_the_bits_of_sums_over_even_and_over_odd_columns():
    half = np.random.default_rng(4).standard_normal((16, 16)).astype(np.float32)
    matrix = half @ half.T + 16 * np.eye(16, dtype=np.float32)
    a = qd.ndarray(qd.f32, (16, 16))
    a.from_numpy(matrix)

    @qd.kernel
    def factorise(a: qd.types.ndarray(dtype=qd.f32, ndim=2)):
        qd.loop_config(block_dim=16)
        for _ in range(16):
            tile = qd.simt.Tile16x16.zeros(dtype=qd.f32)
            tile[:] = a[:, :]
            tile.cholesky_(1e-30)
            a[:, :] = tile

    factorise(a)
    assert (np.tril(a.to_numpy()) == factor_in_f32(matrix)).all()


@qd.kernel
def update(batch: qd.types.ndarray(dtype=qd.f32, ndim=3), v: qd.types.ndarray(dtype=qd.f32, ndim=1)) -> None:
    qd.loop_config(block_dim=16)
    for i in range(16 * 3):
        lane, number = i % 16, i // 16
        tile = qd.simt.Tile16x16.zeros()
        tile[:] = batch[number, 2:12, 1:]
        tile -= qd.outer(v[lane], v[lane] + qd.cast(number, qd.f32))
        for j in qd.static(range(16)):
            tile.r[j] = tile.r[j] * 2.0
        batch[number, 2:12, 1:] = tile


def test_slices_of_batches_are_loaded_and_stored_and_all_else_stays():
    rng = np.random.default_rng(1)
    before = rng.standard_normal((3, 20, 9)).astype("f4")
    v = rng.standard_normal(16).astype("f4")
    batch, ours = qd.ndarray(qd.f32, (3, 20, 9)), qd.ndarray(qd.f32, (16,))
    batch.from_numpy(before)
    ours.from_numpy(v)
    update(batch, ours)
    expected = before.copy()
    for number in range(3):
        product = np.outer(v[:10], v[:8] + np.float32(number))
        expected[number, 2:12, 1:] = (before[number, 2:12, 1:] - product) * 2
    assert np.allclose(batch.to_numpy(), expected, atol=1e-5)


def test_code_with_tiles_is_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "1")
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path / "cache"))
    update.forget()
    update(qd.ndarray(qd.f32, (3, 20, 9)), qd.ndarray(qd.f32, (16,)))
    assert list((tmp_path / "cache").glob("*.kernel"))


@qd.kernel
def refused(a: qd.types.ndarray(dtype=qd.f32, ndim=2)) -> None:
    qd.loop_config(block_dim=16)
    for _ in range(16):
        tile, other = qd.simt.Tile16x16.eye(), qd.simt.Tile16x16.eye()
        tile.solve_triangular_(other, lower=False)
        a[0:16, 0:16] = other


def test_an_upper_triangle_is_refused():
    with pytest.raises(cg.CompileError, match="lower=True"):
        refused(qd.ndarray(qd.f32, (16, 16)))


def test_tiles_have_their_size():
    assert [TILES[n].SIZE for n in (16, 32)] == [16, 32]
