# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Adds the nodes that have GraphBuilder methods: callbacks, conditional nodes, copies of other graphs."""

from cuda_graphs.core.driver.cuda cimport CUDA_SUCCESS, CUcontext, CUresult
from cuda_graphs.core.driver.cuda_graph cimport graph_driver
from cuda_graphs.core.driver.seam cimport ensure_driver
from cuda_graphs.core.capture.capture_handles cimport CaptureBox, CapturedCall
from cuda_graphs.core.graphs.graph_handles cimport NodeKind, NodeRecord, NodeSpec
from cuda_graphs.core.resources.device_scope cimport has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport StreamBox, StreamHandle, box_of, raw_of
from cuda_graphs.objects.capture_ledger cimport raise_capture_error
from cuda_graphs.objects.body_rules cimport check_call_fits_body
from cuda_graphs.objects.captured_call cimport find_capture, keep_owners, raise_call_error, record_node
from cuda_graphs.objects.captured_call import ENDED_MEANWHILE
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.definition cimport make_condition
from cuda_graphs.graph.operands.operands cimport accept_context
from cuda_graphs.graph.nodes.insertion_point cimport find_cause
from cuda_graphs.graph.nodes.spec cimport check_devices_fit_body, device_to_note, read_host
from cuda_graphs.core.driver.seam import version as driver_version

# Method -> (oldest CUDA version, name of the feature).
NEEDS = {
    "create_condition": ((12, 3), "conditional handles"),
    "if_then": ((12, 3), "conditional if"),
    "if_else": ((12, 8), "conditional if-else"),
    "while_loop": ((12, 3), "conditional while loop"),
    "switch": ((12, 8), "conditional switch"),
}


cdef int check_driver_has(str what) except -1:
    needed, text = NEEDS[what]
    major, minor = driver_version()
    if (major, minor) < needed:
        raise RuntimeError(f"Driver version {major}.{minor} does not support {text}")
    return 0


cdef CUcontext context_of(const StreamHandle& h) except NULL:
    cdef StreamBox* box = box_of[StreamBox](h)
    return raw_of(box.context) if box.context else accept_context("conditional node")


cdef int require_capture(CapturedCall& call, const StreamHandle& h) except -1:
    if not find_capture(call, h):
        ensure_driver()  # raises in a forked child process, which has no captures
        raise RuntimeError(ENDED_MEANWHILE)
    return 0


cdef NodeRecord* add_captured(StreamHandle h, NodeSpec& spec, const char* what, object attempt) except NULL:
    cdef CapturedCall call
    cdef int device = kNoDevice
    require_capture(call, h)
    if has_several_devices():
        device = device_to_note(spec)
        check_devices_fit_body(&call.capture().box(), spec, None)
    if spec.owners:
        keep_owners(call, spec.owners.first, spec.owners.second)
    with nogil:
        call.run_add(spec)
    cdef NodeRecord* node = record_node(call, spec.kind, what)
    if call.status() != CUDA_SUCCESS:
        raise_call_error(call, attempt, find_cause(call.capture().graph, &call.capture().box(), spec))
    if device != kNoDevice:
        node.make_metadata().device = device
    return node


cdef NodeRecord* capture_callback(StreamHandle h, object fn, object user_data, object name) except NULL:
    cdef CapturedCall call
    cdef NodeSpec spec
    read_host(spec, fn, user_data, name)
    require_capture(call, h)
    check_call_fits_body(call, NodeKind.kHost, name)
    keep_owners(call, spec.owners.first, spec.owners.second)
    with nogil:
        call.run(graph_driver().cuLaunchHostFunc, raw_of(h), spec.params.host.fn, spec.params.host.userData)
    cdef NodeRecord* node = record_node(call, NodeKind.kHost, "host callback")
    if call.status() != CUDA_SUCCESS:
        raise_call_error(call, f"capture a callback of {fn!r}")
    return node


cdef Condition create_captured_condition(CaptureBox& capture, CUcontext context, object default_value, str where):
    cdef CUresult status
    condition = make_condition(&capture.box(), &capture, context, default_value, &status)
    if status:
        raise_capture_error(capture, status, f"create a condition {where} with default {default_value}")
    return condition
