# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of methods of host objects, which add nodes to a graph between the tasks: `comm.all_reduce(total)`.

The class of the object lists these methods (language/host_objects.py).
"""

from __future__ import annotations

import ast
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileCheckpointError,
    CompileSectionError,
    CompileSyntaxError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Computed, HostMember, Static, describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.host_objects import signature_of

CONSTANTS = (str, bool, int, float, type(None))


def host_call(
    frame: Frame, node: ast.Call, of: HostMember, args: list[Any], keywords: dict[str, Any]
) -> None:
    """Translate a call, which is a statement between tasks."""
    name = f"{of.owner.path}.{of.name}"
    require_place(frame, node, name)
    try:
        bound = signature_of(of.owner.cls, of.name).bind(None, *args, **keywords)
    except TypeError as error:
        raise compile_error(
            CompileArgumentError, frame.builder.loc, f"{name}: {error}", "see the documentation of the method"
        ) from None
    bound.apply_defaults()
    made = tuple(argument(frame, of, name, each) for each in bound.args[1:])
    frame.builder.put(ir.HostCall(of.owner.path, of.name, made, frame.builder.loc))


def require_place(frame: Frame, node: ast.Call, name: str) -> None:
    """Raise unless a call may stand here."""
    loc, state = frame.builder.loc, frame.root.graph_state
    if state is None:
        raise compile_error(
            CompileSyntaxError, loc, f"{name} is a node of a graph, and this kernel is no graph kernel",
            "write @cg.kernel(graph=True), or call it before or after the kernel",
        )  # fmt: skip
    if not frame.parallel_level or frame.parallel:
        raise compile_error(
            CompileSyntaxError, loc, f"{name} is not at the kernel top level",
            "put it between the loops there, or directly into control flow between tasks, as into `while "
            "cg.graph_while(n > 0):`; not into a for, a while or an if",
        )  # fmt: skip
    if state.in_section or state.region is not None:
        raise compile_error(
            CompileSectionError, loc, f"{name} is in a section", "put it before or after cg.graph_parallel"
        )
    if state.checkpoints is not None:
        raise compile_error(
            CompileCheckpointError, loc, f"{name} is in a kernel with checkpoints, which may be left before it",
            "leave out checkpoints=True",
        )  # fmt: skip
    if frame.lone_call is not node:
        raise compile_error(
            CompileSyntaxError, loc, f"{name} returns nothing in a kernel",
            "write it as a statement of its own, and read the array of its result after it",
        )  # fmt: skip
    frame.require_no_settings()


def argument(frame: Frame, of: HostMember, name: str, found: Any) -> Any:
    """Return one argument of a HostCall."""
    found = found.value if isinstance(found, Static) else found
    if isinstance(found, Computed):
        found = found.constant()
    if isinstance(found, tuple):
        return tuple(argument(frame, of, name, each) for each in found)
    if isinstance(found, ir.Const):
        return ir.HostConstant(found.value)
    if isinstance(found, ir.Local):
        found = frame.read(found)
    if isinstance(found, ir.Value) and found.type.kind in ("int", "uint"):
        return found
    if isinstance(found, CONSTANTS):
        return ir.HostConstant(found)
    if isinstance(found, HostMember) and found.owner == of.owner:
        return ir.HostMethod(found.name)
    if isinstance(found, ir.Array) and found.space in (ir.Space.PARAM, ir.Space.FIELD):
        return found
    raise compile_error(
        CompileTypeError, frame.builder.loc, f"{name} gets {describe(found)}",
        "pass whole arrays of the kernel's parameters, integers, strings, and methods of the same object",
    )  # fmt: skip
