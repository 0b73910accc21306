# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions for saved definitions that no public method offers: the counters and tests of loops, edges in one call, the
sources of nodes, and the contents of memory.
"""

from cpython.object cimport PyObject
from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult, driver
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport Edges, GraphBox, NodeRecord, about_to_change, add_edges, edge_data
from cuda_graphs.core.resources.handles cimport hold_python, read_memory
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter, make_counter
from cuda_graphs.objects.code.launch_config cimport LaunchConfig
from cuda_graphs.objects.source cimport pin_code, unpin_source
from .insertion_point cimport InsertionPoint
from .node cimport GraphNode
from .sized_config cimport SizedConfig, follow_shapes, read_config


def counter_of(GraphNode node not None):
    """Return the LoopCounter of a while node, or None."""
    cdef NodeRecord* record = node._record()
    if not record.metadata or not record.metadata.get().counter:
        return None
    return <object><PyObject*>record.metadata.get().counter.get()


def memory_of_counter(LoopCounter counter not None):
    """Return the Buffer in which a loop counts."""
    return counter.memory


def new_counter(limit):
    """Return a LoopCounter with the limit of another one."""
    return make_counter(limit, None, True)


def restore_loop(GraphNode node not None, LoopCounter counter, GraphNode test):
    """Give a while node its counter, and its body the kernel that sets the condition; either may be None."""
    cdef NodeRecord* record = node._record()
    if counter is not None:
        record.make_metadata().counter = hold_python(<PyObject*>counter)
    if test is not None:
        record.metadata.get().inner[0].test = test._record()
    return None


def connect(InsertionPoint graph not None, edges):
    """Add edges, (from, to, (from_port, to_port, type)), between nodes of a graph in one call."""
    cdef GraphBox* box = graph._open()
    cdef Edges found
    cdef CUresult status
    for before, after, (from_port, to_port, type) in edges:
        found.add(
            (<GraphNode?>before)._record().raw, (<GraphNode?>after)._record().raw, edge_data(from_port, to_port, type)
        )
    if found.size() == 0:
        return
    about_to_change(box[0])
    box.edited = True
    with nogil:
        status = add_edges(box.raw, found)
    if status:
        check_attempt(status, f"add {found.size()} edges to {graph._identify(True)}")


class at_line:
    """A context in which nodes are added as if the first line of a code object added them."""

    __slots__ = ("code", "pinned")

    def __init__(self, code):
        self.code, self.pinned = code, False

    def __enter__(self):
        self.pinned = pin_code(self.code)

    def __exit__(self, *error):
        if self.pinned:
            unpin_source()


def read_bytes(CUdeviceptr address, size_t size):
    """Return the contents of memory, after the work that was given to the device before."""
    cdef bytearray found = bytearray(size)
    cdef char* to = found
    cdef CUresult status
    with nogil:
        status = read_memory(to, address, size)
    check_attempt(status, f"read {size} bytes at {address:#x}")
    return bytes(found)


def write_bytes(CUdeviceptr address, bytes data not None):
    """Set the contents of memory, before the work that is given to the device afterwards."""
    cdef const char* source = data
    cdef size_t size = len(data)
    cdef CUresult status
    with nogil:
        status = driver().cuMemcpyHtoD(address, source, size)
    check_attempt(status, f"write {size} bytes at {address:#x}")


def following(function, tuple args not None, bint is_cooperative):
    """Return the config of a launch that takes arrays of any shape: `function` returns its size for the values of `args`."""
    cdef LaunchConfig found = read_config(function, args)
    cdef SizedConfig config = <SizedConfig>found if isinstance(found, SizedConfig) else follow_shapes(found)
    config._is_cooperative = is_cooperative
    return config
