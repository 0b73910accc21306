# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.resources.handles cimport Opaque, PointerHandle, StreamHandle, WeakOpaque
from cuda_graphs.objects.device.stream cimport Stream


# The kinds of memory. NOT_ASKED: the driver was not queried yet. UNLAUNCHED: memory of a captured graph. The driver knows
# it from the first launch of the graph on, and is queried until then.
cdef enum MemoryKind:
    UNLAUNCHED = -2
    NOT_ASKED = -1
    PAGEABLE
    PINNED
    DEVICE
    MANAGED


cdef class Buffer:
    cdef PointerHandle _h  # empty once closed
    cdef CUdeviceptr _address  # the raw value, kept after close() for the hash
    cdef size_t _size
    cdef object _memory_resource
    cdef object _owner
    cdef int _kind  # a MemoryKind
    cdef int _device_id
    cdef WeakOpaque _owned  # weak reference to the owner that nodes share: the Buffer and its memory
    cdef object __weakref__

    @staticmethod
    cdef Buffer _from_handle(PointerHandle h, object memory_resource)

    # Returns a Buffer of no bytes at address 0, for which the driver cannot be queried.
    @staticmethod
    cdef Buffer _empty(object memory_resource, MemoryKind kind, int device_id)

    # Raises RuntimeError once closed.
    cdef int _check_open(self) except -1

    cdef int _free_on(self, Stream stream) except -1
    cdef int _free_captured(self) except -1
    cdef int _let_go(self) except -1
    cdef int _ask(self) except -3


# Returns how many times the program has closed a Buffer. While the number is the same, open Buffers are still open.
cdef unsigned long long closed_buffers() noexcept

# Returns a Buffer of `size` bytes of another Buffer, from `address` on. It keeps the memory, also after close() of `whole`.
cdef Buffer part_of(Buffer whole, CUdeviceptr address, size_t size)

# Returns True for memory that a captured graph allocates, which exists only in its launches, and for parts of it.
cdef bint is_of_graph(Buffer buffer) noexcept

# Raises CUDAError for UNLAUNCHED memory that the driver does not know, if work on the stream would use it now. A captured
# stream may: its graph is launched later. `attempt` describes the work. Callers check the kind first, as the text costs time.
cdef int check_launched(Buffer buffer, const StreamHandle& stream, object attempt) except -1

# Raises CUDAError for the status of the driver, with the reason if it is memory of a graph.
cdef int raise_memory_error(CUresult status, Buffer buffer, object attempt) except -1

# Returns True for memory of a graph whose capture goes on, and for parts of it.
cdef bint is_of_capture(Buffer buffer) except -1

# Sets `owner` to the owner that a graph must keep so that its nodes can use the memory: the Buffer and its memory.
# Returns False, and no owner, for memory of a graph whose capture goes on: the end of the Buffer adds the free node.
cdef bint own_buffer(Buffer buffer, Opaque& owner) except -1

# Lets the work of `device` use the device memory of a Buffer. The first use of a pair of devices enables the access. Raises
# CUDAError, which names the two devices, if the machine offers none. Does nothing for kNoDevice, and for memory that a
# graph allocates, which has its own setting (`peer_access` of `alloc`).
cdef int reach(Buffer buffer, int device) except -1

# Returns the device that does the work of a stream.
cdef int device_at_work(const StreamHandle& stream) except -2

# Sets `count` elements from `address` on, which is in the Buffer, to the bytes of `element`, in the order of a stream.
cdef int fill_elements(Buffer buffer, CUdeviceptr address, bytes element, size_t count, Stream on) except -1

# Parses a fill value (int in 0..255, or a buffer of 1, 2 or 4 bytes): sets the pattern, returns its width in bytes.
cdef int parse_fill_value(object value, unsigned int* pattern) except -1
