# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from typing import Any

from cuda_graphs.graph.nodes.node_call import NodeCall
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch_config import LaunchConfig

from .call_parts import CallParts
from .strategy import Strategy

class KernelCall(NodeCall):
    def parts(self) -> CallParts | str: ...

def no_object() -> None: ...

class CaptureStrategy(Strategy):
    def add_nodes(self, node: Any, args: Sequence[Any]) -> Any: ...
    def add_part(self, node: Any, args: Sequence[Any]) -> tuple[Any, list[Any]]: ...
    def single_node(
        self, config: LaunchConfig | None, args: Sequence[Any]
    ) -> tuple[LaunchConfig, Kernel, Sequence[Any]]: ...
    def launch_of_all(self, args: Sequence[Any]) -> tuple[LaunchConfig, Kernel, Sequence[Any]] | str: ...
