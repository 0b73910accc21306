# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions for the errors that kernels with `debug=True` detect when they run."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.errors import describe_location

__all__ = [
    "AdstackOverflowError",
    "KernelAssertionError",
    "KernelError",
    "KernelIndexError",
    "KernelOverflowError",
    "error_of",
]


class KernelError(RuntimeError):
    """A kernel detected an error while it ran. The context stays valid, so the next call can run."""


class KernelAssertionError(KernelError, AssertionError):
    """An assert of a kernel failed."""


class KernelIndexError(KernelError, IndexError):
    """An index of an array is out of range."""


class KernelOverflowError(KernelError, OverflowError):
    """The result of an integer operation does not fit its type, or a conversion to an integer type loses range."""


class AdstackOverflowError(KernelError):
    """A stack of a gradient was full: its data grew during the call, or `stack_room` was too small.

    Iterations whose stack was full added nothing to any gradient; the other iterations did.
    """


KINDS: dict[str, type[KernelError]] = {
    "assert": KernelAssertionError,
    "index": KernelIndexError,
    "overflow": KernelOverflowError,
    "adstack": AdstackOverflowError,
    "depth": KernelError,
}


def error_of(kernel: str, assertion: Any, text: str) -> KernelError:
    """Return the exception for a failed check, with its source location and its message."""
    said = text or "an assert failed"
    return KINDS[assertion.kind](f"kernel {kernel}: {said}\n{describe_location(assertion.loc)}".rstrip())
