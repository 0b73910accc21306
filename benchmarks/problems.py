# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems of kernels.py: the data, and the argument that holds the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).random(shape, "f4")


def line(n: int) -> dict[str, Any]:
    return {"a": np.float32(1e-3), "x": random(n), "y": random(n)}


def links(n: int) -> dict[str, Any]:
    return {"c": np.float32(0.3), "x": random(n)}


def bodies(n: int) -> dict[str, Any]:
    return {"p": random(n, 3), "force": np.zeros((n, 3), "f4")}


def matrix(rows: int, each: int) -> dict[str, Any]:
    values = np.random.default_rng(2)
    return {
        "starts": np.arange(0, rows * each + 1, each, dtype="i4"),
        "columns": values.integers(0, rows, rows * each).astype("i4"),
        "values": values.random(rows * each, "f4"),
        "x": random(rows),
        "y": np.zeros(rows, "f4"),
    }


@dataclass(frozen=True)
class Problem:
    """One problem, the same for all contestants.

    kernel     name of the kernel in all contestants
    arguments  function that makes the arguments, as arrays of NumPy and numbers
    result     name of the argument that holds the result
    calls      number of calls in one turn
    way        "call", or a preparation before the clock runs: "recorded" is one call, "graph" is ten calls in a row
               as one graph
    in_a_row   True to synchronise once per turn, not after each call
    on_numpy   True to pass arrays of NumPy instead of arrays of the contestant
    drivers    drivers on which the problem is run
    """

    kernel: str
    arguments: Callable[[], dict[str, Any]]
    result: str
    calls: int = 1
    way: str = "call"
    in_a_row: bool = False
    on_numpy: bool = False
    drivers: tuple[str, ...] = ("host", "cuda")


SHORT = 1024  # floats per call; few enough to measure the call
TASKS = 10  # calls in a graph

PROBLEMS = {
    "call of a 1-task kernel, 1024 floats": Problem("saxpy", lambda: line(SHORT), "y", 500),
    "the same, 500 in a row": Problem("saxpy", lambda: line(SHORT), "y", 500, in_a_row=True),
    "the same, on arrays of NumPy": Problem("saxpy", lambda: line(SHORT), "y", 200, on_numpy=True),
    "the same, prepared": Problem("saxpy", lambda: line(SHORT), "y", 500, "recorded"),
    "graph of 10 tasks, 1024 floats": Problem("saxpy", lambda: line(SHORT), "y", 200, "graph"),
    "saxpy, 2 x 64 MiB": Problem("saxpy", lambda: line(1 << 24), "y"),
    "loop over 64 MiB": Problem("link", lambda: links(1 << 24), "x"),
    "10 loops over 64 MiB in one kernel": Problem("chain", lambda: links(1 << 24), "x"),
    "5-point stencil, 4096 x 4096": Problem(
        "stencil", lambda: {"u": random(4096, 4096), "v": np.zeros((4096, 4096), "f4")}, "v"
    ),
    "reduction, 64 MiB": Problem(
        "reduction", lambda: {"x": random(1 << 24), "total": np.zeros(1, "f4")}, "total"
    ),
    "histogram, 16 Mi bytes": Problem(
        "histogram",
        lambda: {"x": (random(1 << 24) * 256).astype("u1"), "bins": np.zeros(256, "i4")},
        "bins",
    ),
    "mandelbrot, 1024 x 1024, 200": Problem(
        "mandelbrot", lambda: {"image": np.zeros((1024, 1024), "i4"), "limit": np.int32(200)}, "image"
    ),
    "SpMV, 1 Mi rows of 8": Problem("spmv", lambda: matrix(1 << 20, 8), "y"),
    "n-body, 4096": Problem("n_body", lambda: bodies(4096), "force"),
    "n-body, 4096, sums in any order": Problem(
        "n_body_in_any_order", lambda: bodies(4096), "force", drivers=("cuda",)
    ),
}

# Row -> a small problem, whose first call consists mostly of compilation.
FIRST = {
    "saxpy": Problem("saxpy", lambda: line(8), "y"),
    "n-body": Problem("n_body", lambda: bodies(8), "force"),
}
