# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Converts Python values to the `void**` of a kernel launch or a kernel node."""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.resources.handles cimport ArgumentPack, Opaque, ValueForm
from cuda_graphs.objects.keyword_method cimport Arguments
from cuda_graphs.objects.memory.buffer cimport Buffer
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

# What `pack_arguments` finds among the arguments: the sum of these, 0 for ints and floats only.
cdef enum:
    HAS_OBJECTS = 1       # any other argument: it may own what the kernel uses
    HAS_STAND_INS = 2     # a StandIn
    HAS_GRAPH_MEMORY = 4  # memory of an alloc node, which only nodes of graphs may use, or UNLAUNCHED memory (buffer.pxd)

# The arguments of a launch are `count` borrowed references, in a tuple or on the stack of the interpreter: a launch makes no
# tuple of them.

# Converts the arguments as the kernel's parameters require. The pack is on the caller's stack, since the driver copies the
# values during the call. Raises TypeError for a wrong count, width or type, and OverflowError for an int that does not
# fit; each names the parameter. Returns what it finds.
cdef int pack_arguments(ArgumentPack& pack, Kernel kernel, Arguments args, size_t count) except -1

# Sets `all` to the owner of the objects behind the arguments. It must live as long as the kernel may run, and survives
# `del` of the objects and Buffer.close(). `all` must be empty before the call, and stays empty for plain numbers.
cdef int own_arguments(Arguments args, size_t count, Opaque& all) except -1

# Lets kernels on `device` use the memory of Buffers and arrays among their arguments. Arrays of other libraries are left to
# these libraries.
cdef int reach_arguments(Arguments args, size_t count, int device) except -1

# Returns the memory of a Buffer, or of an array of this package; None for any other argument.
cdef Buffer memory_of(object arg)

# Makes instances of `cls` valid arguments: their `handle`, an int, is passed in 8 bytes (Condition).
cpdef void register_handle_type(type cls)

# Returns true for memory that the driver knows, which the device can access, and for address 0.
cpdef bint is_known_memory(CUdeviceptr address) except -1
