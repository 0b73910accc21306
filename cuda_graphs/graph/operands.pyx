# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From what users pass to the methods that add nodes to what the driver takes, and who must live for it."""

import ctypes
import operator

from cpython.object cimport PyObject
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libc.string cimport memset
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUcontext, CUdeviceptr, CUresult
from cuda_graphs._driver.cuda_graph cimport (
    CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS,
    CUmemorytype, graph_driver,
)
from cuda_graphs._driver.seam cimport check_attempt
from cuda_graphs._handles.graph_handles cimport (
    Allocation, AllocKind, KernelShape, Owners, as_owner, bundle, copy_bytes, current_context, find_memory_type,
    kUnknownMemory,
)
from cuda_graphs._handles.handles cimport EventHandle, HostFunction, Opaque, hold_python
from cuda_graphs._objects.arguments cimport ArgumentPack
from cuda_graphs._objects.buffer cimport Buffer
from cuda_graphs._objects.event cimport Event
from cuda_graphs._objects.kernel cimport Kernel
from cuda_graphs._objects.launch_config cimport LaunchConfig
from cuda_graphs.graph.condition cimport Condition
from cuda_graphs.graph.options import MEMORY_TYPES, device_ordinal, memory_kind


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


cdef CUcontext accept_context(str what) except NULL:
    cdef CUcontext context = NULL
    cdef CUresult status
    with nogil:
        status = current_context(&context)
    if status:
        check_attempt(status, f"find the context of a {what}: call Device().set_current() first")
    return context


cdef void fill_kernel(
    CUDA_KERNEL_NODE_PARAMS* params, KernelShape* shape, LaunchConfig config, Kernel kernel, ArgumentPack* pack
) noexcept:
    memset(params, 0, sizeof(params[0]))
    shape.cluster = config._cluster
    shape.cooperative = config._is_cooperative
    # With a cluster the grid counts clusters, and the driver counts blocks.
    params.gridDimX = config._grid[0] * (config._cluster[0] or 1)
    params.gridDimY = config._grid[1] * (config._cluster[1] or 1)
    params.gridDimZ = config._grid[2] * (config._cluster[2] or 1)
    params.blockDimX, params.blockDimY, params.blockDimZ = config._block[0], config._block[1], config._block[2]
    params.sharedMemBytes = config._shmem_size
    params.kernelParams = pack.pointers()
    params.kern = kernel._h.get()[0]


cdef Opaque own_arguments(tuple args) except *:
    cdef vector[Opaque] owners
    owners.push_back(hold_python(<PyObject*>args))
    for arg in args:
        if isinstance(arg, Buffer):
            owners.push_back(as_owner((<Buffer>arg)._h))
    return bundle(owners)


cdef int fill_allocation(Allocation* what, size_t size, object options) except -1:
    cdef CUresult status
    what.kind = <AllocKind><int>memory_kind(options.memory_type)
    what.size = size
    for peer in options.peer_access or ():
        what.peers.push_back(device_ordinal(peer))
    if options.device is not None:
        what.device = device_ordinal(options.device)
        return 0
    with nogil:
        status = graph_driver().cuCtxGetDevice(&what.device)
    if status:
        check_attempt(status, "find the device of an alloc node: give `device`, or call Device().set_current() first")
    return 0


cdef str name_of(AllocKind kind):
    return MEMORY_TYPES[<int>kind]


cdef CUmemorytype type_of(AllocKind kind) noexcept:
    if kind == AllocKind.kHost:
        return CU_MEMORYTYPE_HOST
    return CU_MEMORYTYPE_DEVICE if kind == AllocKind.kDevice else CU_MEMORYTYPE_UNIFIED


cdef bint is_int(object value) except -1:
    # Not hasattr(value, "__index__"): an array of NumPy has that, and mostly raises when it is called.
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


cdef CUdeviceptr read_address(object value, str name, Opaque* owner) except? 0xBAD:
    cdef Buffer buffer
    if isinstance(value, Buffer):
        buffer = <Buffer>value
        if not buffer._h:
            raise ValueError(f"{name} is a closed Buffer, which has no active allocation")
        owner[0] = as_owner(buffer._h)
        return buffer._h.get()[0]
    if not is_int(value):
        raise TypeError(f"{name} must be an address (int) or a Buffer, got {type(value).__name__}")
    return read_unsigned(value, name, 64)


cdef size_t read_size(object value, str name) except? 0xBAD:
    return read_unsigned(value, name, 64)


cdef unsigned int read_uint(object value, str name) except? 0xBAD:
    return <unsigned int>read_unsigned(value, name, 32)


cdef unsigned long long read_unsigned(object value, str name, int bits) except? 0xBAD:
    if not is_int(value):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    number = operator.index(value)
    if number < 0 or number >> bits:
        raise OverflowError(f"{name}={number} is not in 0..2**{bits}-1")
    return number


cdef CUmemorytype find_type(CUdeviceptr address, str name) except *:
    cdef int type = kUnknownMemory
    cdef CUresult status
    with nogil:
        status = find_memory_type(address, &type)
    if status:
        check_attempt(status, f"ask which memory {name}={address:#x} is")
    if type == kUnknownMemory:
        raise ValueError(
            f"{name}={address:#x} is not memory that the driver knows, nor of an alloc node. A memcpy node cannot copy "
            "pageable host memory: use pinned memory (PinnedMemoryResource), or register the range with CUDA"
        )
    return <CUmemorytype>type


# Host callbacks. The trampoline's address tells our host nodes from those of C functions: there is one a process.

cdef void trampoline(void* callable) noexcept nogil:
    cdef HostFunction python  # False once the interpreter is closing: then no Python can run any more
    if python:
        with gil:
            call_python(<object>callable)


cdef void call_python(object callable) noexcept:
    # Nothing can pass through the driver: an exception goes to sys.unraisablehook, as `noexcept` has it, and the
    # graph goes on.
    callable()


cdef int read_callback(object fn, object user_data, CUDA_HOST_NODE_PARAMS* params, Owners* owners) except -1:
    if isinstance(fn, ctypes._CFuncPtr):
        return read_c_function(fn, user_data, params, owners)
    if user_data is not None:
        raise ValueError("user_data is only supported with a ctypes function pointer; bind it to the callable instead")
    if not callable(fn):
        raise TypeError(f"callback must be callable, got {type(fn).__name__}")
    params.fn = trampoline
    params.userData = <PyObject*>fn
    owners.first = hold_python(<PyObject*>fn)
    return 0


cdef int read_c_function(object fn, object user_data, CUDA_HOST_NODE_PARAMS* params, Owners* owners) except -1:
    if fn.restype is not None or tuple(fn.argtypes or ()) != (ctypes.c_void_p,):
        raise TypeError("a ctypes callback must be declared with restype None and argtypes (c_void_p,)")
    params.fn = <void (*)(void*) noexcept nogil><uintptr_t>ctypes.cast(fn, ctypes.c_void_p).value
    owners.first = hold_python(<PyObject*>fn)
    if user_data is None:
        params.userData = NULL
    elif is_int(user_data):
        params.userData = <void*><uintptr_t>user_data
    else:
        owners.second = copy_of(user_data)
        params.userData = <void*>owners.second.get()
    return 0


cdef Opaque copy_of(object data) except *:
    cdef Py_buffer view
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        return copy_bytes(view.buf, <size_t>view.len)
    finally:
        PyBuffer_Release(&view)


cdef object python_callback(const CUDA_HOST_NODE_PARAMS& params):
    return <object>params.userData if params.fn == trampoline else None
