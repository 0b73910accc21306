# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""NodeCall: the call of a compiled kernel that has made one or more kernel nodes.

The metadata of each of its nodes owns the call. The call knows its nodes without owning them: a node whose metadata has no
call, or another one, is no longer part of it. A copy of the nodes in an embedded graph has no call.
"""

from cpython.object cimport PyObject

from cuda_graphs.core.resources.device_scope cimport kNoDevice
from cuda_graphs.core.resources.handles cimport hold_python

# Why the compiler cannot change a node, at the end of a sentence about it.
NO_CALL = "is not a call of a kernel of cuda_graphs, or comes from a file, which has no source"


cdef class NodeCall:
    """A call that has made nodes. The kernel package derives the class of its calls from it."""

    def __cinit__(self):
        self.launches, self.conditions, self.device = [], {}, kNoDevice

    def __init__(self, *args, **kwargs):
        raise RuntimeError("NodeCall objects cannot be instantiated directly. Calls in graphs make them.")

    def parts(self):
        """Return what node_fusion.py needs to call the kernel in another one, or the reason (a str) why this is not possible."""
        raise NotImplementedError

    def early_task(self, size_t task):
        """Return the EarlyTask of a task, which early_edges.py needs, or the reason (a str) why it cannot begin early."""
        raise NotImplementedError

    def task_memory(self, size_t task):
        """Return ({path: Span} of the arrays that a task reads, [Span] of those that it writes). None is unknown memory."""
        raise NotImplementedError

    cdef NodeCall with_arguments(self, tuple args):
        raise NotImplementedError

    cdef NodeCall with_config(self, size_t task, object config):
        raise NotImplementedError

    cdef int take(self, NodeCall other) except -1:
        raise NotImplementedError

    cdef tuple arguments(self):
        raise NotImplementedError

    cdef tuple arguments_of_task(self, size_t task):
        return tuple([self.conditions.get(value, value) if isinstance(value, str) else value
                      for value in self.launches[task].arguments])

    cdef size_t task_of(self, NodeRecord* node) except? 0xBAD:
        cdef size_t task
        for task in range(self.nodes.size()):
            if self.nodes[task] == node:
                return task
        raise RuntimeError("the node is no longer part of the call that made it")


cdef NodeCall call_of(NodeRecord* node):
    if not node.metadata or not node.metadata.get().call:
        return None
    return <NodeCall><PyObject*>node.metadata.get().call.get()


cdef int join_call(NodeRecord* node, NodeCall call, size_t task) except -1:
    if call.nodes.size() <= task:
        call.nodes.resize(task + 1, NULL)
    call.nodes[task] = node
    node.make_metadata().call = hold_python(<PyObject*>call)
    return 0


cdef int leave_call(NodeRecord* node) noexcept:
    if node.metadata:
        node.metadata.get().call.reset()
    return 0
