# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Twelve whole programs beside versions in other libraries, and beside the limit of the machine.

    python benchmarks/whole_programs.py [--driver host|cuda] [--rounds 5] [--only jacobi,cg] [--sizes small,large]
                                        [--peers numba,Warp] [--python torch.compile=/venv/bin/python] [--json FILE]
                                        [--draw FILE]
    python benchmarks/whole_programs.py --from FILE --draw FILE

Contestants take turns. Each is a separate process (program_contestant.py). Before the clock runs, the results of small
programs are compared with NumPy's, and others with ours. A peer is absent if it is not installed, has no version of a
program, or computes a wrong result; the reason is printed. The JSON file is written after each program.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from contestant import Absent
from contestants import machine
from kernels import Reasons, interpreters, take_turns, those_who_come
from program_contestant import ProgramContestant
from programs import PROGRAMS
from programs.kits import Work
from statistic import Record, best_other, cell, number, ratio_cell, value
from timing import show, warm_up, write

import cuda_graphs as cg

OURS = "cuda_graphs"
SIZES = ("small", "medium", "large")

# Column -> peer of programs/kits.py.
CONTESTANTS = {
    OURS: "cuda_graphs",
    "numba": "numba",
    "numba-cuda": "numba_cuda",
    "Warp": "warp",
    "Quadrants": "quadrants",
    "CuPy": "cupy",
    "JAX": "jax",
    "torch.compile": "torch",
}
Outcome = Absent | None
"""Why a contestant cannot take part in a program, or None."""


def attempt(prepare: Callable[[], object]) -> Outcome:
    """Return the Absent that the preparation of a contestant raised, or None."""
    try:
        prepare()
    except Absent as reason:
        return reason
    return None


def with_truth(module: Any, size: str, path: Path) -> Path | None:
    """Write the result of NumPy for a small program; return the path, or None for other sizes."""
    if size != SIZES[0]:
        return None
    np.save(path, module.truth(**module.data(**module.SIZES[size])))
    return path


def prepare(
    program: str, size: str, there: Mapping[str, ProgramContestant]
) -> tuple[dict[str, Outcome], int]:
    """Prepare all contestants, ours first and the others at the same time. Return outcomes, and our iterations."""
    module = importlib.import_module(f"programs.{program}")
    ours, others = there[OURS], [name for name in there if name != OURS]
    with tempfile.TemporaryDirectory() as folder:
        wanted = with_truth(module, size, Path(folder, "truth.npy"))
        outcomes = {OURS: attempt(lambda: ours.take(program, size, wanted))}
        if outcomes[OURS] is not None:
            reason = Absent(f"no result to compare with: {outcomes[OURS]}")
            return outcomes | dict.fromkeys(others, reason), 0
        result = Path(folder, "ours.npy")
        done = ours.result(result)
        with ThreadPoolExecutor(len(others) or 1) as pool:
            found = pool.map(
                lambda name: attempt(lambda: there[name].take(program, size, wanted or result)), others
            )
            outcomes |= dict(zip(others, found))
    return outcomes, done


def raise_outcome(outcome: Outcome) -> None:
    if outcome is not None:
        raise outcome


def seconds_of(limits: Mapping[str, float], work: Work) -> float:
    """Return the seconds that the machine needs at least: those of the bytes or of the operations."""
    return max(work.bytes / limits["bytes"], work.flops / limits["flops"])


class Entry:
    """The figures of one program at one size, as the JSON file has them."""

    @staticmethod
    def taken(
        program: str,
        size: str,
        there: Mapping[str, ProgramContestant],
        limits: Mapping[str, float],
        rounds: int,
        reasons: Reasons,
    ) -> dict[str, Any]:
        module = importlib.import_module(f"programs.{program}")
        outcomes, done = prepare(program, size, there)
        row = f"{program}, {size}"
        readiness = {id(there[name]): outcome for name, outcome in outcomes.items()}
        figures = take_turns(
            row, there, list(there), lambda one: raise_outcome(readiness[id(one)]), rounds, reasons
        )
        work = module.work(done, **module.SIZES[size])
        launch = None if figures[OURS] is None else there[OURS].launch(program, size, done)
        return {
            "figures": figures,
            "launch": launch,
            "bytes": work.bytes,
            "flops": work.flops,
            "limit": seconds_of(limits, work) * 1e6,
            "parameters": module.SIZES[size],
            "iterations": done,
        }


def fraction(entry: Mapping[str, Any], one: Record | None) -> float | None:
    """Return the time of the limit divided by the median of a contestant."""
    median = value(one)
    return None if median is None else entry["limit"] / median


def summary(row: str, entry: Mapping[str, Any]) -> str:
    """Return a line with our ratio to the best peer, our fraction of the limit, and our launch share."""
    figures = entry["figures"]
    ours = figures[OURS]
    if ours is None:
        return f"{row}: absent"
    peers = [one for name, one in figures.items() if name != OURS]
    share = entry["launch"] / ours["median"]
    return (
        f"{row}: {cell(ours)} us, best peer / ours {ratio_cell(best_other(peers, ours))}, "
        f"fraction of the limit {number(fraction(entry, ours))}, launch share {number(share)}"
    )


COLOURS = {
    OURS: "tab:blue",
    "numba": "tab:purple",
    "numba-cuda": "tab:purple",
    "Warp": "tab:green",
    "Quadrants": "tab:orange",
    "CuPy": "tab:olive",
    "JAX": "tab:red",
    "torch.compile": "tab:brown",
}


def draw_program(axes: Any, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw a line per contestant: median times over size, in parts of ours; the dashed line is the limit."""
    sizes = [size for size in SIZES if size in entries and entries[size]["figures"][OURS] is not None]
    at = range(len(sizes))
    ours = [entries[size]["figures"][OURS]["median"] for size in sizes]
    for name, colour in COLOURS.items():
        medians = [value(entries[size]["figures"].get(name)) for size in sizes]
        if any(each is not None for each in medians):
            parts = [math.nan if each is None else each / own for each, own in zip(medians, ours)]
            axes.plot(at, parts, "o-", color=colour, markersize=3, linewidth=1, label=name)
    limits = [entries[size]["limit"] / own for size, own in zip(sizes, ours)]
    axes.plot(at, limits, "k--", linewidth=0.8, label="limit of the machine")
    axes.set_yscale("log")
    axes.set_xticks(list(at), [f"{size}\n{number(own)} us" for size, own in zip(sizes, ours)], fontsize=6.5)
    axes.tick_params(axis="y", labelsize=6.5)


def draw(document: Mapping[str, Any], path: Path) -> None:
    """Draw a panel per program."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "whole_programs", "svg.fonttype": "none"})
    programs = document["programs"]
    columns = 3
    lines = math.ceil(len(programs) / columns)
    figure = Figure(figsize=(3.6 * columns, 2.3 * lines + 0.8), layout="constrained")
    figure.suptitle(document["machine"], fontsize=8, color="0.4")
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    named: dict[str, Any] = {}
    for (program, entries), axes in zip(programs.items(), panels):
        draw_program(axes, entries)
        axes.set_title(PROGRAMS[program], fontsize=8.5)
        named |= {label: line for line, label in zip(*axes.get_legend_handles_labels())}
    for axes in panels[len(programs) :]:
        axes.set_visible(False)
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=5, fontsize=7)
    figure.supylabel("median time, in parts of cuda_graphs", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def contestants(options: argparse.Namespace) -> dict[str, ProgramContestant]:
    """Start the process of each chosen contestant."""
    pythons = interpreters(options.python)
    wanted = options.peers.split(",") if options.peers else list(CONTESTANTS)
    return {
        name: ProgramContestant(peer, options.driver, pythons.get(name, sys.executable))
        for name, peer in CONTESTANTS.items()
        if name in (OURS, *wanted)
    }


def chosen(given: str, known: Mapping[str, object] | tuple[str, ...], what: str) -> list[str]:
    """Return the names of a comma-separated list in their usual order. Raises SystemExit for an unknown name."""
    names = given.split(",") if given else list(known)
    if unknown := sorted(set(names) - set(known)):
        raise SystemExit(f"unknown {what}: {', '.join(unknown)}; choose from {', '.join(known)}")
    return [name for name in known if name in names]


def take(options: argparse.Namespace) -> dict[str, Any]:
    programs, sizes = chosen(options.only, PROGRAMS, "programs"), chosen(options.sizes, SIZES, "sizes")
    cg.use_driver(options.driver)
    cg.Device().set_current()
    columns, reasons = contestants(options), Reasons()
    there: dict[str, Any] = those_who_come(columns, reasons)  # type: ignore[arg-type]
    warm_up()
    limits = there[OURS].limits()
    document = {"machine": machine(), "limits": limits, "absent": reasons, "programs": {}}
    for program in programs:
        entries = document["programs"][program] = {}
        for size in sizes:
            entry = Entry.taken(program, size, there, limits, options.rounds, reasons)
            entry["figures"] = {name: entry["figures"].get(name) for name in columns}
            entries[size] = entry
            print(summary(f"{program}, {size}", entry), flush=True)
            write(options.json, document)
    for contestant in columns.values():
        contestant.end()
    return document


def tables(document: Mapping[str, Any]) -> None:
    """Print all figures, the limits of the machine, and the reasons of absent contestants."""
    figures = {
        f"{program}, {size}": entry["figures"]
        for program, entries in document["programs"].items()
        for size, entry in entries.items()
    }
    show(document["machine"], figures)
    print(
        f"limits: {document['limits']['bytes'] / 1e9:.1f} GB/s, {document['limits']['flops'] / 1e9:.0f} GFLOP/s"
    )
    for program, entries in document["programs"].items():
        for size, entry in entries.items():
            print(summary(f"{program}, {size}", entry))
    for what, reason in document["absent"].items():
        print(f"absent: {what}: {reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--driver", choices=("host", "cuda"), default="host")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="programs, separated by commas; all by default")
    parser.add_argument(
        "--sizes", default="", help="small, medium, large, separated by commas; all by default"
    )
    parser.add_argument(
        "--peers", default="", help="columns beside ours, separated by commas; all by default"
    )
    parser.add_argument("--python", default="", help="interpreters of columns: numba=/venv/bin/python,...")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument(
        "--from", dest="taken", type=Path, help="take figures from this file, measure nothing"
    )
    parser.add_argument("--draw", type=Path, help="write a picture here")
    options = parser.parse_args()
    document = json.loads(options.taken.read_text()) if options.taken else take(options)
    tables(document)
    if options.draw:
        draw(document, options.draw)


if __name__ == "__main__":
    main()
