# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of a definition for modules below GraphDef."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cuda_graphs.graph.operands.parameter import Parameter

    from .node import GraphNode

__all__ = ["Definition"]


class Definition(Protocol):
    """The methods of a GraphDef that analyses, DOT files and messages call."""

    def nodes(self) -> set[GraphNode]: ...
    def edges(self) -> set[tuple[GraphNode, GraphNode]]: ...
    def _listed(self) -> tuple[list[GraphNode], list[tuple[GraphNode, GraphNode]]]: ...
    def _early_edges(self) -> set[tuple[GraphNode, GraphNode]]: ...
    def _unused_parameters(self) -> list[Parameter]: ...
    def _conditions(self) -> list[tuple[int, bool, str | None]]: ...
    def _identify(self, with_handle: bool = False) -> str: ...
    def _write_dot(self, path: str | bytes | PathLike[str], flags: int) -> None: ...
