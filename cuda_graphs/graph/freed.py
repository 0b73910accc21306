# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Why a driver refuses a node that names memory of an alloc node.

libcuda 580 takes no new memset, memcpy or free node for memory that a free node of the same definition frees, in
whatever order they are (tests/conformance/driver, graph_memory_use), and says "invalid argument".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_graphs.graph.definition import GraphDef

__all__ = ["explain_freed"]


def explain_freed(graph: GraphDef, addresses: Sequence[int]) -> str:
    """The end of a sentence on what was attempted: which node frees one of the addresses; "" when none does."""
    from cuda_graphs.graph.node_kinds import AllocNode, FreeNode  # which are made of what asks

    allocs = [
        node
        for node in graph.nodes()
        if isinstance(node, AllocNode) and any(0 <= a - node.dptr < node.bytesize for a in addresses)
    ]
    starts = {node.dptr for node in allocs}
    frees = [node for node in graph.nodes() if isinstance(node, FreeNode) and node.dptr in starts]
    # A driver may give the address of freed memory to a later alloc node: then there is memory that is not freed.
    if not allocs or len(frees) < len(allocs):
        return ""
    return (
        f"; the memory is of {allocs[0]._identify()} and {frees[0]._identify()} frees it: "
        "nodes that use it are added before the node that frees it"
    )
