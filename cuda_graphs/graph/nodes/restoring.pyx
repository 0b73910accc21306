# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What no public method offers, for saved definitions and `diff`: the counters of loops, and the contents of memory."""

from cpython.object cimport PyObject
from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport NodeRecord
from cuda_graphs.core.resources.handles cimport read_memory
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter
from .node cimport GraphNode


def counter_of(GraphNode node not None):
    """Return the LoopCounter of a while node, or None."""
    cdef NodeRecord* record = node._record()
    if not record.metadata or not record.metadata.get().counter:
        return None
    return <object><PyObject*>record.metadata.get().counter.get()


def memory_of_counter(LoopCounter counter not None):
    """Return the Buffer in which a loop counts."""
    return counter.memory


def read_bytes(CUdeviceptr address, size_t size):
    """Return the contents of memory, after the work that was given to the device before."""
    cdef bytearray found = bytearray(size)
    cdef char* to = found
    cdef CUresult status
    with nogil:
        status = read_memory(to, address, size)
    check_attempt(status, f"read {size} bytes at {address:#x}")
    return bytes(found)
