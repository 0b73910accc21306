# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The accesses of nodes in words, for reports. The nodes themselves know what they access (nodes/access_ranges.pyx).

A *token* is memory that nodes declare to write because they must run one after another, not for what it holds. Task
flows order such nodes like other writers of one memory. Each communicator of collectives has a token.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode,
    ConditionalNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    MemcpyNode,
    MemsetNode,
)
from cuda_graphs.graph.nodes.places import array_at, reading_places
from cuda_graphs.graph.operands.spans import Span

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node import GraphNode

__all__ = ["POSSIBLE", "READING", "WRITES", "NodeAccess", "own_accesses", "register_token"]

READS, WRITES, UNKNOWN, MAY_READ = "reads", "writes", "may access", "may read"  # modes
READING = (READS, MAY_READ)
POSSIBLE = (UNKNOWN, MAY_READ)  # the node may also leave the memory alone

# (class of the node, mode) -> verb. Other verbs are the modes.
VERBS: dict[tuple[type, str], str] = {
    (MemsetNode, WRITES): "fills",
    (MemcpyNode, WRITES): "copies to",
    (MemcpyNode, READS): "copies from",
    (AllocNode, WRITES): "allocates",
    (FreeNode, WRITES): "frees",
    (EventRecordNode, WRITES): "records",
    (EventWaitNode, READS): "waits for",
}


class NodeAccess(NamedTuple):
    """One access of a node: the bytes, and how it accesses them."""

    node: GraphNode
    mode: str
    what: str  # "memory", "event", "condition" or "communicator"
    span: Span
    place: str = ""  # " on device 1", in a definition with nodes on several devices

    @property
    def verb(self) -> str:
        if self.what == "condition":
            return "looks at" if isinstance(self.node, ConditionalNode) else "sets"
        if self.what == "communicator":
            return "uses"
        return VERBS.get((type(self.node), self.mode), self.mode)

    def __str__(self) -> str:
        accessed = memory_text(self.span) if self.what == "memory" else f"{self.what} {self.span.start:#x}"
        return f"{self.node._identify()}{self.place} {self.verb} {accessed}"


def memory_text(span: Span) -> str:
    """Return a span in words. Memory of an alloc node that has no address is called by the node."""
    found = None if isinstance(span.start, str) else array_at(span.start)
    if found is None:
        return str(span)
    node, first = found
    if node._place() == "own":
        with reading_places(0):
            return str(span._replace(start=node.dptr + first))
    rows = f" in {span.runs} runs of {span.run}" if span.axes else ""
    return f"bytes {first}..{first + span.end - span.start - 1} of {node._identify()}{rows}"


def own_accesses(node: GraphNode) -> tuple[list[NodeAccess], bool]:
    """Return the accesses of a node without those of the graphs inside it, and whether accesses are unknown."""
    found, is_unknown = node._accesses()
    return [NodeAccess(node, mode, kind_of(span, what), span) for span, mode, what in found], is_unknown


def kind_of(span: Span, what: str) -> str:
    return "communicator" if what == "memory" and span.start in _tokens else what


def register_token(address: int, owner: object) -> None:
    """Let an address be that of a token as long as `owner` lives."""
    _tokens.add(address)
    weakref.finalize(owner, _tokens.discard, address)


_tokens: set[int] = set()


def all_accesses(node: GraphNode) -> Iterator[NodeAccess]:
    """Yield the accesses of a node and of all nodes of the graphs inside it."""
    nodes = [node]
    for each in nodes:  # the loop appends to the list
        yield from own_accesses(each)[0]
        for graph in each._inner_graphs():
            nodes += graph._listed()[0]
