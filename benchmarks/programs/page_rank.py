# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PageRank of a random sparse graph: power steps over the links into each page.

`starts` and `sources` are the rows of the matrix: the pages that link to each page. `shares`: 1 / links out of a page.
The result is the ranks, which have the sum 1, times the number of pages.
"""

from functools import partial

import numpy as np

from .arrays import jax_run, torch_run
from .kits import Kit, Run, Work

SIZES = {
    "small": {"n": 1 << 12, "links": 16, "steps": 20},
    "medium": {"n": 1 << 17, "links": 16, "steps": 10},
    "large": {"n": 1 << 21, "links": 16, "steps": 5},
}
TOLERANCE = 1e-4
FLOAT = 4
FOLLOW = 0.85  # probability of following a link
BLOCK = 256


def data(n, links, steps):
    """Each page has between 1 and 2 * links - 1 links to it."""
    random = np.random.default_rng(10)
    starts = np.concatenate([[0], np.cumsum(random.integers(1, 2 * links, n))]).astype("i4")
    sources = random.integers(0, n, starts[-1]).astype("i4")
    shares = (1 / np.maximum(np.bincount(sources, minlength=n), 1)).astype("f4")
    return {"starts": starts, "sources": sources, "shares": shares, "steps": steps}


def truth(starts, sources, shares, steps):
    """Computed in double precision."""
    rank, shares = np.ones(len(shares)), shares.astype("f8")
    for _ in range(steps):
        rank = 1 - FOLLOW + FOLLOW * np.add.reduceat((rank * shares)[sources], starts[:-1])
    return rank.astype("f4")


def work(done, n, links, steps):
    """A step reads links, starts of rows, ranks and shares, writes and reads parts, and writes ranks."""
    return Work(bytes=FLOAT * n * (links + 6) * steps)


def smallest(done, parameters):
    return parameters | {"n": 2, "links": 1}


def with_cuda_graphs(kit: Kit, starts, sources, shares, steps) -> Run:
    import cuda_graphs as cg

    floats, numbers, count = (
        cg.types.ndarray(cg.f32, 1),
        cg.types.ndarray(cg.i32, 1),
        cg.types.ndarray(cg.i32, 0),
    )

    @cg.kernel(graph=True)
    def follow(starts: numbers, sources: numbers, shares: floats, rank: floats, part: floats, left: count):
        while cg.graph_while(left[()] > 0):
            for page in rank:
                part[page] = rank[page] * shares[page]
            for page in rank:
                total = 0.0
                for link in range(starts[page], starts[page + 1]):
                    total += part[sources[link]]
                rank[page] = (1.0 - FOLLOW) + FOLLOW * total
            left[()] -= 1

    fixed = [kit.put(each) for each in (starts, sources, shares)]
    rank, part = (cg.ndarray(cg.f32, len(shares)) for _ in range(2))
    left = cg.ndarray(cg.i32, ())

    def reset():
        rank.fill(1.0)
        left.fill(steps)

    return Run(reset, lambda: follow(*fixed, rank, part, left), lambda: kit.get(rank))


def repeated(kit: Kit, starts, sources, shares, steps, advance) -> Run:
    """Return a run of `advance(starts, sources, shares, rank, part)`."""
    ones = np.ones(len(shares), "f4")
    fixed, rank, part = [kit.put(each) for each in (starts, sources, shares)], kit.put(ones), kit.put(ones)

    def call():
        for _ in range(steps):
            advance(*fixed, rank, part)

    return Run(lambda: kit.write(rank, ones), call, lambda: kit.get(rank))


# https://numba.readthedocs.io/en/stable/user/parallel.html
def with_numba(kit: Kit, starts, sources, shares, steps) -> Run:
    from numba import njit, prange

    stay, follow = np.float32(1 - FOLLOW), np.float32(FOLLOW)

    @njit(parallel=True)
    def advance(starts, sources, shares, rank, part):
        for page in prange(rank.shape[0]):
            part[page] = rank[page] * shares[page]
        for page in prange(rank.shape[0]):
            total = np.float32(0)
            for link in range(starts[page], starts[page + 1]):
                total += part[sources[link]]
            rank[page] = stay + follow * total

    return repeated(kit, starts, sources, shares, steps, advance)


# https://numba.readthedocs.io/en/stable/cuda/examples.html (the heat equation)
def with_numba_cuda(kit: Kit, starts, sources, shares, steps) -> Run:
    from numba import cuda

    stay, follow = np.float32(1 - FOLLOW), np.float32(FOLLOW)

    @cuda.jit
    def divide(rank, shares, part):
        page = cuda.grid(1)
        if page < rank.size:
            part[page] = rank[page] * shares[page]

    @cuda.jit
    def collect(starts, sources, rank, part):
        page = cuda.grid(1)
        if page < rank.size:
            total = np.float32(0)
            for link in range(starts[page], starts[page + 1]):
                total += part[sources[link]]
            rank[page] = stay + follow * total

    blocks = (len(shares) + BLOCK - 1) // BLOCK

    def advance(starts, sources, shares, rank, part):
        divide[blocks, BLOCK](rank, shares, part)
        collect[blocks, BLOCK](starts, sources, rank, part)

    return repeated(kit, starts, sources, shares, steps, advance)


# https://github.com/NVIDIA/warp/blob/main/warp/examples/core/example_wave.py (kernels and capture)
def with_warp(kit: Kit, starts, sources, shares, steps) -> Run:
    import warp as wp

    floats, numbers = wp.array(dtype=wp.float32), wp.array(dtype=wp.int32)

    @wp.kernel
    def divide(rank: floats, shares: floats, part: floats):
        page = wp.tid()
        part[page] = rank[page] * shares[page]

    @wp.kernel
    def collect(starts: numbers, sources: numbers, rank: floats, part: floats):
        page = wp.tid()
        total = wp.float32(0.0)
        for link in range(starts[page], starts[page + 1]):
            total += part[sources[link]]
        rank[page] = wp.static(1.0 - FOLLOW) + wp.static(FOLLOW) * total

    ones = np.ones(len(shares), "f4")
    begin, links, fraction = (kit.put(each) for each in (starts, sources, shares))
    rank, part = kit.put(ones), kit.put(ones)
    wp.load_module(device=kit.device)
    with wp.ScopedCapture(device=kit.device) as capture:
        for _ in range(steps):
            wp.launch(divide, rank.shape, inputs=[rank, fraction, part], device=kit.device)
            wp.launch(collect, rank.shape, inputs=[begin, links, rank, part], device=kit.device)
    call = partial(wp.capture_launch, capture.graph)
    return Run(lambda: kit.write(rank, ones), call, lambda: kit.get(rank))


# https://genesis-embodied-ai.github.io/quadrants/user_guide/getting_started.html
def with_quadrants(kit: Kit, starts, sources, shares, steps) -> Run:
    import quadrants as qd

    floats, numbers = qd.types.ndarray(qd.f32, 1), qd.types.ndarray(qd.i32, 1)

    @qd.kernel
    def advance(starts: numbers, sources: numbers, shares: floats, rank: floats, part: floats):
        for page in range(rank.shape[0]):
            part[page] = rank[page] * shares[page]
        for page in range(rank.shape[0]):
            total = 0.0
            for link in range(starts[page], starts[page + 1]):
                total += part[sources[link]]
            rank[page] = (1.0 - FOLLOW) + FOLLOW * total

    return repeated(kit, starts, sources, shares, steps, advance)


# https://docs.cupy.dev/en/stable/reference/scipy_sparse.html
def with_cupy(kit: Kit, starts, sources, shares, steps) -> Run:
    from cupyx.scipy.sparse import csr_matrix

    n = len(shares)
    fraction = kit.put(shares)
    links = csr_matrix((fraction[kit.put(sources)], kit.put(sources), kit.put(starts)), shape=(n, n))
    first = kit.put(np.ones(n, "f4"))
    found = [first]

    def call():
        rank = first
        for _ in range(steps):
            rank = (1 - FOLLOW) + FOLLOW * (links @ rank)
        found[0] = rank

    return Run(lambda: None, call, lambda: kit.get(found[0]))


def rows_of(starts):
    """Return the page to which each link goes."""
    return np.repeat(np.arange(len(starts) - 1, dtype="i4"), np.diff(starts))


# https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_sum.html
def with_jax(kit: Kit, starts, sources, shares, steps) -> Run:
    import jax

    n = len(shares)

    def step(xp, rank, sources, rows, shares):
        parts = (rank * shares)[sources]
        return ((1 - FOLLOW) + FOLLOW * jax.ops.segment_sum(parts, rows, n, indices_are_sorted=True),)

    return jax_run(kit, step, [np.ones(n, "f4")], steps, [sources, rows_of(starts), shares])


# https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html
def with_torch(kit: Kit, starts, sources, shares, steps) -> Run:
    def step(xp, rank, sources, rows, shares):
        total = xp.zeros_like(rank).index_add(0, rows, (rank * shares)[sources])
        return ((1 - FOLLOW) + FOLLOW * total,)

    return torch_run(kit, step, [np.ones(len(shares), "f4")], steps, [sources, rows_of(starts), shares])
