# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Run a program with the host driver in the place of libcuda.so.1, so that programs of other libraries run on a CPU.

    cuda-graphs host script.py [arguments]
    cuda-graphs host -m module [arguments]
    cuda-graphs host -c code [arguments]

All arguments are those that `python` would get. The command is the same as `python -m cuda_graphs.hostdriver`, and ends
with the exit code of the program."""

from __future__ import annotations

import argparse

from .outcome import Outcome

HELP = "run a program of another library on the host driver"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="...", help="script.py, -m module or -c code"
    )


def run_program(arguments: list[str]) -> None:
    """Run the program of a command line.

    Raises:
        SystemExit: The program ends with an exit code, or the command line has no program.
    """
    from cuda_graphs.hostdriver import main

    main(arguments)


def run(arguments: argparse.Namespace) -> Outcome:
    run_program(arguments.program)
    return Outcome("")
