# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The limits of the machine, measured: bytes a second of a copy, and operations a second of fused multiply-adds."""

import time
from collections.abc import Callable

import numpy as np

from .kits import Kit

FLOATS = 1 << 26  # of each array of the copy: 256 MiB, several times the caches
# Chains of fused multiply-adds of an item, as registers allow: 17 GFLOP in all. A GPU does 60 of them in a millisecond,
# and a launch and its wait take some 10 us.
ITEMS, ROUNDS, CHAINS = 1 << 18, 1 << 12, 8
TURNS = 7


def best(call: Callable[[], object], kit: Kit) -> float:
    """Return seconds of the fastest of several calls."""
    taken = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        call()
        kit.sync()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def measured(kit: Kit) -> dict[str, float]:
    """Return bytes a second of a copy, reads and writes counted, and f32 operations a second, with our own kernels."""
    import cuda_graphs as cg

    vector = cg.types.ndarray(cg.f32, 1)

    @cg.kernel
    def copy(x: vector, y: vector):
        for i in x:
            y[i] = x[i]

    @cg.kernel(fast_math=True)
    def multiply_add(x: vector):
        for i in x:
            a = x[i]
            chains = cg.types.vec(CHAINS, cg.f32)(a)
            for k in cg.static(range(CHAINS)):
                chains[k] += k * 0.125
            for _ in range(ROUNDS):
                for k in cg.static(range(CHAINS)):
                    chains[k] = cg.fma(chains[k], a, 0.5)
            total = 0.0
            for k in cg.static(range(CHAINS)):
                total += chains[k]
            x[i] = total

    source, target = cg.ndarray(cg.f32, FLOATS), cg.ndarray(cg.f32, FLOATS)
    source.fill(1.0)
    target.fill(0.0)
    items = kit.put(np.full(ITEMS, 0.5, "f4"))
    return {
        "bytes": 2 * 4 * FLOATS / best(lambda: copy(source, target), kit),
        "flops": 2.0 * ITEMS * ROUNDS * CHAINS / best(lambda: multiply_add(items), kit),
    }
