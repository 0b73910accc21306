# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""First calls beside those of other compilers: cold, after one change, and from disk.

    python benchmarks/compile.py [--driver host|cuda] [--rounds 5] [--only saxpy,tasks] [--peers Quadrants]
                                 [--python Quadrants=/peers/bin/python] [--json FILE]

Each figure is a first call in a new process (compile_contestant.py), from the call until its result has been read, in
milliseconds: CPU time of all threads, which other work on the machine changes less, and elapsed time. Contestants take
turns. Their results must agree.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from contestant import Absent
from contestants import machine
from kernels import CACHES, interpreters
from statistic import Figures, record
from timing import show, write

import cuda_graphs as cg

SCRIPT = Path(__file__).with_name("compile_contestant.py")
CONTESTANTS = {"cuda_graphs": "with_cuda_graphs", "Quadrants": "with_quadrants", "Warp": "with_warp"}
CLOCKS = {"cpu": "CPU time", "elapsed": "elapsed time", "process": "CPU time with imports"}

Turns = dict[str, list[dict[str, float]]]
"""contestant -> of each turn the milliseconds by clock, and the result."""


class Row(NamedTuple):
    """`before`: the program whose call left its files on disk. None: nothing is there."""

    program: str
    before: str | None = None


ROWS = {
    "saxpy, cold": Row("saxpy"),
    "saxpy, from disk": Row("saxpy", "saxpy"),
    "n-body, cold": Row("n-body"),
    "n-body, from disk": Row("n-body", "n-body"),
    "100 tasks, cold": Row("100 tasks"),
    "100 tasks, one changed": Row("100 tasks, one changed", "100 tasks"),
    "100 tasks, from disk": Row("100 tasks", "100 tasks"),
    "solver of 200 functions, cold": Row("solver"),
    "solver of 200 functions, from disk": Row("solver", "solver"),
}


def first_call(command: list[str], program: str, folder: str) -> dict[str, float]:
    """Return the milliseconds by clock, and the result, of a first call in a new process. Raises Absent."""
    environment = os.environ | dict.fromkeys(CACHES, folder)
    environment.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # bytecode of modules is available, as in an installation
    done = subprocess.run([*command, program, folder], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Absent((done.stderr.strip().splitlines() or ["it says nothing"])[-1])
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def turn(command: list[str], row: Row, folder: str | None) -> dict[str, float]:
    """Return one figure of a row. A row with `before` has its folder; a cold one gets an empty one."""
    if folder is not None:
        return first_call(command, row.program, folder)
    with tempfile.TemporaryDirectory() as empty:
        if row.before is not None:
            first_call(command, row.before, empty)
        return first_call(command, row.program, empty)


def take(row: Row, commands: dict[str, list[str]], rounds: int, reasons: dict[str, str]) -> Turns:
    """Return the turns of a row by contestant."""
    turns: Turns = {name: [] for name in commands}
    with ExitStack() as stack:
        runs: dict[str, Callable[[], dict[str, float]]] = {}
        for name, command in commands.items():
            folder = None
            try:
                if row.program == row.before:
                    folder = stack.enter_context(tempfile.TemporaryDirectory())
                    first_call(command, row.program, folder)
                runs[name] = partial(turn, command, row, folder)
            except Absent as reason:
                reasons[f"{row.program}, {name}"] = str(reason)
        for _ in range(rounds):
            for name, run in list(runs.items()):
                try:
                    turns[name].append(run())
                except Absent as reason:
                    reasons[f"{row.program}, {name}"] = str(reason)
                    del runs[name]
    results = [each["result"] for taken in turns.values() for each in taken]
    if results and not all(math.isclose(each, results[0], rel_tol=1e-4) for each in results):
        reasons[row.program] = f"the results differ: {sorted(set(results))}"
    return turns


def chosen(title: str, only: str) -> bool:
    """Tell whether a row contains all the words, joined by plus signs, of one of the choices."""
    return any(all(word in title for word in choice.split("+")) for choice in only.split(","))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--driver", choices=("host", "cuda"), default="host")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--only", default="", help="rows that contain one of these, separated by commas; a+b: both"
    )
    parser.add_argument(
        "--peers", default="", help="columns beside ours, separated by commas; all by default"
    )
    parser.add_argument(
        "--python", default="", help="interpreters of columns: Quadrants=/venv/bin/python,..."
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cg.use_driver(options.driver)
    cg.Device().set_current()
    pythons, reasons = interpreters(options.python), {}
    commands = {
        name: [pythons.get(name, sys.executable), str(SCRIPT), module, options.driver]
        for name, module in CONTESTANTS.items()
        if name == "cuda_graphs" or not options.peers or name in options.peers.split(",")
    }
    figures: dict[str, Figures] = {clock: {} for clock in CLOCKS}
    for title, row in ROWS.items():
        if not chosen(title, options.only):
            continue
        turns = take(row, commands, options.rounds, reasons)
        for clock, by_row in figures.items():
            by_row[title] = {name: record([each[clock] for each in taken]) for name, taken in turns.items()}
    for clock, name in CLOCKS.items():
        show(f"{machine()}: {name}", figures[clock], "milliseconds")
    for what, reason in reasons.items():
        print(f"absent: {what}: {reason}")
    write(options.json, {"machine": machine(), "figures": figures, "absent": reasons})


if __name__ == "__main__":
    main()
