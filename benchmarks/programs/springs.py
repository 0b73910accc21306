# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A net of masses and springs, and the gradient of its last state to the speeds at the start.

Masses are the points of a square net, with springs to their four neighbours. The loss is half the sum of the squares of
the last places. The gradient of the loss is the result. All states are kept: x[t] and v[t] are those of step t.
"""

import numpy as np

from .arrays import jax_call
from .kits import Kit, Run, Work

SIZES = {
    "small": {"n": 32, "steps": 50},
    "medium": {"n": 256, "steps": 20},
    "large": {"n": 1024, "steps": 10},
}
TOLERANCE = 1e-4
FLOAT = 4
DT, STIFFNESS, DAMPING, REST = 0.05, 20.0, 0.99, 0.95


def data(n, steps):
    places = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), -1) - (n - 1) / 2
    speeds = 0.5 * np.sin(0.7 * places[..., ::-1])
    return {"x": places.astype("f4"), "v": speeds.astype("f4"), "steps": steps}


def pulls(xp, d):
    """Return the forces of springs with the ends `d` apart, in any array library."""
    length = ((d * d).sum(-1) ** 0.5)[..., None]
    return d * (STIFFNESS * (length - REST) / length)


def step(xp, x, v):
    """Return places and speeds after a step, in any array library."""
    down, right = pulls(xp, x[1:] - x[:-1]), pulls(xp, x[:, 1:] - x[:, :-1])
    row, column = 0 * x[:1], 0 * x[:, :1]
    force = xp.concatenate([down, row], 0) - xp.concatenate([row, down], 0)
    force = force + xp.concatenate([right, column], 1) - xp.concatenate([column, right], 1)
    v = v * DAMPING + force * DT
    return x + v * DT, v


def truth(x, v, steps):
    """The adjoint of each step, written by hand in double precision."""
    x, v = x.astype("f8"), v.astype("f8")
    states = []
    for _ in range(steps):
        states.append(x)
        x, v = step(np, x, v)
    gx, gv = x.copy(), np.zeros_like(v)
    for x in reversed(states):
        gv = gv + gx * DT
        gf = gv * DT
        gx = gx + spread(x, gf)
        gv = gv * DAMPING
    return gv.astype("f4")


def spread(x, gf):
    """Return the gradient to the places from that to the forces of a step."""
    gx = np.zeros_like(x)
    every, first, last = slice(None), slice(None, -1), slice(1, None)
    for low, high in (((first, every), (last, every)), ((every, first), (every, last))):
        d, g = x[high] - x[low], gf[low] - gf[high]
        length = np.sqrt((d * d).sum(-1))[..., None]
        gd = STIFFNESS * ((1 - REST / length) * g + REST / length**3 * d * (d * g).sum(-1)[..., None])
        gx[high] += gd
        gx[low] -= gd
    return gx


def work(done, n, steps):
    """Forwards a step reads and writes places and speeds, 8 floats a mass; backwards it reads places, and reads and
    writes both gradients, 10 floats."""
    return Work(bytes=(8 + 10) * FLOAT * n * n * steps)


def smallest(done, parameters):
    return parameters | {"n": 2}


def states_of(x, v, steps):
    """Return arrays for the states, whose first states are x and v."""
    for first in (x, v):
        states = np.zeros((steps + 1, *x.shape), "f4")
        states[0] = first
        yield states


def with_cuda_graphs(kit: Kit, x, v, steps) -> Run:
    import cuda_graphs as cg

    states, number = cg.types.ndarray(cg.vec2, 3), cg.types.ndarray(cg.f32, 0)

    @cg.func
    def pull(d: cg.vec2) -> cg.vec2:
        length = cg.sqrt(d.x * d.x + d.y * d.y)
        return d * (STIFFNESS * (length - REST) / length)

    @cg.kernel
    def advance(x: states, v: states, t: cg.i32):
        for i, j in cg.ndrange(x.shape[1], x.shape[2]):
            here, force = x[t, i, j], cg.vec2(0.0)
            if i > 0:
                force += pull(x[t, i - 1, j] - here)
            if i < x.shape[1] - 1:
                force += pull(x[t, i + 1, j] - here)
            if j > 0:
                force += pull(x[t, i, j - 1] - here)
            if j < x.shape[2] - 1:
                force += pull(x[t, i, j + 1] - here)
            speed = v[t, i, j] * DAMPING + force * DT
            v[t + 1, i, j] = speed
            x[t + 1, i, j] = here + speed * DT

    @cg.kernel
    def measure(x: states, loss: number, t: cg.i32):
        for i, j in cg.ndrange(x.shape[1], x.shape[2]):
            loss[()] += 0.5 * x[t, i, j].dot(x[t, i, j])

    shape = (steps + 1, *x.shape[:2])
    places, speeds = (cg.ndarray(cg.vec2, shape, needs_grad=True) for _ in range(2))
    loss = cg.ndarray(cg.f32, (), needs_grad=True)
    for array, values in zip((places, speeds), states_of(x, v, steps)):
        array.from_numpy(values)

    with cg.capture() as builder, cg.ad.Tape(loss=loss):
        for t in range(steps):
            advance(places, speeds, t)
        measure(places, loss, steps)
    graph, stream = builder.complete(), cg.Device().default_stream
    return Run(lambda: None, lambda: graph.launch(stream), lambda: speeds.grad.to_numpy()[0])


# https://github.com/NVIDIA/warp/blob/main/warp/examples/optim/example_spring_cage.py (wp.Tape, captured)
def with_warp(kit: Kit, x, v, steps) -> Run:
    import warp as wp

    states, numbers = wp.array2d(dtype=wp.vec2), wp.array(dtype=wp.float32)

    @wp.func
    def pull(d: wp.vec2):
        length = wp.length(d)
        return d * (wp.static(STIFFNESS) * (length - wp.static(REST)) / length)

    @wp.kernel
    def advance(x: states, v: states, xn: states, vn: states):
        i, j = wp.tid()
        here = x[i, j]
        force = wp.vec2(0.0, 0.0)
        if i > 0:
            force = force + pull(x[i - 1, j] - here)
        if i < x.shape[0] - 1:
            force = force + pull(x[i + 1, j] - here)
        if j > 0:
            force = force + pull(x[i, j - 1] - here)
        if j < x.shape[1] - 1:
            force = force + pull(x[i, j + 1] - here)
        speed = v[i, j] * wp.static(DAMPING) + force * wp.static(DT)
        vn[i, j] = speed
        xn[i, j] = here + speed * wp.static(DT)

    @wp.kernel
    def measure(x: states, loss: numbers):
        i, j = wp.tid()
        wp.atomic_add(loss, 0, 0.5 * wp.dot(x[i, j], x[i, j]))

    places, speeds = (
        [wp.array(each, dtype=wp.vec2, device=kit.device, requires_grad=True) for each in states]
        for states in states_of(x, v, steps)
    )
    loss = wp.zeros(1, dtype=wp.float32, device=kit.device, requires_grad=True)

    def differentiate():
        tape = wp.Tape()
        with tape:
            for t in range(steps):
                ends = [places[t], speeds[t], places[t + 1], speeds[t + 1]]
                wp.launch(advance, x.shape[:2], inputs=ends, device=kit.device)
            wp.launch(measure, x.shape[:2], inputs=[places[steps], loss], device=kit.device)
        for array in (*places, *speeds):
            array.grad.zero_()
        tape.backward(loss)

    def result():
        return kit.get(speeds[0].grad)

    if not kit.on_gpu:  # a graph of a CPU does not record the gradient of the loss
        return Run(lambda: None, differentiate, result)
    wp.load_module(device=kit.device)
    with wp.ScopedCapture(device=kit.device) as capture:
        differentiate()
    return Run(lambda: None, lambda: wp.capture_launch(capture.graph), result)


# https://github.com/Genesis-Embodied-AI/quadrants/tree/main/python/quadrants/examples (fields, and qd.ad.Tape)
def with_quadrants(kit: Kit, x, v, steps) -> Run:
    import quadrants as qd

    n = x.shape[0]
    places, speeds = (qd.Vector.field(2, qd.f32, shape=(steps + 1, n, n), needs_grad=True) for _ in range(2))
    loss = qd.field(qd.f32, shape=(), needs_grad=True)

    @qd.func
    def pull(d):
        length = d.norm()
        return d * (STIFFNESS * (length - REST) / length)

    @qd.kernel
    def advance(t: qd.i32):
        for i, j in qd.ndrange(n, n):
            here = places[t, i, j]
            force = qd.Vector([0.0, 0.0])
            if i > 0:
                force += pull(places[t, i - 1, j] - here)
            if i < n - 1:
                force += pull(places[t, i + 1, j] - here)
            if j > 0:
                force += pull(places[t, i, j - 1] - here)
            if j < n - 1:
                force += pull(places[t, i, j + 1] - here)
            speeds[t + 1, i, j] = speeds[t, i, j] * DAMPING + force * DT
            places[t + 1, i, j] = here + speeds[t + 1, i, j] * DT

    @qd.kernel
    def measure():
        for i, j in qd.ndrange(n, n):
            loss[None] += 0.5 * places[steps, i, j].dot(places[steps, i, j])

    for field, values in zip((places, speeds), states_of(x, v, steps)):
        field.from_numpy(values)

    def call():
        with qd.ad.Tape(loss=loss):
            for t in range(steps):
                advance(t)
            measure()

    return Run(lambda: None, call, lambda: speeds.grad.to_numpy()[0])


# https://docs.jax.dev/en/latest/_autosummary/jax.grad.html
def with_jax(kit: Kit, x, v, steps) -> Run:
    import jax
    import jax.numpy as jnp

    def loss(speeds, places):
        last = jax.lax.scan(lambda now, _: (step(jnp, *now), None), (places, speeds), None, length=steps)[0][
            0
        ]
        return 0.5 * (last * last).sum()

    gradient = jax.jit(lambda state, fixed: (jax.grad(loss)(*state),))
    return jax_call(kit, gradient, (v, x), ())


# https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html, and autograd
def with_torch(kit: Kit, x, v, steps) -> Run:
    import torch

    compiled = torch.compile(lambda x, v: step(torch, x, v), dynamic=False)
    places, speeds = kit.put(x), kit.put(v).requires_grad_()

    def call():
        speeds.grad = None
        now = places, speeds
        for _ in range(steps):
            now = compiled(*now)
        (0.5 * (now[0] * now[0]).sum()).backward()

    return Run(lambda: None, call, lambda: kit.get(speeds.grad))
