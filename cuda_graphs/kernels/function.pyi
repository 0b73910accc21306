# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from cuda_graphs._objects.kernel import Kernel
from cuda_graphs._objects.launch_config import LaunchConfig
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels.checkpoints import CheckpointStatus
from cuda_graphs.kernels.explanation import Explanation
from cuda_graphs.kernels.grad_stats import GradStats
from cuda_graphs.kernels.gradient import GradientFunction
from cuda_graphs.kernels.graph_stats import GraphStats
from cuda_graphs.kernels.inspection import Inspection
from cuda_graphs.kernels.options import Options

class KernelFunction:
    mode: str | None
    debug: bool
    fast_math: bool
    is_graph: bool
    has_checkpoints: bool
    __name__: str
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> Any: ...
    def __cuda_graph_emit__(self, node: Any, args: Sequence[Any]) -> Any: ...
    def __cuda_graph_kernel__(
        self, config: Any, args: Sequence[Any]
    ) -> tuple[LaunchConfig, Kernel, Sequence[Any]]: ...
    def compile(self, *args: Any, **keywords: Any) -> None: ...
    def fields(self, *args: Any) -> tuple[Any, ...]: ...
    def has_gradient(self, *args: Any) -> bool: ...
    def inspect(self, *args: Any, target: str | None = None, **keywords: Any) -> Inspection: ...
    def resume(
        self, *args: Any, from_checkpoint: int, stream: Any = None, **keywords: Any
    ) -> CheckpointStatus: ...
    def graph(self, *args: Any, **keywords: Any) -> GraphDef: ...
    def explain(self, *args: Any, **keywords: Any) -> Explanation: ...
    @property
    def grad(self) -> GradientFunction: ...
    @property
    def grad_stats(self) -> GradStats: ...
    @property
    def graph_stats(self) -> GraphStats: ...
    def forget(self) -> None: ...
    def __repr__(self) -> str: ...

def kernel_of(
    function: Callable[..., Any], options: Options, known: Mapping[str, Any] | None = None
) -> KernelFunction: ...
@overload
def kernel(
    function: Callable[..., Any],
    *,
    debug: bool = False,
    fast_math: bool = False,
    graph: bool = False,
    loop: str = "auto",
    chain: str = "auto",
    checkpoints: bool = False,
) -> KernelFunction: ...
@overload
def kernel(
    function: None = None,
    *,
    debug: bool = False,
    fast_math: bool = False,
    graph: bool = False,
    loop: str = "auto",
    chain: str = "auto",
    checkpoints: bool = False,
) -> Callable[[Callable[..., Any]], KernelFunction]: ...
