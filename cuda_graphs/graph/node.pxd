# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.graph.place cimport Place


cdef class GraphNode(Place):
    # The value of a property by its name, also of a destroyed node.
    cdef object _value(self, str name)
    cdef dict _last_values(self)  # of a destroyed node
