# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Argument adapters of kernels: convert arguments into numbers, addresses and the key of a specialisation.

Each declared parameter gets a Reader when the kernel is decorated. In a call, each Reader writes its argument to its
own leaves and keys. A call therefore builds no objects and looks up no names.
"""

import dataclasses
import math
import weakref
from types import SimpleNamespace

import numpy

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_Check
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.weakref cimport PyWeakref_GetObject
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport NamedParameter
from cuda_graphs.core.resources.device_scope cimport find_device, has_several_devices, kNoDevice
from cuda_graphs.graph.operands.parameter cimport ArrayParameter
from cuda_graphs.objects.code.arguments cimport StandIn
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array
from cuda_graphs.objects.memory.buffer cimport Buffer, MemoryKind, closed_buffers, is_of_graph
from cuda_graphs.objects.numbers cimport as_int, is_address
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays, ForeignArray
from cuda_graphs.kernels.arrays.ndarray cimport Field, NDArray, closed_text, key_of
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from .own_attributes cimport OwnAttributes, dict_of, own_attributes
from .snapshots cimport Memo

from cuda_graphs.graph.nodes.places import readable
from cuda_graphs.compiler.language import annotations
from cuda_graphs.compiler.language.host_objects import is_host_object, number_names
from cuda_graphs.compiler.language.signature import array_spec, is_condition, is_template, struct_array_spec
from cuda_graphs.compiler.language.structs import is_struct, member_type, struct_members
from cuda_graphs.compiler.ir.types import SCALARS, ScalarType
from cuda_graphs.errors import ClosedBufferError
from cuda_graphs.kernels.specialisation.constants import Interned, is_fixed
from cuda_graphs.kernels.arrays.struct_values import is_structured, numpy_structures
from cuda_graphs.kernels.arrays.tensors import gradient_of, detached

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1
    unsigned long long PyLong_AsUnsignedLongLong(object value) except? 0xFFFFFFFFFFFFFFFF


cdef type numpy_number = numpy.number  # its types are frequent arguments, and all of them are numbers


class KeptArgument:
    """An argument of a call in a graph, in a form that does not keep the graph alive. `restore` returns the argument."""


class KeptMemory(KeptArgument):
    """Memory that a graph allocates. It is restored as its address if nothing else refers to the array."""

    def __init__(self, array, address):
        self.array, self.address = weakref.ref(array), address

    def restore(self):
        array = self.array()
        return readable(self.address) if array is None else array


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


cdef uint64_t OF_FIELD = <uint64_t>1 << 63  # bit that marks a field in the key of a Tensor: keys of arrays are smaller


cdef class Reader:
    """Converts one parameter, or one member of a parameter."""

    cdef int read(self, Reading* r, object value) except -1:
        raise NotImplementedError

    cdef int add_owners(self, dict owners, object value) except -1:
        if isinstance(value, StandIn):
            owners[self.leaf] = value
        return 0

    cdef object keep(self, object value):
        return value

    cdef bint is_steady(self, object value) except -1:
        return False

    cdef int forget(self) except -1:
        return 0

    cdef bint is_graph_parameter(self, Reading* r, object value) except -1:
        """Return True if `value` is a parameter of a graph, whose number comes with each launch."""
        if not isinstance(value, StandIn):
            return False
        r.has_parameters = True
        if value.type != self.annotation.name:
            raise TypeError(f"parameter {self.path!r} takes {self.annotation}, but {value!r} has another type")
        r.leaves[self.leaf].bits = (<StandIn>value)._bits
        return True

    cdef object spec(self, object value):
        raise NotImplementedError

    def partners(self):
        """Return the kinds of the extra leaves of an array, as in PARTNERS."""
        cdef Array array = (<Tensor>self).array if isinstance(self, Tensor) else <Array>self
        return PARTNERS[array.extra_leaf]


cdef class Integer(Reader):
    """Reads an int of Python or NumPy that fits the integer type of the parameter."""

    cdef int64_t low
    cdef uint64_t high

    def __cinit__(self):
        self.leaves = 1

    cdef int read(self, Reading* r, object value) except -1:
        cdef int overflow = 0
        cdef long long number
        if not PyLong_Check(value):
            if self.is_graph_parameter(r, value):
                return 0
            value = self._index(value)
        number = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow == 0 and number >= self.low and (number < 0 or <uint64_t>number <= self.high):
            r.leaves[self.leaf].bits = <uint64_t>number  # little endian: the low bytes come first
            return 0
        if overflow > 0 and self.high == 0xFFFFFFFFFFFFFFFF and value < 1 << 64:
            r.leaves[self.leaf].bits = PyLong_AsUnsignedLongLong(value)
            return 0
        raise OverflowError(
            f"parameter {self.path!r} takes {self.annotation}, from {self.low} to {self.high}, got {value}"
        )

    cdef bint is_steady(self, object value) except -1:
        return type(value) is int

    cdef object _index(self, object value):
        number = as_int(value)
        if number is not None:
            return number
        if type(value).__name__ == "bool" and hasattr(value, "item"):  # numpy.bool has no __index__
            return int(value)
        raise TypeError(
            f"parameter {self.path!r} takes {self.annotation}, an integer, got {value!r} ({type(value).__name__})"
        )

    cdef object spec(self, object value):
        return annotations.ScalarSpec(self.annotation)


cdef class Bool(Reader):
    """Reads True or False, or an integer, which is true if it is not 0."""

    def __cinit__(self):
        self.leaves = 1

    cdef int read(self, Reading* r, object value) except -1:
        if value is not True and value is not False:
            if self.is_graph_parameter(r, value):
                return 0
            if is_address(value) or (
                not hasattr(value, "__index__") and type(value).__name__ not in ("bool", "bool_")
            ):
                raise TypeError(
                    f"parameter {self.path!r} takes {self.annotation}, got {value!r} ({type(value).__name__}): "
                    "compare it, as in x != 0"
                )
            value = bool(value)
        r.leaves[self.leaf].bits = value is True
        return 0

    cdef bint is_steady(self, object value) except -1:
        return value is True or value is False

    cdef object spec(self, object value):
        return annotations.ScalarSpec(self.annotation)


cdef class Float(Reader):
    """Reads any real number for a float type; a number that is too large becomes infinite."""

    cdef int size

    def __cinit__(self):
        self.leaves = 1

    cdef int read(self, Reading* r, object value) except -1:
        cdef double number
        cdef float single
        if PyFloat_Check(value):
            number = PyFloat_AS_DOUBLE(value)
        elif self.is_graph_parameter(r, value):
            return 0
        else:
            number = self._number(value)
        if self.size == 8:
            memcpy(&r.leaves[self.leaf].bits, &number, 8)
        elif self.size == 4:
            single = <float>number
            memcpy(&r.leaves[self.leaf].bits, &single, 4)
        else:
            self._small(&r.leaves[self.leaf], number)
        return 0

    cdef bint is_steady(self, object value) except -1:
        return type(value) is float

    cdef double _number(self, object value) except? -1:
        if not isinstance(value, numpy_number) and (
            isinstance(value, (str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__"))
            or getattr(value, "ndim", 0) != 0 or is_address(value)
        ):
            raise TypeError(f"parameter {self.path!r} takes {self.annotation}, a number, got {type(value).__name__}")
        try:
            return float(value)
        except OverflowError:
            raise OverflowError(f"parameter {self.path!r} takes {self.annotation}, but this int is too large for it") from None

    cdef int _small(self, Leaf* leaf, double number) except -1:
        from cuda_graphs.kernels.arrays.dtypes import to_element

        cdef bytes element = to_element(number, self.annotation, self.path)
        memcpy(&leaf.bits, <const char*>element, 2)
        return 0

    cdef object spec(self, object value):
        return annotations.ScalarSpec(self.annotation)


cdef class ConditionHandle(Reader):
    """Reads a Condition, which only nodes of its graph set."""

    def __cinit__(self):
        self.leaves = 1

    cdef int read(self, Reading* r, object value) except -1:
        if not isinstance(value, Condition):
            raise TypeError(
                f"parameter {self.path!r} takes a Condition, got {value!r} ({type(value).__name__}): make one with "
                "create_condition() of the GraphDef or GraphBuilder"
            )
        r.leaves[self.leaf].bits = (<Condition>value)._handle
        return 0

    cdef int add_owners(self, dict owners, object value) except -1:
        owners[self.leaf] = value
        return 0

    cdef object spec(self, object value):
        return annotations.ConditionSpec()


cdef class HostObject(Reader):
    """Reads an object of the host. Its leaf holds its address, which is valid during the call. A leaf for each number that
    is an attribute follows."""

    cdef tuple numbers

    cdef int read(self, Reading* r, object value) except -1:
        if not isinstance(value, self.annotation):
            raise TypeError(
                f"parameter {self.path!r} takes a {self.annotation.__name__}, got {value!r} ({type(value).__name__})"
            )
        r.leaves[self.leaf].bits = <uint64_t><uintptr_t><PyObject*>value
        for i, name in enumerate(self.numbers):
            r.leaves[self.leaf + 1 + <Py_ssize_t>i].bits = <uint64_t><int64_t>getattr(value, name)
        return 0

    cdef object spec(self, object value):
        return annotations.HostObjectSpec(self.annotation)


# The extra leaves of an array, by ExtraLeaf.
cdef tuple PARTNERS = ((), ("grad",), ("dual",), ("grad", "dual", "grad.dual"))


cdef NDArray partner_of(NDArray array, int extra_leaf, int number):
    """Return the array of an extra leaf, or None if the array has no such partner."""
    if number == 2:
        return None if array._grad is None else array._grad._forced_dual()
    return array._grad if number == 0 and extra_leaf != kDual else array._dual_or_none()


cdef class Array(Reader):
    """Reads an NDArray, or an array of another library."""

    cdef uint64_t mask, wanted  # bits of the key that the declaration fixes, and their values
    cdef int extra_leaf  # kind of the extra leaves, an ExtraLeaf
    cdef tuple inner     # shape of an element

    def __cinit__(self):
        self.leaves, self.keys = 1, 1

    cdef int read(self, Reading* r, object value) except -1:
        cdef NDArray own, partner
        cdef ForeignArray other, grad
        cdef uint64_t found
        cdef int i
        if value is None and self.annotation.optional:
            r.keys[self.key] = 0
            return 0
        if isinstance(value, ArrayParameter):
            return self.read_parameter(r, <ArrayParameter>value)
        if isinstance(value, NDArray):
            own = <NDArray>value
            if type(value) is not NDArray and isinstance(value, Field):
                raise TypeError(
                    f"parameter {self.path!r} takes an array, whose address comes with each call, got {value!r}: use the "
                    "field by its name, or declare the parameter as cg.template or cg.types.Tensor"
                )
            if not own._buffer._h:
                raise ClosedBufferError(f"parameter {self.path!r}: {closed_text(own)}")
            if own._place != r.device and own._place != kNoDevice:
                note_device(r, self, own._place)
            if own._buffer._kind == MemoryKind.UNLAUNCHED:
                r.has_unlaunched = True
            found = own._key
            r.leaves[self.leaf].bits = own._address
            r.leaves[self.leaf].extents = own._extents.data()
            r.leaves[self.leaf].changes = &own._changes
            for i in range(self.leaves - 1):
                partner = partner_of(own, self.extra_leaf, i)
                r.leaves[self.leaf + 1 + i].extents = own._extents.data()
                r.leaves[self.leaf + 1 + i].bits = partner._address if partner is not None else 0
                r.leaves[self.leaf + 1 + i].changes = &partner._changes if partner is not None else NULL
                if partner is not None and partner._buffer._kind == MemoryKind.UNLAUNCHED:
                    r.has_unlaunched = True
        else:
            r.leaves[self.leaf].changes = NULL
            other = self._foreign(r, value, self.path, self.leaf)
            found = other.key
            if has_several_devices():
                note_device(r, self, other.device())
            r.leaves[self.leaf].bits = other.address
            r.leaves[self.leaf].extents = other.extents
            for i in range(1, self.leaves):
                r.leaves[self.leaf + i].bits = 0
                r.leaves[self.leaf + i].changes = NULL
                r.leaves[self.leaf + i].extents = other.extents
            if self.leaves > 1:
                if self.extra_leaf != kDual and other.needs_grad and self.annotation.needs_grad is not False:
                    grad = self._foreign(r, gradient_of(value, self.path), f"{self.path}.grad", self.leaf + 1)
                    r.leaves[self.leaf + 1].bits = grad.address
                    r.leaves[self.leaf + 1].extents = other.extents
            value = other
        if found & self.mask != self.wanted:
            array_spec(self.annotation, value, f"parameter {self.path!r}")  # raises the error
        r.keys[self.key] = found
        return 0

    cdef bint is_steady(self, object value) except -1:
        # The partners of an array may get memory later, but an array without a gradient never gets one.
        if value is None or not isinstance(value, NDArray) or isinstance(value, Field):
            return value is None
        return self.leaves == 1 or (self.extra_leaf == kGradient and not (<NDArray>value)._needs_grad)

    cdef int add_owners(self, dict owners, object value) except -1:
        cdef bint wants = getattr(value, "requires_grad", False) is True  # a PyTorch tensor with requires_grad
        if isinstance(value, ArrayParameter):
            owners[self.leaf] = value
            return 0
        if value is not None:
            owners[self.leaf] = (<NDArray>value)._memory() if isinstance(value, NDArray) else detached(value) if wants else value
        cdef NDArray partner
        cdef int i
        if isinstance(value, NDArray):
            for i in range(self.leaves - 1):
                partner = partner_of(value, self.extra_leaf, i)
                if partner is not None:
                    owners[self.leaf + 1 + i] = partner._memory()
        elif wants and self.extra_leaf != kNoExtra and self.extra_leaf != kDual and self.annotation.needs_grad is not False:
            owners[self.leaf + 1] = gradient_of(value, self.path)
        return 0

    cdef object keep(self, object value):
        memory = graph_memory(value)
        return value if memory is None else KeptMemory(value, memory[0])

    cdef int read_parameter(self, Reading* r, ArrayParameter value) except -1:
        cdef NamedParameter* parameter = value._named()
        described = described_array(value)
        cdef uint64_t found = key_of(described.dtype, len(described.shape), False, described.element_shape)
        r.has_parameters = True
        if self.extra_leaf != kNoExtra:
            raise TypeError(
                f"parameter {self.path!r}: {value!r} has no gradient, and the code uses gradients of its arrays: pass an array"
            )
        if found & self.mask != self.wanted or self.annotation.needs_grad:
            array_spec(self.annotation, described, f"parameter {self.path!r}")  # raises the error
        note_device(r, self, device_of_default(value))
        r.leaves[self.leaf].bits = parameter.initial.bits
        r.leaves[self.leaf].extents = parameter.initial.extents.data()
        r.leaves[self.leaf].changes = NULL
        r.keys[self.key] = found
        return 0

    cdef ForeignArray _foreign(self, Reading* r, object value, str path, Py_ssize_t leaf):
        if r.foreign == NULL:
            foreign = ForeignArrays.__new__(ForeignArrays)
            Py_INCREF(foreign)
            r.foreign = <PyObject*>foreign
        return (<ForeignArrays>r.foreign).add(value, path, leaf, self.inner)

    cdef object spec(self, object value):
        cdef ForeignArrays foreign
        if value is None:
            return annotations.StaticSpec(None)
        if isinstance(value, ArrayParameter):
            value = described_array(value)
        elif not isinstance(value, NDArray):
            foreign = ForeignArrays.__new__(ForeignArrays)
            value = foreign.add(value, self.path, self.leaf, self.inner)
        return array_spec(self.annotation, value, f"parameter {self.path!r}")


cdef int note_device(Reading* r, Reader reader, int device) except -1:
    """Record the device of an array. Raise ValueError if another array of the call is on another device."""
    if device == kNoDevice or device == r.device:
        return 0
    if r.device != kNoDevice:
        raise ValueError(
            f"parameter {(<Reader>r.placed).path!r} is on device {r.device}, and parameter {reader.path!r} is on device "
            f"{device}: the arrays of a call must be on one device, on which the kernel runs. Copy one of them, as in "
            f"cuda_graphs.array({reader.path}, device={r.device})"
        )
    r.device, r.placed = device, <PyObject*>reader
    return 0


cdef int device_of_default(ArrayParameter value) except -2:
    """Return the device of the default of a parameter; kNoDevice without a default."""
    cdef NamedParameter* parameter = value._named()
    cdef CUdeviceptr address = parameter.initial.bits
    cdef int device = kNoDevice
    cdef CUresult status
    if not has_several_devices() or not parameter.initial.known or not address:
        return kNoDevice
    with nogil:
        status = find_device(address, &device)
    check_attempt(status, f"find the device of the default of {value!r}")
    return device


cdef object described_array(ArrayParameter value):
    """Return the type of a parameter's arrays in the form of an array: its shape has the right number of extents."""
    cdef NamedParameter* parameter = value._named()
    name = parameter.type.scalar.name.decode()
    return SimpleNamespace(dtype=SCALARS[name], shape=(0,) * parameter.type.ndim, element_shape=tuple(parameter.type.inner))


cdef class Vector(Reader):
    """Reads a small vector or matrix from any nested sequence of numbers with its shape."""

    cdef list parts

    cdef int read(self, Reading* r, object value) except -1:
        cdef Reader part
        cdef Py_ssize_t i = 0
        try:
            found = list(value)
        except TypeError:
            found = None
        if found is None or isinstance(value, (str, bytes, dict, set)) or len(found) != len(self.parts):
            raise TypeError(f"parameter {self.path!r} takes {self.annotation!r}: {len(self.parts)} components, got {value!r}")
        for i in range(len(found)):
            part = self.parts[i]
            part.read(r, found[i])
        return 0

    cdef int add_owners(self, dict owners, object value) except -1:
        cdef Reader part
        for reader, component in zip(self.parts, value):
            part = reader
            part.add_owners(owners, component)
        return 0

    cdef object spec(self, object value):
        return annotations.VectorSpec(self.annotation)


cdef object part_of(object value, object name):
    """Return a member of an object, or an item of a list, tuple or dict."""
    cdef object kind = type(value)
    return value[name] if kind is list or kind is tuple or kind is dict else getattr(value, name)


cdef class Block:
    """The leaves and keys of an instance whose members give the same in each call, until a Buffer is closed. UNLAUNCHED
    memory gets none, since each call must check it."""

    cdef list parts    # the members of the instance; None with `attributes`
    cdef list members  # the members at all depths, as lists
    cdef OwnAttributes attributes  # of an instance that is not frozen
    cdef bint is_steady  # False if the members must be read in each call
    cdef vector[Leaf] leaves
    cdef vector[uint64_t] keys
    cdef int device  # that of the arrays
    cdef unsigned long long closed_buffers  # before the members were read

    cdef int write(self, Reading* r, Reader reader) except -1:
        note_device(r, reader, self.device)
        (<list>r.members).extend(self.members)
        memcpy(r.leaves + reader.leaf, self.leaves.data(), self.leaves.size() * sizeof(Leaf))
        memcpy(r.keys + reader.key, self.keys.data(), self.keys.size() * sizeof(uint64_t))
        return 0


cdef class Struct(Reader):
    """Reads an instance of a dataclass member by member, the members of `self` that a kernel uses, or the items of a list,
    tuple or dict with arrays in it."""

    cdef object cls
    cdef list names, members
    cdef bint is_frozen  # the members of an instance never change
    cdef object seen     # a weak reference to the last instance, if that is frozen, and
    cdef list kept       # its members, until it dies
    cdef Block block     # the block of these members, from the second call on
    cdef unsigned long long reads  # of all members of instances that are not frozen

    cdef list _parts(self, object value):
        """Return the members of an instance in the order of the readers."""
        cdef list kept = self.kept
        if kept is not None and PyWeakref_GetObject(self.seen) == <PyObject*>value:
            return kept
        kept = [part_of(value, name) for name in self.names]
        if self.is_frozen and hasattr(value, "__weakref__"):
            self.kept = self.block = None  # other code never sees an instance together with the members of another one
            self.seen = weakref.ref(value, self._drop)
            self.kept = kept
        return kept

    def _drop(self, dead):
        if dead is self.seen:
            self.kept = self.seen = self.block = None

    cdef bint is_steady(self, object value) except -1:
        cdef list parts = self.kept
        if parts is None or PyWeakref_GetObject(self.seen) != <PyObject*>value:
            return False
        return self._are_steady(parts)

    cdef int read(self, Reading* r, object value) except -1:
        cdef list before = self.kept
        cdef list parts
        cdef Block block
        cdef Py_ssize_t depth
        cdef unsigned long long closed
        if type(value) is not self.cls and not isinstance(value, self.cls):
            raise TypeError(f"parameter {self.path!r} takes a {self.cls.__name__}, got a {type(value).__name__}")
        if r.members == NULL:
            found = []
            Py_INCREF(found)
            r.members = <PyObject*>found
        block = self.block  # read once: another thread may replace it
        closed = closed_buffers()
        if not self.is_frozen:
            return self._read_changing(r, value, block, closed)
        parts = self._parts(value)
        block = self.block  # it may have been dropped
        if block is not None and block.parts is parts and block.is_steady and block.closed_buffers == closed:
            return block.write(r, self)
        depth = len(<list>r.members)
        (<list>r.members).append(parts)
        self._read_members(r, parts)
        if parts is before and not r.has_unlaunched and (block is None or block.is_steady):
            self._keep_block(r, value, parts, (<list>r.members)[depth:], closed)
        return 0

    cdef int _read_changing(self, Reading* r, object value, Block block, unsigned long long closed) except -1:
        """Read an instance that is not frozen. Its members are read again after each change of its attributes."""
        cdef OwnAttributes attributes = None
        cdef list parts
        if block is not None and block.closed_buffers == closed and block.attributes.are_those_of(value):
            (<list>r.members).append(list(dict_of(value).values()))
            return block.write(r, self)
        self.reads += 1
        # An instance that the program changes in each call must not pay for new versions in each call.
        if self.reads & (self.reads - 1) == 0:
            attributes = own_attributes(value, self.names)  # before the members: later changes must show
        parts = self._parts(value)
        (<list>r.members).append(parts)
        self._read_members(r, parts)
        if attributes is not None and not r.has_unlaunched and self._are_steady(parts) and self._are_own(dict_of(value)):
            block = Block.__new__(Block)
            block.members, block.attributes, block.closed_buffers = [], attributes, closed
            self._fill_block(r, block, parts)
            self.block = block
        return 0

    cdef bint _are_own(self, dict attributes) except -1:
        """Return True if an instance itself has its arrays, so that its attributes keep them alive."""
        cdef Py_ssize_t i
        for i in range(len(self.names)):
            if self.names[i] not in attributes and not isinstance(self.members[i], Fixed):
                return False
        return True

    cdef bint _are_steady(self, list parts) except -1:
        cdef Reader member
        cdef Py_ssize_t i
        for i in range(len(parts)):
            member = self.members[i]
            if not member.is_steady(parts[i]):
                return False
        return True

    cdef int _read_members(self, Reading* r, list parts) except -1:
        cdef Reader member
        cdef Py_ssize_t i
        for i in range(len(parts)):
            member = self.members[i]
            member.read(r, parts[i])
        return 0

    cdef int _keep_block(self, Reading* r, object value, list parts, list members, unsigned long long closed) except -1:
        """Keep what the members of an instance gave."""
        cdef Block block = Block.__new__(Block)
        block.parts, block.members, block.closed_buffers = parts, members, closed
        block.is_steady = self.is_steady(value)
        if block.is_steady:
            self._fill_block(r, block, parts)
        if self.kept is parts:
            self.block = block
        return 0

    cdef int _fill_block(self, Reading* r, Block block, list parts) except -1:
        cdef Reading own = r[0]
        own.device = kNoDevice
        self._read_members(&own, parts)  # the same leaves again, for the device of these arrays alone
        block.device = own.device
        block.leaves.assign(r.leaves + self.leaf, r.leaves + self.leaf + self.leaves)
        block.keys.assign(r.keys + self.key, r.keys + self.key + self.keys)
        return 0

    cdef int add_owners(self, dict owners, object value) except -1:
        cdef Reader member
        for name, reader in zip(self.names, self.members):
            member = reader
            member.add_owners(owners, part_of(value, name))
        return 0

    cdef object keep(self, object value):
        return KeptStruct(self.cls, self._keep_members([part_of(value, name) for name in self.names]))

    cdef dict _keep_members(self, list parts):
        cdef Reader member
        kept = {}
        for name, reader, part in zip(self.names, self.members, parts):
            member = reader
            kept[name] = member.keep(part)
        return kept

    cdef int forget(self) except -1:
        cdef Reader member
        self.block = None
        for reader in self.members:
            member = reader
            member.forget()
        return 0

    cdef object spec(self, object value):
        cdef Reader member
        specs = []
        for name, reader in zip(self.names, self.members):
            member = reader
            specs.append((name, member.spec(part_of(value, name))))
        return annotations.StructSpec(self.cls, tuple(specs))


cdef class StructArray(Struct):
    """Reads an array of structures: the arrays of its members. A structured array of NumPy has views as members."""

    cdef bint is_steady(self, object value) except -1:
        return False

    cdef int read(self, Reading* r, object value) except -1:
        cdef Reader member
        cdef ForeignArray before = None if r.foreign == NULL else (<ForeignArrays>r.foreign).last
        found = self._array_of(value)
        ndim = self.annotation.ndim
        if ndim is not None and found.ndim != ndim:
            raise ValueError(f"parameter {self.path!r} takes {ndim} dimensions, not {found.ndim}")
        for name, reader in zip(self.names, self.members):
            member = reader
            member.read(r, found.members[name])
        if found is not value:
            (<ForeignArrays>r.foreign).unite(before, value)
        return 0

    cdef object _array_of(self, object value):
        """Return an array of structures, or a structured array of NumPy in the form of one."""
        if getattr(value, "cls", None) is self.cls and hasattr(value, "members"):
            return value
        if is_structured(value):
            return numpy_structures(self.cls, value, f"parameter {self.path!r}")
        raise TypeError(
            f"parameter {self.path!r} takes an array of {self.cls.__name__}, got {value!r}: make one with "
            f"cg.ndarray({self.cls.__name__}, shape)"
        )

    cdef int add_owners(self, dict owners, object value) except -1:
        cdef Reader member
        members = self._array_of(value).members
        for name, reader in zip(self.names, self.members):
            member = reader
            member.add_owners(owners, members[name])
        return 0

    cdef object keep(self, object value):
        if is_structured(value):
            return value
        kept = self._keep_members([value.members[name] for name in self.names])
        return KeptStructArray(value, kept) if any([isinstance(each, KeptArgument) for each in kept.values()]) else value

    cdef object spec(self, object value):
        return struct_array_spec(self._array_of(value), self.path)


cdef class ValueNumbers:
    """Numbers of the values of one template parameter. An object that is unchanged is not compared again."""

    cdef object interned
    cdef Memo memo

    def __cinit__(self):
        self.interned = Interned()
        self.memo = Memo(self.interned.number)

    cdef int64_t number_of(self, object value) except? -1:
        return <int64_t>self.memo.of(value)

    cdef int forget(self) except -1:
        self.memo.forget()
        self.interned.forget()
        return 0


cdef class Tensor(Reader):
    """Reads a field, which is a constant of the code, or an array.

    A template (`takes_values`) takes our arrays, and all other values as constants: each has its own code.
    """

    cdef Array array
    cdef ValueNumbers numbers
    cdef bint takes_values

    def __cinit__(self):
        self.leaves, self.keys = 1, 1

    cdef bint is_constant(self, object value):
        return isinstance(value, Field) or (self.takes_values and not isinstance(value, (NDArray, ArrayParameter)))

    cdef int read(self, Reading* r, object value) except -1:
        if not self.is_constant(value):
            return self.array.read(r, value)
        r.keys[self.key] = OF_FIELD | <uint64_t>self.numbers.number_of(value)
        return 0

    cdef bint is_steady(self, object value) except -1:
        return bool(is_fixed(value)) if self.is_constant(value) else self.array.is_steady(value)

    cdef int add_owners(self, dict owners, object value) except -1:
        return 0 if self.is_constant(value) else self.array.add_owners(owners, value)

    cdef object keep(self, object value):
        return value if self.is_constant(value) else self.array.keep(value)

    cdef int forget(self) except -1:
        self.numbers.forget()
        return 0

    cdef object spec(self, object value):
        if not self.is_constant(value):
            return self.array.spec(value)
        found = getattr(value, "__cuda_graphs_field__", None)
        return annotations.StaticSpec(value) if found is None else found


cdef class Fixed(Reader):
    """Reads nothing: the member of `self` is a constant of the code."""

    cdef int read(self, Reading* r, object value) except -1:
        return 0

    cdef bint is_steady(self, object value) except -1:
        return True

    cdef int add_owners(self, dict owners, object value) except -1:
        return 0

    cdef object spec(self, object value):
        found = getattr(self.annotation.value, "__cuda_graphs_field__", None)
        return annotations.StaticSpec(self.annotation.value) if found is None else found


cdef Reader reader_of(object annotation, str path, Py_ssize_t leaf, Py_ssize_t key, int extra_leaf=kNoExtra):
    cdef Reader self
    if isinstance(annotation, ScalarType):
        self = scalar_reader(annotation)
    elif isinstance(annotation, annotations.VectorType):
        self = vector_reader(annotation, path, leaf, key)
    elif isinstance(annotation, annotations.NDArray) and annotation.struct is not None:
        self = struct_array_reader(annotation, path, leaf, key, extra_leaf)
    elif isinstance(annotation, annotations.NDArray):
        self = array_reader(annotation)
        if extra_leaf != kNoExtra:
            (<Array>self).extra_leaf, self.leaves = extra_leaf, 1 + len(<tuple>PARTNERS[extra_leaf])
    elif annotation is annotations.Tensor or is_template(annotation):
        self = Tensor.__new__(Tensor)
        (<Tensor>self).takes_values = annotation is not annotations.Tensor
        (<Tensor>self).array = reader_of(annotations.NDArray(), path, leaf, key, extra_leaf)
        self.leaves = (<Tensor>self).array.leaves
        (<Tensor>self).numbers = ValueNumbers()
    elif isinstance(annotation, annotations.Fixed):
        self = Fixed.__new__(Fixed)
    elif is_condition(annotation):
        self = ConditionHandle.__new__(ConditionHandle)
    elif is_host_object(annotation):
        self = HostObject.__new__(HostObject)
        (<HostObject>self).numbers = number_names(annotation)
        self.leaves = 1 + len((<HostObject>self).numbers)
    else:
        self = struct_reader(annotation, path, leaf, key, extra_leaf)
    self.annotation, self.path, self.leaf, self.key = annotation, path, leaf, key
    return self


cdef bint takes_condition(Reader reader):
    if isinstance(reader, Struct):
        return any([takes_condition(member) for member in (<Struct>reader).members])
    return isinstance(reader, ConditionHandle)


cdef Reader scalar_reader(object type):
    cdef Integer integer
    cdef Float number
    if type.kind == "bool":
        return Bool.__new__(Bool)
    if type.kind == "float":
        number = Float.__new__(Float)
        number.size = type.size
        return number
    integer = Integer.__new__(Integer)
    integer.low, integer.high = type.minimum, type.maximum
    return integer


cdef Reader array_reader(object annotation):
    cdef Array array = Array.__new__(Array)
    array.inner = annotation.inner
    if annotation.dtype is not None:  # the dtype also fixes the shape of an element
        array.mask |= <uint64_t>~0xFFFF00
        array.wanted |= key_of(annotation.dtype, 0, False, annotation.inner)
    if annotation.ndim is not None:
        array.mask |= 0xFF00
        array.wanted |= <uint64_t>annotation.ndim << 8
    return array


cdef Reader vector_reader(object annotation, str path, Py_ssize_t leaf, Py_ssize_t key):
    cdef Vector found = Vector.__new__(Vector)
    cdef Reader part
    found.parts = []
    inner = annotations.VectorType(annotation.dtype, annotation.shape[1:]) if annotation.shape[1:] else annotation.dtype
    for i in range(annotation.shape[0]):
        part = reader_of(inner, f"{path}.{i}", leaf + found.leaves, key)
        found.leaves += part.leaves
        found.parts.append(part)
    return found


cdef Reader struct_array_reader(object annotation, str path, Py_ssize_t leaf, Py_ssize_t key, int extra_leaf):
    needs_grad = annotation.needs_grad
    declared = [
        (name, annotations.NDArray(struct=kind if is_struct(kind) else None, needs_grad=needs_grad))
        for name, kind in struct_members(annotation.struct).items()
    ]
    return add_members(StructArray.__new__(StructArray), annotation.struct, declared, path, leaf, key, extra_leaf)


cdef Reader struct_reader(object annotation, str path, Py_ssize_t leaf, Py_ssize_t key, int extra_leaf):
    if isinstance(annotation, annotations.Record):
        cls, declared = annotation.cls, annotation.members
    else:
        cls = annotation
        declared = [(member.name, member_type(annotation, member)) for member in dataclasses.fields(annotation)]
    return add_members(Struct.__new__(Struct), cls, declared, path, leaf, key, extra_leaf)


cdef Reader add_members(
    Struct struct, object cls, object declared, str path, Py_ssize_t leaf, Py_ssize_t key, int extra_leaf
):
    cdef Reader part
    struct.cls, struct.names, struct.members = cls, [], []
    fields = getattr(cls, "__dataclass_fields__", {})
    struct.is_frozen = (
        bool(getattr(getattr(cls, "__dataclass_params__", None), "frozen", False))
        and all(name in fields for name, _ in declared)  # a property may give another array each time
    )
    for name, kind in declared:
        part = reader_of(kind, f"{path}.{name}", leaf + struct.leaves, key + struct.keys, extra_leaf)
        struct.leaves += part.leaves
        struct.keys += part.keys
        struct.names.append(name)
        struct.members.append(part)
    return struct


def struct_array_leaves(readers):
    """Return {path: number} of the members of arrays of structures; members of one array have one number, from 1 on."""
    found, count, waiting = {}, 0, list(readers)
    while waiting:
        reader = waiting.pop()
        if isinstance(reader, StructArray):
            count += 1
            found.update(dict.fromkeys([path for path, _ in leaf_paths(reader)], count))
        elif isinstance(reader, Struct):
            waiting += (<Struct>reader).members
    return found


def argument_at(readers, args, path):
    """Return the argument, or the member of an argument, at a path of the compiler."""
    for reader, value in zip(readers, args):
        if (<Reader>reader).path == path:
            return value
        if type(reader) is Struct and path.startswith((<Reader>reader).path + "."):
            struct = <Struct>reader
            return argument_at(struct.members, [part_of(value, name) for name in struct.names], path)
    return None


def leaf_paths(Reader reader):
    """Return (path, index of the leaf) of all leaves of a Reader."""
    if isinstance(reader, (Vector, Struct)):
        parts = (<Vector>reader).parts if isinstance(reader, Vector) else (<Struct>reader).members
        return [found for part in parts for found in leaf_paths(part)]
    if isinstance(reader, HostObject):
        numbers = enumerate((<HostObject>reader).numbers, reader.leaf + 1)
        return [(reader.path, reader.leaf), *[(f"{reader.path}.{name}", leaf) for leaf, name in numbers]]
    if reader.leaves > 1:  # an array with its gradient or dual
        partners = [(f"{reader.path}.{kind}", reader.leaf + 1 + i) for i, kind in enumerate(reader.partners())]
        return [(reader.path, reader.leaf), *partners]
    return [(reader.path, reader.leaf)] if reader.leaves else []
