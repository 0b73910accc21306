# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.graph_handles cimport NodeRecord, NodeSpec
from cuda_graphs.graph.place cimport Place


cdef class GraphNode(Place):
    # The value of a property by its name, also of a destroyed node.
    cdef object _value(self, str name)
    cdef dict _last_values(self)  # of a destroyed node

    # How messages name the node, without asking the driver for anything.
    cdef str _words(self, name, bint with_handle)
    cdef str _words_alone(self, name, bint with_handle)

    # Reads the node's parameters from the driver into a fresh spec, without its owners.
    cdef NodeRecord* _load(self, NodeSpec& spec) except NULL

    # The same for a spec that is then changed a little: with its owners and the parameters that it uses.
    cdef int _load_all(self, NodeSpec& spec) except -1

    # Changes the node to what a spec says, its owners as a whole included. Nothing has changed when it raises.
    cdef int _set(self, NodeSpec& spec) except -1
