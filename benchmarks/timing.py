# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""How a figure is taken: contestants in turn, round after round, and the median of each one's rounds.

Turn by turn, so that a machine that slows down slows all of them. Nothing here passes or fails.
"""

import gc
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

Figures = dict[str, dict[str, float | None]]
"""row -> contestant -> microseconds; None where the contestant is not there."""


def warm_up(seconds: float = 1.0) -> None:
    """Keep a core busy: its clock is low at first, and the first rows would be slower than the same rows later."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


def measure(contestants: dict[str, Callable[[], float] | None], rounds: int = 15) -> dict[str, float | None]:
    """Call each contestant `rounds` times in turn; the median of what each returns (microseconds)."""
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
    """A contestant: microseconds a call, over `calls` calls; `after` runs unmeasured at the end of a round."""

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
    """Print a table: a line a row, a column a contestant, and the ratio of the first two columns."""
    columns = list(next(iter(figures.values())))
    width = max(len(row) for row in figures)
    print(f"\n{title}  (microseconds, medians)")
    print(" " * width, *(f"{column:>16}" for column in columns))
    for row, values in figures.items():
        cells = ["absent" if values[c] is None else f"{values[c]:.3f}" for c in columns]
        print(f"{row:{width}}", *(f"{cell:>16}" for cell in cells), flush=True)


def write(path: Path | None, document: dict[str, object]) -> None:
    """Write the figures as JSON, where a path is given."""
    if path is not None:
        path.write_text(json.dumps(document, indent=1) + "\n")
