# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Run a Python script or load a saved graph, and check its graphs for mistakes that CUDA does not report
(`GraphDef.check`).

The graphs are those among the globals of the script, and those that it instantiates. The exit code is 1 if a graph has
findings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .outcome import DONE, FOUND, Outcome
from .script import add_script, graphs_of

if TYPE_CHECKING:
    from cuda_graphs.graph.analysis.check import CheckReport

HELP = "check the graphs of a script for mistakes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_script(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> Outcome:
    graphs = graphs_of(arguments, launches=False).chosen(arguments.name)
    reports = {name: definition.check() for name, definition in graphs.items()}
    text = "\n".join(line for name, report in reports.items() for line in lines(name, report))
    data = {
        "script": arguments.script,
        "graphs": [{"name": name, **plain(report)} for name, report in reports.items()],
    }
    return Outcome(text, data, FOUND if any(reports.values()) else DONE)


def lines(name: str, report: CheckReport) -> list[str]:
    """Return the lines of one graph."""
    if not report:
        return f"{name}: {report}".splitlines()
    return [
        f"{name}: {len(report)} finding{'s' * (len(report) != 1)}",
        *(f"  {x}" for x in str(report).splitlines()),
    ]


def plain(report: CheckReport) -> dict[str, Any]:
    """Return a report as dicts and lists."""
    return {
        "findings": [
            {
                "kind": finding.kind,
                "text": finding.text,
                "nodes": [{"name": node.name, "source": node.source} for node in finding.nodes],
            }
            for finding in report
        ],
        "unknown": [node.name for node in report.unknown],
        "is_complete": report.is_complete,
    }
