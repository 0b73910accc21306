# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The readers of a kernel's parameters: they convert arguments into numbers, addresses and the key of a specialisation.

Each declared parameter gets a Reader when the kernel is decorated. In a call, each Reader writes its argument to its
own leaves and keys. A call therefore builds no objects and looks up no names. The classes are in the folder `readers`.
"""

import dataclasses

from .readers.arrays cimport array_reader
from .readers.host_objects cimport condition_reader, host_object_reader
from .readers.numbers cimport Vector, number_reader
from .readers.reader cimport Reader, kNoExtra
from .readers.structures cimport Struct, StructArray
from .readers.templates cimport Fixed, tensor_reader

from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language import annotations
from cuda_graphs.compiler.language.host_objects import is_host_object
from cuda_graphs.compiler.language.signature import is_condition, is_template
from cuda_graphs.compiler.language.structs import is_struct, member_type, struct_members


cdef Reader reader_of(object annotation, str path, Py_ssize_t leaf, Py_ssize_t key, int extra_leaf=kNoExtra):
    cdef Reader self
    if isinstance(annotation, ScalarType):
        self = number_reader(annotation)
    elif isinstance(annotation, annotations.VectorType):
        self = vector_reader(annotation, path, leaf, key)
    elif isinstance(annotation, annotations.NDArray) and annotation.struct is not None:
        self = struct_array_reader(annotation, path, leaf, key, extra_leaf)
    elif isinstance(annotation, annotations.NDArray):
        self = array_reader(annotation, extra_leaf)
    elif annotation is annotations.Tensor or is_template(annotation):
        array = reader_of(annotations.NDArray(), path, leaf, key, extra_leaf)
        self = tensor_reader(array, annotation is not annotations.Tensor)
    elif isinstance(annotation, annotations.Fixed):
        self = Fixed.__new__(Fixed)
    elif is_condition(annotation):
        self = condition_reader()
    elif is_host_object(annotation):
        self = host_object_reader(annotation)
    else:
        self = struct_reader(annotation, path, leaf, key, extra_leaf)
    self.annotation, self.path, self.leaf, self.key = annotation, path, leaf, key
    return self


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
    struct.begin(cls, declared)
    for name, kind in declared:
        struct.add_member(name, reader_of(kind, f"{path}.{name}", leaf + struct.leaves, key + struct.keys, extra_leaf))
    return struct
