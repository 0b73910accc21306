# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.objects.device.stream cimport Stream
from .buffer cimport Buffer

# Returns memory of the graph that the stream captures, for an array. It is freed in the order of the capture when its
# last holder ends; GraphBuilder lets the graph keep what is alive at the end of the capture. In the body of a
# conditional node, the memory belongs to the graph around the outermost conditional node, and is freed at the end of its
# capture at the earliest. Returns None if the stream is not captured or is of another device, or if the array has no
# bytes.
cdef Buffer allocate_for_array(int device, size_t size, Stream stream)
