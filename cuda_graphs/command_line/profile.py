# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Run a Python script or load a saved graph, and show the times of the nodes of its graphs.

The times are those of the launches of the script. With --launches, they are those of further launches of one graph
after the end of the script. Such launches change the data of the graph again. The driver is chosen before the script
runs: CUDA_GRAPHS_DRIVER chooses another one."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any

import cuda_graphs as cg

from .outcome import UNUSABLE, USAGE, CommandError, Outcome
from .script import Graphs, add_script, graphs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cuda_graphs.graph.nodes.protocols import Definition
    from cuda_graphs.graph.profiling.profile import GraphProfile, Profile

HELP = "show the times of the nodes of a script's graphs"
TRACE = ".json"
GONE = "graphs whose definitions are gone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_script(parser)
    parser.add_argument(
        "--launches", type=int, metavar="N", help="launch one graph N times after the end of the script"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write a trace of all runs (.json, for ui.perfetto.dev), or the graph coloured by time (.svg, .html, "
        ".png, .dot)",
    )
    parser.add_argument(
        "--gantt", action="store_true", help="write a chart of one launch (.svg, .png) instead of the graph"
    )
    parser.add_argument("--json", action="store_true", help="print the times as JSON")


def run(arguments: argparse.Namespace) -> Outcome:
    check_options(arguments)
    graphs, found = recorded(arguments) if arguments.launches is None else repeated(arguments)
    named = with_names(arguments, graphs, found)
    if arguments.output is not None:
        write(arguments, found, named)
    data = {
        "script": arguments.script,
        "file": arguments.output,
        "graphs": [plain(name, graph) for name, graph in named],
    }
    if arguments.output is not None:
        names = ", ".join(name for name, _ in named)
        return Outcome(f"{arguments.output}: {names}", data)
    texts = [f"{name}\n{graph}" for name, graph in named]
    return Outcome("\n\n".join([*texts, *found.missing]), data)


def check_options(arguments: argparse.Namespace) -> None:
    """Raise a CommandError for options that are wrong whatever the script does."""
    from cuda_graphs.drawing.gantt import Gantt
    from cuda_graphs.drawing.picture import Picture

    file, launches = arguments.output, arguments.launches
    if launches is not None and launches < 1:
        raise CommandError(f"--launches must be 1 or more, got {launches}", USAGE)
    if file is None:
        if arguments.gantt:
            raise CommandError("--gantt needs a file: --gantt -o launch.svg", USAGE)
        return
    try:
        if arguments.gantt:
            Gantt.accept_file(file)
        elif not file.endswith(TRACE):
            Picture.accept_file(file)
    except ValueError as error:
        also = "" if arguments.gantt else f"; {TRACE} is a trace"
        raise CommandError(f"--output: {error}{also}", USAGE) from None


def recorded(arguments: argparse.Namespace) -> tuple[Graphs, Profile]:
    """Return the graphs of the script, and a profile of its own launches."""
    found = cg.profile()
    with contextlib.ExitStack() as stack:
        with installed():
            stack.enter_context(found)
        graphs = graphs_of(arguments)
        current_device().sync()  # nodes that still run at the end are left out
    return graphs, found


def repeated(arguments: argparse.Namespace) -> tuple[Graphs, Profile]:
    """Return the graphs of the script, and a profile of further launches of one of them."""
    graphs = graphs_of(arguments)
    name, definition = graphs.one(arguments.name)
    stream = current_device().create_stream()
    graph = graphs.executable(name, definition)
    with installed():
        try:
            return graphs, graph.profile(stream, launches=arguments.launches)
        except (RuntimeError, cg.CUDAError) as error:
            raise CommandError(f"{name} cannot be launched again: {error}", UNUSABLE) from None


def current_device() -> cg.Device:
    """Return the device that the script uses, and make it current also if the script did not."""
    device = cg.Device()
    device.set_current()
    return device


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Turn the error of a missing package into a CommandError."""
    try:
        yield
    except ImportError as error:
        raise CommandError(str(error), USAGE) from None


def with_names(
    arguments: argparse.Namespace, graphs: Graphs, found: Profile
) -> list[tuple[str, GraphProfile]]:
    """Return (name, times) of each graph of which a node was reported, or of the one that --name chooses.

    Raises:
        CommandError: No node of such a graph was reported. CUPTI reports no empty nodes.
    """
    name, launches = arguments.name, arguments.launches
    wanted: dict[Definition | None, str] = {
        definition: each for each, definition in graphs.chosen(name).items()
    }
    named = [(wanted.get(graph.definition, GONE), graph) for graph in found.graphs]
    if name is not None:
        named = [each for each in named if each[0] != GONE]
    if not named:
        which = "a graph" if name is None else f"graph {name!r}"
        if launches is not None:
            raise CommandError(f"{launches} launches of {which} of {graphs.script} ran no node", UNUSABLE)
        raise CommandError(
            f"{graphs.script} ran no node of {which}: --launches 20 launches one of its graphs", UNUSABLE
        )
    return named


def write(arguments: argparse.Namespace, found: Profile, named: list[tuple[str, GraphProfile]]) -> None:
    """Write the file of --output."""
    file: str = arguments.output
    with installed():
        try:
            if file.endswith(TRACE) and not arguments.gantt:
                found.save(file)
                return
            if len(named) > 1:
                names = ", ".join(name for name, _ in named)
                raise CommandError(
                    f"a picture has one graph, and {arguments.script} launched {len(named)}: choose one with --name. "
                    f"They are {names}",
                    UNUSABLE,
                )
            graph = named[0][1]
            (graph.gantt if arguments.gantt else graph.draw)(file)
        except OSError as error:
            raise CommandError(f"cannot write {file}: {error.strerror}", UNUSABLE) from None


def plain(name: str, graph: GraphProfile) -> dict[str, Any]:
    """Return the times of a graph as dicts and lists. Times are in nanoseconds."""
    return {
        "name": name,
        "launches": graph.launches,
        "spans": list(graph.spans),
        "critical_share": graph.critical_share,
        "gaps": [gap._asdict() for gap in graph.gaps],
        "nodes": [{**row._asdict(), "mean": row.mean, "devices": list(row.devices)} for row in graph.rows],
    }
