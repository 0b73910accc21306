# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.objects.memory.buffer import Buffer

from .ndarray import NDArray

def view_buffer(
    buffer: Buffer,
    dtype: ScalarType | VectorType | np.dtype[Any] | type,
    shape: int | Sequence[int] | None,
) -> NDArray: ...
def array_of_memory(
    address: int, size: int, dtype: ScalarType, inner: Sequence[int], shape: Sequence[int], device: int
) -> NDArray: ...
