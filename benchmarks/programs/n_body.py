# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Bodies that attract each other, all pairs, by leapfrog steps. The result is the places.

Speeds are kicked by a half step, places drift, and speeds are kicked again; the two kicks between drifts are one.
"""

import numpy as np

from .arrays import jax_run, numpy_result, torch_run
from .kits import Kit, Run, Work

SIZES = {
    "small": {"n": 512, "steps": 50},
    "medium": {"n": 4096, "steps": 10},
    "large": {"n": 16384, "steps": 2},
}
TOLERANCE = 1e-4
DT = 1e-3
SOFT = 1e-3  # square of the length below which attraction is softened
OPERATIONS = 20  # of a pair, a square root and a division counted as one each
BLOCK = 128


def data(n, steps):
    random = np.random.default_rng(5)
    return {
        "x": random.random((n, 3), "f4"),
        "v": random.random((n, 3), "f4") - np.float32(0.5),
        "steps": steps,
    }


def step(xp, x, v):
    """Return places and speeds after a drift and a kick, in any array library. Masses are 1 / n."""
    x = x + DT * v
    away = x[None, :, :] - x[:, None, :]
    square = (away * away).sum(-1) + SOFT
    pull = away / (square * square**0.5)[:, :, None]
    return x, v + (DT / x.shape[0]) * pull.sum(1)


def truth(x, v, steps):
    """Computed in double precision, as the order of sums differs between contestants."""
    return numpy_result(step, [x.astype("f8"), v.astype("f8")], steps)[0].astype("f4")


def work(done, n, steps):
    return Work(flops=OPERATIONS * n * n * steps)


def smallest(done, parameters):
    return parameters | {"n": 2}


def drift_of(cg):
    """Return the function that moves the bodies, in a loop of its own."""

    @cg.func
    def drift(x, v):
        for i in range(x.shape[0]):
            for d in cg.static(range(3)):
                x[i, d] += DT * v[i, d]

    return drift


def plain_kernel(cg):
    """Return the kernel for a CPU. Neighbouring bodies are lanes of vectors."""
    points, count, drift = cg.types.ndarray(cg.f32, 2), cg.types.ndarray(cg.i32, 0), drift_of(cg)

    @cg.kernel(graph=True)
    def simulate(x: points, v: points, left: count):
        while cg.graph_while(left[()] > 0):
            n = x.shape[0]
            drift(x, v)
            for i in range(n):
                px, py, pz = x[i, 0], x[i, 1], x[i, 2]
                fx, fy, fz = 0.0, 0.0, 0.0
                for j in range(n):
                    dx, dy, dz = x[j, 0] - px, x[j, 1] - py, x[j, 2] - pz
                    square = dx * dx + dy * dy + dz * dz + SOFT
                    pull = 1.0 / (square * cg.sqrt(square))
                    fx += dx * pull
                    fy += dy * pull
                    fz += dz * pull
                kick = DT / cg.f32(n)
                v[i, 0] += kick * fx
                v[i, 1] += kick * fy
                v[i, 2] += kick * fz
            left[()] -= 1

    return simulate


def warp_kernel(cg, bodies):
    """Return the kernel for a GPU. A warp has some bodies, and its lanes share all the others."""
    points, count, drift = cg.types.ndarray(cg.f32, 2), cg.types.ndarray(cg.i32, 0), drift_of(cg)

    @cg.kernel(graph=True, fast_math=True)
    def simulate(x: points, v: points, left: count):
        while cg.graph_while(left[()] > 0):
            n = x.shape[0]
            drift(x, v)
            for block, thread in cg.blocks((n + 8 * bodies - 1) // (8 * bodies), 256):
                first = (block * 8 + thread // 32) * bodies
                own, force = cg.types.mat(bodies, 3, cg.f32)(0.0), cg.types.mat(bodies, 3, cg.f32)(0.0)
                for b, d in cg.static(cg.ndrange(bodies, 3)):
                    own[b, d] = x[min(first + b, n - 1), d]
                for j in range(thread % 32, n, 32):
                    other = cg.vec3(x[j, 0], x[j, 1], x[j, 2])
                    for b in cg.static(range(bodies)):
                        dx, dy, dz = other[0] - own[b, 0], other[1] - own[b, 1], other[2] - own[b, 2]
                        pull = cg.rsqrt(dx * dx + dy * dy + dz * dz + SOFT)
                        pull *= pull * pull
                        force[b, 0] += dx * pull
                        force[b, 1] += dy * pull
                        force[b, 2] += dz * pull
                for b, d in cg.static(cg.ndrange(bodies, 3)):
                    total = cg.warp.reduce_add(force[b, d])
                    if thread % 32 == 0 and first + b < n:
                        v[first + b, d] += DT / cg.f32(n) * total
            left[()] -= 1

    return simulate


def with_cuda_graphs(kit: Kit, x, v, steps) -> Run:
    import cuda_graphs as cg

    # More bodies in a warp read the others less often, but with few bodies the GPU has too few warps.
    simulate = warp_kernel(cg, 4 if len(x) > 8192 else 1) if kit.on_gpu else plain_kernel(cg)
    places, speeds, left = kit.put(x), kit.put(v), cg.ndarray(cg.i32, ())

    def reset():
        places.from_numpy(x)
        speeds.from_numpy(v)
        left.fill(steps)

    return Run(reset, lambda: simulate(places, speeds, left), lambda: kit.get(places))


def repeated(kit: Kit, x, v, steps, advance) -> Run:
    """Return a run of a function that advances places and speeds."""
    places, speeds = kit.put(x), kit.put(v)

    def reset():
        kit.write(places, x)
        kit.write(speeds, v)

    def call():
        for _ in range(steps):
            advance(places, speeds)

    return Run(reset, call, lambda: kit.get(places))


# https://numba.readthedocs.io/en/stable/user/parallel.html
def with_numba(kit: Kit, x, v, steps) -> Run:
    from numba import njit, prange

    dt, soft, one = np.float32(DT), np.float32(SOFT), np.float32(1)

    @njit(parallel=True, error_model="numpy")
    def advance(x, v):
        n = x.shape[0]
        for i in prange(n):
            for d in range(3):
                x[i, d] += dt * v[i, d]
        for i in prange(n):
            fx, fy, fz = np.float32(0), np.float32(0), np.float32(0)
            for j in range(n):
                dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                square = dx * dx + dy * dy + dz * dz + soft
                pull = one / (square * np.sqrt(square))
                fx += dx * pull
                fy += dy * pull
                fz += dz * pull
            kick = dt / np.float32(n)
            v[i, 0] += kick * fx
            v[i, 1] += kick * fy
            v[i, 2] += kick * fz

    return repeated(kit, x, v, steps, advance)


# https://numba.readthedocs.io/en/stable/cuda/examples.html (matrix multiplication with shared memory)
def with_numba_cuda(kit: Kit, x, v, steps) -> Run:
    from math import sqrt

    from numba import cuda, float32

    dt, soft, one = np.float32(DT), np.float32(SOFT), np.float32(1)

    @cuda.jit
    def drift(x, v):
        i = cuda.grid(1)
        if i < x.shape[0]:
            for d in range(3):
                x[i, d] += dt * v[i, d]

    @cuda.jit
    def kick(x, v):
        """Bodies come in tiles through shared memory. The number of bodies is a multiple of the block, or less."""
        tile = cuda.shared.array((BLOCK, 3), float32)
        i, own, n = cuda.grid(1), cuda.threadIdx.x, x.shape[0]
        me = min(i, n - 1)
        px, py, pz = x[me, 0], x[me, 1], x[me, 2]
        fx, fy, fz = float32(0), float32(0), float32(0)
        for begin in range(0, n, BLOCK):
            cuda.syncthreads()
            if begin + own < n:
                for d in range(3):
                    tile[own, d] = x[begin + own, d]
            cuda.syncthreads()
            for j in range(min(BLOCK, n - begin)):
                dx, dy, dz = tile[j, 0] - px, tile[j, 1] - py, tile[j, 2] - pz
                square = dx * dx + dy * dy + dz * dz + soft
                pull = one / (square * float32(sqrt(square)))
                fx += dx * pull
                fy += dy * pull
                fz += dz * pull
        if i < n:
            part = dt / float32(n)
            v[i, 0] += part * fx
            v[i, 1] += part * fy
            v[i, 2] += part * fz

    blocks = (x.shape[0] + BLOCK - 1) // BLOCK

    def advance(places, speeds):
        drift[blocks, BLOCK](places, speeds)
        kick[blocks, BLOCK](places, speeds)

    return repeated(kit, x, v, steps, advance)


# https://github.com/NVIDIA/warp/blob/main/warp/examples/tile/example_tile_nbody.py (without its tiles on a CPU)
def with_warp(kit: Kit, x, v, steps) -> Run:
    import warp as wp

    points = wp.array(dtype=wp.vec3)

    @wp.kernel
    def drift(x: points, v: points):
        i = wp.tid()
        x[i] = x[i] + wp.static(DT) * v[i]

    @wp.kernel
    def kick(x: points, v: points):
        i = wp.tid()
        me = x[i]
        force = wp.vec3(0.0, 0.0, 0.0)
        for j in range(x.shape[0]):
            away = x[j] - me
            square = wp.dot(away, away) + wp.static(SOFT)
            force += away * (1.0 / (square * wp.sqrt(square)))
        v[i] = v[i] + wp.static(DT) / float(x.shape[0]) * force

    places, speeds = (wp.array(each, dtype=wp.vec3, device=kit.device) for each in (x, v))
    wp.load_module(device=kit.device)
    with wp.ScopedCapture(device=kit.device) as capture:
        for _ in range(steps):
            wp.launch(drift, places.shape, inputs=[places, speeds], device=kit.device)
            wp.launch(kick, places.shape, inputs=[places, speeds], device=kit.device, block_dim=BLOCK)

    def reset():
        kit.write(places, x)
        kit.write(speeds, v)

    return Run(reset, lambda: wp.capture_launch(capture.graph), lambda: kit.get(places))


# https://genesis-embodied-ai.github.io/quadrants/user_guide/getting_started.html
def with_quadrants(kit: Kit, x, v, steps) -> Run:
    import quadrants as qd

    points = qd.types.ndarray(qd.f32, 2)

    @qd.kernel
    def advance(x: points, v: points):
        for i in range(x.shape[0]):
            for d in qd.static(range(3)):
                x[i, d] += DT * v[i, d]
        for i in range(x.shape[0]):
            px, py, pz = x[i, 0], x[i, 1], x[i, 2]
            fx, fy, fz = 0.0, 0.0, 0.0
            for j in range(x.shape[0]):
                dx, dy, dz = x[j, 0] - px, x[j, 1] - py, x[j, 2] - pz
                square = dx * dx + dy * dy + dz * dz + SOFT
                pull = 1.0 / (square * qd.sqrt(square))
                fx += dx * pull
                fy += dy * pull
                fz += dz * pull
            kick = DT / qd.cast(x.shape[0], qd.f32)
            v[i, 0] += kick * fx
            v[i, 1] += kick * fy
            v[i, 2] += kick * fz

    return repeated(kit, x, v, steps, advance)


# https://docs.cupy.dev/en/stable/user_guide/kernel.html (raw kernels)
def with_cupy(kit: Kit, x, v, steps) -> Run:
    import cupy

    drift = cupy.ElementwiseKernel("float32 v", "float32 x", f"x += {DT}f * v", "drift")
    kick = cupy.RawKernel(SOURCE, "kick")
    n = x.shape[0]

    def advance(places, speeds):
        drift(speeds, places)
        kick(((n + BLOCK - 1) // BLOCK,), (BLOCK,), (places, speeds, np.int32(n)))

    return repeated(kit, x, v, steps, advance)


SOURCE = f"""
extern "C" __global__ void kick(const float* __restrict__ x, float* v, int n) {{
    __shared__ float tile[{BLOCK}][3];
    int own = threadIdx.x, i = blockIdx.x * {BLOCK} + own, me = min(i, n - 1);
    float px = x[3 * me], py = x[3 * me + 1], pz = x[3 * me + 2], fx = 0, fy = 0, fz = 0;
    for (int begin = 0; begin < n; begin += {BLOCK}) {{
        __syncthreads();
        if (begin + own < n)
            for (int d = 0; d < 3; ++d) tile[own][d] = x[3 * (begin + own) + d];
        __syncthreads();
        int many = min({BLOCK}, n - begin);
        for (int j = 0; j < many; ++j) {{
            float dx = tile[j][0] - px, dy = tile[j][1] - py, dz = tile[j][2] - pz;
            float square = dx * dx + dy * dy + dz * dz + {SOFT}f, pull = 1.0f / (square * sqrtf(square));
            fx += dx * pull;
            fy += dy * pull;
            fz += dz * pull;
        }}
    }}
    if (i < n) {{
        float part = {DT}f / n;
        v[3 * i] += part * fx;
        v[3 * i + 1] += part * fy;
        v[3 * i + 2] += part * fz;
    }}
}}
"""


# https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html
def with_jax(kit: Kit, x, v, steps) -> Run:
    return jax_run(kit, step, [x, v], steps)


# https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html
def with_torch(kit: Kit, x, v, steps) -> Run:
    return torch_run(kit, step, [x, v], steps)
