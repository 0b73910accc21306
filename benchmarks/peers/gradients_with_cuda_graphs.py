# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of cuda_graphs."""

from functools import partial

import numpy as np
from gradient_problems import DAMPING, DT, STEPS, STIFFNESS, TIMES, net, starts

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
sync = cg.Device().default_stream.sync
f32, i32, vec2 = cg.f32, cg.i32, cg.vec(2, cg.f32)
ndarray = cg.types.ndarray
FUNCTIONS = {}


def put(values, dtype, needs_grad=False):
    shape = values.shape if dtype in (f32, i32) else values.shape[:-1]
    made = cg.ndarray(dtype, shape, needs_grad=needs_grad)
    made.from_numpy(values)
    return made


@cg.kernel
def known_steps(x: ndarray(f32, 1), y: ndarray(f32, 0)):
    for i in x:
        v = x[i]
        for _ in range(STEPS):
            v = cg.sin(v) + 0.1
        y[()] += v


@cg.kernel
def read_steps(x: ndarray(f32, 1), n: ndarray(i32, 0), y: ndarray(f32, 0)):
    for i in x:
        v = x[i]
        for _ in range(n[()]):
            v = cg.sin(v) + 0.1
        y[()] += v


def sines(kernel, *bound):
    x, y = put(starts(), f32, True), cg.ndarray(f32, (), needs_grad=True)
    y.grad.fill(1)

    def result():
        x.grad.fill(0)
        kernel.grad(x, *bound, y)
        return x.grad.to_numpy()

    return partial(kernel.grad, x, *bound, y), result, partial(kernel, x, *bound, y)


def known():
    FUNCTIONS["known"] = known_steps
    return sines(known_steps)[:2]


def read():
    FUNCTIONS["read"] = read_steps
    return sines(read_steps, put(np.array(STEPS, np.int32), i32))[:2]


def forward():
    return sines(known_steps)[2], None


@cg.kernel
def step(
    x: ndarray(vec2, 2), v: ndarray(vec2, 2), f: ndarray(vec2, 2), left: ndarray(i32, 1), right: ndarray(i32, 1),
    rest: ndarray(f32, 1), t: i32
):  # fmt: skip
    for s in rest:
        d = x[t, right[s]] - x[t, left[s]]
        length = d.norm()
        force = d * (STIFFNESS * (length - rest[s]) / length)
        f[t, left[s]] += force
        f[t, right[s]] -= force
    for i in range(x.shape[1]):
        v[t + 1, i] = v[t, i] * DAMPING + f[t, i] * DT
        x[t + 1, i] = x[t, i] + v[t + 1, i] * DT


@cg.kernel
def measure(x: ndarray(vec2, 2), loss: ndarray(f32, 0)):
    for i in range(x.shape[1]):
        loss[()] += 0.5 * x[x.shape[0] - 1, i].dot(x[x.shape[0] - 1, i])


def springs():
    made = net()
    shape = (TIMES + 1, len(made.places))
    x, v, f = (cg.ndarray(vec2, shape, needs_grad=True) for _ in range(3))
    loss = cg.ndarray(f32, (), needs_grad=True)
    ends = put(made.left, i32), put(made.right, i32), put(made.rest, f32)
    for array, first in ((x, made.places), (v, made.velocities)):
        values = np.zeros((*shape, 2), np.float32)
        values[0] = first
        array.from_numpy(values)

    def call():
        f.fill(0)
        with cg.ad.Tape(loss=loss):
            for t in range(TIMES):
                step(x, v, f, *ends, t)
            measure(x, loss)

    return call, lambda: v.grad.to_numpy()[0]


def stacks(what):
    return FUNCTIONS[what].grad_stats.heap_bytes if what in FUNCTIONS else 0
