# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.objects.memory.array_view import ArrayView

from .ndarray import NDArray

all_is_reached: bool | None

class ForeignArray:
    array: Any
    dtype: ScalarType
    shape: tuple[int, ...]
    path: str
    needs_grad: bool

class Foreign: ...

class Memory:
    view: ArrayView
    __array_interface__: dict[str, Any]
    def __init__(self, view: ArrayView) -> None: ...

def view_memory(array: Any, dtype: ScalarType | VectorType | None) -> NDArray: ...
