# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients beside those of Quadrants: a kernel with a loop that needs a stack, and a simulation with a tape.

    python benchmarks/gradients.py [--driver host|cuda] [--rounds 9] [--only sine] [--python Quadrants=/venv/bin/python]
                                   [--json FILE]

Contestants take turns. Each is a separate process (gradient_contestant.py), and has checked its gradients against
formulas and differences in NumPy before the clock runs. A peer is absent if it is not installed, does not support a
row, or computes a wrong result; the reason is printed. Bars are the targets of cuda_graphs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from operator import methodcaller
from pathlib import Path
from typing import Any

from contestants import machine
from gradient_contestant import GradientContestant
from gradient_problems import ROWS
from kernels import Reasons, interpreters, take_turns, those_who_come, with_absent
from statistic import Figures, cell, ratio_cell, ratios, values, verdict
from timing import show, warm_up, write

import cuda_graphs as cg

OURS, PEER = "cuda_graphs", "Quadrants"
CONTESTANTS = {OURS: "gradients_with_cuda_graphs", PEER: "gradients_with_quadrants"}


def bars(driver: str, rows: Iterable[str]) -> dict[str, float]:
    """Row -> microseconds that cuda_graphs is to reach."""
    return {row: ROWS[row].bars[driver] for row in rows if driver in ROWS[row].bars}


def ratio_bars(driver: str, rows: Iterable[str]) -> dict[str, float]:
    """Row -> part of the time of Quadrants, in the same run, that cuda_graphs is to reach."""
    return {row: ROWS[row].ratio[driver] for row in rows if driver in ROWS[row].ratio}


def verdicts(document: dict[str, Any]) -> list[str]:
    """A line for each bar."""
    figures: Figures = document["figures"]
    absolute = [
        f"bar: {row}: <= {bar:.4g}: {cell(figures[row][OURS])}, {verdict(values(figures[row][OURS]), bar)}"
        for row, bar in document["bars"].items()
    ]
    relative = [
        f"bar: {row}: <= {bar:.4g} of {PEER}: {ratio_cell(found)}, {verdict(found, bar)}"
        for row, bar in document["ratio_bars"].items()
        for found in [ratios(figures[row].get(OURS), figures[row].get(PEER))]
    ]
    return absolute + relative


def take(options: argparse.Namespace) -> dict[str, Any]:
    cg.use_driver(options.driver)
    cg.Device().set_current()
    pythons = interpreters(options.python)
    columns = {
        name: GradientContestant(module, options.driver, pythons.get(name, sys.executable))
        for name, module in CONTESTANTS.items()
    }
    reasons: Reasons = {}
    there = those_who_come(columns, reasons)
    warm_up()
    figures: Figures = {}
    stacks: dict[str, dict[str, int | None]] = {}
    for row in (row for row in ROWS if any(part in row for part in options.only.split(","))):
        ready = methodcaller("take", row)
        figures[row] = take_turns(row, there, list(there), ready, options.rounds, reasons)
        stacks[row] = {name: each.stacks(row) for name, each in there.items() if figures[row][name]}
    for contestant in columns.values():
        contestant.end()
    for what, reason in reasons.items():
        print(f"absent: {what}: {reason}")
    return {
        "machine": machine(),
        "figures": with_absent(figures, columns),
        "bars": bars(options.driver, figures),
        "ratio_bars": ratio_bars(options.driver, figures),
        "stacks": stacks,
        "absent": reasons,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--driver", choices=("host", "cuda"), default="host")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="rows that contain one of these, separated by commas")
    parser.add_argument("--python", default="", help="interpreters of columns: Quadrants=/venv/bin/python")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    document = take(options)
    show(f"Gradients, {document['machine']}", document["figures"])
    for row, bytes_ in document["stacks"].items():
        print(f"stacks: {row}: {bytes_.get(OURS)} bytes")
    print(*verdicts(document), sep="\n")
    write(options.json, document)


if __name__ == "__main__":
    main()
