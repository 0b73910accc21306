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
from operator import methodcaller
from pathlib import Path
from typing import Any

from contestants import machine
from gradient_contestant import GradientContestant
from gradient_problems import ROWS
from kernels import Reasons, interpreters, take_turns, those_who_come
from timing import Figures, show, warm_up, write

import cuda_graphs as cg

OURS, PEER = "cuda_graphs", "Quadrants"
CONTESTANTS = {OURS: "gradients_with_cuda_graphs", PEER: "gradients_with_quadrants"}
# The figures that are compared with bars: medians, or the best turns on a machine with other work.
SHOWN = {"cuda": "figures", "host": "least"}


def bars(driver: str, figures: Figures) -> dict[str, float]:
    """Return row -> target of cuda_graphs in microseconds, absolute or relative to Quadrants in this run."""
    found = {}
    for row, values in figures.items():
        theirs, wanted = values.get(PEER), ROWS[row]
        if driver in wanted.bars:
            found[row] = wanted.bars[driver]
        elif driver in wanted.ratio and theirs is not None:
            found[row] = wanted.ratio[driver] * theirs
    return found


def verdicts(document: dict[str, Any]) -> list[str]:
    """Return a line for each bar."""
    lines = []
    for row, bar in document["bars"].items():
        found = document[document["shown"]][row][OURS]
        said = "absent" if found is None else f"{found:.2f}, {'met' if found <= bar else 'MISSED'}"
        lines.append(f"bar: {row}: <= {bar:.4g}: {said}")
    return lines


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
    medians: Figures = {}
    least: Figures = {}
    stacks: dict[str, dict[str, int | None]] = {}
    for row in (row for row in ROWS if any(part in row for part in options.only.split(","))):
        ready = methodcaller("take", row)
        medians[row], least[row] = take_turns(row, there, list(there), ready, options.rounds, reasons)
        stacks[row] = {name: each.stacks(row) for name, each in there.items() if medians[row][name]}
    for contestant in columns.values():
        contestant.end()
    for what, reason in reasons.items():
        print(f"absent: {what}: {reason}")
    shown = SHOWN[options.driver]
    return {
        "machine": machine(),
        "figures": medians,
        "least": least,
        "shown": shown,
        "bars": bars(options.driver, {"figures": medians, "least": least}[shown]),
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
    show(f"Gradients, {document['machine']}, {document['shown']}", document[document["shown"]])
    for row, bytes_ in document["stacks"].items():
        print(f"stacks: {row}: {bytes_.get(OURS)} bytes")
    print(*verdicts(document), sep="\n")
    write(options.json, document)


if __name__ == "__main__":
    main()
