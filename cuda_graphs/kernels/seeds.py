# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Seeds of random numbers in kernels: a sequence with one seed for each call; `random_seed` sets its start."""

from __future__ import annotations

import threading

from cuda_graphs.objects.numbers import need_int

__all__ = ["draw", "random_seed"]

_lock = threading.Lock()
_next = 0


def random_seed(seed: int) -> None:
    """Restart the sequence of seeds: the same seed and the same calls of kernels give the same random numbers.

    A program starts with the seed 0. Each call of a kernel with random numbers takes the next seed of the sequence. A
    node of a graph takes its seed when the node is made, so each launch of the graph draws the same numbers.

    Raises:
        TypeError: `seed` is not an int.
    """
    global _next
    number = need_int(seed, "seed")
    with _lock:
        _next = number * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF


def draw() -> int:
    """Return the seed of one call, distinct and well mixed (the finaliser of SplitMix64, Steele et al. 2014)."""
    global _next
    with _lock:
        z = _next = (_next + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    z = (z ^ z >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return z ^ z >> 31
