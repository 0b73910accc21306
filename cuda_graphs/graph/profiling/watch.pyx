# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The executables that were launched while a profile was recorded, with their definitions."""

from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport NodeHandle, NodeRecord, WeakNode
from cuda_graphs.core.graphs.launch_watch cimport Identify, WatchedLaunch, begin_watching, end_watching
from cuda_graphs.core.resources.handles cimport box_of
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint, wrap_graph


def begin(uintptr_t identify=0):
    """Note the executables that are launched from now on.

    identify  address of a C function int(CUgraphExec, uint32_t*) that gives each executable a number; 0 for none
    """
    begin_watching(<Identify>identify)


def end():
    """Return (number, GraphDef or None) for each executable launched since `begin`."""
    cdef vector[WatchedLaunch] launches = end_watching()
    cdef size_t i
    found = []
    for i in range(launches.size()):
        found.append((launches[i].number, definition_of(launches[i].definition)))
    return found


cdef InsertionPoint definition_of(const NodeHandle& entry):
    if not entry or box_of[NodeRecord](entry).graph.raw == NULL:
        return None
    return wrap_graph(entry, box_of[NodeRecord](entry).graph)


cdef class WeakDefinition:
    """A weak reference to a definition, which has a new Python object at each use. Call it for the definition or None."""

    cdef WeakNode entry

    def __init__(self, InsertionPoint definition not None):
        definition._record()  # raises for a definition that was not initialised
        self.entry = WeakNode(definition._ref.handle())

    def __call__(self):
        return definition_of(self.entry.lock())
