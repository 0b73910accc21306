# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUcontext
from cuda_graphs._driver.cuda_graph cimport CUgraphConditionalNodeType, CUmemorytype
from cuda_graphs._handles.graph_handles cimport AllocKind, GraphBox, NodeKind, NodeSpec
from cuda_graphs._objects.kernel cimport Kernel
from cuda_graphs._objects.launch_config cimport LaunchConfig
from cuda_graphs.graph.condition cimport Condition

# One function a kind: checks all arguments and fills a fresh spec. Adding a node, updating one and updating one of an
# executable use the same. Nothing else has changed when they raise. `around` is the graph that the node is in: a
# RecursionError where graphs inside the node would be deeper than kMaxDepth.
cdef int read_kernel(NodeSpec& spec, object config, object kernel, tuple args) except -1
cdef int read_alloc(NodeSpec& spec, object size, object options) except -1  # GraphAllocOptions; returns the device
cdef int read_free(NodeSpec& spec, object dptr) except -1
cdef int read_child(NodeSpec& spec, object child, GraphBox* source, GraphBox* around) except -1
cdef int read_host(NodeSpec& spec, object fn, object user_data) except -1
cdef int read_event(NodeSpec& spec, NodeKind kind, object event) except -1  # kEventRecord or kEventWait
cdef int read_conditional(
    NodeSpec& spec, object condition, NodeKind kind, CUgraphConditionalNodeType type, unsigned int size,
    GraphBox* around) except -1

# The same of a Condition that was checked, for a context.
cdef int fill_conditional(
    NodeSpec& spec, Condition condition, NodeKind kind, CUgraphConditionalNodeType type, unsigned int size,
    CUcontext context, GraphBox* around) except -1

# What is given as `args` in one piece, as a tuple.
cdef tuple accept_arguments(object args)

# Of the spec of a kernel node that is there, what is not None: the launch shape; the kernel and its arguments, or these
# alone. Owners of what stays are left to the caller, first the kernel and second the arguments.
cdef int change_kernel(NodeSpec& spec, object config, object kernel, object args) except -1

# Some words on what a spec makes, for messages: "a memset of 4 x 1 elements at 0x1000".
cdef str describe(NodeSpec& spec)
cdef tuple addresses_of(NodeSpec& spec)

# Back from a spec of a kernel node.
cdef LaunchConfig config_of(NodeSpec& spec)
cdef Kernel kernel_of(NodeSpec& spec)

cdef CUmemorytype type_of(AllocKind kind) noexcept
