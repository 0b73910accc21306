# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs.compiler.types import ScalarType

class ForeignArray:
    array: Any
    dtype: ScalarType
    shape: tuple[int, ...]
    path: str

class Foreign: ...
