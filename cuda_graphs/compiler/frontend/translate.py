# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From a function and what its parameters are to a Kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .. import ir
from ..annotations import ArraySpec, ScalarSpec, Spec, StaticSpec, StructSpec
from ..builder import Builder
from .functions import Frame
from .source import Source
from .values import Struct


def translate(function: Callable[..., Any], signature: dict[str, Spec]) -> tuple[ir.Kernel, dict[str, dict[str, Any]]]:
    """The kernel, and the names from outside that it depends on: {function: {name: value}}.

    `signature` says for each parameter what it is in this specialisation.
    """
    builder = Builder()
    params: list[ir.Param] = []
    arrays: list[ir.Array] = []
    source = Source(function)
    frame = Frame(builder, source, parallel_level=True)
    for name, spec in signature.items():
        frame.scope.names[name] = parameter(name, spec, params, arrays)
        frame.parameters.add(name)
    frame.run(body_of(source.tree))
    captured = {source.function.__qualname__: source.captured, **frame.captured}
    kernel = ir.Kernel(
        function.__name__, tuple(params), tuple(arrays), builder.block, frame.returned, source.loc(source.tree, None)
    )
    return kernel, captured


def body_of(tree: ast.FunctionDef) -> list[ast.stmt]:
    """The statements, without the docstring."""
    return tree.body[1:] if ast.get_docstring(tree) is not None else tree.body


def parameter(path: str, spec: Spec, params: list[ir.Param], arrays: list[ir.Array]) -> Any:
    """What the name of a parameter stands for; scalars and arrays in it are added to the kernel's."""
    match spec:
        case ScalarSpec():
            params.append(ir.Param(path, spec.type))
            return params[-1]
        case ArraySpec():
            array = ir.Array(path, spec.dtype, spec.ndim + len(spec.inner), inner=spec.inner, needs_grad=spec.needs_grad)
            arrays.append(array)
            return array
        case StructSpec():
            return Struct(
                spec.cls, {name: parameter(f"{path}.{name}", member, params, arrays) for name, member in spec.members}
            )
        case StaticSpec():
            return spec.value
