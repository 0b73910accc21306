# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The grids of tasks in a graph whose arguments are parameters: each executable computes them from the present values.

The first task of a kernel with concurrent sections also compares the arrays of the sections, which must not share memory.
"""

from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libc.stdint cimport int32_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport LaunchSize, ParameterValue, SizeRule, SizeRuleRef
from cuda_graphs.core.resources.handles cimport Opaque, hold_python
from cuda_graphs.graph.nodes.sized_config cimport follow_shapes, sized_config
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.objects.code.arguments cimport StandIn
from .specialisation cimport DisjointPair, Source, Specialisation, TripCount, kExtent, kLeaf

cdef enum:
    FEW = 32  # leaves that fit on the C stack


cdef class TaskSize:
    """Computes the grid of one task from the leaves of its call, some of which are parameters of a graph."""

    cdef Specialisation code
    cdef size_t task
    cdef bint checks_overlap               # True if the arrays of concurrent sections are compared
    cdef vector[Leaf] leaves               # of the call
    cdef vector[vector[int32_t]] extents   # by leaf: the owners of arrays may be gone when the rule is used
    cdef vector[size_t] operands           # leaf of each operand

    cdef dict _axes(self):
        """Return the leaves that determine the grid, with the number of their extents."""
        cdef TripCount loop
        cdef Source step
        cdef DisjointPair pair
        cdef dict axes = {}
        for loop in self.code.tasks[self.task].loops:
            for step in loop.count:
                if step.origin == kLeaf or step.origin == kExtent:
                    axes[step.number] = max(axes.get(step.number, 0), step.axis + 1 if step.origin == kExtent else 0)
        if self.checks_overlap:
            for pair in self.code.disjoint:
                for origin, number, count in (
                    (pair.first.origin, pair.first.number, pair.first.axes),
                    (pair.second.origin, pair.second.number, pair.second.axes),
                ):
                    if origin == kLeaf:
                        axes[number] = max(axes.get(number, 0), count)
        return axes

    cdef tuple _keep(self, const Leaf* leaves, dict owners):
        """Copy the leaves, and return the Parameters among them that determine the grid."""
        cdef size_t i
        cdef size_t count = <size_t>(max(self.code.leaf_numbers.values()) + 1)
        self.leaves.assign(leaves, leaves + count)
        self.extents.resize(count)
        found = []
        for i, axes in self._axes().items():
            if isinstance(owners.get(i), StandIn):
                self.operands.push_back(i)
                found.append(owners[i])
            elif axes and leaves[i].extents != NULL:
                self.extents[i].assign(leaves[i].extents, leaves[i].extents + <size_t>axes)
                self.leaves[i].extents = self.extents[i].data()
        return tuple(found)

    cdef cpp_bool resize(self, const ParameterValue* const* operands, LaunchSize* size) noexcept nogil:
        cdef Leaf few[FEW]
        cdef vector[Leaf] more
        cdef Leaf* leaves = few
        cdef size_t i
        if self.leaves.size() > FEW:
            more.resize(self.leaves.size())
            leaves = more.data()
        for i in range(self.leaves.size()):
            leaves[i] = self.leaves[i]
        for i in range(self.operands.size()):
            leaves[self.operands[i]].bits = operands[i].bits
            leaves[self.operands[i]].extents = operands[i].extents.data()
        if self.checks_overlap and self.code.find_overlap(self.code.disjoint, leaves) >= 0:
            return False
        size.grid[0] = self.code.grid_of(self.code.tasks[self.task], leaves)
        return True


cdef cpp_bool resize_task(
    void* size_of_task, const ParameterValue* const* operands, LaunchSize* size, Opaque* why
) noexcept nogil:
    return (<TaskSize>size_of_task).resize(operands, size)


cdef object follow_parameters(Specialisation code, size_t task, object config, const Leaf* leaves, dict owners):
    cdef TaskSize self
    cdef shared_ptr[SizeRule] rule
    for owner in owners.values():
        if isinstance(owner, StandIn):
            break
    else:
        return config
    self = TaskSize.__new__(TaskSize)
    self.code, self.task, self.checks_overlap = code, task, task == 0 and code.disjoint.size() != 0
    operands = self._keep(leaves, owners)
    if not operands:
        return follow_shapes(config)
    rule = make_shared[SizeRule]()
    rule.get().resize, rule.get().self, rule.get().owner = resize_task, <void*>self, hold_python(<PyObject*>self)
    rule.get().reads_addresses = self.checks_overlap
    return sized_config(config, <SizeRuleRef>rule, operands)
