# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""TemporaryMemory: the memory that an executable has for the temporaries of its definition, by the plan of their sharing.

The memory is one buffer for each device. It has the kind of `cg.ndarray` on that device, like the placeholders of array
parameters (core/graphs/named_parameter.cpp): an executable cannot change the kind of memory of a copy. The executable owns
the buffer as the value of its parameters, so launches in flight keep it.
"""

from cuda_graphs.core.graphs.graph_handles cimport (
    ParameterChanges,
    ParameterProblem,
    as_owner,
    set_parameters,
)
from cuda_graphs.graph.operands.parameter cimport Temporary
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from .parameter_values cimport Slots, check_problem

from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.memory_resource import ManagedMemoryResource


cdef class TemporaryMemory:
    def __cinit__(self):
        self.plans, self.owners = (), []

    cdef int add(self, object plan, Buffer buffer) except -1:
        cdef Temporary temporary
        for temporary, offset in zip(plan.temporaries, plan.offsets):
            self.parameters.push_back(temporary._p)
            self.addresses.push_back(buffer._address + <CUdeviceptr>offset)
            self.owners.append(buffer)
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
            changes[i].value.owner = as_owner((<Buffer>self.owners[i])._h)
        with nogil:
            done = set_parameters(exec, changes, &problem)
        if not done:
            check_problem(problem, Slots(), {})
        return 0


cdef TemporaryMemory plan_memory(object definition, TemporaryMemory present):
    cdef tuple plans = plans_of(definition)
    cdef TemporaryMemory made
    if plans == present.plans:
        return present
    made = TemporaryMemory()
    made.plans = plans
    for plan in plans:
        made.add(plan, allocate(plan))
    return made


cdef tuple plans_of(object definition):
    if not definition._has_temporaries():
        return ()  # without the import: most definitions have none
    from cuda_graphs.graph.analysis.sharing import plan_sharing

    return plan_sharing(definition)


cdef Buffer allocate(object plan):
    cdef DeviceScope scope
    device = Device() if plan.device is None else Device(plan.device)
    enter_device(scope, device.device_id)
    if device.properties.direct_managed_mem_access_from_host:
        return ManagedMemoryResource(device).allocate(plan.size)
    stream = device.default_stream
    cdef Buffer buffer = device.memory_resource.allocate(plan.size, stream=stream)
    stream.sync()  # launches may use it on any stream
    return buffer
