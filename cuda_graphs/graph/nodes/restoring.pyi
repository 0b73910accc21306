# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.graph.operands.loop_counter import LoopCounter
from cuda_graphs.objects.memory.buffer import Buffer

from .node import GraphNode

def counter_of(node: GraphNode) -> LoopCounter | None: ...
def memory_of_counter(counter: LoopCounter) -> Buffer: ...
def read_bytes(address: int, size: int) -> bytes: ...
