# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping
from os import PathLike
from typing import Any

from .kernel import Kernel, LibraryHolder
from .signature import Type

class ObjectCode(LibraryHolder):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def from_cubin(
        module: bytes | str | PathLike[str],
        *,
        name: str = "",
        symbol_mapping: Mapping[Any, Any] | None = None,
    ) -> ObjectCode: ...
    @staticmethod
    def from_ptx(
        module: bytes | str | PathLike[str],
        *,
        name: str = "",
        symbol_mapping: Mapping[Any, Any] | None = None,
    ) -> ObjectCode: ...
    @staticmethod
    def from_fatbin(
        module: bytes | str | PathLike[str],
        *,
        name: str = "",
        symbol_mapping: Mapping[Any, Any] | None = None,
    ) -> ObjectCode: ...
    @staticmethod
    def from_ltoir(
        module: bytes | str | PathLike[str],
        *,
        name: str = "",
        symbol_mapping: Mapping[Any, Any] | None = None,
    ) -> ObjectCode: ...
    @staticmethod
    def from_object(
        module: bytes | str | PathLike[str],
        *,
        name: str = "",
        symbol_mapping: Mapping[Any, Any] | None = None,
    ) -> ObjectCode: ...
    @staticmethod
    def from_library(
        module: bytes | str | PathLike[str],
        *,
        name: str = "",
        symbol_mapping: Mapping[Any, Any] | None = None,
    ) -> ObjectCode: ...
    @staticmethod
    def from_native(
        module: bytes | str | PathLike[str],
        *,
        name: str = "",
        symbol_mapping: Mapping[Any, Any] | None = None,
    ) -> ObjectCode: ...
    def get_kernel(self, name: str | bytes) -> Kernel: ...
    @property
    def code(self) -> bytes: ...
    @property
    def code_type(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def symbol_mapping(self) -> dict[Any, Any]: ...
    @property
    def handle(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

def make_object_code(
    module: bytes | bytearray | memoryview | str | PathLike[str],
    code_type: str,
    name: str = "",
    symbol_mapping: Mapping[Any, Any] | None = None,
    signatures: Mapping[str, list[Type]] | None = None,
    ptx: bytes | None = None,
) -> ObjectCode: ...
def demangle(name: str) -> str | None: ...
def read_signature(code: bytes, name: str) -> list[Type]: ...
def tell_types(kernel: Kernel, code: bytes, name: str) -> None: ...
