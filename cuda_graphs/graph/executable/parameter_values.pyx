# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The values of an executable's parameters: converts keyword arguments to changes, and reports their errors."""

from collections import namedtuple
from sys import intern
from types import MappingProxyType

from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUDA_SUCCESS, CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    NodeKind,
    NodeRecord,
    ParameterChange,
    ParameterFault,
    ParameterRef,
    PresentParameter,
    list_parameters,
)
from cuda_graphs.core.resources.device_scope cimport find_device, has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport box_of
from cuda_graphs.graph.nodes.insertion_point cimport wrap_node
from cuda_graphs.graph.operands.parameter cimport is_hidden, is_temporary, wrap
from cuda_graphs.graph.operands.values cimport present_value, read_value, type_text
from cuda_graphs.objects.keyword_method cimport Arguments

cdef extern from "Python.h":
    PyObject* PyTuple_GET_ITEM(PyObject* items, Py_ssize_t index)

cdef enum:
    FEW = 8  # parameters whose names a look-up compares one by one

ParameterState = namedtuple("ParameterState", "type value", module=__name__)
"""Name of a parameter's type, and its present value: an address for a pointer, an ArrayValue for an array, None without a
value."""


cdef class Slot:
    """The index of a parameter in an executable."""


cdef class Slots:
    """The Slots of an executable's parameters."""

    def __cinit__(self):
        self.by_name = {}

    cdef Slot find(self, name):
        # The names of keywords and of slots are interned: most are found without a hash.
        cdef size_t i
        cdef PyObject* found
        for i in range(min(self.names.size(), <size_t>FEW)):
            if self.names[i] == <PyObject*>name:
                return <Slot>self.slots[i]
        found = PyDict_GetItemWithError(self.by_name, name)
        if found == NULL:
            refuse_unknown(name, self.by_name)
        return <Slot>found

    cdef int add(self, str name, Slot slot) except -1:
        name = intern(name)
        self.by_name[name] = slot  # which holds both
        self.names.push_back(<PyObject*>name)
        self.slots.push_back(<PyObject*>slot)
        return 0


cdef Slots find_slots(const vector[PresentParameter]& present):
    cdef Slot slot
    cdef Slots slots = Slots()
    cdef size_t i
    cdef bint several = has_several_devices()
    for i in range(present.size()):
        if is_hidden(present[i].parameter):
            continue
        slot = Slot()
        slot.index, slot.parameter, slot.device = i, present[i].parameter, kNoDevice
        if several and slot.parameter.get().type.is_array() and present[i].value.known:
            slot.device = device_at(present[i].value.bits)
        slots.add(name_of(slot.parameter), slot)
    return slots


cdef int read_changes(Slots slots, tuple names, Arguments values, ParameterChanges& changes) except -1:
    cdef Slot slot
    cdef ParameterChange* change
    cdef Py_ssize_t i
    cdef Py_ssize_t count = PyTuple_GET_SIZE(names)
    changes.resize(<size_t>count)
    for i in range(count):
        name = <object>PyTuple_GET_ITEM(<PyObject*>names, i)
        slot = slots.find(name)
        change = &changes[<size_t>i]
        change.index, change.parameter = slot.index, &slot.parameter
        read_value(slot.parameter.get().type, <str>name, <object>values[i], &change.value)
        if slot.device != kNoDevice:
            check_device(slot, <str>name, <object>values[i], change.value.bits)
    return 0


cdef int check_device(Slot slot, str name, object value, CUdeviceptr address) except -1:
    """Refuse an array of another device: the nodes that use the parameter stay on theirs."""
    cdef int device = device_at(address)
    if device != kNoDevice and device != slot.device:
        raise ValueError(
            f"parameter {name!r} takes arrays of device {slot.device}, where its nodes run, and {value!r} is on device "
            f"{device}: copy it to device {slot.device} first"
        )
    return 0


cdef int device_at(CUdeviceptr address) except -2:
    """Return the device of memory; kNoDevice for memory of the host, or if the driver does not tell.

    Memory that exists only in launches is unknown to the driver. A launch reports errors of the device itself.
    """
    cdef int device = kNoDevice
    cdef CUresult status
    with nogil:
        status = find_device(address, &device)
    return device if status == CUDA_SUCCESS else <int>kNoDevice


cdef int refuse_unknown(name, dict slots) except -1:
    known = ", ".join([each for each in slots if each != name]) or "none"
    raise TypeError(f"the graph has no parameter {name!r}; it has: {known}")


# The faults of values that the rules of a node refuse.
cdef dict RULES = {
    <int>ParameterFault.kLength: (
        "the copy or fill would go beyond the end of an operand: pass an array that fits, or make the operand larger"
    ),
    <int>ParameterFault.kShape: (
        "its nodes were made for the shape of the default. Pass an array of that shape. A launch whose config is a function "
        "of the arguments takes other shapes, too"
    ),
    <int>ParameterFault.kRefused: (
        "arrays that concurrent sections of the kernel use would share memory: pass arrays that do not overlap"
    ),
}


cdef int check_rules(const ParameterProblem& problem, str attempt) except -1:
    if problem.why:
        raise <object><PyObject*>problem.why.get()
    rule = RULES.get(<int>problem.fault)
    if rule is not None:
        raise ValueError(f"cannot {attempt}: {rule}")
    return 0


cdef int check_problem(const ParameterProblem& problem, Slots slots, dict values) except -1:
    if problem.fault == ParameterFault.kNone:
        return 0
    cdef str name = name_of(problem.parameter)
    if problem.fault == ParameterFault.kDropped:
        refuse_unknown(name, slots.by_name)
    if problem.fault == ParameterFault.kMissing:
        raise RuntimeError(
            f"parameter {name!r} has neither a default nor a value: pass {name}=... to launch() or set()"
        )
    value = values.get(name)
    if problem.fault == ParameterFault.kDestroyed:
        raise RuntimeError(
            f"parameter {name!r} cannot be set to {value!r}: a node that uses it was destroyed in the definition, so the "
            "driver cannot find the node in the executable. Instantiate the definition again"
        )
    if problem.fault == ParameterFault.kPageable and getattr(value, "size", None) == 0:
        raise ValueError(f"parameter {name!r} is an operand of a copy, which takes no array without elements, got {value!r}")
    if problem.fault == ParameterFault.kPageable:
        raise ValueError(
            f"{name}={value!r} is neither memory that the driver knows nor memory of an alloc node. The memcpy node that "
            "uses it cannot copy pageable host memory: use pinned memory (PinnedMemoryResource), or register the range "
            "with CUDA"
        )
    if problem.fault == ParameterFault.kExtent:
        raise ValueError(f"parameter {name!r} is the size or count of a node and must be 1 or more, got {value!r}")
    where = ""
    if problem.node:
        node = wrap_node(problem.node, box_of[NodeRecord](problem.node))
        where = f" in {node._identify(True)}"
    attempt = f"set parameter {name!r} to {value!r}" if name in values else f"set parameter {name!r}"
    if is_temporary(problem.parameter):
        attempt = f"give temporary {name!r} its memory"
    elif problem.parameter.get().place:
        attempt = "give the array of an alloc node its memory"
    check_rules(problem, f"{attempt}{where}")
    where += copy_rule(problem) if problem.node else ""
    return check_attempt(problem.status, f"{attempt}{where}")


# tests/conformance/driver, patch/kinds_of_memory_beside_device
cdef str copy_rule(const ParameterProblem& problem):
    is_memory = problem.parameter.get().type.is_memory()
    if box_of[NodeRecord](problem.node).kind != NodeKind.kMemcpy or not is_memory:
        return ""
    return (
        " (in an executable each side of a copy is limited to memory of pools, such as that of DeviceMemoryResource and "
        "alloc nodes, or to memory outside of pools, such as pinned and managed memory; the parameter's default decides)"
    )


cdef str name_of(const ParameterRef& parameter):
    return wrap(parameter).name if is_temporary(parameter) else parameter.get().name.decode()


cdef object present_values(const GraphExecHandle& graph):
    cdef vector[PresentParameter] present
    with nogil:
        list_parameters(graph, present)
    states = {}
    for p in present:
        if is_hidden(p.parameter):
            continue
        value = present_value(p.parameter.get().type, p.value) if p.value.known else None
        states[name_of(p.parameter)] = ParameterState(type_text(p.parameter.get().type), value)
    return MappingProxyType(states)
