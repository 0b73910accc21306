# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUcontext
from cuda_graphs.core.driver.cuda_graph cimport CUmemorytype
from cuda_graphs.core.graphs.graph_handles cimport AllocKind, GraphBox, NodeKind, NodeSpec
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.code.launch_config cimport LaunchConfig
from cuda_graphs.objects.keyword_method cimport Arguments
from cuda_graphs.graph.operands.condition cimport Condition

# One function per kind: checks all arguments and fills a fresh spec. Adding a node, updating a node, and updating a node
# of an executable use the same functions. If they raise, nothing else has changed. `around` is the graph of the node.
# They raise RecursionError if graphs inside the node would be deeper than kMaxDepth.
cdef int read_kernel(NodeSpec& spec, object config, object kernel, tuple args) except -1
cdef int read_launch(NodeSpec& spec, object config, Kernel kernel, Arguments args, size_t count) except -1
cdef int read_plain_launch(NodeSpec& spec, LaunchConfig config, Kernel kernel, Arguments args, size_t count) except -1  # sets no owner of the kernel
cdef int read_alloc(NodeSpec& spec, object size, object options) except -1  # GraphAllocOptions; returns the device
cdef int read_free(NodeSpec& spec, object dptr) except -1
cdef int read_child(NodeSpec& spec, object child, GraphBox* source, GraphBox* around) except -1
cdef int read_host(NodeSpec& spec, object fn, object user_data, object name) except -1
cdef int read_event(NodeSpec& spec, NodeKind kind, object event) except -1  # kEventRecord or kEventWait
cdef int read_conditional(NodeSpec& spec, object condition, NodeKind kind, unsigned int size, GraphBox* around) except -1

# Raises RecursionError if graphs in a node of `around` would be deeper than kMaxDepth.
cdef int check_depth(GraphBox* around, unsigned int levels_inside_node) except -1

# Fills the spec of a conditional node for a checked Condition and a context.
cdef int fill_conditional(
    NodeSpec& spec, Condition condition, NodeKind kind, unsigned int size, CUcontext context, GraphBox* around) except -1

# Returns `args`, a tuple or list of kernel arguments, as a tuple. Raises TypeError for other objects.
cdef tuple accept_arguments(object args)

# Changes the spec of an existing kernel node. None keeps a part: the launch shape, the kernel, its arguments. The caller
# sets the owners of the parts that stay: `first` owns the kernel, `second` the arguments.
cdef int change_kernel(NodeSpec& spec, object config, object kernel, object args) except -1

# Sets the code of a kernel node, but not its owner.
cdef int fill_code(NodeSpec& spec, Kernel kernel) except -1

# Returns a description of a spec for messages: "a memset of 4 x 1 elements at 0x1000".
cdef str describe(NodeSpec& spec)
# Returns the facts about memory that explain why a driver refuses the node: the kind, and the size or the addresses.
# Returns None for other kinds.
cdef tuple facts_of(NodeSpec& spec)

# Return config and kernel of the spec of a kernel node.
cdef LaunchConfig config_of(NodeSpec& spec)
cdef Kernel kernel_of(NodeSpec& spec)

cdef CUmemorytype memory_type_of(AllocKind kind) noexcept

# Returns the device of a node that the driver does not report; kNoDevice for kernel nodes, whose device it reports, and for
# kinds without a device.
cdef int device_to_note(NodeSpec& spec) except -2

# Raises ValueError if `graph` is in the body of a conditional node of another device than the node of the spec.
cdef int check_devices_fit_body(GraphBox* graph, NodeSpec& spec, object name) except -1
