# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Constructors of objects whose classes stand above the files that return such objects.

The module of each class sets its constructor here when it is imported, so files below need no import of the class.
`objects/__init__` imports the modules of this package that do so, `cuda_graphs/__init__` the module of GraphBuilder.
`cuda_graphs/__init__` itself sets `array`, `condition_tests`, `early_edges`, `library_call`, `node_fusion` and
`saving`, whose modules are imported late.
"""

from collections.abc import Callable
from typing import Any

__all__ = [
    "array",
    "condition_tests",
    "device",
    "early_edges",
    "graph_builder",
    "library_call",
    "list_loops",
    "memory_resource",
    "node_fusion",
    "saving",
]

array: Callable[[Any, Any, Any], Any]
"""Returns an NDArray with the memory of a Buffer, for an element type and a shape."""

condition_tests: Callable[[], Any]
"""Returns the module that makes the kernels that set conditions (kernels/call/predicates.py)."""

device: Callable[[int], Any]
"""Returns the Device of a number."""

early_edges: Callable[[], Any]
"""Returns the module that finds edges that may be programmatic (kernels/call/early_edges.py)."""

graph_builder: Callable[[Any], Any]
"""Returns a GraphBuilder that captures a Stream."""

library_call: Callable[[], Any]
"""Returns the module that captures calls of other libraries as nodes (graph/capture/library_call.py)."""

list_loops: Callable[[int], Any]
"""Returns (name, iterations so far, limit) of the loops that a stream launched last (executable.pyx)."""

memory_resource: Callable[[Any], Any]
"""Returns the initial MemoryResource of a Device."""

node_fusion: Callable[[], Any]
"""Returns the module that finds nodes that can be one launch (kernels/call/node_fusion.py)."""

saving: Callable[[], Any]
"""Returns the module that writes definitions to files (saving/writing.py)."""
