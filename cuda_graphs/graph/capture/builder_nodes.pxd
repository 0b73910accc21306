# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUcontext
from cuda_graphs.core.capture.capture_handles cimport CaptureBox, CapturedCall
from cuda_graphs.core.graphs.graph_handles cimport NodeRecord, NodeSpec
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.graph.operands.condition cimport Condition

# Returns the context of the nodes that the stream captures.
cdef CUcontext context_of(const StreamHandle& h) except NULL

# Finds the capture of the stream. Raises RuntimeError if the stream is not captured.
cdef int require_capture(CapturedCall& call, const StreamHandle& h) except -1

# Adds a node that no stream call can add, after the work that the stream has captured. The ledger shows `what`.
cdef NodeRecord* add_captured(StreamHandle h, NodeSpec& spec, const char* what, object attempt) except NULL

# Captures a host function. `name` is the name that the node will get, or None.
cdef NodeRecord* capture_callback(StreamHandle h, object fn, object user_data, object name) except NULL

cdef Condition create_captured_condition(
    CaptureBox& capture, CUcontext context, object default_value, str where)

# Raises RuntimeError if the driver is too old for a method of GraphBuilder.
cdef int check_driver_has(str method) except -1
