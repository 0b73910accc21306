# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays as values of named parameters: the address, the extents and the owner of an array of the parameter's type."""

import math
from collections import namedtuple

from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from cuda_graphs.core.graphs.graph_handles cimport ParameterType, ParameterValue, ValueType, as_owner, find_value_type
from cuda_graphs.objects.code.arguments cimport is_known_memory
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.memory.typed_memory cimport TypedMemory

from cuda_graphs.errors import ClosedBufferError

LARGEST_EXTENT = 2**31 - 1

# Letter of a typestr -> prefix of the names of types; the number of bits follows.
LETTERS = {"i": "i", "u": "u", "f": "f"}


ArrayValue = namedtuple("ArrayValue", "address shape size", module=__name__)
"""The array that a parameter holds: the address of its first element, its shape, and its number of elements."""


cdef int read_array(const ParameterType& type, str name, object value, ParameterValue* to) except -1:
    cdef TypedMemory memory
    cdef size_t i
    if not isinstance(value, TypedMemory):
        return read_foreign(type, name, value, to)
    memory = <TypedMemory>value
    memory._expose()
    if not memory._type == type:
        refuse_type(type, name, value, memory._type)
    if not memory._buffer._h:
        raise ClosedBufferError(f"parameter {name!r}: the Buffer of {value!r} is closed")
    to.bits, to.known, to.owner = memory._address, True, as_owner(memory._buffer._h)
    for i in range(memory._extents.size()):
        to.extents[i] = memory._extents[i]
    return 0


cdef int read_foreign(const ParameterType& type, str name, object value, ParameterValue* to) except -1:
    what = f"parameter {name!r}"
    if getattr(value, "requires_grad", False) is True:  # PyTorch does not expose such a tensor
        value = value.detach()
    cdef ArrayView view = None if isinstance(value, (int, float, complex, str, bytes)) else view_array(value, what)
    if view is None:
        raise TypeError(f"{what} is {array_text(type)} and takes an array, got {value!r} ({value.__class__.__name__})")
    if view.node is not None:
        raise ValueError(f"{what}: {value!r} has memory only in launches of its graph: pass it to the nodes of the graph")
    cdef tuple shape = view.shape
    cdef int outer = <int>len(shape) - <int>type.inner.size()
    cdef bint fits = takes_bytes(type) if isinstance(value, Buffer) else scalar_of(view, value) == type.scalar
    if not fits or outer >= 0 and shape[outer:] != inner_shape(type):
        refuse_elements(type, name, value, view.dtype or str(getattr(value, "dtype", "an unknown type")))
    if outer != type.ndim:
        refuse_dimensions(type, name, value, outer)
    check_layout(view, what)
    to.bits, to.known, to.owner = view.address, True, view.owner
    for i, extent in enumerate(shape[:outer]):
        to.extents[<size_t>i] = <int32_t>extent
    return 0


cdef bint takes_bytes(const ParameterType& type):
    """Return True for elements of one byte that is a number: those of a Buffer, which has no sign."""
    return type.scalar.name in (b"u8", b"i8")


cdef const ValueType* scalar_of(ArrayView view, object value) except? NULL:
    """Return the type of the elements; NULL for elements that no parameter has."""
    cdef bytes name
    if view.is_bfloat16 or str(getattr(value, "dtype", "")).endswith("bfloat16"):
        return find_value_type(b"bf16")
    if len(view.dtype) < 3 or view.dtype[0] == ">":
        return NULL
    if view.dtype[1:] == "b1":
        return find_value_type(b"bool")
    name = f"{LETTERS.get(view.dtype[1])}{8 * view.itemsize}".encode()
    return find_value_type(name)


cdef int check_layout(ArrayView view, str what) except -1:
    step = view.itemsize
    size = view.itemsize * math.prod(view.shape)
    for extent, stride in zip(reversed(view.shape), reversed(view.strides)):
        if size and extent > 1 and stride != step:
            raise ValueError(f"{what} takes an array in C order without gaps, got strides {view.strides}: pass a copy")
        if extent > LARGEST_EXTENT:
            raise ValueError(f"{what} takes extents below 2**31, got the shape {view.shape}")
        step *= extent
    if view.is_read_only:
        raise ValueError(f"{what} takes no read-only array: pass a copy")
    if size and not is_known_memory(view.address):
        raise ValueError(
            f"{what} takes memory that the device can access, got pageable host memory: pass a cg.ndarray, or an array in "
            "pinned memory"
        )
    return 0


cdef int refuse_type(const ParameterType& type, str name, object value, const ParameterType& given) except -1:
    if element_text(given) == element_text(type):
        refuse_dimensions(type, name, value, given.ndim)
    return refuse_elements(type, name, value, element_text(given))


cdef int refuse_elements(const ParameterType& type, str name, object value, str given) except -1:
    raise TypeError(
        f"parameter {name!r} is {array_text(type)} and takes elements of {element_text(type)}, got a "
        f"{value.__class__.__name__} of {given}"
    )


cdef int refuse_dimensions(const ParameterType& type, str name, object value, int given) except -1:
    raise ValueError(
        f"parameter {name!r} is {array_text(type)} and takes {type.ndim} dimension{'s' * (type.ndim != 1)}, got a "
        f"{value.__class__.__name__} with {given}"
    )


cdef str element_text(const ParameterType& type):
    text = type.scalar.name.decode()
    cdef tuple inner = inner_shape(type)
    return f"{'mat' if len(inner) > 1 else 'vec'}({', '.join(map(str, inner))}, {text})" if inner else text


cdef tuple inner_shape(const ParameterType& type):
    cdef size_t i
    return tuple([type.inner[i] for i in range(type.inner.size())])


cdef str array_text(const ParameterType& type):
    return f"ndarray({element_text(type)}, ndim={type.ndim})"


cdef object array_value(const ParameterType& type, const ParameterValue& value):
    shape = tuple([value.extents[<size_t>i] for i in range(type.ndim)])
    return ArrayValue(value.bits, shape, math.prod(shape))
