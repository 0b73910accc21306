# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Assignment to names, elements and components, and the declaration of variables."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileImmutableError,
    CompileNameError,
    CompileSyntaxError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.sharing import is_shared
from cuda_graphs.compiler.frontend.frame.values import (
    PLACES,
    VARIABLES,
    ArrayPart,
    Component,
    Element,
    Static,
    Struct,
    Vector,
    VectorElement,
    describe,
)
from cuda_graphs.compiler.frontend.precision import convert_implicitly
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.free_names import dotted
from cuda_graphs.compiler.language.structs import is_unnamed

from .construction import make_vector
from .indices import index_of
from .numbers import exact_number, in_type, is_source_number, source_type
from .operators import special_method


def read_all(frame: Frame, value: Any) -> Any:
    """Read the places in a value. Numbers of the source stay, so that the types of their names are weak."""
    if is_source_number(value) or (isinstance(value, Vector) and value.numbers):
        return value
    if isinstance(value, tuple):
        return tuple(read_all(frame, part) for part in value)
    return frame.read(value)


def bind(frame: Frame, target: ast.expr, value: Any) -> None:
    """Assign a value to a target, or declare the target."""
    frame.at(target)
    if isinstance(target, ast.Name):
        bind_name(frame, target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        value = read_all(frame, value)
        parts = value.components if isinstance(value, Vector) else value
        if isinstance(parts, (tuple, list)) and any(isinstance(each, ast.Starred) for each in target.elts):
            bind_starred(frame, target.elts, tuple(parts))
            return
        if not isinstance(parts, (tuple, list)) or len(parts) != len(target.elts):
            is_several = isinstance(parts, (tuple, list))
            what = f"{len(parts)} values" if is_several else f"{describe(value)}, which is one value"
            raise compile_error(
                CompileSyntaxError,
                frame.builder.loc,
                f"{len(target.elts)} names for {what}",
                "write as many names as there are values",
            )
        for each, part in zip(target.elts, parts, strict=True):
            bind(frame, each, part)
    elif isinstance(target, (ast.Subscript, ast.Attribute)):
        if not by_method(frame, target, value):
            assign_lvalue(frame, lvalue(frame, target), value)
    else:
        raise frame.refuse(target)


def by_method(frame: Frame, target: ast.expr, value: Any) -> bool:
    """Assign by a method of a structure, if there is one; return whether there is.

    `s[i] = value` calls `s.__setitem__(i, value)`, and `x[a:b] = s` calls `s.store_to(x[a:b])`.
    """
    if not isinstance(target, ast.Subscript) or dotted(target.value) is None:
        return False
    owner = frame.visit(target.value)
    method = special_method(owner, "__setitem__")
    if method is not None:
        index = index_of(frame, target.slice, owner)
        frame.syntax.call(frame, method, [index[0] if len(index) == 1 else index, value])
        return True
    method = special_method(value, "store_to") if isinstance(owner, ir.Array) else None
    if method is None:
        return False
    frame.syntax.call(frame, method, [frame.visit(target)])
    return True


def bind_starred(frame: Frame, targets: list[ast.expr], parts: tuple[Any, ...]) -> None:
    """Assign parts to targets of which one takes all that the others leave: `first, *rest = v`."""
    at = next(i for i, each in enumerate(targets) if isinstance(each, ast.Starred))
    rest = len(parts) - len(targets) + 1
    if rest < 0:
        raise compile_error(
            CompileSyntaxError,
            frame.builder.loc,
            f"at least {len(targets) - 1} values are needed, and there are {len(parts)}",
            "write fewer names",
        )
    starred = targets[at]
    assert isinstance(starred, ast.Starred)
    names = [*targets[:at], starred.value, *targets[at + 1 :]]
    values = [*parts[:at], parts[at : at + rest], *parts[at + rest :]]
    for each, part in zip(names, values, strict=True):
        bind(frame, each, part)


def bind_name(frame: Frame, name: str, value: Any) -> None:
    scope = frame.scope.find(name)
    if scope is None:
        frame.scope.names[name] = declare(frame, name, value)
        return
    old = scope.names[name]
    index = is_index(old)
    if name in frame.parameters or index or isinstance(old, ir.Param):
        what = "a loop variable" if index else "a parameter of the kernel"
        raise compile_error(
            CompileImmutableError, frame.builder.loc, f"{name!r} is {what}, which is immutable",
            f"assign to a new name: {name}_ = ...",
        )  # fmt: skip
    if isinstance(old, VARIABLES) or (isinstance(old, tuple) and is_variable(old)):
        assign_lvalue(frame, old, value)
    elif isinstance(value, Static) and type(value.value) is type(old) and value.value == old:
        pass  # the same constant again
    else:
        raise compile_error(
            CompileImmutableError,
            frame.builder.loc,
            f"{name!r} is known when compiling and cannot be assigned again",
            "take a new name",
        )


def is_index(found: Any) -> bool:
    """Return whether a name is a loop variable, is computed from one (loops.py, `strided`), or is a vector of them."""
    indices = (ir.LoopIndex, ir.Op)  # no other name is an operation
    return isinstance(found, indices) or (
        isinstance(found, Vector) and isinstance(found.components[0], indices)
    )


def is_variable(found: tuple[Any, ...]) -> bool:
    """Return whether a tuple consists of variables, as `declare` makes it."""
    return all(
        is_variable(p) if isinstance(p, tuple) else isinstance(p, (ir.Local, Vector, Struct)) for p in found
    )


def declare(frame: Frame, name: str, value: Any) -> Any:
    """Return a new variable with the type of the value. Another object is returned as it is: it gets a second name."""
    if isinstance(value, Static):
        return value.value  # a second name for a compile-time value
    if is_source_number(value):
        local = frame.weak_types.declare(frame.builder.loc, name, source_type(frame, value))
        return set_number(frame, name, local, value)
    if isinstance(value, Vector) and value.numbers:
        return declare_vector(frame, name, value)
    value = frame.read(value)
    if isinstance(value, Vector):
        return value.map(lambda part: declare(frame, name, part))
    if isinstance(value, Struct):
        members = value.members.items()
        return Struct(
            value.cls,
            {m: declare(frame, f"{name}.{m}", v) if isinstance(v, PLACES) else v for m, v in members},
        )
    if isinstance(value, tuple) and any(isinstance(part, (ir.Value, Vector, Struct)) for part in value):
        return tuple(declare(frame, name, part) for part in value)
    if not isinstance(value, ir.Value):
        return value
    return declare_number(frame, name, value)


def declare_number(frame: Frame, name: str, value: ir.Value) -> ir.Local:
    """Return a new variable for a number. Its type is weak if the number is made of those of the source."""
    local: ir.Local | None = None
    if not isinstance(value, ir.Const):
        local = frame.weak_types.declare_made(frame.builder.loc, name, value.type, value)
    local = local or ir.Local(name, value.type)
    return set_first(frame, local, frame.builder.cast(value, local.type))


def declare_vector(frame: Frame, name: str, value: Vector) -> Vector:
    """Return the variables for a vector of numbers of the source, whose type is weak."""
    type = value.leaves()[0].type
    variables = frame.weak_types.declare_all(frame.builder.loc, name, type, len(value.numbers))
    left = iter(
        [
            set_number(frame, name, local, number)
            for local, number in zip(variables, value.numbers, strict=True)
        ]
    )
    return value.map(lambda _: next(left))


def set_number(frame: Frame, name: str, local: ir.Local, value: Any) -> ir.Local:
    """Emit the first assignment of a number of the source to a variable, and return the variable."""
    exact = exact_number(value)
    if isinstance(exact, float):
        frame.weak_types.first[local] = exact
    return set_first(frame, local, in_type(frame, repr(name), value, local.type))


def set_first(frame: Frame, local: ir.Local, value: ir.Value) -> ir.Local:
    """Emit the first assignment to a variable, and return the variable."""
    frame.builder.put(ir.Set(local, value, frame.builder.loc))
    return local


def lvalue(frame: Frame, node: ast.expr) -> Any:
    """Return the place of an assignment target: a Local, an Element, or a Vector of them."""
    frame.at(node)
    if isinstance(node, ast.Name):
        found = named_place(frame, node.id)
    else:
        refuse_dict(frame, node)
        found = frame.visit(node)
    if isinstance(found, VectorElement):
        return found.elements
    refuse_immutable(frame, node, found)
    refuse_value(frame, node, found)
    if isinstance(found, Vector) and len(set(map(id, found.components))) < len(found.components):
        raise compile_error(
            CompileSyntaxError,
            frame.builder.loc,
            f"{ast.unparse(node)!r} names a component twice, which takes one value",
            "name each component once",
        )
    return found


def named_place(frame: Frame, name: str) -> Any:
    """Return what a name stands for that is assigned to, or raise for names without a place."""
    scope = frame.scope.find(name)
    if scope is None:
        raise compile_error(
            CompileNameError, frame.builder.loc, f"name {name!r} is not defined here", "assign it first"
        )
    found = scope.names[name]
    if name in frame.parameters and not isinstance(found, ir.Local):
        raise compile_error(
            CompileImmutableError, frame.builder.loc, f"{name!r} is a parameter of the kernel, which is immutable",
            f"write a loop over its elements: for i in {name}: {name}[i] = ..."
            if isinstance(found, ir.Array)
            else f"assign to a new name: {name}_ = ...",
        )  # fmt: skip
    return found


def refuse_immutable(frame: Frame, node: ast.expr, found: Any) -> None:
    """Raise for loop variables, parameters, and members of structures that are no places."""
    leaf = found.leaves()[0] if isinstance(found, Vector) else found
    leaf = leaf.leaf() if isinstance(leaf, Component) else leaf
    if isinstance(leaf, (ir.LoopIndex, ir.Param)) or (isinstance(node, ast.Name) and isinstance(leaf, ir.Op)):
        name = leaf.path if isinstance(leaf, ir.Param) else ast.unparse(node).partition("[")[0]
        what = "a parameter of the kernel" if isinstance(leaf, ir.Param) else "a loop variable"
        raise compile_error(
            CompileImmutableError,
            frame.builder.loc,
            f"{name!r} is {what}, which is immutable",
            "assign to a new name",
        )
    path = dotted(node)
    if path is not None and "." in path and not isinstance(found, PLACES):
        raise compile_error(
            CompileImmutableError,
            frame.builder.loc,
            f"{path!r} is a member of {path.rpartition('.')[0]!r}, which is immutable",
            "write to an element of an array in it, or return the value and assign it outside of the kernel",
        )


def refuse_value(frame: Frame, node: ast.expr, found: Any) -> None:
    """Raise for parts of arrays, and for values."""
    if isinstance(found, ArrayPart):
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, f"cannot assign a number or vector to {describe(found)}",
            "write a loop over the indices",
        )  # fmt: skip
    if not isinstance(found, PLACES):
        is_item = isinstance(node, ast.Subscript) and isinstance(found, (int, float))
        raise compile_error(
            CompileSyntaxError,
            frame.builder.loc,
            f"cannot assign to {describe(found)}",
            "the items of a list of numbers are constants: t = cg.vector(*t) makes variables of them"
            if is_item
            else "assign to a variable, an element x[i] or a component v.x",
        )


def assign_component(frame: Frame, target: Component, value: ir.Value) -> None:
    """Emit an assignment to the component that a run-time index chooses.

    All others get their old value, but those of a vector of all threads, which other threads may change, get none.
    """
    builder = frame.builder
    require_place(frame, target)
    note_assigned(frame, target.leaf(), value.type, value)
    value = fit(frame, value, target.leaf())
    if is_shared(frame, target.leaf()):
        at_chosen_part(frame, target, lambda part: assign_lvalue(frame, part, value))
        return
    for i, part in enumerate(target.parts):
        is_it = builder.op("equal", target.index, ir.Const(i, target.index.type))
        assign_lvalue(frame, part, builder.op("select", is_it, value, frame.read(part)))


def refuse_dict(frame: Frame, node: ast.expr) -> None:
    """Raise for an assignment to an item of a dict that the kernel made."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        name = node.value.id
        scope = frame.scope.find(name)
        if scope is not None and isinstance(scope.names[name], dict):
            raise compile_error(
                CompileImmutableError, frame.builder.loc, f"the dict {name!r} keeps its items",
                f"make another one: {name}_ = {{**{name}, key: value}}",
            )  # fmt: skip


def require_place(frame: Frame, target: Component) -> None:
    """Raise for a component of a vector that is a value, and no variable."""
    if not isinstance(target.leaf(), (ir.Local, Element)):
        raise compile_error(
            CompileSyntaxError, frame.builder.loc, "a component of a value is no place that can be assigned to",
            "assign the vector to a name first: v = cg.vector(*t), and v[i] = ...",
        )  # fmt: skip


def at_chosen_part(frame: Frame, target: Component, change: Callable[[Any], object]) -> None:
    """Emit a change of each part of which the index may choose one, each on the condition that it does."""
    builder = frame.builder
    for i, part in enumerate(target.parts):
        is_it = builder.op("equal", target.index, ir.Const(i, target.index.type))
        statement = ir.If(is_it, ir.Block(), ir.Block(), builder.loc)
        with frame.block(statement.then):
            change(part)
        builder.put(statement)


def assign_struct(frame: Frame, target: Struct, value: Any) -> None:
    """Emit an assignment to each member of a structure that is a variable or an element."""
    if not isinstance(value, Struct) or not are_alike(value, target):
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"{describe(target)} becomes {describe(value)}",
            f"give it the members {', '.join(target.members)}"
            if is_unnamed(target.cls)
            else f"assign a {target.cls.__name__}(...)",
        )  # fmt: skip
    for name, member in target.members.items():
        if isinstance(member, PLACES):
            assign_lvalue(frame, member, value.members[name])
        elif member is not value.members[name]:
            raise compile_error(
                CompileImmutableError, frame.builder.loc,
                f"member {name!r} of {target.cls.__name__} is known when compiling and cannot be assigned again",
                "assign the other members one by one, or take a new name",
            )  # fmt: skip


def are_alike(a: Struct, b: Struct) -> bool:
    """Return whether a structure can be assigned to another one. Without a class it needs the same members only."""
    has_no_class = is_unnamed(a.cls) or is_unnamed(b.cls)
    return a.cls is b.cls or (has_no_class and a.members.keys() == b.members.keys())


def note_assigned(
    frame: Frame, target: ir.Local | Element, type: ScalarType, value: ir.Value | None = None
) -> None:
    """Let the type of a weak variable grow to hold a value of a type. None stands for a number of the source."""
    if isinstance(target, ir.Local):
        frame.weak_types.assign(target, type, value)


def place_of(target: ir.Local | Element) -> tuple[str, ScalarType]:
    """Return the name of a place for messages, and its type."""
    if isinstance(target, Element):
        return f"an element of {target.array.path!r}", target.array.element
    return repr(target.name), target.type


def fit(frame: Frame, value: ir.Value, target: ir.Local | Element, as_operand: bool = False) -> ir.Value:
    """Return a value in the type of a variable or element. `as_operand`: it is the operand of `target += value`."""
    place, type = place_of(target)
    return convert_implicitly(frame, value, type, place, as_operand or isinstance(target, Element))


def given(frame: Frame, value: Any, target: ir.Local | Element) -> ir.Value:
    """Return what is assigned to a variable or element, in its type. The type of a weak variable grows to hold it."""
    if is_source_number(value):
        note_assigned(frame, target, source_type(frame, value))
        return in_type(frame, place_of(target)[0], value, place_of(target)[1])
    found = frame.scalar(value)
    note_assigned(frame, target, found.type, found)
    return fit(frame, found, target)


def assign_lvalue(frame: Frame, target: Any, value: Any) -> None:
    """Emit an assignment of a value, cast to the type of the place."""
    builder = frame.builder
    if isinstance(target, VectorElement):
        target = target.elements
    if isinstance(target, tuple):
        parts = frame.read(value)
        if not isinstance(parts, tuple) or len(parts) != len(target):
            raise compile_error(
                CompileTypeError,
                builder.loc,
                f"a tuple of {len(target)} becomes {describe(parts)}",
                "assign a tuple with as many parts",
            )
        for each, part in zip(target, parts, strict=True):
            assign_lvalue(frame, each, part)
    elif isinstance(target, Vector):
        found = frame.read(value)
        if isinstance(found, tuple):
            found = make_vector(frame, None, found)
        if isinstance(found, Vector) and found.shape != target.shape:
            raise compile_error(
                CompileTypeError,
                builder.loc,
                f"a value of shape {found.shape} for one of shape {target.shape}",
                "give a value of the same shape",
            )
        target.map(lambda part, each: assign_lvalue(frame, part, each), found)
    elif isinstance(target, Struct):
        assign_struct(frame, target, frame.read(value))
    elif isinstance(target, ir.Local):
        builder.put(ir.Set(target, given(frame, value, target), builder.loc))
    elif isinstance(target, Component):
        assign_component(frame, target, frame.scalar(value))
    elif isinstance(target, Element):
        builder.put(ir.Store(target.array, target.index, given(frame, value, target), builder.loc))
    else:
        raise compile_error(
            CompileSyntaxError,
            builder.loc,
            f"cannot assign to {describe(target)}",
            "assign to a variable, an element x[i] or a component v.x",
        )
