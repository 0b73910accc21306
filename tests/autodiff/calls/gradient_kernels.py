# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels whose derivatives NumPy has, and arrays for them."""

import numpy as np

import cuda_graphs as cg

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray
START = np.array([0.3, 0.7, 1.1])


def array(values, dtype=f64):
    """With a gradient."""
    made = cg.ndarray(dtype, np.shape(values), needs_grad=True)
    made.from_numpy(np.asarray(values))
    return made


@cg.kernel
def squares(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        y[()] += x[i] * x[i]


@cg.kernel
def sine_steps(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(n):
            v = cg.sin(v) + 0.1
        y[()] += v


@cg.kernel
def read_steps(x: ndarray(f64, 1), n: ndarray(i32, 0), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(n[()]):
            v = cg.sin(v) + 0.1
        y[()] += v


@cg.kernel
def sines(a: ndarray(f64, 1), b: ndarray(f64, 1)):
    for i in a:
        b[i] = cg.sin(a[i])


def steps(values, n):
    """Returns the results of sine_steps and their derivatives."""
    v, d = np.array(values), np.ones(len(values))
    for _ in range(n):
        v, d = np.sin(v) + 0.1, d * np.cos(v)
    return v, d


def slopes(values, n):
    """The derivative of sine_steps."""
    return steps(values, n)[1]
