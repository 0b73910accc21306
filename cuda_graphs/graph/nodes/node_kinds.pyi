# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence
from typing import Any

from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.operands.condition import Condition
from cuda_graphs.graph.operands.spans import Span
from cuda_graphs.objects.device.event import Event
from cuda_graphs.objects.launch_errors import LaunchQueue

from .kernel_node import KernelNode as KernelNode
from .memory_nodes import AllocNode as AllocNode
from .memory_nodes import FreeNode as FreeNode
from .memory_nodes import MemcpyNode as MemcpyNode
from .memory_nodes import MemsetNode as MemsetNode
from .node import GraphNode

class EmptyNode(GraphNode): ...

class ChildGraphNode(GraphNode):
    def update(self, child: GraphDef) -> None: ...
    @property
    def child_graph(self) -> GraphDef: ...

class HostCallbackNode(GraphNode):
    def update(
        self,
        fn: Callable[[], object],
        *,
        user_data: Any = None,
        reads: Sequence[Any] | None = None,
        writes: Sequence[Any] | None = None,
    ) -> None: ...
    @property
    def reads(self) -> tuple[Span, ...] | None: ...
    @property
    def writes(self) -> tuple[Span, ...] | None: ...
    @property
    def callback_fn(self) -> Callable[[], object] | None: ...

def give_callback(node: HostCallbackNode, launches: LaunchQueue) -> int: ...

class EventRecordNode(GraphNode):
    def update(self, event: Event) -> None: ...
    @property
    def event(self) -> Event: ...

class EventWaitNode(GraphNode):
    def update(self, event: Event) -> None: ...
    @property
    def event(self) -> Event: ...

class ConditionalNode(GraphNode):
    @property
    def condition(self) -> Condition | None: ...
    @property
    def cond_type(self) -> str | None: ...
    @property
    def branches(self) -> tuple[GraphDef, ...]: ...

class IfNode(ConditionalNode):
    @property
    def then(self) -> GraphDef: ...

class IfElseNode(ConditionalNode):
    @property
    def then(self) -> GraphDef: ...
    @property
    def else_(self) -> GraphDef: ...

class WhileNode(ConditionalNode):
    @property
    def body(self) -> GraphDef: ...

class SwitchNode(ConditionalNode): ...
