# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The accesses of nodes, for `GraphDef.check` and task flows: declared ones, and those of the kind (access.hpp).

Kernels and host callbacks have declared accesses: the arguments `reads` and `writes` of `launch` and `callback`. A node
stores them as spans. Spans own no memory, because a declaration does not use the memory.
"""

from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    DeclaredAccesses,
    DeclaredHandle,
    NodeAccesses,
    NodeKind,
    NodeRecord,
    NodeSpec,
    Span,
    add_accesses,
    find_memory_range,
    kWhole,
)
from cuda_graphs.core.resources.handles cimport Parameter as KernelParameter
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.numbers cimport read_size
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.operands.operands cimport open_buffer, read_pointer
from cuda_graphs.graph.operands.parameter cimport Parameter
from .node_call cimport NodeCall, call_of
from .node_classes cimport class_of
from .places cimport public_address
from .spec cimport describe, kernel_of
from cuda_graphs.graph.operands.spans import Span as PythonSpan

cdef tuple MODES = ("reads", "writes", "may access", "may read")
cdef tuple OBJECTS = ("memory", "event", "condition")


cdef DeclaredHandle read_declaration(object reads, object writes, tuple args) except *:
    cdef shared_ptr[DeclaredAccesses] declared
    cdef DeclaredHandle nothing
    if reads is None and writes is None and not has_condition(args):
        return nothing
    declared = make_shared[DeclaredAccesses]()
    fill(declared.get(), reads, writes, args)
    return <DeclaredHandle>declared


cdef int fill(DeclaredAccesses* declared, object reads, object writes, tuple args) except -1:
    if reads is not None or writes is not None:
        declared.is_known = True
        add_spans(declared.reads, () if reads is None else reads, "reads")
        add_spans(declared.writes, () if writes is None else writes, "writes")
    for arg in args:
        if type(arg) is Condition:
            declared.conditions.push_back((<Condition>arg)._handle)
    return 0


cdef bint has_condition(tuple args):
    for arg in args:
        if type(arg) is Condition:
            return True
    return False


cdef DeclaredHandle change_declaration(NodeRecord* record, object reads, object writes, object args) except *:
    cdef const DeclaredAccesses* old = declaration_of(record)
    cdef shared_ptr[DeclaredAccesses] new = make_shared[DeclaredAccesses]()
    fill(new.get(), reads, writes, () if args is None else tuple(args))
    if old != NULL:
        new.get().is_known = new.get().is_known or old.is_known
        if reads is None:
            new.get().reads = old.reads
        if writes is None:
            new.get().writes = old.writes
        if args is None:
            new.get().conditions = old.conditions
    return <DeclaredHandle>new


cdef int set_declaration(NodeRecord* record, const DeclaredHandle& declared) except -1:
    record.make_metadata().labels.accesses = declared
    return 0


cdef const DeclaredAccesses* declaration_of(NodeRecord* record) noexcept:
    return record.metadata.get().labels.accesses.get() if record.metadata else NULL


cdef tuple memory_of_call(NodeRecord* record):
    cdef const DeclaredAccesses* declared = declaration_of(record)
    cdef NodeCall call = call_of(record)
    if call is None or declared != NULL and declared.is_known:
        return None
    launch = call.launches[call.task_of(record)]
    found = tuple([tuple(map(span_of_memory, values)) for values in (launch.reads, launch.writes)])
    return None if None in found[0] + found[1] else found


cdef DeclaredHandle declaration_of_call(NodeRecord* record) except *:
    cdef DeclaredHandle nothing
    known = memory_of_call(record)
    if known is None:
        return nothing
    cdef NodeCall call = call_of(record)
    return read_declaration(known[0], known[1], call.arguments_of_task(call.task_of(record)))


cdef tuple declared_spans(NodeRecord* record):
    cdef const DeclaredAccesses* declared = declaration_of(record)
    if declared == NULL or not declared.is_known:
        return None, None
    return as_spans(declared.reads), as_spans(declared.writes)


cdef object public_spans(object spans):
    if spans is None:
        return None
    return tuple([
        span._replace(start=public_address(span.start)) if isinstance(span.start, int) else span for span in spans
    ])


cdef tuple as_spans(const vector[Span]& spans):
    cdef size_t i
    return tuple([as_span(spans[i]) for i in range(spans.size())])


cdef object as_span(const Span& span):
    cdef size_t i
    axes = tuple([(span.axes[i].count, span.axes[i].stride) for i in range(span.axes.size())])
    return PythonSpan(span.start if span.parameter.empty() else span.parameter.decode(), span.run, axes)


cdef int describe_accesses(NodeSpec& spec, const DeclaredAccesses* declared, NodeAccesses& accesses) except -1:
    cdef Kernel kernel  # it may be the only one that keeps the parameters
    cdef const vector[KernelParameter]* parameters = NULL
    cdef CUresult status
    if spec.kind == NodeKind.kKernel and (declared == NULL or not declared.is_known):
        kernel = kernel_of(spec)
        parameters = kernel._parameters()
    with nogil:
        status = add_accesses(spec, declared, parameters, accesses)
    if status:
        check_attempt(status, f"find the memory that {describe(spec)} accesses")
    return 0


cdef list list_accesses(const NodeAccesses& accesses):
    cdef size_t i
    found = []
    for i in range(accesses.all.size()):
        mode, what = MODES[<int>accesses.all[i].mode], OBJECTS[<int>accesses.all[i].what]
        found.append((as_span(accesses.all[i].span), mode, what))
    return found


# ---- from Python values to spans

def span_of_memory(value):
    """Return the Span of memory that a launch takes, or None for memory of unknown size and for memory that may change."""
    if isinstance(value, Parameter):
        return None
    try:
        return as_span(span_of(value, "memory", 0))
    except ValueError:  # the driver does not know the memory of alloc nodes
        return None


cdef int add_spans(vector[Span]& spans, object values, str name) except -1:
    cdef Span span
    cdef Py_ssize_t i
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{name} must be a list of the memory that is accessed, got {type(values).__name__}")
    for i in range(len(values)):
        span = span_of(values[i], name, i)
        if span.run:
            spans.push_back(span)
    return 0


cdef Span span_of(object value, str name, Py_ssize_t i) except *:
    cdef ArrayView array = None
    if isinstance(value, Buffer):
        open_buffer(<Buffer>value, f"{name}[{i}]")
        return Span((<Buffer>value)._h.get()[0], (<Buffer>value)._size)
    if isinstance(value, class_of(NodeKind.kAlloc)):
        return Span(value._read_address(), value.bytesize)
    if isinstance(value, PythonSpan):
        return span_of_span(value)
    if isinstance(value, tuple):
        return span_of_pair(value, name, i)
    if isinstance(value, Parameter):
        return memory_of(<Parameter>value, f"{name}[{i}]")
    if not isinstance(value, int):
        array = view_array(value, name)
    return span_from(read_pointer(value, f"{name}[{i}]"), name, i) if array is None else span_of_array(array)


cdef Span span_of_pair(tuple value, str name, Py_ssize_t i) except *:
    cdef Span span
    if len(value) != 2:
        raise TypeError(f"{name}[{i}] must be a pair (address, bytes), got a tuple of {len(value)}")
    size = read_size(value[1], f"the size of {name}[{i}]")
    if isinstance(value[0], (Buffer, Parameter)):
        span = span_of(value[0], name, i)
        span.run = size
        return span
    return Span(read_pointer(value[0], f"the address of {name}[{i}]"), size)


cdef Span span_of_span(object value) except *:
    """Return a Span that `as_span` has made."""
    cdef Span span = Span(0 if isinstance(value.start, str) else value.start, value.run)
    if isinstance(value.start, str):
        span.parameter = value.start.encode()
    for count, stride in value.axes:
        span.repeat(count, stride)
    return span


cdef Span memory_of(Parameter value, str name) except *:
    cdef Span span = Span(0, kWhole)
    if not value._named().type.is_memory():
        raise TypeError(f"{name} must be memory, but {value!r} is not a pointer")
    span.parameter = value._named().name
    return span


cdef Span span_of_array(ArrayView array) except *:
    cdef Span span = Span(array.address, array.itemsize)
    axes = []
    for count, stride in zip(array.shape, array.strides):
        if count == 0:
            return Span(array.address, 0)
        if count > 1 and stride:  # an array may repeat elements, or go backwards
            span.start += min(0, (count - 1) * stride)
            axes.append((abs(stride), count))
    for stride, count in sorted(axes):
        span.repeat(count, stride)
    return span


cdef Span span_from(CUdeviceptr address, str name, Py_ssize_t i) except *:
    """Return the span from an address to the end of its memory."""
    cdef CUdeviceptr start = 0, end = 0
    cdef CUresult status
    with nogil:
        status = find_memory_range(address, &start, &end)
    if status:
        check_attempt(status, f"find the memory of {name}[{i}]={address:#x}")
    if end == 0:
        raise ValueError(
            f"{name}[{i}]={address:#x} is in no memory that the driver knows, so its size is unknown: give (address, bytes)"
        )
    return Span(address, end - address)
