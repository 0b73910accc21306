# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Explains why a driver refuses a node that uses memory of an alloc node.

If a free node of a definition frees memory, libcuda 580 refuses every new memset, memcpy or free node for that memory
in the same definition, with "invalid argument". The order of the nodes does not matter (tests/conformance/driver,
graph_memory_use).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_graphs.graph.definition import GraphDef

__all__ = ["explain_freed"]


def explain_freed(graph: GraphDef, addresses: Sequence[int]) -> str:
    """Return the end of a message that names the node that frees one of the addresses; "" if no node frees them."""
    from .node_kinds import AllocNode, FreeNode  # late: avoids a cycle

    allocs = [
        node
        for node in graph.nodes()
        if isinstance(node, AllocNode) and any(0 <= a - node.dptr < node.bytesize for a in addresses)
    ]
    starts = {node.dptr for node in allocs}
    frees = [node for node in graph.nodes() if isinstance(node, FreeNode) and node.dptr in starts]
    # A later alloc node may reuse the address of freed memory. Then one of the allocations is not freed.
    if not allocs or len(frees) < len(allocs):
        return ""
    return (
        f"; {allocs[0]._identify()} allocates the memory and {frees[0]._identify()} frees it: "
        "add the nodes that use the memory before the node that frees it"
    )
