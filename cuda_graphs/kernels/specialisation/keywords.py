# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["positional_arguments"]


def positional_arguments(
    function: str,
    names: Sequence[str],
    index_of: Mapping[str, int],
    args: Sequence[Any],
    keywords: Mapping[str, Any],
) -> tuple[Any, ...]:
    """Return the arguments in the order of the parameters `names`; raise TypeError if they do not fit."""
    found = list(args) + [None] * (len(names) - len(args))
    missing = set(names[len(args) :])
    for name, value in keywords.items():
        if name not in index_of:
            raise TypeError(f"{function}() has no parameter {name!r}")
        if name not in missing:
            raise TypeError(f"{function}() got multiple values for argument {name!r}")
        missing.discard(name)
        found[index_of[name]] = value
    if missing:
        lacking = ", ".join(repr(name) for name in names if name in missing)
        raise TypeError(f"{function}() misses arguments: {lacking}")
    return tuple(found)
