# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs._driver.cuda cimport CUcontext, CUdeviceptr
from cuda_graphs._driver.cuda_graph cimport CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUmemorytype
from cuda_graphs._handles.graph_handles cimport Allocation, AllocKind, KernelShape, Owners
from cuda_graphs._handles.handles cimport EventHandle, Opaque
from cuda_graphs._objects.arguments cimport ArgumentPack
from cuda_graphs._objects.kernel cimport Kernel
from cuda_graphs._objects.launch_config cimport LaunchConfig
from cuda_graphs.graph.condition cimport Condition

# Each returns its argument as what it must be, or raises a TypeError that names it.
cdef Kernel accept_kernel(object kernel)
cdef EventHandle accept_event(object event) except *
cdef Condition accept_condition(object condition)

# The context that is current, in which `what` will run.
cdef CUcontext accept_context(str what) except NULL

# A kernel node's parameters. They point into `pack`.
cdef void fill_kernel(
    CUDA_KERNEL_NODE_PARAMS* params, KernelShape* shape, LaunchConfig config, Kernel kernel, ArgumentPack* pack
) noexcept

# The owner of everything that the arguments stand for: survives `del` of the objects and Buffer.close().
cdef Opaque own_arguments(tuple args) except *

# `options` is a GraphAllocOptions.
cdef int fill_allocation(Allocation* what, size_t size, object options) except -1
cdef CUmemorytype type_of(AllocKind kind) noexcept
cdef str name_of(AllocKind kind)

# An address given as a Buffer or an int; of a Buffer, the owner of the memory. `name` is that of the argument.
cdef CUdeviceptr read_address(object value, str name, Opaque* owner) except? 0xBAD

# A count or size that fits 64 or 32 bits without a sign: TypeError or OverflowError before the driver is asked. Cython's
# own conversion would take a float.
cdef size_t read_size(object value, str name) except? 0xBAD
cdef unsigned int read_uint(object value, str name) except? 0xBAD

# What kind of memory a memcpy node shall take it for. ValueError for memory that no node can copy.
cdef CUmemorytype find_type(CUdeviceptr address, str name) except *

# The function and data of a host node, and what they need: a Python callable through our trampoline, or a ctypes
# function pointer with an int or a copy of bytes.
cdef int read_callback(object fn, object user_data, CUDA_HOST_NODE_PARAMS* params, Owners* owners) except -1

# The Python callable of a host node, None for a C function.
cdef object python_callback(const CUDA_HOST_NODE_PARAMS& params)
