# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Callable, Mapping
from typing import Any

from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.operands.parameter import Parameter
from cuda_graphs.objects.memory.buffer import Buffer

__all__ = ["LoadedGraph", "add_nodes", "load"]

class LoadedGraph(GraphDef):
    inputs: dict[str, Parameter]
    outputs: dict[str, Parameter]

class Loading: ...

def load(
    path: str | os.PathLike[str], *, callbacks: Mapping[str, Callable[[], object]] | None = None
) -> LoadedGraph: ...
def add_nodes(
    definition: GraphDef, file: bytes, bind: Callable[[list[str]], list[Callable[[], Any]]], is_on_host: bool
) -> tuple[dict[str, Parameter], dict[str, Parameter], list[Buffer]]: ...
