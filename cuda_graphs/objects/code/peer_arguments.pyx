# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Access of a kernel to memory of other devices among its arguments.

Arrays of other libraries are left to these libraries. Memory that a graph allocates has its own setting (`peer_access` of
`alloc`).
"""

from cpython.object cimport PyTypeObject

from cuda_graphs.objects.memory.buffer cimport Buffer, MemoryKind, is_of_graph
from cuda_graphs.objects.memory.peers cimport reach
from cuda_graphs.objects.memory.typed_memory cimport TypedMemory

cdef extern from "Python.h":
    PyTypeObject* Py_TYPE(object)


cdef int reach_arguments(tuple args, int device) except -1:
    for arg in args:
        if Py_TYPE(arg) == <PyTypeObject*>int or Py_TYPE(arg) == <PyTypeObject*>float:
            continue
        if isinstance(arg, Buffer):
            reach_buffer(<Buffer>arg, device)
        elif isinstance(arg, TypedMemory) and (<TypedMemory>arg)._buffer is not None:
            reach_buffer((<TypedMemory>arg)._buffer, device)
    return 0


cdef int reach_buffer(Buffer buffer, int device) except -1:
    if is_of_graph(buffer) or buffer._ask() != MemoryKind.DEVICE:
        return 0
    return reach(device, buffer._device_id, buffer._address, repr(buffer))
