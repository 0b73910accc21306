# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.kernels.arrays.ndarray import Field
from cuda_graphs.kernels.targets import Shape
from cuda_graphs.objects.code.kernel import Kernel

class Specialisation:
    artifact: Artifact
    kernels: tuple[Kernel, ...]
    writes: frozenset[str]
    guards: Any
    fields: tuple[Field, ...]
    name: str
    answers: bool
    labels: tuple[Any, ...]
    state: int
    is_replayable: bool
    is_straight: bool
    prints: bool
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __repr__(self) -> str: ...

class SourceMaker:
    OPERATIONS: dict[str, int]
    def __init__(self, owner: Specialisation, leaves: dict[str, int]) -> None: ...
    def slot(self, slot: Any) -> tuple[int, int, int, int]: ...
    def array(self, path: str) -> tuple[int, int]: ...
    def count(self, axes: Any) -> list[tuple[int, int, int, int]] | None: ...

def load(
    name: str, artifact: Artifact, shape: Shape, leaves: dict[str, int], guards: Any, labels: Any = ()
) -> Specialisation: ...
def add_constant(self: Specialisation, value: int) -> int: ...
def add_report(self: Specialisation) -> int: ...
def mark_random(self: Specialisation) -> None: ...
