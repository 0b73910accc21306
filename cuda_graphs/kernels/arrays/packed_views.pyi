# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.compiler.ir.types import ScalarType

from .ndarray import Field, NDArray

class PackedField(Field): ...

def packed_view(
    whole: NDArray, dtype: ScalarType, whole_grad: NDArray | None = None, needs_dual: bool = False
) -> NDArray: ...
