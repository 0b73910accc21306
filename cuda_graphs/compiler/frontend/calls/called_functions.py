# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of functions that are not inlined: `@cg.func(inline=False)`.

A function is translated once for each signature: the types of the run-time numbers among its arguments, and the other
arguments themselves, which are arrays and compile-time values. Arguments and results are passed as numbers: vectors and
structures are taken apart before a call, and put together behind it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import fields
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileError,
    CompileRecursionError,
    CompileReturnError,
    CompileSyntaxError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.assignment import assign_lvalue, declare
from cuda_graphs.compiler.frontend.expressions.merging import joined_result, zero
from cuda_graphs.compiler.frontend.frame.called import MAX_DEPTH, CalledFunction
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import (
    Bound,
    BoundFunction,
    IndexRange,
    LocalFunction,
    Struct,
    StructArray,
    Vector,
    describe,
)
from cuda_graphs.compiler.frontend.source import Source, body_of
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.signature import resolve
from cuda_graphs.compiler.language.structs import is_struct, member_type

from .binding import result_of

__all__ = ["call_function", "is_called"]

INLINE = "leave out inline=False: the function is then inlined"
# Statements that a called function does not contain -> what the source calls them, and the remedy.
NOT_CALLED: dict[type, tuple[str, str]] = {
    ir.Barrier: ("a barrier", INLINE),
    ir.Collective: ("an operation of the threads of a block or warp", INLINE),
    ir.Position: ("the position of a thread", f"pass it to the function as an argument, or {INLINE}"),
    ir.SetCondition: ("cg.set_condition", INLINE),
}
# Values that refer to values or names of their function.
OF_ONE_FUNCTION = (LocalFunction, BoundFunction, Bound, IndexRange)


def is_called(frame: Frame, function: Callable[..., Any]) -> bool:
    """Return whether a function is called. Gradients inline all functions; then a recursive function is an error."""
    if not hasattr(function, "__cuda_graphs_call__"):
        return False
    if frame.called.is_on:
        return True
    around: Frame | None = frame
    while around is not None and around.source.function is not function:
        around = around.caller
    if around is not None:
        raise compile_error(
            CompileRecursionError, frame.builder.loc, f"{function.__name__} calls itself, which has no gradient",
            "write the recursion as a loop, or call the function in a kernel of its own, which has no gradient",
        )  # fmt: skip
    return False


def call_function(
    frame: Frame,
    function: Callable[..., Any],
    signature: inspect.Signature,
    names: dict[str, Any],
    owner: Any,
) -> Any:
    """Emit a call. Return its result.

    Args:
        names: The arguments by the names of the parameters.
        owner: The structure whose method this is, which gets the members that the method changes; None: no method.
    """
    builder, leaves = frame.builder, list[ir.Value]()
    kinds = tuple((name, taken_apart(frame, value, leaves)) for name, value in names.items())
    key = function, frame.parallel, kinds
    found = frame.called.known.get(key)
    if found is None:
        found = Translation(frame, function, signature, names, owner is not None).run(key)
    elif found in frame.called.open:
        note_recursion(frame, found, function, signature)
    loc, types = builder.loc, found.function.results
    results = [builder.put(ir.Call(found.function, tuple(leaves), loc))]
    results += [builder.put(ir.Result(results[0], n, types[n], loc)) for n in range(1, len(types))]
    result, changed = put_together((found.result, found.changed), iter(results))
    if changed is not None:
        assign_lvalue(frame, owner, changed)
    return result


# Values and their numbers


def taken_apart(frame: Frame, found: Any, leaves: list[ir.Value]) -> Hashable:
    """Append the numbers of a value to `leaves`. Return the rest: its structure and its compile-time parts."""
    match found:
        case ir.Value():
            leaves.append(found)
            return found.type
        case Vector():
            return "vector", tuple(taken_apart(frame, each, leaves) for each in found.components)
        case Struct() | StructArray() | dict():
            members = found.items() if isinstance(found, dict) else found.members.items()
            parts = tuple((name, taken_apart(frame, each, leaves)) for name, each in members)
            return type(found), getattr(found, "cls", None), parts
        case tuple() | list():
            return type(found), tuple(taken_apart(frame, each, leaves) for each in found)
    if isinstance(found, OF_ONE_FUNCTION):
        raise compile_error(
            CompileTypeError, frame.builder.loc,
            f"{describe(found)} refers to names of one function, and is passed to or from a function that is called",
            INLINE,
        )  # fmt: skip
    try:
        hash(found)
    except TypeError:
        frame.called.kept.append(found)
        return "object", id(found)
    return type(found), found


def put_together(found: Any, leaves: Iterator[ir.Value]) -> Any:
    """Return a value with other numbers in place of its own, in order."""
    match found:
        case ir.Value():
            return next(leaves)
        case Vector():
            return Vector(tuple(put_together(each, leaves) for each in found.components))
        case Struct():
            members = found.members.items()
            return Struct(found.cls, {name: put_together(each, leaves) for name, each in members})
        case dict():
            return {name: put_together(each, leaves) for name, each in found.items()}
        case tuple() | list():
            return type(found)(put_together(each, leaves) for each in found)
    return found


def listed(values: Iterable[ir.Value]) -> str:
    """Return the types of numbers as text: "f32, i32"."""
    return ", ".join(each.type.name for each in values)


def as_values(frame: Frame, found: Any) -> Any:
    """Return a value with values in place of variables and numbers of the source, at any depth."""
    if isinstance(found, tuple):
        return tuple(as_values(frame, each) for each in found)
    return frame.read(found)


# The body


class Translation:
    """The translation of a function for one signature."""

    def __init__(
        self,
        frame: Frame,
        function: Callable[..., Any],
        signature: inspect.Signature,
        names: dict[str, Any],
        is_method: bool,
    ) -> None:
        self.frame, self.function, self.signature = frame, function, signature
        self.names, self.is_method = names, is_method
        self.source = frame.root.sources.setdefault(function, Source(function))
        self.params: list[ir.Param] = []

    def run(self, key: Hashable) -> CalledFunction:
        """Return the translated function, and record it."""
        frame, builder, name = self.frame, self.frame.builder, self.function.__name__
        if frame.depth + 1 >= MAX_DEPTH:
            raise compile_error(
                CompileRecursionError, builder.loc,
                f"{name} is called with new types or compile-time arguments, {MAX_DEPTH} levels deep",
                "declare the types of its parameters, and pass numbers that change without cg.template",
            )  # fmt: skip
        loc, called = builder.loc, frame.called
        made = ir.Function(
            f"{name}.{len(called.known)}", (), ir.Block(), (), loc=self.source.loc(self.source.tree, None)
        )
        found = CalledFunction(made, self.function.__cuda_graphs_call__.max_depth)  # type: ignore[attr-defined]
        called.known[key] = found
        called.open.append(found)
        with builder.into(made.body):
            result, changed = self.body()
            values: list[ir.Value] = []
            kind = taken_apart(frame, result, values)
            taken_apart(frame, changed, values)
            made.signature = f"({listed(self.params)}) -> {listed(values) or None}"
            values = values or [ir.TRUE]  # a call always has a value
            builder.put(ir.Return(tuple(values), made.loc))
        called.open.pop()
        builder.loc = loc
        if found.is_recursive:
            self.check_declared(found, kind, changed)
        found.result, found.changed = result, changed
        made.params, made.results = tuple(self.params), tuple(each.type for each in values)
        self.check(made)
        frame.root.free_values[self.function] = self.source.free_values
        return found

    def body(self) -> tuple[Any, Any]:
        """Translate the body. Return its result, and what has become of the structure that a method changes."""
        callee = Frame(self.frame.builder, self.source, self.frame.syntax, self.frame)
        for name, value in self.names.items():
            given = self.as_parameters(callee, name, value)
            is_value = isinstance(given, (ir.Value, Vector, Struct))
            callee.scope.names[name] = declare(callee, name, given) if is_value else given
        block = callee.builder.block
        own, start = next(iter(callee.scope.names.values()), None), len(block.body)
        callee.run(body_of(self.source.tree))
        result = joined_result(
            callee, lambda value: result_of(self.frame, self.function, self.signature, value)
        )
        is_changed = self.is_method and changes(ir.Block(block.body[start:]), own)
        return as_values(callee, result), as_values(callee, own) if is_changed else None

    def as_parameters(self, frame: Frame, name: str, value: Any) -> Any:
        """Return an argument with parameters in place of its numbers."""
        leaves: list[ir.Value] = []
        taken_apart(frame, value, leaves)
        made = [
            ir.Param(f"{name}.{n}" if len(leaves) > 1 else name, each.type) for n, each in enumerate(leaves)
        ]
        self.params += made
        return put_together(value, iter(made))

    def check_declared(self, found: CalledFunction, kind: Hashable, changed: Any) -> None:
        """Raise if a recursive function returns another type than its calls of itself assume."""
        name = self.function.__name__
        if kind != taken_apart(self.frame, found.result, []):
            raise compile_error(
                CompileReturnError, found.function.loc,
                f"{name} calls itself, and returns another type than its annotation says",
                "declare the type of the returned value",
            )  # fmt: skip
        if changed is not None:
            raise compile_error(
                CompileRecursionError, found.function.loc,
                f"{name} calls itself and changes the structure whose method it is",
                "return the changed structure, and assign it where the method is called",
            )  # fmt: skip

    def check(self, made: ir.Function) -> None:
        """Raise for statements that only inlined functions contain. Asserts lose the position of the first call."""
        for statement in ir.walk(made.body):
            if type(statement) in NOT_CALLED:
                what, remedy = NOT_CALLED[type(statement)]
                raise compile_error(
                    CompileSyntaxError, statement.loc, f"{self.function.__name__} contains {what}, and is called",
                    remedy,
                )  # fmt: skip
            if isinstance(statement, ir.Assert) and statement.loc is not None:
                statement.loc = ir.replace(statement.loc, caller=None)


def changes(block: ir.Block, own: Any) -> bool:
    """Return whether a block sets a variable of a structure."""
    variables = set(variables_of(own))
    return any(isinstance(each, ir.Set) and each.local in variables for each in ir.walk(block))


def variables_of(found: Any) -> Iterator[ir.Local]:
    """Yield the variables of a value."""
    if isinstance(found, ir.Local):
        yield found
    for each in members_of(found):
        yield from variables_of(each)


def members_of(found: Any) -> Iterable[Any]:
    """Return the parts of a vector or structure; nothing for other values."""
    if isinstance(found, Struct):
        return found.members.values()
    return found.components if isinstance(found, Vector) else ()


# Recursion


def note_recursion(
    frame: Frame, found: CalledFunction, function: Callable[..., Any], signature: inspect.Signature
) -> None:
    """Note that a function calls itself. All functions of the circle need a limit, and declared results."""
    opened = frame.called.open
    for each in opened[opened.index(found) :]:
        if each.max_depth is None:
            raise compile_error(
                CompileRecursionError, frame.builder.loc, f"{each.function.source_name} calls itself, and has no limit",
                "give the most calls of it inside one another: @cg.func(inline=False, max_depth=64)",
            )  # fmt: skip
        each.function.max_depth = each.max_depth
    if found.is_recursive:
        return
    found.is_recursive, leaves = True, list[ir.Value]()
    found.result = declared_result(frame, function, signature)
    taken_apart(frame, found.result, leaves)
    found.function.results = tuple(each.type for each in leaves or (ir.TRUE,))


def declared_result(frame: Frame, function: Callable[..., Any], signature: inspect.Signature) -> Any:
    """Return what a function returns by its annotation, with zeros as numbers."""
    kind = signature.return_annotation
    if kind is inspect.Signature.empty:
        raise undeclared(frame, function)
    kind = resolve(kind, function, frame.rules)
    parts = kind if isinstance(kind, tuple) else getattr(kind, "__args__", None)
    if parts is None:
        return zero_of(frame, function, kind)
    return tuple(zero_of(frame, function, resolve(each, function, frame.rules)) for each in parts)


def zero_of(frame: Frame, function: Callable[..., Any], kind: Any) -> Any:
    if kind is None:
        return None
    if isinstance(kind, ScalarType):
        return zero(kind)
    if isinstance(kind, VectorType):
        count, *rest = kind.shape
        inner = VectorType(kind.dtype, tuple(rest)) if rest else kind.dtype
        return Vector(tuple(zero_of(frame, function, inner) for _ in range(count)))
    if is_struct(kind):
        return Struct(
            kind, {each.name: zero_of(frame, function, member_type(kind, each)) for each in fields(kind)}
        )
    raise undeclared(frame, function)


def undeclared(frame: Frame, function: Callable[..., Any]) -> CompileError:
    return compile_error(
        CompileReturnError, frame.builder.loc,
        f"{function.__name__} calls itself, and its annotation does not say which numbers it returns",
        "declare the returned type: -> cg.f32, -> cg.vec3, -> tuple[cg.f32, cg.i32], or -> None",
    )  # fmt: skip
