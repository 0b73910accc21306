# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of dataclass instances and other objects with members, and of arrays of structures."""

import weakref

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from cuda_graphs.core.resources.device_scope cimport kNoDevice
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays, ForeignArray
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.kernels.specialisation.own_attributes cimport OwnAttributes, dict_of, own_attributes, refers_to
from cuda_graphs.objects.memory.buffer cimport closed_buffers
from .reader cimport Reader, note_device
from .templates cimport Fixed

from cuda_graphs.compiler.language import annotations
from cuda_graphs.compiler.language.signature import struct_array_spec
from cuda_graphs.kernels.arrays.struct_values import is_structured, numpy_structures
from .kept_arguments import KeptArgument, KeptStruct, KeptStructArray


cdef object part_of(object value, object name):
    """Return a member of an object, or an item of a list, tuple or dict."""
    cdef object kind = type(value)
    return value[name] if kind is list or kind is tuple or kind is dict else getattr(value, name)


cdef class Block:
    """The leaves and keys of an instance whose members give the same in each call, until a Buffer is closed. UNLAUNCHED
    memory gets none, since each call must check it."""

    cdef int write(self, Reading* r, Reader reader) except -1:
        note_device(r, reader, self.device)
        (<list>r.members).extend(self.members)
        memcpy(r.leaves + reader.leaf, self.leaves.data(), self.leaves.size() * sizeof(Leaf))
        memcpy(r.keys + reader.key, self.keys.data(), self.keys.size() * sizeof(uint64_t))
        return 0


cdef class Struct(Reader):
    """Reads an instance of a dataclass member by member, the members of `self` that a kernel uses, or the items of a list,
    tuple or dict with arrays in it."""

    cdef int begin(self, object cls, object declared) except -1:
        fields = getattr(cls, "__dataclass_fields__", {})
        self.cls, self.names, self.members = cls, [], []
        self.is_frozen = (
            bool(getattr(getattr(cls, "__dataclass_params__", None), "frozen", False))
            and all(name in fields for name, _ in declared)  # a property may give another array each time
        )
        return 0

    cdef int add_member(self, object name, Reader member) except -1:
        self.leaves += member.leaves
        self.keys += member.keys
        self.names.append(name)
        self.members.append(member)
        return 0

    cdef list _parts(self, object value):
        """Return the members of an instance in the order of the readers."""
        cdef list kept = self.kept
        if kept is not None and refers_to(self.seen, value):
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
        if parts is None or not refers_to(self.seen, value):
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

    cdef list leaf_paths(self):
        return [found for member in self.members for found in (<Reader>member).leaf_paths()]

    cdef int let_integers_wrap(self) except -1:
        for member in self.members:
            (<Reader>member).let_integers_wrap()
        return 0

    cdef bint takes_condition(self) except -1:
        return any([(<Reader>member).takes_condition() for member in self.members])


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


def struct_array_leaves(readers):
    """Return {path: number} of the members of arrays of structures; members of one array have one number, from 1 on."""
    found, count, waiting = {}, 0, list(readers)
    while waiting:
        reader = waiting.pop()
        if isinstance(reader, StructArray):
            count += 1
            found.update(dict.fromkeys([path for path, _ in (<Reader>reader).leaf_paths()], count))
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
