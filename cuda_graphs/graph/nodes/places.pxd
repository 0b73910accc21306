# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.graphs.graph_handles cimport GraphBox, GraphMemoryRef, NodeHandle, NodeSpec, parameters_of

ctypedef int (*Settle)(const GraphMemoryRef& place) except -1
ctypedef object (*Wrap)(const NodeHandle& h)


# Begin and end to read the places of a definition with the addresses of stand-ins, in this thread. `hierarchy` is the number of
# the definition, 0 for none. leave_places takes what enter_places returned.
cdef uint64_t enter_places(uint64_t hierarchy) noexcept
cdef void leave_places(uint64_t before) noexcept

# Returns the address with which the place of a definition is read now. It gets memory of its own outside of enter_places.
cdef CUdeviceptr address_of_place(const GraphMemoryRef& place, uint64_t hierarchy) except? 0xBAD

# Returns True if this thread reads the places of the definition with the addresses of stand-ins.
cdef bint is_read(uint64_t hierarchy) noexcept

# Returns an address that other code may use, for one that may be in a stand-in: the place then has memory of its own.
# Code of users may keep it, so this holds inside of enter_places too.
cdef CUdeviceptr public_address(CUdeviceptr address) except? 0xBAD

# Returns True for an address in the stand-in of a place that has no memory of its own.
cdef bint is_shared(CUdeviceptr address) except -1

# Adds the parameter that stands for the place of a new alloc node.
cdef int declare_place(GraphBox* graph, const GraphMemoryRef& place) except -1

# Replaces the addresses in places of a spec by uses of parameters, or by addresses of their own memory, before the driver gets
# it for a node of `graph`.
cdef inline int use_places(GraphBox* graph, NodeSpec& spec) except -1:
    return replace_places(graph, spec) if parameters_of(graph[0]).has_places() else 0
cdef int replace_places(GraphBox* graph, NodeSpec& spec) except -1

# Gives a place memory of its own, and all nodes that use it its address. Does nothing for a place that has it.
cdef int settle(const GraphMemoryRef& place) except -1

# Gives the places that a spec uses by parameters memory of their own. Returns False if there is none.
cdef bint settle_uses(NodeSpec& spec) except -1

# Gives the places of a hierarchy memory of their own: all, or those that no node of it frees. Others may read these after a
# launch.
cdef int settle_all(GraphBox* graph, bint only_unfreed=*) except -1

# Registers the function that does it, and the one that returns the Python object of a node.
cdef void register_settle(Settle function, Wrap wrap_function) noexcept
