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
from statistic import Figures, Record, record
from timing import measure, show, warm_up, write

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
    "torch.compile": "with_torch_compile",
    "JAX": "with_jax",
}

# Variables for the folders in which contestants keep code on disk.
CACHES = (
    "CUDA_GRAPHS_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "WARP_CACHE_PATH",
    "QD_OFFLINE_CACHE_FILE_PATH",
    "TRITON_CACHE_DIR",
    "CUPY_CACHE_DIR",
    "CUDA_CACHE_PATH",  # the driver keeps what it made of PTX
)
SLOW, ENOUGH = 150_000.0, 3  # microseconds of a slow turn, and how many slow turns are enough
FIRST_CALLS = 3  # processes for each figure of a first call

NO_COMPILERS = ("NumPy", "PyTorch")  # contestants whose first call compiles nothing

Reasons = dict[str, str]
"""(row, contestant) -> reason of the missing figure."""


def reference(problem: Problem) -> np.ndarray:
    """Return the result of NumPy."""
    given = problem.arguments()
    for _ in range(TASKS if problem.way == "graph" else 1):
        getattr(with_numpy, problem.kernel)(**given)
    return given[problem.result]


def runs(rows: list[str], there: dict[str, Contestant], rounds: int, reasons: Reasons) -> Figures:
    """Times every contestant in every row."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            wanted = Path(folder, "wanted.npy")
            np.save(wanted, reference(PROBLEMS[row]))
            ready = methodcaller("ready", row, wanted)
            figures[row] = take_turns(row, there, list(there), ready, rounds, reasons)
    return figures


def take_turns(
    row: str,
    there: Mapping[str, Contestant],
    able: Iterable[str],
    ready: Callable[[Any], None],
    rounds: int,
    reasons: Reasons,
) -> dict[str, Record | None]:
    """Times the contestants of `able` in a row; `ready` prepares one of them. Notes why one is absent in `reasons`."""
    turns: dict[str, Callable[[], float] | None] = dict.fromkeys(there)
    for name in able:
        key = f"{row}, {name}"
        try:
            ready(there[name])
        except Absent as reason:
            reasons[key] = str(reason)
        else:
            turns[name] = guarded_turn(there[name], key, reasons)
    found = measure(turns, rounds)
    # A contestant whose process ended in one of its turns is absent in the whole row.
    return {name: None if f"{row}, {name}" in reasons else found[name] for name in there}


def guarded_turn(contestant: Contestant, key: str, reasons: Reasons) -> Callable[[], float]:
    """Returns a turn of the contestant that is nan once it has ended, or has had enough slow turns."""
    slow = 0

    def turn() -> float:
        nonlocal slow
        if key in reasons or slow > ENOUGH:  # measure() does not count the first turn
            return math.nan
        try:
            took = contestant.turn()
        except Absent as reason:
            reasons[key] = str(reason)
            return math.nan
        slow += took > SLOW
        return took

    return turn


def first_calls(chosen: list[str], there: dict[str, Contestant], reasons: Reasons) -> Figures:
    """Times first calls in fresh processes: with nothing on disk, then with what that left there."""
    rows = {row: (f"first call of {row}, cold", f"first call of {row}, from disk") for row in chosen}
    figures: Figures = {title: dict.fromkeys(there) for titles in rows.values() for title in titles}
    for row, titles in rows.items():
        for name, contestant in there.items():
            if name in NO_COMPILERS:
                continue
            times: dict[str, list[float]] = {title: [] for title in titles}
            try:
                for _ in range(FIRST_CALLS):
                    with tempfile.TemporaryDirectory() as folder:
                        for samples in times.values():
                            samples.append(contestant.first(row, dict.fromkeys(CACHES, folder)))
            except Absent as reason:
                reasons[f"first call of {row}, {name}"] = str(reason)
                continue
            for title, samples in times.items():
                figures[title][name] = record(samples)
    return figures


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


def with_absent(figures: Figures, columns: Iterable[str]) -> Figures:
    """Returns the figures with a column for every contestant, None for those that are absent from the whole run."""
    return {row: {name: found.get(name) for name in columns} for row, found in figures.items()}


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
    figures = runs(chosen, there, options.rounds, reasons)
    first = [row for row in FIRST if any(part in f"first call of {row}" for part in options.only.split(","))]
    figures |= first_calls(first, there, reasons)
    figures = with_absent(figures, columns)
    for contestant in columns.values():
        contestant.end()
    show(machine(), figures)
    for what, reason in reasons.items():
        print(f"absent: {what}: {reason}")
    write(options.json, {"machine": machine(), "figures": figures, "absent": reasons})


if __name__ == "__main__":
    main()
