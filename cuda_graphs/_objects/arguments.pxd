# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From Python values to the `void**` that a kernel launch or a kernel node takes."""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUdeviceptr
from cuda_graphs._handles.handles cimport ArgumentPack, Opaque
from cuda_graphs._objects.kernel cimport Kernel


# An argument whose value comes later. Base of the classes of the layers above that stand for one.
cdef class StandIn:
    cdef uint64_t _bits  # what is passed until then
    cdef size_t _width  # bytes

# Converts `args` as the kernel's parameters are declared. On the stack of the caller: the driver copies the values
# during the call that takes them. TypeError for a wrong count, width or type, OverflowError for an int that does not
# fit; each names the parameter. `stand_ins` gets the places of StandIns; without it they are refused.
cdef int pack_arguments(ArgumentPack& pack, Kernel kernel, tuple args, vector[size_t]* stand_ins=*) except -1

# The owner of all that the arguments stand for, which must live as long as the kernel may run: survives `del` of the
# objects and Buffer.close(). `all` is empty before, and stays so when they are plain numbers.
cdef int own_arguments(tuple args, Opaque& all) except -1

# Makes instances of `cls` valid arguments: their `handle`, an int, is passed in 8 bytes (Condition).
cpdef void register_handle_type(type cls)

# Whether an address is memory of the driver's, which the device reaches, or no memory at all (0).
cpdef bint is_known_memory(CUdeviceptr address) except -1
