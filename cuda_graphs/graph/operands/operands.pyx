# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Single arguments: converts Python values to driver values and finds the objects to keep alive. graph/nodes/spec.pyx combines
them to the parameters of a node."""

from cpython.object cimport PyObject
from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUcontext, CUdeviceptr, CUresult
from cuda_graphs.core.driver.cuda_graph cimport CUgraphEdgeData, CUmemorytype
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    as_owner,
    current_context,
    edge_data,
    find_memory_type,
    kUnknownMemory,
)
from cuda_graphs.core.resources.handles cimport EventHandle, Opaque, hold_python
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.device.event cimport Event
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.numbers cimport as_address, read_unsigned
from .condition cimport Condition
from .copy_shape import Operand
from .edge_data import EdgeData
from cuda_graphs.errors import ClosedBufferError


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
        raise TypeError(
            f"condition must be a Condition, got {type(condition).__name__}: create_condition() makes one"
        )
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


cdef Opaque open_buffer(Buffer buffer, str name) except *:
    if not buffer._h:
        raise ClosedBufferError(f"{name} is a closed Buffer, which has no active allocation")
    return as_owner(buffer._h)


cdef CUdeviceptr read_pointer(object value, str name) except? 0xBAD:
    address = as_address(value)
    if address is None:
        raise TypeError(f"{name} must be an address (int), a Buffer or an array, got {type(value).__name__}")
    return read_unsigned(address, name, 64)


cdef CUmemorytype find_type(CUdeviceptr address, str what) except *:
    cdef int type = kUnknownMemory
    cdef CUresult status
    with nogil:
        status = find_memory_type(address, &type)
    if status:
        check_attempt(status, f"ask for the memory type of {what} at {address:#x}")
    if type == kUnknownMemory:
        raise ValueError(
            f"{what} at {address:#x} is neither memory that the driver knows nor memory of an alloc node. Nodes cannot use "
            "pageable host memory: use pinned memory (as an array: "
            "numpy.from_dlpack(PinnedMemoryResource().allocate(...))), or register the range with CUDA"
        )
    return <CUmemorytype>type


cdef ArrayView read_operand(object value, str name, object owner, Memory* memory, Opaque* keeper):
    cdef ArrayView array = None
    memory.size = kUnbounded
    if isinstance(value, int):
        memory.address = read_pointer(value, name)
    elif isinstance(value, Buffer):
        keeper[0] = open_buffer(<Buffer>value, name)
        memory.address, memory.size = (<Buffer>value)._h.get()[0], (<Buffer>value)._size
    else:
        array = view_array(value, name)
        if array is None:
            memory.address = read_pointer(value, name)
        else:
            keeper[0] = array.owner
            memory.address = array.address
            check_reach(array, value, name)
    if owner is not None:
        if keeper.get() != NULL:
            what = "a Buffer" if array is None else "an array"
            raise ValueError(f"{name}_owner is for addresses only: {name} is {what}, which the graph keeps itself")
        keeper[0] = owner_of(owner, f"{name}_owner")
    return array


cdef Opaque owner_of(object owner, str name) except *:
    return open_buffer(<Buffer>owner, name) if isinstance(owner, Buffer) else hold_python(<PyObject*>owner)


cdef size_t packed_bytes(ArrayView array) except? 0xBAD:
    cdef Py_ssize_t axis
    cdef size_t count, size = array.itemsize
    for axis in range(len(array.shape) - 1, -1, -1):
        count = array.shape[axis]
        if count > 1 and array.strides[axis] != size:
            return 0
        size *= count
    return size


cdef int check_reach(ArrayView array, object value, str name) except -1:
    """Check that the driver knows both ends of an array. It knows one end of a range that is registered in part."""
    cdef size_t extent = packed_bytes(array) or Operand(name, None, array).layout().extent
    what = f"{name}, a {type(value).__module__}.{type(value).__qualname__}"
    find_type(array.address, what)
    find_type(array.address + extent - 1, what)
    return 0
