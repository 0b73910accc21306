# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, SupportsIndex, TypeVar

from cuda_graphs.graph.capture.library_call import CapturedCall
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.operands.condition import Condition
from cuda_graphs.graph.operands.edge_data import EdgeData
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch_config import LaunchConfig
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.device.event import Event
from cuda_graphs.objects.memory.buffer import Buffer
from cuda_graphs.objects.protocols import SupportsGraphKernel

from .node import GraphNode
from .node_kinds import (
    AllocNode,
    ChildGraphNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    HostCallbackNode,
    IfElseNode,
    IfNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    SwitchNode,
    WhileNode,
)
from .options import GraphAllocOptions

_Decider = Condition | Callable[..., Any] | Any  # a Condition, a predicate or a flag
_Touched = int | Buffer | AllocNode | tuple[int | Buffer, int] | Any  # or an array

_Last = TypeVar("_Last", covariant=True)

class _Emits(Protocol[_Last]):
    def __cuda_graph_emit__(self, node: Any, args: tuple[Any, ...], /) -> _Last: ...

class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> Mapping[str, Any]: ...

class _HostArray(Protocol):
    @property
    def __array_interface__(self) -> Mapping[str, Any]: ...

class _DLPackArray(Protocol):
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

_Operand = SupportsIndex | Buffer | _CudaArray | _HostArray | _DLPackArray

class InsertionPoint:
    def _definition_number(self) -> int: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def join(self, *nodes: GraphNode, name: str | None = None) -> EmptyNode: ...
    def launch(
        self,
        config: LaunchConfig | Mapping[str, Any] | Callable[..., Any] | None,
        kernel: Kernel | SupportsGraphKernel,
        *args: Any,
        edge: EdgeData | None = None,
        name: str | None = None,
        reads: Sequence[_Touched] | None = None,
        writes: Sequence[_Touched] | None = None,
    ) -> KernelNode: ...
    def alloc(
        self,
        size: int | None = None,
        options: GraphAllocOptions | Mapping[str, Any] | None = None,
        *,
        shape: SupportsIndex | Sequence[SupportsIndex] | None = None,
        dtype: Any = None,
        device: int | Device | None = None,
        memory_type: str = "device",
        peer_access: Sequence[int | Device] | None = None,
        name: str | None = None,
    ) -> AllocNode: ...
    def free(self, dptr: SupportsIndex | AllocNode, *, name: str | None = None) -> FreeNode: ...
    def memset(
        self,
        dst: _Operand,
        value: Any,
        width: int | None = None,
        height: int = 1,
        pitch: int = 0,
        *,
        dst_owner: Any = None,
        name: str | None = None,
    ) -> MemsetNode: ...
    def memcpy(
        self,
        dst: _Operand,
        src: _Operand,
        size: int | None = None,
        *,
        width: int | None = None,
        height: int | None = None,
        depth: int | None = None,
        dst_pitch: int | None = None,
        src_pitch: int | None = None,
        dst_height: int | None = None,
        src_height: int | None = None,
        dst_owner: Any = None,
        src_owner: Any = None,
        name: str | None = None,
    ) -> MemcpyNode: ...
    def embed(self, child: GraphDef, *, name: str | None = None) -> ChildGraphNode: ...
    def capture_call(
        self,
        fn: Callable[..., Any],
        *args: Any,
        warm_up: bool = True,
        name: str | None = None,
        **keywords: Any,
    ) -> CapturedCall: ...
    def record_event(self, event: Event, *, name: str | None = None) -> EventRecordNode: ...
    def wait_event(self, event: Event, *, name: str | None = None) -> EventWaitNode: ...
    def callback(
        self,
        fn: Callable[[], object],
        *,
        user_data: Any = None,
        name: str | None = None,
        reads: Sequence[_Touched] | None = None,
        writes: Sequence[_Touched] | None = None,
    ) -> HostCallbackNode: ...
    def if_then(
        self, condition: _Decider, *, args: Sequence[Any] = (), name: str | None = None
    ) -> IfNode: ...
    def if_else(
        self, condition: _Decider, *, args: Sequence[Any] = (), name: str | None = None
    ) -> IfElseNode: ...
    def while_loop(
        self,
        condition: _Decider,
        *,
        args: Sequence[Any] = (),
        do: bool = False,
        max_iterations: SupportsIndex | None = None,
        name: str | None = None,
    ) -> WhileNode: ...
    def switch(
        self, condition: _Decider, count: int, *, args: Sequence[Any] = (), name: str | None = None
    ) -> SwitchNode: ...
    def call(self, obj: _Emits[_Last], *args: Any, name: str | None = None) -> _Last: ...
