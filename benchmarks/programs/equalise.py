# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Equalisation of the histogram of a grey image of bytes: counts, their running sum as a table, and a look-up.

The result is the image.
"""

from functools import partial

import numpy as np

from .arrays import jax_call
from .kits import Kit, Run, Work

# At n = 8192 the starts of the kernels are a fifth of the time of an H200.
SIZES = {"small": {"n": 256}, "medium": {"n": 1024}, "large": {"n": 16384}}
TOLERANCE = 1.01 / 255  # a grey level: contestants may round the table differently
LEVELS = 256
BLOCK = 256


def data(n):
    """A dark image, whose levels are common in different degrees."""
    random = np.random.default_rng(9)
    return {"image": (255 * random.random((n, n), "f4") ** 3).astype("u1")}


def truth(image):
    counts = np.bincount(image.ravel(), minlength=LEVELS)
    table = np.cumsum(counts) * 255 // image.size
    return table[image].astype("u1")


def work(done, n):
    """The image is read for the counts, and read and written for the result."""
    return Work(bytes=3 * n * n)


def smallest(done, parameters):
    return {"n": 2}


def with_cuda_graphs(kit: Kit, image) -> Run:
    import cuda_graphs as cg

    picture, bins = cg.types.ndarray(cg.u8, 1), cg.types.ndarray(cg.i32, 1)

    @cg.kernel(graph=True)
    def equalise(image: picture, found: picture, counts: bins, table: bins):
        for level in range(LEVELS):
            counts[level] = 0
        for at in image:
            counts[image[at]] += 1
        for level in range(LEVELS):
            below = cg.i64(0)
            for other in range(level + 1):
                below += counts[other]
            table[level] = cg.i32(below * 255 // image.shape[0])
        for at in image:
            found[at] = cg.u8(table[image[at]])

    given, found = kit.put(image.ravel()), kit.put(np.zeros(image.size, "u1"))
    counts, table = (kit.put(np.zeros(LEVELS, "i4")) for _ in range(2))
    call = partial(equalise, given, found, counts, table)
    return Run(lambda: None, call, lambda: kit.get(found).reshape(image.shape))


# https://numba.readthedocs.io/en/stable/user/parallel.html
def with_numba(kit: Kit, image) -> Run:
    from numba import njit, prange

    @njit(parallel=True)
    def equalise(image, found):
        parts = 64
        own = np.zeros((parts, LEVELS), np.int64)
        for part in prange(parts):
            for at in range(part * image.size // parts, (part + 1) * image.size // parts):
                own[part, image[at]] += 1
        table = (np.cumsum(own.sum(0)) * 255 // image.size).astype(np.uint8)
        for at in prange(image.size):
            found[at] = table[image[at]]

    given, found = kit.put(image.ravel()), np.zeros(image.size, "u1")
    return Run(lambda: None, lambda: equalise(given, found), lambda: found.reshape(image.shape))


# https://numba.readthedocs.io/en/stable/cuda/examples.html (shared memory)
def with_numba_cuda(kit: Kit, image) -> Run:
    from numba import cuda, int32

    @cuda.jit
    def clear(counts):
        counts[cuda.threadIdx.x] = 0

    @cuda.jit
    def count(image, counts):
        own = cuda.shared.array(LEVELS, int32)
        level = cuda.threadIdx.x
        own[level] = 0
        cuda.syncthreads()
        for at in range(cuda.grid(1), image.size, cuda.gridsize(1)):
            cuda.atomic.add(own, int(image[at]), 1)
        cuda.syncthreads()
        cuda.atomic.add(counts, level, own[level])

    @cuda.jit
    def tabulate(counts, table, size):
        below = 0
        for other in range(cuda.threadIdx.x + 1):
            below += counts[other]
        table[cuda.threadIdx.x] = below * 255 // size

    @cuda.jit
    def look_up(image, found, table):
        at = cuda.grid(1)
        if at < image.size:
            found[at] = table[image[at]]

    given, found = kit.put(image.ravel()), kit.put(np.zeros(image.size, "u1"))
    counts, table = kit.put(np.zeros(LEVELS, "i4")), kit.put(np.zeros(LEVELS, "u1"))
    blocks = (image.size + BLOCK - 1) // BLOCK

    def call():
        clear[1, LEVELS](counts)
        count[min(blocks, 1024), LEVELS](given, counts)
        tabulate[1, LEVELS](counts, table, image.size)
        look_up[blocks, BLOCK](given, found, table)

    return Run(lambda: None, call, lambda: kit.get(found).reshape(image.shape))


# https://github.com/NVIDIA/warp/blob/main/warp/examples/core/example_wave.py (kernels and capture)
def with_warp(kit: Kit, image) -> Run:
    import warp as wp

    picture, bins = wp.array(dtype=wp.uint8), wp.array(dtype=wp.int32)

    @wp.kernel
    def count(image: picture, counts: bins):
        wp.atomic_add(counts, wp.int32(image[wp.tid()]), 1)

    @wp.kernel
    def tabulate(counts: bins, table: picture, size: wp.int64):
        below = wp.int64(0)
        for other in range(wp.tid() + 1):
            below += wp.int64(counts[other])
        table[wp.tid()] = wp.uint8(below * wp.int64(255) / size)

    @wp.kernel
    def look_up(image: picture, found: picture, table: picture):
        at = wp.tid()
        found[at] = table[wp.int32(image[at])]

    given, found = kit.put(image.ravel()), kit.put(np.zeros(image.size, "u1"))
    counts, table = kit.put(np.zeros(LEVELS, "i4")), kit.put(np.zeros(LEVELS, "u1"))
    wp.load_module(device=kit.device)
    with wp.ScopedCapture(device=kit.device) as capture:
        counts.zero_()
        wp.launch(count, image.size, inputs=[given, counts], device=kit.device)
        wp.launch(tabulate, LEVELS, inputs=[counts, table, image.size], device=kit.device)
        wp.launch(look_up, image.size, inputs=[given, found, table], device=kit.device)
    call = partial(wp.capture_launch, capture.graph)
    return Run(lambda: None, call, lambda: kit.get(found).reshape(image.shape))


# https://genesis-embodied-ai.github.io/quadrants/user_guide/getting_started.html
def with_quadrants(kit: Kit, image) -> Run:
    import quadrants as qd

    picture, bins = qd.types.ndarray(qd.u8, 1), qd.types.ndarray(qd.i32, 1)

    @qd.kernel
    def equalise(image: picture, found: picture, counts: bins, table: bins):
        for level in range(LEVELS):
            counts[level] = 0
        for at in range(image.shape[0]):
            counts[qd.cast(image[at], qd.i32)] += 1
        for level in range(LEVELS):
            below = qd.cast(0, qd.i64)
            for other in range(level + 1):
                below += counts[other]
            table[level] = qd.cast(below * 255 // image.shape[0], qd.i32)
        for at in range(image.shape[0]):
            found[at] = qd.cast(table[qd.cast(image[at], qd.i32)], qd.u8)

    given, found = kit.put(image.ravel()), kit.put(np.zeros(image.size, "u1"))
    counts, table = (kit.put(np.zeros(LEVELS, "i4")) for _ in range(2))
    call = partial(equalise, given, found, counts, table)
    return Run(lambda: None, call, lambda: kit.get(found).reshape(image.shape))


# https://docs.cupy.dev/en/stable/reference/generated/cupy.bincount.html
def with_cupy(kit: Kit, image) -> Run:
    import cupy

    given = kit.put(image)
    found = [given]

    def call():
        counts = cupy.bincount(given.ravel(), minlength=LEVELS)
        table = (cupy.cumsum(counts) * 255 // given.size).astype("u1")
        found[0] = cupy.take(table, given)

    return Run(lambda: None, call, lambda: kit.get(found[0]))


# https://docs.jax.dev/en/latest/_autosummary/jax.numpy.bincount.html
def with_jax(kit: Kit, image) -> Run:
    import jax
    import jax.numpy as jnp

    @jax.jit
    def equalise(state, fixed):
        (picture,) = state
        below = jnp.cumsum(jnp.bincount(picture.ravel(), length=LEVELS))
        table = jnp.floor(below / picture.size * 255).astype(jnp.uint8)
        return (table[picture],)

    return jax_call(kit, equalise, (image,), ())


# https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html
def with_torch(kit: Kit, image) -> Run:
    import torch

    @torch.compile(dynamic=False)
    def look_up(picture, counts):
        table = (torch.cumsum(counts, 0) * 255 // picture.numel()).to(torch.uint8)
        return table[picture.long()]

    given = kit.put(image)
    found = [given]

    def call():
        with torch.no_grad():
            found[0] = look_up(given, torch.bincount(given.ravel(), minlength=LEVELS))

    return Run(lambda: None, call, lambda: kit.get(found[0]))
