# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUcontext, CUresult
from cuda_graphs.core.capture.capture_handles cimport CaptureBox
from cuda_graphs.core.graphs.graph_handles cimport GraphBox
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint


cdef class GraphDef(InsertionPoint):
    pass


# Creates a condition for a graph and records it with the current source line. Returns None if the driver refuses.
# `default_value` must be None or an int of 32 bits. `capture` is the capture into the graph, or NULL.
cdef Condition make_condition(
    GraphBox* graph, CaptureBox* capture, CUcontext context, object default_value, CUresult* status)
