# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUcontext, CUresult
from cuda_graphs._handles.capture_handles cimport CaptureBox
from cuda_graphs._handles.graph_handles cimport GraphBox
from cuda_graphs.graph.condition cimport Condition
from cuda_graphs.graph.place cimport Place


cdef class GraphDef(Place):
    pass


# Creates a condition for a graph and puts it on record, with the line that the program is at; None where the driver
# refuses. The default is None or an int of 32 bits.
# `capture` is what captures into the graph, or NULL.
cdef Condition make_condition(
    GraphBox* graph, CaptureBox* capture, CUcontext context, object default_value, CUresult* status)
