# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Seeds of random numbers in kernels: a sequence with one seed for each call; `random_seed` sets its start."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cuda_graphs.objects.numbers import need_int

__all__ = ["draw", "note_draws", "random_seed", "repeated"]

_lock = threading.Lock()
_next = 0


class _Thread(threading.local):
    """The draws of one thread: `noted` collects them, `given` replaces them."""

    noted: list[int] | None = None
    given: Iterator[int] | None = None


_thread = _Thread()


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
    """Return the seed of one call. A repeated call gets the seeds of the first time."""
    if _thread.given is not None:
        return next(_thread.given)
    found = next_seed()
    if _thread.noted is not None:
        _thread.noted.append(found)
    return found


def next_seed() -> int:
    """Return the next seed, distinct and well mixed (the finaliser of SplitMix64, Steele et al. 2014)."""
    global _next
    with _lock:
        z = _next = (_next + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    z = (z ^ z >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return z ^ z >> 31


def note_draws(into: list[int] | None) -> None:
    """Add the later seeds of this thread to a list, until None."""
    _thread.noted = into


@contextmanager
def repeated(numbers: Sequence[int]) -> Iterator[None]:
    """Give the calls of this thread these seeds during the block."""
    _thread.given = iter(numbers)
    try:
        yield
    finally:
        _thread.given = None
