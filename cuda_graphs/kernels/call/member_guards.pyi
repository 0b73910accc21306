# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence
from typing import Any

from cuda_graphs.kernels.specialisation.snapshots import Memo

class MemberGuard:
    @property
    def annotation(self) -> Any: ...

class ArrayGuard(MemberGuard):
    def __init__(self, annotation: Any, kind: type | None, is_array: Callable[[Any], bool]) -> None: ...

class StructArrayGuard(MemberGuard):
    def __init__(self, annotation: Any, kind: type) -> None: ...

class FixedGuard(MemberGuard):
    def __init__(self, annotation: Any) -> None: ...

class RowGuard(MemberGuard):
    def __init__(self, annotation: Any, row: Any) -> None: ...

class OwnMethodGuard(MemberGuard):
    def __init__(self, annotation: Any, function: Callable[..., Any]) -> None: ...

class ComputedGuard(MemberGuard):
    def __init__(
        self, annotation: Any, compute: Callable[[Any, tuple[Any, ...]], Any], value: Any
    ) -> None: ...

class ItemsGuard(MemberGuard):
    def __init__(self, annotation: Any, guards: Sequence[MemberGuard]) -> None: ...

class LeftOutGuard(MemberGuard):
    def __init__(self, kind: type | None) -> None: ...

class EnclosingGuard(MemberGuard): ...

class RecordGuard(MemberGuard):
    passes: int

    def __init__(
        self,
        annotation: Any,
        members: Sequence[tuple[str, MemberGuard, bool]],
        methods: Sequence[tuple[str, Any]],
        all_names: tuple[str, ...] | None,
    ) -> None: ...

class Choice: ...

class Choices:
    def find(self, values: tuple[Any, ...]) -> Any: ...
    def add(
        self,
        values: tuple[Any, ...],
        guards: tuple[MemberGuard, ...],
        result: Any,
        functions: Sequence[tuple[type, str, Any]] = (),
    ) -> None: ...
    def forget(self) -> None: ...

class HolderOfArrays:
    def is_known(self, value: Any) -> bool: ...
    def note(self, value: Any, is_array: Callable[[Any], bool]) -> None: ...

MISSING: Any

def are_constants(
    args: tuple[Any, ...],
    numbers: tuple[int, ...],
    holders: tuple[HolderOfArrays, ...],
    without_arrays: Memo,
) -> bool: ...
