# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Host callbacks: run a Python callable on a thread of the driver.

A process has one trampoline. Its address distinguishes host nodes with a Python callable from those with a C function.
An exception of a callable goes to the executable's LaunchQueue (objects/launch_errors.pyx).
"""

import ctypes

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda_graph cimport CUDA_HOST_NODE_PARAMS_v2
from cuda_graphs.core.graphs.graph_handles cimport Owners, copy_bytes
from cuda_graphs.core.resources.handles cimport HostFunction, Opaque, hold_python
from cuda_graphs.objects.launch_errors cimport LaunchQueue
from cuda_graphs.objects.numbers cimport as_address, read_address
from cuda_graphs.objects.unraisable cimport report_unraisable


cdef bint any_callback = False


cdef class Callback:
    def __repr__(self):
        return f"<Callback {self.fn!r}>"


cdef void trampoline(void* callback) noexcept nogil:
    cdef HostFunction python  # false once the interpreter is shutting down and can run no Python code
    if python:
        with gil:
            call_python(<Callback>callback)


cdef void call_python(Callback callback) noexcept:
    cdef LaunchQueue launches = callback.launches
    raised = None
    try:
        callback.fn()
    except BaseException as error:  # no exception can pass through the driver; the graph continues
        raised = error
        note_callback(error, callback)
    if launches is not None:
        launches.end_call(raised, callback.fn)
    elif raised is not None:  # other code instantiated the graph
        report_unraisable(raised, callback.fn)


cdef int note_callback(object error, Callback callback) noexcept:
    """Add the name of the node to the exception, once."""
    note = f"raised by the host callback {callback_name(callback)!r} of a graph"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
    return 0


cdef object callback_name(Callback callback):
    return callback.name or getattr(callback.fn, "__name__", None) or type(callback.fn).__name__


cdef bint has_callbacks() noexcept:
    return any_callback


cdef int read_callback(object fn, object user_data, object name, CUDA_HOST_NODE_PARAMS_v2* params, Owners* owners) except -1:
    global any_callback
    cdef Callback callback
    if isinstance(fn, ctypes._CFuncPtr):
        return read_c_function(fn, user_data, params, owners)
    if user_data is not None:
        raise ValueError("user_data is for ctypes function pointers only: bind it to the callable instead")
    if not callable(fn):
        raise TypeError(f"a callback takes a callable, got {type(fn).__name__}")
    callback = Callback.__new__(Callback)
    callback.fn, callback.name = fn, name
    any_callback = True
    params.fn = trampoline
    params.userData = <PyObject*>callback
    owners.first = hold_python(<PyObject*>callback)
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


cdef Callback callback_of(const CUDA_HOST_NODE_PARAMS_v2& params):
    return <Callback>params.userData if params.fn == trampoline else None
