# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of other libraries as nodes: `capture_call` of definitions and nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.objects import constructors
from cuda_graphs.objects.device.current import stream as current_stream_block
from cuda_graphs.objects.device.device import Device

from .call_streams import lease

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.insertion_point import InsertionPoint
    from cuda_graphs.graph.nodes.node_kinds import ChildGraphNode

__all__ = ["CapturedCall", "capture_call"]


class CapturedCall(NamedTuple):
    """A node with the work of a function, and what the function returned. Made by `capture_call`.

    Attributes:
        node: The ChildGraphNode.
        result: What the function returned when it was captured, for example the array that each launch writes.
    """

    node: ChildGraphNode
    result: Any


def capture_call(
    place: InsertionPoint,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    warm_up: bool,
    name: str | None,
) -> CapturedCall:
    """Add a node with the work of a function; see `InsertionPoint.capture_call`."""
    if not callable(function):
        raise TypeError(f"capture_call takes a function, got {type(function).__name__}")
    if not isinstance(warm_up, bool):
        raise TypeError(f"warm_up must be a bool, got {type(warm_up).__name__}")
    leased = lease(Device())
    stream = leased.stream
    if warm_up:
        with current_stream_block(stream):
            function(*args, **keywords)
        stream.sync()
    builder = constructors.graph_builder(stream)
    with builder:
        result = function(*args, **keywords)
        builder._keep((leased, function, args, keywords, result))
    return CapturedCall(place.embed(builder.graph_definition, name=name), result)
