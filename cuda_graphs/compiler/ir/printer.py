# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the IR as text.

kernel saxpy(a: f32, x: f32[:], y: f32[:])
  %0 = extent x, 0 : i32
  parallel for i in 0 : %0
    %1 = load x[i] : f32
    %2 = mul a, %1 : f32
    store y[i] = %2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import ir

__all__ = ["text"]

INDENT = "  "


def text(what: ir.Kernel | ir.Program | ir.Task | ir.Block) -> str:
    """Return the text of a kernel, program, task or block, with values numbered from 0."""
    return "\n".join(_Printer().whole(what))


class _Printer:
    def __init__(self) -> None:
        self.names: dict[object, str] = {}

    def whole(self, what: Any) -> list[str]:
        match what:
            case ir.Kernel():
                returns = f" -> {', '.join(map(repr, what.returns))}" if what.returns else ""
                inputs = ", ".join([*map(declaration, what.params), *map(declaration, what.arrays)])
                head = f"kernel {what.name}({inputs}){returns}"
                return [*self.functions(what.body), head, *self.block(what.body, 1)]
            case ir.Task():
                return [f"task {what.name}", *self.block(what.body, 1)]
            case ir.Program():
                temps = [f"temporary {declaration(array)}" for array in what.temps]
                everything = ir.Block([each for task in what.tasks for each in task.body.body])
                tasks = [line for task in what.tasks for line in self.whole(task)]
                return [*temps, *self.functions(everything), *tasks]
        return self.block(what, 0)

    def functions(self, block: ir.Block) -> list[str]:
        """Return the functions that a block calls."""
        return [line for each in ir.functions_of(block) for line in self.function(each)]

    def function(self, function: ir.Function) -> list[str]:
        inputs = ", ".join(map(declaration, function.params))
        results = ", ".join(map(repr, function.results))
        limit = "" if function.max_depth is None else f", at most {function.max_depth} deep"
        return [f"function {function.name}({inputs}) -> {results}{limit}", *self.block(function.body, 1)]

    def block(self, block: ir.Block, depth: int) -> list[str]:
        return [line for statement in block.body for line in self.statement(statement, depth)]

    def statement(self, statement: Any, depth: int) -> list[str]:
        pad = INDENT * depth
        match statement:
            case ir.If():
                lines = [f"{pad}if {self.value(statement.condition)}", *self.block(statement.then, depth + 1)]
                return lines + (
                    [f"{pad}else", *self.block(statement.orelse, depth + 1)] if statement.orelse.body else []
                )
            case ir.For():
                head = "parallel for" if statement.parallel else "for"
                head += f" in blocks of {statement.block_dim}," if statement.block_dim else ""
                axes = ", ".join(self.axis(axis) for axis in statement.axes)
                return [f"{pad}{head} {axes}", *self.block(statement.body, depth + 1)]
            case ir.Conditional():
                head = f"{pad}{statement.kind} {statement.condition.name}"
                blocks = [[f"{pad}-- {i}", *self.block(b, depth + 1)] for i, b in enumerate(statement.blocks)]
                return [head, *(line for lines in blocks for line in lines)]
            case ir.Sections():
                blocks = [[f"{pad}-- {i}", *self.block(b, depth + 1)] for i, b in enumerate(statement.blocks)]
                return [f"{pad}sections", *(line for lines in blocks for line in lines)]
            case ir.While():
                before = [f"{pad}while", *self.block(statement.head, depth + 1)]
                return [
                    *before,
                    f"{pad}do if {self.value(statement.condition)}",
                    *self.block(statement.body, depth + 1),
                ]
            case ir.Region():
                return [f"{pad}each thread", *self.block(statement.body, depth + 1)]
            case ir.Last():
                return [f"{pad}the last thread", *self.block(statement.body, depth + 1)]
        line = LINES[type(statement)](self, statement)
        if isinstance(statement, ir.Value):
            line = f"{self.name(statement)} = {line} : {statement.type!r}"
        return [pad + line]

    def axis(self, axis: ir.Axis) -> str:
        step = f" by {axis.step}" if axis.step != 1 else ""
        return f"{self.value(axis.index)} in {self.value(axis.begin)} : {self.value(axis.end)}{step}"

    def value(self, value: ir.Value) -> str:
        match value:
            case ir.Const():
                return (
                    f"{value.value}"
                    if repr(value.type) in ("i32", "bool")
                    else f"{value.value}:{value.type!r}"
                )
            case ir.Param():
                return value.path
            case ir.LoopIndex():
                return value.name
        return self.name(value)

    def name(self, value: object) -> str:
        return self.names.setdefault(value, f"%{len(self.names)}")

    def element(self, array: ir.Array | ir.Local, index: tuple[ir.Value, ...]) -> str:
        if isinstance(array, ir.Local):
            return array.name
        return f"{array.path}[{', '.join(map(self.value, index))}]"

    def region_collective(self, statement: ir.RegionCollective) -> str:
        args = [each.name if isinstance(each, ir.Local) else self.value(each) for each in statement.args]
        mask = "" if statement.mask is None else f" of {statement.mask.name}"
        return f"{statement.result.name} = {statement.name} {', '.join(args)}{mask}"

    def host_arguments(self, args: tuple[Any, ...]) -> str:
        return ", ".join(map(self.host_argument, args))

    def host_argument(self, each: Any) -> str:
        match each:
            case tuple():
                return f"({self.host_arguments(each)})"
            case ir.Value():
                return self.value(each)
            case ir.Array():
                return each.path
            case ir.HostMethod():
                return f".{each.name}"
        return repr(each.value)

    def parts(self, parts: tuple[Any, ...]) -> str:
        return ", ".join(repr(part) if isinstance(part, str) else self.value(part[0]) for part in parts)


def declaration(what: ir.Param | ir.Array) -> str:
    """Return the text of a parameter or array: `x: f32[:, :, 3]`."""
    if isinstance(what, ir.Param):
        return f"{what.path}: {what.type!r}"
    extents = (
        [":"] * (what.ndim - len(what.inner)) + list(map(str, what.inner))
        if what.shape is None
        else what.shape
    )
    return f"{what.path}: {what.element!r}[{', '.join(map(str, extents))}]"


def _atomic(p: _Printer, s: ir.Atomic) -> str:
    compare = "" if s.compare is None else f"{p.value(s.compare)} -> "
    return f"atomic {s.kind} {p.element(s.array, s.index)}, {compare}{p.value(s.value)}"


LINES: dict[type, Callable[[_Printer, Any], str]] = {
    ir.Op: lambda p, s: f"{s.name} {', '.join(map(p.value, s.args))}",
    ir.Call: lambda p, s: f"call {s.function.name}({', '.join(map(p.value, s.args))})",
    ir.Result: lambda p, s: f"result {s.number} of {p.value(s.call)}",
    ir.Load: lambda p, s: f"load {p.element(s.array, s.index)}",
    ir.Store: lambda p, s: f"store {p.element(s.array, s.index)} = {p.value(s.value)}",
    ir.Atomic: _atomic,
    ir.Random: lambda p, s: "random",
    ir.Extent: lambda p, s: f"extent {s.array.path}, {s.axis}",
    ir.Get: lambda p, s: f"get {s.local.name}",
    ir.Set: lambda p, s: f"set {s.local.name} = {p.value(s.value)}",
    ir.Position: lambda p, s: s.kind,
    ir.Worker: lambda p, s: "worker",
    ir.Barrier: lambda p, s: f"barrier of the {s.scope}",
    ir.Fence: lambda p, s: "fence",
    ir.Collective: lambda p, s: f"{s.name} {', '.join(map(p.value, s.args))}",
    ir.RegionCollective: lambda p, s: p.region_collective(s),
    ir.SetCondition: lambda p, s: (
        f"{'keep' if s.keeps else 'set'}_condition {s.condition.name} = {p.value(s.value)}"
    ),
    ir.HostCall: lambda p, s: f"host call {s.object}.{s.method}({p.host_arguments(s.args)})",
    ir.Break: lambda p, s: "break",
    ir.Exit: lambda p, s: "exit",
    ir.Continue: lambda p, s: "continue",
    ir.Print: lambda p, s: f"print {p.parts(s.parts)}",
    ir.Assert: lambda p, s: f"assert {p.value(s.condition)}, {p.parts(s.message)}",
    ir.Return: lambda p, s: f"return {', '.join(map(p.value, s.values))}",
}
