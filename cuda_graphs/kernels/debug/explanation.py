# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations of kernels: the constants of the code, the parameters of calls, and the launches of the tasks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any

from cuda_graphs.compiler.artifact import START, Artifact, host_calls
from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.frontend.source import Source
from cuda_graphs.compiler.ir.host_calls import arrays_in
from cuda_graphs.compiler.language.annotations import (
    ArraySpec,
    FieldSpec,
    Record,
    StaticSpec,
    StructSpec,
)
from cuda_graphs.compiler.language.free_names import dotted
from cuda_graphs.compiler.language.structs import member_type

__all__ = [
    "Baked",
    "Explanation",
    "FunctionExplanation",
    "FusionExplanation",
    "GatherExplanation",
    "HostCallExplanation",
    "TaskExplanation",
    "explain",
]

LONGEST = 60  # characters of a displayed value


@dataclass(frozen=True)
class Baked:
    """A constant of the code: a different value needs different code.

    Attributes:
        name: The name in the source; for a template, the parameter or member; for an array whose declaration leaves
            them open, `x.dtype` and `x.ndim`.
        value: The value of the constant.
        source: The place of the first use, such as "file.py:12"; for an unused constant, the definition of the kernel.
    """

    name: str
    value: Any
    source: str

    def __str__(self) -> str:
        text = repr(self.value)
        return f"{self.name} = {text if len(text) <= LONGEST else text[:LONGEST] + '...'}  ({self.source})"


@dataclass(frozen=True)
class TaskExplanation:
    """One task.

    Attributes:
        name: The name of its entry in the code.
        source: The place of the task, such as "file.py:12".
        is_parallel: True for a parallel loop, False for statements that one thread runs.
        parameters: The names of its numbers and arrays, and `x.shape[0]` for an extent.
        launch: The name of the entry that runs this resident task together with others; None for a task with its own
            launch.
    """

    name: str
    source: str
    is_parallel: bool
    parameters: tuple[str, ...]
    launch: str | None = None

    def __str__(self) -> str:
        kind = "parallel" if self.is_parallel else "one thread"
        where = f", in {self.launch}" if self.launch else ""
        return f"{self.name} ({self.source}), {kind}{where}: {', '.join(self.parameters)}"


@dataclass(frozen=True)
class HostCallExplanation:
    """The call of a host object between the tasks, such as a collective.

    Attributes:
        call: The object and the method, such as "comm.all_reduce".
        arrays: The names of the arrays among its arguments.
        source: The place of the call, such as "file.py:12".
    """

    call: str
    arrays: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        return f"{self.call} ({self.source}): {', '.join(self.arrays) or 'no arrays'}"


@dataclass(frozen=True)
class FunctionExplanation:
    """One function with `inline=False`, in the code for one signature.

    Attributes:
        name: The name of the function.
        signature: The types of the numbers that it takes and returns, such as "(f32, i32) -> f32". Components of
            vectors and members of structures are numbers.
        source: The place of the function, such as "file.py:12".
        tasks: The names of the tasks that call it, directly or not.
    """

    name: str
    signature: str
    source: str
    tasks: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}{self.signature}  ({self.source}), called by {', '.join(self.tasks)}"


@dataclass(frozen=True)
class FusionExplanation:
    """Neighbouring loops that run as one task, or two neighbours that do not.

    Attributes:
        sources: The place of each loop, such as "file.py:12".
        is_fused: True if the loops run as one task.
        why: The reason against it; "" for fused loops.
        again: What iterations of fused loops compute again, in words, since later loops read it at other elements.
    """

    sources: tuple[str, ...]
    is_fused: bool
    why: str
    again: tuple[str, ...] = ()

    def __str__(self) -> str:
        result = "; ".join(("fused", *self.again)) if self.is_fused else f"not fused: {self.why}"
        return f"{', '.join(self.sources)}: {result}"


@dataclass(frozen=True)
class GatherExplanation:
    """A loop of a gradient in which several iterations add to one element, as neighbours of a stencil do.

    Attributes:
        source: The place of the loop, such as "file.py:12".
        is_gathered: True if one iteration sums up all that is added to an element, so that it needs no atomics.
        why: The reason for atomics; "" without them.
    """

    source: str
    is_gathered: bool
    why: str

    def __str__(self) -> str:
        return f"{self.source}: {'gathered' if self.is_gathered else f'not gathered: {self.why}'}"


@dataclass(frozen=True)
class Explanation:
    """Describes calls of a kernel with given argument types; `KernelFunction.explain` makes it, and `str()` prints it.

    Attributes:
        kernel: The name of the kernel.
        baked: The constants of the code.
        parameters: The values that calls may change without a new compilation.
        tasks: The tasks in the order of the source.
        lowering: The lowering of control flow between tasks; None for a kernel without `graph=True`.
        why: The reason for the lowering, in words.
        functions: The functions that the tasks call. Functions that are inlined are not among them.
        fusion: The neighbouring tasks that are fused, and the others with the reason; () with `fuse=False`.
        host_calls: The calls of host objects between the tasks, in the order of the source.
        gathers: The loops of a gradient that add to elements of several iterations. A loop can be listed twice, if some
            of its additions are gathered and others are not.
    """

    kernel: str
    baked: tuple[Baked, ...]
    parameters: tuple[str, ...]
    tasks: tuple[TaskExplanation, ...]
    lowering: str | None
    why: str
    functions: tuple[FunctionExplanation, ...] = ()
    fusion: tuple[FusionExplanation, ...] = ()
    host_calls: tuple[HostCallExplanation, ...] = ()
    gathers: tuple[GatherExplanation, ...] = ()

    def __str__(self) -> str:
        parts: list[tuple[str, tuple[Any, ...]]] = [
            ("baked into the code", self.baked),
            ("tasks", self.tasks),
            ("fusion", self.fusion),
        ]
        if self.gathers:
            parts.append(("additions to neighbours", self.gathers))
        if self.host_calls:
            parts.append(("calls between tasks", self.host_calls))
        if self.functions:
            parts.append(("functions that are called", self.functions))
        lines = [self.kernel, f"  runs as {self.lowering or 'launches'}: {self.why}"]
        lines.append(f"  parameters: {', '.join(self.parameters) or 'none'}")
        for title, rows in parts:
            lines += [f"  {title}:", *(f"    {row}" for row in rows or ("nothing",))]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_of(self)


def html_of(explanation: Explanation) -> str:
    """Return the tables of an explanation."""
    from cuda_graphs.drawing.table import html_table

    lowering = explanation.lowering or "launches"
    parameters = ", ".join(explanation.parameters) or "none"
    facts = [("runs as", f"{lowering}: {explanation.why}"), ("parameters", parameters)]
    baked = [(each.name, str(each).partition(" = ")[2]) for each in explanation.baked]
    kinds = {True: "parallel", False: "one thread"}
    tasks = [
        (each.name, kinds[each.is_parallel], each.launch or "", ", ".join(each.parameters), each.source)
        for each in explanation.tasks
    ]
    fusion = [
        (", ".join(each.sources), each.is_fused, each.why or "; ".join(each.again))
        for each in explanation.fusion
    ]
    tables = [
        html_table(explanation.kernel, ("", ""), facts),
        html_table("Constants of the code", ("name", "value and source"), baked),
        html_table("Tasks", ("name", "kind", "launched with", "parameters", "source"), tasks),
        html_table("Fusion", ("loops", "fused", "notes"), fusion),
    ]
    if explanation.gathers:
        gathers = [(each.source, each.is_gathered, each.why) for each in explanation.gathers]
        tables.append(html_table("Additions to neighbours", ("loop", "gathered", "notes"), gathers))
    if explanation.host_calls:
        calls = [(each.call, ", ".join(each.arrays), each.source) for each in explanation.host_calls]
        tables.append(html_table("Calls between tasks", ("call", "arrays", "source"), calls))
    if explanation.functions:
        called = [
            (each.name, each.signature, ", ".join(each.tasks), each.source) for each in explanation.functions
        ]
        tables.append(html_table("Functions", ("name", "signature", "called by", "source"), called))
    return "\n".join(tables)


def explain(
    function: Callable[..., Any],
    annotations: Mapping[str, Any],
    signature: Mapping[str, Any],
    artifact: Artifact,
    why: str,
) -> Explanation:
    """Return the Explanation of a specialisation."""
    code = function.__code__
    paths = dict.fromkeys(
        spelled(slot) for task in artifact.tasks for slot in task.slots if is_argument(slot, artifact)
    )
    tasks = tuple(
        TaskExplanation(
            task.entry,
            f"{code.co_filename}:{task.line}",
            task.parallel,
            tuple(spelled(s) for s in task.slots),
            entry.entry if entry.resident_tasks else None,
        )
        for entry in artifact.tasks
        for task in entry.resident_tasks or (entry,)
    )
    fusion = tuple(
        FusionExplanation(
            tuple(f"{code.co_filename}:{line}" for line in lines),
            not reason,
            reason,
            tuple(text for fused, text in artifact.again if not reason and fused == lines),
        )
        for lines, reason in artifact.fusion
    )
    baked = (*templates(function, annotations, signature), *captured(artifact))
    name, lowering = function.__qualname__, artifact.lowering
    functions, calls = called_functions(artifact), calls_between(artifact, code.co_filename)
    gathers = tuple(
        GatherExplanation(f"{code.co_filename}:{line}", not reason, reason)
        for line, reason in (artifact.gradient.gathered if artifact.gradient else ())
    )
    return Explanation(name, baked, tuple(paths), tasks, lowering, why, functions, fusion, calls, gathers)


def calls_between(artifact: Artifact, file: str) -> tuple[HostCallExplanation, ...]:
    """Return the calls of host objects between the tasks."""
    return tuple(
        HostCallExplanation(f"{path}.{name}", tuple(dict.fromkeys(arrays_in(args))), f"{file}:{line}")
        for _, path, name, args, line in (*host_calls(artifact.plan), *artifact.exchanged)
    )


def called_functions(artifact: Artifact) -> tuple[FunctionExplanation, ...]:
    """Return the functions that the tasks call, each signature once, in the order of the first calls."""
    found: dict[tuple[str, str, str, int], list[str]] = {}
    for entry in artifact.tasks:
        for task in entry.resident_tasks or (entry,):
            for each in dict.fromkeys(task.calls):
                found.setdefault(each, []).append(task.entry)
    return tuple(
        FunctionExplanation(name, signature, f"{file}:{line}", tuple(tasks))
        for (name, signature, file, line), tasks in found.items()
    )


def spelled(slot: Any) -> str:
    return f"{slot.path}.shape[{slot.axis}]" if slot.kind == "extent" else str(slot.path)


def is_argument(slot: Any, artifact: Artifact) -> bool:
    """Return True if the slot holds an argument of the call, not a temporary, a seed or a condition."""
    own = {name for name, _ in artifact.temps} | {"random.seed", START}
    return slot.kind != "condition" and slot.path not in own


def templates(
    function: Callable[..., Any], annotations: Mapping[str, Any], signature: Mapping[str, Any]
) -> Iterator[Baked]:
    """Yield the constants of the code that come from arguments."""
    code, lines = function.__code__, first_lines(function)
    for name, spec in signature.items():
        for path, of, value in fixed(name, annotations[name], spec):
            yield Baked(path, value, f"{code.co_filename}:{lines.get(of, code.co_firstlineno)}")


def fixed(path: str, annotation: Any, spec: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield (name, argument or member, value) of the constants that come from one argument."""
    if isinstance(spec, StaticSpec):
        yield path, path, spec.value
    elif isinstance(spec, FieldSpec):
        yield path, path, spec
    elif isinstance(spec, StructSpec):
        declared = members(annotation)
        for name, inner in spec.members:
            yield from fixed(f"{path}.{name}", declared[name], inner)
    elif isinstance(spec, ArraySpec):
        for what in ("dtype", "ndim"):
            if getattr(annotation, what, None) is None:
                yield f"{path}.{what}", path, getattr(spec, what)


def members(annotation: Any) -> dict[str, Any]:
    """Return the declarations of the members of a dataclass or of `self`, by name."""
    if isinstance(annotation, Record):
        return dict(annotation.members)
    return {each.name: member_type(annotation, each) for each in fields(annotation)}


def captured(artifact: Artifact) -> Iterator[Baked]:
    """Yield the constants that come from globals and closures, without functions and modules."""
    for function, names in artifact.free_values.items():
        lines = first_lines(function)
        for path, value in names.items():
            if not callable(value) and not isinstance(value, ModuleType) and not path.endswith(".__dict__"):
                line = lines.get(path, function.__code__.co_firstlineno)
                yield Baked(path, value, f"{function.__code__.co_filename}:{line}")


def first_lines(function: Callable[..., Any]) -> dict[str, int]:
    """Return the line of the first use of each name in a function."""
    try:
        tree = Source(function).tree
    except CompileError:  # a lambda
        return {}
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        path = dotted(node)
        if path is not None and isinstance(node, ast.expr):
            found[path] = min(node.lineno, found.get(path, node.lineno))
    return found
