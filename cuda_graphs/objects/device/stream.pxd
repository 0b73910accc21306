# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uintptr_t

from cuda_graphs.core.resources.handles cimport EventHandle, StreamHandle
from .context cimport Context


cdef class Stream:
    cdef StreamHandle _h  # empty once closed
    cdef uintptr_t _address  # the raw value, kept after close() for the hash
    cdef object __weakref__

    @staticmethod
    cdef Stream _from_handle(StreamHandle h)

    # Raises RuntimeError once closed.
    cdef int _check_open(self) except -1

    cdef Context _context(self)
    cdef EventHandle _mark(self, Stream other)


# Base of objects that are accepted as streams (GraphBuilder).
cdef class StreamHolder:
    cdef Stream _stream_or_error(self)


# Does what accept_stream does, for any argument.
cdef Stream find_open_stream(object arg)

# Returns the stream of an argument: a Stream, or any object with __cuda_stream__. Raises TypeError, or RuntimeError
# when it is closed, so that `raw_of(accept_stream(x)._h)` is always a stream.
cdef inline Stream accept_stream(object arg):
    return <Stream>arg if type(arg) is Stream and (<Stream>arg)._h else find_open_stream(arg)
