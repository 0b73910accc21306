# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script as `python` would, and finds its graphs. A saved graph is loaded instead.

The graphs of a script are the definitions, executables and graph kernels among its globals when it ends, and all
definitions that it instantiated, also those in functions. A graph has the name of its global. A graph without a global
has the line that instantiated it as its name: "step.py:12".
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING

import cuda_graphs as cg

from .outcome import UNUSABLE, USAGE, CommandError

if TYPE_CHECKING:
    from cuda_graphs.graph.definition import GraphDef
    from cuda_graphs.graph.executable.executable import Graph
    from cuda_graphs.saving.loading import LoadedGraph

__all__ = ["Graphs", "add_script", "graphs_of", "load_saved"]

SAVED = ".cgg"
PACKAGE = str(Path(__file__).parents[1]) + os.sep


class Graphs:
    """The graphs of a script. `names` has each definition once, `aliases` every name of it.

    script     the path of the script
    instances  (line, definition, executable) of each instantiation
    """

    def __init__(self, script: str, instances: list[tuple[str, GraphDef, Graph]]) -> None:
        self.script, self.instances = script, instances
        self.names: dict[str, GraphDef] = {}
        self.aliases: dict[str, GraphDef] = {}

    def add(self, name: str, definition: GraphDef) -> None:
        if definition not in self.names.values():
            self.names[name] = definition
        self.aliases.setdefault(name, definition)

    def chosen(self, name: str | None) -> dict[str, GraphDef]:
        """Return all graphs, or the one that is called `name`.

        Raises:
            CommandError: The script has no graph, or none of that name.
        """
        if not self.names:
            raise CommandError(
                f"{self.script} has no graph: it instantiates no GraphDef, has none among its globals, and calls no "
                "graph kernel",
                UNUSABLE,
            )
        if name is None:
            return self.names
        if name not in self.aliases:
            raise CommandError(
                f"{self.script} has no graph {name!r}. Its graphs are {listed(self.aliases)}", UNUSABLE
            )
        return {name: self.aliases[name]}

    def one(self, name: str | None) -> tuple[str, GraphDef]:
        """Return the only graph, or the one that is called `name`.

        Raises:
            CommandError: There is no such graph, or `name` is None and there are several.
        """
        found = self.chosen(name)
        if len(found) > 1:
            raise CommandError(
                f"{self.script} has {len(found)} graphs: choose one with --name. They are {listed(found)}",
                UNUSABLE,
            )
        return next(iter(found.items()))

    def executable(self, name: str, definition: GraphDef) -> Graph:
        """Return the executable that the script made last of a definition, or a new one if it made none.

        Raises:
            CommandError: The executable belongs to a graph kernel, or the driver cannot instantiate the definition.
        """
        from cuda_graphs.kernels.graph.replay import is_replayed

        for _, each, graph in reversed(self.instances):
            if each == definition and is_replayed(graph):
                raise CommandError(
                    f"{name} is the graph of a graph kernel, which only calls can launch: profile the calls of the "
                    "script, without --launches",
                    UNUSABLE,
                )
            if each == definition and not graph.is_closed:
                return graph
        try:
            return definition.instantiate()
        except cg.CUDAError as error:
            raise CommandError(f"{name} cannot be instantiated: {error}", UNUSABLE) from None


def listed(names: dict[str, GraphDef]) -> str:
    return ", ".join(names)


def add_script(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a verb that runs a script."""
    parser.add_argument(
        "script",
        metavar="SCRIPT",
        help="a Python script, whose own arguments follow `--`, or a saved graph (.cgg)",
    )
    parser.add_argument("--name", help="the graph of this name: a global of the script, or FILE:LINE")


def graphs_of(arguments: argparse.Namespace, *, launches: bool = True) -> Graphs:
    """Run the script of a command line, and return its graphs, or load the saved graph.

    With `--json`, the script writes to standard error instead of standard output. A saved graph has the name of its
    file. Without `launches`, its callbacks are functions that do nothing.

    Raises:
        CommandError: The file is missing, or neither a Python script nor a saved graph. The script raises an error, or
            exits with a code but 0. The saved graph cannot be loaded.
    """
    path = accepted(arguments.script)
    if path.endswith(SAVED):
        if arguments.script_arguments:
            raise CommandError(f"{path} is a saved graph, which takes no arguments after `--`", USAGE)
        graphs = Graphs(path, [])
        graphs.add(Path(path).stem, load_saved(path, launches=launches))
        return graphs
    recorded: list[tuple[str, GraphDef, Graph]] = []
    with recording(recorded), output_to_stderr() if arguments.json else contextlib.nullcontext():
        names = run_script(path, arguments.script_arguments)
    return collected(path, names, recorded)


def accepted(path: str) -> str:
    """Return the path of a Python script or a saved graph, or raise a CommandError."""
    if not os.path.exists(path):
        raise CommandError(f"there is no file {path!r}", UNUSABLE)
    if not os.path.isfile(path) or not path.endswith((".py", SAVED)):
        raise CommandError(
            f"{path!r} is neither a Python script, whose name ends with .py, nor a saved graph ({SAVED})",
            UNUSABLE,
        )
    return path


def load_saved(path: str, *, launches: bool = True) -> LoadedGraph:
    """Return the saved graph of a file.

    Raises:
        CommandError: The file cannot be read, or is damaged. It has callbacks, which launches need and a command line
            cannot give.
    """
    from cuda_graphs.saving.text import facts_of

    try:
        names = facts_of(path)["callbacks"]
        if names and launches:
            raise CommandError(
                f"{path} cannot be launched from a command line, because it calls functions of the host "
                f"({', '.join(names)}): launch it in Python, with cuda_graphs.load(path, callbacks=...)",
                UNUSABLE,
            )
        return cg.load(path, callbacks=dict.fromkeys(names, do_nothing))
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}", UNUSABLE) from None
    except cg.SavedGraphError as error:
        raise CommandError(str(error), UNUSABLE) from None


def do_nothing() -> None:
    """Stand for a callback of a graph that is not launched."""


@contextlib.contextmanager
def recording(recorded: list[tuple[str, GraphDef, Graph]]) -> Iterator[None]:
    """Append (line, definition, executable) of each instantiation to `recorded`."""
    from cuda_graphs.graph.executable.executable import observe_instantiations

    observe_instantiations(lambda definition, graph: recorded.append((calling_line(), definition, graph)))
    try:
        yield
    finally:
        observe_instantiations(None)


def calling_line() -> str:
    """Return "step.py:12" for the innermost frame outside of this package."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


@contextlib.contextmanager
def output_to_stderr() -> Iterator[None]:
    """Send what this process writes to standard output to standard error."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(saved)


def run_script(path: str, arguments: list[str]) -> dict[str, object]:
    """Run a script as `__main__`, and return its globals."""
    module = ModuleType("__main__")
    module.__file__ = path
    sys.argv = [path, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    sys.modules["__main__"] = module
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), vars(module))
    except SystemExit as end:
        if end.code not in (None, 0):
            raise CommandError(f"{path} ended with exit code {end.code}", UNUSABLE) from None
    except Exception as error:
        traceback.print_exception(type(error), error, from_script(error.__traceback__, path))
        raise CommandError(f"{path} raised the error above", UNUSABLE) from None
    return vars(module)


def from_script(where: TracebackType | None, path: str) -> TracebackType | None:
    """Return the part of a traceback from the script's first frame on. An error of its syntax has no frame."""
    while where is not None and where.tb_frame.f_code.co_filename != path:
        where = where.tb_next
    return where


def collected(path: str, names: dict[str, object], recorded: list[tuple[str, GraphDef, Graph]]) -> Graphs:
    """Return the graphs among the globals `names` and the `recorded` instantiations."""
    from cuda_graphs.graph.definition import GraphDef

    found = Graphs(path, recorded)
    definitions = {id(graph): definition for _, definition, graph in recorded}
    for name, value in names.items():
        if isinstance(value, GraphDef) and value.is_valid:
            found.add(name, value)
        elif id(value) in definitions:
            found.add(name, definitions[id(value)])
        elif (last := getattr(value, "_last_graph", None)) is not None:
            found.add(name, last)
    for line, definition, _ in recorded:
        if definition not in found.names.values():
            found.add(unused(line, found.names), definition)
    return found


def unused(line: str, names: dict[str, GraphDef]) -> str:
    """Return `line`, or "step.py:12#2" if the line instantiated another definition before."""
    number = 1
    name = line
    while name in names:
        number += 1
        name = f"{line}#{number}"
    return name
