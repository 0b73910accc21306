# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for Triton, on arrays of PyTorch: programs that work on blocks of elements, with masks.

Contraction is off, as for all contestants (`enable_fp_fusion`).
"""

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

DRIVERS = ("cuda",)
TAKES_NUMPY = False
sync = torch.cuda.synchronize
PLAIN = {"enable_fp_fusion": False}


def put(array: np.ndarray) -> Any:
    return torch.from_numpy(array.copy()).cuda()


def get(array: Any) -> np.ndarray:
    return array.cpu().numpy()


def parts(n: int, block: int) -> tuple[int]:
    return (triton.cdiv(n, block),)


@triton.jit
def saxpy_of(a, x, y, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    there = at < n
    tl.store(y + at, tl.load(y + at, there) + a * tl.load(x + at, there), there)


def saxpy(a, x, y):
    saxpy_of[parts(x.numel(), 1024)](float(a), x, y, x.numel(), block=1024, **PLAIN)


@triton.jit
def stencil_of(u, v, rows, columns, block: tl.constexpr):
    i = tl.program_id(1) + 1
    j = tl.program_id(0) * block + tl.arange(0, block) + 1
    there = j < columns - 1
    at = u + i.to(tl.int64) * columns + j
    found = tl.load(at, there) + tl.load(at - columns, there) + tl.load(at + columns, there)
    found = 0.2 * (found + tl.load(at - 1, there) + tl.load(at + 1, there))
    tl.store(v + i.to(tl.int64) * columns + j, found, there)


def stencil(u, v):
    rows, columns = u.shape
    grid = (triton.cdiv(columns - 2, 1024), rows - 2)
    stencil_of[grid](u, v, rows, columns, block=1024, **PLAIN)


@triton.jit
def reduction_of(x, total, n, block: tl.constexpr):
    found = tl.zeros((block,), tl.float32)
    for first in range(tl.program_id(0) * block, n, tl.num_programs(0) * block):
        at = first + tl.arange(0, block)
        found += tl.load(x + at, at < n, other=0.0)
    tl.atomic_add(total, tl.sum(found, axis=0))


def reduction(x, total):
    total.zero_()
    reduction_of[(1024,)](x, total, x.numel(), block=4096, num_warps=8)


@triton.jit
def histogram_of(x, bins, n, block: tl.constexpr):
    found = tl.zeros((256,), tl.int32)
    for first in range(tl.program_id(0) * block, n, tl.num_programs(0) * block):
        at = first + tl.arange(0, block)
        found += tl.histogram(tl.load(x + at, at < n, other=0).to(tl.int32), 256)
    tl.atomic_add(bins + tl.arange(0, 256), found)


def histogram(x, bins):
    # All blocks are full: 16 Mi is a multiple of the elements of all programs in a round.
    assert x.numel() % 4096 == 0
    bins.zero_()
    histogram_of[(1024,)](x, bins, x.numel(), block=4096, num_warps=8)


@triton.jit
def mandelbrot_of(image, rows, columns, limit, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    cx = -2.0 + 3.0 * (at % columns).to(tl.float32) / columns.to(tl.float32)
    cy = -1.5 + 3.0 * (at // columns).to(tl.float32) / rows.to(tl.float32)
    x = tl.zeros((block,), tl.float32)
    y = tl.zeros((block,), tl.float32)
    n = tl.zeros((block,), tl.int32)
    inside = (at < rows * columns) & (limit > 0)
    while tl.max(inside.to(tl.int32), axis=0) > 0:
        following = x * x - y * y + cx
        y = tl.where(inside, 2.0 * x * y + cy, y)
        x = tl.where(inside, following, x)
        n += inside.to(tl.int32)
        inside = inside & (x * x + y * y < 4.0) & (n < limit)
    tl.store(image + at, n, at < rows * columns)


def mandelbrot(image, limit):
    rows, columns = image.shape
    grid = parts(image.numel(), 128)
    # 1 would become a constant, which has no `.to`
    assert min(rows, columns) > 1
    mandelbrot_of[grid](image, rows, columns, int(limit), block=128, **PLAIN)


@triton.jit
def spmv_of(starts, columns, values, x, y, n, block: tl.constexpr):
    row = tl.program_id(0) * block + tl.arange(0, block)
    there = row < n
    k = tl.load(starts + row, there, other=0)
    end = tl.load(starts + row + 1, there, other=0)
    total = tl.zeros((block,), tl.float32)
    while tl.max(end - k, axis=0) > 0:
        more = k < end
        column = tl.load(columns + k, more, other=0)
        total += tl.load(values + k, more, other=0.0) * tl.load(x + column, more, other=0.0)
        k += 1
    tl.store(y + row, total, there)


def spmv(starts, columns, values, x, y):
    spmv_of[parts(y.numel(), 128)](starts, columns, values, x, y, y.numel(), block=128, **PLAIN)


@triton.jit
def n_body_of(p, force, n, block: tl.constexpr, others: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    px, py, pz = (
        tl.load(p + 3 * i, i < n, other=0.0),
        tl.load(p + 3 * i + 1, i < n, other=0.0),
        tl.load(p + 3 * i + 2, i < n, other=0.0),
    )
    fx = tl.zeros((block,), tl.float32)
    fy = tl.zeros((block,), tl.float32)
    fz = tl.zeros((block,), tl.float32)
    for first in range(0, n, others):
        j = first + tl.arange(0, others)
        dx = tl.load(p + 3 * j, j < n, other=0.0)[None, :] - px[:, None]
        dy = tl.load(p + 3 * j + 1, j < n, other=0.0)[None, :] - py[:, None]
        dz = tl.load(p + 3 * j + 2, j < n, other=0.0)[None, :] - pz[:, None]
        d = dx * dx + dy * dy + dz * dz + 0.01
        s = tl.where((j < n)[None, :], 1.0 / (d * tl.sqrt(d)), 0.0)
        fx += tl.sum(dx * s, axis=1)
        fy += tl.sum(dy * s, axis=1)
        fz += tl.sum(dz * s, axis=1)
    tl.store(force + 3 * i, fx, i < n)
    tl.store(force + 3 * i + 1, fy, i < n)
    tl.store(force + 3 * i + 2, fz, i < n)


def n_body_in_any_order(p, force):
    n_body_of[parts(p.shape[0], 16)](p, force, p.shape[0], block=16, others=128, **PLAIN)
