# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.objects.memory.buffer cimport Buffer


# Returns new memory of the kind of alloc nodes: that of the pool of a device, whatever its memory_resource is.
cdef Buffer allocate_pooled(int device, size_t size)
