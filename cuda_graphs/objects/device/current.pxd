# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.vector cimport vector

from cuda_graphs.core.resources.handles cimport Opaque, StreamHandle
from .stream cimport Stream


# One entry of a `with` block that makes a stream current. Blocks form a list from the innermost to the outermost.
cdef class StreamBlock:
    cdef Stream stream
    cdef StreamBlock outer
    cdef unsigned long thread
    cdef bint is_open
    cdef bint captures  # True for the block of a builder
    cdef list made  # weak references to the Buffers of the arrays that were made in the capture of this builder
    cdef vector[Opaque] held  # the part of this memory that is freed at the end of the capture at the earliest
    cdef object followers  # ExitStack of the streams of other libraries, or None
    cdef readonly tuple kept  # the memory pools of other libraries, which a captured graph keeps


# Enters a block: `stream` is current for this thread, and for this task of asyncio, until leave_block().
cdef StreamBlock enter_block(Stream stream, bint captures)
cdef int leave_block(StreamBlock block) except -1

# Returns the innermost block, in this thread, of the builder that captures `origin`; None without one.
cdef StreamBlock find_builder_block(const StreamHandle& origin)

# The number of open blocks of all threads: faster to check than the blocks of the thread.
cdef int open_blocks

# Returns the current stream of this thread, or `usual` without one. Raises RuntimeError if the current stream is closed.
cdef inline Stream current_or(Stream usual):
    return usual if open_blocks == 0 else find_current_or(usual)

cdef Stream find_current_or(Stream usual)
