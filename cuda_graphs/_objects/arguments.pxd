# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From Python values to the `void**` that a kernel launch or a kernel node takes."""

from cuda_graphs._handles.handles cimport ArgumentPack
from cuda_graphs._objects.kernel cimport Kernel


# Converts `args` as the kernel's parameters are declared. On the stack of the caller: the driver copies the values
# during the call that takes them. TypeError for a wrong count, width or type, OverflowError for an int that does not
# fit; each names the parameter. The objects in `args` must live as long as the kernel may run: a graph node keeps the
# tuple (`needs_keeping` tells whether it must).
cdef int pack_arguments(ArgumentPack& pack, Kernel kernel, tuple args) except -1

# Whether a tuple of arguments holds anything but plain numbers.
cdef bint needs_keeping(tuple args)

# Makes instances of `cls` valid arguments: their `handle`, an int, is passed in 8 bytes (Condition).
cpdef void register_handle_type(type cls)
