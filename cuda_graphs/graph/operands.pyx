# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Single arguments: from what users pass to what the driver takes, and who must live for it. graph/spec.pyx puts them
together."""

from cpython.object cimport PyObject
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUcontext, CUdeviceptr, CUresult
from cuda_graphs._driver.cuda_graph cimport CUgraphEdgeData, CUmemorytype
from cuda_graphs._driver.seam cimport check_attempt
from cuda_graphs._handles.graph_handles cimport (
    as_owner, bundle, current_context, edge_data, find_memory_type, kUnknownMemory,
)
from cuda_graphs._handles.handles cimport EventHandle, Opaque, hold_python
from cuda_graphs._objects.buffer cimport Buffer
from cuda_graphs._objects.event cimport Event
from cuda_graphs._objects.kernel cimport Kernel
from cuda_graphs._objects.numbers cimport as_int, read_unsigned
from cuda_graphs.graph.condition cimport Condition
from cuda_graphs.graph.edge_data import EdgeData


cdef Kernel accept_kernel(object kernel):
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel, got {type(kernel).__name__}")
    return <Kernel>kernel


cdef EventHandle accept_event(object event) except *:
    if not isinstance(event, Event):
        raise TypeError(f"event must be an Event, got {type(event).__name__}")
    (<Event>event)._check_open()
    return (<Event>event)._h


cdef Condition accept_condition(object condition):
    if not isinstance(condition, Condition):
        raise TypeError(f"condition must be a Condition, got {type(condition).__name__}")
    return <Condition>condition


cdef CUgraphEdgeData accept_edge(object data) except *:
    if not isinstance(data, EdgeData):
        raise TypeError(f"edge must be an EdgeData or None, got {type(data).__name__}")
    return edge_data(data.from_port, data.to_port, data.type)


cdef CUcontext accept_context(str what) except NULL:
    cdef CUcontext context = NULL
    cdef CUresult status
    with nogil:
        status = current_context(&context)
    if status:
        check_attempt(status, f"find the context of a {what}: call Device().set_current() first")
    return context


cdef Opaque own_arguments(tuple args) except *:
    cdef vector[Opaque] owners
    owners.push_back(hold_python(<PyObject*>args))
    for arg in args:
        if isinstance(arg, Buffer):
            owners.push_back(as_owner((<Buffer>arg)._h))
    return bundle(owners)


cdef Opaque open_buffer(Buffer buffer, str name) except *:
    if not buffer._h:
        raise ValueError(f"{name} is a closed Buffer, which has no active allocation")
    return as_owner(buffer._h)


cdef CUdeviceptr read_pointer(object value, str name) except? 0xBAD:
    address = as_int(value)
    if address is None:
        raise TypeError(f"{name} must be an address (int), a Buffer or an array, got {type(value).__name__}")
    return read_unsigned(address, name, 64)


cdef CUmemorytype find_type(CUdeviceptr address, str what) except *:
    cdef int type = kUnknownMemory
    cdef CUresult status
    with nogil:
        status = find_memory_type(address, &type)
    if status:
        check_attempt(status, f"ask which memory {what} is, at {address:#x}")
    if type == kUnknownMemory:
        raise ValueError(
            f"{what} at {address:#x} is not memory that the driver knows, nor of an alloc node. Nodes cannot use pageable "
            "host memory: use pinned memory, which numpy.from_dlpack(PinnedMemoryResource().allocate(...)) shows as an "
            "array, or register the range with CUDA"
        )
    return <CUmemorytype>type
