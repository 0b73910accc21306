# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

class ArrayView:
    address: int
    itemsize: int
    dtype: str
    is_bfloat16: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_read_only: bool
    node: Any

def graph_memory_error(what: str) -> str: ...
def packed_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]: ...
def view_array(array: Any, name: str) -> ArrayView | None: ...
