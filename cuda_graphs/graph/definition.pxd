# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda_graph cimport CUgraphConditionalHandle
from cuda_graphs._handles.graph_handles cimport GraphBox
from cuda_graphs.graph.place cimport Place


cdef class GraphDef(Place):
    pass


# Puts a condition that was created for a graph on record, with the line that the program is at.
cdef int note_condition(GraphBox* graph, CUgraphConditionalHandle handle, bint has_default) except -1
