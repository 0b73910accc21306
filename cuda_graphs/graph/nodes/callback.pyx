# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Host callbacks: run a Python callable on a thread of the driver.

A process has one trampoline. Its address distinguishes host nodes with a Python callable from those with a C function.
"""

import ctypes

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda_graph cimport CUDA_HOST_NODE_PARAMS_v2
from cuda_graphs.core.graphs.graph_handles cimport Owners, copy_bytes
from cuda_graphs.core.resources.handles cimport HostFunction, Opaque, hold_python
from cuda_graphs.objects.numbers cimport as_address, read_address
from cuda_graphs.objects.unraisable cimport report_unraisable


cdef void trampoline(void* callable) noexcept nogil:
    cdef HostFunction python  # false once the interpreter is shutting down and can run no Python code
    if python:
        with gil:
            call_python(<object>callable)


cdef void call_python(object callable) noexcept:
    try:
        callable()
    except BaseException as error:  # no exception can pass through the driver; the graph continues
        report_unraisable(error, callable)


cdef int read_callback(object fn, object user_data, CUDA_HOST_NODE_PARAMS_v2* params, Owners* owners) except -1:
    if isinstance(fn, ctypes._CFuncPtr):
        return read_c_function(fn, user_data, params, owners)
    if user_data is not None:
        raise ValueError("user_data is for ctypes function pointers only: bind it to the callable instead")
    if not callable(fn):
        raise TypeError(f"a callback takes a callable, got {type(fn).__name__}")
    params.fn = trampoline
    params.userData = <PyObject*>fn
    owners.first = hold_python(<PyObject*>fn)
    return 0


cdef int read_c_function(object fn, object user_data, CUDA_HOST_NODE_PARAMS_v2* params, Owners* owners) except -1:
    if fn.restype is not None or tuple(fn.argtypes or ()) != (ctypes.c_void_p,):
        raise TypeError("a ctypes callback must be a CUhostFn: declared with restype None and argtypes (c_void_p,)")
    address = ctypes.cast(fn, ctypes.c_void_p).value
    if address is None:
        raise ValueError("the ctypes callback is a null pointer")
    params.fn = <void (*)(void*) noexcept nogil><uintptr_t>address
    owners.first = hold_python(<PyObject*>fn)
    if user_data is None:
        params.userData = NULL
    elif as_address(user_data) is not None:
        params.userData = <void*><uintptr_t>read_address(user_data, "user_data")
    elif not PyObject_CheckBuffer(user_data):
        raise TypeError(f"user_data must be an int or bytes-like, got {type(user_data).__name__}")
    else:
        owners.second = copy_of(user_data)
        params.userData = <void*>owners.second.get() if memoryview(user_data).nbytes else NULL
    return 0


cdef Opaque copy_of(object data) except *:
    cdef Py_buffer view
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        return copy_bytes(view.buf, <size_t>view.len)
    finally:
        PyBuffer_Release(&view)


cdef object python_callback(const CUDA_HOST_NODE_PARAMS_v2& params):
    return <object>params.userData if params.fn == trampoline else None
