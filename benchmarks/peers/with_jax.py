# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for JAX, each one function under `jax.jit`.

Arrays of JAX do not change. A problem that changes an array gives its memory to the result (`donate_argnums`).
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other contestants need memory, too

import jax
import jax.numpy as jnp
import numpy as np

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
TAKES_NUMPY = False
DEVICE = jax.devices("gpu" if cg.driver_info().kind == "cuda" else "cpu")[0]
last: list[Any] = []  # the result of the last call


class Box:
    """An array of a problem: its value at present."""

    def __init__(self, value: Any) -> None:
        self.value = value


def put(array: np.ndarray) -> Box:
    return Box(jax.device_put(array, DEVICE))


def get(box: Box) -> np.ndarray:
    return np.asarray(box.value)


def sync() -> None:
    jax.block_until_ready(last)


def assign(box: Box, value: Any) -> None:
    box.value = value
    last[:] = [value]


donating = partial(jax.jit, donate_argnums=0)


@donating
def add_product(y: Any, x: Any, a: Any) -> Any:
    return y + a * x


@donating
def multiply_add(x: Any, c: Any) -> Any:
    return x * 1.01 + c


@donating
def ten_times(x: Any, c: Any) -> Any:
    for _ in range(10):
        x = x * 1.01 + c
    return x


@donating
def average(v: Any, u: Any) -> Any:
    inner = u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return v.at[1:-1, 1:-1].set(0.2 * inner)


total_of: Callable[[Any], Any] = jax.jit(lambda x: jnp.sum(x, keepdims=True))
counts_of: Callable[[Any], Any] = jax.jit(lambda x: jnp.bincount(x, length=256))


def saxpy(a: Any, x: Box, y: Box) -> None:
    assign(y, add_product(y.value, x.value, a))


def link(c: Any, x: Box) -> None:
    assign(x, multiply_add(x.value, c))


def chain(c: Any, x: Box) -> None:
    assign(x, ten_times(x.value, c))


def stencil(u: Box, v: Box) -> None:
    assign(v, average(v.value, u.value))


def reduction(x: Box, total: Box) -> None:
    assign(total, total_of(x.value))


def histogram(x: Box, bins: Box) -> None:
    assign(bins, counts_of(x.value))
