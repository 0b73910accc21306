# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from types import TracebackType

from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.nodes.insertion_point import InsertionPoint
from cuda_graphs.graph.nodes.node import GraphNode

from .explanation import EdgeExplanation

class TaskFlow(InsertionPoint):
    def __enter__(self) -> TaskFlow: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    @property
    def graph(self) -> GraphDef: ...
    def explain(self, before: GraphNode, after: GraphNode) -> EdgeExplanation: ...
    def __repr__(self) -> str: ...
