# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda_graph cimport CUDA_MEMCPY3D
from cuda_graphs._handles.graph_handles cimport NodeSpec

# As the read_* functions of spec.pxd. Nothing has changed when they raise.
cdef int read_memset(
    NodeSpec& spec, object dst, object value, object width, object height, object pitch, object dst_owner
) except -1
# `extents` is None, or what the keywords of a shape say: a tuple in the order of copy_shape.Extents, None for what is not
# given.
cdef int read_memcpy(
    NodeSpec& spec, object dst, object src, object size, tuple extents, object dst_owner, object src_owner
) except -1

# For the parameters of a node that is there, which `load_node` put into the spec: None leaves a field as it is. A side
# that is not given gets no owner in the spec; the node keeps the one that it has.
cdef int change_memset(
    NodeSpec& spec, object dst, object value, object width, object height, object pitch, object dst_owner
) except -1
cdef int change_memcpy(
    NodeSpec& spec, object dst, object src, object size, tuple extents, object dst_owner, object src_owner
) except -1

# The copy_shape.Shape that a copy has; its sides begin at the addresses below.
cdef object shape_of_copy(const CUDA_MEMCPY3D& copy)
# Of the first byte that is copied, whatever offsets a foreign node was made with.
cdef size_t first_source_byte(const CUDA_MEMCPY3D& copy) noexcept
cdef size_t first_destination_byte(const CUDA_MEMCPY3D& copy) noexcept
