# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels whose loops are bounded by what arrays hold, and what a call of their gradients costs."""

import dataclasses

import numpy as np

import cuda_graphs as cg

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray
START = np.array([0.3, 0.7, 1.1, 0.2])
BOUNDS = [4, 0, 9, 2]


def ints(values, dtype=i32):
    made = cg.ndarray(dtype, np.shape(values))
    made.from_numpy(np.asarray(values))
    return made


def cosines(values, times):
    """Returns the gradient of the sine applied `times` times."""
    v, d = np.array(values, np.float64), np.ones(len(values))
    times = np.broadcast_to(times, v.shape)
    for k in range(max(0, *times)):
        v, d = np.where(k < times, np.sin(v), v), np.where(k < times, d * np.cos(v), d)
    return d


def by_array():
    """A kernel with counters and memory of its own; the others are used by many tests, with arrays of their own."""

    @cg.kernel
    def of_array(x: ndarray(f64, 1), b: ndarray(ndim=1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(b[i]):
                v = cg.sin(v)
            y[()] += v

    return of_array


def by_while():
    @cg.kernel
    def of_while(x: ndarray(f64, 1), b: ndarray(i32, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            n = 0
            while n < b[i]:
                v = cg.sin(v)
                n += 1
            y[()] += v

    return of_while


@cg.kernel
def late(x: ndarray(f64, 1), b: ndarray(i32, 1), value: i32, rounds: i32):
    for i in b:
        v = x[0]
        for _ in range(rounds):
            v = v * 0.5 + 0.1
        b[i] = value + cg.cast(v * 1e-9, i32)


OF_ARRAY, OF_WHILE = by_array(), by_while()


def call(kernel, x, *args, wanted, **keywords):
    """The gradient of x, which is looked at, and what that did to the counters."""
    before = dataclasses.replace(kernel.grad_stats)
    x.grad.fill(0)
    kernel.grad(x, *args, **keywords)
    cg.Device().sync()
    np.testing.assert_allclose(x.grad.to_numpy(), wanted)
    after = dataclasses.asdict(kernel.grad_stats)
    return {
        name: after[name] - value
        for name, value in dataclasses.asdict(before).items()
        if after[name] != value
    }


def costs(found):
    """Returns the counts of launches and reads that wait for the device."""
    return {name: found.get(name, 0) for name in ("sizer_launches", "d2h_reads")}


NOTHING, A_LAUNCH = {"sizer_launches": 0, "d2h_reads": 0}, {"sizer_launches": 1, "d2h_reads": 1}
