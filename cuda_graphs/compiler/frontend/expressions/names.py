# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names and attributes: variables, free names, members, components and methods."""

from __future__ import annotations

import ast
from inspect import getattr_static
from types import FunctionType
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileNameError,
    CompileSyntaxError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.remedies import remedy_of_array_member
from cuda_graphs.compiler.frontend.frame.values import (
    SIZES,
    ArrayPart,
    Bound,
    BoundFunction,
    Component,
    Element,
    HostMember,
    HostObject,
    ListName,
    Packed,
    Static,
    Struct,
    StructArray,
    Vector,
    VectorElement,
    describe,
    size_of,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.annotations import Captured
from cuda_graphs.compiler.language.free_names import dotted, is_array
from cuda_graphs.compiler.language.host_objects import method_names
from cuda_graphs.compiler.language.signature import names_gradients

from .array_parts import shape_of_part
from .linear import CHANGES, METHODS
from .lvalues import field_or_value, is_swizzle, swizzle
from .struct_elements import extents_of, member_of

OF_DICTS = ("get", "items", "keys", "values")  # the methods of dicts that kernels call
OF_LISTS = ("append", "extend", "insert", "pop")  # the methods of lists that kernels call
NUMBERS = (ir.Value, ir.Local, Element, Component)


def name(frame: Frame, node: ast.Name) -> Any:
    scope = frame.scope.find(node.id)
    if scope is None:
        return free_name(frame, node, whole=True)
    found = scope.names[node.id]
    exact = frame.weak_types.constant(found) if isinstance(found, ir.Local) else None
    return found if exact is None else exact


def free_name(frame: Frame, node: ast.Name, whole: bool) -> Any:
    """Return the meaning of a global or closure variable, and record it."""
    outside = frame.source.function, node.id
    if outside in frame.outside:
        return frame.outside[outside]
    found = frame.source.lookup(node.id, frame.at(node))
    frame.record(node.id, found, whole)
    return meaning_of(frame, found, node.id)


def meaning_of(frame: Frame, found: Any, name: str) -> Any:
    """Return the meaning of an object from outside: a field is an array, other objects are themselves."""
    if isinstance(found, Captured):
        scope = frame.root.scope.find(found.parameter)
        assert scope is not None
        return scope.names[found.parameter]
    if is_array(found):
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"{name!r} is an array from outside that is not taken here",
            "pass it as a parameter: x: cg.Array1[cg.f32], or make it a cg.field; a predicate takes the arrays of its "
            "own names, not those of functions and methods that it calls",
        )  # fmt: skip
    return field_or_value(frame, found)


def owner_of(frame: Frame, node: ast.expr) -> Any:
    """Return the owner of an attribute. Only the attribute of an outside owner is recorded, not the whole owner."""
    if isinstance(node, ast.Name) and frame.scope.find(node.id) is None:
        return free_name(frame, node, whole=False)
    return attribute(frame, node, whole=False) if isinstance(node, ast.Attribute) else frame.visit(node)


def attribute(frame: Frame, node: ast.Attribute, whole: bool = True) -> Any:
    """Return the meaning of `x.name`, and record it if it is one of an object from outside.

    Args:
        whole: False if only an attribute of the result is used.
    """
    outside = frame.source.function, dotted(node) or ""
    if outside in frame.outside and frame.scope.find(outside[1].partition(".")[0]) is None:
        return frame.outside[outside]  # in a module
    owner = owner_of(frame, node.value)
    owner = owner.value if isinstance(owner, Static) else owner
    frame.at(node)
    match owner:
        case Struct():
            return struct_attribute(frame, owner, node.attr)
        case HostObject():
            return host_member(frame, owner, node.attr)
        case StructArray() | Packed():
            return member_of(frame, owner, node.attr)
        case ArrayPart() if node.attr in ("shape", "dtype"):
            return shape_of_part(frame, owner) if node.attr == "shape" else owner.array.element
        case ir.Array():
            return array_attribute(frame, owner, node.attr)
        case Vector() | VectorElement():
            return vector_attribute(frame, owner, node.attr)
    if node.attr == "dtype" and isinstance(owner, (*NUMBERS, float)):
        return frame.read(owner).type
    if isinstance(owner, (ir.Value, ir.Local, bool, int, float)):
        raise compile_error(
            CompileNameError,
            frame.builder.loc,
            f"a number has no member {node.attr!r}",
            "numbers have no members: write the operation, or a function such as abs(x), cg.cast(x, cg.i32)",
        )
    method = container_method(frame, node, owner)
    return attribute_of_object(frame, node, owner, whole) if method is None else method


def struct_attribute(frame: Frame, owner: Struct, name: str) -> Any:
    """Return a member of a structure, the value of a property, or a method of the class."""
    if name not in owner.members:
        method: Any = getattr(owner.cls, name, None)
        if isinstance(method, property) and method.fget is not None:
            return frame.syntax.call(frame, BoundFunction(method.fget, owner), [])
        if isinstance(getattr_static(owner.cls, name, None), (staticmethod, classmethod)):
            return method
        if hasattr(method, "__cuda_graphs_func__") or isinstance(method, FunctionType):
            return BoundFunction(getattr(method, "__cuda_graphs_func__", method), owner)
        if hasattr(method, "__cuda_graph_emit__"):
            return method  # a kernel: the call of it raises
    return member(frame, owner, name)


def array_attribute(frame: Frame, owner: ir.Array, name: str) -> Any:
    """Return the shape, the type, the gradient, or a size of the elements of an array, or its method."""
    if name == "shape":
        return tuple(extents_of(frame, owner))
    if name == "dtype":
        return owner.element
    if name == "grad":
        return gradient_of(frame, owner)
    if owner.inner and name in SIZES:
        return size_of(owner.inner, name)
    return method_of(frame, owner, name)


def container_method(frame: Frame, node: ast.Attribute, owner: Any) -> Bound | None:
    """Return a method of a dict, or of a list that has a name in the kernel; None for other attributes."""
    if isinstance(owner, dict) and node.attr in OF_DICTS:
        path = dotted(node.value)
        if path is not None:
            frame.record(path, owner, whole=True)
        return Bound(owner, node.attr)
    if isinstance(owner, (tuple, list)) and node.attr in OF_LISTS and isinstance(node.value, ast.Name):
        scope = frame.scope.find(node.value.id)
        if scope is not None:
            return Bound(ListName(node.value.id, scope), node.attr)
    return None


def attribute_of_object(frame: Frame, node: ast.Attribute, owner: Any, whole: bool) -> Any:
    """Return the meaning of an attribute of an object of Python, and record it if the object is from outside."""
    try:
        found = getattr(owner, node.attr)
    except AttributeError:
        raise compile_error(
            CompileNameError,
            frame.builder.loc,
            f"{describe(owner)} has no member {node.attr!r}",
            "write a new one, y + [x], or use an array"
            if isinstance(owner, tuple)
            else "check the spelling of the name",
        ) from None
    path = dotted(node)
    if path is not None and frame.scope.find(path.partition(".")[0]) is None:
        found = frame.source.once(path, found)
    meaning = meaning_of(frame, found, ast.unparse(node))
    if path is not None:
        frame.record(path, found, whole)
    return meaning


def member(frame: Frame, owner: Struct, name: str) -> Any:
    """Return a member of a structure."""
    if name not in owner.members:
        raise compile_error(
            CompileNameError, frame.builder.loc, f"{owner.cls.__name__} has no member {name!r}",
            f"it has {', '.join(owner.members)}",
        )  # fmt: skip
    return owner.members[name]


def host_member(frame: Frame, owner: HostObject, name: str) -> HostMember | ir.Param:
    """Return a method or a number of a host object."""
    known, numbers = method_names(owner.cls), dict(owner.numbers)
    if name in numbers:
        return numbers[name]
    if name not in known:
        what = "is not for kernels" if hasattr(owner.cls, name) else "does not exist"
        raise compile_error(
            CompileNameError, frame.builder.loc, f"{owner.path}.{name} {what}: {owner.path} is a {owner.cls.__name__}",
            f"a kernel may use {', '.join((*known, *numbers))}",
        )  # fmt: skip
    return HostMember(owner, name)


def vector_attribute(frame: Frame, owner: Vector | VectorElement, name: str) -> Any:
    """Return components, a size, the `dtype` of the components, or a method of a vector or matrix."""
    vector = owner.elements if isinstance(owner, VectorElement) else owner
    if name == "dtype":
        return frame.read(vector.leaves()[0]).type
    if name in SIZES:
        return size_of(vector.shape, name)
    return swizzle(frame, vector, name) if is_swizzle(name) else method_of(frame, owner, name)


def gradient_of(frame: Frame, array: ir.Array) -> ir.Array:
    """Return the array of the gradient of an array, which is an argument of the kernel, too."""
    if not array.needs_grad:
        raise compile_error(
            CompileNameError, frame.builder.loc, f"{describe(array)} has no gradient",
            "make it with needs_grad=True, and remove needs_grad=False from its parameter",
        )  # fmt: skip
    root = frame.root
    if array.space is ir.Space.PARAM and not names_gradients(root.source.function):
        raise compile_error(
            CompileSyntaxError, frame.builder.loc,
            f"{array.path}.grad belongs to a parameter of {root.source.function.__name__}, which does not use it",
            f"pass it from there: f({array.path}.grad)",
        )  # fmt: skip
    path = f"{array.path}.grad"
    found = next((each for each in root.arrays if each.path == path), None)
    if found is None:
        found = ir.replace(array, path=path, needs_grad=False, needs_dual=False)
        root.arrays.append(found)
    return found


def method_of(frame: Frame, owner: Any, name: str) -> Bound:
    """Return a method of a vector, a matrix or an array."""
    is_of_array = isinstance(owner, ir.Array)
    if name not in (("fill",) if is_of_array else (*METHODS, *CHANGES)):
        known = (
            remedy_of_array_member(name)
            if is_of_array
            else f"it has x, y, z, w, n, m, {', '.join((*METHODS, *CHANGES))}"
        )
        raise compile_error(
            CompileNameError,
            frame.builder.loc,
            f"{describe(owner)} has no member {name!r}",
            known,
        )
    return Bound(owner, name)
