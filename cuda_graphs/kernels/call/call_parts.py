# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CallParts: what node_fusion.py needs to run the work of a node in another launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cuda_graphs.kernels.specialisation.options import Options

__all__ = ["CallParts"]


class CallParts(NamedTuple):
    """A call that may share its launch with other calls.

    Attributes:
        function: The function of the kernel.
        options: The options of the kernel.
        names: The names of its parameters.
        annotations: The annotation of each parameter.
        args: The argument of each parameter.
        places: What identifies the array of each argument; None for a number.
    """

    function: Callable[..., Any]
    options: Options
    names: tuple[str, ...]
    annotations: tuple[Any, ...]
    args: tuple[Any, ...]
    places: tuple[Any, ...]
