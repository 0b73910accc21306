# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Saves a graph that heat flows in until it hardly changes: `python save.py heat.cgg`. heat.c and heat.cpp launch it."""

import sys

import cuda_graphs as cg

Vector = cg.Array1[cg.f32]


@cg.kernel
def step(u: Vector, v: Vector, rate: cg.f32, change: Vector) -> None:
    change[0] = 0.0
    for i in range(1, u.shape[0] - 1):
        v[i] = u[i] + rate * (u[i - 1] - 2 * u[i] + u[i + 1])
    for i in range(1, u.shape[0] - 1):
        cg.atomic_max(change[0], abs(v[i] - u[i]))
        u[i] = v[i]


cells = 64
start, end = cg.ndarray(cg.f32, cells), cg.ndarray(cg.f32, cells)
v, change = cg.ndarray(cg.f32, cells), cg.ndarray(cg.f32, 1)

g = cg.GraphDef()
rate, limit = g.param("rate", cg.f32, default=0.25), g.param("limit", cg.f32, default=1e-5)
loop = g.memcpy(end, start).while_loop(
    lambda change, limit: change[0] > limit, args=(change, limit), do=True, name="steps"
)
loop.body.call(step, end, v, rate, change)
g.save(sys.argv[1], inputs={"start": start}, outputs={"end": end}, include=[v, change])
