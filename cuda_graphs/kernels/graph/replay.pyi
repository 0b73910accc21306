# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.executable.executable import Graph
from cuda_graphs.kernels.specialisation.specialisation import Specialisation

def is_replayed(graph: Graph) -> bool: ...

class Replay:
    graph: Graph
    definition: GraphDef
    code: Specialisation
    count: int
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __repr__(self) -> str: ...
