# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch_config import LaunchConfig
from cuda_graphs.objects.device.event import Event

class ExecutableGraphNode:
    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn: ...
    def __repr__(self) -> str: ...

class SwitchableNode(ExecutableGraphNode):
    @property
    def is_enabled(self) -> bool: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...

class ExecutableKernelNode(SwitchableNode):
    def update(
        self,
        *,
        config: LaunchConfig | Mapping[str, Any] | Callable[..., Any] | None = None,
        kernel: Kernel | None = None,
        args: Sequence[Any] | None = None,
    ) -> None: ...
    def _replace_code(self, kernel: Kernel) -> None: ...

class ExecutableMemsetNode(SwitchableNode):
    def update(
        self, *, dst: Any, value: Any, width: int | None = None, height: int = 1, pitch: int = 0
    ) -> None: ...

class ExecutableMemcpyNode(SwitchableNode):
    def update(
        self,
        *,
        dst: Any,
        src: Any,
        size: int | None = None,
        width: int | None = None,
        height: int | None = None,
        depth: int | None = None,
        dst_pitch: int | None = None,
        src_pitch: int | None = None,
        dst_height: int | None = None,
        src_height: int | None = None,
    ) -> None: ...

class ExecutableChildGraphNode(ExecutableGraphNode):
    def update(self, child: GraphDef) -> None: ...

class ExecutableHostCallbackNode(ExecutableGraphNode):
    def update(self, fn: Callable[[], object], *, user_data: Any = None) -> None: ...

class ExecutableEventRecordNode(ExecutableGraphNode):
    def update(self, event: Event) -> None: ...

class ExecutableEventWaitNode(ExecutableGraphNode):
    def update(self, event: Event) -> None: ...
