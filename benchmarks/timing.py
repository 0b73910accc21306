# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Takes and shows figures: contestants run in turn, round after round.

A machine that slows down then slows all of them. Nothing here passes or fails. statistic.py computes the statistics of
the turns.
"""

import gc
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from statistic import Figures, Record, cell, record


def warm_up(seconds: float = 1.0) -> None:
    """Keep a core busy until its clock is high. Otherwise the first rows would be slower than later rows."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


def measure(contestants: dict[str, Callable[[], float] | None], rounds: int = 15) -> dict[str, Record | None]:
    """Call each contestant once untimed, then `rounds` times in turn; return the Record of what each returned.

    A turn that returns nan was not taken and does not count. A contestant without turns is absent: None.
    """
    present = {name: run for name, run in contestants.items() if run is not None}
    turns: dict[str, list[float]] = {name: [] for name in contestants}
    for run in present.values():
        run()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, run in present.items():
                took = run()
                if not math.isnan(took):
                    turns[name].append(took)
    finally:
        gc.enable()
    return {name: record(taken) for name, taken in turns.items()}


def per_call(
    call: Callable[[], object], calls: int, after: Callable[[], object] | None = None
) -> Callable[[], float]:
    """Return a contestant: microseconds per call, mean of `calls` calls. `after` runs unmeasured after a round."""

    def run() -> float:
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        elapsed = time.perf_counter_ns() - start
        if after is not None:
            after()
        return elapsed / calls / 1e3

    return run


def repeat(run: Callable[[], float], times: int) -> Callable[[], float]:
    """Return a contestant whose turn is the mean of some runs in a row.

    A turn of less than a millisecond tells more of the caches, which other contestants have filled, than of the calls.
    """
    return lambda: fmean(run() for _ in range(times))


def show(title: str, figures: Figures, unit: str = "microseconds") -> None:
    """Print a table: a line a row, a column a contestant, each cell its median, best turn and spread."""
    columns = list(next(iter(figures.values())))
    cells = {
        row: ["absent" if values[name] is None else cell(values[name], 3) for name in columns]
        for row, values in figures.items()
    }
    width = max(len(row) for row in figures)
    widths = [max(len(name), *(len(line[i]) for line in cells.values())) for i, name in enumerate(columns)]
    print(f"\n{title}  ({unit}: median (best, distance of the quartiles))")
    print(" " * width, *(f"{name:>{w}}" for name, w in zip(columns, widths)))
    for row, line in cells.items():
        print(f"{row:{width}}", *(f"{each:>{w}}" for each, w in zip(line, widths)), flush=True)


def write(path: Path | None, document: dict[str, object]) -> None:
    """Write the figures as JSON if a path is given."""
    if path is not None:
        path.write_text(json.dumps(document, indent=1) + "\n")
