# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.graph_handles cimport GraphExecHandle, WeakNode
from cuda_graphs.graph.place cimport Place


cdef class Graph:
    cdef GraphExecHandle _h  # empty once closed
    cdef dict _slots  # where each named parameter is
    cdef WeakNode _source    # the definition whose parameters it has; not kept alive
    cdef object __weakref__

    @staticmethod
    cdef Graph _from_handle(GraphExecHandle h)

    # RuntimeError once closed.
    cdef int _check_open(self) except -1


# A Graph of the definition that a place is in; `options` is a GraphCompleteOptions.
cdef Graph instantiate_graph(Place definition, object options)
