# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The entry of the frontend: translates a function and the Specs of its parameters to a Kernel."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileError,
    CompileRecursionError,
    CompileReturnError,
    collected_warnings,
    compile_error,
    issue,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import field_or_value
from cuda_graphs.compiler.frontend.frame.called import endless_recursion
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.graph_state import Checkpoints, GraphState
from cuda_graphs.compiler.frontend.frame.values import HostObject, Packed, Struct, StructArray, Vector
from cuda_graphs.compiler.frontend.frame.weak_types import WeakTypes
from cuda_graphs.compiler.frontend.statements.checkpoint_state import init_checkpoint_state
from cuda_graphs.compiler.frontend.statements.statements import return_from_kernel
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import ScalarType, i32
from cuda_graphs.compiler.language.annotations import (
    ArraySpec,
    ConditionSpec,
    FieldSpec,
    HostObjectSpec,
    OutsideName,
    PackedSpec,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructArraySpec,
    StructSpec,
    VectorSpec,
)
from cuda_graphs.compiler.language.host_objects import number_names
from cuda_graphs.compiler.language.number_rules import USUAL, NumberRules

from .free_values import FreeValues
from .python_functions import with_functions_that_ran
from .returns import NO_RETURN, returned_types
from .source import Source
from .syntax import SYNTAX


def translate(
    function: Callable[..., Any],
    signature: dict[str, Spec],
    graph: str | None = None,
    checkpoints: bool = False,
    rules: NumberRules = USUAL,
    finds_overflow: bool = False,
    calls: bool = True,
) -> tuple[ir.Kernel, FreeValues]:
    """Return the kernel, and the free values that it depends on: {function: {name: value}}.

    The free values are those of the kernel, of all inlined functions, and of all Python functions that may have
    run.

    Args:
        signature: The Spec of each parameter.
        graph: The lowering of a graph kernel (lowerings.LOWERINGS).
        checkpoints: True if the kernel has checkpoints.
        rules: The rules for numbers of the source.
        finds_overflow: True if integer operations and conversions are checked when the kernel runs.
        calls: False to inline also the functions that are usually called.
    """
    weak_types = WeakTypes()
    while True:
        weak_types.restart()
        widened: list[tuple[ir.Value, ScalarType]] = []
        with collected_warnings() as warnings:
            result: tuple[ir.Kernel, FreeValues] | CompileError
            try:
                result = translate_once(
                    function, signature, graph, checkpoints, rules, finds_overflow, calls, weak_types, widened
                )
            except CompileError as error:  # perhaps of a type that is too narrow
                result = error
        if not weak_types.widen(widened):
            break
    for each in warnings:
        issue(each)
    if isinstance(result, CompileError):
        raise result
    return result


def translate_once(
    function: Callable[..., Any],
    signature: dict[str, Spec],
    graph: str | None,
    checkpoints: bool,
    rules: NumberRules,
    finds_overflow: bool,
    calls: bool,
    weak_types: WeakTypes,
    widened: list[tuple[ir.Value, ScalarType]],
) -> tuple[ir.Kernel, FreeValues]:
    """Return the result of `translate`, with the known types of weak names. Fill `widened` as `Builder` does."""
    builder = Builder(rules.float, rules.int, finds_overflow)
    builder.widened, builder.prints_overflow = widened, rules.lenient
    params: list[ir.Param] = []
    source = Source(function)
    if source.is_lambda:  # functions that kernels call may be lambdas
        raise source.not_by_def()
    frame = Frame(builder, source, SYNTAX, parallel_level=True)
    frame.rules, frame.weak_types, frame.called.is_on = rules, weak_types, calls
    arrays = frame.arrays
    for name, spec in signature.items():
        frame.scope.names[name] = parameter(str(name), spec, params, frame)
        frame.parameters.add(name)
        if isinstance(name, OutsideName):
            frame.outside[name.function, name.path] = frame.scope.names[name]
    frame.graph_state = None if graph is None else GraphState(graph)
    found: Checkpoints | None = None
    frame.return_types = returned_types(function, rules)
    if frame.graph_state is not None and checkpoints:
        frame.at(source.tree)
        found = frame.graph_state.checkpoints = init_checkpoint_state(frame, params)
    with enough_stack(builder):
        frame.run(source.body)
        return_from_kernel(frame)
    check_returns(frame)
    if weak_types.errors:
        raise weak_types.errors[0]
    values = with_functions_that_ran(
        {function: source.free_values, **frame.free_values}, static_values(signature.values())
    )
    kernel = ir.Kernel(
        function.__name__,
        tuple(params),
        tuple(arrays),
        builder.block,
        frame.returned,
        source.loc(source.tree, None),
        checkpoints=tuple(found.found) if found else (),
    )
    return kernel, values


MORE_STACK = ", or give Python more levels for a recursion that ends (sys.setrecursionlimit)"
RECURSIVE = 8  # more calls of one function inside one another are a recursion


@contextmanager
def enough_stack(builder: Builder) -> Iterator[None]:
    """Turn a RecursionError into a CompileError. Nested expressions are translated recursively."""
    try:
        yield
    except CompileError:
        raise
    except RecursionError:
        name, count = most_frequent_function(builder.loc)
        if count > RECURSIVE:
            raise endless_recursion(builder.loc, name, count - 1, MORE_STACK) from None
        raise compile_error(
            CompileRecursionError, builder.loc, f"it is nested too deep for {sys.getrecursionlimit()} levels of Python",
            "give parts of it names, or raise the limit (sys.setrecursionlimit)",
        ) from None  # fmt: skip


def most_frequent_function(loc: ir.Loc | None) -> tuple[str, int]:
    """Return the name of the function with the most calls on the way to a position, and their number."""
    names: Counter[str] = Counter()
    while loc is not None:
        names[loc.function] += 1
        loc = loc.caller
    return names.most_common(1)[0] if names else ("", 0)


def static_values(specs: Iterable[Spec]) -> Iterator[Any]:
    """Yield the template arguments, at any depth."""
    for spec in specs:
        if isinstance(spec, StaticSpec):
            yield spec.value
        elif isinstance(spec, StructSpec):
            yield from static_values(member for _, member in spec.members)


def check_returns(frame: Frame) -> None:
    """Raise if a kernel declares a return value but returns none."""
    if frame.return_types is not None and not frame.returned:
        raise compile_error(CompileReturnError, frame.source.loc(frame.source.tree, None), *NO_RETURN)


def parameter(path: str, spec: Any, params: list[ir.Param], frame: Frame) -> Any:
    """Return the meaning of a parameter's name. Scalars and arrays in it are added to the kernel's parameters."""
    match spec:
        case ScalarSpec():
            params.append(ir.Param(path, spec.type))
            return params[-1]
        case ArraySpec():
            array = ir.Array(
                path,
                spec.dtype,
                spec.ndim + len(spec.inner),
                inner=spec.inner,
                needs_grad=spec.needs_grad,
                needs_dual=spec.needs_dual,
            )
            frame.arrays.append(array)
            return array
        case FieldSpec():
            return frame.field(spec)
        case ConditionSpec():
            return ir.Condition(path, is_parameter=True)
        case HostObjectSpec():
            numbers = [(name, ir.Param(f"{path}.{name}", i32)) for name in number_names(spec.cls)]
            params += [each for _, each in numbers]
            return HostObject(path, spec.cls, tuple(numbers))
        case VectorSpec():
            return vector_parameter(path, spec.type.dtype, spec.type.shape, params)
        case StructSpec():
            members = {name: parameter(f"{path}.{name}", each, params, frame) for name, each in spec.members}
            if spec.cls in (list, tuple):
                return tuple(members.values())
            return members if spec.cls is dict else Struct(spec.cls, members)
        case StructArraySpec():
            members = {name: parameter(f"{path}.{name}", each, params, frame) for name, each in spec.members}
            return StructArray(spec.cls, members)
        case PackedSpec():
            return Packed(parameter(path, spec.array, params, frame), spec.offset, spec.shape)
        case StaticSpec():
            return field_or_value(frame, spec.value)


def vector_parameter(path: str, dtype: ScalarType, shape: tuple[int, ...], params: list[ir.Param]) -> Any:
    """Return a vector with a scalar parameter for each component: "v.0", "m.1.2"."""
    if not shape:
        params.append(ir.Param(path, dtype))
        return params[-1]
    return Vector(tuple(vector_parameter(f"{path}.{i}", dtype, shape[1:], params) for i in range(shape[0])))
