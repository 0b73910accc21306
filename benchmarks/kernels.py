# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels beside those of other compilers and libraries: calls, execution, and compilation.

    python benchmarks/kernels.py [--driver host|cuda] [--rounds 9] [--only saxpy,n-body] [--peers numba,Warp]
                                 [--python numba=/venv/bin/python] [--json FILE]

Contestants take turns. Each is a separate process (contestant.py), and has checked its result against NumPy before
the clock runs. A peer is absent if it is not installed, does not support a row, or computes a wrong result; the reason
is printed. Contestants must not reorder or contract float arithmetic, except sums over a whole array and rows that
allow it. The file of a peer states if the peer has no option against contraction.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
from contestant import Absent, Contestant
from contestants import machine
from peers import with_numpy
from problems import FIRST, PROBLEMS, TASKS, Problem
from timing import Figures, measure, show, warm_up, write

import cuda_graphs as cg

# Column -> module in peers/.
CONTESTANTS = {
    "cuda_graphs": "with_cuda_graphs",
    "numba": "with_numba",
    "Warp": "with_warp",
    "Quadrants": "with_quadrants",
    "NumPy": "with_numpy",
    "numba-cuda": "with_numba_cuda",
    "CuPy": "with_cupy",
    "Triton": "with_triton",
    "PyTorch": "with_torch",
}

# Variables for the folders in which contestants keep code on disk.
CACHES = (
    "CUDA_GRAPHS_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "WARP_CACHE_PATH",
    "QD_OFFLINE_CACHE_FILE_PATH",
    "TRITON_CACHE_DIR",
    "CUPY_CACHE_DIR",
)
SLOW, ENOUGH = 150_000.0, 3  # a turn above this time (microseconds) is repeated only this often
FIRST_CALLS = 3  # processes per figure of a first call

NO_COMPILERS = ("NumPy", "PyTorch")  # contestants whose first call compiles nothing

Reasons = dict[str, str]
"""(row, contestant) -> reason of the missing figure."""


def reference(problem: Problem) -> np.ndarray:
    """Return the result of NumPy."""
    given = problem.arguments()
    for _ in range(TASKS if problem.way == "graph" else 1):
        getattr(with_numpy, problem.kernel)(**given)
    return given[problem.result]


def runs(
    rows: list[str], there: dict[str, Contestant], rounds: int, reasons: Reasons
) -> tuple[Figures, Figures]:
    """Return (medians, minima) of all rounds."""
    medians: Figures = {}
    least: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            wanted = Path(folder, "wanted.npy")
            np.save(wanted, reference(PROBLEMS[row]))
            ready = methodcaller("ready", row, wanted)
            medians[row], least[row] = take_turns(row, there, list(there), ready, rounds, reasons)
    return medians, least


def take_turns(
    row: str,
    there: Mapping[str, Contestant],
    able: Iterable[str],
    ready: Callable[[Any], None],
    rounds: int,
    reasons: Reasons,
) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Return (medians, minima) of all rounds of a row. `ready` prepares the contestants that support the row."""
    samples: dict[str, list[float]] = {}
    turns: dict[str, Callable[[], float] | None] = dict.fromkeys(there)
    for name in able:
        what = f"{row}, {name}"
        try:
            ready(there[name])
        except Absent as reason:
            reasons[what] = str(reason)
        else:
            turns[name] = noted(there[name], samples.setdefault(name, []), what, reasons)
    medians = measure(turns, rounds)
    for name in there:
        if f"{row}, {name}" in reasons:  # includes contestants that ended in their turn
            medians[name] = None
            samples.pop(name, None)
    return medians, {name: min(samples[name]) if name in samples else None for name in there}


def noted(contestant: Contestant, samples: list[float], what: str, reasons: Reasons) -> Callable[[], float]:
    def turn() -> float:
        if what in reasons:
            return math.nan
        if len(samples) >= ENOUGH and min(samples) > SLOW:
            return statistics.median(samples)
        try:
            samples.append(contestant.turn())
        except Absent as reason:
            reasons[what] = str(reason)
            return math.nan
        return samples[-1]

    return turn


def first_calls(chosen: list[str], there: dict[str, Contestant], reasons: Reasons) -> tuple[Figures, Figures]:
    """Return (medians, minima) of first calls in new processes: with an empty disk cache, then with a filled one."""
    rows = {row: (f"first call of {row}, cold", f"first call of {row}, from disk") for row in chosen}
    medians: Figures = {title: {} for titles in rows.values() for title in titles}
    least: Figures = {title: {} for title in medians}
    for row, titles in rows.items():
        for name, contestant in there.items():
            if name in NO_COMPILERS:
                for title in titles:
                    medians[title][name] = least[title][name] = None
                continue
            times: dict[str, list[float]] = {title: [] for title in titles}
            try:
                for _ in range(FIRST_CALLS):
                    with tempfile.TemporaryDirectory() as folder:
                        for samples in times.values():
                            samples.append(contestant.first(row, dict.fromkeys(CACHES, folder)))
            except Absent as reason:
                reasons[f"first call of {row}, {name}"] = str(reason)
            for title, samples in times.items():
                whole = len(samples) == FIRST_CALLS
                medians[title][name] = statistics.median(samples) if whole else None
                least[title][name] = min(samples) if whole else None
    return medians, least


def those_who_come(columns: dict[str, Contestant], reasons: Reasons) -> dict[str, Contestant]:
    """Return the contestants of this driver whose peer is installed."""
    there = {}
    for name, contestant in columns.items():
        try:
            contestant.come()
        except Absent as reason:
            reasons[name] = str(reason)
        else:
            there[name] = contestant
    return there


def interpreters(text: str) -> dict[str, str]:
    """Parse `numba=/a/python,Warp=/b/python` into {column: interpreter}."""
    return dict(part.split("=", 1) for part in text.split(",") if part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--driver", choices=("host", "cuda"), default="host")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="rows that contain one of these, separated by commas")
    parser.add_argument(
        "--peers", default="", help="columns beside ours, separated by commas; all by default"
    )
    parser.add_argument("--python", default="", help="interpreters of columns: numba=/venv/bin/python,...")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cg.use_driver(options.driver)
    cg.Device().set_current()
    pythons = interpreters(options.python)
    wanted = options.peers.split(",") if options.peers else list(CONTESTANTS)
    columns = {
        name: Contestant(module, options.driver, pythons.get(name, sys.executable))
        for name, module in CONTESTANTS.items()
        if name == "cuda_graphs" or name in wanted
    }
    chosen = [
        row
        for row, problem in PROBLEMS.items()
        if options.driver in problem.drivers and any(part in row for part in options.only.split(","))
    ]
    reasons: Reasons = {}
    there = those_who_come(columns, reasons)
    warm_up()
    medians, least = runs(chosen, there, options.rounds, reasons)
    first = [row for row in FIRST if any(part in f"first call of {row}" for part in options.only.split(","))]
    firsts = first_calls(first, there, reasons)
    medians, least = medians | firsts[0], least | firsts[1]
    for contestant in columns.values():
        contestant.end()
    show(machine(), medians)
    show("the least of all rounds", least)
    for what, reason in reasons.items():
        print(f"absent: {what}: {reason}")
    write(
        options.json,
        {"machine": machine(), "figures": medians, "least": least, "absent": reasons},
    )


if __name__ == "__main__":
    main()
