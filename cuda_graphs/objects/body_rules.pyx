# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes that bodies of conditional nodes may not hold (CUDA Programming Guide, "Conditional Graph Nodes").

Drivers accept such a node, and refuse the whole graph when it is instantiated. The functions below check a node before it
is added to a body, to a graph embedded in a body, or to a capture into a body. All nodes of a body are on the device of the
conditional node.
"""

from cuda_graphs.core.capture.capture_handles cimport CapturedCall
from cuda_graphs.core.graphs.graph_handles cimport GraphBox, NodeKind, NodeRecord
from cuda_graphs.core.resources.device_scope cimport has_several_devices, kNoDevice
from .source cimport Source, find_source, source_text, text_of

# Kind -> name of its class, what to do.
cdef dict REFUSED = {
    <int>NodeKind.kAlloc: ("AllocNode", "Allocate the memory before {}"),
    <int>NodeKind.kFree: ("FreeNode", "Free the memory after {}"),
    <int>NodeKind.kHost: ("HostCallbackNode", "Call the function before or after {}"),
    <int>NodeKind.kEventRecord: ("EventRecordNode", "Record the event before or after {}"),
    <int>NodeKind.kEventWait: ("EventWaitNode", "Wait for the event before or after {}"),
}
cdef dict HOLDERS = {
    <int>NodeKind.kIf: "IfNode",
    <int>NodeKind.kIfElse: "IfElseNode",
    <int>NodeKind.kWhile: "WhileNode",
    <int>NodeKind.kSwitch: "SwitchNode",
    <int>NodeKind.kConditional: "ConditionalNode",
}

cdef str BODIES_HOLD = "bodies hold kernel, empty, memset, memcpy, child graph and conditional nodes only"


cdef int check_kind_fits_body(GraphBox* graph, NodeKind kind, object name) except -1:
    refused = REFUSED.get(<int>kind)
    around = None if refused is None else body_around(graph)
    if around is None:
        return 0
    what, remedy = refused
    cdef Source here = find_source()
    line = source_text(here.code, here.instruction) if here.code != NULL else None
    raise ValueError(
        f"{label(what, name, line)} cannot be in a body of {around[0]}: {BODIES_HOLD}. {remedy.format(around[1])}"
    )


cdef int check_call_fits_body(CapturedCall& call, NodeKind kind, object name=None) except -1:
    return check_fits_body(&call.capture().box(), kind, name) if call.is_captured() else 0


# Kind -> name of its class, for the kinds of nodes that have a device.
cdef dict OF_DEVICES = {
    <int>NodeKind.kKernel: "KernelNode",
    <int>NodeKind.kMemset: "MemsetNode",
    <int>NodeKind.kMemcpy: "MemcpyNode",
    **HOLDERS,
}


cdef bint device_fits_body(GraphBox* graph, int device) noexcept:
    cdef NodeRecord* holder = holder_of_body(graph)
    return device == kNoDevice or holder == NULL or device_of_holder(holder) in (kNoDevice, device)


cdef int check_device_fits_body(GraphBox* graph, int device, NodeKind kind, object name) except -1:
    return 0 if device_fits_body(graph, device) else refuse_device(graph, device, kind, name)


cdef int refuse_device(GraphBox* graph, int device, NodeKind kind, object name) except -1:
    cdef NodeRecord* holder = holder_of_body(graph)
    cdef Source here = find_source()
    line = source_text(here.code, here.instruction) if here.code != NULL else None
    inner, outer = body_around(graph)
    raise ValueError(
        f"{label(OF_DEVICES[<int>kind], name, line)} uses device {device}, and cannot be in a body of {inner} on device "
        f"{device_of_holder(holder)}: a conditional node and all that is in it stay on one device. Add the node before or "
        f"after {outer}, or add the conditional node in a block `with cuda_graphs.Device({device}):`"
    )


cdef int check_copy_fits_body(GraphBox* graph, object child) except -1:
    around = body_around(graph)
    unfit = None if around is None else child._unfit_for_bodies()
    if unfit is not None:
        raise ValueError(
            f"{child._identify()} cannot be embedded in a body of {around[0]}: it holds {unfit._identify()}, and "
            f"{BODIES_HOLD}. Move that node before or after {around[1]}"
        )
    return check_devices_of_copy(graph, child)


cdef int check_devices_of_copy(GraphBox* graph, object child) except -1:
    cdef NodeRecord* holder = holder_of_body(graph)
    if not has_several_devices() or holder == NULL or device_of_holder(holder) == kNoDevice:
        return 0
    found = child._first_on_other_device(device_of_holder(holder))
    if found is None:
        return 0
    inner, outer = body_around(graph)
    raise ValueError(
        f"{child._identify()} cannot be embedded in a body of {inner} on device {device_of_holder(holder)}: it holds "
        f"{found._identify()}, which is on device {found._device()}, and a conditional node and all that is in it stay on "
        f"one device. Embed it before or after {outer}"
    )


cdef int device_of_holder(NodeRecord* holder) noexcept:
    return holder.metadata.get().device if holder.metadata else kNoDevice


cdef NodeRecord* holder_of_body(GraphBox* graph) noexcept:
    while graph.holder != NULL:
        if graph.holder.kind != NodeKind.kChild:
            return graph.holder
        graph = graph.holder.graph
    return NULL


cdef tuple body_around(GraphBox* graph):
    """Return words for the innermost and the outermost conditional node around the graph. Return None if no node is around
    it."""
    cdef NodeRecord* inner = NULL
    cdef NodeRecord* outer = NULL
    while graph.holder != NULL:
        if graph.holder.kind != NodeKind.kChild:
            outer = graph.holder
            inner = outer if inner == NULL else inner
        graph = graph.holder.graph
    return None if inner == NULL else (words_of(inner), words_of(outer))


cdef str words_of(NodeRecord* node):
    name = node.metadata.get().labels.name.decode("utf-8", "surrogatepass") if node.metadata else ""
    return label(HOLDERS[<int>node.kind], name or None, text_of(node.graph, node.source))


cdef str label(str what, object name, object line):
    words = what if name is None else f"{what} {name!r}"
    return words if line is None else f"{words} ({line})"
