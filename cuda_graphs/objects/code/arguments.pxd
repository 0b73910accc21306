# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Converts Python values to the `void**` of a kernel launch or a kernel node."""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.resources.handles cimport ArgumentPack, Opaque, ValueForm
from .kernel cimport Kernel


# An argument whose value is set later. Base of such classes in higher layers.
cdef class StandIn:
    cdef uint64_t _bits  # value that is passed until then
    cdef size_t _width  # width in bytes
    cdef bint _is_complete  # True if the value that is passed until then is valid
    cdef ValueForm _form
    # Of a pointer: what it points to.
    cdef ValueForm _element
    cdef size_t _element_size

# The bytes of an argument that another node of the same kernel had, and the owner of the memory that they point to.
cdef class RawArgument:
    cdef bytes _bytes
    cdef object _owner  # or None

# Converts `args` as the kernel's parameters require. The pack is on the caller's stack, since the driver copies the
# values during the call. Raises TypeError for a wrong count, width or type, and OverflowError for an int that does not
# fit; each names the parameter. `stand_ins` gets the indices of StandIns.
# Returns the number of arguments that are memory of alloc nodes, which only nodes of graphs may use.
cdef int pack_arguments(ArgumentPack& pack, Kernel kernel, tuple args, vector[size_t]* stand_ins) except -1

# Sets `all` to the owner of the objects behind the arguments. It must live as long as the kernel may run, and survives
# `del` of the objects and Buffer.close(). `all` must be empty before the call, and stays empty for plain numbers.
cdef int own_arguments(tuple args, Opaque& all) except -1

# Lets kernels on `device` use the memory of Buffers and arrays among their arguments. Arrays of other libraries are left to
# these libraries.
cdef int reach_arguments(tuple args, int device) except -1

# Makes instances of `cls` valid arguments: their `handle`, an int, is passed in 8 bytes (Condition).
cpdef void register_handle_type(type cls)

# Returns true for memory that the driver knows, which the device can access, and for address 0.
cpdef bint is_known_memory(CUdeviceptr address) except -1
