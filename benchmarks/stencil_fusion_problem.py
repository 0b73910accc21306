# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of stencil_fusion.py: pairs of a loop and a stencil of its results, ten in turn from x to y and back."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import cuda_graphs as cg

Line, Plane = cg.Array1[cg.f32], cg.Array2[cg.f32]
PAIRS = 10


@cg.func
def light(x: cg.f32) -> cg.f32:
    return x * 0.5 + 0.25


@cg.func
def root(x: cg.f32) -> cg.f32:
    return cg.sqrt(x * x + 1.0) / (x * x + 2.0)


@cg.func
def bell(x: cg.f32) -> cg.f32:
    return cg.exp(-x * x)


@cg.func
def bells(x: cg.f32) -> cg.f32:
    return cg.exp(-x * x) + cg.log(x * x + 2.0) * cg.exp(-2.0 * x * x) + cg.log(x * x + 3.0)


@cg.func
def polynomial(x: cg.f32) -> cg.f32:
    y = x * 0.125
    for _ in cg.static(range(12)):
        y = y * x * 0.5 + 0.25
    return y


def light_3(x: Line, t: Line, y: Line) -> None:
    for i in x:
        t[i] = light(x[i])
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * (t[i - 1] + 2.0 * t[i] + t[i + 1])


def inner_3(x: Line, t: Line, y: Line) -> None:
    for i in range(1, x.shape[0] - 1):
        t[i] = light(x[i])
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * (t[i - 1] + 2.0 * t[i] + t[i + 1])


def light_9(x: Line, t: Line, y: Line) -> None:
    for i in x:
        t[i] = light(x[i])
    for i in range(4, x.shape[0] - 4):
        y[i] = 0.125 * (
            t[i - 4] + t[i - 3] + t[i - 2] + t[i - 1] + t[i] + t[i + 1] + t[i + 2] + t[i + 3] + t[i + 4]
        )


def root_3(x: Line, t: Line, y: Line) -> None:
    for i in x:
        t[i] = root(x[i])
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * (t[i - 1] + 2.0 * t[i] + t[i + 1])


def bell_3(x: Line, t: Line, y: Line) -> None:
    for i in x:
        t[i] = bell(x[i])
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * (t[i - 1] + 2.0 * t[i] + t[i + 1])


def bells_3(x: Line, t: Line, y: Line) -> None:
    for i in x:
        t[i] = bells(x[i])
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * (t[i - 1] + 2.0 * t[i] + t[i + 1])


def polynomial_3(x: Line, t: Line, y: Line) -> None:
    for i in x:
        t[i] = polynomial(x[i])
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * (t[i - 1] + 2.0 * t[i] + t[i + 1])


def light_5(x: Plane, t: Plane, y: Plane) -> None:
    for i, j in x:
        t[i, j] = light(x[i, j])
    for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        y[i, j] = 0.25 * (t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1])


def sweeps_5(x: Plane, t: Plane, y: Plane) -> None:
    for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        t[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
    for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        y[i, j] = 0.25 * (t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1])


PAIR = {
    each.__name__: each
    for each in (light_3, inner_3, light_9, root_3, bell_3, bells_3, polynomial_3, light_5, sweeps_5)
}


def ten_of(pair: Callable[..., None], fuse: bool) -> Any:
    """Return a graph kernel of ten pairs."""
    step = cg.func(pair)
    kind = pair.__annotations__["x"]

    def ten(x: kind, t: kind, y: kind) -> None:
        for _ in cg.static(range(PAIRS // 2)):
            step(x, t, y)
            step(y, t, x)

    return cg.kernel(ten, graph=True, chain="nodes", fuse=fuse)


def contestants(name: str, n: int) -> tuple[cg.Stream, dict[str, Callable[[], Any]], int]:
    """Return the stream, what launches ten pairs over n numbers, and the tasks of the fused ones."""
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    pair = PAIR[name]
    side = round(n**0.5)
    shape = (n,) if pair.__annotations__["x"] is Line else (side, n // side)
    arrays = [cg.zeros(shape, cg.f32) for _ in range(3)]
    start = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    runs, found = {}, []
    for label, fuse in (("apart", False), ("fused", True)):
        kernel = ten_of(pair, fuse)
        for each in arrays:
            each.from_numpy(start)
        runs[label] = partial(kernel, *arrays, stream=stream)
        runs[label]()
        stream.sync()
        found.append([each.to_numpy().tobytes() for each in arrays])
    assert found[0] == found[1], "the contestants computed different numbers"
    return stream, runs, len(kernel.explain(*arrays).tasks)
