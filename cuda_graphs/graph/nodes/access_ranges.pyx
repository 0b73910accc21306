# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Declared accesses of kernels: the arguments `reads` and `writes` of `launch`, which `GraphDef.check` uses.

A node stores the accesses as Spans. Spans own no memory, because a declaration does not use the memory. The span of
memory that a parameter points to begins at the parameter's name.
"""

from cpython.object cimport PyObject

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport Field, NodeKind, NodeRecord, find_memory_end
from cuda_graphs.core.resources.handles cimport hold_python
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.numbers cimport read_size
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.operands.operands cimport open_buffer, read_pointer
from cuda_graphs.graph.operands.parameter cimport Parameter
from .node_classes cimport class_of
from cuda_graphs.graph.operands.spans import Span

cdef tuple NOTHING = ((), (), ())

cdef dict NO_PARAMETERS = {}
cdef dict OPERANDS = {<int>Field.kDestination: "dst", <int>Field.kSource: "src"}

# Assumed bytes of the memory of a parameter without a declared size: more than any memory has.
WHOLE = 1 << 63


cdef tuple read_accesses(object reads, object writes, tuple args):
    conditions = [arg.handle for arg in args if type(arg) is Condition]
    return spans_of(reads, "reads"), spans_of(writes, "writes"), tuple(conditions)


cdef tuple change_accesses(NodeRecord* record, object reads, object writes, object args):
    old_reads, old_writes, old_conditions = accesses_of(record)
    new_reads, new_writes, conditions = read_accesses(
        () if reads is None else reads, () if writes is None else writes, () if args is None else tuple(args)
    )
    return (
        old_reads if reads is None else new_reads,
        old_writes if writes is None else new_writes,
        old_conditions if args is None else conditions,
    )


cdef int set_accesses(NodeRecord* record, tuple accesses) except -1:
    # Empty accesses are stored only to replace others.
    if accesses != NOTHING or accesses_of(record) is not NOTHING:
        record.make_metadata().labels.access_ranges = hold_python(<PyObject*>accesses)
    return 0


cdef tuple accesses_of(NodeRecord* record):
    if not record.metadata or not record.metadata.get().labels.access_ranges:
        return NOTHING
    return <tuple><PyObject*>record.metadata.get().labels.access_ranges.get()


cdef dict operand_parameters(NodeRecord* record):
    cdef bint has_some = record.metadata and record.metadata.get().parameters
    if not has_some:
        return NO_PARAMETERS
    return {
        OPERANDS[<int>use.field]: use.parameter.get().name.decode()
        for use in record.metadata.get().parameters.get().uses
        if use.field == Field.kDestination or use.field == Field.kSource
    }


cdef tuple spans_of(object values, str name):
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{name} must be a list of the memory that the kernel accesses, got {type(values).__name__}")
    spans = [span_of(value, f"{name}[{i}]") for i, value in enumerate(values)]
    return tuple([span for span in spans if span.run])


cdef object span_of(object value, str name):
    if isinstance(value, Buffer):
        open_buffer(<Buffer>value, name)
        return Span((<Buffer>value)._h.get()[0], (<Buffer>value)._size)
    if isinstance(value, class_of(NodeKind.kAlloc)):
        return Span(value.dptr, value.bytesize)
    if isinstance(value, tuple):
        return span_of_pair(value, name)
    if isinstance(value, Parameter):
        return Span(name_of_pointer(<Parameter>value, name), WHOLE)
    cdef ArrayView array = None if isinstance(value, int) else view_array(value, name)
    return span_from(read_pointer(value, name), name) if array is None else span_of_array(array)


cdef object span_of_pair(tuple value, str name):
    if len(value) != 2:
        raise TypeError(f"{name} must be a pair (address, bytes), got a tuple of {len(value)}")
    size = read_size(value[1], f"the size of {name}")
    if isinstance(value[0], (Buffer, Parameter)):
        return span_of(value[0], name)._replace(run=size)
    return Span(read_pointer(value[0], f"the address of {name}"), size)


cdef str name_of_pointer(Parameter value, str name):
    if not value._named().type.is_memory():
        raise TypeError(f"{name} must be memory, but {value!r} is not a pointer")
    return value.name


cdef object span_of_array(ArrayView array):
    start = array.address
    axes = []
    for count, stride in zip(array.shape, array.strides):
        if count == 0:
            return Span(start, 0)
        if count > 1 and stride:  # an array may repeat elements, or go backwards
            start += min(0, (count - 1) * stride)
            axes.append((abs(stride), count))
    return Span.of(start, array.itemsize, *[(count, stride) for stride, count in sorted(axes)])


cdef object span_from(CUdeviceptr address, str name):
    """Return the span from an address to the end of its memory."""
    cdef CUdeviceptr end = 0
    cdef CUresult status
    with nogil:
        status = find_memory_end(address, &end)
    if status:
        check_attempt(status, f"find the memory of {name}={address:#x}")
    if end == 0:
        raise ValueError(
            f"{name}={address:#x} is in no memory that the driver knows, so its size is unknown: give (address, bytes)"
        )
    return Span(address, end - address)
