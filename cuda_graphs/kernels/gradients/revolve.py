# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Which states to keep, so that a sequence of steps is reversed with few steps that run again.

To reverse steps 0, 1, ..., n - 1 is to visit their states (the contents of arrays after each step) from the last to the
first. A state is kept, or is computed again from a kept state before it. For a known number of steps the binomial
schedule of Griewank and Walther needs the fewest steps: "Algorithm 799: Revolve", ACM Transactions on Mathematical
Software 26 (2000), whose theorem is `forward_steps`, and whose choice of positions is `split`.

A tape learns the number of its steps only at the end. Until then it gives up, for each new state, the kept state whose
loss costs least (`position_to_give_up`), as in the online schedules of Wang, Moin and Iaccarino, "Minimal repetition
dynamic checkpointing algorithm for unsteady adjoint calculation", SIAM Journal on Scientific Computing 31 (2009). The
cost of a set of positions is exact: between two kept states, `forward_steps` tells it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb

__all__ = ["forward_steps", "position_to_give_up", "split"]


@lru_cache(maxsize=1 << 16)
def forward_steps(steps: int, states: int) -> int:
    """Return the fewest steps that run, from the first state on, to visit the states of `steps` steps in reverse.

    The first state counts among the `states` that are kept. The step that makes it is not counted.
    """
    if steps <= 1:
        return 0
    sweeps = repetitions(steps, states)
    return sweeps * steps - comb(states + sweeps, sweeps - 1)


def repetitions(steps: int, states: int) -> int:
    """Return how often a step runs at most: the least number r with at most binomial(states + r, r) steps."""
    if states == 1:
        return steps - 1
    found = 0
    while comb(states + found, found) < steps:
        found += 1
    return found


def split(steps: int, states: int) -> int:
    """Return how many steps after the first state the next state is kept: at least 1, and less than `steps`.

    There are at least 2 steps. With one state no other state can be kept: the result is then the last one.
    """
    if states == 1:
        return steps - 1
    sweeps = repetitions(steps, states)
    fewest = comb(states + sweeps - 2, states) if sweeps > 1 else 0
    return max(1, fewest, steps - comb(states - 1 + sweeps, states - 1))


def position_to_give_up(positions: Sequence[int], steps: int) -> int:
    """Return the index of the kept state whose loss costs the fewest steps. It is not the first state.

    Args:
        positions: The steps whose states are kept, in ascending order: one more than may stay.
        steps: The number of steps so far.
    """
    states = len(positions) - 1
    ends = [*positions[1:], steps]
    lengths = [end - begin for begin, end in zip(positions, ends, strict=True)]
    after = [0] * (
        len(lengths) + 1
    )  # the cost of the intervals from each one on, if one before them is given up
    for i in range(len(lengths) - 1, 0, -1):
        after[i] = after[i + 1] + forward_steps(lengths[i], states - i + 1)
    before, best, found = 0, -1, 0
    for i in range(1, len(lengths)):
        merged = lengths[i - 1] + lengths[i]
        # The steps after the last kept state have run.
        done = merged if i == states else lengths[-1]
        cost = before + forward_steps(merged, states - i + 1) + after[i + 1] - done
        if found == 0 or cost < best:
            best, found = cost, i
        before += forward_steps(lengths[i - 1], states - i + 1)
    return found
