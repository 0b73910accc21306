# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The reader of arrays: NDArrays, arrays of other libraries, and array parameters of graphs."""

from types import SimpleNamespace

import numpy

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint64_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport NamedParameter
from cuda_graphs.core.resources.device_scope cimport find_device, has_several_devices, kNoDevice
from cuda_graphs.graph.operands.parameter cimport ArrayParameter
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays, ForeignArray
from cuda_graphs.kernels.arrays.ndarray cimport Field, NDArray, closed_text, key_of
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.objects.memory.buffer cimport MemoryKind
from .kept_arguments cimport graph_memory
from .reader cimport Reader, kDual, kGradient, kNoExtra, note_device

from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.compiler.language import annotations
from cuda_graphs.compiler.language.signature import array_spec
from cuda_graphs.errors import ClosedBufferError
from cuda_graphs.kernels.arrays.tensors import gradient_of, detached
from .kept_arguments import KeptMemory


# The extra leaves of an array, by ExtraLeaf.
cdef tuple PARTNERS = ((), ("grad",), ("dual",), ("grad", "dual", "grad.dual"))


cdef object argument_of(object value, bint wants_gradient):
    """Return the argument of a launch for an array of another library. A NumPy array without dimensions would be a number."""
    if isinstance(value, numpy.ndarray) and value.ndim == 0:
        return value.reshape(1)
    return detached(value) if wants_gradient else value


cdef NDArray partner_of(NDArray array, int extra_leaf, int number):
    """Return the array of an extra leaf, or None if the array has no such partner."""
    if number == 2:
        return None if array._grad is None else array._grad._forced_dual()
    return array._grad if number == 0 and extra_leaf != kDual else array._dual_or_none()


cdef class Array(Reader):
    """Reads an NDArray, or an array of another library."""

    def __cinit__(self):
        self.leaves, self.keys = 1, 1

    cdef int read(self, Reading* r, object value) except -1:
        cdef uint64_t found
        if value is None and self.annotation.optional:
            r.keys[self.key] = 0
            return 0
        if isinstance(value, ArrayParameter):
            return self.read_parameter(r, <ArrayParameter>value)
        if isinstance(value, NDArray):
            self.read_own(r, <NDArray>value)
            found = (<NDArray>value)._key
        else:
            value = self.read_foreign(r, value)
            found = (<ForeignArray>value).key
        if found & self.mask != self.wanted:
            array_spec(self.annotation, value, f"parameter {self.path!r}")  # raises the error
        r.keys[self.key] = found
        return 0

    cdef int read_own(self, Reading* r, NDArray value) except -1:
        """Write the leaves of an NDArray and its partners."""
        cdef Leaf* leaf = r.leaves + self.leaf
        cdef NDArray partner
        cdef int i
        if type(value) is not NDArray and isinstance(value, Field):
            raise TypeError(
                f"parameter {self.path!r} takes an array, whose address comes with each call, got {value!r}: use the "
                "field by its name, or declare the parameter as cg.template or cg.types.Tensor"
            )
        if not value._buffer._h:
            raise ClosedBufferError(f"parameter {self.path!r}: {closed_text(value)}")
        note_device(r, self, value._place)
        if value._buffer._kind == MemoryKind.UNLAUNCHED:
            r.has_unlaunched = True
        leaf.bits = value._address
        leaf.extents = value._extents.data()
        leaf.changes = &value._changes
        for i in range(self.leaves - 1):
            leaf += 1
            partner = partner_of(value, self.extra_leaf, i)
            leaf.extents = value._extents.data()
            leaf.bits = partner._address if partner is not None else 0
            leaf.changes = &partner._changes if partner is not None else NULL
            if partner is not None and partner._buffer._kind == MemoryKind.UNLAUNCHED:
                r.has_unlaunched = True
        return 0

    cdef ForeignArray read_foreign(self, Reading* r, object value):
        """Write the leaves of an array of another library. Its gradient is the only partner that it can have."""
        cdef Leaf* leaf = r.leaves + self.leaf
        cdef ForeignArray other = self._foreign(r, value, self.path, self.leaf)
        cdef int i
        if has_several_devices():
            note_device(r, self, other.device())
        for i in range(self.leaves):
            leaf[i].bits = 0
            leaf[i].changes = NULL
            leaf[i].extents = other.extents
        leaf.bits = other.address
        if other.needs_grad and self.takes_gradient():
            leaf[1].bits = self._foreign(r, gradient_of(value, self.path), f"{self.path}.grad", self.leaf + 1).address
        return other

    cdef bint takes_gradient(self) except -1:
        """Return True if the gradient of an array of another library is a leaf."""
        return self.extra_leaf != kNoExtra and self.extra_leaf != kDual and self.annotation.needs_grad is not False

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
            owners[self.leaf] = (<NDArray>value)._memory() if isinstance(value, NDArray) else argument_of(value, wants)
        cdef NDArray partner
        cdef int i
        if isinstance(value, NDArray):
            for i in range(self.leaves - 1):
                partner = partner_of(value, self.extra_leaf, i)
                if partner is not None:
                    owners[self.leaf + 1 + i] = partner._memory()
        elif wants and self.takes_gradient():
            owners[self.leaf + 1] = gradient_of(value, self.path)
        return 0

    cdef object keep(self, object value):
        memory = graph_memory(value)
        return value if memory is None else KeptMemory(value, *memory)

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

    cdef list leaf_paths(self):
        partners = enumerate(<tuple>PARTNERS[self.extra_leaf], self.leaf + 1)
        return [(self.path, self.leaf), *[(f"{self.path}.{kind}", leaf) for leaf, kind in partners]]


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


cdef Array array_reader(object annotation, int extra_leaf):
    cdef Array array = Array.__new__(Array)
    array.inner = annotation.inner
    array.extra_leaf, array.leaves = extra_leaf, 1 + len(<tuple>PARTNERS[extra_leaf])
    if annotation.dtype is not None:  # the dtype also fixes the shape of an element
        array.mask |= <uint64_t>~0xFFFF00
        array.wanted |= key_of(annotation.dtype, 0, False, annotation.inner)
    if annotation.ndim is not None:
        array.mask |= 0xFF00
        array.wanted |= <uint64_t>annotation.ndim << 8
    return array
