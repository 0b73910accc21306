# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphArray: memory that an alloc node of a graph allocates, as an array of elements.

The memory exists only in launches, from the alloc node to the free node. Nodes use the array, the host cannot read it. An
array refers to its alloc node, and a node that uses the array does not: a graph that kept its own nodes would never be
destroyed.
"""

import math
import sys

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.graphs.graph_handles cimport ValueKind, ValueType
from cuda_graphs.objects.memory.array_view cimport ArrayView, graph_memory_error, packed_strides
from .values cimport accept_scalar_type

from cuda_graphs.objects.memory.array_shape import select

# Kind of a value -> letter of NumPy's typestr.
cdef dict LETTERS = {
    <int>ValueKind.kInt: "i", <int>ValueKind.kUint: "u", <int>ValueKind.kFloat: "f", <int>ValueKind.kBool: "b",
}


cdef class ElementType:
    """The type of the elements."""


cdef ElementType accept_element_type(object dtype):
    cdef ElementType self = ElementType.__new__(ElementType)
    cdef const ValueType* type
    components = getattr(dtype, "dtype", None)
    if hasattr(components, "__cuda_graph_type__"):  # a type of vectors or matrices
        self.dtype, self.element_shape = components, tuple(dtype.shape)
    else:
        self.dtype, self.element_shape = dtype, ()
    type = accept_scalar_type(self.dtype)
    letter = LETTERS.get(<int>type.kind)
    if letter is None:
        raise TypeError(f"dtype must be a type of numbers, got {dtype!r}")
    numpy = sys.modules.get("numpy")
    if numpy is not None and not hasattr(self.dtype, "__cuda_graph_type__"):
        self.dtype = numpy.dtype(self.dtype)
    self.is_bfloat16 = type.name == b"bf16"
    self.typestr = "" if self.is_bfloat16 else f"{'<' if type.size > 1 else '|'}{letter}{type.size}"
    self.component_size = type.size
    self.itemsize = type.size * math.prod(self.element_shape)
    return self


cdef ElementType element_of_bytes():
    cdef ElementType self = ElementType.__new__(ElementType)
    self.typestr, self.element_shape, self.itemsize, self.component_size = "|u1", (), 1, 1
    return self


cdef GraphArray graph_array(object node, ElementType type, tuple shape, const Opaque& owner):
    cdef GraphArray self = GraphArray.__new__(GraphArray)
    self.node, self._offset, self.shape, self._owner = node, 0, shape, owner
    self.strides, self._type = packed_strides(shape, type.itemsize), type
    return self


cdef class GraphArray:
    """A part of the memory of an alloc node, as an array: an index of an AllocNode with a shape returns it.

    Kernels, copies and fills in the graph take it like any array. Slices share the memory. The host cannot read it: add a
    node that copies it to other memory.

    Attributes:
        node: The AllocNode of the memory.
        shape: The extents.
        strides: The bytes from an element to the next along each dimension.
    """

    def __cinit__(self):
        self.shape, self.strides, self._type = (), (), element_of_bytes()

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphArray has no public constructor: index the AllocNode of alloc(shape=..., dtype=...)")

    @property
    def dptr(self):
        """The address of the first element. See AllocNode.dptr."""
        return 0 if self.node is None else self.node.dptr + self._offset

    @property
    def _address(self):
        """The address, or that in a stand-in, which only the package knows."""
        return self.node._address + self._offset

    @property
    def dtype(self):
        """The type of the elements, or of the components of vector elements, as given to `alloc`."""
        return self._type.dtype

    @property
    def element_shape(self):
        """The shape of an element: () for numbers, (3,) for vectors of 3 components."""
        return self._type.element_shape

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self):
        """The bytes of an element, with all its components."""
        return self._type.itemsize

    @property
    def nbytes(self):
        """The bytes of all elements."""
        return self.size * self._type.itemsize

    def __getitem__(self, index):
        cdef GraphArray part = GraphArray.__new__(GraphArray)
        offset, part.shape, part.strides = select(self.__repr__, index, self.shape, self.strides)
        part._offset = self._offset + <long long>offset
        part.node, part._type, part._owner = self.node, self._type, self._owner
        return part

    def __setitem__(self, index, value):
        raise TypeError(graph_memory_error(repr(self)) + "; a memset node or a kernel writes it")

    def __len__(self):
        if not self.shape:
            raise TypeError(f"{self!r} has no length: it has no dimensions")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        raise TypeError(graph_memory_error(repr(self)))

    def __cuda_graph_array__(self):
        cdef ArrayView view = ArrayView.__new__(ArrayView)
        if self.node is None:
            raise RuntimeError("this GraphArray was not made by cuda_graphs")
        view.address = <CUdeviceptr>(self.node._read_address() + self._offset)
        view.itemsize, view.dtype = self._type.component_size, self._type.typestr
        view.is_bfloat16 = self._type.is_bfloat16
        view.shape = self.shape + self._type.element_shape
        view.strides = self.strides + packed_strides(self._type.element_shape, self._type.component_size)
        view.node, view.owner = self.node, self._owner
        return view

    def __array__(self, dtype=None, copy=None):
        raise TypeError(graph_memory_error(repr(self)))

    @property
    def __cuda_array_interface__(self):
        raise AttributeError(graph_memory_error(repr(self)))

    def __dlpack_device__(self):
        raise BufferError(graph_memory_error(repr(self)))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        raise BufferError(graph_memory_error(repr(self)))

    def __repr__(self):
        return f"<GraphArray {self.dtype} shape={self.shape} of {'nothing' if self.node is None else self.node._identify()}>"
