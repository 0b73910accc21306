# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The registry of laws that all ranks run together, and what the laws share: values of each rank, launches, errors."""

import gc

import numpy as np

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes

LAWS = {}


def law(function):
    LAWS[function.__name__] = function
    return function


def values_of(rank, size, dtype=np.float64, salt=0):
    """Return the array of a rank. Its numbers are small, so that products of floats are exact."""
    return np.random.default_rng([rank, salt]).integers(1, 4, size).astype(dtype)


def values_of_all(comm, size, dtype=np.float64, salt=0):
    return np.stack([values_of(rank, size, dtype, salt) for rank in range(comm.size)])


def raised(kind, call, *args, **keywords):
    """Return the text of the error that a call raises."""
    try:
        call(*args, **keywords)
    except kind as error:
        return str(error)
    raise AssertionError(f"{call} raised no {kind.__name__}")


def launch(graph, times=1):
    stream = cg.Device().create_stream()
    for _ in range(times):
        graph.launch(stream)
    stream.sync()


def collect():
    gc.collect()
    cg.Device().sync()
    boxes.drain()
