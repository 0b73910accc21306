# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The executables that were launched while a profile was recorded, with their definitions."""

from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport NodeRecord
from cuda_graphs.core.graphs.launch_watch cimport Identify, WatchedLaunch, begin_watching, end_watching
from cuda_graphs.core.resources.handles cimport box_of
from cuda_graphs.graph.nodes.insertion_point cimport wrap_graph


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
        definition = None
        if launches[i].definition and box_of[NodeRecord](launches[i].definition).graph.raw != NULL:
            definition = wrap_graph(launches[i].definition, box_of[NodeRecord](launches[i].definition).graph)
        found.append((launches[i].number, definition))
    return found
