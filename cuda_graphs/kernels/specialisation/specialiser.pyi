# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence
from typing import Any

from cuda_graphs.kernels.graph.lowering import Lowering
from cuda_graphs.kernels.specialisation.options import Options

class HeapReading: ...

class Specialiser:
    function: Callable[..., Any]
    options: Options
    mode: str | None
    def signature(self, args: Sequence[Any]) -> dict[str, Any]: ...
    def lowering(self, embedded: bool) -> Lowering: ...
    def exchanges_of(self, args: Sequence[Any]) -> tuple[str, ...]: ...
    def count(self) -> int: ...
