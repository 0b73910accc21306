# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.core.graphs.graph_handles cimport NodeRecord, NodeSpec, SizeRuleRef, size_functions_running
from cuda_graphs.objects.code.launch_config cimport LaunchConfig
from .node_call cimport NodeCall


# The config of a launch of a kernel that takes arrays of any shape.
cdef class SizedConfig(LaunchConfig):
    cdef SizeRuleRef _rule     # computes the size of each launch; empty for a size that does not change
    cdef tuple _operands       # Parameters that the rule takes
    cdef NodeCall _call        # the call whose task the launch is, or None
    cdef size_t _task

# Returns a config with the fields of `config`.
cdef SizedConfig sized_config(LaunchConfig config, const SizeRuleRef& rule, tuple operands)

# Returns a copy of a config that makes the node of a launch part of a call; join_call_of then adds the node to the call.
cdef SizedConfig bind_call(LaunchConfig config, NodeCall call, size_t task)
cdef int join_call_of(NodeRecord* node, LaunchConfig config) except -1

# Returns the device of the call that such a config belongs to; kNoDevice for other configs.
cdef int device_of_config(LaunchConfig config) noexcept

# Returns the config of a launch: a LaunchConfig, a dict of its fields, or a function of the arguments. A function is
# called again, in each executable, when Parameters among the arguments change.
cdef LaunchConfig read_config(object config, tuple args)

# Returns the config function that the size of a kernel node follows; None for a node without one.
cdef object config_function_of(NodeRecord* node)

# Returns true while a config function runs on this thread: it holds the lock of an executable.
cdef inline bint is_config_running() except -1:
    return size_functions_running.load() != 0 and is_config_running_here()

cdef bint is_config_running_here() except -1

# Returns a config of the same size for a kernel that takes arrays of any shape.
cdef SizedConfig follow_shapes(object config)

# Sets the rules of the spec of a kernel node to those of `config`. `finish_rules` records the operands of the rule, after
# the arguments were recorded.
cdef int begin_rules(NodeSpec& spec, LaunchConfig config) except -1
cdef int finish_rules(NodeSpec& spec, LaunchConfig config) except -1

# Lets a kernel take arrays of the shapes of the defaults only, unless it takes any shape.
cdef int fix_shapes(NodeSpec& spec) except -1

# Removes the rule for the size of a kernel node, which keeps its present size.
cdef int drop_size(NodeSpec& spec) except -1
