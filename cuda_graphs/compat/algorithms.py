# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`algorithms` of the peers: sorting and prefix sums of fields and arrays, from the host."""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

from .ad import unwrapped
from .program import wait

__all__ = ["PrefixSumExecutor", "parallel_sort"]

RUN = 256  # elements that one thread adds
Numbers: Any = cg.types.NDArray


@cg.kernel
def exchange(keys: Numbers, n: cg.i32, width: cg.i32, distance: cg.i32) -> None:
    """Put the keys of each pair of one step of the sort in order."""
    for i in range(n - distance):
        if is_pair(i, width, distance) and keys[i + distance] < keys[i]:
            keys[i], keys[i + distance] = keys[i + distance], keys[i]


@cg.kernel
def exchange_both(keys: Numbers, values: Numbers, n: cg.i32, width: cg.i32, distance: cg.i32) -> None:
    """Put the keys of each pair of one step of the sort in order, and their values with them."""
    for i in range(n - distance):
        if is_pair(i, width, distance) and keys[i + distance] < keys[i]:
            keys[i], keys[i + distance] = keys[i + distance], keys[i]
            values[i], values[i + distance] = values[i + distance], values[i]


@cg.func
def is_pair(i: Any, width: Any, distance: Any) -> Any:
    """Return True if the network compares element i with element i + distance."""
    start = distance % width
    is_first = i >= start and (i - start) % (2 * distance) < distance
    return is_first and i // (2 * width) == (i + distance) // (2 * width)


def array_of(x: Any) -> Any:
    """Return the array of a field's memory. Code that takes a field itself as a constant keeps the field."""
    return unwrapped(x)[...]


def parallel_sort(keys: Any, values: Any = None) -> None:
    """Sort a field or array of one dimension in place, with log2(n) ** 2 / 2 kernels of n comparisons.

    The network is Batcher's odd-even merge sort (K. E. Batcher, "Sorting networks and their applications", 1968), which
    does not keep the order of equal keys.

    Args:
        keys: Numbers, in any order.
        values: A field or array of the same length, whose elements move with the keys.

    Raises:
        ValueError: `keys` has several dimensions, or `values` has another length.
    """
    if len(keys.shape) != 1 or (values is not None and tuple(values.shape) != tuple(keys.shape)):
        raise ValueError("parallel_sort() takes keys of one dimension, and values of the same length")
    keys, values = array_of(keys), None if values is None else array_of(values)
    n, width = keys.shape[0], 1
    while width < n:
        distance = width
        while distance:
            if values is None:
                exchange(keys, n, width, distance)
            else:
                exchange_both(keys, values, n, width, distance)
            distance //= 2
        width *= 2
    wait()


@cg.kernel
def add_runs(x: Numbers, sums: Numbers, n: cg.i32) -> None:
    """Replace the elements of each run by their prefix sums, and note the sum of the run."""
    for run in sums:
        for i in range(run * RUN + 1, min(run * RUN + RUN, n)):
            x[i] += x[i - 1]
        sums[run] = x[min(run * RUN + RUN, n) - 1]


@cg.kernel
def add_sums(x: Numbers, sums: Numbers) -> None:
    """Add to each run the sum of the elements before it."""
    for i in x:
        if i >= RUN:
            x[i] += sums[i // RUN - 1]


def prefix_sum(x: Any) -> None:
    """Replace the elements by their prefix sums."""
    n = x.shape[0]
    sums = cg.ndarray(x.dtype, (n + RUN - 1) // RUN)
    add_runs(x, sums, n)
    if n > RUN:
        prefix_sum(sums)
        add_sums(x, sums)


class PrefixSumExecutor:
    """Prefix sums of fields and arrays with a number of elements."""

    def __init__(self, length: int) -> None:
        self.length = length

    def run(self, input_arr: Any) -> None:
        """Replace each element of a field or array by the sum of the elements up to it.

        Raises:
            ValueError: The length is not that of the executor, or there are several dimensions.
        """
        if tuple(input_arr.shape) != (self.length,):
            raise ValueError(
                f"the shape is {tuple(input_arr.shape)}, but the executor is for {self.length} numbers"
            )
        if self.length:
            prefix_sum(array_of(input_arr))
            wait()
