# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One contestant of gradients.py in a separate process, like those of kernels.py in contestant.py.

A peer is a module in peers/. For each Row.what of gradient_problems.py it has a function of that name. The function
returns a pair: a call, and a function that returns the gradient of the last call (None for "forward"). The module also
has `sync()`, and `stacks(what)`: the bytes of the stacks of that gradient, or None if they are unknown.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from contestant import Absent, Contestant, Worker, serve
from gradient_problems import ROWS, net, sine_slopes, slope_along

HERE = Path(__file__).resolve()


class GradientContestant(Contestant):
    """A process that runs rows of gradient_problems.py."""

    script = HERE

    def take(self, row: str) -> None:
        """Prepare a row in the process, and check the gradient. Raises Absent."""
        self.ask("take", row=row)

    def stacks(self, row: str) -> int | None:
        """Return the bytes of the stacks of a prepared row."""
        return self.ask("stacks", row=row)


class GradientWorker(Worker):
    """The process of a contestant."""

    run: Callable[[], float]

    def turn(self) -> float:
        return self.run()

    def take(self, row: str) -> None:
        what, sync = ROWS[row], self.module.sync
        call, result = getattr(self.module, what.what)()
        for _ in range(2):
            call()
        sync()
        if what.what != "forward":
            check(what.what, np.asarray(result(), np.float64))
        self.run = lambda: each_waited_for(call, sync, what.calls)

    def stacks(self, row: str) -> int | None:
        return self.module.stacks(ROWS[row].what)


def check(what: str, found: np.ndarray) -> None:
    """Raise an error for a wrong gradient."""
    if what == "springs":
        direction = np.random.default_rng(1).normal(size=found.shape)
        found, wanted = np.sum(found * direction), slope_along(net(), direction)
    else:
        wanted = sine_slopes()
    if not np.allclose(found, wanted, rtol=1e-3, atol=1e-6):
        raise Absent(f"its gradient is wrong: {np.ravel(found)[:3]} where {np.ravel(wanted)[:3]} is right")


def each_waited_for(call: Callable[[], object], sync: Callable[[], object], calls: int) -> float:
    call()
    sync()
    begin = time.perf_counter_ns()
    for _ in range(calls):
        call()
        sync()
    return (time.perf_counter_ns() - begin) / calls / 1e3


if __name__ == "__main__":
    serve(GradientWorker)
