# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems in NumPy, with one thread. The results of all other contestants are compared with these."""

import numpy as np

DRIVERS = ("host",)
TAKES_NUMPY = True
put = np.array
get = np.asarray


def sync() -> None:
    """Do nothing: the work is done when a call returns."""


def saxpy(a, x, y):
    y += a * x


def link(c, x):
    x *= np.float32(1.01)
    x += c


def chain(c, x):
    for _ in range(10):
        link(c, x)


def stencil(u, v):
    v[1:-1, 1:-1] = np.float32(0.2) * (
        u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    )


def reduction(x, total):
    total[0] = x.sum()


def histogram(x, bins):
    bins[:] = np.bincount(x, minlength=256)


def mandelbrot(image, limit):
    rows, columns = image.shape
    cx = np.float32(-2.0) + np.float32(3.0) * np.arange(columns, dtype="f4") / np.float32(columns)
    cy = np.float32(-1.5) + np.float32(3.0) * np.arange(rows, dtype="f4")[:, None] / np.float32(rows)
    x, y = np.zeros_like(image, "f4"), np.zeros_like(image, "f4")
    image[:] = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(limit):
            inside = x * x + y * y < 4
            image += inside
            x, y = np.where(inside, x * x - y * y + cx, x), np.where(inside, 2 * x * y + cy, y)


def spmv(starts, columns, values, x, y):
    y[:] = np.add.reduceat(values * x[columns], starts[:-1])


def n_body_in_any_order(p, force):
    n_body(p, force)


def n_body(p, force):
    for i in range(0, len(p), 256):
        away = p[None] - p[i : i + 256, None]
        d = (away * away).sum(-1) + np.float32(0.01)
        force[i : i + 256] = (away / (d * np.sqrt(d))[..., None]).sum(1)
