# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Measure contestants in turns, round after round; a figure is the median of the rounds of a contestant.

Turns make sure that a slower phase of the machine affects all contestants. Nothing here passes or fails.
"""

import gc
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

Figures = dict[str, dict[str, float | None]]
"""Row -> contestant -> microseconds; None if the contestant is absent."""


def warm_up(seconds: float = 1.0) -> None:
    """Keep a core busy until its clock is high. Otherwise the first rows would be slower than later rows."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


def measure(contestants: dict[str, Callable[[], float] | None], rounds: int = 15) -> dict[str, float | None]:
    """Call each contestant `rounds` times in turn; return the median of its results (microseconds)."""
    present = {name: run for name, run in contestants.items() if run is not None}
    samples: dict[str, list[float]] = {name: [] for name in present}
    for run in present.values():
        run()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, run in present.items():
                samples[name].append(run())
    finally:
        gc.enable()
    return {name: statistics.median(samples[name]) if name in samples else None for name in contestants}


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


def show(title: str, figures: Figures) -> None:
    """Print a table: one line per row, one column per contestant, and the ratio of the first two columns."""
    columns = list(next(iter(figures.values())))
    width = max(len(row) for row in figures)
    print(f"\n{title}  (microseconds, medians)")
    print(" " * width, *(f"{column:>16}" for column in columns))
    for row, values in figures.items():
        cells = ["absent" if values[c] is None else f"{values[c]:.3f}" for c in columns]
        print(f"{row:{width}}", *(f"{cell:>16}" for cell in cells), flush=True)


def write(path: Path | None, document: dict[str, object]) -> None:
    """Write the figures as JSON if a path is given."""
    if path is not None:
        path.write_text(json.dumps(document, indent=1) + "\n")
