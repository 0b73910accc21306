# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a call as a graph keeps them: memory that the graph allocates is not kept alive."""

import math
import weakref

from cuda_graphs.kernels.arrays.ndarray cimport NDArray
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array
from cuda_graphs.objects.memory.buffer cimport Buffer, is_of_graph

from cuda_graphs.graph.nodes.places import readable
from cuda_graphs.kernels.arrays.buffer_views import array_of_memory


class KeptArgument:
    """An argument of a call in a graph, in a form that does not keep the graph alive. `restore` returns the argument."""


class KeptMemory(KeptArgument):
    """Memory that a graph allocates. It is restored as its address if nothing else refers to the array."""

    def __init__(self, array, address, size):
        self.array, self.address, self.size = weakref.ref(array), address, size
        self.form = form_of(array)

    def restore(self):
        array = self.array()
        return readable(self.address) if array is None else array

    def as_array(self):
        """Return the array, or one with the same memory if nothing else refers to it; the address without a known form."""
        array = self.array()
        if array is not None or self.form is None:
            return self.restore()
        return array_of_memory(readable(self.address), self.size, *self.form)


class KeptStruct(KeptArgument):
    """An instance of a dataclass, which is restored as another instance with the same members."""

    def __init__(self, cls, members):
        self.cls, self.members = cls, members

    def restore(self):
        members = restored(self.members)
        if self.cls in (list, tuple, dict):
            return members if self.cls is dict else self.cls(members.values())
        made = object.__new__(self.cls)
        for name, value in members.items():
            object.__setattr__(made, name, value)
        return made


class KeptStructArray(KeptArgument):
    """An array of structures in memory that a graph allocates. It is restored with the addresses of its members if nothing
    else refers to it."""

    def __init__(self, array, members):
        self.array, self.members = weakref.ref(array), members
        self.kind, self.cls, self.shape = type(array), array.cls, array.shape

    def restore(self):
        array = self.array()
        if array is not None:
            return array
        return self.kind(self.cls, self.shape, restored(self.members))


cdef tuple form_of(object array):
    """Return (element type, shape of an element, extents, number of the device) of an NDArray or an alloc node; else None."""
    if isinstance(array, NDArray):
        device = array.device.device_id
    elif getattr(array, "dtype", None) is not None and hasattr(array, "device_id"):
        device = array.device_id
    else:
        return None
    return array.dtype, array.element_shape, array.shape, device


cdef dict restored(dict members):
    return {name: each.restore() if isinstance(each, KeptArgument) else each for name, each in members.items()}


cdef tuple graph_memory(object value):
    cdef ArrayView view
    cdef Buffer buffer
    if isinstance(value, (int, float)):
        return None
    if isinstance(value, NDArray):
        value = (<NDArray>value)._memory()
    if isinstance(value, Buffer):
        buffer = value
        return (buffer._address, buffer._size) if is_of_graph(buffer) else None
    if not hasattr(type(value), "__cuda_graph_array__"):
        return None
    view = view_array(value, "argument")
    return None if view.node is None else (view.address, view.itemsize * math.prod(view.shape))
