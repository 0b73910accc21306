# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUcontext, CUdeviceptr
from cuda_graphs.core.driver.cuda_graph cimport CUgraphEdgeData, CUmemorytype
from cuda_graphs.core.graphs.graph_handles cimport kUnbounded
from cuda_graphs.core.resources.handles cimport EventHandle, Opaque
from cuda_graphs.objects.memory.array_view cimport ArrayView
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.code.kernel cimport Kernel
from .condition cimport Condition

# Each function returns its argument with its type checked, or raises a TypeError that names the argument.
cdef Kernel accept_kernel(object kernel)
cdef EventHandle accept_event(object event) except *
cdef Condition accept_condition(object condition)
cdef CUgraphEdgeData accept_edge(object data) except *  # of an EdgeData

# Returns the current context, in which `what` will run.
cdef CUcontext accept_context(str what) except NULL

# Returns the owner of a Buffer's memory. Raises ClosedBufferError for a closed Buffer. `name` is the argument's name.
cdef Opaque open_buffer(Buffer buffer, str name) except *

# Returns an address from an int or an object that stands for an int.
cdef CUdeviceptr read_pointer(object value, str name) except? 0xBAD

cdef struct Memory:
    CUdeviceptr address
    size_t size  # bytes; kUnbounded if the size is unknown

# Reads an operand: fills `memory` and the owner `keeper`, and returns its layout if it is an array. `owner` is the
# user's owner of an address.
cdef ArrayView read_operand(object value, str name, object owner, Memory* memory, Opaque* keeper)
cdef Opaque owner_of(object owner, str name) except *

# Returns the memory type of an address for a memcpy node. Raises ValueError for memory that no node can use. Messages
# name the operand by `what`.
cdef CUmemorytype find_type(CUdeviceptr address, str what) except *

# Returns the bytes of an array in C order without gaps; 0 for other arrays, and without elements.
cdef size_t packed_bytes(ArrayView array) except? 0xBAD
