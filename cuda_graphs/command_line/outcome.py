# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The result of a verb, its exit code, and the error that ends a verb."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["DONE", "EXIT_CODES", "FOUND", "UNUSABLE", "USAGE", "CommandError", "Outcome"]

DONE, FOUND, USAGE, UNUSABLE = range(4)

EXIT_CODES = {
    DONE: "the verb is done, and has found nothing wrong",
    FOUND: "`check` has findings, or `doctor` has a failure",
    USAGE: "the command line is wrong, or needs a package that is not installed",
    UNUSABLE: "the script or file cannot be used: it is missing, raises an error, or has no such graph",
}
"""Exit code -> its meaning. `host` ends with the exit code of its program."""


class Outcome(NamedTuple):
    """The output of a verb, and its exit code.

    text  the output for people, without a line break at the end; "" prints nothing
    data  the same for `--json`: dicts, lists, strings, numbers, bools and None; None for verbs without a report
    """

    text: str
    data: Any = None
    code: int = DONE


class CommandError(Exception):
    """Ends the command with a message on standard error.

    code  the exit code
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
