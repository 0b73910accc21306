# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""TemporaryMemory: the memory that an executable has for the temporaries of its definition, and for the arrays of alloc nodes
whose address was never read, by the plan of their sharing.

The memory is one buffer for each device and kind of memory. That of temporaries has the kind of `cg.ndarray` on that device,
that of alloc nodes is pool memory, like the placeholders of both (core/graphs/named_parameter.cpp): an executable cannot
change the kind of memory of a copy. The executable owns the buffer as the value of its parameters, so launches in flight
keep it.
"""

from cuda_graphs.core.graphs.graph_handles cimport (
    NodeRecord,
    ParameterChanges,
    ParameterFault,
    ParameterProblem,
    ParameterRef,
    as_owner,
    parameters_of,
    set_parameters,
)
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint
from cuda_graphs.graph.nodes.place_memory cimport allocate_pooled
from cuda_graphs.graph.operands.parameter cimport Temporary
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from .parameter_values cimport Slots, check_problem

from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.memory_resource import ManagedMemoryResource


cdef class TemporaryMemory:
    def __cinit__(self):
        self.key = ()

    cdef int add(self, object plan, Buffer buffer) except -1:
        for array, offset in zip(plan.arrays, plan.offsets):
            self.parameters.push_back(parameter_of(array))
            self.addresses.push_back(buffer._address + <CUdeviceptr>offset)
            self.owners.push_back(as_owner(buffer._h))
        return 0

    cdef int use(self, const GraphExecHandle& exec) except -1:
        cdef ParameterChanges changes
        cdef ParameterProblem problem
        cdef bint done
        cdef size_t i
        if self.parameters.empty():
            return 0
        changes.resize(self.parameters.size())
        for i in range(changes.size()):
            changes[i].parameter = &self.parameters[i]
            changes[i].value = self.parameters[i].get().initial  # which has the extents
            changes[i].value.bits, changes[i].value.known = self.addresses[i], True
            changes[i].value.owner = self.owners[i]
        with nogil:
            done = set_parameters(exec, changes, &problem)
        if not done:
            check_problem(problem, Slots(), {})
        return 0


cdef ParameterRef parameter_of(object array) except *:
    """Return the parameter of a Temporary, or that of the memory of an AllocNode."""
    cdef NodeRecord* record
    if isinstance(array, Temporary):
        return (<Temporary>array)._p
    record = (<InsertionPoint>array)._record()
    return parameters_of(record.graph[0]).find_place(record.metadata.get().place.get()[0])


cdef int give_place(const GraphExecHandle& exec, object node, Buffer buffer) except -1:
    cdef ParameterRef parameter = parameter_of(node)
    cdef ParameterChanges changes
    cdef ParameterProblem problem
    cdef bint done
    changes.resize(1)
    changes[0].parameter = &parameter
    changes[0].value.bits, changes[0].value.known = buffer._address, True
    changes[0].value.owner = as_owner(buffer._h)
    with nogil:
        done = set_parameters(exec, changes, &problem)
    if not done and problem.fault != ParameterFault.kDropped:  # the array may be newer than the executable
        check_problem(problem, Slots(), {})
    return 0


cdef TemporaryMemory plan_memory(object definition, TemporaryMemory present, object groups):
    cdef tuple plans = plans_of(definition, groups)
    if not plans and not present.key:
        return present
    cdef tuple key = tuple([key_of(plan) for plan in plans])
    cdef TemporaryMemory made
    if key == present.key:
        return present
    made = TemporaryMemory()
    made.key = key
    for plan in plans:
        made.add(plan, allocate(plan))
    return made


cdef tuple key_of(object plan):
    """Return a plan without its alloc nodes, which would keep their definition."""
    arrays = [array if isinstance(array, Temporary) else array._address for array in plan.arrays]
    return plan.device, plan.is_pooled, plan.offsets, plan.size, tuple(arrays)


cdef tuple plans_of(object definition, object groups):
    if not definition._has_temporaries():
        return ()  # without the import: most definitions have none
    from cuda_graphs.graph.analysis.sharing import plan_sharing

    return plan_sharing(definition, groups)


cdef Buffer allocate(object plan):
    cdef DeviceScope scope
    if plan.is_pooled:
        return allocate_pooled(plan.device, plan.size)
    enter_device(scope, plan.device)
    return ManagedMemoryResource(Device(plan.device)).allocate(plan.size)
