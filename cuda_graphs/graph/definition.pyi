# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping
from os import PathLike
from typing import Any

from cuda_graphs._objects.stream import Stream
from cuda_graphs.graph.condition import Condition
from cuda_graphs.graph.exec import Graph
from cuda_graphs.graph.node import GraphNode
from cuda_graphs.graph.options import GraphCompleteOptions, GraphDebugPrintOptions
from cuda_graphs.graph.place import Place

class GraphDef(Place):
    def __init__(self) -> None: ...
    @property
    def handle(self) -> int: ...
    @property
    def is_valid(self) -> bool: ...
    def nodes(self) -> set[GraphNode]: ...
    def edges(self) -> set[tuple[GraphNode, GraphNode]]: ...
    def create_condition(self, default_value: int | None = None) -> Condition: ...
    def instantiate(
        self,
        options: GraphCompleteOptions | Mapping[str, Any] | None = None,
        *,
        auto_free_on_launch: bool = False,
        upload_stream: Stream | None = None,
        device_launch: bool = False,
        use_node_priority: bool = False,
    ) -> Graph: ...
    def debug_dot_print(
        self, path: str | bytes | PathLike[str], options: GraphDebugPrintOptions | None = None
    ) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
