# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of Quadrants, on its CPU or CUDA backend. They use fields, whose gradients the tapes clear."""

import numpy as np
import quadrants as qd
from gradient_problems import DAMPING, DT, NUMBERS, SIDE, STEPS, STIFFNESS, TIMES, net, starts

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
qd.init(
    arch=qd.cuda if cg.driver_info().kind == "cuda" else qd.cpu,
    fast_math=False,
    offline_cache=False,
    log_level=qd.ERROR,
    ad_stack_experimental_enabled=True,
)
sync = qd.sync
MASSES, SPRINGS = SIDE * SIDE, 2 * SIDE * (SIDE - 1)
# Fields are laid out once, when the first kernel runs.
numbers = qd.field(qd.f32, (NUMBERS,), needs_grad=True)
total = qd.field(qd.f32, (), needs_grad=True)
count = qd.field(qd.i32, ())
x, v, f = (qd.Vector.field(2, qd.f32, (TIMES + 1, MASSES), needs_grad=True) for _ in range(3))
left, right, rest = (qd.field(dtype, (SPRINGS,)) for dtype in (qd.i32, qd.i32, qd.f32))
loss = qd.field(qd.f32, (), needs_grad=True)


@qd.kernel
def known_steps():
    for i in numbers:
        w = numbers[i]
        for _ in range(STEPS):
            w = qd.sin(w) + 0.1
        total[None] += w


@qd.kernel
def read_steps():
    for i in numbers:
        w = numbers[i]
        for _ in range(count[None]):
            w = qd.sin(w) + 0.1
        total[None] += w


def sines(kernel):
    numbers.from_numpy(starts())
    count[None] = STEPS
    total.grad[None] = 1.0

    def result():
        numbers.grad.fill(0)
        kernel.grad()
        return numbers.grad.to_numpy()

    return kernel.grad, result


def known():
    return sines(known_steps)


def read():
    return sines(read_steps)


def forward():
    sines(known_steps)
    return known_steps, None


@qd.kernel
def step(t: qd.i32):
    for s in rest:
        d = x[t, right[s]] - x[t, left[s]]
        length = d.norm()
        force = d * (STIFFNESS * (length - rest[s]) / length)
        f[t, left[s]] += force
        f[t, right[s]] -= force
    for i in range(MASSES):
        v[t + 1, i] = v[t, i] * DAMPING + f[t, i] * DT
        x[t + 1, i] = x[t, i] + v[t + 1, i] * DT


@qd.kernel
def measure():
    for i in range(MASSES):
        loss[None] += 0.5 * x[TIMES, i].dot(x[TIMES, i])


def springs():
    made = net()
    for array, first in ((x, made.places), (v, made.velocities)):
        values = np.zeros((TIMES + 1, MASSES, 2), np.float32)
        values[0] = first
        array.from_numpy(values)
    for array, values in ((left, made.left), (right, made.right), (rest, made.rest)):
        array.from_numpy(values)

    def call():
        f.fill(0)
        with qd.ad.Tape(loss=loss):
            for t in range(TIMES):
                step(t)
            measure()

    return call, lambda: v.grad.to_numpy()[0]


def stacks(what):
    """Return None: Quadrants does not report the size of its stacks."""
