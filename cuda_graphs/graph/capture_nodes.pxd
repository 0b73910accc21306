# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUcontext
from cuda_graphs._handles.capture_handles cimport CaptureBox, CapturedCall
from cuda_graphs._handles.graph_handles cimport NodeRecord, NodeSpec
from cuda_graphs._handles.handles cimport StreamHandle
from cuda_graphs.graph.condition cimport Condition

# The context that nodes of what the stream captures belong to.
cdef CUcontext context_of(const StreamHandle& h) except NULL

# Finds the capture of the stream; RuntimeError where there is none.
cdef int find_call(CapturedCall& call, const StreamHandle& h) except -1

# Adds a node that no call on a stream makes, after what the stream has captured so far. `what` is for the ledger.
cdef NodeRecord* add_captured(StreamHandle h, NodeSpec& spec, const char* what, object attempt) except NULL

# Captures a host function. `lose_tail` is for a test: as if the node could not be told.
cdef NodeRecord* capture_callback(StreamHandle h, object fn, object user_data, bint lose_tail) except NULL

cdef Condition create_captured_condition(
    CaptureBox& capture, CUcontext context, object default_value, str where)

# RuntimeError when the driver is too old for a method of GraphBuilder.
cdef int check_driver_has(str method) except -1
