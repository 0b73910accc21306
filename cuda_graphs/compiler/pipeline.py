# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From a function to code, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import ir
from .annotations import Spec
from .frontend import translate
from .passes.offload import offload

__all__ = ["lower"]


def lower(function: Callable[..., Any], signature: dict[str, Spec]) -> ir.Program:
    """The function as tasks. From `translate` on every value has a type; from `offload` on every loop has a place."""
    kernel, _ = translate(function, signature)
    return offload(kernel)
