# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What kernels with `debug=True` find wrong when they run, as exceptions."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.errors import describe_place

__all__ = ["AdstackOverflowError", "KernelAssertionError", "KernelError", "KernelIndexError", "error_of"]


class KernelError(RuntimeError):
    """A kernel found something wrong while it ran. Nothing is wrong with the device: the next call can be made."""


class KernelAssertionError(KernelError, AssertionError):
    """An assert of a kernel did not hold."""


class KernelIndexError(KernelError, IndexError):
    """An index of an array is out of range."""


class AdstackOverflowError(KernelError):
    """A stack of a gradient had no room: what it was to hold grew while it ran, or its room was set to less.

    Iterations that had no room have added nothing to any gradient; others have.
    """


KINDS = {"assert": KernelAssertionError, "index": KernelIndexError, "adstack": AdstackOverflowError}


def error_of(kernel: str, claim: Any, text: str) -> KernelError:
    """The exception for an assert that failed, with its place in the source and its message."""
    said = text or "an assert does not hold"
    return KINDS[claim.kind](f"kernel {kernel}: {said}\n{describe_place(claim.loc)}".rstrip())
