# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Compile and launch one node of each of the 14 kinds on each driver of this machine, and say what fails.

Each node runs in a process of its own, so that a node that crashes or hangs does not hide the others. A driver without
a device is listed with the reason, and is no failure. The exit code is 1 if a node fails."""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import doctor_nodes
from .children import ask
from .outcome import DONE, FOUND, Outcome

HELP = "launch one node of each kind on each driver"
DRIVERS = ("cuda", "host")
PROCESSES = 4  # at most, at the same time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--driver", choices=DRIVERS, help="this driver only; it must be usable")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(arguments: argparse.Namespace) -> Outcome:
    wanted = (arguments.driver,) if arguments.driver else DRIVERS
    reports = {driver: examine(driver) for driver in wanted}
    text = "\n".join(line for driver, report in reports.items() for line in lines(driver, report))
    failed = any(each is not None for report in reports.values() for each in report.get("nodes", {}).values())
    missing = arguments.driver is not None and "problem" in reports[arguments.driver]
    return Outcome(text, reports, FOUND if failed or missing else DONE)


def examine(driver: str) -> dict[str, Any]:
    """Return the "problem" of a driver, or its "nodes": kind -> problem or None."""
    found = ask("driver_report", driver, driver=driver)
    if "problem" in found:
        return {"problem": found["problem"]}
    kinds = list(doctor_nodes.NODES)
    with ThreadPoolExecutor(min(PROCESSES, os.cpu_count() or 1)) as pool:
        answers = pool.map(lambda kind: ask("doctor_nodes", kind, driver=driver), kinds)
        return {"nodes": {kind: answer["problem"] for kind, answer in zip(kinds, answers)}}


def lines(driver: str, report: dict[str, Any]) -> list[str]:
    if "problem" in report:
        return [f"{driver}: not usable: {report['problem']}"]
    failed = sum(problem is not None for problem in report["nodes"].values())
    verdict = (
        f"{failed} of {len(report['nodes'])} kinds of nodes fail" if failed else "all kinds of nodes run"
    )
    return [
        f"{driver}: {verdict}",
        *(f"  {kind:15}{problem or 'ok'}" for kind, problem in report["nodes"].items()),
    ]
