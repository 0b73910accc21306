# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Structures without a class: `SimpleNamespace(a=1, b=x)`."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.errors import CompileArgumentError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Struct, Vector
from cuda_graphs.compiler.language.structs import unnamed_struct

__all__ = ["structure"]


def structure(frame: Frame, /, *items: Any, **members: Any) -> Struct:
    """Translate the call of SimpleNamespace, with members by name or in one dict."""
    given = dict(items[0]) if len(items) == 1 and isinstance(items[0], dict) else {}
    if (items and not given) or not (given or members):
        raise compile_error(
            CompileArgumentError, frame.builder.loc, "a structure is made of members",
            "SimpleNamespace(a=1, b=x)",
        )  # fmt: skip
    found = {name: member(frame, value) for name, value in {**given, **members}.items()}
    return Struct(unnamed_struct(*sorted(found)), found)


def member(frame: Frame, value: Any) -> Any:
    """Return a member as it is in the structure: the value of a place, and a structure for a dict."""
    if isinstance(value, dict):
        return structure(frame, value)
    return value if isinstance(value, Vector) and value.numbers else frame.read(value)
