# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, Self, SupportsIndex
from weakref import ReferenceType

from cuda_graphs.drawing.picture import Picture
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.executable.executable import Graph
from cuda_graphs.graph.nodes.insertion_point import _Decider
from cuda_graphs.graph.nodes.options import GraphCompleteOptions, GraphDebugPrintOptions
from cuda_graphs.graph.operands.condition import Condition
from cuda_graphs.graph.operands.parameter import Parameter
from cuda_graphs.objects.device.stream import Stream
from cuda_graphs.objects.protocols import SupportsCudaStream

from .builder_state import BuilderState

class GraphBuilder(BuilderState):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def is_building(self) -> bool: ...
    @property
    def graph_definition(self) -> GraphDef: ...
    def begin_building(self, mode: Literal["global", "thread_local", "relaxed"] = "relaxed") -> Self: ...
    def _captured_calls(self) -> int | None: ...
    def _keep(self, *objects: object) -> None: ...
    def end_building(self) -> Self: ...
    def complete(
        self,
        options: GraphCompleteOptions | dict[str, Any] | None = None,
        *,
        auto_free_on_launch: bool = False,
        upload_stream: Stream | None = None,
        device_launch: bool = False,
        use_node_priority: bool = False,
    ) -> Graph: ...
    def debug_dot_print(
        self, path: str | bytes | os.PathLike[str], options: GraphDebugPrintOptions | None = None
    ) -> None: ...
    def draw(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fold: bool | None = None,
        check: bool = False,
        theme: str = "auto",
    ) -> Picture: ...
    def _repr_mimebundle_(self, **types: Any) -> dict[str, str]: ...
    def __str__(self) -> str: ...
    def split(self, count: int) -> tuple[GraphBuilder, ...]: ...
    @staticmethod
    def join(*builders: GraphBuilder) -> GraphBuilder: ...
    def embed(self, child: GraphBuilder, *, name: str | None = None) -> None: ...
    def callback(
        self,
        fn: Callable[[], Any] | Any,
        *,
        user_data: int | bytes | Any | None = None,
        name: str | None = None,
    ) -> None: ...
    def create_condition(self, default_value: int | None = None) -> Condition: ...
    def param(self, name: str, type: Any, default: Any = None) -> Parameter: ...  # noqa: A002
    def if_then(
        self, condition: _Decider, *, args: Sequence[Any] = (), name: str | None = None
    ) -> GraphBuilder: ...
    def if_else(
        self, condition: _Decider, *, args: Sequence[Any] = (), name: str | None = None
    ) -> tuple[GraphBuilder, GraphBuilder]: ...
    def while_loop(
        self,
        condition: _Decider,
        *,
        args: Sequence[Any] = (),
        do: bool = False,
        max_iterations: SupportsIndex | None = None,
        name: str | None = None,
    ) -> GraphBuilder: ...
    def switch(
        self, condition: _Decider, count: int, *, args: Sequence[Any] = (), name: str | None = None
    ) -> tuple[GraphBuilder, ...]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def calls_of(builder: ReferenceType[GraphBuilder]) -> int | None: ...
def capture(
    stream: Stream | SupportsCudaStream | None = None,
    mode: Literal["global", "thread_local", "relaxed"] = "relaxed",
) -> GraphBuilder: ...
