# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Formats of values in texts, for `print` and the messages of asserts.

A format means the same to Python's `format` and to C's printf: a letter of `LETTERS` for the kind of the value's type,
with flags, a width and a precision.
"""

from __future__ import annotations

import re
from typing import Any

from .types import ScalarType

__all__ = ["format_of", "formatted"]

FORMAT = re.compile(r"([+ 0]*)(\d*)(\.\d+)?([dxfeg]?)")
LETTERS = {"int": "d", "uint": "dx", "float": "gfe", "bool": ""}


def format_of(type: ScalarType, spec: str) -> str | None:
    """Return the format for a value of the type from the source's format; None unless Python and C both have it."""
    found = FORMAT.fullmatch(spec)
    letters = LETTERS[type.kind]
    if found is None or (not letters and spec):
        return None
    letter = found[4] or letters[:1]
    if letter not in letters or (found[3] and letter in "dx"):
        return None
    if type.kind == "uint" and set(found[1]) & set("+ "):  # C prints no sign of unsigned numbers
        return None
    return spec[: len(spec) - len(found[4])] + letter


def formatted(value: Any, type: ScalarType, form: str) -> str:
    """Return the text that a device prints for the value."""
    if type.kind == "bool":
        return str(bool(value))
    return format(float(value) if type.kind == "float" else int(value), form)
