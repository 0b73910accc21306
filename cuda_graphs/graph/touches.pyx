# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel is said to read and write: `launch(..., reads=, writes=)`, of which `GraphDef.check` makes use.

Spans are kept and nothing else: they own no memory, since saying that a kernel touches some does not make it so.
"""

from cpython.object cimport PyObject

from cuda_graphs._driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs._driver.seam cimport check_attempt
from cuda_graphs._handles.graph_handles cimport NodeKind, NodeRecord, find_memory_end
from cuda_graphs._handles.handles cimport Opaque, hold_python
from cuda_graphs._objects.array_view cimport ArrayView, view_array
from cuda_graphs._objects.buffer cimport Buffer
from cuda_graphs._objects.numbers cimport read_size
from cuda_graphs.graph.condition cimport Condition
from cuda_graphs.graph.operands cimport open_buffer, read_pointer
from cuda_graphs.graph.place cimport class_of
from cuda_graphs.graph.spans import Span

cdef tuple NOTHING = ((), (), ())


cdef tuple read_touches(object reads, object writes, tuple args):
    cdef tuple conditions = tuple([arg.handle for arg in args if type(arg) is Condition])
    if not conditions and reads == () and writes == ():
        return None
    return spans_of(reads, "reads"), spans_of(writes, "writes"), conditions


cdef int set_touches(NodeRecord* record, tuple touches) except -1:
    cdef Opaque kept
    if touches is not None:
        kept = hold_python(<PyObject*>touches)
        record.make_facts().labels.touches = kept
    elif record.facts:
        record.facts.get().labels.touches = kept
    return 0


cdef tuple touches_of(NodeRecord* record):
    if not record.facts or not record.facts.get().labels.touches:
        return NOTHING
    return <tuple><PyObject*>record.facts.get().labels.touches.get()


cdef tuple spans_of(object values, str name):
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{name} must be a list of what the kernel touches, got {type(values).__name__}")
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
    cdef ArrayView array = None if isinstance(value, int) else view_array(value, name)
    return span_from(read_pointer(value, name), name) if array is None else span_of_array(array)


cdef object span_of_pair(tuple value, str name):
    if len(value) != 2:
        raise TypeError(f"{name} must be a pair (address, bytes), got a tuple of {len(value)}")
    size = read_size(value[1], f"the size of {name}")
    if isinstance(value[0], Buffer):
        return span_of(value[0], name)._replace(run=size)
    return Span(read_pointer(value[0], f"the address of {name}"), size)


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
    """From an address to the end of the memory that it is in."""
    cdef CUdeviceptr end = 0
    cdef CUresult status
    with nogil:
        status = find_memory_end(address, &end)
    if status:
        check_attempt(status, f"ask which memory {name}={address:#x} is in")
    if end == 0:
        raise ValueError(
            f"{name}={address:#x} is in no memory that the driver knows, so its size is not known: give (address, bytes)"
        )
    return Span(address, end - address)
