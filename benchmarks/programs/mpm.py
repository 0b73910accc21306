# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A block of water in two dimensions by the moving least squares material point method (Hu et al., 2018).

A step moves mass and momentum of particles to a grid by quadratic weights on 3 x 3 nodes, changes the speeds there, and
moves them back. The state is an array of eight floats a particle: place, speed, affine field of speeds; and an array of
ratios of volume. The result is the places.
"""

from functools import partial

import numpy as np

from .arrays import cupy_run, jax_run, numpy_result, torch_run
from .kits import Kit, Run, Work

SIZES = {
    "small": {"grid": 64, "count": 1 << 12, "steps": 50},
    "medium": {"grid": 256, "count": 1 << 16, "steps": 20},
    "large": {"grid": 1024, "count": 1 << 20, "steps": 10},
}
TOLERANCE = 1e-4
FLOAT = 4
STIFFNESS = 400.0
GRAVITY = 9.8
WALL = 3  # nodes at each side that hold no water
NODES = tuple((i, j) for i in range(3) for j in range(3))


def data(grid, count, steps):
    """A square of particles that falls, with random speeds; the time step shrinks with the nodes."""
    random = np.random.default_rng(12)
    places = random.uniform(0.3, 0.7, (count, 2))
    state = np.concatenate([places, random.uniform(-1, 1, (count, 2)), np.zeros((count, 4))], 1)
    return {"state": state.astype("f4"), "grid": grid, "steps": steps}


def constants(grid):
    """Return dx, dt, volume and mass of a particle."""
    dx = 1 / grid
    return dx, 0.0128 * dx, (0.5 * dx) ** 2, (0.5 * dx) ** 2


def step(grid, add, xp, state, ratio, nodes):
    """Return the particles after a step, in any array library.

    `add(array, at, values)` adds to rows of an array; `nodes` is i and j of each node of the grid.
    """
    dx, dt, volume, mass = constants(grid)
    x, v, c = state[:, 0:2], state[:, 2:4], state[:, 4:8]
    base = whole(xp, x / dx - 0.5)
    offset = x / dx - base
    w = (0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2)
    pressure = -dt * 4.0 * STIFFNESS * volume * (ratio - 1.0) / dx**2
    cells = whole(xp, base[:, 0]) * grid + whole(xp, base[:, 1])
    sums = 0.0 * nodes[:, [0, 0, 0]]
    for i, j in NODES:
        weight = w[i][:, 0] * w[j][:, 1]
        ax, ay = (i - offset[:, 0]) * dx, (j - offset[:, 1]) * dx
        px = mass * v[:, 0] + (pressure + mass * c[:, 0]) * ax + mass * c[:, 1] * ay
        py = mass * v[:, 1] + mass * c[:, 2] * ax + (pressure + mass * c[:, 3]) * ay
        parts = xp.stack([weight * px, weight * py, weight * mass], 1)
        sums = add(sums, cells + (i * grid + j), parts)
    filled = sums[:, 2] > 0
    total = xp.where(filled, sums[:, 2], 0.0 * sums[:, 2] + 1.0)
    vx, vy = sums[:, 0] / total, sums[:, 1] / total - dt * GRAVITY
    low, high = nodes < WALL, nodes > grid - WALL
    vx = xp.where(low[:, 0] & (vx < 0) | high[:, 0] & (vx > 0), 0 * vx, vx)
    vy = xp.where(low[:, 1] & (vy < 0) | high[:, 1] & (vy > 0), 0 * vy, vy)
    new, affine = [0.0, 0.0], [0.0, 0.0, 0.0, 0.0]
    for i, j in NODES:
        weight = w[i][:, 0] * w[j][:, 1]
        at = cells + (i * grid + j)
        ux, uy = weight * vx[at], weight * vy[at]
        dx_, dy_ = (i - offset[:, 0]) * (4.0 / dx), (j - offset[:, 1]) * (4.0 / dx)
        new = [new[0] + ux, new[1] + uy]
        affine = [affine[0] + ux * dx_, affine[1] + ux * dy_, affine[2] + uy * dx_, affine[3] + uy * dy_]
    places = [x[:, 0] + dt * new[0], x[:, 1] + dt * new[1]]
    return xp.stack([*places, *new, *affine], 1), ratio * (1.0 + dt * (affine[0] + affine[3]))


def whole(xp, numbers):
    """Return positive numbers rounded down, as the type of indices of a library."""
    return numbers.long() if hasattr(numbers, "long") else numbers.astype("i4")


def nodes_of(grid):
    return (
        np.stack(np.meshgrid(np.arange(grid), np.arange(grid), indexing="ij"), -1).reshape(-1, 2).astype("f4")
    )


def add_numpy(array, at, values):
    np.add.at(array, at, values)
    return array


def truth(state, grid, steps):
    """Computed in double precision."""
    ratio = np.ones(len(state))
    return numpy_result(
        partial(step, grid, add_numpy), [state.astype("f8"), ratio], steps, [nodes_of(grid).astype("f8")]
    )[0][:, :2].astype("f4")


def work(done, grid, count, steps):
    """A step reads and writes the nine floats of a particle, and writes and reads three floats of a node."""
    return Work(bytes=2 * FLOAT * (9 * count + 3 * grid**2) * steps)


def smallest(done, parameters):
    return parameters | {"grid": 8, "count": 1}


def with_cuda_graphs(kit: Kit, state, grid, steps) -> Run:
    import cuda_graphs as cg

    dx, dt, volume, mass = constants(grid)
    particles, ratios, count = (
        cg.types.ndarray(cg.f32, 2),
        cg.types.ndarray(cg.f32, 1),
        cg.types.ndarray(cg.i32, 0),
    )

    @cg.func
    def weights(offset):
        return 0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2

    @cg.kernel(graph=True)
    def flow(state: particles, ratio: ratios, sums: particles, left: count):
        while cg.graph_while(left[()] > 0):
            for node in range(grid * grid):
                for d in cg.static(range(3)):
                    sums[node, d] = 0.0
            for p in ratio:
                x = cg.vec2(state[p, 0], state[p, 1])
                v = cg.vec2(state[p, 2], state[p, 3])
                c = cg.mat2(state[p, 4], state[p, 5], state[p, 6], state[p, 7])
                base = (x / dx - 0.5).cast(cg.i32)
                offset = x / dx - base.cast(cg.f32)
                w = weights(offset)
                pressure = -dt * 4.0 * STIFFNESS * volume * (ratio[p] - 1.0) / (dx * dx)
                push = cg.mat2(pressure, 0.0, 0.0, pressure) + mass * c
                for i, j in cg.static(cg.ndrange(3, 3)):
                    way = (cg.vec2(i, j) - offset) * dx
                    weight = w[i].x * w[j].y
                    momentum = weight * (mass * v + push @ way)
                    node = (base.x + i) * grid + base.y + j
                    sums[node, 0] += momentum.x
                    sums[node, 1] += momentum.y
                    sums[node, 2] += weight * mass
            for i, j in cg.ndrange(grid, grid):
                node = i * grid + j
                if sums[node, 2] > 0:
                    v = cg.vec2(sums[node, 0], sums[node, 1]) / sums[node, 2] - cg.vec2(0.0, dt * GRAVITY)
                    if (i < WALL and v.x < 0) or (i > grid - WALL and v.x > 0):
                        v.x = 0.0
                    if (j < WALL and v.y < 0) or (j > grid - WALL and v.y > 0):
                        v.y = 0.0
                    sums[node, 0] = v.x
                    sums[node, 1] = v.y
            for p in ratio:
                x = cg.vec2(state[p, 0], state[p, 1])
                base = (x / dx - 0.5).cast(cg.i32)
                offset = x / dx - base.cast(cg.f32)
                w = weights(offset)
                v, c = cg.vec2(0.0), cg.mat2(0.0)
                for i, j in cg.static(cg.ndrange(3, 3)):
                    node = (base.x + i) * grid + base.y + j
                    part = w[i].x * w[j].y * cg.vec2(sums[node, 0], sums[node, 1])
                    v += part
                    c += cg.outer(part, cg.vec2(i, j) - offset) * (4.0 / dx)
                x += dt * v
                for d in cg.static(range(2)):
                    state[p, d] = x[d]
                    state[p, 2 + d] = v[d]
                    for e in cg.static(range(2)):
                        state[p, 4 + 2 * d + e] = c[d, e]
                ratio[p] *= 1.0 + dt * c.trace()
            left[()] -= 1

    now, ratio = kit.put(state), cg.ndarray(cg.f32, len(state))
    sums, left = cg.ndarray(cg.f32, (grid * grid, 3)), cg.ndarray(cg.i32, ())

    def reset():
        now.from_numpy(state)
        ratio.fill(1.0)
        left.fill(steps)

    return Run(reset, lambda: flow(now, ratio, sums, left), lambda: kit.get(now)[:, :2])


def repeated(kit: Kit, state, grid, steps, advance) -> Run:
    """Return a run of `advance(state, ratio, sums)`, which changes all three."""
    ones, empty = np.ones(len(state), "f4"), np.zeros((grid * grid, 3), "f4")
    now, ratio, sums = kit.put(state), kit.put(ones), kit.put(empty)

    def reset():
        kit.write(now, state)
        kit.write(ratio, ones)

    def call():
        for _ in range(steps):
            advance(now, ratio, sums)

    return Run(reset, call, lambda: kit.get(now)[:, :2])


# https://numba.readthedocs.io/en/stable/user/parallel.html. It has no atomics on a CPU: one thread fills the grid
def with_numba(kit: Kit, state, grid, steps) -> Run:
    from numba import njit, prange

    dx, dt, volume, mass = (np.float32(each) for each in constants(grid))
    f32 = np.float32
    inverse, four, stiffness = f32(1) / dx, f32(4) / dx, f32(4 * STIFFNESS) / (dx * dx)
    half, one, one_half, part = f32(0.5), f32(1), f32(1.5), f32(0.75)

    @njit
    def weights(offset):
        return half * (one_half - offset) ** 2, part - (offset - one) ** 2, half * (offset - half) ** 2

    @njit
    def scatter(state, ratio, sums):
        for p in range(ratio.shape[0]):
            bi, bj = int(state[p, 0] * inverse - half), int(state[p, 1] * inverse - half)
            ox, oy = state[p, 0] * inverse - f32(bi), state[p, 1] * inverse - f32(bj)
            wx, wy = weights(ox), weights(oy)
            pressure = -dt * volume * stiffness * (ratio[p] - one)
            for i in range(3):
                for j in range(3):
                    weight = wx[i] * wy[j]
                    ax, ay = (f32(i) - ox) * dx, (f32(j) - oy) * dx
                    node = (bi + i) * grid + bj + j
                    px = mass * state[p, 2] + (pressure + mass * state[p, 4]) * ax + mass * state[p, 5] * ay
                    py = mass * state[p, 3] + mass * state[p, 6] * ax + (pressure + mass * state[p, 7]) * ay
                    sums[node, 0] += weight * px
                    sums[node, 1] += weight * py
                    sums[node, 2] += weight * mass

    @njit(parallel=True)
    def advance(state, ratio, sums):
        for node in prange(grid * grid):
            for d in range(3):
                sums[node, d] = 0
        scatter(state, ratio, sums)
        for node in prange(grid * grid):
            i, j = node // grid, node % grid
            if sums[node, 2] > 0:
                vx, vy = sums[node, 0] / sums[node, 2], sums[node, 1] / sums[node, 2] - dt * f32(GRAVITY)
                if (i < WALL and vx < 0) or (i > grid - WALL and vx > 0):
                    vx = f32(0)
                if (j < WALL and vy < 0) or (j > grid - WALL and vy > 0):
                    vy = f32(0)
                sums[node, 0] = vx
                sums[node, 1] = vy
        for p in prange(ratio.shape[0]):
            bi, bj = int(state[p, 0] * inverse - half), int(state[p, 1] * inverse - half)
            ox, oy = state[p, 0] * inverse - f32(bi), state[p, 1] * inverse - f32(bj)
            wx, wy = weights(ox), weights(oy)
            vx, vy, a, b, c, d = f32(0), f32(0), f32(0), f32(0), f32(0), f32(0)
            for i in range(3):
                for j in range(3):
                    weight, node = wx[i] * wy[j], (bi + i) * grid + bj + j
                    ux, uy = weight * sums[node, 0], weight * sums[node, 1]
                    ax, ay = (f32(i) - ox) * four, (f32(j) - oy) * four
                    vx += ux
                    vy += uy
                    a += ux * ax
                    b += ux * ay
                    c += uy * ax
                    d += uy * ay
            state[p, 0] += dt * vx
            state[p, 1] += dt * vy
            state[p, 2], state[p, 3] = vx, vy
            state[p, 4], state[p, 5], state[p, 6], state[p, 7] = a, b, c, d
            ratio[p] *= one + dt * (a + d)

    return repeated(kit, state, grid, steps, advance)


# https://numba.readthedocs.io/en/stable/cuda/examples.html (atomics)
def with_numba_cuda(kit: Kit, state, grid, steps) -> Run:
    from numba import cuda

    dx, dt, volume, mass = (np.float32(each) for each in constants(grid))
    f32 = np.float32
    inverse, four, stiffness = f32(1) / dx, f32(4) / dx, f32(4 * STIFFNESS) / (dx * dx)
    half, one, one_half, part = f32(0.5), f32(1), f32(1.5), f32(0.75)
    nodes, particles, block = grid * grid, len(state), 128

    @cuda.jit(device=True)
    def weights(offset):
        below, near, above = one_half - offset, offset - one, offset - half
        return half * below * below, part - near * near, half * above * above

    @cuda.jit
    def clear(sums):
        node = cuda.grid(1)
        if node < nodes:
            for d in range(3):
                sums[node, d] = 0

    @cuda.jit
    def scatter(state, ratio, sums):
        p = cuda.grid(1)
        if p < particles:
            bi, bj = int(state[p, 0] * inverse - half), int(state[p, 1] * inverse - half)
            ox, oy = state[p, 0] * inverse - f32(bi), state[p, 1] * inverse - f32(bj)
            wx, wy = weights(ox), weights(oy)
            pressure = -dt * volume * stiffness * (ratio[p] - one)
            for i in range(3):
                for j in range(3):
                    weight = wx[i] * wy[j]
                    ax, ay = (f32(i) - ox) * dx, (f32(j) - oy) * dx
                    node = (bi + i) * grid + bj + j
                    px = mass * state[p, 2] + (pressure + mass * state[p, 4]) * ax + mass * state[p, 5] * ay
                    py = mass * state[p, 3] + mass * state[p, 6] * ax + (pressure + mass * state[p, 7]) * ay
                    cuda.atomic.add(sums, (node, 0), weight * px)
                    cuda.atomic.add(sums, (node, 1), weight * py)
                    cuda.atomic.add(sums, (node, 2), weight * mass)

    @cuda.jit
    def change(sums):
        node = cuda.grid(1)
        i, j = node // grid, node % grid
        if node < nodes and sums[node, 2] > 0:
            vx, vy = sums[node, 0] / sums[node, 2], sums[node, 1] / sums[node, 2] - dt * f32(GRAVITY)
            if (i < WALL and vx < 0) or (i > grid - WALL and vx > 0):
                vx = f32(0)
            if (j < WALL and vy < 0) or (j > grid - WALL and vy > 0):
                vy = f32(0)
            sums[node, 0] = vx
            sums[node, 1] = vy

    @cuda.jit
    def gather(state, ratio, sums):
        p = cuda.grid(1)
        if p < particles:
            bi, bj = int(state[p, 0] * inverse - half), int(state[p, 1] * inverse - half)
            ox, oy = state[p, 0] * inverse - f32(bi), state[p, 1] * inverse - f32(bj)
            wx, wy = weights(ox), weights(oy)
            vx, vy, a, b, c, d = f32(0), f32(0), f32(0), f32(0), f32(0), f32(0)
            for i in range(3):
                for j in range(3):
                    weight, node = wx[i] * wy[j], (bi + i) * grid + bj + j
                    ux, uy = weight * sums[node, 0], weight * sums[node, 1]
                    ax, ay = (f32(i) - ox) * four, (f32(j) - oy) * four
                    vx += ux
                    vy += uy
                    a += ux * ax
                    b += ux * ay
                    c += uy * ax
                    d += uy * ay
            state[p, 0] += dt * vx
            state[p, 1] += dt * vy
            state[p, 2], state[p, 3] = vx, vy
            state[p, 4], state[p, 5], state[p, 6], state[p, 7] = a, b, c, d
            ratio[p] *= one + dt * (a + d)

    of_nodes, of_particles = (nodes + block - 1) // block, (particles + block - 1) // block

    def advance(state, ratio, sums):
        clear[of_nodes, block](sums)
        scatter[of_particles, block](state, ratio, sums)
        change[of_nodes, block](sums)
        gather[of_particles, block](state, ratio, sums)

    return repeated(kit, state, grid, steps, advance)


# https://github.com/NVIDIA/warp/blob/main/warp/examples/core/example_sph.py (particles; arrays of vectors and matrices)
def with_warp(kit: Kit, state, grid, steps) -> Run:
    import warp as wp

    dx, dt, volume, mass = constants(grid)
    scale = -dt * 4.0 * STIFFNESS * volume / (dx * dx)
    points, fields, floats, sums_of = (
        wp.array(dtype=each) for each in (wp.vec2, wp.mat22, wp.float32, wp.vec3)
    )
    table = wp.types.matrix(shape=(3, 2), dtype=wp.float32)

    @wp.func
    def weights(o: wp.vec2):
        return table(
            0.5 * (1.5 - o[0]) * (1.5 - o[0]), 0.5 * (1.5 - o[1]) * (1.5 - o[1]),
            0.75 - (o[0] - 1.0) * (o[0] - 1.0), 0.75 - (o[1] - 1.0) * (o[1] - 1.0),
            0.5 * (o[0] - 0.5) * (o[0] - 0.5), 0.5 * (o[1] - 0.5) * (o[1] - 0.5),
        )  # fmt: skip

    @wp.kernel
    def scatter(x: points, v: points, c: fields, ratio: floats, sums: sums_of):
        p = wp.tid()
        at = x[p] / wp.static(dx)
        bi = int(at[0] - 0.5)
        bj = int(at[1] - 0.5)
        offset = wp.vec2(at[0] - float(bi), at[1] - float(bj))
        w = weights(offset)
        pressure = wp.static(scale) * (ratio[p] - 1.0)
        push = wp.mat22(pressure, 0.0, 0.0, pressure) + wp.static(mass) * c[p]
        for i in range(3):
            for j in range(3):
                way = (wp.vec2(float(i), float(j)) - offset) * wp.static(dx)
                weight = w[i, 0] * w[j, 1]
                momentum = weight * (wp.static(mass) * v[p] + push * way)
                node = (bi + i) * wp.static(grid) + bj + j
                wp.atomic_add(sums, node, wp.vec3(momentum[0], momentum[1], weight * wp.static(mass)))

    @wp.kernel
    def change(sums: sums_of):
        node = wp.tid()
        i = node / wp.static(grid)
        j = node % wp.static(grid)
        s = sums[node]
        if s[2] > 0.0:
            vx = s[0] / s[2]
            vy = s[1] / s[2] - wp.static(dt * GRAVITY)
            if (i < wp.static(WALL) and vx < 0.0) or (i > wp.static(grid - WALL) and vx > 0.0):
                vx = 0.0
            if (j < wp.static(WALL) and vy < 0.0) or (j > wp.static(grid - WALL) and vy > 0.0):
                vy = 0.0
            sums[node] = wp.vec3(vx, vy, s[2])

    @wp.kernel
    def gather(x: points, v: points, c: fields, ratio: floats, sums: sums_of):
        p = wp.tid()
        at = x[p] / wp.static(dx)
        bi = int(at[0] - 0.5)
        bj = int(at[1] - 0.5)
        offset = wp.vec2(at[0] - float(bi), at[1] - float(bj))
        w = weights(offset)
        speed = wp.vec2(0.0, 0.0)
        affine = wp.mat22(0.0, 0.0, 0.0, 0.0)
        for i in range(3):
            for j in range(3):
                s = sums[(bi + i) * wp.static(grid) + bj + j]
                part = w[i, 0] * w[j, 1] * wp.vec2(s[0], s[1])
                speed += part
                affine += wp.outer(part, wp.vec2(float(i), float(j)) - offset) * wp.static(4.0 / dx)
        x[p] = x[p] + wp.static(dt) * speed
        v[p] = speed
        c[p] = affine
        ratio[p] = ratio[p] * (1.0 + wp.static(dt) * wp.trace(affine))

    first = state[:, 0:2], state[:, 2:4], state[:, 4:8].reshape(-1, 2, 2), np.ones(len(state), "f4")
    kinds = wp.vec2, wp.vec2, wp.mat22, wp.float32
    arrays = [wp.array(np.ascontiguousarray(a), dtype=k, device=kit.device) for a, k in zip(first, kinds)]
    sums = wp.zeros(grid * grid, dtype=wp.vec3, device=kit.device)
    wp.load_module(device=kit.device)
    with wp.ScopedCapture(device=kit.device) as capture:
        for _ in range(steps):
            sums.zero_()
            wp.launch(scatter, len(state), inputs=[*arrays, sums], device=kit.device)
            wp.launch(change, grid * grid, inputs=[sums], device=kit.device)
            wp.launch(gather, len(state), inputs=[*arrays, sums], device=kit.device)

    def reset():
        for array, values in zip(arrays, first):
            kit.write(array, np.ascontiguousarray(values))

    return Run(reset, partial(wp.capture_launch, capture.graph), lambda: kit.get(arrays[0]))


# https://github.com/Genesis-Embodied-AI/quadrants/tree/main/python/quadrants/examples (mpm88)
def with_quadrants(kit: Kit, state, grid, steps) -> Run:
    import quadrants as qd

    dx, dt, volume, mass = constants(grid)
    particles, ratios = qd.types.ndarray(qd.f32, 2), qd.types.ndarray(qd.f32, 1)

    @qd.kernel
    def advance(state: particles, ratio: ratios, sums: particles):
        for node in range(grid * grid):
            for d in qd.static(range(3)):
                sums[node, d] = 0.0
        for p in range(ratio.shape[0]):
            x, v = qd.Vector([state[p, 0], state[p, 1]]), qd.Vector([state[p, 2], state[p, 3]])
            c = qd.Matrix([[state[p, 4], state[p, 5]], [state[p, 6], state[p, 7]]])
            base = (x / dx - 0.5).cast(qd.i32)
            offset = x / dx - base.cast(qd.f32)
            w = [0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2]
            pressure = -dt * 4.0 * STIFFNESS * volume * (ratio[p] - 1.0) / (dx * dx)
            push = qd.Matrix([[pressure, 0.0], [0.0, pressure]]) + mass * c
            for i, j in qd.static(qd.ndrange(3, 3)):
                way = (qd.Vector([i, j]) - offset) * dx
                weight = w[i][0] * w[j][1]
                momentum = weight * (mass * v + push @ way)
                node = (base[0] + i) * grid + base[1] + j
                sums[node, 0] += momentum[0]
                sums[node, 1] += momentum[1]
                sums[node, 2] += weight * mass
        for i, j in qd.ndrange(grid, grid):
            node = i * grid + j
            if sums[node, 2] > 0:
                vx, vy = sums[node, 0] / sums[node, 2], sums[node, 1] / sums[node, 2] - dt * GRAVITY
                if (i < WALL and vx < 0) or (i > grid - WALL and vx > 0):
                    vx = 0.0
                if (j < WALL and vy < 0) or (j > grid - WALL and vy > 0):
                    vy = 0.0
                sums[node, 0] = vx
                sums[node, 1] = vy
        for p in range(ratio.shape[0]):
            x = qd.Vector([state[p, 0], state[p, 1]])
            base = (x / dx - 0.5).cast(qd.i32)
            offset = x / dx - base.cast(qd.f32)
            w = [0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2]
            v, c = qd.Vector([0.0, 0.0]), qd.Matrix([[0.0, 0.0], [0.0, 0.0]])
            for i, j in qd.static(qd.ndrange(3, 3)):
                node = (base[0] + i) * grid + base[1] + j
                part = w[i][0] * w[j][1] * qd.Vector([sums[node, 0], sums[node, 1]])
                v += part
                c += part.outer_product(qd.Vector([i, j]) - offset) * (4.0 / dx)
            for d in qd.static(range(2)):
                state[p, d] += dt * v[d]
                state[p, 2 + d] = v[d]
                for e in qd.static(range(2)):
                    state[p, 4 + 2 * d + e] = c[d, e]
            ratio[p] *= 1.0 + dt * (c[0, 0] + c[1, 1])

    return repeated(kit, state, grid, steps, advance)


def places_of(run: Run) -> Run:
    """Return a run of an array library, whose state begins with the places."""
    return run._replace(result=lambda: run.result()[:, :2])


# https://docs.cupy.dev/en/stable/reference/generated/cupy.ufunc.html (at)
def with_cupy(kit: Kit, state, grid, steps) -> Run:
    import cupy

    def add(array, at, values):
        cupy.add.at(array, at, values)
        return array

    first = [state, np.ones(len(state), "f4")]
    return places_of(cupy_run(kit, partial(step, grid, add), first, steps, [nodes_of(grid)]))


# https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html
def with_jax(kit: Kit, state, grid, steps) -> Run:
    def add(array, at, values):
        return array.at[at].add(values)

    first = [state, np.ones(len(state), "f4")]
    return places_of(jax_run(kit, partial(step, grid, add), first, steps, [nodes_of(grid)]))


# https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html
def with_torch(kit: Kit, state, grid, steps) -> Run:
    def add(array, at, values):
        return array.index_add(0, at, values)

    first = [state, np.ones(len(state), "f4")]
    return places_of(torch_run(kit, partial(step, grid, add), first, steps, [nodes_of(grid)]))
