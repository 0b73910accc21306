# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Print the completion script of a shell. It completes verbs, options, words and files.

    bash  eval "$(cuda-graphs completion bash)", in ~/.bashrc
    zsh   cuda-graphs completion zsh > ~/.zfunc/_cuda-graphs, in a folder of $fpath
    fish  cuda-graphs completion fish > ~/.config/fish/completions/cuda-graphs.fish

The script comes from the parser of this command, by the package shtab: pip install 'cuda-graphs[completion]'."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from .outcome import USAGE, CommandError, Outcome

# The words for arguments that are names of files.
FILES = ("SCRIPT", "FILE")
HELP = "print the completion script of a shell"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell")


def run(arguments: argparse.Namespace) -> Outcome:
    try:
        import shtab
    except ImportError:
        raise CommandError(
            "the completion needs the package shtab: pip install 'cuda-graphs[completion]'", USAGE
        ) from None
    parser = arguments.make_parser()
    for action in all_actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return Outcome(shtab.complete(parser, shell=arguments.shell).rstrip("\n"))


def all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its verbs."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from all_actions(each)
