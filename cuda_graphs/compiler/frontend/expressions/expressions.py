# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Literals, containers, indexing, comprehensions and `:=`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, islice
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileStaticError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.scope import Scope
from cuda_graphs.compiler.frontend.frame.values import (
    PLACES,
    ArrayPart,
    IndexRange,
    Packed,
    Static,
    Struct,
    StructArray,
    Vector,
    VectorElement,
    describe,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.annotations import VectorType

from .array_parts import array_part, has_bounds, part_element
from .assignment import bind, read_all
from .indices import index_of
from .lvalues import component, element, item, python_value
from .names import meaning_of, member
from .operators import special_method
from .static_loops import MAX_UNROLLED, bind_static, check_count
from .struct_elements import struct_element


def constant(frame: Frame, node: ast.Constant) -> Any:
    return node.value


def subscript(frame: Frame, node: ast.Subscript) -> Any:
    owner = frame.visit(node.value)
    owner = owner.value if isinstance(owner, Static) else owner
    if isinstance(owner, VectorElement):
        owner = owner.elements
    index = index_of(frame, node.slice, owner)
    if isinstance(owner, Struct) and len(index) == 1 and isinstance(index[0], str):
        return member(frame, owner, index[0])
    method = special_method(owner, "__getitem__")
    if method is not None:
        return frame.syntax.call(frame, method, [index[0] if len(index) == 1 else index])
    if isinstance(owner, ir.Array):
        return array_part(frame, owner, index) if has_bounds(index) else element(frame, owner, index)
    if isinstance(owner, ArrayPart):
        return part_element(frame, owner, index)
    if isinstance(owner, (StructArray, Packed)):
        return struct_element(frame, owner, index)
    if isinstance(owner, Vector):
        return component(frame, owner, index)
    if isinstance(owner, VectorType) and len(index) == 1:
        return vector_type_of(frame, owner, index[0])
    if isinstance(owner, (tuple, list, dict, str)) and len(index) == 1:
        return item(frame, owner, python_value(frame, index[0]))
    meaning_of(frame, owner, ast.unparse(node.value))  # raises for an array
    raise compile_error(
        CompileTypeError,
        frame.builder.loc,
        f"{describe(owner)} cannot be indexed",
        "arrays, fields, vectors and compile-time containers can",
    )


def vector_type_of(frame: Frame, type: VectorType, component: Any) -> VectorType:
    """Return `cg.vec3[cg.f64]`: the type of the same shape with other components."""
    try:
        return type[python_value(frame, component)]
    except TypeError as error:
        raise compile_error(CompileTypeError, frame.builder.loc, str(error), "cg.vec3[cg.f64]") from None


def dictionary(frame: Frame, node: ast.Dict) -> Any:
    found = {}
    for key, value in zip(node.keys, node.values, strict=True):
        part = frame.snapshot(frame.visit(value))
        if key is not None:
            found[hashable_key(frame, frame.visit(key))] = part
        elif isinstance(part, dict):
            found |= part
        else:
            raise compile_error(
                CompileTypeError,
                frame.builder.loc,
                f"** takes a dict, not {describe(part)}",
                "write its items",
            )
    return found


def hashable_key(frame: Frame, key: Any) -> Any:
    """Return a key of a dictionary, or raise if it cannot be hashed."""
    key = python_value(frame, key)
    try:
        hash(key)
    except TypeError as error:
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"a key of a dict: {error}", "use a number or a string"
        ) from None
    return key


def comprehension(frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> Any:
    """Return the tuple of a comprehension over lists that are known when compiling."""
    found: list[Any] = []
    comprehend(frame, node.generators, lambda: found.append(frame.visit(node.elt)))
    return tuple(found)


def dict_comprehension(frame: Frame, node: ast.DictComp) -> Any:
    """Return the dict of a comprehension over lists that are known when compiling."""
    found: dict[Any, Any] = {}

    def add() -> None:
        found[hashable_key(frame, frame.visit(node.key))] = frame.snapshot(frame.visit(node.value))

    comprehend(frame, node.generators, add)
    return found


def comprehend(frame: Frame, loops: list[ast.comprehension], add: Callable[[], None]) -> None:
    """Call `add` for all values of the loops of a comprehension."""
    if not loops:
        add()
        return
    loop, outer = loops[0], frame.scope
    items = items_of(frame, frame.visit(loop.iter))
    check_count(frame, items)
    for each in items:
        frame.scope = Scope(outer)
        bind_static(frame, loop.target, each)
        if all(static_truth(frame, test) for test in loop.ifs):
            comprehend(frame, loops[1:], add)
    frame.scope = outer


def items_of(frame: Frame, found: Any) -> Any:
    """Return the items over which a comprehension runs."""
    found = found.value if isinstance(found, Static) else found
    found = found.elements if isinstance(found, VectorElement) else found
    if isinstance(found, Vector):
        return found.components
    if isinstance(found, IndexRange) and len(found.axes) == 1 and found.stride is None:
        begin, end, step = found.axes[0]
        if isinstance(begin, ir.Const) and isinstance(end, ir.Const):
            return range(int(begin.value), int(end.value), step)
    if isinstance(found, (tuple, list, range)):
        return found
    if isinstance(found, Iterable) and not isinstance(found, (str, *PLACES)):
        return list(islice(found, MAX_UNROLLED + 1))
    raise compile_error(
        CompileTypeError, frame.builder.loc, f"the items of {describe(found)} are needed when compiling",
        "write a loop, which runs on the device: for i in range(n), and x[i] in it",
    )  # fmt: skip


def static_truth(frame: Frame, node: ast.expr) -> bool:
    """Return the value of a condition that must be known at compile time."""
    found = python_value(frame, frame.visit(node))
    found = found.value if isinstance(found, Static) else found
    if isinstance(found, (ir.Value, ir.Local)):
        raise compile_error(
            CompileStaticError,
            frame.builder.loc,
            "this condition is known at run time only",
            "cg.static(...)",
        )
    return bool(found)


def sequence(frame: Frame, node: ast.Tuple | ast.List) -> Any:
    """Return the parts of a tuple or list, with those of `*parts` in it."""
    return tuple(chain.from_iterable(frame.in_order(node.elts, partial(parts_of, frame, frame.visit))))


def parts_of(frame: Frame, visit: Callable[[ast.expr], Any], node: ast.expr) -> tuple[Any, ...]:
    """Return what an expression in a list or a call stands for: the parts of `*value`, or its value."""
    return parts_of_starred(frame, node) if isinstance(node, ast.Starred) else (visit(node),)


def parts_of_starred(frame: Frame, node: ast.Starred) -> tuple[Any, ...]:
    """Return the parts of `*value`: of a tuple, list, range or vector."""
    found = frame.visit(node.value)
    found = found.value if isinstance(found, Static) else found
    found = found.elements if isinstance(found, VectorElement) else found
    parts = found.components if isinstance(found, Vector) else found
    if not isinstance(parts, (tuple, list, range)):
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"* takes the parts of a tuple or vector, not of {describe(found)}",
            "write each of them",
        )  # fmt: skip
    return tuple(parts)


def assign_expression(frame: Frame, node: ast.NamedExpr) -> Any:
    value = read_all(frame, frame.visit_number(node.value))
    bind(frame, node.target, value)
    return value
