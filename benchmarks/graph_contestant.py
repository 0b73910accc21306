# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One contestant of graph_kernels.py in a separate process, like those of kernels.py in contestant.py.

A peer is a module in peers/ with these functions. `variant` is a lowering that the peer offers, or "".

    zeros(n)                       n floats that are 0
    get(array)                     the array as an array of NumPy
    sync()                         waits for all work
    chain(variant, tasks, arrays)  a call for each array, which adds 1 to it `tasks` times
    loop(variant, array)           (a function that sets the number of iterations, a call that runs them)
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from contestant import Absent, Contestant, Worker, serve
from graph_problems import CALL, ITERATION, LOOP, PER_LOOP, ROWS, Row

HERE = Path(__file__).resolve()
REPEATS = 3  # calls of a loop in a turn


class GraphContestant(Contestant):
    """A process that runs rows of graph_problems.py, in one variant of its peer."""

    script = HERE

    def __init__(self, module: str, driver: str, python: str, variant: str) -> None:
        super().__init__(module, driver, python)
        self.variant = variant

    def take(self, row: str) -> None:
        """Prepare a row in the process, and check its result. Raises Absent."""
        self.ask("take", row=row, variant=self.variant)


def same(found: np.ndarray, wanted: int) -> None:
    if not (found == wanted).all():
        raise Absent(f"its result is wrong: {found[:3]} where {wanted} is right")


class GraphWorker(Worker):
    """The process of a contestant."""

    run: Callable[[], float]

    def turn(self) -> float:
        return self.run()

    def take(self, row: str, variant: str) -> None:
        what = ROWS[row]
        self.run = self.loop(what, variant) if what.way in (LOOP, ITERATION) else self.chain(what, variant)

    def chain(self, row: Row, variant: str) -> Callable[[], float]:
        peer = self.module
        arrays = [peer.zeros(row.floats) for _ in range(row.sets)]
        calls = peer.chain(variant, row.tasks, arrays)
        for _ in range(3):
            for call in calls:
                call()
        peer.sync()
        for array in arrays:
            same(peer.get(array), 3 * row.tasks)
        if row.way == CALL:
            return lambda: in_a_row(calls, peer.sync, row.calls)
        return lambda: each_waited_for(calls[0], peer.sync, row)

    def loop(self, row: Row, variant: str) -> Callable[[], float]:
        peer = self.module
        array = peer.zeros(row.floats)
        seed, call = peer.loop(variant, array)
        for rounds in (3, 1, 7):
            seed(rounds)
            call()
        peer.sync()
        same(peer.get(array), 11)

        def times(rounds: int, repeats: int) -> list[float]:
            return [once(seed, call, peer.sync, rounds) for _ in range(repeats)]

        if row.way == LOOP:
            return lambda: statistics.median(times(row.rounds, REPEATS * row.calls))
        # The minimum of each: the difference of other figures has a large error.
        return lambda: (min(times(PER_LOOP + 1, REPEATS)) - min(times(1, 10 * REPEATS))) / PER_LOOP


def in_a_row(calls: list[Callable[[], object]], sync: Callable[[], object], count: int) -> float:
    """Return the host time of a call."""
    given = list(itertools.islice(itertools.cycle(calls), count))
    given[-1]()
    sync()
    begin = time.perf_counter_ns()
    for call in given:
        call()
    elapsed = time.perf_counter_ns() - begin
    sync()
    return elapsed / count / 1e3


def each_waited_for(call: Callable[[], object], sync: Callable[[], object], row: Row) -> float:
    call()
    sync()
    begin = time.perf_counter_ns()
    for _ in range(row.calls):
        call()
        sync()
    return (time.perf_counter_ns() - begin) / row.calls / row.nodes / 1e3


def once(
    seed: Callable[[int], object], call: Callable[[], object], sync: Callable[[], object], rounds: int
) -> float:
    seed(rounds)
    sync()
    begin = time.perf_counter_ns()
    call()
    sync()
    return (time.perf_counter_ns() - begin) / 1e3


if __name__ == "__main__":
    serve(GraphWorker)
