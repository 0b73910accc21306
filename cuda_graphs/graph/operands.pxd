# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs._driver.cuda cimport CUcontext, CUdeviceptr
from cuda_graphs._driver.cuda_graph cimport CUgraphEdgeData, CUmemorytype
from cuda_graphs._handles.handles cimport EventHandle, Opaque
from cuda_graphs._objects.array_view cimport ArrayView
from cuda_graphs._objects.buffer cimport Buffer
from cuda_graphs._objects.kernel cimport Kernel
from cuda_graphs.graph.condition cimport Condition

# Each returns its argument as what it must be, or raises a TypeError that names it.
cdef Kernel accept_kernel(object kernel)
cdef EventHandle accept_event(object event) except *
cdef Condition accept_condition(object condition)
cdef CUgraphEdgeData accept_edge(object data) except *  # of an EdgeData

# The context that is current, in which `what` will run.
cdef CUcontext accept_context(str what) except NULL

# The owner of a Buffer's memory. ValueError for a closed one. `name` is that of the argument.
cdef Opaque open_buffer(Buffer buffer, str name) except *

# An address: what stands for an int.
cdef CUdeviceptr read_pointer(object value, str name) except? 0xBAD

# An operand: where it is, who keeps it, and its layout, if it is an array. `owner` is who the user says owns an address.
cdef struct Memory:
    CUdeviceptr address
    size_t size  # bytes, or kUnbounded where nobody says

cdef enum:
    kUnbounded = <size_t>-1

cdef ArrayView read_operand(object value, str name, object owner, Memory* memory, Opaque* keeper)
cdef Opaque own(object owner, str name) except *

# What kind of memory a memcpy node shall take it for. ValueError for memory that no node can use. `what` is said of it
# in words.
cdef CUmemorytype find_type(CUdeviceptr address, str what) except *
