# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda_graph cimport CUDA_MEMCPY3D
from cuda_graphs.core.graphs.graph_handles cimport NodeSpec

# Fill a fresh spec, like the read_* functions of spec.pxd. If they raise, nothing else has changed. The functions for memset
# nodes return the kind of the value, a sign of `KINDS_OF_VALUES`; change_memset returns 0 if it keeps the value. `before`
# is the kind of the earlier value, or None.
cdef int read_memset(
    NodeSpec& spec, object dst, object value, object width, object height, object pitch, object dst_owner
) except -1
# `extents` is None, or a tuple of the shape keywords in the order of copy_shape.Extents. A missing keyword is None there.
cdef int read_memcpy(
    NodeSpec& spec, object dst, object src, object size, tuple extents, object dst_owner, object src_owner
) except -1

# Change the parameters of an existing node, which `load_node` put into the spec. None keeps a field. A side that is not
# given has no owner in the spec; the node keeps its owner.
cdef int change_memset(
    NodeSpec& spec, object dst, object value, object width, object height, object pitch, object dst_owner, object before
) except -1
cdef int change_memcpy(
    NodeSpec& spec, object dst, object src, object size, tuple extents, object dst_owner, object src_owner
) except -1

# Returns the copy_shape.Shape of a copy, whose sides begin at the two addresses below.
cdef object shape_of_copy(const CUDA_MEMCPY3D& copy)
# Return the address of the first copied byte, including the offsets of nodes that other code made.
cdef size_t first_source_byte(const CUDA_MEMCPY3D& copy) noexcept
cdef size_t first_destination_byte(const CUDA_MEMCPY3D& copy) noexcept
