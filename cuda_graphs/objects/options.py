# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reads option arguments: an instance of the dataclass, a dict of its fields, or None."""

from typing import Any, TypeVar

T = TypeVar("T")


def accept_options(cls: type[T], options: Any, what: str) -> T:
    """Return `options` as an instance of the dataclass `cls`.

    Args:
        cls: The dataclass.
        options: An instance of it, a dict of its fields, or None for the defaults.
        what: The name of the options in the message.

    Raises:
        TypeError: `options` has another type, or a field that `cls` does not have.
    """
    if options is None:
        return cls()
    if isinstance(options, cls):
        return options
    if isinstance(options, dict):
        return cls(**options)
    raise TypeError(f"{what} must be a {cls.__name__} or a dict of its fields, got {type(options).__name__}")
