# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .node import GraphNode

class NodeSequence:
    def append(self, node: GraphNode) -> None: ...
