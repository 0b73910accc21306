# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel takes as many arguments as the parameters of an entry have room for, 512 and more."""

import linecache

import numpy as np
import pytest

import cuda_graphs as cg


def kernel_of(parameters, body, graph):
    """A kernel whose source is made here, as a cell of a notebook is."""
    source = "\n".join([f"def kernel({', '.join(parameters)}):", *(f"    {line}" for line in body)]) + "\n"
    file = f"<{len(parameters)} parameters, {len(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"cg": cg, "Values": cg.types.ndarray(cg.f32, 1), "Plane": cg.types.ndarray(cg.f64, 2)}
    exec(compile(source, file, "exec"), space)
    return cg.kernel(space["kernel"], graph=graph)


@pytest.mark.parametrize("graph", [False, True], ids=["launched", "graph"])
def test_a_kernel_takes_512_arguments(graph):
    """Each of them arrives as itself: the k-th counts k times, in a number that tells."""
    numbers = range(511)
    kernel = kernel_of(
        ["out: Values", *(f"a{k}: cg.i32" for k in numbers)],
        ["s = cg.i64(0)", *(f"s += a{k} * {k + 1}" for k in numbers), "out[0] = s"],
        graph,
    )
    out = cg.ndarray(cg.f32, 1)
    for scale in (1, -3):
        values = [scale * (k % 7) for k in numbers]
        kernel(out, *values)
        assert out[0] == sum(value * (k + 1) for k, value in enumerate(values))


@pytest.mark.parametrize("graph", [False, True], ids=["launched", "graph"])
def test_a_kernel_takes_arrays_whose_addresses_fill_more_than_the_old_limit_of_parameters(graph):
    """4 KiB was that: 300 arrays of two dimensions are 24 bytes each, and more"""
    count = 300
    kernel = kernel_of(
        [f"a{k}: Plane" for k in range(count)],
        ["for i, j in a0:", *(f"    a0[i, j] += a{k}[i, j]" for k in range(1, count))],
        graph,
    )
    target, one, two = (cg.ndarray(cg.f64, (2, 3)) for _ in range(3))
    one.fill(1)
    two.fill(2)
    kernel(target, *[one] * (count - 1))
    kernel(target, *[one] * 10, *[two] * (count - 11))
    assert np.all(target.to_numpy() == (count - 1) + 10 + 2 * (count - 11))
