# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The contestants of node_fusion.py. Each computes the same numbers, which are compared first."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import cuda_graphs as cg

Vector = cg.Array1[cg.f32]


@cg.kernel
def step(b: Vector, c: Vector) -> None:
    for i in b:
        b[i] = b[i] * 1.01 + c[i]


@cg.kernel(graph=True)
def chain_of_10(b: Vector, c: Vector) -> None:
    for _ in cg.static(range(10)):
        for i in b:
            b[i] = b[i] * 1.01 + c[i]


def contestants(n: int, length: int) -> tuple[cg.Stream, dict[str, Callable[[], Any]]]:
    """Return the stream, and a function for each contestant that launches its work for arrays of n numbers."""
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    b, c = cg.ndarray(cg.f32, n), cg.ndarray(cg.f32, n)
    c.from_numpy(np.linspace(-1, 1, n, dtype=np.float32))
    runs: dict[str, Callable[[], Any]] = {
        "nodes": partial(graph_of(b, c, length).instantiate().launch, stream),
        "fused nodes": partial(graph_of(b, c, length).instantiate(optimize=True).launch, stream),
        "graph kernel": partial(chain_of_10, b, c, stream=stream),
        "one saxpy": partial(graph_of(b, c, 1).instantiate().launch, stream),
    }
    found = []
    for name in ("nodes", "fused nodes", "graph kernel"):
        b.from_numpy(np.ones(n, np.float32))
        runs[name]()
        stream.sync()
        found.append(b.to_numpy().tobytes())
    assert found[0] == found[1] == found[2], "the contestants computed different numbers"
    return stream, runs


def graph_of(b: cg.NDArray, c: cg.NDArray, length: int) -> cg.GraphDef:
    """Return a chain of `length` nodes."""
    definition = cg.GraphDef()
    node: Any = definition
    for _ in range(length):
        node = node.call(step, b, c)
    return definition
