# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for PyTorch, operation by operation, without kernels of the user."""

from typing import Any

import numpy as np
import torch

DRIVERS = ("cuda",)
TAKES_NUMPY = False
sync = torch.cuda.synchronize
made: dict[int, Any] = {}  # matrices, by the address of their values


def put(array: np.ndarray) -> Any:
    return torch.from_numpy(array.copy()).cuda()


def get(array: Any) -> np.ndarray:
    return array.cpu().numpy()


def saxpy(a, x, y):
    y.add_(x, alpha=float(a))


def link(c, x):
    x.mul_(1.01).add_(float(c))


def chain(c, x):
    for _ in range(10):
        link(c, x)


def stencil(u, v):
    inner = u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    torch.mul(inner, 0.2, out=v[1:-1, 1:-1])


def reduction(x, total):
    torch.sum(x, dim=0, keepdim=True, out=total)


def histogram(x, bins):
    bins.copy_(torch.bincount(x, minlength=256))


def mandelbrot(image, limit):
    rows, columns = image.shape
    cx = -2.0 + 3.0 * torch.arange(columns, device=image.device, dtype=torch.float32) / columns
    cy = -1.5 + 3.0 * torch.arange(rows, device=image.device, dtype=torch.float32)[:, None] / rows
    x, y = torch.zeros_like(image, dtype=torch.float32), torch.zeros_like(image, dtype=torch.float32)
    image.zero_()
    for _ in range(int(limit)):
        inside = x * x + y * y < 4
        image += inside
        x, y = torch.where(inside, x * x - y * y + cx, x), torch.where(inside, 2 * x * y + cy, y)


def spmv(starts, columns, values, x, y):
    """The matrix is made once, in the first call, which is not timed."""
    matrix = made.get(values.data_ptr())
    if matrix is None:
        shape = (y.numel(), x.numel())
        matrix = made[values.data_ptr()] = torch.sparse_csr_tensor(starts, columns, values, size=shape)
    torch.mv(matrix, x, out=y)


def n_body_in_any_order(p, force):
    away = p[None] - p[:, None]
    d = (away * away).sum(-1) + 0.01
    torch.sum(away / (d * d.sqrt())[..., None], dim=1, out=force)


def graph(tasks, a, x, y):
    """saxpy, captured."""
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(tasks):
            saxpy(a, x, y)
    return captured.replay
