# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable
from typing import Any

from typing_extensions import ParamSpec

from cuda_graphs.compiler.artifact import GradientInfo
from cuda_graphs.kernels.call.function import KernelFunction
from cuda_graphs.objects.device.stream import Stream

from .grad_stats import GradStats

_P = ParamSpec("_P", default=...)

class GradientFunction(KernelFunction[_P, None]):
    @property
    def stats(self) -> GradStats: ...
    @property
    def stack_room(self) -> int | None: ...
    @stack_room.setter
    def stack_room(self, value: int | None) -> None: ...
    def info(self, *args: Any) -> GradientInfo: ...
    def clear(
        self, args: tuple[Any, ...], fields: Iterable[Any], done: dict[int, Any], stream: Stream | None = None
    ) -> None: ...
    def second(self) -> GradientFunction[_P]: ...
    def forget(self) -> None: ...
    def __repr__(self) -> str: ...

def gradient_of(primal: KernelFunction[_P, Any]) -> GradientFunction[_P]: ...
