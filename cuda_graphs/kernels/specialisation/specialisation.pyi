# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.kernels.arrays.ndarray import Field
from cuda_graphs.objects.code.kernel import Kernel

class Specialisation:
    artifact: Artifact
    kernels: tuple[Kernel, ...]
    writes: frozenset[str]
    name: str
    guards: Any
    fields: tuple[Field, ...]
    labels: tuple[Any, ...]
    state: int
    why_nodes: int
    is_replayable: bool
    is_straight: bool
    prints: bool
    waits_for_results: bool
    recipe: Any
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __repr__(self) -> str: ...
