# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs.graph.operands.array_values import ArrayValue
from cuda_graphs.objects.code.arguments import StandIn

# Derived from Any: it stands where a value of any type is wanted.
class Parameter(StandIn, Any):  # type: ignore[misc]
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def default(self) -> int | float | bool | ArrayValue | None: ...
    def __repr__(self) -> str: ...

class ArrayParameter(Parameter):
    @property
    def ndim(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def shape(self) -> tuple[ArrayExtent, ...]: ...

class ArrayExtent(StandIn, Any):  # type: ignore[misc]
    def __repr__(self) -> str: ...
