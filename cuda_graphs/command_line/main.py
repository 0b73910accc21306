# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The parser of the command line, and the table of verbs."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from types import ModuleType
from typing import NoReturn

import cuda_graphs as cg

from . import cache, check, completion, doctor, draw, host, info, profile, run_file, show
from .outcome import EXIT_CODES, USAGE, CommandError, Outcome

__all__ = ["VERBS", "main", "make_parser", "run"]

PROGRAM = "cuda-graphs"

# The verbs in the order of the help.
VERBS: dict[str, ModuleType] = {
    "info": info,
    "doctor": doctor,
    "draw": draw,
    "check": check,
    "profile": profile,
    "show": show,
    "run": run_file,
    "cache": cache,
    "host": host,
    "completion": completion,
}

DESCRIPTION = (
    "Reports, pictures, checks and profiles of CUDA graphs. `python -m cuda_graphs` is the same command."
)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    codes = "\n".join(f"  {code}  {meaning}" for code, meaning in EXIT_CODES.items())
    parser = argparse.ArgumentParser(
        PROGRAM,
        description=DESCRIPTION,
        epilog=f"exit codes:\n{codes}\n  `host` ends with the exit code of its program",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {cg.__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, module in VERBS.items():
        own = verbs.add_parser(name, help=module.HELP, description=module.__doc__, allow_abbrev=False)
        own.formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(own)
    return parser


def main(arguments: list[str]) -> int:
    """Run the command line `arguments`, without the name of the program, and return the exit code.

    Arguments after `--` belong to the script of the verb. `host` gets all arguments unread, as `python` would.

    Raises:
        SystemExit: The command line is wrong, or asks for help; or the program of `host` ends.
    """
    if arguments[:1] == ["host"] and arguments[1:2] not in (["-h"], ["--help"]):
        host.run_program(arguments[1:])
        return 0
    own, _, rest = _divided(arguments)
    parsed = make_parser().parse_args(own)
    parsed.script_arguments, parsed.make_parser = rest, make_parser
    if rest and not hasattr(parsed, "script"):
        _fail(f"{parsed.verb} takes no arguments after `--`")
    try:
        outcome: Outcome = VERBS[parsed.verb].run(parsed)
    except CommandError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return error.code
    if getattr(parsed, "json", False):
        print(json.dumps(outcome.data, indent=2))
    elif outcome.text:
        print(outcome.text)
    return outcome.code


def _divided(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    """Return (arguments before the first `--`, "--" or "", arguments after it)."""
    if "--" not in arguments:
        return arguments, "", []
    at = arguments.index("--")
    return arguments[:at], "--", arguments[at + 1 :]


def _fail(message: str) -> NoReturn:
    """Print `message` and exit with the code of a wrong command line."""
    print(f"{PROGRAM}: {message}", file=sys.stderr)
    raise SystemExit(USAGE)


def run() -> None:
    """Run the command line of this process, and exit. A reader that closes the pipe early, such as `head`, ends it."""
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # Python flushes it again when it exits
        code = 128 + signal.SIGPIPE
    raise SystemExit(code)
