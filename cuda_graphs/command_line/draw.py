# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Run a Python script or load a saved graph, and draw a graph of it: as a tree, or into a file.

The graphs are those among the globals of the script, and those that it instantiates. If the script has several, --name
chooses one. The options of `draw` are those of `GraphDef.draw`."""

from __future__ import annotations

import argparse

from .outcome import UNUSABLE, USAGE, CommandError, Outcome
from .script import add_script, graphs_of

HELP = "draw a graph of a script"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_script(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write a picture; the end of the name is its format"
    )
    parser.add_argument("--check", action="store_true", help="mark the nodes in findings of `check`")
    parser.add_argument(
        "--fold",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="draw repeated patterns once; by default in large graphs only",
    )
    parser.add_argument(
        "--theme", choices=["auto", "light", "dark"], default="auto", help="colours of the picture"
    )
    parser.add_argument("--json", action="store_true", help="print what was drawn as JSON")


def run(arguments: argparse.Namespace) -> Outcome:
    from cuda_graphs.drawing.picture import Picture

    if arguments.output is not None:
        try:
            Picture.accept_file(arguments.output)
        except ValueError as error:
            raise CommandError(f"--output: {error}", USAGE) from None
    name, definition = graphs_of(arguments, launches=False).one(arguments.name)
    try:
        picture = definition.draw(
            arguments.output, fold=arguments.fold, check=arguments.check, theme=arguments.theme
        )
    except OSError as error:
        raise CommandError(f"cannot write {arguments.output}: {error.strerror}", UNUSABLE) from None
    except ImportError as error:
        raise CommandError(str(error), USAGE) from None
    nodes = len(definition.nodes())
    data = {"graph": name, "nodes": nodes, "file": arguments.output, "tree": str(picture)}
    if arguments.output is None:
        return Outcome(str(picture), data)
    return Outcome(f"{arguments.output}: {name}, {nodes} node{'s' * (nodes != 1)}", data)
