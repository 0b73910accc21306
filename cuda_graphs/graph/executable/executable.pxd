# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.graphs.graph_handles cimport GraphBox, GraphExecHandle, ParameterChanges, WeakNode
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint
from .callbacks cimport ExecutableCallbacks
from .loop_control cimport LoopControl
from .temporary_memory cimport TemporaryMemory
from .parameter_values cimport Slots


cdef class Graph:
    cdef GraphExecHandle _h  # empty once closed
    cdef Slots _slots        # of the named parameters
    cdef ParameterChanges _room  # memory for the changes of the next launch; empty
    cdef dict _changes       # what views have set in kernel nodes
    cdef ExecutableCallbacks _callbacks
    cdef LoopControl _loops
    cdef TemporaryMemory _temporaries
    cdef tuple _guards       # see nodes/launch_guards.py
    cdef object _fused       # FusedNodes; None without optimize=True
    cdef object _early       # EarlyNodes; None without early_edges=True
    cdef WeakNode _source    # entry node of the definition that the parameters came from; not kept alive
    cdef object __weakref__

    @staticmethod
    cdef Graph _from_handle(GraphExecHandle h, ExecutableCallbacks callbacks)

    # Raises RuntimeError once the Graph is closed.
    cdef int _check_open(self) except -1

    # Takes over a definition, whose places are read with the addresses of stand-ins.
    cdef int _update(self, InsertionPoint definition, GraphBox* graph) except -1
    cdef int _read_parameters(self, const GraphExecHandle& h, GraphBox* graph) except -1
    cdef object _groups(self, InsertionPoint definition, GraphBox* graph)
    # Lets the places of a definition find this Graph.
    cdef int _note_places(self, GraphBox* graph) except -1

    # Fuses nodes of the definition that this Graph was made from.
    cdef int _fuse(self, InsertionPoint definition) except -1

    # Gives the nodes at early edges their code, and marks fixed nodes. Closes the Graph after an error.
    cdef int _begin_early(self) except -1
    # Notes the nodes without views.
    cdef int _mark_nodes(self) except -1


# Instantiates the definition of a place. `options` is a GraphCompleteOptions, or None for its defaults.
cdef Graph instantiate_graph(InsertionPoint definition, object options)
